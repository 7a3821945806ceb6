"""The shared parts of pages: a click chooses the cell that it hits, and what is displayed adds up."""

from dataclasses import replace

import numpy as np
import pytest

from model.by_hand import strongest_cell
from pages.drawing.pictures.quantity_map import chosen_cell, quantity_map
from pages.drawing.place import Place
from tests.networks import trace_of

NETWORKS = ["trained text", "pre-norm words", "pre-norm patches", "trained flat"]


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("row", ["attention.scores", "attention.Q", "attention.output", "ffn.hidden"])
def test_a_click_on_a_cell_chooses_that_cell(name: str, row: str) -> None:
    run, key, place = trace_of(name), f"layers.0.{row}", Place(head=1)
    picture = quantity_map(run, place, key, "")
    marks, values = picture.drawn().checked().data[1], picture.parts[0].array
    for mark in range(0, len(marks.x), 13):
        picked = picture.picks(round(float(marks.y[mark])), round(float(marks.x[mark])))
        *_, token, column = chosen_cell(run, replace(place, **picked), key)
        assert float(values[token, column]) == pytest.approx(float(marks.customdata[mark]))


def test_a_click_on_a_part_of_a_map_chooses_the_place_in_the_whole() -> None:
    run, place = trace_of("trained text"), Place(token=2, key=3)
    picture = quantity_map(run, place, "layers.0.attention.weights", "", rows=[1, 2, 3], columns=[3, 1])
    assert list(picture.drawn().checked().layout.xaxis.ticktext) == [run.tokens[3], run.tokens[1]]
    assert picture.picks(2, 1) == {"token": 3, "key": 1}
    assert (picture.moves.cell, picture.moves.sizes) == ((1, 0), (3, 2))
    assert picture.moves.choose(0, 0) == {"token": 1, "key": 3}


def test_the_cell_chosen_at_first_is_in_the_selected_tokens_row() -> None:
    run, key = trace_of("trained text"), "layers.0.attention.weights"
    assert chosen_cell(run, Place(token=3), key) == strongest_cell(run, key, head=0, token=3)
    assert chosen_cell(run, Place(token=3, key=0), key) == (0, 3, 0)


def test_the_strongest_colour_is_the_largest_value_of_the_head() -> None:
    run, key = trace_of("pre-norm words"), "layers.1.attention.scores"
    (numbers,) = quantity_map(run, Place(layer=1, head=2), key, "").parts
    assert numbers.drawn.end == np.abs(run[key][2]).max()
