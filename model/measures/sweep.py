"""What many sets of edits do to the answer of one run."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch

from model.edits import Edit
from model.pipeline import Pipeline
from model.sweep import MOST_NUMBERS, sweep

__all__ = ["MOST_NUMBERS", "Effects", "effects", "moved", "number", "sweep"]


class Effects(NamedTuple):
    """One number of a run without edits, and of the run with each set of edits; and what becomes of the whole answer.

    moved: how much of the probability goes to other words or classes, from 0 to 1. rank: where the likelier of the two
    whose lead is the number stands among all answers, from 1.
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
    """One number for each row of logits (…, word or class): by how much the logit of `of` leads that of `against`.

    Without `against`, the probability of `of`.
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
    """What each set of edits does to one `number` of the answer, at `token` where there is an answer for each."""
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
    """How much of the probability each set of edits moves to other words or classes, from 0 to 1: (row,), of a list of
    inputs (input, row).

    That is half the sum of |p′ − p|; `token` says which answer, where there is one for each token.
    """
    return _moved(sweep(pipeline, x, [(), *edits], token=token)["logits"])


def _moved(logits: np.ndarray) -> np.ndarray:
    """(…, row): by how much each row but the first of (…, row, answer) gives other probabilities than the first."""
    p = torch.as_tensor(logits).softmax(-1)
    return ((p[..., 1:, :] - p[..., :1, :]).abs().sum(-1) / 2).numpy()
