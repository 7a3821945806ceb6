"""Flat: one token, so a weight of exactly 1 whatever the score, and every number of the lecture note's stages."""

import numpy as np
import pytest

from model.edits import Edit
from pages.drawing.state import sketch
from pages.drawing.text import catalogue
from pages.screen.runs import pipelines
from tests.pages.opening import open_page, texts

INK = [sketch.ink(sketch.example(which)) for which in range(10)]
ATTENTION = "layers.0.attention."


def open_flat(**link: str):
    return open_page("flat", **{"input": "flat", "ink": sketch.to_code(sketch.example(7)), **link})


@pytest.mark.parametrize(("change", "told"), [("V~zero", True), ("heads~zero", False), ("weights~zero", False)])
def test_the_value_passes_as_it_is_unless_that_was_changed(change: str, told: bool) -> None:
    app = open_flat(edits=f"{ATTENTION}{change}~head.2")
    assert app.session_state["choice"].edits
    assert ("so A V is V again" in texts(app)) == told
    assert (catalogue("en")["change.no_law"] in texts(app)) != told


def test_with_a_change_the_test_compares_runs_that_both_have_it() -> None:
    table = open_flat(edits="layers.0.ffn.output~zero").dataframe[0].value
    np.testing.assert_array_equal(table.iloc[:4, 2], 0.0)
    assert table.iloc[4, 2] > 0
    calm = pipelines.pipeline("flat")(INK[7], [Edit("layers.0.ffn.output", "zero")]).answer[0].probabilities
    np.testing.assert_allclose(table.iloc[0, :2], calm, atol=1e-6)


def test_the_answer_and_that_of_the_patches_are_those_of_their_runs() -> None:
    flat, patches = pipelines.pipeline("flat")(INK[7]), pipelines.pipeline("digits")(INK[7])
    rows = open_flat().dataframe[1].value
    even = f"{sum(patches.answer[0].probabilities[::2]):.4f}"
    assert list(rows.loc[catalogue("en")["flat.row_even"]]) == [f"{flat.answer[0].probabilities[0]:.4f}", even]


def test_the_same_drawing_opens_in_patches() -> None:
    app = open_flat()
    before = app.session_state["choice"].drawing
    app.button(key="flat.to.attention").click().run()
    choice = app.session_state["choice"]
    assert (choice.input, choice.drawing) == ("digit", before)
