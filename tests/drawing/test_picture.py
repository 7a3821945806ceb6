"""Pictures are functions of a run and a place: without Streamlit, and subtracted as arrays."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from model.analysis import outliers
from model.measures.comparison import align
from pages.drawing.figures import Axis
from pages.drawing.picture import Numbers
from pages.drawing.pictures.far_out import in_words
from pages.drawing.pictures.quantity_map import chosen_cell, quantity_map
from pages.drawing.place import Place
from pages.drawing.text import unmarked
from pages.drawing.two_runs import TwoRuns
from tests.networks import pipeline

ROOT = Path(__file__).parents[2]
PLACE = Place(layer=2, head=1, token=2, neuron=7)
F = "layers.2.ffn."
BIG, RIVER = "she sat by the big river .", "she sat by the river ."
NOTEBOOK = """
import sys
sys.modules["streamlit"] = None  # an import of it fails
from model import load
from pages.add_and_norm.pictures import one_vector
from pages.attention.pictures import attention_map, lines
from pages.feed_forward.pictures import curve
from pages.heads.pictures import written
from pages.layers.pictures import path
from pages.queries_keys_values.pictures import plane
from pages.tokens.pictures import components
from pages.drawing.place import Place
from pages.drawing.text import speaking

run, place = load("text")("the cat [MASK] the dog ."), Place(layer=2, head=3, token=3)
for make in (attention_map, written, one_vector, curve, path, plane, components):
    picture = make(run, place)
    picture.drawn().checked()
    print(picture.says())
with speaking("zh"):
    print(attention_map(run, place).says())
print(lines(run, place, "layers.2.attention.weights").tabled().shape)
"""


def test_a_notebook_without_streamlit_draws_pictures() -> None:
    command = [sys.executable, "-c", NOTEBOOK]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert said.returncode == 0, said.stderr
    *english, chinese, shape = said.stdout.splitlines()
    assert len(english) == 7 and not any("层" in sentence for sentence in english)
    assert "层" in chinese and shape == "(8, 8)"


@pytest.mark.parametrize("row", ["attention.weights", "attention.Q", "ffn.hidden"])
def test_another_input_is_subtracted_token_from_counterpart(row: str) -> None:
    here, there, key = pipeline("trained text")(BIG), pipeline("trained text")(RIVER), f"layers.2.{row}"
    (drawn,) = TwoRuns(here, there, "against", PLACE).numbers(lambda run, at: [Numbers.of(run, key, at.head)])
    order = {pair.one: pair.other for pair in align(here.tokens, there.tokens)}
    square = row == "attention.weights"
    mine, theirs = (Numbers.of(run, key, 1).array for run in (here, there))
    for row_here, row_there in order.items():
        for column in order if square else range(0, mine.shape[1], 7):
            along = order[column] if square else column
            wanted = np.nan if None in (row_there, along) else mine[row_here, column] - theirs[row_there, along]
            np.testing.assert_equal(drawn.array[row_here, column], np.float32(wanted))


def test_what_stands_in_no_place_of_the_other_input_is_not_marked_there() -> None:
    here, there = pipeline("trained text")(BIG), pipeline("trained text")(RIVER)
    lost, found = (here.tokens.index(word) for word in ("big", "river"))
    two = TwoRuns(here, there, "beside", replace(PLACE, token=lost))
    assert not two.place_there().marked
    at = two.place_there(replace(PLACE, token=found))
    assert at.marked and there.tokens[at.token] == "river"
    assert not quantity_map(there, two.place_there(), F + "hidden", "").drawn().checked().layout.shapes
    assert quantity_map(there, at, F + "hidden", "").drawn().checked().layout.shapes


@pytest.mark.parametrize("row", ["attention.scores", "attention.Q", "ffn.hidden"])
def test_a_click_on_the_other_inputs_picture_chooses_what_stands_in_that_place_here(row: str) -> None:
    here, there, key = pipeline("trained text")(BIG), pipeline("trained text")(RIVER), f"layers.0.{row}"
    order = {pair.one: pair.other for pair in align(here.tokens, there.tokens)}
    two, square = TwoRuns(here, there, "beside", PLACE), row == "attention.scores"
    picture = quantity_map(there, PLACE, key, "")
    marks, values, picks = picture.drawn().checked().data[1], picture.parts[0].array, two.picks_here(picture.picks)
    for mark in range(0, len(marks.x), 17):
        *_, token, column = chosen_cell(here, replace(PLACE, **picks(round(marks.y[mark]), round(marks.x[mark]))), key)
        drawn = values[order[token], order[column] if square else column]
        assert drawn == pytest.approx(float(marks.customdata[mark]))


def test_a_click_on_a_distance_of_the_other_input_chooses_the_same_distance_here() -> None:
    here, there = (pipeline("told apart")([0, 0, 0, *words]) for words in (range(5, 11), range(5, 9)))
    two, key = TwoRuns(here, there, "beside", PLACE), "layers.2.attention.K_distance"
    picks = two.picks_here(quantity_map(there, PLACE, key, "").picks)
    assert picks
    for row in range(there[key].shape[1]):
        picked = picks(row, 1)["distance"]
        assert two.place_there(replace(PLACE, distance=picked)).distance == row
        np.testing.assert_allclose(here[key][:, picked], there[key][:, row], 1e-5)


def test_where_two_runs_differ_most_is_quoted_and_a_layer_is_no_bare_number() -> None:
    axes, array = (Axis("layer", list("123")), Axis("key", ["the", ","])), np.zeros((3, 2))
    array[1, 1] = -0.5
    said = unmarked(Numbers(array, axes=axes, differs=True).in_words("difference"))
    assert "“layer 2 → ,”: −0.50" in said


def test_of_numbers_far_out_the_furthest_is_named() -> None:
    values = np.random.default_rng(0).normal(size=(8, 64)).astype(np.float32)
    values[2, 5], values[3, 7] = 60, -90
    far = outliers(values)
    assert far and len(far.cells) == 2
    said = in_words(far, values, (Axis("", [*"abcdefgh"]), Axis("")), far.usual)
    assert "d → component 8" in unmarked(said) and "−90.00" in unmarked(said) and "60.00" not in unmarked(said)
