"""How the makers of a sentence encoder make one vector of all of Z: pooling, one more Linear, length 1.

As the library sentence-transformers does it  (Reimers and Gurevych 2019, "Sentence-BERT", section 3).
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import torch

from model.activations import ACTIVATIONS

#: Z (token, d_model) -> one vector, by the name of the pooling. All tokens count, [CLS] and [SEP] among them.
POOLINGS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "mean": lambda Z: Z.mean(axis=0),
    "cls": lambda Z: Z[0],
    "max": lambda Z: Z.max(axis=0),
    "mean_sqrt_len": lambda Z: Z.sum(axis=0) / np.sqrt(len(Z)),
    "weightedmean": lambda Z: np.average(Z, axis=0, weights=np.arange(1, len(Z) + 1)),
    "lasttoken": lambda Z: Z[-1],
}


@dataclass(frozen=True, eq=False)
class Dense:
    """One more Linear: act(v W + b)."""

    W: np.ndarray  # (in, out)
    b: np.ndarray | None  # (out,); None: nothing is added
    activation: str = ""  # "tanh", "relu", …; "": none

    def __call__(self, vector: np.ndarray) -> np.ndarray:
        """(in,) -> (out,)."""
        found = vector @ self.W if self.b is None else vector @ self.W + self.b
        return ACTIVATIONS[self.activation].module()(torch.from_numpy(found)).numpy() if self.activation else found


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
        found, dense = [(self.pooling, POOLINGS[self.pooling](Z))], iter(self.dense)
        for name in self.more:
            vector = found[-1][1]
            if name == "Dense":
                vector = next(dense)(vector)
            elif name == "Normalize":
                vector = vector / max(float(np.linalg.norm(vector)), 1e-12)
            else:
                raise KeyError(name)
            found.append((name, vector))
        return found
