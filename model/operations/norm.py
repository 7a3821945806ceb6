"""LayerNorm, and RMSNorm."""

import math

import numpy as np

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import Cell, Column, Table, Working, indexed, latex_of, summed_column
from model.rms import centred
from model.rule import EVERY, sides
from model.written import DECIMALS, number, operand, rounded


def _latex(quantity: Quantity, one: str) -> str:
    if quantity.function == "rms":
        return rf"\gamma \odot \frac{{{one}}}{{\sqrt{{\operatorname{{RMS}}({one})^2 + \epsilon}}}}"
    shift = r" + \beta" * (len(sides(quantity.rule)[0]) > 2)
    return rf"\gamma \odot \frac{{{one} - \mu}}{{\sqrt{{\sigma^2 + \epsilon}}}}{shift}"


def _norm(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    read, module = desk.graph[quantity.reads[0]], desk.network.get_submodule(quantity.module)
    place, column = cell[:-1], cell[-1]
    x, n = desk.values(read.key, (*place, EVERY)), module.weight.numel()
    gamma = float(module.weight[column])
    beta = 0.0 if module.bias is None else float(module.bias[column])
    centre = centred(module, x)
    value = gamma * float(centre[column]) / math.sqrt(float((centre**2).mean()) + module.eps) + beta

    own, _ = desk.read(read.key, cell, through=False)
    far = np.argsort(-np.abs(centre), kind="stable")
    places = np.array([column, *far[far != column]][: desk.most])
    others = n - len(places)
    column_x, sum_x = summed_column("x", x[places], float(x.sum()), others)
    rms = quantity.function == "rms"
    mean, squared = (0.0, "x²") if rms else (rounded(sum_x / n), "(x − μ)²")
    away = (np.array(column_x.values) - mean).round(DECIMALS)
    column_squares, squares = summed_column(squared, away**2, float((centre**2).sum()), others)
    own_columns = (column_x, Column("x − μ", tuple((away + 0.0).tolist())))
    columns = (*((Column("x", column_x.values),) if rms else own_columns), column_squares)
    desk.tables.append(Table(read.axes[-1], tuple(places.tolist()), columns, others))

    variance = rounded(squares / n)
    standard = rounded((own - mean) / math.sqrt(variance + module.eps))
    shown_gamma, shown_beta = rounded(gamma), rounded(beta)
    hat, index = indexed(r"\hat x", column + 1), column + 1
    root = rf"\sqrt{{{number(variance)} + {number(module.eps)}}}"
    above, less, size = number(own), r" - \mu", r"\sigma^2"
    if rms:
        less, size = "", r"\operatorname{RMS}(x)^2"
    else:
        above = f"{above} - {operand(mean)}"
        desk.line(r"\mu", rf"\frac{{{number(sum_x)}}}{{{n}}}", mean)
    desk.line(size, rf"\frac{{{number(squares)}}}{{{n}}}", variance)
    desk.line(hat, rf"\frac{{{above}}}{{{root}}}", standard)
    expression = rf"{number(shown_gamma)} \cdot {operand(standard)}"
    right = rf"\gamma_{{{index}}}\, {hat}"
    if module.bias is not None:
        expression, right = rf"{expression} + {operand(shown_beta)}", rf"{right} + \beta_{{{index}}}"
    where = rf"{hat} = \frac{{{latex_of(read, cell)}{less}}}{{\sqrt{{{size} + \epsilon}}}}"
    shown = rounded(shown_gamma * standard + shown_beta)
    return desk.found(quantity, cell, right, expression, shown, value, where=where)


ROWS = {
    "norm": Operation("...m,o,o->...o", _norm, _latex),  # of a row
}
