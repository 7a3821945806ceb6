"""Operations that only copy or rearrange numbers."""

import numpy as np

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.products import product
from model.operations.working import Cell, Working, latex_of
from model.written import rounded


def _patches(desk: Desk, quantity: Quantity) -> np.ndarray:
    return desk.trace.patches


def _split(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """Q, K, V: the head's part of X W; also a transposed product."""
    return product(desk, quantity, cell, quantity.reads[0], desk.graph.cells(quantity.key, cell)[0])


def _concat(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    ((read, place),) = desk.lit(quantity.key, cell)
    value, source = float(desk.trace[read][place]), latex_of(desk.graph[read], place)
    return desk.found(quantity, cell, source, source, rounded(value), value)


ROWS = {
    "input": Operation(""),  # given from outside
    "cut": Operation("(ry)(sx)->(rs)(yx)", kind="copy", values=_patches),  # a picture into patches
    "flatten": Operation("yx->i(yx)", kind="view", values=_patches),  # a picture into one row
    "first": Operation("0m->m", kind="view"),  # the first row
    "second": Operation("1m->m", kind="view"),  # the second row
    "split": Operation("i(hc)->hic", _split, kind="view"),  # d_model into h heads of d_k
    "turn": Operation("im->mi", _split, kind="view"),  # rows become columns
    "concat": Operation("hic->i(hc)", _concat, kind="copy"),  # the heads side by side
}
