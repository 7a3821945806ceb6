"""The Translation page: each step is a row of the run that wrote it, and whatever is changed is changed for real."""

import io
import re
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import Edit
from model.analysis import softmax
from model.search import score
from model.tables import head_roles
from model.translator import Task, Translator
from pages.translation.decoder import BLOCKS, quantities_of
from pages.translation.page import PARTS
from pages.translation.search import greedy_or_beam
from pages.translation.writing import likelihood
from pages.ui import page
from pages.ui.frame import exports, line
from pages.ui.runs import pipelines
from pages.ui.state.choice import Choice
from pages.ui.state.link_values import edit_code
from pages.ui.text import LANGUAGES, catalogue
from pages.ui.text.numbers import percent
from tests.model.test_checkpoints import MINILM
from tests.networks import untrained_translator
from tests.pages.opening import assert_fine, charts, figure, numbers, open_page, result, texts, turn_to, write
from tests.pages.test_checkpoints import offer

ENGLISH, CHINESE = "the dog chased the cat .", "我爱你。"
TIRED = "the animal did not cross the street because it was too tired ."
SEVERAL = "the unhappy children were playing ."  # greedy and the beam find different translations of it


def opened(s: str = ENGLISH, **link: str) -> AppTest:
    return open_page("translation", **({"layer": "3", "head": "5", "s": s} | link))


def run_of(s: str = ENGLISH, edits: tuple[Edit, ...] = (), **task):
    return pipelines.run("translation", Task(s, **task), edits)


def said(app: AppTest) -> str:
    return texts(app).replace("\\", "")


def hovers(app: AppTest, which: int = 0) -> list[str]:
    """What stands over the marks of a picture."""
    return next(trace["text"] for trace in figure(app, which)["data"] if trace.get("hovertemplate"))


@pytest.mark.parametrize("source", [ENGLISH, CHINESE, "我 love 你 ."])
@pytest.mark.parametrize("step", [0, 2])
def test_a_step_shows_its_row_of_the_run(source: str, step: int) -> None:
    trace, app = run_of(source), opened(source, step=str(step + 1))
    p = softmax(trace["logits"][step])
    shown = numbers(figure(app, 1)["data"][0]["x"])
    np.testing.assert_allclose(shown[:5], np.sort(p)[::-1][:5], atol=1e-6)
    weights = trace["decoder.layers.2.cross.weights"][4, step]
    own = trace["decoder.layers.2.attention.weights"][4, step, : step + 1]
    wanted = [f"{name}<br>{share:.4f}" for name, share in zip(trace.tokens, weights, strict=True)]
    wanted += [f"{name}<br>{share:.4f}" for name, share in zip(trace.target_tokens, own, strict=False)]
    assert hovers(app) == [*wanted, trace.written[step]]
    assert f"writes “{trace.written[step]}”" in said(app)
    assert f"“{trace.tokens[weights.argmax()]}” in the source: {weights.max():.0%}" in said(app)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("the animal did not cross the street because it was too tired .", "tired"),
        ("she sat by the river bank .", "river"),
    ],
)
def test_the_step_looked_at_first_is_one_that_sees_its_source(source: str, word: str) -> None:
    trace, app = run_of(source), opened(source)
    over_heads = [trace[f"decoder.layers.{layer}.cross.weights"].mean(axis=0) for layer in range(3)]
    step = trace.written.index(hovers(app)[-1])
    assert trace.written[step].isalpha()
    assert trace.tokens[sum(over_heads)[step].argmax()] == word
    assert f"“{word}” in the source" in said(app)


@pytest.mark.parametrize(
    ("link", "told"),
    [
        ({"step": "1"}, "“[ZH]” names the target language"),
        ({"step": "6"}, "[SEP] ends it"),
        ({"step": "1", "forced": "661"}, "“吓” has rank"),
        ({"s": ".", "step": "1"}, "Beam search compares whole beginnings"),
    ],
)
def test_signs_and_reasons_are_explained_where_they_stand(link: dict[str, str], told: str) -> None:
    assert told in said(opened(**link))


def test_moving_the_slider_runs_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    app = opened(step="1")
    first = hovers(app)

    def never(*_: object) -> None:
        raise AssertionError("a network was run")

    monkeypatch.setattr(Translator, "_run", never)
    monkeypatch.setattr(Translator, "_writer", never)
    for step in (3, 5):
        app.slider(key="translation.step").set_value(step).run()
        assert_fine(app)
        assert app.session_state["at"]["step"] == step
    assert hovers(app) != first


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("panel", PARTS)
def test_every_tab_opens_in_both_directions(panel: str, language: str) -> None:
    source = ENGLISH if language == "en" else CHINESE
    app = opened(source, lang=language, panel=panel)
    assert run_of(source).translation in said(app) and charts(app)


def test_a_link_to_the_former_tab_of_changes_opens_the_inside_of_the_changed_run() -> None:
    edits = edit_code(CHANGES[0])
    for link in ({"panel": "changes"}, {"panel": "inside", "block": "changes"}):
        app = opened(**link, edits=edits)
        assert not app.warning and charts(app) == charts(opened(panel="inside", block="cross", edits=edits))


def test_it_is_said_that_hidden_words_are_read() -> None:
    hides = catalogue("en")["translation.all_read"]
    assert hides in said(opened(hidden="3")) and hides not in said(opened())


def test_the_reader_may_ask_for_either_language() -> None:
    app = opened("我 love 你 .", into="zh")
    assert run_of("我 love 你 .", into="zh").translation in said(app)
    assert "expect the other language" in said(app)
    app.segmented_control(key="translation.into").set_value("en").run()
    assert run_of("我 love 你 .", into="en").translation in said(app)
    assert "expect the other language" not in said(app)


# -- the search ----------------------------------------------------------------------------------------------------


def test_the_tree_holds_every_candidate_and_the_table_every_sentence() -> None:
    app, trace = opened(panel="search"), run_of()
    marks = next(one for one in figure(app)["data"] if one.get("hovertemplate"))
    assert len(marks["text"]) == len(trace.search.nodes) and not re.search(r"Steps \d+ to", said(app))
    for node, hover in zip(trace.search.nodes, marks["text"], strict=True):
        assert f"log P {node.log_probability:.2f}".replace("-", "−") in hover
    for one in (trace.greedy, *trace.beams):
        assert f"| {one.text} | {one.log_probability:.2f}".replace("-", "−") in said(app).replace("**", "")


def test_of_a_long_tree_it_is_said_which_steps_are_drawn() -> None:
    app = opened(TIRED, panel="search", step="9")
    (columns,) = {tuple(figure(app)["layout"]["xaxis"]["ticktext"])}
    steps = max(len(node.ids) for node in run_of(TIRED).search.nodes)
    assert f"Steps {columns[0]} to {columns[-1]} of {steps}." in said(app)


@pytest.mark.parametrize(
    ("greedy", "best", "told"),
    [
        ((-2.0, 4), (-1.0, 3), "likelier as a whole"),
        ((-1.0, 2), (-1.2, 5), "better score for its length (at α = 0.6)"),
        ((-1.0, 3), (-2.0, 3), "A beam can miss what greedy finds"),
    ],
)
def test_what_the_beam_was_good_for(greedy: tuple[float, int], best: tuple[float, int], told: str) -> None:
    found = [
        SimpleNamespace(ids=(i,) * n, text="", log_probability=p, score=score(p, n))
        for i, (p, n) in enumerate((greedy, best))
    ]
    view = SimpleNamespace(found=SimpleNamespace(greedy=found[0], beams=found[1:]))
    assert told in greedy_or_beam(view).replace("\\", "")


@pytest.mark.parametrize("beam", [0, 2, 4])
def test_attention_is_that_of_the_translation_on_screen(beam: int) -> None:
    found = run_of(SEVERAL)
    written = (found.greedy, *found.beams)[beam]
    assert written.ids != found.beams[0].ids
    app, trace = opened(SEVERAL, beam=str(beam), step="3"), run_of(SEVERAL, written=written.ids)
    assert f"**{written.text}**" in said(app)
    weights = trace["decoder.layers.2.cross.weights"][4, 2]
    assert hovers(app)[: len(weights)] == [f"{n}<br>{w:.4f}" for n, w in zip(trace.tokens, weights, strict=True)]


def test_a_forced_beginning_is_written_and_can_be_let_go() -> None:
    node = next(node for node in run_of().search.nodes if node.fate == "dropped" and len(node.ids) == 2)
    app = opened(forced=".".join(map(str, node.ids)))
    forced = run_of(forced=node.ids)
    assert forced.beams[0].ids[:2] == node.ids and f"**{forced.translation}**" in said(app)
    app.button(key="translation.free").click().run()
    assert f"**{run_of().translation}**" in said(app) and app.session_state["at"]["forced"] == ()


# -- inside the decoder --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trace", [run_of(), untrained_translator()(ENGLISH)], ids=["trained", "untrained"])
def test_every_quantity_of_the_decoder_is_in_some_part(trace) -> None:
    shown = {"logits"}
    for layer in range(trace.graph.layers("decoder.")):
        there = SimpleNamespace(trace=trace, choice=replace(Choice(), layer=layer))
        shown |= {quantity.key for block in BLOCKS[:-1] for quantity in quantities_of(there, block)}
    assert shown == {key for key in trace if key.startswith("decoder.") or key == "logits"}


@pytest.mark.parametrize(
    ("block", "stage", "key"),
    [
        ("embedding", "sum", "decoder.embedding.sum"),
        ("attention", "weights", "decoder.layers.2.attention.weights"),
        ("attention", "add_1", "decoder.layers.2.add_1"),
        ("cross", "K", "decoder.layers.2.cross.K"),
        ("cross", "heads", "decoder.layers.2.cross.heads"),
        ("cross", "output", "decoder.layers.2.cross.output"),
        ("ffn", "activation", "decoder.layers.2.ffn.activation"),
        ("ffn", "norm_3", "decoder.layers.2.norm_3"),
        ("next", "logits", "logits"),
    ],
)
def test_the_arithmetic_comes_out_as_recorded(block: str, stage: str, key: str) -> None:
    app = opened(panel="inside", block=block, stage=stage, step="4", component="7", part="3", neuron="11", token="3")
    trace = run_of()
    if block == "next":
        recorded = trace[key][3, trace.written_ids[3]]
    else:
        place = {"target": 3, "query": 3, "token": 2, "key": 2, "head": 4, "d_k": 2, "d_model": 6, "d_ff": 10}
        if stage == "weights":  # which key is looked at was not chosen
            place["key"] = app_cell(app)
        recorded = trace[key][tuple(place[axis] for axis in trace.axes(key))]
        picture = numbers(figure(app)["data"][0]["z"])
        np.testing.assert_array_equal(picture, trace[key][4] if trace[key].ndim == 3 else trace[key])
    assert f"recorded {recorded:.4f}.".replace("-", "−") in said(app)
    assert result(app) == pytest.approx(float(recorded), rel=1e-3, abs=2e-5)


def app_cell(app: AppTest) -> int:
    """The column that is outlined in the first picture."""
    return round(figure(app)["layout"]["shapes"][-1]["x0"] + 0.5)


# -- alignment -----------------------------------------------------------------------------------------------------


def test_an_alignment_is_claimed_only_where_it_was_measured() -> None:
    roles = head_roles("translation")
    for layer, head in ((3, 5), (1, 2), (2, 1)):
        role = roles.at(f"decoder.layers.{layer - 1}.cross", head - 1)
        told = said(opened(panel="alignment", layer=str(layer), head=str(head)))
        assert ("does not point at aligned words" in told) == (not role.name.startswith("aligned"))
        assert f"{percent(role.share)} of places" in told
        assert ("may be chance" in told) == (not role.clear)


# -- changes -------------------------------------------------------------------------------------------------------

CHANGES = [
    Edit("decoder.layers.2.cross.heads", "zero", head=4),
    Edit("decoder.layers.{l}.cross.output", "zero"),
    Edit("decoder.layers.{l}.attention.masked", "unmasked"),
    Edit("embedding.sum", "remove", token=2),
    Edit("decoder.layers.2.cross.scaled", "set", 1e4, head=4, looked_at=2),
    Edit("decoder.layers.{l}.cross.scaled", "set", 1e4, looked_at=2),
]


def test_without_the_mask_a_row_sees_what_comes_later() -> None:
    ids = run_of().beams[0].ids
    weights = run_of(edits=(CHANGES[2],), written=ids)["decoder.layers.0.attention.weights"]
    later = np.triu(weights, 1).sum(-1)[:, :-1]
    assert (later > 0).all()
    other = (*ids[:-2], 77, ids[-1])
    masked = [run_of(written=some)["logits"][0] for some in (ids, other)]
    leaking = [run_of(edits=(CHANGES[2],), written=some)["logits"][0] for some in (ids, other)]
    np.testing.assert_array_equal(*masked)
    assert not np.allclose(*leaking)


def test_a_difference_is_that_of_the_same_words() -> None:
    edit = CHANGES[0]
    app = opened(panel="inside", block="cross", stage="weights", shown="difference", edits=edit_code(edit), layer="3")
    changed = run_of(edits=(edit,))
    plain = run_of(written=changed.beams[0].ids)
    assert changed["decoder.layers.2.cross.weights"].shape == plain["decoder.layers.2.cross.weights"].shape
    difference = changed["decoder.layers.2.cross.weights"][4] - plain["decoder.layers.2.cross.weights"][4]
    np.testing.assert_allclose(numbers(figure(app)["data"][0]["z"]), difference, atol=1e-7)


def test_a_change_at_a_step_that_a_shorter_translation_has_not_is_left_out() -> None:
    sentence = "the animal did not cross the street because it was too tired ."
    length = len(run_of(sentence).beams[0].ids)
    last = Edit("decoder.layers.0.ffn.output", "zero", token=length - 1)
    changed = run_of(sentence, edits=(last,))
    shorter = next(b for b, beam in enumerate(changed.beams) if len(beam.ids) < length)
    app = opened(sentence, beam=str(shorter + 1), edits=edit_code(last))
    assert [warning.value for warning in app.warning] == [catalogue("en")["error.edits"]]


def test_changes_of_the_decoder_wait_while_another_page_is_open() -> None:
    app = open_page("attention", s=ENGLISH, edits=edit_code(CHANGES[0]))
    assert not app.warning and app.session_state["choice"].edits == (CHANGES[0],)


@pytest.mark.parametrize("language", LANGUAGES)
def test_another_page_names_waiting_changes_of_the_decoder_in_words(language: str) -> None:
    both = (
        *CHANGES[:5],
        Edit("layers.2.attention.heads", "zero", head=4),
        Edit("decoder.layers.0.cross.output", "zero"),
    )
    app = open_page("attention", s=ENGLISH, lang=language, edits="~~".join(map(edit_code, both)))
    labels = [
        button.label.replace("\\", "") for button in app.button if str(button.key).startswith("change.") and button.icon
    ]
    assert len(labels) == len(set(labels)) == len(both)
    assert not any("layers." in label or "change." in label for label in labels)
    decoder = catalogue(language)["change.decoder"]
    assert [label.startswith(decoder) for label in labels] == [edit.key.startswith("decoder.") for edit in both]
    if language == "en":
        assert labels[0].startswith("decoder, cross-attention, layer 3, head 5 · head output")


# -- what cannot be translated, or hardly --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "link",
    [
        {"step": "99", "layer": "6", "head": "8", "token": "60", "key": "60"},
        {"forced": "999999"},
        {"forced": "3.3.3"},
        {"forced": ".".join(["77"] * 80)},
        {"beam": "4", "forced": "77", "panel": "search"},
        {"panel": "inside", "block": "nothing", "stage": "nothing"},
        {"panel": "inside", "block": "ffn", "stage": "Q"},
        {"panel": "nothing"},
        {"edits": "decoder.layers.9.norm_1~zero"},
        {"edits": "decoder.layers.0.cross.weights~zero~looked_at.60"},
        {"model": "paper"},
    ],
)
def test_a_link_to_nowhere_opens_what_is_near(link: dict[str, str]) -> None:
    app = opened(**link)
    assert charts(app) or app.warning


def test_a_long_sentence_is_cut_and_it_is_said() -> None:
    app = opened("the cat runs " * 30)
    assert any("64" in note.value for note in app.info) and charts(app)


@pytest.mark.parametrize("last", ["[SEP]", "dog", "[UNK]"])
def test_a_translation_without_an_end_is_said_to_break_off(last: str) -> None:
    one = replace(run_of().beams[0], tokens=("a", last), ids=(1, 2), steps=(-0.1, -0.2))
    told = likelihood(SimpleNamespace(begun=0), one)
    assert ("after 2 pieces" in told, "[UNK]:" in told) == (last != "[SEP]", last == "[UNK]")


def test_a_chinese_sentence_that_is_cut_has_no_spaces() -> None:
    sentence = "从前有一座山，山上有一座庙，庙里有个老和尚在讲故事，" * 3
    assert sentence[:60] in said(opened(sentence))


@pytest.mark.parametrize(("typed", "reason"), [("", "empty"), ("שלום", "unknown_only")])
def test_what_cannot_be_read_gets_one_sentence_and_the_last_translation_stays(typed: str, reason: str) -> None:
    app = write(opened(CHINESE), typed)
    assert_fine(app)
    assert [warning.value for warning in app.warning] == [catalogue("en")[f"error.input_{reason}"]]
    assert run_of(CHINESE).translation in said(app)


def test_the_layer_of_the_encoder_is_kept_for_its_pages() -> None:
    app = open_page("attention", s=ENGLISH, layer="6", head="2")
    turn_to(app, "translation").run()
    assert len(app.segmented_control(key="either.layer").options) == 3 and app.session_state["either.layer"] == 2
    turn_to(app, "feed_forward").run()
    assert app.session_state["choice"].layer == 5
    turn_to(app, "translation").run()
    app.segmented_control(key="either.layer").set_value(1).run()
    assert app.session_state["choice"].layer == 1
    turn_to(app, "feed_forward").run()
    assert app.session_state["choice"].layer == 1


def test_another_sentence_begins_afresh(monkeypatch: pytest.MonkeyPatch) -> None:
    def box(*_: object, on_words: Callable[[str], object], **__: object) -> None:
        st.text_input("typed", key="typed", on_change=lambda: on_words(st.session_state["typed"]))

    monkeypatch.setattr(line, "sentence_line", box)  # AppTest cannot send what a component does
    app = opened(forced="77.78", step="3", beam="2")
    app.text_input(key="typed").set_value(CHINESE).run()
    assert f"**{run_of(CHINESE).translation}**" in said(app)
    choice = app.session_state["choice"]
    assert (choice.forced, choice.step, choice.beam) == ((), None, 1)


def test_another_language_hides_no_less() -> None:
    app = opened(hidden="3", forced="77.78")
    app.button(key="translation.free").click().run()
    assert app.session_state["choice"].hidden == (2,) and app.session_state["choice"].forced == ()
    app.segmented_control(key="translation.into").set_value("en").run()
    assert_fine(app)
    assert app.session_state["choice"].hidden == (2,)


def test_without_the_changes_the_sentence_is_translated_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The encoder of others has other pieces, and so other numbers for them."""
    (name,) = offer(monkeypatch, MINILM)
    off, sentence = Edit("layers.1.attention.heads", "zero", head=1), "Café, the dog"
    for link in ({"model": name}, {}):
        app = opened(sentence, edits=edit_code(off), shown="original", **link)
        assert f"{sentence} &ensp;" in said(app)
        assert run_of(sentence, (off,)).translation in said(app)  # of both runs the same words are shown


@pytest.mark.parametrize(
    ("source", "forced"), [(ENGLISH, ()), (ENGLISH, (661,)), (CHINESE, ()), ("qwx zzt blorp .", ())]
)
def test_the_page_says_how_likely_the_model_found_what_it_wrote_itself(source: str, forced: tuple[int, ...]) -> None:
    own = run_of(source, forced=forced).beams[0].steps[len(forced) :]
    app = opened(source, forced=".".join(map(str, forced))) if forced else opened(source)
    assert re.search(f"{np.exp(np.mean(own)):.0%} \\(geometric\\)", said(app))


def test_a_drawing_is_offered_a_sentence() -> None:
    app = open_page("translation", input="digit")
    app.button(key="translation.words").click().run()
    assert_fine(app)
    assert app.session_state["choice"].input == "sentence" and charts(app)


def test_the_other_sentence_is_translated_by_the_network_that_nobody_changed() -> None:
    app = opened(other=SEVERAL, shown="other", edits="embedding.positions~zero")
    assert f"**{run_of(SEVERAL).translation}**" in said(app)


def test_the_glossary_lists_the_decoders_symbols(monkeypatch: pytest.MonkeyPatch) -> None:
    explained = []
    monkeypatch.setattr(page, "open_glossary", explained.append)
    opened().button(key="glossary").click().run()
    assert [trace.graph.decoder is not None for trace in explained[-1:]] == [True]


def test_the_npz_holds_the_translation_on_screen() -> None:
    found = run_of(SEVERAL)
    saved = np.load(io.BytesIO(exports.npz(run_of(SEVERAL, written=found.greedy.ids))))
    assert saved["target_tokens"].tolist() == ["[ZH]", *found.greedy.tokens[:-1]]
    assert len(saved["decoder.layers.0.cross.weights"][0]) == len(found.greedy.tokens)


MASK = {"panel": "inside", "block": "attention", "stage": "masked"}


@pytest.mark.parametrize("step", [1, 3])
def test_what_would_leak_without_the_mask_is_what_a_head_without_it_takes(step: int) -> None:
    app = opened(**MASK, step=str(step))
    run = run_of(written=run_of().beams[0].ids)
    edit = Edit("decoder.layers.2.attention.masked", "unmasked", head=4)
    free = run_of(edits=(edit,), written=run_of().beams[0].ids)["decoder.layers.2.attention.weights"][4, step - 1]
    (drawn,) = [chart["figure"]["data"] for chart in charts(app) if chart["key"] == "translation.leak"]
    np.testing.assert_allclose(numbers(drawn[1]["y"]), free, atol=1e-5)
    np.testing.assert_array_equal(numbers(drawn[0]["y"])[step:], 0)
    np.testing.assert_array_equal(numbers(drawn[0]["y"]), run["decoder.layers.2.attention.weights"][4, step - 1])
    assert f"would take {percent(float(free[step:].sum()))} from later pieces" in said(app)
    assert f", {percent(float(free[step]))} from “{run.written[step - 1]}” itself" in said(app)
    assert run.target_tokens[step] == run.written[step - 1]  # so it is the piece to be guessed


def test_at_the_last_step_nothing_is_said_to_leak() -> None:
    app = opened(**MASK, step=str(len(run_of().beams[0].ids)))
    assert "would take" not in said(app) and "translation.leak" not in [chart["key"] for chart in charts(app)]
