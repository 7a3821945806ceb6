"""The answer of a head, and notes about how the input was read."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
from torch import Tensor

from model.analysis import decimal


@dataclass(frozen=True)
class Guess:
    """The answer at one position: labels with their probabilities."""

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    token: int | None = None  # its position; None: the whole input

    @classmethod
    def among(cls, labels: tuple[str, ...], logits: Tensor) -> Self:
        """The answer for the whole input, from logits (class,)."""
        return cls(labels, tuple(logits.softmax(-1).tolist()))

    @property
    def best(self) -> str:
        return self.labels[int(np.argmax(self.probabilities))]

    def __str__(self) -> str:
        ranked = sorted(zip(self.probabilities, self.labels, strict=True), reverse=True)
        return ", ".join(f"{label} {decimal(probability)}" for probability, label in ranked)


@dataclass(frozen=True)
class Note:
    """A warning about the input: "truncated", "unknown" or "mask_cut", with its values."""

    reason: str
    values: dict[str, object] = field(default_factory=dict)
