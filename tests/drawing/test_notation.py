"""Equations in the symbols of a lecture note say the same in other letters."""

import re
from collections.abc import Iterator

import numpy as np
import pytest

from model import load
from model.graph import graph
from pages.drawing.figures import coloured
from pages.drawing.figures.equations import plain_math
from pages.drawing.figures.latex import formula
from pages.drawing.figures.notation import NOTES, noted, write_as
from tests.networks import CONFIGS
from tests.pages.opening import open_page, steps

GRAPHS = [load("text")("a cat").graph, load("translation")("a cat").graph, load("digits")(np.eye(28, dtype="f")).graph]
GRAPHS += [graph(CONFIGS[name]) for name in ("told apart", "told apart, one way")]  # of letters that no note has
EQUATIONS = sorted({quantity.numbered(quantity.equation) for graph in GRAPHS for quantity in graph})
#: What we write -> what the notes do.
WRITTEN = {
    "000": {
        r"\hat S = \frac{S}{\sqrt{d_k}}": r"S = \frac{Q K^{\top}}{\sqrt{D_h}}",
        "X^{(0)}": "Z_{0}",
        "Q = X W_Q": "Q = Z_{l-1} W_Q",
    },
    "001": {
        r"\hat S = \frac{S}{\sqrt{d_k}}": r"A = \frac{Q K^{\top}}{\sqrt{d_k}}",
        r"X_{\text{res}} = X + O": r"Z = X + \text{Output}_{\text{attention}}",
    },
    "004": {
        "Q = X W_Q": "Q = X^{(l)} W^Q",
        r"\text{Concat}\, W_O": r"\text{Concat}\, W^O",
        "X^{(2)}": "X^{(2)}",
    },
}


@pytest.fixture(autouse=True)
def ours_again() -> Iterator[None]:
    yield
    write_as("ours")


@pytest.mark.parametrize("note", WRITTEN)
def test_an_equation_reads_as_in_the_note(note: str) -> None:
    write_as(note)
    for ours, theirs in WRITTEN[note].items():
        assert noted(ours) == theirs


def test_ours_stay_as_they_are() -> None:
    assert [noted(equation) for equation in EQUATIONS] == EQUATIONS


@pytest.mark.parametrize("note", NOTES)
def test_every_equation_can_be_set_and_read_aloud(note: str) -> None:
    write_as(note)
    for equation in EQUATIONS:
        if "cases" not in equation:  # the arithmetic has it otherwise
            formula(coloured(equation))
        assert not re.search(r"[\\{}]", plain_math(equation)), equation
        assert not re.search(r"\^(\w|\{[^{}]*\})\^", noted(equation)), "an upper index above another"


@pytest.mark.parametrize("note", NOTES)
def test_two_things_never_get_one_letter(note: str) -> None:
    symbols = {quantity.symbol for quantity in GRAPHS[0] if quantity.traced and quantity.layer in (None, 0)}
    write_as(note)
    # Z′ with a number is a head, and without one what LayerNorm makes: so note 000 has it.
    assert len({noted(symbol) for symbol in symbols}) == len(symbols)


@pytest.mark.parametrize(("note", "scaled"), [("ours", r"\hat S"), ("001", "A")])
def test_equations_and_arithmetic_of_a_page_follow(note: str, scaled: str) -> None:
    app = open_page("attention", stage="scaled", symbols=note)
    assert any(rf"{scaled} = \frac" in latex.value for latex in app.latex)
    assert any(latex.startswith(f"{scaled}_") for latex in steps(app))


def test_words_and_commands_stay_whole() -> None:
    write_as("000")
    assert noted(r"\operatorname{softmax}(S)") == r"\operatorname{softmax}(Q K^{\top})"
    assert noted("Name, NN, Xs") == "Name, NN, Xs"


def test_the_buttons_show_whose_symbols_they_are_and_change_them() -> None:
    app = open_page("attention", stage="scaled", symbols="001")
    buttons = app.segmented_control(key="either.symbols")
    assert buttons.value == "001" and buttons.options == ["this app’s", "note 000", "note 001", "note 004"]
    buttons.set_value("000").run()
    assert any(r"\sqrt{D_h}" in latex.value for latex in app.latex)
    assert app.session_state["choice"].symbols == "000"


@pytest.mark.parametrize("note", NOTES)
def test_a_cell_of_the_stream_has_one_index_in_every_note(note: str) -> None:
    write_as(note)
    for latex in ("X^{(0)}_{1,25} = 0.10", "X^{(l+1)}_{2,3} = 0.10"):
        assert (
            formula(noted(latex)).count("1,25" if "25" in latex else "2,3") == 2
        )  # as it was written, and as it is set
