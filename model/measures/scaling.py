"""Why scores are divided by √d_k: their spread, and how sharply softmax then chooses, divided and undivided.

Source: Vaswani et al. 2017, "Attention Is All You Need", section 3.2.1 with its footnote 4.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import torch

from model.analysis import softmax

#: Values of d_k on the axis: 4, 8, …, 512.
WIDTHS = tuple(2**power for power in range(2, 10))
KEYS, DRAWS = 16, 500


class Choosing(NamedTuple):
    """How sharply softmax chooses among keys, averaged over queries.

    spread: standard deviation of a query's scores. largest: its largest weight p. slope: p(1 − p), the derivative of
    that weight by its score; near 0, training cannot change the score.
    """

    spread: float
    largest: float
    slope: float


@cache
def random_scores(d_k: int) -> np.ndarray:
    """q · k of DRAWS queries with KEYS keys each, (draw, key); components are standard normal.

    The draws are always the same; a smaller d_k uses the first components.
    """
    dice = torch.Generator().manual_seed(0)
    Q = torch.randn(DRAWS, 1, WIDTHS[-1], generator=dice)[..., :d_k]
    K = torch.randn(DRAWS, KEYS, WIDTHS[-1], generator=dice)[..., :d_k]
    return (Q @ K.mT)[:, 0].numpy()


def choosing(scores: np.ndarray) -> Choosing:
    """Statistics of softmax over scores (query, key). Keys hidden from a query have −∞ and do not count."""
    weights = softmax(scores)
    p = weights.max(axis=-1)
    seen = np.isfinite(scores)
    count = seen.sum(axis=-1)
    some = count > 1  # a single score has no spread
    own = np.where(seen, scores, 0).astype(np.float64)[some]
    apart = np.where(seen[some], own - (own.sum(axis=-1) / count[some])[:, None], 0)
    variance = (apart**2).sum(axis=-1) / (count[some] - 1)
    spread = float(np.sqrt(variance.mean())) if some.any() else 0.0
    return Choosing(spread, float(p.mean()), float((p * (1 - p)).mean()))


def every_way(scores: np.ndarray, d_k: int, added: np.ndarray | float = 0.0) -> tuple[Choosing, Choosing, Choosing]:
    """Scores undivided, divided by √d_k, and by d_k; `added` is added after the division."""
    return choosing(scores + added), choosing(scores / np.sqrt(d_k) + added), choosing(scores / d_k + added)


@cache
def at_every_width() -> np.ndarray:
    """`every_way` of the random scores for each of WIDTHS: (measure, way, width)."""
    return np.array([every_way(random_scores(width), width) for width in WIDTHS]).transpose(2, 1, 0)


def shares(scores: np.ndarray) -> np.ndarray:
    """Weights of each query in descending order, averaged over queries: (key,)."""
    return -np.sort(-softmax(scores), axis=-1).mean(axis=0)
