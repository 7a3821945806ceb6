"""Positions: rows of a table, trained or sinusoidal."""

import math

from torch import nn

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import Cell, Working
from model.variants.patch_waves import BASE, are_waves
from model.written import number, rounded


def _positions(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    (pos, column), side = cell, quantity.key.partition("embedding")[0]
    module = desk.network.get_submodule(quantity.key)
    table = module.table
    row = pos if side else desk.trace.rows[pos]
    value = float(module.apart[column] if row is None else table[row, column])
    across = desk.trace.config.patches_per_side
    if row and desk.trace.picture is not None and are_waves(table, across):
        return _patch_wave(desk, quantity, cell, ((row - 1) % across, (row - 1) // across), value)
    if isinstance(table, nn.Parameter):
        return desk.found(quantity, cell, "", "", rounded(value), value)
    even, d_model = column - column % 2, table.shape[1]
    function = math.cos if column % 2 else math.sin
    # Components here count from 1, in the paper's formula from 0.
    name, formula = rf"\{function.__name__}", rf"10000^{{({column + 1} - {1 + column % 2})/{d_model}}}"
    angle = rounded(pos / 10_000 ** (even / d_model))
    expression = rf"{name}\frac{{{pos}}}{{{formula}}} = {name}({number(angle)})"
    pair = f"2i + 1 = {column}" if column % 2 else f"2i = {even}"
    general, where = rf"{name}\frac{{pos}}{{10000^{{2i/d_{{model}}}}}}", rf"pos = {pos},\; {pair}"
    return desk.found(quantity, cell, general, expression, rounded(function(angle)), value, where=where)


def _patch_wave(desk: Desk, quantity: Quantity, cell: Cell, place: tuple[int, int], value: float) -> Working:
    """A sine or cosine of a patch's column or row; place: these two, from 0."""
    column, quarter = cell[-1], desk.trace.config.d_model // 4
    which, k = divmod(column, quarter)
    function, letter, at = (math.sin, math.cos)[which % 2], ("c", "r")[which // 2], place[which // 2]
    name, divisor = rf"\{function.__name__}", f"{BASE ** (k / quarter):.9g}"
    angle = rounded(at / float(divisor))
    fractions = (rf"{name}\frac{{{at}}}{{{below}}}" for below in (f"10000^{{{k}/{quarter}}}", divisor))
    expression = " = ".join((*fractions, f"{name}({number(angle)})"))
    general, where = rf"{name}\frac{{{letter}}}{{10000^{{k/(d_{{model}}/4)}}}}", rf"{letter} = {at},\; k = {k}"
    return desk.found(quantity, cell, general, expression, rounded(function(angle)), value, where=where)


ROWS = {
    "positions": Operation("pm->im", _positions, kind="view"),  # the first n rows of a table
}
