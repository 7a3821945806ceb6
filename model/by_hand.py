"""by_hand(network, trace, key, cell): the arithmetic of any one cell of any quantity, with the numbers of that run.

The graph says what a cell is computed from, the trace holds those numbers, and the network the weights. Each line is
exact for the digits that it shows: who types them into a calculator gets the value that stands behind the equals sign,
and parts that are shown add up to the total that is shown. Cells count from 0, indices in formulas from 1; only words
and classes, which have numbers of their own, and the pos of a position count from 0 there too.
"""

from collections.abc import Sequence

import numpy as np
from torch import nn

from model.operations.desk import Desk
from model.operations.working import Cell, Working
from model.trace import Trace


def by_hand(network: nn.Module, trace: Trace, key: str, cell: Sequence[int], most: int = 10) -> Working:
    """The arithmetic of one cell.

    Args:
        network: that made the trace.
        key: of a recorded quantity, or of one that the graph computes on the way ("transform.2", "answer").
        cell: an index, from 0, into each axis of the quantity.
        most: how many rows of a long table are shown.

    Raises KeyError where there is no such quantity, or nothing is computed there; IndexError for a cell outside it.
    """
    return Desk(network, trace, most).working(key, tuple(map(int, cell)))


def strongest_cell(
    trace: Trace,
    key: str,
    head: int | None = None,
    token: int | None = None,
    keys: Sequence[int] | None = None,
) -> Cell:
    """The cell to begin with, of one head, in one token's row and among some keys where they are given.

    Of scores, weights and logits the highest; of other quantities the largest by absolute value. Raises IndexError for
    a place that the quantity does not have.
    """
    axes, values = trace.axes(key), trace[key]
    given = {"head": head, "token": token, "target": token, "query": token}
    among: dict[str, Sequence[int]] = {axis: [place] for axis, place in given.items() if place is not None}
    among |= {"key": keys} if keys else {}
    places = [[*among.get(axis, range(size))] for axis, size in zip(axes, values.shape, strict=True)]
    part = values[np.ix_(*places)]
    strength = part if "key" in axes or key == "logits" else np.abs(part)
    strength = np.where(np.isfinite(part), strength, -np.inf)
    best = np.unravel_index(strength.argmax(), strength.shape)
    return tuple(int(along[i]) for along, i in zip(places, best, strict=True))
