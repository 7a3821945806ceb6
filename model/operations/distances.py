"""What the distance of two tokens adds to a score."""

import numpy as np
import torch

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.products import product
from model.operations.working import Cell, Working
from model.variants import disentangled
from model.variants.relative import table_rows
from model.written import rounded


def _distances(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """A number of a relative embedding, and its row in the table."""
    place, column = cell
    row = int(_rows(desk, quantity)[place])
    value = float(desk.network.get_submodule(quantity.key).weight[row, column])
    return desk.found(quantity, cell, f"r_{{{row},{column + 1}}}", "", rounded(value), value, lit=())


def _rows(desk: Desk, quantity: Quantity) -> torch.Tensor:
    """Row of the table for each distance of this input."""
    attention = desk.attention_of(quantity)
    n, settings = len(desk.trace.tokens), (attention.span, attention.near, attention.farthest)
    return disentangled.table_rows(n, *settings)


def _vectors(desk: Desk, quantity: Quantity) -> np.ndarray:
    return desk.network.get_submodule(quantity.key)(_rows(desk, quantity)).numpy()


def _at_distance(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """The product of a query with the key of a distance, or a key with its query, at the distance of this pair."""
    head, i, j = cell
    at = head, i if "query" in desk.graph[quantity.reads[0]].axes else j, j - i + len(desk.trace.tokens) - 1
    return product(desk, quantity, cell, quantity.reads[0], at)


def _relative(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """The relative position bias of a head, and its row in the table."""
    head, i, j = cell
    attention, distance = desk.attention_of(quantity), j - i
    buckets, farthest = attention.distances.num_embeddings, attention.farthest
    half = buckets // 2
    row = int(table_rows(i + 1, j + 1, buckets, farthest)[i, j])
    value = float(attention.distances.weight[row, head])
    exact, away = half // 2, abs(distance)
    counted = str(away)
    if away >= exact:
        grows = rf"\frac{{\ln({away} / {exact})}}{{\ln({farthest} / {exact})}} \cdot {half - exact}"
        counted = rf"\min\bigl({half - 1},\; {exact} + \bigl\lfloor {grows} \bigr\rfloor\bigr)"
    counted = f"{half} + {counted}" if distance > 0 else counted
    found = f"r({distance}) = {counted}" + f" = {row}" * (counted != str(row))
    where = rf"j - i = {j} - {i} = {distance},\quad {found}"
    return desk.found(quantity, cell, "b_{r(j - i)}", "", rounded(value), value, lit=(), where=where)


def _sloped(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """The slope of a head, times the distance."""
    head, i, j = cell
    slope, away = float(desk.attention_of(quantity).slopes[head]), abs(j - i)
    where = rf"m_{{{head + 1}}} = {slope:.9g},\quad \lvert j - i \rvert = {away}"
    expression, value = rf"-{slope:.9g} \cdot {away}", -slope * away
    return desk.found(quantity, cell, quantity.terms[0], expression, rounded(value), value, lit=(), where=where)


ROWS = {
    # a row of a table for each distance, from −(n − 1) to n − 1
    "distances": Operation("zm->dm", _distances, kind="lookup", values=_vectors),
    "at_distance": Operation("hid->hij", _at_distance, kind="copy"),  # for each pair, the number at its distance
    "relative": Operation("zh->hij", _relative, kind="lookup"),  # a row of a table for each distance
    "sloped": Operation("", _sloped, kind="scale"),  # a fixed number for each distance
}
