"""Effects of many sets of edits on the answer of one run."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from model.edits import Edit
from model.pipeline import Pipeline
from model.sweep import MOST_NUMBERS, sweep

__all__ = ["MOST_NUMBERS", "Effects", "effects", "moved", "number", "sweep"]


class Effects(NamedTuple):
    """One number of the answer without edits and with each set of edits, and the change of the whole answer.

    moved: probability moved to other words or classes, from 0 to 1. rank: among all answers, from 1, of the likelier of
    the two outputs compared.
    """

    before: float
    after: np.ndarray  # (row,)
    moved: np.ndarray  # (row,)
    rank: np.ndarray  # (row,)

    @property
    def change(self) -> np.ndarray:
        """(row,): after − before."""
        return self.after - self.before


def number(logits: np.ndarray, of: int, against: int | None = None) -> np.ndarray:
    """One number for each row of logits (…, word or class): the lead of `of` over `against`, or without `against` the
    probability of `of`.
    """
    if against is not None:
        return logits[..., of] - logits[..., against]
    return torch.as_tensor(logits).softmax(-1)[..., of].numpy()


def effects(
    pipeline: Pipeline,
    x: object,
    edits: Sequence[Sequence[Edit]],
    of: int,
    against: int | None = None,
    token: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Effects:
    """Effect of each set of edits on one `number` of the answer, at `token` if each token has an answer."""
    logits = sweep(pipeline, x, [(), *edits], token=token, progress=progress)["logits"]
    before, *after = number(logits, of, against)
    watched = logits[1:, [of] if against is None else [of, against]].max(axis=1, keepdims=True)
    rank = 1 + (logits[1:] > watched).sum(axis=1)
    return Effects(float(before), np.array(after, dtype=np.float32), _moved(logits), rank)


def moved(
    pipeline: Pipeline,
    x: object,
    edits: Sequence[Sequence[Edit]],
    token: int | Sequence[int] | None = None,
) -> np.ndarray:
    """Probability that each set of edits moves to other words or classes, from 0 to 1: (row,), or for a list of inputs
    (input, row).

    It is half the sum of |p′ − p|. token: whose answer, if each token has one.
    """
    return _moved(sweep(pipeline, x, [(), *edits], token=token)["logits"])


def _moved(logits: np.ndarray) -> np.ndarray:
    """(…, row): total variation distance of the probabilities of each later row of (…, row, answer) from those of the
    first.
    """
    p = torch.as_tensor(logits).softmax(-1)
    return ((p[..., 1:, :] - p[..., :1, :]).abs().sum(-1) / 2).numpy()
