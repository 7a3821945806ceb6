"""Record a run through forward hooks, and change it on the way.

The path of a module is the key of what it puts out: `record` hooks each module whose quantity the graph has traced,
runs the network once, takes the hooks off again, and hands back what passed.
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
    """The graph of a network: of its configuration, and of its decoder's where it has one."""
    return graph(network.config, getattr(network, "decoder_config", None))


def recorded(network: nn.Module) -> dict[str, nn.Module]:
    """Key -> module, for every quantity of the network that a run records, in order of computation."""
    if network not in _recorded:
        _recorded[network] = {
            quantity.key: network.get_submodule(quantity.key) for quantity in graph_of(network) if quantity.traced
        }
    return _recorded[network]


@contextmanager
def hooked(
    network: nn.Module, hooks: Mapping[str, Callable[[Tensor], Tensor | None]], gradients: bool = False
) -> Iterator[None]:
    """While this lasts, each function is handed what passes at its key, and what it returns goes on instead.

    With `gradients`, torch remembers what a gradient needs of whatever is computed from a tensor that requires one.
    For this thread only: others use the bare network meanwhile, or wait until they may put on hooks of their own.
    Raises deadline.OverdueError, while it waits or at the next key, once the time of the run is over.
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
    """In which new tensors are made where the weights of a network are."""
    device = next(network.parameters()).device
    return nullcontext() if device.type == "cpu" else device


class Recording(Mapping[str, Tensor]):
    """{key: value} of all that one run computed, in order of computation: see `record`.

    Of a large run only the residual stream and the weights of attention stay. What else is inside a layer is computed
    again when it is asked for: from what went into that layer, by the same products, and so to the last bit. The layer
    that was asked for last stays, too.
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
        self.network = self._runner = network  # its weights on the processor; and those that computed this run
        self.changes, self._mask, self._most, self._check = changes, mask, most, check
        self._values: dict[str, Tensor | None] = {}  # None: computed again when asked for
        self._latest: list[str] = []  # what has passed since the end of a layer
        self._inside = 0  # bytes inside one layer
        self._opened: tuple[int, dict[str, Tensor]] = -1, {}  # a layer, and what is inside
        layers = range(0 if self.graph.decoder else self.graph.layers())  # runs of a translator are never large
        self._ends = {self.graph.stream(layer)[-1]: layer for layer in layers}

    def keep(self, key: str, value: Tensor) -> Tensor:
        """What passes at this key, changed as the edits say and kept; at the end of a layer, what is inside may go."""
        if key in self.changes:
            value = self.changed(key, value, self._values)
        if self._check:
            self._check(key, value)
        # Nothing in the network works in place, so the value need not be copied.
        self._values[key] = value
        self._latest.append(key)
        if key in self._ends:
            self._let_go(self._ends[key])
        return value

    def changed(self, key: str, value: Tensor, so_far: Mapping[str, Tensor]) -> Tensor:
        """What the edits at this key make of a value, where {key: value} was computed before it."""
        for change in self.changes.get(key, ()):
            shape, value = value.shape, change(value.clone(), so_far)
            if value.shape[1:] != shape[1:]:
                raise EditError("result", key=key, before=tuple(shape), after=tuple(value.shape))
        return value

    def alone(self, row: int, n: int, edits: Iterable[tuple[str, Apply]]) -> "Recording":
        """What the `row`-th input of this batch, n tokens long and with these edits, recorded; a copy of it."""
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
        """Whether the layers hold more than is kept."""
        return self._inside * self.graph.layers() > self._most

    @property
    def nbytes(self) -> int:
        """The bytes of what stays; of a large run with the inside of one layer."""
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

    `edits` are pairs of a key and a function of the value there and of {key: value} so far; they are applied before
    recording, so what is kept is what the rest of the network used. `check` sees each value. Where there are more than
    `most` bytes inside the layers of an encoder, see Recording; its weights must stay as they are from then on.
    Raises EditError for a key that nothing answers to.
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
    """Raises EditError where edits let a number grow beyond all bounds. What a mask hides is −∞ and no such number."""
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

    Batch is dropped. An aside of the graph is computed when it is asked for. Beside the numbers: `subject` (the input
    itself), `tokens` (as printed), `ids` (words only), `segments` (which row of E_seg each token got, where the network
    has one), `answer` (a tuple of Guess), `outputs` (the words or classes that logits stand for), `notes`, the `graph`
    of the network, the `edits` of the run, and `idle`: {edit: why} for those that could change nothing (see
    `model.changes.idle`). `logits_with(rows, token)`: those of the same input with each of some sets of edits more, see
    `model.sweep`; None for a translation and for a run from a file.
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
        """What the run was, its answer, and what it holds: each key where it first stands, and its axes' sizes."""
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
        """A recorded value as a table with its tokens beside it: to_frame("layers.2.attention.weights", head=3).

        `at` picks a place along an axis (see `axes`); of those that are left the last runs along the columns.
        """
        return to_frame(self[key], self.axes(key), self.names(key), at)

    def show(self, key: str, /, **at: int) -> Shown:
        """The same to look at: in a notebook coloured, blue above 0 and red below, and two digits of each number."""
        return Shown(self.to_frame(key, **at), ", ".join((key, *(f"{axis} {place}" for axis, place in at.items()))))

    def overview(self, *, layer: int | None = None, head: int | None = None, token: int | None = None) -> Overview:
        """The whole run on one screen, to look at in a notebook or to `save(path)`: layer, head and token from 0."""
        return Overview.of(self, layer, head, token)

    def __getitem__(self, key: str) -> np.ndarray:
        """Raises KeyError, which names the nearest keys, where nothing of this name was recorded."""
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
        """How much memory it takes: see Recording."""
        return self._values.nbytes

    @property
    def large(self) -> bool:
        """Whether the inside of a layer is computed when it is asked for: see Recording."""
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
        """What the edits of this run make of another value at a key; `read`: of what the key is computed from."""
        so_far = {name: torch.from_numpy(part)[None] for name, part in read.items()}
        return self._values.changed(key, torch.from_numpy(value)[None], so_far)[0].numpy()

    def keys(self) -> list[str]:
        """The keys of what passed, in order of computation: no asides."""
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
        """For each axis of a recorded value the tokens that stand along it; None where places are only counted."""
        target = getattr(self, "target_tokens", self.tokens)
        query = target if key.startswith("decoder.") else self.tokens
        looked_at = self.tokens if ".cross." in key else query
        n = len(self.tokens)
        distances = [f"{place:+d}".replace("-", "−") if place else "0" for place in range(1 - n, n)]
        tokens = {"token": self.tokens, "target": target, "query": query, "key": looked_at, "probe": ["[PROBE]"]}
        tokens["distance"] = distances  # of a key from a query, in places
        return tuple(tokens.get(axis) for axis in self.axes(key))

    def stream(self, layer: int, side: str = "") -> tuple[np.ndarray, ...]:
        """The residual stream of one layer (from 0): into it, after attention, …, out of it; (token, d_model) each."""
        return tuple(self[key] for key in self.graph.stream(layer, side))

    def states(self, side: str = "") -> np.ndarray:
        """The residual stream between the layers: (1 + layers, token, d_model); row l is what layer l reads.

        The last row is what the last layer writes, before the final LayerNorm where there is one: `Z` is behind it.
        """
        layers = range(self.graph.layers(side))
        return np.stack([self.stream(0, side)[0], *(self.stream(layer, side)[-1] for layer in layers)])

    def over_layers(self, name: str, side: str = "") -> np.ndarray:
        """One quantity of every layer: ("attention.weights") -> (layer, head, query, key)."""
        return np.stack([self[f"{side}layers.{layer}.{name}"] for layer in range(self.graph.layers(side))])

    @property
    def Z(self) -> np.ndarray:
        """What the encoder hands on, to its head or to a decoder: (token, d_model)."""
        return self[self.graph.Z]

    @property
    def picture(self) -> np.ndarray | None:
        """The input as a picture, ([channel,] height, width), as the network reads it; None for words.

        Ours read numbers in [0, 1]; some checkpoints move and scale each channel first.
        """
        return None if self.config.input == "words" else np.asarray(self.subject, dtype=np.float32)

    @property
    def sentence_of(self) -> list[int]:
        """Which sentence each token stands in, even if no `segments` say so: 0 up to the first [SEP], 1 behind it."""
        if self.picture is not None or "[SEP]" not in self.tokens:
            return [0] * len(self.tokens)
        first = self.tokens.index("[SEP]")
        return [int(place > first) for place in range(len(self.tokens))]

    @property
    def patches(self) -> np.ndarray | None:
        """The patches of a picture as rows, as the network projects them: (patch, pixel); None for words."""
        if (picture := self.picture) is None:
            return None
        if self.config.input == "flat":
            return picture.reshape(1, -1)
        return patchify(torch.from_numpy(picture)[None], self.config.patch_size)[0].numpy()

    @property
    def rows(self) -> list[int | None]:
        """Which row of the table of positions each token gets; None for one that takes no place."""
        placeless = self.config.placeless
        counted = [i != self.config.uncounted for i in self.ids] or [
            i not in placeless for i in range(len(self.tokens))
        ]
        return [place - 1 if here else None for place, here in zip(accumulate(counted), counted, strict=True)]

    @property
    def places(self) -> np.ndarray:
        """Where each token stands: see token_places."""
        return token_places(self.config, len(self.tokens))


def _read_only(value: Tensor) -> np.ndarray:
    array = (value.float() if value.dtype == torch.bfloat16 else value).cpu().numpy()[0]  # NumPy knows no bfloat16
    array.flags.writeable = False
    return array
