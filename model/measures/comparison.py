"""Compare two inputs: which token of one corresponds to which token of the other."""

from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

import numpy as np

from model.edits import PARTS


class Pair(NamedTuple):
    """Positions of a token and of its counterpart in the other input; None: no counterpart."""

    one: int | None
    other: int | None
    same: bool


def align(one: Sequence[str], other: Sequence[str]) -> list[Pair]:
    """Align two lists of tokens: equal tokens are paired, and the different ones between them in order.

    Lists of the same length are paired by position, unless shifting one gives more equal pairs.
    """
    blocks = SequenceMatcher(None, one, other, autojunk=False).get_matching_blocks()
    together = [here == there for here, there in zip(one, other, strict=False)]
    if len(one) == len(other) and sum(together) >= sum(block.size for block in blocks):
        return [Pair(place, place, same) for place, same in enumerate(together)]
    pairs = []
    for kind, start, end, there, there_end in SequenceMatcher(None, one, other, autojunk=False).get_opcodes():
        for step in range(max(end - start, there_end - there)):
            left = start + step if start + step < end else None
            right = there + step if there + step < there_end else None
            pairs.append(Pair(left, right, kind == "equal"))
    return pairs


def in_place_of(value: np.ndarray, axes: Sequence[str], pairs: Sequence[Pair], tokens: int) -> np.ndarray:
    """A value of another input's run, with its token axes rearranged by `pairs`.

    axes: of the value. tokens: of the first input, and so of the result. NaN for tokens without a counterpart, and for
    distances that the other run lacks.
    """
    order = np.full(tokens, -1)
    for pair in pairs:
        if pair.one is not None and pair.other is not None:
            order[pair.one] = pair.other
    for axis, name in enumerate(axes):
        if PARTS.get(name) in ("token", "looked_at"):
            value = value.take(order, axis)
            np.moveaxis(value, axis, 0)[order < 0] = np.nan
        elif name == "distance":
            there = np.arange(1 - tokens, tokens) + value.shape[axis] // 2
            outside = (there < 0) | (there >= value.shape[axis])
            value = value.take(np.where(outside, 0, there), axis)
            np.moveaxis(value, axis, 0)[outside] = np.nan
    return value
