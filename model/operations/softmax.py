"""Softmax of a row."""

import math

import numpy as np

from model.analysis import softmax
from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import Cell, Column, Table, Working, latex_of, latex_sum, summed_column
from model.rule import EVERY
from model.written import DECIMALS, number, operand, rounded

ALL_KEYS = 64  # keys listed in sentence order; with more, the largest terms first


def _softmax(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """e^(M − max) over the sum of the row; also for the answer."""
    read = desk.graph[quantity.reads[0]]
    place, own = cell[:-1], cell[-1]
    tau = desk.tau if quantity.key == "answer" else 1.0
    row = desk.values(read.key, (*place, EVERY)) / tau
    value = float(softmax(row)[own])

    attention = quantity.axes[0] == "head"
    shown, _ = desk.read(read.key, cell, through=attention)
    symbol, source, running = read.symbol, latex_of(read, cell), latex_of(read, (*place, "j'"))
    if tau != 1:
        symbol, source, running = f"{symbol}/τ", rf"{source} / \tau", rf"{running} / \tau"
        shown = desk.line(source, f"{operand(shown)} / {tau:g}", rounded(shown / tau))
    if attention and len(row) <= max(ALL_KEYS, desk.most):
        places = np.arange(len(row))
    else:
        best = np.argpartition(-row, min(desk.most, len(row)) - 1)[: desk.most]
        best = best[np.argsort(-row[best], kind="stable")]
        places = best if len(row) <= desk.most else np.array([own, *best[best != own]])[: desk.most]
    others = len(row) - len(places)
    numbers = row[places].round(DECIMALS) + 0.0
    numbers[places == own] = shown
    top = float(numbers.max())
    away = numbers - top
    powers = np.exp(away)
    mine = rounded(math.exp(shown - top))
    powers[places == own] = mine
    column_powers, total = summed_column(
        f"e^({symbol} − max)", powers, float(np.exp(row - row.max()).sum()) if others else 0.0, others
    )
    weights = (np.array(column_powers.values) / total).round(DECIMALS)
    result = rounded(mine / total)
    weights[places == own] = round(result, DECIMALS)
    columns = (
        Column(symbol, tuple(numbers.round(DECIMALS).tolist())),
        Column(f"{symbol} − max", tuple((away.round(DECIMALS) + 0.0).tolist())),
        column_powers,
        Column(quantity.symbol, tuple(weights.tolist())),
    )
    desk.tables.append(Table(_keys(desk, quantity), tuple(places.tolist()), columns, others))

    power, summed_up = rf"e^{{{source} - \max}}", rf"\sum_{{j'}} e^{{{running} - \max}}"
    ordered = sorted(column_powers.values, reverse=True)
    desk.line(power, rf"e^{{{number(shown)} - {operand(top)}}}", mine)
    desk.line(summed_up, latex_sum(ordered, column_powers.rest or 0.0, others), total)
    right = rf"\frac{{e^{{{source}}}}}{{\sum_{{j'}} e^{{{running}}}}}"
    expression = rf"\frac{{{number(mine)}}}{{{number(total)}}}"
    # A hidden key has weight 0, whatever the others are.
    lit = ((read.key, cell),) if shown == -math.inf else None
    return desk.found(quantity, cell, right, expression, result, value, lit)


def _keys(desk: Desk, quantity: Quantity) -> str:
    """Name of the axis along which a softmax runs."""
    if quantity.axes[-1] != "key":
        return quantity.axes[-1]
    return desk.graph[f"{quantity.key.rpartition('.')[0]}.K"].axes[1]


ROWS = {
    "softmax": Operation("...m->...o", _softmax),
}
