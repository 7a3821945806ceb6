"""How the makers of a sentence encoder make one vector of all of Z: pooling, one more Linear, length 1.

As the library sentence-transformers does it  (Reimers and Gurevych 2019, "Sentence-BERT", section 3).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from model.activations import ACTIVATIONS

#: How much of each row of Z (token, d_model) stands in the vector, by the name of the pooling: (token, 1), or (token,
#: d_model) where each component is another row's. All tokens count, [CLS] and [SEP] among them.
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
    b: np.ndarray | None  # (out,); None: nothing is added
    activation: str = ""  # "tanh", "relu", …; "": none

    def __call__(self, vector: torch.Tensor) -> torch.Tensor:
        """(in,) -> (out,)."""
        found = vector @ torch.from_numpy(self.W).to(vector)
        found = found if self.b is None else found + torch.from_numpy(self.b).to(vector)
        return ACTIVATIONS[self.activation].module()(found) if self.activation else found


@dataclass(frozen=True)
class Pooled:
    """How the makers of a sentence encoder make one vector: "mean", "cls", …, and what comes behind that, by its name.

    dense: the Linears among that, in their order; one that could not be read is missing.
    """

    pooling: str
    more: tuple[str, ...] = ()  # "Dense", "Normalize"
    dense: tuple[Dense, ...] = field(default=(), compare=False)

    @property
    def computed(self) -> bool:
        """Whether every step of it is known."""
        known = self.pooling in POOLINGS and set(self.more) <= {"Dense", "Normalize"}
        return known and self.more.count("Dense") == len(self.dense)

    def steps(self, Z: np.ndarray) -> list[tuple[str, np.ndarray]]:
        """The vector after each step, with the name of the step: the pooling, then "Dense" and "Normalize".

        Raises KeyError where a step is not known: see `computed`.
        """
        return [(name, vector.numpy()) for name, vector in self.made(torch.tensor(Z))]

    def made(self, Z: torch.Tensor) -> list[tuple[str, torch.Tensor]]:
        """The same as tensors, through which gradients pass."""
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
        """What each row of Z puts into the vector, before it is brought to length 1: (token, out), float64. They add up
        to it. A Linear's bias counts for each row by its share.

        None where the vector is no such sum: where a step is not known, or another function stands behind the pooling.
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
