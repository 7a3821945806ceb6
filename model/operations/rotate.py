"""Rotary positions: pairs of numbers in a row are points, rotated by an angle proportional to the position."""

import math

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import Cell, Working, latex_of
from model.written import number, operand, rounded


def _latex(quantity: Quantity, one: str) -> str:
    """LaTeX: the point times the cosine, plus the point turned by 90° times the sine."""
    return rf"{one} \odot \cos\Theta + {one}^{{\perp}} \odot \sin\Theta"


def _rotate(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """A pair of numbers of a row, rotated: one times the cosine, minus or plus the other times the sine."""
    (head, place, column), read = cell, desk.graph[quantity.reads[0]]
    speeds, base = desk.attention_of(quantity).speeds, desk.trace.config.base_of(quantity.layer or 0)
    half = len(speeds)
    pair, minus = column % half, column < half
    points = [(head, place, one) for one in (column, column + half if minus else column - half)]
    x, y = (float(desk.values(read.key, at)) for at in points)
    turn = place * float(speeds[pair])
    value = x * math.cos(turn) + (-y if minus else y) * math.sin(turn)

    divisor = f"{base ** (pair / half):.9g}"
    below = [rf"{base:.9g}^{{{2 * pair}/{2 * half}}}", divisor]
    if not math.isclose(float(speeds[pair]), 1 / float(divisor), rel_tol=1e-5):  # checkpoints may hold rounded ones
        divisor = f"{1 / float(speeds[pair]):.9g}"
        below = [divisor]
    fractions = " = ".join(rf"\frac{{{place}}}{{{of}}}" for of in below)
    angle = desk.line(r"\varphi", fractions, rounded(place / float(divisor)))
    cos, sin = (
        desk.line(rf"\{name}\varphi", rf"\{name}({number(angle)})", rounded(getattr(math, name)(angle)))
        for name in ("cos", "sin")
    )
    one, other = (desk.read(read.key, at, through=False)[0] for at in points)
    sign = "-" if minus else "+"
    right = rf"{latex_of(read, points[0])} \cos\varphi {sign} {latex_of(read, points[1])} \sin\varphi"
    expression = rf"{number(one)} \cdot {operand(cos)} {sign} {operand(other)} \cdot {operand(sin)}"
    shown = rounded(one * cos + (-other if minus else other) * sin)
    return desk.found(quantity, cell, right, expression, shown, value, tuple((read.key, at) for at in points))


ROWS = {
    "rotate": Operation("him->hic", _rotate, _latex),
}
