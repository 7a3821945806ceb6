"""Sentence vectors: pooling of Z, then optional Linears and normalization.

As in the library sentence-transformers  (Reimers and Gurevych 2019, "Sentence-BERT", section 3).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from model.activations import ACTIVATIONS

#: Pooling -> the share of each row of Z (token, d_model) in the vector: (token, 1), or (token, d_model) if it differs
#: by component. All tokens count, also [CLS] and [SEP].
POOLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda Z: np.full((len(Z), 1), 1 / len(Z), Z.dtype),
    "cls": lambda Z: np.eye(len(Z), 1, dtype=Z.dtype),
    "max": lambda Z: (np.arange(len(Z))[:, None] == Z.argmax(axis=0)).astype(Z.dtype),
    "mean_sqrt_len": lambda Z: np.full((len(Z), 1), 1 / np.sqrt(len(Z)), Z.dtype),
    "weightedmean": lambda Z: (np.arange(1, len(Z) + 1, dtype=Z.dtype) * 2 / (len(Z) * (len(Z) + 1)))[:, None],
    "lasttoken": lambda Z: np.eye(len(Z), 1, 1 - len(Z), dtype=Z.dtype),
}


@dataclass(frozen=True, eq=False)
class Dense:
    """One more Linear: act(v W + b)."""

    W: np.ndarray  # (in, out)
    b: np.ndarray | None  # (out,); None: no bias
    activation: str = ""  # "tanh", "relu", …; "": none

    def __call__(self, vector: torch.Tensor) -> torch.Tensor:
        """(in,) -> (out,)."""
        found = vector @ torch.from_numpy(self.W).to(vector)
        found = found if self.b is None else found + torch.from_numpy(self.b).to(vector)
        return ACTIVATIONS[self.activation].module()(found) if self.activation else found


@dataclass(frozen=True)
class Pooled:
    """How a sentence encoder makes one vector: the pooling ("mean", "cls", …), and the names of further steps.

    dense: their Linears, in order; any that could not be read is missing.
    """

    pooling: str
    more: tuple[str, ...] = ()  # "Dense", "Normalize"
    dense: tuple[Dense, ...] = field(default=(), compare=False)

    @property
    def computed(self) -> bool:
        """Whether every step can be computed."""
        known = self.pooling in POOLINGS and set(self.more) <= {"Dense", "Normalize"}
        return known and self.more.count("Dense") == len(self.dense)

    def steps(self, Z: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """The vector after each step, with the step's name: the pooling, then "Dense" and "Normalize".

        Raises KeyError for an unknown step: see `computed`.
        """
        return [(name, vector.numpy()) for name, vector in self.made(torch.tensor(Z))]

    def made(self, Z: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
        """`steps` as tensors, with gradients."""
        shares = torch.from_numpy(POOLINGS[self.pooling](Z.detach().numpy()))
        found, dense = [(self.pooling, (shares * Z).sum(0))], iter(self.dense)
        for name in self.more:
            vector = found[-1][1]
            if name == "Dense":
                vector = next(dense)(vector)
            elif name == "Normalize":
                vector = torch.nn.functional.normalize(vector, dim=0)
            else:
                raise KeyError(name)
            found.append((name, vector))
        return found

    def parts(self, Z: np.ndarray) -> np.ndarray | None:
        """Contribution of each row of Z to the vector before normalization: (token, out), float64. They add up to it; a
        Linear's bias is divided by the rows' shares.

        None if the vector is no such sum: a step is unknown, or an activation follows the pooling.
        """
        steps = self.more[:-1] if self.more[-1:] == ("Normalize",) else self.more
        if not self.computed or "Normalize" in steps or any(dense.activation for dense in self.dense):
            return None
        Z = Z.astype(np.float64)
        shares = POOLINGS[self.pooling](Z)
        parts, share = shares * Z, shares.mean(axis=1, keepdims=True)
        for dense in self.dense:
            parts = parts @ dense.W + (0 if dense.b is None else dense.b * share / share.sum())
        return parts
