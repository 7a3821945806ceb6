"""The mask: −∞ where a query may not attend."""

import math

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import Cell, Working, latex_of


def _mask(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    _, i, j = cell
    read, window = quantity.reads[0], quantity.window
    if window is not None and abs(i - j) > window:
        right = rf"-\infty \quad (\lvert {i} - {j} \rvert > {window})"
        return desk.found(quantity, cell, right, "", -math.inf, -math.inf, lit=())
    # In a decoder's self-attention, later target tokens are hidden.
    if quantity.key.startswith("decoder.") and ".attention." in quantity.key and j > i:
        right = rf"-\infty \quad ({j} > {i})"
        return desk.found(quantity, cell, right, "", -math.inf, -math.inf, lit=())
    shown, value = desk.read(read, cell, through=True)
    source = latex_of(desk.graph[read], cell)
    return desk.found(quantity, cell, source, source, shown, value)


ROWS = {
    "mask": Operation("...m->...m", _mask),
}
