"""Edits: replace a quantity while the network computes.

An `Edit` says in plain fields what is changed, and how. OPERATIONS has one row for each kind of change: the new value,
the quantities it applies to, and the fields it needs. `model.changes` prepares edits for a run.
"""

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar, Protocol

import numpy as np
import torch
from torch import Tensor

from model.embedding import SinusoidalPositions
from model.errors import ReasonedError, nearest
from model.graph import Graph
from model.operations import Quantity

#: (value at a key, {key: value} of all recorded before) -> new value.
Apply = Callable[[Tensor, Mapping[str, Tensor]], Tensor]
MOST_EDITS = 100  # in one run
MOST = 1e4  # the largest number that an edit sets, adds or multiplies by
HIDDEN = -torch.inf
IN_THE_HEAD = ("transform.", "pooler.", "of_bounds")  # recorded only if edited


class EditError(ReasonedError):
    """An edit that does not fit. `reason` says why, `values` holds the names and numbers concerned.

    Errors of the edit itself: "operation" (unknown name), "key" (no such quantity), "place" (the operation does not
    apply to this quantity), "missing" (a required field), "field" (one that the operation does not use), "value" (not a
    number, or out of range), "axis" (the quantity has no such axis, or the operation cannot be limited along it),
    "many" (more than MOST_EDITS).
    Errors in this run: "index" (no such token, head, …), "shape" (of the replacement), "source" (the other input cannot
    be read), "grows" (the target is still being written), "nothing_left" (a query without keys), "read" (the answer is
    read at the removed token), "no_special" (no [CLS], no [SEP]), "no_corpus" (none to take a mean over), "overflow" (a
    number grew too large), "result" (a function returned another shape), "undefined" (it returned NaN).

    `edits`: the edits concerned, if known.
    """

    sentences: ClassVar = {
        "operation": "no operation is called {operation!r}; did you mean {near}?",
        "key": "no quantity is called {key!r}; did you mean {near}?",
        "place": "{operation!r} has no meaning at {key!r}",
        "missing": "{operation!r} at {key!r} needs {field}=…, which is not given",
        "field": "{operation!r} at {key!r} has no use for {field}=…",
        "value": "{operation!r} at {key!r} takes a number from {least} to {most}, not {value!r}",
        "axis": "{key!r} cannot be narrowed by {axis!r} here",
        "many": "{edits} edits are too many: a run takes at most {most}",
        "index": "there is no {axis} {index!r}: there are {size}, counted from 0",
        "shape": "what is put in at {key!r} has the shape {there}; {here} is needed",
        "source": "the other input, `source`, cannot be read ({why})",
        "grows": "{operation!r} at {key!r} needs a target that is written; this one is still being written",
        "nothing_left": "at {key!r} nothing would be left for token {token} to look at",
        "read": "the answer is read at this token, so it cannot be removed",
        "no_special": "at {key!r} there is no [CLS] and no [SEP] to hide",
        "no_corpus": "there are no example inputs here to take a mean over",
        "overflow": "with these edits a number at {key!r} grows too large (overflow)",
        "result": "the function at {key!r} returns the shape {after}; {before} is needed",
        "undefined": "the function at {key!r} returns what is not a number (NaN)",
    }
    edits: tuple["Edit", ...] = ()


@dataclass(frozen=True)
class Edit:
    """One change to a run: frozen, hashable and plain, so that a run with edits can be cached and put in a URL.

    `key` names one quantity, or with {l} that of every layer ("layers.{l}.attention.heads"). head, token, … limit the
    change to a part of it. `operation` is a name in OPERATIONS; in a notebook also a function from the whole quantity
    (a tensor, shaped as in a trace) to the new one.
    """

    key: str
    operation: str | Callable[[Tensor], Tensor]
    value: float | None = None
    head: int | None = None
    token: int | None = None  # for scores and weights: the query; in a decoder: a target token
    looked_at: int | None = None  # for scores and weights: the key
    neuron: int | None = None  # index along d_model, d_E, d_k, d_ff, words or classes
    source: Hashable = None  # patch: the other input
    from_token: int | None = None  # patch: the token taken from there; swap: the other of the two
    from_looked_at: int | None = None  # patch: the key taken from there
    seed: int = 0

    def __post_init__(self) -> None:
        """Convert NumPy's and torch's numbers to Python's, which compare, hash and fit in a link."""
        for name in ("value", "head", "token", "looked_at", "neuron", "from_token", "from_looked_at", "seed"):
            given = getattr(self, name)
            if isinstance(given, np.number | Tensor) and given.ndim == 0 and given.dtype not in (bool, torch.bool):
                object.__setattr__(self, name, given.item())

    def part(self, value: Tensor, axes: tuple[str, ...]) -> tuple[slice | int, ...]:
        """Index of the part of a recorded value (batch in front) that this edit changes."""
        names = [PARTS.get(axis, "neuron") for axis in axes]
        index: list[slice | int] = [slice(None)] * value.dim()
        for name in PART_FIELDS:
            place = getattr(self, name)
            if place is None:
                continue
            if name not in names:
                raise EditError("axis", key=self.key, axis=name)
            axis = 1 + names.index(name)
            if type(place) is not int or not 0 <= place < value.size(axis):
                raise EditError("index", key=self.key, axis=name, index=place, size=value.size(axis))
            index[axis] = place
        return tuple(index)


def as_edits(edits: Edit | Iterable[Edit]) -> tuple[Edit, ...]:
    """One edit or several, as a tuple. Raises TypeError for anything else."""
    found = (edits,) if isinstance(edits, Edit) else tuple(edits)
    for edit in found:
        if not isinstance(edit, Edit):
            raise TypeError(f"edits are an Edit(key, operation, …) or a list of them; this is a {type(edit).__name__}")
    return found


def no_quantity(key: str, graph: Graph) -> EditError:
    """The error for a key that is not in the graph."""
    return EditError("key", key=key, near=nearest(key, (row.key for row in graph), "one of trace.keys()"))


def head_off(layer: int, head: int) -> Edit:
    """The change that switches a head of the encoder off."""
    return Edit(f"layers.{layer}.attention.heads", "zero", head=head)


#: Axis -> the field of an Edit that indexes it; all others (d_model, d_k, d_ff, word, class) are indexed by `neuron`.
PARTS = {
    "head": "head", "token": "token", "target": "token", "query": "token", "key": "looked_at",
    "distance": "distance",  # indexed by no field
}  # fmt: skip
PART_FIELDS = ("head", "token", "looked_at", "neuron")


class Surroundings(Protocol):
    """What edits may ask about the run that they change."""

    graph: Graph
    special: Mapping[str, tuple[int, ...]]  # side ("", "decoder.") -> positions of special tokens
    uncounted: tuple[int, ...]  # tokens of the input without a position vector

    def other(self, source: Hashable) -> Mapping[str, Tensor]:
        """All that the run of another input records. Raises EditError("source") for one that cannot be read."""

    def mean(self) -> Mapping[str, Tensor]:
        """The mean of each quantity over a corpus. Raises EditError("no_corpus") where there is none."""

    def positions(self, key: str) -> Tensor:
        """The whole table of positions: (most tokens, d_model)."""


NOTHING = torch.empty(0)


@dataclass(frozen=True)
class Here:
    """The arguments of an operation besides the value."""

    edit: Edit
    quantity: Quantity
    graph: Graph
    special: tuple[int, ...]
    uncounted: tuple[int, ...]
    # NOTHING unless the row in OPERATIONS asks for it:
    given: Tensor  # from outside this run: another run's value, a mean, the table of positions
    read: Tensor  # from this run: one of the quantities that the edited one is computed from


@dataclass(frozen=True)
class Operation:
    """One kind of change: `new` computes the whole new value, of which only the edit's part is used."""

    new: Callable[[Tensor, Here], Tensor]
    fits: Callable[[Quantity, Graph], bool]
    needs: tuple[str, ...] = ()  # required fields
    takes: tuple[str, ...] = ()  # optional fields
    narrowed_by: tuple[str, ...] = PART_FIELDS  # fields that may limit it to a part
    least: float = -MOST  # of `value`
    most: float = MOST
    whole: bool = False  # whether `value` must be whole
    reads: int | None = None  # index in Quantity.reads of the value passed as `read`
    given: Callable[[Edit, str, Surroundings], Tensor] | None = None  # gets the value passed as `given`
    hides: bool = False
    # Whether a changed mask is still a mask and changed weights still sum to 1; pages state this.
    lawful: bool = field(kw_only=True)


# -- the new values ----------------------------------------------------------------------------------------------


def _noise(value: Tensor, here: Here) -> Tensor:
    shape = list(value.shape[1:])
    for axis, name in enumerate(here.quantity.axes):
        if grows(here.quantity, name):  # each target token keeps its noise while more are written
            shape[axis] = (here.graph.decoder or here.graph.config).max_tokens
    dice = torch.Generator().manual_seed(here.edit.seed)
    noise = torch.randn(shape, generator=dice, device="cpu")[tuple(slice(n) for n in value.shape[1:])]
    return value + here.edit.value * noise.to(value.device)


def _patch(value: Tensor, here: Here) -> Tensor:
    edit, axes = here.edit, here.quantity.axes
    there = edit
    if edit.from_token is not None:
        there = replace(there, token=edit.from_token)
    if edit.from_looked_at is not None:
        there = replace(there, looked_at=edit.from_looked_at)
    part, taken = edit.part(value, axes), here.given[there.part(here.given, axes)]
    if value[part].shape[1:] != taken.shape[1:]:
        raise EditError("shape", key=here.quantity.key, here=tuple(value[part].shape[1:]), there=tuple(taken.shape[1:]))
    new = value.clone()
    new[part] = taken
    return new


def _swap(value: Tensor, here: Here) -> Tensor:
    one, other = here.edit.token, here.edit.from_token
    for token in (one, other):
        replace(here.edit, token=token).part(value, here.quantity.axes)
    axis = 1 + [PARTS.get(axis) for axis in here.quantity.axes].index("token")
    order = torch.arange(value.size(axis))
    order[[one, other]] = order[[other, one]]
    return value.index_select(axis, order)


def _hard(value: Tensor, _here: Here) -> Tensor:
    return torch.zeros_like(value).scatter_(-1, value.argmax(-1, keepdim=True), 1.0)


def _even(value: Tensor, here: Here) -> Tensor:
    seen = (here.read != HIDDEN).to(value.dtype)
    return (seen / seen.sum(-1, keepdim=True)).expand_as(value)


def _masked(value: Tensor, hidden: Tensor, here: Here) -> Tensor:
    """−∞ where `hidden` (query, key), except at the token itself, so that combined masks never hide all keys."""
    just_one = here.edit.token is not None and here.edit.looked_at is not None
    if looks_at_itself(here.quantity) and not just_one:
        hidden = hidden & ~torch.eye(*value.shape[-2:], dtype=torch.bool)
    return value.masked_fill(hidden, HIDDEN)


def _behind(value: Tensor) -> Tensor:
    """(query, key): position of the key minus that of the query."""
    return torch.arange(value.size(-1)) - torch.arange(value.size(-2))[:, None]


def _special(value: Tensor, here: Here) -> Tensor:
    if not here.special:
        raise EditError("no_special", key=here.quantity.key)
    hidden = torch.zeros(value.shape[-2:], dtype=torch.bool)
    hidden[:, list(here.special)] = True
    return _masked(value, hidden, here)


def _shuffle(value: Tensor, here: Here) -> Tensor:
    dice = torch.Generator().manual_seed(here.edit.seed)
    return value[:, torch.randperm(value.size(1), generator=dice, device="cpu").tolist()]


def _shift(value: Tensor, here: Here) -> Tensor:
    return _placed(value, here.given.roll(-int(here.edit.value or 0), dims=0), here)


def _sinusoidal(value: Tensor, here: Here) -> Tensor:
    n, d_model = value.shape[-2:]
    return _placed(value, SinusoidalPositions(d_model, n).table, here)


def _placed(value: Tensor, table: Tensor, here: Here) -> Tensor:
    """Give the first rows of a table to the tokens that have a position; the others keep theirs."""
    counted = [token for token in range(value.size(1)) if token not in here.uncounted]
    new = value.clone()
    new[:, counted] = table[: len(counted)]
    return new


# -- where they make sense ---------------------------------------------------------------------------------------


def grows(quantity: Quantity, axis: str) -> bool:
    """Whether this axis runs over the target that a translator is still writing."""
    decoder = quantity.key.startswith("decoder.")
    own_keys = axis == "key" and looks_at_itself(quantity)
    return axis == "target" or (decoder and (axis == "query" or own_keys))


def looks_at_itself(quantity: Quantity) -> bool:
    """Whether this is self-attention, not cross-attention."""
    return ".cross." not in quantity.key


def side_looked_at(quantity: Quantity) -> str:
    """Side of the keys: "" for the encoder's tokens, "decoder." for the target's."""
    return "decoder." if quantity.key.startswith("decoder.") and looks_at_itself(quantity) else ""


def _anywhere(_quantity: Quantity, _graph: Graph) -> bool:
    return True


def _has_a_mean(quantity: Quantity, graph: Graph) -> bool:
    return graph.config.input != "words" or not {"key", "distance"} & {*quantity.axes}  # sentences differ in length


def is_written_before(quantity: Quantity, graph: Graph) -> bool:
    """Whether a quantity is computed before a translator writes its first word, or no translator is involved."""
    return graph.decoder is None or not (quantity.key.startswith("decoder.") or quantity.key == "logits")


def _has_tokens(quantity: Quantity, graph: Graph) -> bool:
    return any(PARTS.get(axis) == "token" for axis in quantity.axes) and is_written_before(quantity, graph)


def _is_embedded(quantity: Quantity, graph: Graph) -> bool:
    return quantity.key in (graph.embedded, "decoder.embedding.sum")


def _is_fixed_positions(quantity: Quantity, graph: Graph) -> bool:
    return quantity.operation == "positions" and is_written_before(quantity, graph)


def _is_even(quantity: Quantity, graph: Graph) -> bool:
    return quantity.operation == "positions" and graph.config.embedded % 2 == 0  # one sine and one cosine per frequency


def _is_sum(quantity: Quantity, _graph: Graph) -> bool:
    return quantity.operation == "add" and quantity.layer is not None


def _is_scaled(quantity: Quantity, _graph: Graph) -> bool:
    return quantity.operation == "scale" and "query" in quantity.axes


def _is_mixed(quantity: Quantity, graph: Graph) -> bool:
    heads_in_front = quantity.key.endswith(("attention.output", "cross.output")) and is_written_before(quantity, graph)
    return heads_in_front and graph.config.heads * graph.config.d_k == graph.config.d_model


def _is_last_score(quantity: Quantity, graph: Graph) -> bool:
    """Whether it is what the mask reads: scores divided by √d_k, with any relative position bias."""
    mask = graph.get(quantity.key.rpartition(".")[0] + ".masked")
    return mask is not None and mask.reads == (quantity.key,)


def _is(*operations: str) -> Callable[[Quantity, Graph], bool]:
    return lambda quantity, _graph: quantity.operation in operations


def _hides_something(quantity: Quantity, graph: Graph) -> bool:
    """Whether it is a mask of a decoder's self-attention, or of an encoder in which some layers have a window."""
    return quantity.operation == "mask" and (side_looked_at(quantity) == "decoder." or bool(graph.config.local))


def _is_own_mask(quantity: Quantity, _graph: Graph) -> bool:
    return quantity.operation == "mask" and looks_at_itself(quantity)


OPERATIONS: dict[str, Operation] = {
    "zero": Operation(lambda value, here: torch.zeros_like(value), _anywhere, lawful=False),
    "scale": Operation(lambda value, here: value * here.edit.value, _anywhere, needs=("value",), lawful=False),
    "set": Operation(
        lambda value, here: torch.full_like(value, here.edit.value), _anywhere, needs=("value",),
        lawful=False,
    ),
    # + value · standard normal
    "noise": Operation(_noise, _anywhere, needs=("value",), takes=("seed",), lawful=False),
    # the mean over a small corpus; of pictures, place by place
    "mean": Operation(
        lambda value, here: here.given.expand_as(value), _has_a_mean, given=lambda edit, key, run: run.mean()[key],
        lawful=False,
    ),
    # what the same place (or from_token, from_looked_at) held in the run of another input
    "patch": Operation(
        _patch, is_written_before, needs=("source",), takes=("from_token", "from_looked_at"),
        given=lambda edit, key, run: run.other(edit.source)[key], lawful=False,
    ),
    # two tokens change places
    "swap": Operation(
        _swap, _has_tokens, needs=("token", "from_token"), narrowed_by=("head", "looked_at", "neuron"),
        lawful=False,
    ),
    # as if a token were not there: its row is zero, and no other token may look at it in any layer
    "remove": Operation(
        lambda value, here: torch.zeros_like(value), _is_embedded, ("token",), narrowed_by=("token",),
        lawful=False,
    ),
    # attention: without √d_k; with a temperature; all on the largest; the same on all that may be looked at
    "unscaled": Operation(lambda value, here: here.read, _is_scaled, reads=0, lawful=False),
    "temperature": Operation(
        lambda value, here: value / here.edit.value, _is_last_score, needs=("value",), least=1e-3, most=1e3,
        lawful=False,
    ),
    # without W_O: the heads side by side
    "unmixed": Operation(lambda value, here: here.read, _is_mixed, reads=0, lawful=False),
    "hard": Operation(_hard, _is("softmax"), narrowed_by=("head", "token"), lawful=True),
    "even": Operation(_even, _is("softmax"), narrowed_by=("head", "token"), reads=0, lawful=True),
    # masks: no key after the query; none further away than `value`; no [CLS] and [SEP]; just this part
    "causal": Operation(
        lambda value, here: _masked(value, _behind(value) > 0, here), _is_own_mask, hides=True,
        lawful=True,
    ),
    "window": Operation(
        lambda value, here: _masked(value, _behind(value).abs() > here.edit.value, here), _is_own_mask,
        needs=("value",), least=0, whole=True, hides=True, lawful=True,
    ),
    "special": Operation(_special, _is("mask"), hides=True, lawful=True),
    "hide": Operation(
        lambda value, here: _masked(value, torch.ones(value.shape[-2:], dtype=torch.bool), here), _is("mask"),
        hides=True, lawful=True,
    ),
    # without the mask of a decoder, or of layers that look no further than a window
    "unmasked": Operation(lambda value, here: here.read, _hides_something, narrowed_by=("head",), reads=0, lawful=True),
    # positions in another order, or each token at the place so many further on (round the table)
    "shuffle": Operation(_shuffle, _is_fixed_positions, takes=("seed",), lawful=False),
    "shift": Operation(
        _shift, _is("positions"), needs=("value",), whole=True, given=lambda edit, key, run: run.positions(key),
        lawful=False,
    ),
    # sine and cosine in place of learned positions
    "sinusoidal": Operation(_sinusoidal, _is_even, lawful=False),
    # the sum without what stood there before: the sub-layer's output alone
    "without": Operation(lambda value, here: here.read, _is_sum, reads=1, lawful=False),
    # LayerNorm, or a turn by the place, hands on what it reads
    "bypass": Operation(lambda value, here: here.read, _is("norm", "rotate"), reads=0, lawful=False),
}  # fmt: skip


def row_of(operation: str | Callable[[Tensor], Tensor]) -> Operation:
    """The row of an operation, or one made from a function. Raises EditError for an unknown name."""
    if not callable(operation):
        if operation not in OPERATIONS:
            near = nearest(operation, OPERATIONS, "one of model.edits.OPERATIONS")
            raise EditError("operation", operation=operation, near=near)
        return OPERATIONS[operation]

    def new(value: Tensor, here: Here) -> Tensor:
        made = operation(value[0].clone())
        if not isinstance(made, Tensor) or made.shape != value.shape[1:]:
            after = tuple(made.shape) if isinstance(made, Tensor) else type(made).__name__
            raise EditError("result", key=here.quantity.key, before=tuple(value.shape[1:]), after=after)
        if made.isnan().any():
            raise EditError("undefined", key=here.quantity.key)
        return made[None]

    return Operation(new, _anywhere, lawful=False)


def operations_at(graph: Graph, key: str) -> tuple[str, ...]:
    """The operations that make sense at a key (or a row of the graph)."""
    found = quantities_at(graph, key)
    return tuple(name for name, row in OPERATIONS.items() if found and all(row.fits(q, graph) for q in found))


def quantities_at(graph: Graph, key: str) -> list[Quantity]:
    """The quantities that a key names and a run can change: one, or with {l} that of every layer."""
    found = [graph[key]] if key in graph else [quantity for quantity in graph if quantity.row == key]
    return [quantity for quantity in found if quantity.traced or quantity.key.startswith(IN_THE_HEAD)]
