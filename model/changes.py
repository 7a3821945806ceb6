"""Prepare edits for a run: check them against the graph and turn them into functions of the recorded values.

An edit that does not fit raises EditError. `idle` says why an edit that fits has no effect; it does not notice when a
later edit overwrites an earlier one.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from model.activations import ACTIVATIONS
from model.config import EncoderConfig
from model.edits import (
    HIDDEN,
    MOST_EDITS,
    NOTHING,
    PART_FIELDS,
    Apply,
    Edit,
    EditError,
    Here,
    Operation,
    Surroundings,
    as_edits,
    is_written_before,
    no_quantity,
    quantities_at,
    row_of,
    side_looked_at,
)
from model.graph import Graph
from model.operations import Quantity

MOST_SEEDS = 2**31
_DEFAULTS = {field.name: field.default for field in fields(Edit) if field.name not in ("key", "operation")}


@dataclass(frozen=True)
class Change:
    """An edit at one key, ready for one run. `apply` takes the value and those recorded so far; it reads `needs`."""

    key: str
    edit: Edit  # applied at this key
    of: Edit  # the user's edit that it belongs to
    apply: Apply
    needs: tuple[str, ...]


def bind(edits: Edit | Iterable[Edit], run: Surroundings) -> list[Change]:
    """The edits as changes at keys, in order, but those that hide tokens last, so that no other edit shows them again.

    Raises EditError for every error that can be found before the run.
    """
    edits = as_edits(edits)
    if len(edits) > MOST_EDITS:
        raise EditError("many", most=MOST_EDITS, edits=len(edits))
    changes: list[Change] = []
    for edit in edits:
        with _about(edit):
            changes += _bind(edit, run)
    return sorted(changes, key=lambda change: row_of(change.edit.operation).hides)


@contextmanager
def _about(edit: Edit) -> Iterator[None]:
    """Attach the edit to any EditError raised in this block."""
    try:
        yield
    except EditError as error:
        error.edits = (edit,)
        raise


def _bind(edit: Edit, run: Surroundings) -> list[Change]:
    check(edit, run.graph)
    changes = [_change(edit, quantity, run, edit) for quantity in quantities_at(run.graph, edit.key)]
    if edit.operation == "remove":
        changes += _hide_everywhere(edit, run)
    return changes


def _hide_everywhere(edit: Edit, run: Surroundings) -> list[Change]:
    """Mask a removed token for every query, in all layers."""
    side = "decoder." if edit.key.startswith("decoder.") else ""
    masks = [quantity for quantity in run.graph if quantity.operation == "mask" and side_looked_at(quantity) == side]
    return [_change(Edit(quantity.key, "hide", looked_at=edit.token), quantity, run, edit) for quantity in masks]


def check(edit: Edit, graph: Graph) -> None:
    """Raises EditError for every error that can be found without a run."""
    row, found = row_of(edit.operation), quantities_at(graph, edit.key)
    if not found:
        raise no_quantity(edit.key, graph)
    about = {"key": edit.key, "operation": edit.operation}
    elsewhere = row.given is not None  # whose values are recorded ones
    if not all(row.fits(quantity, graph) and (quantity.traced or not elsewhere) for quantity in found):
        grows = edit.operation in ("patch", "swap", "shuffle") and not is_written_before(found[0], graph)
        raise EditError("grows" if grows else "place", **about)
    for name, default in _DEFAULTS.items():
        given = getattr(edit, name) != default
        if name in row.needs and not given:
            raise EditError("missing", field=name, **about)
        if given and name not in (*PART_FIELDS, *row.needs, *row.takes):
            raise EditError("field", field=name, **about)
        if given and name in PART_FIELDS and name not in (*row.narrowed_by, *row.needs):
            raise EditError("axis", axis=name, **about)
    if "value" in row.needs and not _in_range(edit.value, row):
        raise EditError("value", value=edit.value, least=row.least, most=row.most, **about)
    if type(edit.seed) is not int or not 0 <= edit.seed < MOST_SEEDS:
        raise EditError("value", value=edit.seed, least=0, most=MOST_SEEDS - 1, **about)
    if edit.operation == "remove" and edit.token in graph.config.read_alone:
        raise EditError("read", **about)


def _in_range(value: float | None, row: Operation) -> bool:
    if not isinstance(value, int | float) or not row.least <= value <= row.most:  # NaN fails this comparison too
        return False
    return not row.whole or value == int(value)


def _change(edit: Edit, quantity: Quantity, run: Surroundings, of: Edit) -> Change:
    row, key, axes = row_of(edit.operation), quantity.key, quantity.axes
    given = row.given(edit, key, run) if row.given else NOTHING
    read = None if row.reads is None else quantity.reads[row.reads]
    special = run.special[side_looked_at(quantity)]
    uncounted = () if quantity.key.startswith("decoder.") else run.uncounted
    touched = Edit(key, edit.operation, **{name: getattr(edit, name) for name in row.narrowed_by})

    @_about(of)
    def apply(value: Tensor, kept: Mapping[str, Tensor]) -> Tensor:
        part = touched.part(value, axes)
        beside = given.to(value.device)
        here = Here(edit, quantity, run.graph, special, uncounted, beside, kept[read] if read else NOTHING)
        new = row.new(value, here)
        if quantity.operation == "mask" and not row.hides and edit.operation not in ("patch", "unmasked"):
            new = torch.where(value == HIDDEN, value, new)  # hidden scores stay −∞
        changed = value.clone()
        changed[part] = new[part]
        if row.hides:
            _leave_something(changed, key)
        return changed

    return Change(key, edit, of, apply, (read,) if read else ())


def _leave_something(masked: Tensor, key: str) -> None:
    blind = (masked == HIDDEN).all(-1).nonzero()
    if len(blind):
        raise EditError("nothing_left", key=key, token=int(blind[0, -1]))


def watched(changes: Iterable[Change], graph: Graph, unmoved: dict[Change, str]) -> list[tuple[str, Apply]]:
    """The changes as `record` takes them. During the run, those without effect go into `unmoved`, with the reason."""

    def watch(change: Change) -> Apply:
        cuts = change.key.endswith("ffn.hidden") and ACTIVATIONS[_config(graph, change.key).activation].cuts

        def apply(value: Tensor, kept: Mapping[str, Tensor]) -> Tensor:
            changed = change.apply(value, kept)
            if torch.equal(changed, value):
                unmoved[change] = "already"
            elif cuts and torch.equal(changed.relu(), value.relu()):
                unmoved[change] = "inactive"
            return changed

        return apply

    return [(change.key, watch(change)) for change in changes]


def idle(changes: Iterable[Change], unmoved: Mapping[Change, str], graph: Graph, values: Mapping[str, Tensor]) -> dict:
    """{edit: reason} for the edits of a run that have no effect on anything computed from the edited value.

    "already": the value was the same before. "inactive": the activation turns numbers below 0 into 0. "hidden": only
    masked pairs changed. "alone": only one key is visible, so its weight stays 1. "unread": the classifier never reads
    this token.
    """
    why: dict[Edit, list[str | None]] = {}
    for change in changes:
        why.setdefault(change.of, []).append(unmoved.get(change) or _unseen(change, graph, values))
    return {edit: reasons[0] for edit, reasons in why.items() if all(reasons)}


def _unseen(change: Change, graph: Graph, values: Mapping[str, Tensor]) -> str | None:
    """Reason why the edited value has no effect; None if it may have one."""
    edit = change.edit
    tokens = {edit.token, edit.from_token} if edit.operation == "swap" else {edit.token}
    if change.key == graph.Z and (read := graph.config.tokens_read):
        return None if tokens & {None, *read} else "unread"
    prefix, _, name = change.key.rpartition(".")
    weights = f"{prefix}.weights"
    if weights not in graph or change.key not in graph.ancestors(weights) or row_of(edit.operation).hides:
        return None  # the reasons below hold for attention weights only
    touched = [slice(None) if place is None else [place] for place in (edit.head, edit.token, edit.looked_at)]
    if edit.operation == "swap":
        touched[1] = sorted(token for token in tokens if token is not None)
    if name.startswith("K"):  # rows of K are keys, not queries
        touched = [touched[0], slice(None), touched[1]]
    may_look = values[f"{prefix}.masked"][0] != HIDDEN
    chooses = may_look & (may_look.sum(-1, keepdim=True) > 1)
    here, choices = (_taken(table, touched) for table in (may_look, chooses))
    return None if choices.any() else "alone" if here.any() else "hidden"


def _taken(table: Tensor, places: list[slice | list[int]]) -> Tensor:
    """The part of a table at these rows, columns, … (one selection per axis)."""
    for axis, place in enumerate(places):
        table = table[(slice(None),) * axis + (place,)]
    return table


def _config(graph: Graph, key: str) -> EncoderConfig:
    return graph.decoder if graph.decoder and key.startswith("decoder.") else graph.config
