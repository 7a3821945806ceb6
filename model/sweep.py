"""Run one input with each of many edits, as one batch.

Until its first edit, a run equals the unchanged one. So it joins the batch only at the last point before that edit
where the whole state is one tensor: hooks on the residual stream append copies of the unchanged run to the batch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from model.changes import Change, bind
from model.edits import Edit, EditError, Surroundings, no_quantity
from model.encoder import Encoder
from model.graph import Graph
from model.trace import Trace, check_finite, hooked

MOST_NUMBERS = 2**21  # in one tensor of a batch; larger batches take more memory and are no faster


class Runs(Protocol):
    """The part of a pipeline that a sweep uses."""

    network: Encoder
    graph: Graph

    def inputs(self, x: object) -> tuple[Any, tuple[Tensor | None, ...]]: ...
    def around(self, reading: Any) -> Surroundings: ...


def sweep(
    pipeline: Runs,
    x: object,
    edits: Sequence[Edit | Sequence[Edit]],
    wanted: Sequence[str] = ("logits",),
    token: int | Sequence[int] | None = None,
    progress: Callable[[float], object] | None = None,
) -> dict[str, np.ndarray]:
    """Run one input with each of many sets of edits; row i is the run with `edits[i]` alone.

    Args:
        x: an input, or a Trace of it; or a list of sentences or Traces, whose arrays are stacked: (input, row, …). A
            translator's target is fixed: as written without edits, or as in the Trace.
        edits: for each row, the edit or the edits of that run; () is the unchanged run.
        wanted: keys of the quantities to return.
        token: only the logits at this token (for a translator: target token): (row, word), much cheaper than (row,
            token, word). A classifier always gives (row, class). For a list of inputs, one for all or one for each.
        progress: called with the share done, before each batch, between layers, and at the end. An exception that it
            raises ends the sweep.

    Returns {key: (row, …)}, float32. Raises EditError for an edit that does not fit or a key that is not recorded,
    ValueError if inputs of different lengths give arrays of different shapes.
    """
    if isinstance(x, list) and x and isinstance(x[0], str | Trace):
        return _over_inputs(pipeline, x, edits, wanted, token, progress)
    if isinstance(token, Sequence):
        raise TypeError("of one input there is one token to ask at")
    graph = pipeline.graph
    for key in wanted:
        if key not in graph or not graph[key].traced:
            raise no_quantity(key, graph)
    reading, inputs = pipeline.inputs(x)
    around = pipeline.around(reading)
    rows = [_Row(number, bind(row, around)) for number, row in enumerate(edits)]
    joints = _joints(graph)
    order = {quantity.key: place for place, quantity in enumerate(graph)}
    for row in rows:
        first = min((order[change.key] for change in row.changes), default=len(order))
        row.joint = max((key for key in joints if order[key] <= first), key=order.__getitem__)
    rows.sort(key=lambda row: order[row.joint])
    # A classifier's answer has no token axis. If no logits are wanted, asking for one token costs least.
    words = "logits" in wanted and "word" in graph["logits"].axes
    asked = token if words else None if len(graph.config.tokens_read) > 1 else 0
    widest = max(graph.config.d_ff, graph.config.vocab_size if asked is None else 0)
    most = max(1, MOST_NUMBERS // (len(reading.tokens) * widest))
    batches = [rows[start : start + most] for start in range(0, len(rows), most)]
    found: dict[str, list[np.ndarray]] = {key: [] for key in wanted}
    done = 0
    for batch in batches:
        on_the_way = partial(progress, done / len(rows)) if progress else lambda: None
        for key, values in _run(pipeline, inputs, batch, wanted, asked, on_the_way).items():
            found[key].append(values)
        done += len(batch)
    if progress:
        progress(1)
    back = np.argsort([row.number for row in rows])
    return {key: np.concatenate(parts)[back] for key, parts in found.items()}


def _over_inputs(
    pipeline: Runs,
    inputs: Sequence[object],
    edits: Sequence[Edit | Sequence[Edit]],
    wanted: Sequence[str],
    token: int | Sequence[int] | None,
    progress: Callable[[float], object] | None,
) -> dict[str, np.ndarray]:
    """The results of `sweep` for each input, stacked."""
    tokens = token if isinstance(token, Sequence) else [token] * len(inputs)
    found = []
    for place, (x, at) in enumerate(zip(inputs, tokens, strict=True)):
        found.append(sweep(pipeline, x, edits, wanted, at))
        if progress:
            progress((place + 1) / len(inputs))
    for key in wanted:
        if len({one[key].shape for one in found}) > 1:
            raise ValueError(f"{key!r} has another shape for each length of the inputs: of logits, say at which token")
    return {key: np.stack([one[key] for one in found]) for key in wanted}


@dataclass
class _Row:
    """One changed run: its index in the request, its edits, and the key at which it joins the batch."""

    number: int
    changes: list[Change]
    joint: str = ""


def _joints(graph: Graph) -> list[str]:
    """The keys at which the whole state is one tensor. They end at Z, since a decoder's state includes Z."""
    streams = [key for layer in range(graph.layers()) for key in graph.stream(layer)]
    return list(dict.fromkeys(["embedding.tokens", *streams, graph.Z]))


def _run(
    pipeline: Runs,
    inputs: tuple[Tensor | None, ...],
    rows: list[_Row],
    wanted: Sequence[str],
    asked: int | None,
    on_the_way: Callable[[], object],
) -> dict[str, np.ndarray]:
    """One batch: the unchanged run first, then the rows in the order in which they join.

    on_the_way: called at every key where rows may join.
    """
    graph = pipeline.graph
    changes: dict[str, list[tuple[int, Change]]] = {}
    for place, row in enumerate(rows, 1):
        for change in row.changes:
            changes.setdefault(change.key, []).append((place, change))
    joining = {key: sum(row.joint == key for row in rows) for key in _joints(graph)}
    needed = {*wanted, *(key for row in rows for change in row.changes for key in change.needs)}
    # For the answer at one token, the other tokens can be dropped once no edit needs them.
    cut = None if asked is None or "logits" in changes else _last_use_of_all_tokens(graph, {*changes, *needed})
    kept: dict[str, Tensor] = {}
    size = 1

    def at(key: str) -> Callable[[Tensor], Tensor]:
        def hook(value: Tensor) -> Tensor:
            nonlocal size
            if key in joining:
                on_the_way()
            if more := joining.get(key):
                value, size = torch.cat([value, value[:1].expand(more, *value.shape[1:])]), size + more
            if key in changes:
                value = value.expand(size, *value.shape[1:]).clone()
                for place, change in changes[key]:
                    so_far = {need: _copy(kept[need], place) for need in change.needs}
                    value[place] = change.apply(value[place : place + 1], so_far)[0]
            if key in needed:
                kept[key] = value
            return value if asked is None or key != cut else _at_token(value, asked)

        return hook

    hooks = {key for key in (*changes, *joining, *needed, cut) if key}
    with hooked(pipeline.network, {key: at(key) for key in hooks}):
        pipeline.network(*inputs)
    if changes:
        for key, value in kept.items():
            check_finite(key, value)
    found = {key: torch.cat([_copy(kept[key], place) for place in range(1, len(rows) + 1)]) for key in wanted}
    if asked is not None and "logits" in found and "word" in graph["logits"].axes:
        found["logits"] = (found["logits"] if cut else _at_token(found["logits"], asked))[:, 0]
    return {key: value.numpy() for key, value in found.items()}


def _copy(value: Tensor, place: int) -> Tensor:
    """The value of one changed run; before it joins, that of the unchanged run."""
    return value[place : place + 1] if place < len(value) else value[:1]


def _last_use_of_all_tokens(graph: Graph, used: set[str]) -> str | None:
    """The first point of the last layer after which tokens no longer interact and no key of `used` follows.

    None if there is no such point.
    """
    if "logits" not in graph:
        return None
    side = "" if graph.decoder is None else "decoder."
    points = [*graph.stream(graph.layers(side) - 1, side)[1:], graph.Z]
    order = [quantity.key for quantity in graph]
    last = max((order.index(key) for key in used if key != "logits"), default=0)
    return next((key for key in points if order.index(key) >= last), None)


def _at_token(value: Tensor, token: int) -> Tensor:
    if not 0 <= token < value.size(1):
        raise EditError("index", axis="token", index=token, size=value.size(1))
    return value[:, token : token + 1]
