"""Attention set by hand: four tokens, two of whose keys are chosen as the queries are, through the real attention.

Source: the exercise "attention exploration" of Stanford's course CS224N, after Manning and Hewitt: attention can copy a
value and average two; one noisy key spoils the average of one head, and two heads save it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from model.sublayers import ScaledDotProductAttention

TOKENS = ("A", "B", "C", "D")
VALUES = (2.0, 8.0, -4.0, 12.0)
REACH = 5  # keys and queries lie on whole numbers from −5 to 5
C, D = (0, 0), (-4, 1)  # the keys that nobody moves; one of zeros has the score 0, whatever the query
#: How long a noisy key of A comes out, as a multiple: in one draw after the other.
LENGTHS = (0.5, 0.6, 0.75, 0.9, 1.1, 1.25, 1.4, 1.5)
COPIED = 0.95  # the least weight that counts as a copy
HALF = 0.05  # how far two weights may be from ½ to count as an average

Point = tuple[int, int]


@dataclass(frozen=True)
class Setup:
    """What is set by hand: the query of each of two heads, and the keys of A and B."""

    query: Point = (2, 0)
    second: Point = (0, -2)
    a: Point = (3, 1)
    b: Point = (1, 3)


def attend(setup: Setup, heads: int = 1, lengths: Sequence[float] = (1.0,)) -> dict[str, np.ndarray]:
    """All that attention computes, by its name: "scores", "scaled", "weights", … (draw, head, 1, key); "heads" (draw,
    head, 1, 1).

    heads: 1 or 2, with the same keys and values. lengths: of A's key as multiples, a draw for each.
    """
    draws = len(lengths)
    K = torch.tensor([setup.a, setup.b, C, D], dtype=torch.float32).repeat(draws, heads, 1, 1)
    K[..., 0, :] *= torch.tensor(lengths)[:, None, None]
    Q = torch.tensor([setup.query, setup.second][:heads], dtype=torch.float32)[:, None].repeat(draws, 1, 1, 1)
    V = torch.tensor(VALUES)[:, None].repeat(draws, heads, 1, 1)
    attention, found = ScaledDotProductAttention(), {}
    for name, tap in attention.named_children():
        tap.register_forward_hook(lambda _tap, _given, value, name=name: found.update({name: value.numpy()}))
    with torch.inference_mode():
        attention(Q, K, V)
    return found


def shares(run: dict[str, np.ndarray]) -> np.ndarray:
    """How much of each value is in the mean of the heads: (draw, key)."""
    return run["weights"][:, :, 0].mean(axis=1)


def averages(weights: np.ndarray) -> np.ndarray:
    """Of each draw (draw, key), whether it is the average of the values of A and B: half from each."""
    return np.all(np.abs(weights[:, :2] - 0.5) <= HALF, axis=1)


@dataclass(frozen=True)
class Task:
    """Something to reach with so many heads, and A's key of these lengths."""

    name: str
    heads: int = 1
    lengths: Sequence[float] = (1.0,)

    def reached(self, setup: Setup) -> bool:
        weights = shares(attend(setup, self.heads, self.lengths))
        match self.name:
            case "copy":
                return bool(weights[0, 1] >= COPIED)
            case "spoiled":  # what averages without noise, with it does so in fewer than half of the draws
                still = averages(shares(attend(setup)))[0]
                return bool(still and averages(weights).mean() < 0.5)
            case _:
                return bool(averages(weights).all())


TASKS = (Task("copy"), Task("average"), Task("spoiled", 1, LENGTHS), Task("saved", 2, LENGTHS))
