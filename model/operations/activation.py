"""Activation functions, which model/activations.py has a row each for."""

from model.activations import ACTIVATIONS
from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import Cell, Working, latex_of
from model.rule import EVERY
from model.written import rounded


def _latex(quantity: Quantity, one: str) -> str:
    return f"{ACTIVATIONS[quantity.function].symbol}({one})"


def _activation(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    read = desk.graph[quantity.reads[0]]
    shown, _ = desk.read(read.key, cell, through=False)
    u = float(desk.values(read.key, (*cell[:-1], EVERY))[cell[-1]])
    source = latex_of(read, cell)
    worked = ACTIVATIONS[quantity.function].by_hand
    *_, true = worked(source, u, lambda symbol, expression, value: value)
    right, expression, value = worked(
        source, shown, lambda symbol, line, value: desk.line(symbol, line, rounded(value))
    )
    return desk.found(quantity, cell, right, expression, rounded(value), true)


ROWS = {
    "activation": Operation("...m->...m", _activation, _latex),  # ReLU, GELU, …: `function`
}
