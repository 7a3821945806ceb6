"""The Laboratory: each effect shown is that of the edited run, and edits stay on all pages."""

import numpy as np
import pytest
from streamlit.proto.Metric_pb2 import Metric as MetricProto

from model import Edit
from model.measures.sweep import moved
from pages.drawing.state.first_sight import first_place
from pages.drawing.state.link_values import edit_code
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import two
from pages.screen.runs import pipelines
from pages.what_if import page as what_if
from tests.pages.opening import (
    at_page,
    charts,
    maps,
    numbers,
    open_page,
    run_fine,
    said,
    texts,
    turn_to,
    warnings,
)

SENTENCE = "the cat sat on the [MASK] ."
DOG = "the dog chased the cat ."
ROOF = "the cat sat on the roof ."
KINDS = [(tab, kind) for tab, kinds in what_if.PARTS.items() for kind in kinds]
OFF = Edit("layers.2.attention.heads", "zero", head=3)


def open_kind(kind: str, **link: str):
    """The map of one kind of edit, by default of the lead."""
    tab = next(tab for tab, each in KINDS if each == kind)
    place = {"tab": tab, "block": kind, "token": "6", "measure": "lead"}
    return open_page("what_if", **{"s": SENTENCE, **place, **link})


def figures(app) -> list[dict]:
    return [chart["figure"] for chart in charts(app)]


def lead(trace, place: int, first: int, second: int) -> float:
    return float(trace["logits"][place, first] - trace["logits"][place, second])


def test_a_bare_link_shows_what_the_answer_loses_without_each_head() -> None:
    app = open_page("what_if")
    text, choice = pipelines.pipeline("text"), app.session_state["choice"]
    plain = text(choice.sentence)
    place = first_place(choice.sentence)
    subject = text.reader.hide(plain.ids, [place])
    off = [(Edit(f"layers.{layer}.attention.heads", "zero", head=head),) for layer in range(6) for head in range(8)]
    shown = maps(app)[0]
    np.testing.assert_allclose(shown.ravel(), moved(text, subject, off, place), atol=1e-5)
    drawn = figures(app)[0]["data"][0]
    assert drawn["zmin"] == 0 and drawn["zmax"] == pytest.approx(max(0.1, shown.max())), "no small effect is bright"
    most = divmod(int(shown.argmax()), shown.shape[1])
    named = catalogue("en")["common.where"].format(layer=most[0] + 1, head=most[1] + 1)
    assert f"Largest: {named}, {shown.max():.2f}" in said(app)


def test_of_a_typed_sentence_the_effects_are_those_at_the_selected_token() -> None:
    text = pipelines.pipeline("text")
    for link, place in (({"token": "2"}, 1), ({"token": "3"}, 2), ({"hidden": "4"}, 3)):
        app = open_page("what_if", s=DOG, measure="moved", **link)
        subject = text.reader.hide(text(DOG).ids, [place]) if "hidden" in link else DOG
        assert maps(app)[0][2, 3] == pytest.approx(moved(text, subject, [(OFF,)], place)[0], abs=1e-5)
        assert ("Copied, not guessed" in texts(app)) == ("hidden" not in link)
        assert ("No word is hidden" in texts(app)) == ("hidden" not in link and maps(app)[0].max() < 0.1)


def test_of_an_answer_so_sure_that_it_hardly_moves_the_effects_are_those_on_its_lead() -> None:
    text = pipelines.pipeline("text")
    plain, changed = text(DOG), text(DOG, edits=[OFF])
    first, second = (int(i) for i in np.argsort(-plain["logits"][1])[:2])
    expected = lead(changed, 1, first, second) - lead(plain, 1, first, second)
    assert maps(open_page("what_if", s=DOG, token="2"))[0][2, 3] == pytest.approx(expected, abs=1e-4)
    shown = maps(digit := open_page("what_if", input="digit"))[0]
    assert np.nanmax(np.abs(shown)) >= 0.9 * figures(digit)[0]["data"][0]["zmax"], "the digit's map is not all dark"


def test_the_probability_that_changes_move_is_said_and_a_click_on_a_bar_asks_for_its_lead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clicks = []
    monkeypatch.setattr(what_if, "guesses", lambda *about, **_: clicks.append(about[4]))
    text = pipelines.pipeline("text")
    place = text(SENTENCE).tokens.index("[MASK]")
    app = open_page("what_if", s=SENTENCE, edits=edit_code(OFF))
    assert app.metric[0].value == f"{moved(text, SENTENCE, [[OFF]], place)[0]:.2f}"
    words = [text.reader.vocabulary.index(word) for word in ("floor", "bed")]
    chosen = clicks[-1](words[0])
    assert (chosen["output"], chosen["measure"]) == (words[0], "lead")
    old = open_page("what_if", s=SENTENCE, output=str(words[0]), against=str(words[1]))
    assert "floor" in old.metric[0].label, "a link that names two words is about their lead"


def test_a_change_stands_in_the_link_goes_to_every_page_and_can_be_taken_back() -> None:
    app = open_kind("heads", edits=edit_code(OFF))
    trace = pipelines.run("text", SENTENCE, (OFF,))
    run_fine(turn_to(app, "heads"))
    assert app.session_state["choice"].edits == (OFF,)
    app = open_page("attention", s=SENTENCE, layer="5", stage="scores", edits=edit_code(OFF))
    np.testing.assert_array_equal(maps(app)[0], trace["layers.4.attention.scores"][0])
    plain = pipelines.run("text", SENTENCE)
    assert np.abs(plain["layers.4.attention.scores"] - trace["layers.4.attention.scores"]).max() > 1e-3
    run_fine(app.button(key="change.0").click())
    assert not app.session_state["choice"].edits
    np.testing.assert_array_equal(maps(app)[0], plain["layers.4.attention.scores"][0])


def test_each_of_two_equal_changes_is_taken_back_by_itself() -> None:
    twice, other = Edit("layers.1.ffn.output", "scale", 2.0), Edit("layers.0.attention.heads", "zero", head=0)
    app = open_page("attention", s=SENTENCE, edits="~~".join(map(edit_code, (twice, other, twice))))
    run_fine(app.button(key="change.0").click())
    assert app.session_state["choice"].edits == (other, twice)


#: Kind of edit, further link values, and cells of its map with the edit of each.
MAPS: list[tuple[str, dict[str, str], dict[tuple[int, int], Edit]]] = [
    ("heads", {}, {(5, 7): Edit("layers.5.attention.heads", "zero", head=7)}),
    ("heads", {"stage": "mean"}, {(1, 4): Edit("layers.1.attention.heads", "mean", head=4)}),
    (
        "inside",
        {},
        {
            (1, 6): Edit("layers.{l}.attention.output", "mean"),
            (2, 6): Edit("layers.{l}.attention.scaled", "unscaled"),
            (6, 1): Edit("layers.1.attention.masked", "window", 1.0),
        },
    ),
    ("inside", {"stage": "pair"}, {(6, 2): Edit("layers.{l}.attention.masked", "hide", token=5, looked_at=2)}),
    ("sublayer", {}, {(1, 6): Edit("layers.{l}.ffn.output", "mean")}),
    ("residuals", {}, {(0, 2): Edit("layers.2.add_1", "without"), (3, 5): Edit("layers.5.norm_2", "bypass")}),
    ("tokens", {"stage": "remove"}, {(0, 2): Edit("embedding.sum", "remove", token=2)}),
    ("tokens", {"stage": "zero"}, {(4, 3): Edit("layers.3.norm_2", "zero", token=3)}),
    (
        "places",
        {},
        {(0, 0): Edit("embedding.positions", "zero"), (3, 0): Edit("embedding.positions", "shift", 10.0)},
    ),
    ("patching", {"other": ROOF}, {(2, 6): Edit("layers.1.norm_2", "patch", token=6, from_token=6, source=ROOF)}),
]


@pytest.mark.parametrize(("kind", "link", "cells"), MAPS)
def test_a_cell_is_the_run_with_that_change_alone(kind: str, link: dict[str, str], cells: dict) -> None:
    text = pipelines.pipeline("text")
    plain = text(SENTENCE)
    place = plain.tokens.index("[MASK]")
    first, second = np.argsort(-plain["logits"][place])[:2]
    app = open_kind(kind, **link)
    shown = maps(app)[0]
    for cell, edit in cells.items():
        effect = lead(text(SENTENCE, [edit]), place, first, second) - lead(plain, place, first, second)
        assert shown[cell] == pytest.approx(effect, abs=1e-3)
    if link.get("stage") == "remove":
        assert np.flatnonzero(np.isnan(shown[0])) == [place]  # the token that answers can't be removed
        assert "cannot be removed" in texts(app)


def test_tiny_effects_are_called_tiny() -> None:
    app = open_kind("heads", edits="layers.0.ffn.activation~scale~value.1.001~neuron.7")
    assert app.metric[0].delta == "0" and app.metric[0].proto.direction == MetricProto.MetricDirection.NONE
    assert "No bar moved" in texts(app) and "moved most" not in texts(app)


def test_no_effect_is_said_only_where_all_cells_are_below_a_hundredth() -> None:
    for link in (
        {"s": "hello", "token": "2"},
        {"s": "i love you .", "token": "3"},
        {"s": SENTENCE},
        {"input": "digit"},
    ):
        app = open_kind("heads", measure="moved", **link)
        (drawn,) = [c["data"][0] for c in figures(app) if c["data"][0]["type"] == "heatmap"]
        cells = {two(value) for value in numbers(drawn["z"]).ravel().tolist()}
        sees = "token" in link and numbers(drawn["z"]).max() < 0.1
        assert ("No change here moves as much as 0.01" in texts(app)) == (cells == {two(0)} and not sees), link
        assert ("No word is hidden" in texts(app)) == sees, link


def test_a_drawing_is_shown_without_the_patch_that_was_taken_away() -> None:
    gone = Edit("embedding.sum", "remove", token=25)
    plain, cut = (figures(open_kind("tokens", input="digit", edits=code)) for code in ("", edit_code(gone)))
    pictures = [
        next(c for c in shown if len(c["data"]) == 4 and c["data"][0]["type"] == "heatmap") for shown in (plain, cut)
    ]
    before, after = (numbers(picture["data"][0]["z"]).astype(int) for picture in pictures)
    rows, columns = slice(12, 16), slice(12, 16)  # the fourth patch of the fourth row
    assert before[rows, columns].any() and not after[rows, columns].any()
    after[rows, columns] = before[rows, columns]
    np.testing.assert_array_equal(before, after)


#: Invalid edits in links, and whether the link or the run refuses them.
HOSTILE = {
    "~~".join(["layers.2.attention.heads~zero"] * 1000): "link",
    "layers.2.attention.heads~zero~head.99": "edits",
    "layers.2.norm_1~patch~source.text.%F0%9F%98%80": "edits",
    "decoder.layers.0.norm_1~zero~~foo~bar": "edits",
}


@pytest.mark.parametrize(("code", "reason"), HOSTILE.items(), ids=[code[:50] for code in HOSTILE])
def test_changes_that_cannot_be_made_get_one_clear_sentence(code: str, reason: str) -> None:
    app = at_page("home", **{"lang": "en", "s": SENTENCE, "edits": code, "other": "a dog ran ."})
    run_fine(app)
    assert "foo" not in "".join(button.label for button in app.button), "what is not made is not named as a change"
    assert len(app.warning) == 1, warnings(app)
    said = catalogue("en")[f"error.{reason}"].split("{")[0]
    assert said in app.warning[0].value and len(app.warning[0].value) < 200


@pytest.mark.parametrize(
    ("link", "boxes"),
    [
        ({"other": "a dog ran ."}, 0),
        ({"s": DOG}, 1),
        ({"tab": "heads", "block": "inside", "stage": "pair"}, 1),
        ({"input": "digit"}, 0),
    ],
)
def test_a_token_is_selected_here_where_that_changes_something(link: dict[str, str], boxes: int) -> None:
    app = open_page("what_if", **{"s": SENTENCE, **link})
    assert sum(box.key == "pick.token" for box in app.selectbox) == boxes
    if boxes:
        before = charts(app)
        app.selectbox(key="pick.token").select_index(3).run()
        assert app.session_state["choice"].token == 3 and charts(app) != before
