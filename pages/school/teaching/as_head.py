"""The class as a head: chips given to tokens, and averaged, are a row of attention, made by people."""

from typing import NamedTuple

import numpy as np

CLEARLY = 5.0  # hundredths more than in any head, from which on the class looked where no head did


class Head(NamedTuple):
    """A head, from 0, and how much of its 100 lies where the class has its own."""

    layer: int
    head: int
    shared: float


def alike(mean: np.ndarray, rows: np.ndarray) -> list[Head]:
    """All heads, the one most like the class first. mean: (token,), of 100. rows: the weights of the token that is
    asked about in each head, (layer, head, token).

    The measure: 100 × Σ min(class, head), which is 100 less the total variation. It is 100 where both are the same.
    """
    shared = np.minimum(mean / 100, rows).sum(axis=-1) * 100
    order = np.argsort(-shared, axis=None, kind="stable")
    places = (np.unravel_index(place, shared.shape) for place in order)
    return [Head(int(layer), int(head), float(shared[layer, head])) for layer, head in places]


def where_no_head_looked(mean: np.ndarray, rows: np.ndarray) -> list[int]:
    """The tokens that got more from the class than from any head, by CLEARLY at least."""
    most = 100 * rows.reshape(-1, rows.shape[-1]).max(axis=0)
    return [int(place) for place in np.flatnonzero(mean - most >= CLEARLY)]
