"""Flat: one token, so a weight of exactly 1 whatever the score, and every number of the lecture note's stages."""

import numpy as np
import pytest

from model.edits import Edit
from pages.drawing.place import Place
from pages.drawing.state import sketch
from pages.drawing.text import catalogue, class_label
from pages.drawing.text.numbers import unsigned
from pages.flat.page import DISTURBED, NOISE
from pages.flat.pictures import ATTENTION, DRAWN, in_patches, of_one
from pages.screen.runs import pipelines
from tests.pages.opening import open_page, texts

INK = [sketch.ink(sketch.example(which)) for which in range(10)]


def open_flat(**link: str):
    return open_page("flat", **{"input": "flat", "ink": sketch.to_code(sketch.example(7)), **link})


@pytest.mark.parametrize(("change", "told"), [("V~zero", True), ("heads~zero", False), ("weights~zero", False)])
def test_the_value_passes_as_it_is_unless_that_was_changed(change: str, told: bool) -> None:
    app = open_flat(edits=f"{ATTENTION}{change}~head.2")
    assert app.session_state["choice"].edits
    assert ("so A V is V again" in texts(app)) == told
    assert (catalogue("en")["change.no_law"] in texts(app)) != told


@pytest.mark.parametrize("place", DISTURBED)
def test_noise_on_query_key_or_score_moves_neither_what_a_head_passes_on_nor_the_answer(place: str) -> None:
    for which, ink in enumerate(INK):
        calm = pipelines.run("flat", ink)
        noisy = pipelines.run("flat", ink, (Edit(ATTENTION + place, "noise", NOISE),))
        shown = [of_one(run, Place()).parts for run in (calm, noisy)]
        moved = {
            name: not np.array_equal(one.drawn.array, other.drawn.array)
            for name, one, other in zip(DRAWN, *shown, strict=True)
        }
        answers = [run.answer[0].probabilities for run in (calm, noisy)]
        assert moved[place] and not moved["weights"], which
        assert moved["heads"] == (answers[0] != answers[1]) == (place == "V"), which


def test_the_change_that_is_told_is_that_of_the_answer_and_other_changes_stay() -> None:
    edit = Edit("layers.0.ffn.output", "zero")
    calm, noisy = (
        pipelines.run("flat", INK[7], edits).answer[0].probabilities
        for edits in ((edit,), (edit, Edit(f"{ATTENTION}V", "noise", NOISE)))
    )
    app = open_flat(edits="layers.0.ffn.output~zero", stage="V")
    assert f"by **{unsigned(max(abs(one - other) for one, other in zip(calm, noisy, strict=True)))}**" in texts(
        app
    ).replace("\\", "")
    assert app.session_state["choice"].edits == (edit,)
    assert "by **0**" in texts(open_flat(edits="layers.0.ffn.output~zero", stage="K"))


@pytest.mark.parametrize("link", [{}, {"input": "digit"}, {"input": "flat"}])
def test_whatever_is_read_elsewhere_a_digit_can_be_drawn_and_only_it_changes(link: dict[str, str]) -> None:
    app = open_page("flat", s="the cat sat on the mat .", **link)
    before = app.session_state["choice"]
    app.pills(key="example_digit").set_value(7).run()
    after = app.session_state["choice"]
    assert (after.input, after.sentence) == (before.input, before.sentence)
    assert after.drawing == sketch.example(7)
    assert list(app.dataframe[0].value.iloc[0]) == [class_label("odd"), f"7 ({class_label('odd')})"]


def test_the_answer_and_that_of_the_patches_are_those_of_their_runs() -> None:
    flat, patches = pipelines.pipeline("flat")(INK[7]), pipelines.pipeline("digits")(INK[7])
    rows = open_flat().dataframe[0].value
    even = f"{sum(patches.answer[0].probabilities[::2]):.4f}"
    assert list(rows.loc[catalogue("en")["flat.row_even"]]) == [f"{flat.answer[0].probabilities[0]:.4f}", even]


def test_the_same_drawing_opens_in_patches() -> None:
    patches = pipelines.run("digits", INK[7])
    for place in range(len(patches.tokens)):
        row, column = divmod(place - 1, 7) if place else (0, -1)
        page, values = in_patches(patches, sketch.example(7)).picks(row, column)
        assert (page, values["input"], values["token"], values["drawing"]) == (
            "attention",
            "digit",
            place,
            sketch.example(7),
        )
