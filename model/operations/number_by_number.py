"""Sums, and numbers times a factor."""

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import Cell, Working, terms_of
from model.written import number, operand, rounded


def _plus(quantity: Quantity, *terms: str) -> str:
    return " + ".join(terms)


def _half(quantity: Quantity, *terms: str) -> str:
    return rf"\frac{{{' + '.join(terms)}}}{{2}}"


def _by_root(quantity: Quantity, one: str, size: str) -> str:
    root = rf"\sqrt{{{size}}}"
    return rf"{one} \cdot {root}" if quantity.factor > 1 else rf"\frac{{{one}}}{{{root}}}"


def _each(quantity: Quantity, one: str, other: str) -> str:
    return rf"{one} \odot {other}"


def _sum(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """A sum, or a number times a factor. Scores and quantities outside the layers include the lines of their inputs."""
    through, symbols = quantity.layer is None or quantity.operation in ("scale", "biased"), terms_of(quantity, cell)
    reads = zip(quantity.reads, symbols, strict=True)
    shown, exact = zip(*(desk.read(read, cell, through, symbol) for read, symbol in reads), strict=True)
    root, factor = quantity.terms[len(symbols) :], quantity.factor
    size = (str(round(max(factor, 1 / factor) ** 2)) for _ in root)
    expression = quantity.of(number(shown[0]), *map(operand, shown[1:]), *size)
    right = quantity.of(*symbols, *root)
    return desk.found(quantity, cell, right, expression, rounded(sum(shown) * factor), sum(exact) * factor)


def _times(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """Two numbers, multiplied."""
    symbols = terms_of(quantity, cell)
    shown, exact = zip(*(desk.read(read, cell, through=False) for read in quantity.reads), strict=True)
    expression = rf"{number(shown[0])} \cdot {operand(shown[1])}"
    right = r" \cdot ".join(symbols)
    return desk.found(quantity, cell, right, expression, rounded(shown[0] * shown[1]), exact[0] * exact[1])


def _layer_scale(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    shown, exact = desk.read(quantity.reads[0], cell, through=False)
    trained = float(desk.network.get_submodule(quantity.module).scale[cell[-1]])
    right = r" \cdot ".join(terms_of(quantity, cell))
    expression = rf"{number(shown)} \cdot {operand(rounded(trained))}"
    return desk.found(quantity, cell, right, expression, rounded(shown * rounded(trained)), exact * trained)


ROWS = {
    "add": Operation("im,im->im", _sum, _plus),  # the sum of what it reads
    "biased": Operation("hij,hij->hij", _sum, _plus, "add"),  # the scores, and what distances add
    "mean": Operation("m,m->m", _sum, _half, "add"),  # of the two that it reads
    "scale": Operation("...m->...m", _sum, _by_root),  # × a constant: `factor`
    "times": Operation("im,im->im", _times, _each),  # ⊙: the product of the two that it reads, number by number
    # × a trained number for each column: LayerScale
    "layer_scale": Operation("...m,m->...m", _layer_scale, _each, "scale"),
}
