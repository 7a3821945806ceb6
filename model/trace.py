"""Record a run through forward hooks, and apply edits.

The path of a module is the key of its output. `record` hooks each module that the graph marks as traced, runs the
network once, removes the hooks, and returns the outputs.
"""

import threading
from collections import ChainMap, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from functools import partial
from itertools import accumulate
from math import inf
from weakref import WeakKeyDictionary

import numpy as np
import pandas as pd
import torch
from torch import Tensor, nn

from model import deadline
from model.analysis import token_places
from model.batches import part
from model.edits import HIDDEN, Apply, Edit, EditError, no_quantity, quantities_at
from model.embedding import patchify
from model.errors import nearest
from model.frames import Shown, to_frame
from model.graph import SIDES, Graph, graph
from model.guess import Guess, Note
from model.operations import Quantity
from model.overview import Overview
from model.saved import Kept, Saved
from model.turns import turn_of

_recorded: "WeakKeyDictionary[nn.Module, dict[str, nn.Module]]" = WeakKeyDictionary()


def graph_of(network: nn.Module) -> Graph:
    """The graph of a network, with its decoder if it has one."""
    return graph(network.config, getattr(network, "decoder_config", None))


def recorded(network: nn.Module) -> dict[str, nn.Module]:
    """Key -> module for every recorded quantity, in order of computation."""
    if network not in _recorded:
        _recorded[network] = {
            quantity.key: network.get_submodule(quantity.key) for quantity in graph_of(network) if quantity.traced
        }
    return _recorded[network]


@contextmanager
def hooked(
    network: nn.Module, hooks: Mapping[str, Callable[[Tensor], Tensor | None]], gradients: bool = False
) -> Iterator[None]:
    """In this block, each function gets the value at its key, and the value that it returns replaces it.

    With `gradients`, torch keeps the graph for backpropagation. Hooks act in this thread only; other threads use the
    network without hooks, or wait for their turn to hook it. Raises deadline.OverdueError, while waiting or at the next
    key, once the time is over.
    """
    runner = threading.get_ident()

    def mine(function: Callable[[Tensor], Tensor | None]) -> Callable[[nn.Module, tuple, Tensor], Tensor | None]:
        def hook(_module: nn.Module, _inputs: tuple, value: Tensor) -> Tensor | None:
            if threading.get_ident() != runner:
                return None
            deadline.check()
            return function(value)

        return hook

    with turn_of(network).mine(), ExitStack() as stack, torch.inference_mode(not gradients), beside(network):
        for key, function in hooks.items():
            module = recorded(network).get(key)
            module = network.get_submodule(key) if module is None else module
            stack.callback(module.register_forward_hook(mine(function)).remove)
        yield


def beside(network: nn.Module) -> AbstractContextManager[object]:
    """A context in which new tensors are created on the network's device."""
    device = next(network.parameters()).device
    return nullcontext() if device.type == "cpu" else device


class Recording(Mapping[str, Tensor]):
    """{key: value} of all that one run computed, in order of computation: see `record`.

    A large run keeps only the residual stream and the attention weights. Other values inside a layer are recomputed on
    request from the layer's input, identical to the last bit. The layer requested last is kept, too.
    """

    def __init__(
        self,
        network: nn.Module,
        changes: Mapping[str, Sequence[Apply]],
        mask: Tensor | None,
        most: float,
        check: Callable[[str, Tensor], None] | None,
    ) -> None:
        self.graph = graph_of(network)
        self.network = self._runner = network  # with weights on the CPU; the one that computed this run
        self.changes, self._mask, self._most, self._check = changes, mask, most, check
        self._values: dict[str, Tensor | None] = {}  # None: recomputed on request
        self._latest: list[str] = []  # keys since the end of the previous layer
        self._inside = 0  # bytes inside one layer
        self._opened: tuple[int, dict[str, Tensor]] = -1, {}  # the layer recomputed last, and its values
        layers = range(0 if self.graph.decoder else self.graph.layers())  # runs of a translator are never large
        self._ends = {self.graph.stream(layer)[-1]: layer for layer in layers}

    def keep(self, key: str, value: Tensor) -> Tensor:
        """Apply the edits at this key, keep and return the value. At the end of a layer, drop its inside if large."""
        if key in self.changes:
            value = self.changed(key, value, self._values)
        if self._check:
            self._check(key, value)
        # No module works in place, so the value need not be copied.
        self._values[key] = value
        self._latest.append(key)
        if key in self._ends:
            self._let_go(self._ends[key])
        return value

    def changed(self, key: str, value: Tensor, so_far: Mapping[str, Tensor]) -> Tensor:
        """Apply the edits at this key to a value; so_far: {key: value} of all computed before it."""
        for change in self.changes.get(key, ()):
            shape, value = value.shape, change(value.clone(), so_far)
            if value.shape[1:] != shape[1:]:
                raise EditError("result", key=key, before=tuple(shape), after=tuple(value.shape))
        return value

    def alone(self, row: int, n: int, edits: Iterable[tuple[str, Apply]]) -> "Recording":
        """A copy of the recording of input `row` of this batch, n tokens long, with its edits."""
        one = Recording(self._runner, _by_key(edits), None, self._most, self._check)
        one.network = self.network
        for key, value in self._values.items():
            kept = None if value is None else part(value, self.graph[key].axes, row, n).clone()
            one._values[key] = kept
        rows = max(len(value) for value in self._values.values() if value is not None)
        one._inside, one._most = self._inside // rows, self._most / rows
        return one

    def _let_go(self, layer: int) -> None:
        stay = (*self.graph.stream(layer), f"layers.{layer}.attention.weights")
        inside = [key for key in self._latest if key.startswith("layers.") and key not in stay]
        self._latest = []
        self._inside = self._bytes_of(inside)
        if self.large:
            self._values |= dict.fromkeys(inside)
        else:
            self._ends = {}  # the other layers are no larger

    def __getitem__(self, key: str) -> Tensor:
        if (quantity := self.graph.get(key)) and quantity.aside:
            module, _, method = key.rpartition(".")
            with torch.inference_mode(), beside(self._runner):
                return getattr(self._runner.get_submodule(module), method)(*map(self.__getitem__, quantity.reads))
        if (value := self._values[key]) is not None:
            return value
        opened, inside = self._opened
        if (layer := self.graph[key].layer) is not None and layer != opened:
            inside = self._computed_again(layer)
            self._opened = layer, inside
        return inside[key]

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def _computed_again(self, layer: int) -> dict[str, Tensor]:
        inside: dict[str, Tensor] = {}
        so_far = ChainMap(inside, self._values)

        def again(key: str, value: Tensor) -> Tensor:
            if (known := self._values[key]) is not None:
                return known
            inside[key] = self.changed(key, value, so_far)
            return inside[key]

        here = [key for key in self._values if self.graph[key].layer == layer]
        with hooked(self._runner, {key: partial(again, key) for key in here}):
            self._runner.get_submodule(f"layers.{layer}")(self._values[self.graph.stream(layer)[0]], self._mask)
        return inside

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def large(self) -> bool:
        """Whether the inside of the layers exceeds the limit and is recomputed on request."""
        return self._inside * self.graph.layers() > self._most

    @property
    def nbytes(self) -> int:
        """Bytes of the values kept; for a large run, plus the inside of one layer."""
        return self._bytes_of(self._values) + self._inside * self.large

    def _bytes_of(self, keys: Iterable[str]) -> int:
        return sum(value.nbytes for key in keys if (value := self._values[key]) is not None)


def record(
    network: nn.Module,
    *inputs: Tensor | None,
    edits: Iterable[tuple[str, Apply]] = (),
    run: Callable[..., Tensor] | None = None,
    most: float = inf,
    check: Callable[[str, Tensor], None] | None = None,
) -> tuple[Tensor, Recording]:
    """Run the network (or `run`, a part of it) once. Returns the output and {key: value}, in order of computation.

    `edits` are pairs (key, function of the value and of {key: value} so far), applied before recording, so recorded
    values are those that the rest of the network used. `check` is called with each value. With more than `most` bytes
    inside the layers, an encoder's Recording recomputes them on request, so its weights must not change afterwards.
    Raises EditError for an unknown key.
    """
    changes = _by_key(edits)
    known = graph_of(network)
    for key in changes.keys() - recorded(network).keys():
        if not quantities_at(known, key):
            raise no_quantity(key, known)
    recording = Recording(network, changes, inputs[1] if len(inputs) > 1 else None, most, check)
    with hooked(network, {key: partial(recording.keep, key) for key in {**recorded(network), **changes}}):
        return (run or network)(*inputs), recording


def check_finite(key: str, value: Tensor) -> None:
    """Raises EditError if edits made a number infinite or NaN. The −∞ of masked scores is allowed."""
    shown = value.where(value != HIDDEN, 0.0) if key.endswith(".masked") else value
    if not shown.sum().isfinite():
        raise EditError("overflow", key=key)


def _by_key(edits: Iterable[tuple[str, Apply]]) -> dict[str, list[Apply]]:
    changes: dict[str, list[Apply]] = defaultdict(list)
    for key, change in edits:
        changes[key].append(change)
    return changes


class Trace(Saved):
    """All that one run computed: `trace["layers.0.attention.weights"]` is a read-only float32 array.

    There is no batch axis. Asides of the graph are computed on request. Further attributes: `subject` (the input),
    `tokens` (as printed), `ids` (words only), `segments` (row of E_seg for each token, if the network has E_seg),
    `answer` (a tuple of Guess), `outputs` (words or classes of the logits), `notes`, the network's `graph`, the `edits`
    of the run, and `idle`: {edit: reason} for edits without effect (see `model.changes.idle`).
    `logits_with(rows, token)`: logits of this input with each further set of edits in `rows` (see `model.sweep`); None
    for a translation or a run from a file.
    """

    logits_with: Callable[[Sequence[Sequence[Edit]], int | None], np.ndarray] | None = None

    def __init__(
        self,
        values: Recording | Kept,
        graph: Graph,
        subject: object,
        tokens: list[str],
        ids: list[int],
        answer: tuple[Guess, ...],
        notes: tuple[Note, ...] = (),
        edits: tuple[Edit, ...] = (),
        idle: Mapping[Edit, str] | None = None,
        segments: Sequence[int] = (),
        outputs: Sequence[str] = (),
    ) -> None:
        self.graph, self.config = graph, graph.config
        self.subject, self.tokens, self.ids = subject, tokens, ids
        self.segments, self.outputs = list(segments), outputs
        self.answer, self.notes, self.edits, self.idle = answer, notes, edits, dict(idle or {})
        self._values: Recording | Kept = values

    def __repr__(self) -> str:
        """The input, the answer, and the first key of each kind of quantity with the sizes of its axes."""
        said = " ".join(self.tokens) if self.ids else "a picture"
        lines = [f"Trace of {said}: {len(self.tokens)} tokens, {len(self.edits)} edits"]
        for guess in self.answer[:1]:
            at = "" if guess.token is None else f" at {guess.token}"
            lines.append(f"  answer{at}: {', '.join(str(guess).split(', ')[:3])}")
        rows: dict[str, str] = {}
        for key in self:
            rows.setdefault(self.graph[key].row, key)
        for key in rows.values():
            sides = zip(self.axes(key), self[key].shape, strict=True)
            lines.append(f"  {key:<40} {', '.join(f'{axis} {size}' for axis, size in sides)}")
        last = [f"{side}layers.{n - 1}" for side in SIDES if (n := self.graph.layers(side)) > 1]
        return "\n".join([*lines, *(f"  and so on up to {layer}" for layer in last)])

    def to_frame(self, key: str, /, **at: int) -> pd.DataFrame:
        """A recorded value as a table labelled with tokens: to_frame("layers.2.attention.weights", head=3).

        `at` gives an index along an axis (see `axes`). The last remaining axis becomes the columns.
        """
        return to_frame(self[key], self.axes(key), self.names(key), at)

    def show(self, key: str, /, **at: int) -> Shown:
        """`to_frame` for display: in a notebook coloured, blue above 0 and red below, with two digits."""
        return Shown(self.to_frame(key, **at), ", ".join((key, *(f"{axis} {place}" for axis, place in at.items()))))

    def overview(self, *, layer: int | None = None, head: int | None = None, token: int | None = None) -> Overview:
        """The whole run on one screen, for a notebook or to `save(path)`; layer, head and token count from 0."""
        return Overview.of(self, layer, head, token)

    def __getitem__(self, key: str) -> np.ndarray:
        """Raises KeyError, with the most similar keys, if the key was not recorded."""
        try:
            return _read_only(self._values[key])
        except KeyError:
            near = nearest(key, self.keys(), "one of keys()")
            raise KeyError(f"{key!r} was not recorded; did you mean {near}?") from None

    def __contains__(self, key: str) -> bool:
        return key in self._values or (key in self.graph and self.graph[key].aside)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    @property
    def nbytes(self) -> int:
        """Bytes in memory: see Recording."""
        return self._values.nbytes

    @property
    def large(self) -> bool:
        """Whether the inside of layers is recomputed on request: see Recording."""
        return self._values.large

    @property
    def network(self) -> nn.Module:
        """The network that computed it."""
        return self._values.network

    @property
    def edited(self) -> frozenset[str]:
        """The keys at which edits changed something, or tried to."""
        return frozenset(self._values.changes)

    def change(self, key: str, value: np.ndarray, read: Mapping[str, np.ndarray]) -> np.ndarray:
        """Apply this run's edits at a key to another value; `read`: {key: value} that it is computed from."""
        so_far = {name: torch.from_numpy(part)[None] for name, part in read.items()}
        return self._values.changed(key, torch.from_numpy(value)[None], so_far)[0].numpy()

    def keys(self) -> list[str]:
        """All recorded keys, in order of computation, without asides."""
        return list(self._values)

    def quantity(self, key: str) -> Quantity:
        """The row of the graph for a recorded key: its symbol, equation, axes and what it reads."""
        if key not in self:
            raise KeyError(key)
        return self.graph[key]

    def axes(self, key: str) -> tuple[str, ...]:
        """The names of a value's axes."""
        return self.quantity(key).axes

    def names(self, key: str) -> tuple[list[str] | None, ...]:
        """Labels along each axis of a recorded value; None for an axis that is only numbered."""
        target = getattr(self, "target_tokens", self.tokens)
        query = target if key.startswith("decoder.") else self.tokens
        looked_at = self.tokens if ".cross." in key else query
        n = len(self.tokens)
        distances = [f"{place:+d}".replace("-", "−") if place else "0" for place in range(1 - n, n)]
        tokens = {"token": self.tokens, "target": target, "query": query, "key": looked_at, "probe": ["[PROBE]"]}
        tokens["distance"] = distances  # position of the key minus that of the query
        return tuple(tokens.get(axis) for axis in self.axes(key))

    def stream(self, layer: int, side: str = "") -> tuple[np.ndarray, ...]:
        """The residual stream of one layer (from 0): input, after attention, …, output; (token, d_model) each."""
        return tuple(self[key] for key in self.graph.stream(layer, side))

    def states(self, side: str = "") -> np.ndarray:
        """The residual stream between the layers: (1 + layers, token, d_model); row l is what layer l reads.

        The last row is the output of the last layer, before the final LayerNorm, if there is one; `Z` comes after it.
        """
        layers = range(self.graph.layers(side))
        return np.stack([self.stream(0, side)[0], *(self.stream(layer, side)[-1] for layer in layers)])

    def over_layers(self, name: str, side: str = "") -> np.ndarray:
        """One quantity of every layer: ("attention.weights") -> (layer, head, query, key)."""
        return np.stack([self[f"{side}layers.{layer}.{name}"] for layer in range(self.graph.layers(side))])

    @property
    def Z(self) -> np.ndarray:
        """The encoder's output, read by its head or a decoder: (token, d_model)."""
        return self[self.graph.Z]

    @property
    def picture(self) -> np.ndarray | None:
        """The input as a picture, ([channel,] height, width), as the network reads it; None for words.

        Ours is in [0, 1]; some checkpoints shift and scale each channel first.
        """
        return None if self.config.input == "words" else np.asarray(self.subject, dtype=np.float32)

    @property
    def sentence_of(self) -> list[int]:
        """Sentence of each token, even without `segments`: 0 up to the first [SEP], 1 after it."""
        if self.picture is not None or "[SEP]" not in self.tokens:
            return [0] * len(self.tokens)
        first = self.tokens.index("[SEP]")
        return [int(place > first) for place in range(len(self.tokens))]

    @property
    def patches(self) -> np.ndarray | None:
        """The patches of a picture as rows, as the network projects them: (patch, channel·pixel); None for words."""
        if (picture := self.picture) is None:
            return None
        if self.config.input == "flat":
            return picture.reshape(1, -1)
        return patchify(torch.from_numpy(picture)[None], self.config.patch_size)[0].numpy()

    @property
    def rows(self) -> list[int | None]:
        """Row of the position table for each token; None for a token without a position."""
        placeless = self.config.placeless
        counted = [i != self.config.uncounted for i in self.ids] or [
            i not in placeless for i in range(len(self.tokens))
        ]
        return [place - 1 if here else None for place, here in zip(accumulate(counted), counted, strict=True)]

    @property
    def places(self) -> np.ndarray:
        """Position of each token: see token_places."""
        return token_places(self.config, len(self.tokens))


def _read_only(value: Tensor) -> np.ndarray:
    array = (value.float() if value.dtype == torch.bfloat16 else value).cpu().numpy()[0]  # NumPy has no bfloat16
    array.flags.writeable = False
    return array
