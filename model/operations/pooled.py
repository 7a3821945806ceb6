"""The mean of rows."""

import numpy as np

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import Cell, Table, Working, latex_at, latex_sum, summed_column
from model.written import number, rounded


def _patch_mean(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """The sum of a column of Z over the patches, divided by their number."""
    ((place, column),) = desk.graph.cells(quantity.key, cell)
    read = desk.graph[quantity.reads[0]]
    x, front = desk.values(read.key, (place, column)), place.start
    places = np.argsort(-np.abs(x), kind="stable")[: desk.most]
    shown, whole = summed_column("Z", x[places], float(x.sum()), len(x) - len(places))
    desk.tables.append(Table(read.axes[0], tuple((places + front).tolist()), (shown,), len(x) - len(places)))
    running = latex_at(read.symbol, read.axes, ("j", column))
    summed_up = rf"\sum_{{j={front}}}^{{{front + len(x) - 1}}} {running}"
    desk.line(summed_up, latex_sum(shown.values, shown.rest or 0.0, len(x) - len(places)), whole)
    right, expression = (rf"\frac{{{above}}}{{{len(x)}}}" for above in (summed_up, number(whole)))
    return desk.found(quantity, cell, right, expression, rounded(whole / len(x)), float(x.mean()))


ROWS = {
    # of the rows after [CLS] and other tokens in front; for words, of all
    "patch_mean": Operation("im->m", _patch_mean, kind="mean"),
}
