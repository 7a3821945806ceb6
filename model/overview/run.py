"""The interface of a run that the overview uses; Trace has it."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from torch import nn

from model.config import EncoderConfig
from model.edits import Edit
from model.graph import Graph
from model.variants.pooled import Pooled


class Guess(Protocol):
    """The answer at one position, or for the whole input."""

    @property
    def labels(self) -> tuple[str, ...]: ...
    @property
    def probabilities(self) -> tuple[float, ...]: ...
    @property
    def token(self) -> int | None: ...
    @property
    def best(self) -> str: ...


class Run(Protocol):
    """A recorded run: its numbers by their keys, its tokens, its answer."""

    tokens: list[str]
    config: EncoderConfig
    graph: Graph
    outputs: Sequence[str]
    edits: tuple[Edit, ...]
    pooled: Pooled | None

    @property
    def answer(self) -> Sequence[Guess]: ...
    @property
    def edited(self) -> frozenset[str]: ...
    @property
    def network(self) -> nn.Module: ...
    @property
    def picture(self) -> np.ndarray | None: ...
    @property
    def Z(self) -> np.ndarray: ...
    @property
    def logits_with(self) -> Callable[[Sequence[Sequence[Edit]], int | None], np.ndarray] | None: ...

    def __getitem__(self, key: str) -> np.ndarray: ...
    def __contains__(self, key: str) -> bool: ...

    def axes(self, key: str) -> tuple[str, ...]: ...
    def stream(self, layer: int) -> tuple[np.ndarray, ...]: ...


class Difference:
    """A run whose numbers are those of one run minus those of another; everything else is the first one's."""

    def __init__(self, run: Run, less: Callable[[str], np.ndarray]) -> None:
        """less: key -> number of `run` minus that of the other; NaN if the other has none."""
        self._run, self._less = run, less

    def __getitem__(self, key: str) -> np.ndarray:
        return self._less(key)

    def __contains__(self, key: str) -> bool:
        return key in self._run

    def __getattr__(self, name: str) -> Any:
        return getattr(self._run, name)

    @property
    def Z(self) -> np.ndarray:
        return self[self._run.graph.Z]
