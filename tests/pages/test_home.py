"""Home: the overview holds the numbers of the run on screen."""

import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Edit, Trace, load
from model.analysis import softmax, whole_words
from model.measures.comparison import align
from model.overview import Difference, Packed, answers_of, pack
from model.overview.pictures import PAGE_OF
from pages.drawing.masks import guesses_words
from pages.drawing.state import sketch
from pages.drawing.state.link_values import edit_code
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import decimal
from pages.screen.frame.contents import NAMES
from pages.screen.runs import pipelines
from tests.networks import pipeline
from tests.pages.inputs import bring
from tests.pages.opening import line, maps, open_page, protos, run_fine, run_of

SENTENCE = "the dog chased the cat ."
MASKED = "the cat sat on the [MASK] ."


def sent(app: AppTest, place: int = 0) -> Packed:
    """The data sent for overview `which`."""
    parts = protos(app, "overview")
    message = parts[place].bytes
    length = int.from_bytes(message[:4], "little")
    return Packed(json.loads(message[4 : 4 + length]), message[4 + length :])


def place(app: AppTest) -> dict[str, int]:
    """Layer, head and token shown first."""
    parts = protos(app, "overview_place")
    return json.loads(parts[0].json)["place"]


def assert_shows(app: AppTest, trace: Trace, place: int = 0, layer: int = 0) -> Packed:
    """Assert that the overview holds the numbers of this run; of a large run, those of this layer."""
    packed = sent(app, place)
    assert packed.about["tokens"] == trace.tokens[:256] or trace.tokens == ["image"]  # in the reader's language
    assert packed.numbers == pack(trace, layer=layer).numbers
    return packed


def test_a_hidden_word_is_run_as_mask_and_its_own_word_is_told() -> None:
    app = open_page("home", s=SENTENCE, hidden="3")
    pipeline = load("text")
    trace = pipeline(pipeline.reader.hide(pipeline(SENTENCE).ids, [2]))
    packed = assert_shows(app, trace)
    own = pipeline(SENTENCE).tokens[2]
    assert packed.about["answers"]["right"] == {"2": own} and "2" in packed.about["answers"]["lens"]
    assert [word["text"] for word in line(app)["words"] if word["hidden"]] == [own]
    assert place(app)["token"] == 2


def test_words_of_the_line_are_whole_and_know_their_tokens() -> None:
    tokens = load("text")(SENTENCE).tokens
    words = line(open_page("home", s=SENTENCE))["words"]
    assert [word["places"] for word in words] == whole_words(tokens)
    assert "chased" in [word["text"] for word in words]


def test_where_a_word_is_hidden_only_that_is_run() -> None:
    sentence = "nobody else reads it on this page ."
    pipelines.run.cache_clear()
    open_page("answer", s=sentence, hidden="2")
    read = [subject for _, subject, *_ in pipelines.run.cache]
    assert read == [load("text").reader.hide(load("text")(sentence).ids, [1])]


@pytest.mark.parametrize("hidden", ["1", "1.99"])
def test_a_link_that_hides_what_is_no_word_hides_nothing(hidden: str) -> None:
    app = open_page("home", s="i see the dog .", hidden=hidden)
    assert "[MASK]" not in sent(app).about["tokens"]


def test_the_message_of_a_run_is_the_same_for_every_place() -> None:
    """So the server need only name it."""
    one, other = (open_page("home", s=MASKED, layer=layer, head=head) for layer, head in (("1", "1"), ("5", "3")))
    assert sent(one).message == sent(other).message


def test_of_a_run_too_large_to_send_the_chosen_layer_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("model.overview.packing.MOST_BYTES", 1000)
    app, trace = open_page("home", s="much too large .", layer="4"), load("text")("much too large .")
    assert assert_shows(app, trace, layer=3).about["arrays"]["w"]["layers"].keys() == {"3"}


def test_an_edit_marks_its_picture_and_its_effect_on_the_answer_is_said() -> None:
    off = Edit("layers.2.attention.heads", "zero", head=6)
    app = open_page("home", s=MASKED, edits=edit_code(off))
    trace = load("text")(MASKED, (off,))
    packed = assert_shows(app, trace)
    assert packed.about["changed"] == ["2.a"]
    moved = softmax(trace["logits"].astype(np.float64)), softmax(load("text")(MASKED)["logits"].astype(np.float64))
    for token, note in packed.about["notes"].items():  # of each token what is moved there
        after, before = (p[int(token)] for p in moved)
        most = int(np.abs(after - before).argmax())
        told = f"{decimal(before[most])} → {decimal(after[most])}."
        assert note == f"Your change moves “{trace.outputs[most]}” most: {told}" or note.endswith(
            "hardly moves this answer."
        )
    assert len(packed.about["notes"]) == len(trace.tokens) and len({*packed.about["notes"].values()}) > 4
    original = open_page("home", s=MASKED, edits=edit_code(off), shown="original")
    packed = assert_shows(original, load("text")(MASKED))
    assert packed.about["changed"] == [] and packed.about["notes"] == {}


def test_where_both_classes_move_alike_none_is_said_to_move_most() -> None:
    app = open_page("home", **bring(None, "flat"), edits="layers.0.ffn.output~zero")
    (note,) = sent(app).about["notes"].values()
    assert note.startswith("Your change moves “") and "most" not in note


OTHER = "i see the dog ."


def test_the_other_run_is_shown_alone_or_below() -> None:
    mine, theirs = load("text")(SENTENCE), load("text")(OTHER)
    assert_shows(open_page("home", s=SENTENCE, other=OTHER, shown="other"), theirs)
    off = {"edits": "layers.{l}.attention.Q~zero"}
    above, below = (sent(open_page("home", s=SENTENCE, other=OTHER, shown="beside", **off), place) for place in (0, 1))
    assert above.about["notes"] and not below.about["notes"]  # the change is of one of the two
    drawn = open_page("home", input="digit", other_ink=sketch.to_code(sketch.example(3)), shown="beside")
    own, other = (sent(drawn, place).about["drawing"] for place in (0, 1))
    assert own != other, "each with its own drawing"
    app = open_page("home", s=SENTENCE, other=OTHER, shown="beside")
    assert_shows(app, mine)
    below = assert_shows(app, theirs, place=1)
    pairs = {pair.one: pair.other for pair in align(mine.tokens, theirs.tokens)}
    assert below.about["theirs"] == [pairs.get(token) for token in range(len(mine.tokens))]


def test_a_difference_is_one_run_less_the_other() -> None:
    off = Edit("layers.2.attention.heads", "zero", head=6)
    here, there = load("text")(SENTENCE, (off,)), load("text")(SENTENCE)
    packed = sent(open_page("home", s=SENTENCE, shown="difference", edits=edit_code(off)))
    assert packed.numbers == pack(Difference(here, lambda key: here[key] - there[key])).numbers
    own = json.loads(json.dumps(answers_of(here, asked=[1]).described))
    assert packed.about["differs"] and packed.about["answers"]["rows"] == own["rows"]


@pytest.mark.parametrize("network", ["flat", "pre-norm text", "tags", "CLIP"])
def test_home_shows_a_run_of_any_network(network: str, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("home", **bring(monkeypatch, network))
    trace = run_of(app)
    packed = assert_shows(app, trace)
    assert bool(packed.about["answers"]["rows"]) == (trace.config.head not in ("none", "vector"))
    assert packed.about["normFirst"] == trace.config.norm_first


# -- asked for beside the run ------------------------------------------------------------------------------------------


def lean_beside(app: AppTest, **at: int) -> dict:
    """What the browser gets when it asks for this beside the run."""
    app.session_state["overview.asked"] = sent(app).about["id"], "lean", {"layer": 0, "head": 0, "token": 0} | at
    run_fine(app)
    (rows,) = protos(app, "overview_rows")
    found = json.loads(rows.bytes[4 : 4 + int.from_bytes(rows.bytes[:4], "little")])
    assert found.pop("id") == sent(app).about["id"]
    return found


@pytest.mark.parametrize(
    ("link", "token"),
    [({"s": MASKED}, 6), ({}, -1)],
)
def test_head_effects_on_home_equal_those_of_the_laboratory(link: dict[str, str], token: int) -> None:
    link = link or bring(None, "digit")
    found = lean_beside(open_page("home", **link), token=max(token, 0))
    assert [*found] == ["lean"] and [*found["lean"]] == [str(token)]
    np.testing.assert_allclose(
        found["lean"][str(token)], maps(open_page("what_if", **link, measure="moved"))[0], atol=1e-7
    )


def test_head_effects_on_a_changed_run_are_what_moves_beside_the_changes() -> None:
    edits = (Edit("layers.{l}.attention.masked", "causal"), Edit("layers.1.attention.heads", "zero", head=2))
    link = {"s": MASKED, "edits": "~~".join(map(edit_code, edits))}
    heads = np.array(lean_beside(open_page("home", **link), token=6)["lean"]["6"])
    now, without = (
        load("text")(MASKED, (*edits, *more))["logits"][6]
        for more in ((), [Edit("layers.2.attention.heads", "zero", head=4)])
    )
    moved = np.abs(softmax(now.astype(float)) - softmax(without.astype(float))).sum() / 2
    assert heads[2, 4] == pytest.approx(moved, abs=1e-3) and heads[1, 2] == 0


def test_no_head_effects_for_slow_networks_or_without_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_page("home", s="nobody has asked for this one .", model="paper")
    assert lean_beside(app) == {"lean": {"-1": []}}
    monkeypatch.setattr("pages.screen.sections.patience.MOST_PRODUCTS", 1000)
    assert lean_beside(open_page("home", s="nor for this one ."), token=2) == {"lean": {"2": []}}


def test_heads_that_are_off_are_named_where_they_can_be_turned_on_again() -> None:
    link = {"s": MASKED, "edits": "layers.1.attention.heads~zero~head.3~~layers.2.attention.heads~mean~head.1"}
    assert sent(open_page("home", **link)).about["off"] == ["1.2"]
    assert sent(open_page("home", **link, shown="difference")).about["off"] == ["1.2"]
    assert sent(open_page("home", **link, shown="original")).about["off"] is None
    below = open_page("home", s=SENTENCE, other=OTHER, shown="beside")
    assert sent(below).about["off"] == [] and sent(below, 1).about["off"] is None


@pytest.mark.parametrize("page", ["home", "tokens", "feed_forward", "layers", "answer", "what_if", "lesson"])
def test_the_line_offers_to_hide_a_word_wherever_a_network_guesses_one(page: str) -> None:
    offer = catalogue("en")["sentence_line.offer"]
    for link in ({"s": SENTENCE}, {"s": "我爱你。"}, {"s": "yes"}):
        assert line(open_page(page, **link))["names"]["offer"] == ("" if page == "lesson" else offer)


def test_no_network_that_guesses_no_hidden_word_offers_it() -> None:
    assert guesses_words(pipeline("trained text"))
    for name in ("trained digits", "narrow words", "004"):
        assert not guesses_words(pipeline(name))


# -- beside the picture ----------------------------------------------------------------------------------------------


def test_every_picture_opens_a_page() -> None:
    described = sent(open_page("home")).about["pictures"]
    assert {one["role"] for one in described} | {"answer"} == PAGE_OF.keys()
    assert {page for page, _ in PAGE_OF.values()} <= {*NAMES}


def test_the_run_is_among_the_downloads_as_one_file() -> None:
    app = open_page("home", s=MASKED)
    app.session_state["home.downloads"] = True
    run_fine(app)
    assert catalogue("en")["home.one_file"] in [button.label for button in app.get("download_button")]
