"""A formula in HTML says what its LaTeX says."""

import html
import re

import pytest

from model.by_hand import by_hand, strongest_cell
from model.written import number
from pages.drawing.figures.latex import formula
from tests.networks import QUICK, TRANSLATORS, pipeline, trace_of


def read(latex: str) -> str:
    """Visible text of a formula, without spaces."""
    return re.sub(r"\s", "", html.unescape(re.sub("<.*?>", "", formula(latex))))


def test_every_line_of_the_arithmetic_of_every_equation_keeps_its_numbers_in_order() -> None:
    seen, lines = set(), 0
    for name, key in [(one, key) for one in (*QUICK, *TRANSLATORS) for key in trace_of(one)]:
        trace = trace_of(name)
        if (equation := trace.quantity(key).equation) in seen:
            continue
        try:
            result = by_hand(pipeline(name).network, trace, key, strongest_cell(trace, key))
        except KeyError:  # nothing is computed there
            continue
        seen.add(equation)
        for latex in filter(None, (result.equation, result.where, *(step.latex for step in result.steps))):
            figures = re.findall(r"\d+\.?\d*", re.sub("([_^])(.)", r"\1 \2", latex))
            shown = re.findall(r"\d+\.?\d*", re.sub("<.*?>", " ", formula(latex)))
            assert sorted(figures) == sorted(shown), latex
            lines += 1
    assert lines > 500


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"U_{1,31} = -4.52033", "U1,31=−4.52033"),
        (r"\Phi(u) = \frac{a + b}{2}", "Φ(u)=a+b/2"),
        (r"\hat S_{4,2} = \frac{18.7}{\sqrt{32}}", "Sˆ4,2=18.7/√32"),
        (r"e^{M_{7,6} - \max} = " + number(1.2346e-7), "eM7,6−max=1.2346×10−7"),
        (r"\text{a<b} - \underbrace{2.5}_{253}", "a<b−2.5253"),
        (r"\lVert a \rVert = \sqrt{2.25}", "∥a∥=√2.25"),
        (r"\sum_{m=1}^{256} x_m", "256∑m=1xm"),
    ],
)
def test_signs_words_and_numbers_stay_as_they_are(latex: str, shown: str) -> None:
    assert read(latex) == shown


def test_a_sign_stands_close_to_its_number_and_apart_from_two() -> None:
    assert "2.0\N{NO-BREAK SPACE}− 1.0\N{NO-BREAK SPACE}· (−3.0)\N{NO-BREAK SPACE}= −4.0" in formula(
        r"2.0 - 1.0 \cdot (-3.0) = -4.0"
    )


def test_the_latex_goes_along() -> None:
    assert 'data-latex="a &lt; b"' in formula("a < b")


def test_a_part_that_cannot_be_set_is_an_error() -> None:
    with pytest.raises(KeyError):
        formula(r"\begin{matrix} a & b \end{matrix}")
