"""Changes to a run: what is put in place of a quantity while the network computes."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from model.graph import Graph

Change = Callable[[Tensor], Tensor]


class EditError(ValueError):
    """An edit that does not fit the network: `reason` is "key", "axis", "index", "shape" or "result"."""

    def __init__(self, reason: str, **values: object) -> None:
        super().__init__(f"{reason}: {values}")
        self.reason = reason
        self.values = values


@dataclass(frozen=True)
class Edit:
    """One change to a run: frozen and hashable, so that a run with edits can be cached and put in a URL.

    zero, scale (× value), set (= value), noise (+ value · standard normal), or patch: put in what the same
    place held in the run of another input, `source`. Without head, token, … all of the quantity is changed.
    """

    key: str
    operation: Literal["zero", "scale", "set", "noise", "patch"]
    value: float = 0.0
    head: int | None = None
    token: int | None = None  # for scores and weights: the query, the one that looks; in a decoder: of the target
    looked_at: int | None = None  # for scores and weights: the key
    neuron: int | None = None  # the place along d_model, d_k or d_ff
    source: Hashable = None
    seed: int = 0

    def part(self, value: Tensor, axes: tuple[str, ...]) -> tuple[slice | int, ...]:
        """Which part of a recorded value (batch in front) this edit touches, as an index."""
        names = {"head": "head", "token": "token", "target": "token", "query": "token", "key": "looked_at"}
        wanted = [names.get(axis, "neuron") for axis in axes]
        index: list[slice | int] = [slice(None)] * value.dim()
        for name in ("head", "token", "looked_at", "neuron"):
            place = getattr(self, name)
            if place is None:
                continue
            if name not in wanted:
                raise EditError("axis", key=self.key, axis=name)
            axis = 1 + wanted.index(name)
            if not 0 <= place < value.size(axis):
                raise EditError("index", key=self.key, axis=name, index=place, size=value.size(axis))
            index[axis] = place
        return tuple(index)

    def change(self, graph: Graph, other: Tensor | None = None) -> Change:
        """The edit as a function of the value in a network with this graph; `other` is what `patch` puts in."""
        if self.key not in graph or not graph[self.key].traced:
            raise EditError("key", key=self.key)
        axes = graph[self.key].axes

        def apply(value: Tensor) -> Tensor:
            part = self.part(value, axes)
            match self.operation:
                case "zero":
                    value[part] = 0.0
                case "scale":
                    value[part] *= self.value
                case "set":
                    value[part] = self.value
                case "noise":
                    dice = torch.Generator().manual_seed(self.seed)
                    value[part] += self.value * torch.randn(value[part].shape, generator=dice)
                case "patch":
                    if other is None or other.shape != value.shape:
                        shape = None if other is None else tuple(other.shape)
                        raise EditError("shape", key=self.key, here=tuple(value.shape), there=shape)
                    value[part] = other[part]
                case unknown:
                    raise EditError("operation", operation=unknown)
            return value

        return apply
