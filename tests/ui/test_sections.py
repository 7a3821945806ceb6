"""The shared parts of pages: a click chooses the cell that it hits, and what is displayed adds up."""

from types import SimpleNamespace

import numpy as np
import pytest

from model.by_hand import by_hand, strongest_cell
from model.comparison import align
from pages.attention import read as attention
from pages.tokens import order
from pages.ui.runs.measure import Measure
from pages.ui.sections import cell_map, working
from pages.ui.state.choice import Choice
from tests.networks import pipeline, trace_of
from tests.pages.opening import cells

NETWORKS = ["trained text", "pre-norm words", "pre-norm patches", "trained flat"]


class Sheet:
    """A View without a screen: it takes the pictures and the moves that a section asks for."""

    def __init__(self, name: str, **chosen) -> None:
        self.trace, self.pipeline = trace_of(name), pipeline(name)
        self.choice = Choice(**chosen).fitted(self.trace.config, len(self.trace.tokens))
        self.token = self.choice.token or 0
        self.story = self.differs = False
        self.shows = "beside"  # then no picture is sent along that a browser could draw at once
        self.pictures: dict[str, tuple] = {}

    def place(self, key: str) -> int:
        return self.token

    def names(self, key: str) -> tuple:
        return self.trace.names(key)

    @property
    def named(self) -> list[str]:
        return self.trace.tokens

    def beside(self, key: str) -> bool:
        return False

    def measure(self, key: str, every_head: bool = False, **_: object) -> Measure:
        value = Measure(self.trace[key])
        return value[self.choice.head] if self.trace.axes(key)[0] == "head" and not every_head else value

    def where(self) -> str:
        return "here"

    def moves(self, place, sizes, choose) -> None:
        self.moved = place, sizes, choose

    def picture(self, name, figure, sentence, **rest) -> None:
        self.pictures[name] = figure, rest


@pytest.fixture
def selected(monkeypatch: pytest.MonkeyPatch) -> dict:
    """What the sections select."""
    kept: dict = {}
    monkeypatch.setattr(cell_map, "select", kept.update)
    return kept


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("row", ["attention.scores", "attention.Q", "attention.output", "ffn.hidden"])
def test_a_click_on_a_cell_chooses_that_cell(selected: dict, name: str, row: str) -> None:
    key = f"layers.0.{row}"
    view = Sheet(name, head=1)
    cell_map.draw_map(view, key, "", cell=cell_map.chosen_cell(view, key))
    figure, rest = view.pictures[row.split(".")[1]]
    marks = figure.checked().data[1]
    values = view.measure(key).values
    for mark in range(0, len(marks.x), 13):
        rest["on_pick"](round(float(marks.y[mark])), round(float(marks.x[mark])))
        chosen = Sheet(name, head=1, **selected)
        *_, token, place = cell_map.chosen_cell(chosen, key)
        assert float(values[token, place]) == pytest.approx(float(marks.customdata[mark]))


def test_a_click_on_a_part_of_a_map_chooses_the_place_in_the_whole(selected: dict) -> None:
    view = Sheet("trained text", token=2)
    cell_map.draw_map(view, "layers.0.attention.weights", "", cell=(0, 2, 3), rows=[1, 2, 3], columns=[3, 1])
    figure, rest = view.pictures["weights"]
    assert list(figure.checked().layout.xaxis.ticktext) == [view.trace.tokens[3], view.trace.tokens[1]]
    rest["on_pick"](2, 1)
    assert selected == {"token": 3, "key": 1}
    place, sizes, choose = view.moved
    assert (place, sizes) == ((1, 0), (3, 2))
    choose(0, 0)
    assert selected == {"token": 1, "key": 3}


class Pair(Sheet):
    """A sheet of two inputs, both wanted."""

    def __init__(self, one: str, other: str, **chosen) -> None:
        super().__init__("trained text", **chosen)
        self.trace, self.other = self.pipeline(one), self.pipeline(other)
        self.choice = Choice(**chosen).fitted(self.trace.config, len(self.trace.tokens))
        self.token = self.choice.token or 0
        self.order = {pair.one: pair.other for pair in align(self.trace.tokens, self.other.tokens)}

    def beside(self, key: str) -> bool:
        return True

    def counterpart(self, token: int) -> int | None:
        return self.order[token]


@pytest.mark.parametrize("row", ["attention.scores", "attention.Q", "ffn.hidden"])
def test_a_click_on_the_other_inputs_map_chooses_what_stands_in_that_place_here(selected: dict, row: str) -> None:
    key, name = f"layers.0.{row}", f"other_{row.split('.')[1]}"
    view = Pair("she sat by the big river .", "she sat by the river .", head=1)
    cell_map.draw_other(view, key, cell_map.chosen_cell(view, key), title="here")
    figure, rest = view.pictures[name]
    marks, there = figure.checked().data[1], view.other[key][1] if row != "ffn.hidden" else view.other[key]
    for mark in range(0, len(marks.x), 17):
        rest["on_pick"](round(float(marks.y[mark])), round(float(marks.x[mark])))
        *_, token, place = cell_map.chosen_cell(
            Pair("she sat by the big river .", "she sat .", head=1, **selected), key
        )
        column = view.order[place] if row == "attention.scores" else place
        assert there[view.order[token], column] == pytest.approx(float(marks.customdata[mark]))
    outlined = Pair("she sat by the big river .", "she sat by the river .", token=5)
    assert outlined.trace.tokens[5] == "big"
    cell_map.draw_other(outlined, key, (0, 5, 1)[-len(view.trace.axes(key)) :], title="here")
    assert not outlined.pictures[name][0].checked().layout.shapes  # nothing stands there


def test_the_other_map_has_the_same_neurons_as_the_first() -> None:
    view = Pair("she sat by the big river .", "she sat by the river .")
    cell_map.draw_other(view, "layers.0.ffn.hidden", columns=[7, 3], title="here")
    figure, _ = view.pictures["other_hidden"]
    np.testing.assert_array_equal(figure.checked().data[0].z, view.other["layers.0.ffn.hidden"][:, [7, 3]])
    assert list(figure.checked().layout.xaxis.ticktext) == ["8", "4"]


def test_the_cell_chosen_at_first_is_in_the_selected_tokens_row() -> None:
    view = Sheet("trained text", token=3)
    key = "layers.0.attention.weights"
    assert cell_map.chosen_cell(view, key) == strongest_cell(view.trace, key, head=0, token=3)
    assert cell_map.chosen_cell(Sheet("trained text", token=3, key=0), key) == (0, 3, 0)


def test_the_strongest_colour_is_the_largest_value_of_the_head() -> None:
    view = Sheet("pre-norm words", layer=1, head=2)
    wanted = np.abs(view.trace["layers.1.attention.scores"][2]).max()
    assert cell_map.limit(view, "layers.1.attention.scores") == wanted


@pytest.mark.parametrize("name", NETWORKS)
@pytest.mark.parametrize("row", ["attention.scores", "attention.heads", "attention.output", "ffn.output"])
def test_a_displayed_column_adds_up_to_its_displayed_sum(monkeypatch: pytest.MonkeyPatch, name: str, row: str) -> None:
    monkeypatch.setattr(working, "plain", lambda text, **values: text)
    view = Sheet(name)
    key = f"layers.0.{row}"
    cell = strongest_cell(view.trace, key, head=0, token=0)
    for table in by_hand(view.pipeline.network, view.trace, key, cell).tables:
        last = [row[-1].replace("−", "-") for row in cells(working.terms(view, table))[1:]]
        assert f"{sum(map(float, last[:-1])):.5f}" == f"{float(last[-1]):.5f}"


@pytest.mark.parametrize("hide", [True, False])
def test_special_tokens_are_left_out_only_where_the_reader_wants_it(hide: bool) -> None:
    view = Sheet("trained text", hide_special=hide)
    rows, columns = attention.shown_places(view, "layers.0.attention.weights")
    left_out = {view.trace.tokens[place] for place in range(len(view.trace.tokens)) if place not in rows}
    assert left_out == ({"[CLS]", "[SEP]"} if hide else set()) and rows == columns


def test_nothing_is_left_out_where_nothing_else_is_there() -> None:
    both = ["[CLS]", "[SEP]"]
    only = SimpleNamespace(names=lambda key: (None, both, both), sentence_of=[0, 0])
    view = SimpleNamespace(trace=only, choice=Choice(hide_special=True))
    assert attention.shown_places(view, "layers.0.attention.weights") == ([0, 1], [0, 1])


def test_a_language_without_example_sentences_takes_those_of_another() -> None:
    ready = [("I love you.", "You love me.")]
    assert order.chosen_pair(SimpleNamespace(choice=Choice(lang="fr")), ready) == ready[0]
