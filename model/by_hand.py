"""by_hand(network, trace, key, cell): the arithmetic of one cell of any quantity, with the numbers of the run.

The graph says which cells it is computed from, the trace holds their values, the network the weights. Each line is
exact in the digits shown: a calculator gives the same result, and the parts add up to the total. Cells count from 0.
Indices in formulas count from 1, except positions, words and classes, which count from 0.
"""

from collections.abc import Sequence

import numpy as np
from torch import nn

from model.operations.desk import Desk
from model.operations.working import Cell, Working
from model.trace import Trace


def by_hand(
    network: nn.Module, trace: Trace, key: str, cell: Sequence[int], most: int = 10, tau: float = 1.0
) -> Working:
    """The arithmetic of one cell.

    Args:
        network: the one that computed the trace.
        key: of a recorded quantity, or of an unrecorded one of the graph ("transform.2", "answer").
        cell: an index, from 0, into each axis of the quantity.
        most: how many rows of a long table to show.
        tau: the temperature by which the logits of the answer are divided.

    Raises KeyError if there is no such quantity or it is not computed; IndexError for a cell outside it.
    """
    return Desk(network, trace, most, tau).working(key, tuple(map(int, cell)))


def strongest_cell(
    trace: Trace,
    key: str,
    head: int | None = None,
    token: int | None = None,
    keys: Sequence[int] | None = None,
) -> Cell:
    """The strongest cell, within the given head, token's row and keys.

    For scores, weights and logits the highest; for other quantities the largest absolute value. Raises IndexError for a
    head, token or key that the quantity lacks.
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
