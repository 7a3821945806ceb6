"""Changes to a run: what is put in place of a quantity while the network computes.

An `Edit` says in plain fields what is changed, and how. OPERATIONS has one row for each way to change something: the
new value, where it makes sense, and what it needs. `model.changes` makes edits ready for a run.
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

#: The new value at a key, from the value there and {key: value} of all that was recorded before it.
Apply = Callable[[Tensor, Mapping[str, Tensor]], Tensor]
MOST_EDITS = 100  # of one run
MOST = 1e4  # the largest number that an edit puts in, adds or multiplies by
HIDDEN = -torch.inf
IN_THE_HEAD = ("transform.", "pooler.", "of_bounds")  # what is recorded only where it is changed


class EditError(ReasonedError):
    """An edit that does not fit: `reason` says why, `values` what is concerned.

    The edit itself: "operation" (there is none of this name), "key" (no such quantity), "place" (the operation makes
    no sense at this key), "missing" (a field that it needs), "field" (one that it has no use for), "value" (not a
    number, or out of range), "axis" (the quantity has no such axis, or the operation cannot be narrowed along it),
    "many" (more than MOST_EDITS).
    In this run: "index" (no such token, head, …), "shape" (what is put in has another), "source" (the other input
    cannot be read), "grows" (the target is still being written), "nothing_left" (a query may look nowhere), "read" (the
    answer is read at the token to be removed), "no_special" (no [CLS], no [SEP]), "no_corpus" (to take a mean over),
    "overflow" (a number grew too large), "result" (a function hands on another shape), "undefined" (or NaN).

    `edits` are those of the run that it is about, where that can be told.
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

    The key may be that of one quantity, or a row of the graph ("layers.{l}.attention.heads"): then all layers change.
    Without head, token, … all of the quantity is changed; with them, that part. See OPERATIONS for what there is; in a
    notebook it may be a function of the whole quantity, as a trace has it but a tensor, that returns the new one.
    """

    key: str
    operation: str | Callable[[Tensor], Tensor]
    value: float | None = None
    head: int | None = None
    token: int | None = None  # for scores and weights: the query, the one that looks; in a decoder: of the target
    looked_at: int | None = None  # for scores and weights: the key
    neuron: int | None = None  # the place along d_model, d_E, d_k, d_ff, words or classes
    source: Hashable = None  # patch: the other input
    from_token: int | None = None  # patch: the token taken from there; swap: the other of the two
    from_looked_at: int | None = None  # patch: the key taken from there
    seed: int = 0

    def __post_init__(self) -> None:
        """Numbers of NumPy and torch become Python's, which compare, hash and go into a link."""
        for name in ("value", "head", "token", "looked_at", "neuron", "from_token", "from_looked_at", "seed"):
            given = getattr(self, name)
            if isinstance(given, np.number | Tensor) and given.ndim == 0 and given.dtype not in (bool, torch.bool):
                object.__setattr__(self, name, given.item())

    def part(self, value: Tensor, axes: tuple[str, ...]) -> tuple[slice | int, ...]:
        """Which part of a recorded value (batch in front) this edit touches, as an index."""
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
    """The error for a key that no quantity of the graph has."""
    return EditError("key", key=key, near=nearest(key, (row.key for row in graph), "one of trace.keys()"))


def head_off(layer: int, head: int) -> Edit:
    """The change that switches a head of the encoder off."""
    return Edit(f"layers.{layer}.attention.heads", "zero", head=head)


#: Which field of an Edit picks a place along which axis; the others (d_model, d_k, d_ff, word, class) are `neuron`.
PARTS = {
    "head": "head", "token": "token", "target": "token", "query": "token", "key": "looked_at",
    "distance": "distance",  # which no field picks
}  # fmt: skip
PART_FIELDS = ("head", "token", "looked_at", "neuron")


class Surroundings(Protocol):
    """What edits may ask about the run that they change."""

    graph: Graph
    special: Mapping[str, tuple[int, ...]]  # side ("", "decoder.") -> the places of [CLS], [SEP] and the like
    uncounted: tuple[int, ...]  # the tokens of the input that take no place in the table of positions

    def other(self, source: Hashable) -> Mapping[str, Tensor]:
        """All that the run of another input records. Raises EditError("source") for one that cannot be read."""

    def mean(self) -> Mapping[str, Tensor]:
        """The mean of each quantity over a corpus. Raises EditError("no_corpus") where there is none."""

    def positions(self, key: str) -> Tensor:
        """The whole table of positions: (most tokens, d_model)."""


NOTHING = torch.empty(0)


@dataclass(frozen=True)
class Here:
    """What an operation sees beside the value: the edit, the quantity, and what it asked for."""

    edit: Edit
    quantity: Quantity
    graph: Graph
    special: tuple[int, ...]
    uncounted: tuple[int, ...]
    # What its row in OPERATIONS asks for; NOTHING where it does not.
    given: Tensor  # from outside of this run: another run's value, a mean, the table of positions
    read: Tensor  # from this run: the quantity that the row names


@dataclass(frozen=True)
class Operation:
    """One way to change a quantity: `new` makes the whole new value, of which the edit's part is put in."""

    new: Callable[[Tensor, Here], Tensor]
    fits: Callable[[Quantity, Graph], bool]
    needs: tuple[str, ...] = ()  # fields without which it means nothing
    takes: tuple[str, ...] = ()  # further fields that it has a use for
    narrowed_by: tuple[str, ...] = PART_FIELDS  # fields that limit it to a part
    least: float = -MOST  # of `value`
    most: float = MOST
    whole: bool = False  # whether `value` counts something
    reads: int | None = None  # it needs that quantity of this run: a place in Quantity.reads
    given: Callable[[Edit, str, Surroundings], Tensor] | None = None  # what it needs from outside of this run
    hides: bool = False
    # Whether a changed mask is still a mask, and changed weights are still shares that sum to 1: pages say so of them.
    lawful: bool = field(kw_only=True)


# -- the new values ----------------------------------------------------------------------------------------------


def _noise(value: Tensor, here: Here) -> Tensor:
    shape = list(value.shape[1:])
    for axis, name in enumerate(here.quantity.axes):
        if grows(here.quantity, name):  # each target token keeps its noise while others are written behind it
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
    """−∞ where hidden (query, key). A token may always look at itself, so masks compose and never leave it nothing."""
    just_one = here.edit.token is not None and here.edit.looked_at is not None
    if looks_at_itself(here.quantity) and not just_one:
        hidden = hidden & ~torch.eye(*value.shape[-2:], dtype=torch.bool)
    return value.masked_fill(hidden, HIDDEN)


def _behind(value: Tensor) -> Tensor:
    """(query, key): how many places behind the query the key stands."""
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
    """The first rows of a table for the tokens that take a place; the others keep what they have."""
    counted = [token for token in range(value.size(1)) if token not in here.uncounted]
    new = value.clone()
    new[:, counted] = table[: len(counted)]
    return new


# -- where they make sense ---------------------------------------------------------------------------------------


def grows(quantity: Quantity, axis: str) -> bool:
    """Whether this axis of a quantity runs over the target that a translator is still writing."""
    decoder = quantity.key.startswith("decoder.")
    own_keys = axis == "key" and looks_at_itself(quantity)
    return axis == "target" or (decoder and (axis == "query" or own_keys))


def looks_at_itself(quantity: Quantity) -> bool:
    """Whether the tokens of this attention look at each other, not at those of another sentence."""
    return ".cross." not in quantity.key


def side_looked_at(quantity: Quantity) -> str:
    """Whose tokens are looked at: "" for the encoder's, "decoder." for the target's."""
    return "decoder." if quantity.key.startswith("decoder.") and looks_at_itself(quantity) else ""


def _anywhere(_quantity: Quantity, _graph: Graph) -> bool:
    return True


def _has_a_mean(quantity: Quantity, graph: Graph) -> bool:
    return graph.config.input != "words" or not {"key", "distance"} & {*quantity.axes}  # sentences differ in length


def is_written_before(quantity: Quantity, graph: Graph) -> bool:
    """Whether a quantity is there before a translator writes its first word, or there is nothing to write."""
    return graph.decoder is None or not (quantity.key.startswith("decoder.") or quantity.key == "logits")


def _has_tokens(quantity: Quantity, graph: Graph) -> bool:
    return any(PARTS.get(axis) == "token" for axis in quantity.axes) and is_written_before(quantity, graph)


def _is_embedded(quantity: Quantity, graph: Graph) -> bool:
    return quantity.key in (graph.embedded, "decoder.embedding.sum")


def _is_fixed_positions(quantity: Quantity, graph: Graph) -> bool:
    return quantity.operation == "positions" and is_written_before(quantity, graph)


def _is_even(quantity: Quantity, graph: Graph) -> bool:
    return quantity.operation == "positions" and graph.config.embedded % 2 == 0  # a sine and a cosine for each speed


def _is_sum(quantity: Quantity, _graph: Graph) -> bool:
    return quantity.operation == "add" and quantity.layer is not None


def _is_scaled(quantity: Quantity, _graph: Graph) -> bool:
    return quantity.operation == "scale" and "query" in quantity.axes


def _is_mixed(quantity: Quantity, graph: Graph) -> bool:
    heads_in_front = quantity.key.endswith(("attention.output", "cross.output")) and is_written_before(quantity, graph)
    return heads_in_front and graph.config.heads * graph.config.d_k == graph.config.d_model


def _is_last_score(quantity: Quantity, graph: Graph) -> bool:
    """Whether the mask reads it: behind the division by √d_k, and behind what the distance adds."""
    mask = graph.get(quantity.key.rpartition(".")[0] + ".masked")
    return mask is not None and mask.reads == (quantity.key,)


def _is(*operations: str) -> Callable[[Quantity, Graph], bool]:
    return lambda quantity, _graph: quantity.operation in operations


def _hides_something(quantity: Quantity, graph: Graph) -> bool:
    """Whether it is a mask that hides something, in this layer or in others like it."""
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
    """The row of an operation, or that which a function makes. Raises EditError where there is none of this name."""
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
    """The quantities that a key means and a run can change: one, or with {l} that of every layer."""
    found = [graph[key]] if key in graph else [quantity for quantity in graph if quantity.row == key]
    return [quantity for quantity in found if quantity.traced or quantity.key.startswith(IN_THE_HEAD)]
