"""Record a run through forward hooks, and change it on the way.

The path of a module is the key of what it puts out: `record` hooks each module that STAGES names,
runs the network once, takes the hooks off again, and hands back what passed.
"""

import threading
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from model.config import EncoderConfig
from model.stages import stage_of

Change = Callable[[Tensor], Tensor]

# Hooks are state on a network that all threads share, so only one run may wear them at a time.
_one_run_at_a_time = threading.RLock()
_places: "WeakKeyDictionary[nn.Module, dict[str, nn.Module]]" = WeakKeyDictionary()


class EditError(ValueError):
    """An edit that does not fit the network: `reason` is "key", "axis", "index", "shape" or "result"."""

    def __init__(self, reason: str, **values: object) -> None:
        super().__init__(f"{reason}: {values}")
        self.reason = reason
        self.values = values


def places(network: nn.Module) -> dict[str, nn.Module]:
    """Key -> module, for every module of the network that has a row in STAGES."""
    if network not in _places:
        _places[network] = {
            path: module
            for path, module in network.named_modules()
            if stage_of(path) and type(module) is not nn.Identity  # an absent final norm is a plain Identity
        }
    return _places[network]


def record(
    network: nn.Module,
    *inputs: Tensor,
    edits: Iterable[tuple[str, Change]] = (),
    run: Callable[..., Tensor] | None = None,
) -> tuple[Tensor, dict[str, Tensor]]:
    """Run the network (or `run`, a part of it) once. Returns the output and {key: value}, in order of computation.

    `edits` are pairs of a key and a function of the value there; they are applied before recording, so
    what is kept is what the rest of the network used. Raises EditError for a key that nothing answers to.
    """
    changes: dict[str, list[Change]] = defaultdict(list)
    for key, change in edits:
        if key not in places(network):
            raise EditError("key", key=key)
        changes[key].append(change)

    kept: dict[str, Tensor] = {}
    runner = threading.get_ident()

    def keeper(key: str) -> Callable[[nn.Module, tuple, Tensor], Tensor | None]:
        def keep(_module: nn.Module, _inputs: tuple, value: Tensor) -> Tensor | None:
            if threading.get_ident() != runner:  # another thread uses the bare network meanwhile
                return None
            for change in changes[key]:
                shape, value = value.shape, change(value.clone())
                if value.shape != shape:
                    raise EditError("result", key=key, before=tuple(shape), after=tuple(value.shape))
            # Nothing in the network works in place, so the value need not be copied.
            kept[key] = value
            return value

        return keep

    with _one_run_at_a_time, ExitStack() as stack, torch.inference_mode():
        for key, module in places(network).items():
            stack.callback(module.register_forward_hook(keeper(key)).remove)
        return (run or network)(*inputs), kept


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

    def part(self, value: Tensor) -> tuple[slice | int, ...]:
        """Which part of a recorded value (batch in front) this edit touches, as an index."""
        stage = stage_of(self.key)
        if stage is None:
            raise EditError("key", key=self.key)
        axes = stage.axes or ("token", "word")[: value.dim() - 1]
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

    def change(self, other: Tensor | None = None) -> Change:
        """The edit as a function of the value; `other` is what `patch` puts in."""

        def apply(value: Tensor) -> Tensor:
            part = self.part(value)
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


@dataclass(frozen=True)
class Guess:
    """The head's result at one place: labels with their probabilities."""

    labels: tuple[str, ...]
    probabilities: tuple[float, ...]
    token: int | None = None  # the position it speaks of; None: the whole input

    @property
    def best(self) -> str:
        return self.labels[int(np.argmax(self.probabilities))]

    def __str__(self) -> str:
        ranked = sorted(zip(self.probabilities, self.labels, strict=True), reverse=True)
        return ", ".join(f"{label} {probability:.2f}" for probability, label in ranked)


@dataclass(frozen=True)
class Note:
    """Something the reader of the input should know: "truncated" or "unknown", with its values."""

    reason: str
    values: dict[str, object] = field(default_factory=dict)


class Trace:
    """All that one run computed: `trace["layers.0.attention.weights"]` is a read-only float32 array.

    Batch is dropped. Beside the numbers: `tokens` (as printed), `ids` (words only), `answer` (a tuple of
    Guess), `notes`, the `config` and the `edits` of the run.
    """

    def __init__(
        self,
        values: dict[str, Tensor],
        config: EncoderConfig,
        tokens: list[str],
        ids: list[int],
        answer: tuple[Guess, ...],
        notes: tuple[Note, ...] = (),
        edits: tuple[Edit, ...] = (),
    ) -> None:
        self.config, self.tokens, self.ids = config, tokens, ids
        self.answer, self.notes, self.edits = answer, notes, edits
        self._values = {key: _read_only(value) for key, value in values.items()}

    def __getitem__(self, key: str) -> np.ndarray:
        return self._values[key]

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def keys(self) -> list[str]:
        """The keys in order of computation."""
        return list(self._values)

    def axes(self, key: str) -> tuple[str, ...]:
        """The names of a value's axes, from STAGES; the logits' from what the head guesses."""
        stage = stage_of(key)
        if stage is None or key not in self:
            raise KeyError(key)
        return stage.axes or (("class",) if self[key].ndim == 1 else ("token", "word"))

    def layer_input(self, layer: int) -> np.ndarray:
        """X, what layer `layer` (from 0) reads: (token, d_model)."""
        if layer == 0:
            return self["embedding.sum"]
        return self[f"layers.{layer - 1}.{'add_2' if self.config.norm_first else 'norm_2'}"]


def _read_only(value: Tensor) -> np.ndarray:
    array = value[0].numpy()
    array.flags.writeable = False
    return array
