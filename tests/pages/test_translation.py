"""The Translation page: beam search, cross-attention, alignment, edits."""

import re
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from model import Edit
from model.analysis import softmax
from model.files import WEIGHTS
from model.measures.tables import head_roles
from model.search import LENGTH_PENALTY, score
from model.translator import Task, TranslationTrace
from pages.drawing.figures.writing import ALONG
from pages.drawing.place import Place
from pages.drawing.state.choice import Choice
from pages.drawing.state.link_values import edit_code
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import percent, two
from pages.screen.frame import line
from pages.screen.runs import pipelines
from pages.translation.decoder import BLOCKS, quantities_of
from pages.translation.pictures import LEAST, lines
from pages.translation.search import WIDE, greedy_or_beam
from pages.translation.writing import BLEU, READY, UNSURE, clearest, likelihood, mean_probability
from tests.model.making import MINILM
from tests.networks import untrained_translator
from tests.pages.inputs import offer
from tests.pages.opening import charts, figure, open_page, run_fine, said, turn_to, warnings

ENGLISH, CHINESE = "the dog chased the cat .", "我爱你。"
TIRED = "the animal did not cross the street because it was too tired ."
SEVERAL = "the unhappy children were playing ."  # greedy search and beam search translate it differently


def opened(s: str = ENGLISH, **link: str) -> AppTest:
    return open_page("translation", **({"layer": "3", "head": "5", "s": s} | link))


def run_of(s: str = ENGLISH, edits: tuple[Edit, ...] = (), **task):
    return pipelines.run("translation", Task(s, **task), edits)


def hovers(app: AppTest) -> list[str]:
    """Tooltips of the words of a translation."""
    marks = next(trace["text"] for trace in figure(app, 0)["data"] if trace.get("hovertemplate"))
    return marks[:: len(ALONG)]


def test_the_step_looked_at_first_is_one_that_sees_its_source() -> None:
    trace, app = run_of(TIRED), opened(TIRED)
    over_heads = [trace[f"decoder.layers.{layer}.cross.weights"].mean(axis=0) for layer in range(3)]
    step = app.slider(key="translation.step").value - 1
    assert trace.written[step].isalpha()
    assert trace.tokens[sum(over_heads)[step].argmax()] == "tired"
    assert "In the source, it attends most to “tired”" in said(app)


@pytest.mark.parametrize(("sentence", "piece", "source"), [(TIRED, "累", "tired"), (ENGLISH, "猫", "cat")])
def test_translation_opens_on_the_line_that_shows_most_unless_a_link_names_a_head(
    sentence: str, piece: str, source: str
) -> None:
    run = run_of(sentence)
    layer, head, step = clearest(run, head_roles("translation"))
    row = run[f"decoder.layers.{layer}.cross.weights"][head, step]
    assert (run.written[step], run.tokens[row.argmax()]) == (piece, source) and row.max() > 0.9
    from_menu = open_page("attention", s=sentence, layer="6", head="2")
    turn_to(from_menu, "translation").run()
    for app in (from_menu, open_page("translation", s=sentence)):
        choice = app.session_state["choice"]
        assert (choice.layer, choice.head) == (layer, head)
        assert app.slider(key="translation.step").value == step + 1
    choice = open_page("translation", s=sentence, layer="1", head="2").session_state["choice"]
    assert (choice.layer, choice.head) == (0, 1)


@pytest.mark.parametrize("head", [0, 6])
def test_words_stay_in_place_at_each_step_with_their_weights(head: int) -> None:
    trace, places = run_of(TIRED), set()
    for step in range(len(trace.written)):
        drawn = lines(trace, Place(layer=2, head=head, step=step)).drawn()
        words = {
            (float(x), float(y), re.sub("<[^>]*>|&nbsp;", "", text))
            for one in drawn.data
            if one.get("mode") == "text"
            for x, y, text in zip(one["x"], one["y"], one["text"], strict=True)
        }
        places.add(frozenset((x, y, text.split("% ")[-1]) for x, y, text in words))
        shares = {(y, text.split(" ")[0]) for x, y, text in words if not x and "% " in text}
        row = trace["decoder.layers.2.cross.weights"][head, step]
        by = (max(len(trace.tokens), len(trace.written) + 1) - 1) / (len(trace.tokens) - 1)
        told = {round(y / by): text for y, text in shares}
        assert told == {key: percent(float(share)) for key, share in enumerate(row) if share >= LEAST}
    assert len(places) == 1


def test_the_reader_may_ask_for_either_language() -> None:
    app = opened("我 love 你 .", into="zh")
    assert run_of("我 love 你 .", into="zh").translation in said(app)
    assert "expect the other language" in said(app)
    app.segmented_control(key="translation.into").set_value("en").run()
    assert run_of("我 love 你 .", into="en").translation in said(app)
    assert "expect the other language" not in said(app)


# -- the search ----------------------------------------------------------------------------------------------------


def test_in_the_tree_only_what_goes_on_is_black() -> None:
    for sentence in (ENGLISH, CHINESE):
        nodes, path = run_of(sentence).search.nodes, run_of(sentence).written
        (black,) = [one["text"] for one in figure(opened(sentence, tab="search"))["data"]
                    if one["mode"] == "text" and "color" not in one["textfont"]]  # fmt: skip
        assert {node.fate for node in nodes} == {"kept", "ended", "dropped", "left"}
        assert len(black) == sum(node.fate in ("kept", "ended") for node in nodes) - len(path)


def test_the_tree_holds_every_candidate_and_the_table_every_sentence() -> None:
    app, trace, signs = opened(TIRED, tab="search"), run_of(TIRED), set()
    told = said(app).replace("*", "").replace("\\", "")
    marks = next(one for one in figure(app)["data"] if one.get("hovertemplate"))
    first = int(figure(app)["layout"]["xaxis"]["ticktext"][0])
    shown = [node for node in trace.search.nodes if first <= len(node.ids) < first + WIDE]
    for node, hover in zip(shown, marks["text"], strict=True):
        assert f"log P {node.log_probability:.2f}".replace("-", "−") in hover
    for one in (trace.greedy, *trace.beams):
        log_p, pieces = two(one.log_probability), len(one.ids)
        by_hand = two(float(log_p.replace("−", "-")) / pieces**LENGTH_PENALTY)
        signs.add(sign := "" if by_hand == two(one.score) else "≈ ")
        assert f"| {one.text} | {log_p} | {pieces} | {sign}{two(one.score)} |".replace("−", "-") in told
    assert f"score = log P ÷ pieces^{LENGTH_PENALTY}" in told, "as its column says"
    assert signs == {"", "≈ "} and "≈: computed" in told and "≈" not in said(opened(tab="search"))


@pytest.mark.parametrize("step", [1, 5, 9, 14])
def test_a_long_tree_shows_the_step_of_the_slider_and_says_which_steps_it_shows_of_how_many(step: int) -> None:
    app = opened(TIRED, tab="search", step=str(step))
    assert app.slider(key="translation.step").value == step
    (columns,) = {tuple(figure(app)["layout"]["xaxis"]["ticktext"])}
    most = max(len(node.ids) for node in run_of(TIRED).search.nodes)
    assert str(step) in columns and len(columns) < most
    assert f"steps {columns[0]} to {columns[-1]} of {most}." in said(app)
    assert "steps 1 to" not in said(opened(tab="search")), "all are shown"


@pytest.mark.parametrize("tab", ["writing", "search", "alignment", "inside"])
def test_no_box_chooses_a_source_token_where_rows_are_written_pieces(tab: str) -> None:
    boxes = opened(tab=tab).selectbox
    assert not [box.label for box in boxes if box.label == catalogue("en")["common.selected_token"]]


@pytest.mark.parametrize(
    ("greedy", "best", "told"),
    [
        ((-2.0, 4), (-1.0, 3), "likelier as a whole"),
        ((-1.0, 2), (-1.2, 5), "has the better score"),
        ((-1.0, 3), (-2.0, 3), "A beam can miss what greedy finds"),
    ],
)
def test_beam_search_is_compared_with_greedy_search(
    greedy: tuple[float, int], best: tuple[float, int], told: str
) -> None:
    found = [
        SimpleNamespace(ids=(i,) * n, text="", log_probability=p, score=score(p, n))
        for i, (p, n) in enumerate((greedy, best))
    ]
    screen = SimpleNamespace(found=SimpleNamespace(greedy=found[0], beams=found[1:]))
    assert told in greedy_or_beam(screen).replace("\\", "")


@pytest.mark.parametrize("beam", [0, 2])
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


@pytest.mark.parametrize("run", [run_of, lambda: untrained_translator()(ENGLISH)], ids=["trained", "untrained"])
def test_every_quantity_of_the_decoder_is_in_some_part(run: Callable[[], TranslationTrace]) -> None:
    trace, shown = run(), {"logits"}
    for layer in range(trace.graph.layers("decoder.")):
        there = SimpleNamespace(run=trace, choice=replace(Choice(), layer=layer))
        shown |= {quantity.key for block in BLOCKS[:-1] for quantity in quantities_of(there, block)}
    assert shown == {key for key in trace if key.startswith("decoder.") or key == "logits"}


# -- alignment -----------------------------------------------------------------------------------------------------


def test_an_alignment_is_claimed_only_where_it_was_measured() -> None:
    roles = head_roles("translation")
    for layer, head in ((3, 5), (1, 2)):
        role = roles.at(f"decoder.layers.{layer - 1}.cross", head - 1)
        app = opened(tab="alignment", layer=str(layer), head=str(head))
        told = said(app)
        assert all(one["figure"]["layout"].get("meta", {}).get("numbers") for one in charts(app)), "in the cells"
        assert ("does not point at aligned words" in told) == (not role.name.startswith("aligned"))
        assert (f"{percent(role.share)} of places" in told) == role.clear
        assert ("may be chance" in told) == (not role.clear)


# -- changes -------------------------------------------------------------------------------------------------------


def test_a_change_at_a_step_that_a_shorter_translation_has_not_is_left_out() -> None:
    length = len(run_of(TIRED).beams[0].ids)
    last = Edit("decoder.layers.0.ffn.output", "zero", token=length - 1)
    changed = run_of(TIRED, edits=(last,))
    shorter = next(b for b, beam in enumerate(changed.beams) if len(beam.ids) < length)
    app = opened(TIRED, beam=str(shorter + 1), edits=edit_code(last))
    assert warnings(app) == [catalogue("en")["error.edits"]]


GOOD = (
    "这是我昨天买的书。",
    "我哥哥比我高。",
    "我从来没去过中国。",
    "he goes to school by bus every day.",
    "i met him at the station yesterday.",
    "i've never been to china.",
)


@pytest.mark.parametrize(("sentence", "good"), [*zip(READY, GOOD, strict=True)])
def test_sentences_are_offered_that_are_translated_well(sentence: str, good: str) -> None:
    app = opened()
    app.button_group(key="translation.ready").set_value(sentence).run()
    run = run_of(sentence)
    assert run.translation == good and f"**{good}**" in said(app)
    assert mean_probability(run) > 0.8


def test_quality_is_said_as_the_model_card_has_it() -> None:
    card = (WEIGHTS / "README.md").read_text("utf-8")
    rows = re.findall(r"(Chinese|English) \| (\d+\.\d), (\d+\.\d) \|", card)
    assert {into[:2]: tuple(float(f"{float(one):.0f}") for one in both) for into, *both in rows} == {
        "Ch": BLEU["zh"],
        "En": BLEU["en"],
    }


# -- what cannot be translated, or hardly --------------------------------------------------------------------------


@pytest.mark.parametrize("last", ["[SEP]", "dog", "[UNK]"])
def test_a_translation_without_an_end_is_said_to_break_off(last: str) -> None:
    run = copy(run_of())
    run.written, run.written_ids = ("a", last), (1, 2)
    told = likelihood(run)
    assert ("after 2 pieces" in told, "[UNK]:" in told) == (last != "[SEP]", last == "[UNK]")


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


def test_other_language_hides_the_same_word() -> None:
    app = opened(hidden="3", forced="77.78")
    app.button(key="translation.free").click().run()
    assert app.session_state["choice"].hidden == (2,) and app.session_state["choice"].forced == ()
    run_fine(app.segmented_control(key="translation.into").set_value("en"))
    assert app.session_state["choice"].hidden == (2,)


def test_without_the_changes_the_sentence_is_translated_as_it_was_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder with another tokenizer counts positions differently."""
    (name,) = offer(monkeypatch, MINILM)
    off, sentence = Edit("layers.1.attention.heads", "zero", head=1), "Café, the dog"
    for link in ({"model": name}, {}):
        app = opened(sentence, edits=edit_code(off), shown="original", **link)
        assert run_of(sentence, (off,)).translation in said(app)  # of both runs the same words are shown


@pytest.mark.parametrize(("s", "forced", "beam"), [(ENGLISH, (), 0), (ENGLISH, (661,), 1), (SEVERAL, (), 2)])
def test_mean_and_least_probability_are_of_all_pieces_as_they_stand_at_the_words(
    s: str, forced: tuple[int, ...], beam: int
) -> None:
    app, found = opened(s, forced=".".join(map(str, forced)), beam=str(beam)), run_of(s, forced=forced)
    run = run_of(s, written=(found.greedy, *found.beams)[beam].ids)
    each = softmax(run["logits"].astype(float))[range(len(run.written)), run.written_ids].tolist()
    mean = float(np.exp(np.mean(np.log(each))))
    assert f"{percent(mean)} (geometric)" in said(app)
    assert f"{percent(min(each))} (step {np.argmin(each) + 1})" in said(app)
    assert (catalogue("en")["translation.unsure"] in said(app)) == (mean < UNSURE)
    written = " ".join(text for trace in figure(app)["data"] for text in trace.get("text") or ())
    assert all(percent(p) in written for p in each)


def test_a_drawing_is_offered_a_sentence() -> None:
    app = open_page("translation", input="digit")
    run_fine(app.button(key="translation.words").click())
    assert app.session_state["choice"].input == "sentence" and charts(app)


def test_the_other_sentence_is_translated_by_the_network_that_nobody_changed() -> None:
    app = opened(other=SEVERAL, shown="other", edits="embedding.positions~zero")
    assert f"**{run_of(SEVERAL).translation}**" in said(app)


def test_a_presentation_which_shows_no_captions_says_that_hidden_words_are_read() -> None:
    app = open_page("translation", s="i love you .", lang="zh", hidden="3", big="true")
    assert catalogue("zh")["translation.all_read"] in [part.value for part in app.main.markdown]
