"""Answers that are neither a word nor a single class: a number, the effect of edits on it, and its sources.

A cell is one number of such an answer: (label,); (token, class) of tags; (bound, token) of a span.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from model.analysis import sigmoid, softmax
from model.edits import Edit
from model.measures.sources import Lead, is_sum, of_sum
from model.measures.sweep import sweep
from model.pipeline import Pipeline
from model.trace import Trace

Cell = tuple[int, ...]
#: Head -> key of its logits.
KEYS = {"labels": "labels", "numbers": "labels", "tags": "tags", "span": "bounds"}


def said_by(head: str, logits: np.ndarray) -> np.ndarray:
    """Answer from such logits: σ of each label, numbers unchanged, softmax over classes or over tokens."""
    if head == "numbers":
        return logits
    return sigmoid(logits.astype(np.float64)) if head == "labels" else softmax(logits.astype(np.float64))


class Effect(NamedTuple):
    """One number of the answer without edits, and with each set of edits, (row,)."""

    before: float
    after: np.ndarray


def effects(
    pipeline: Pipeline,
    x: object,
    edits: Sequence[Sequence[Edit]],
    cell: Cell,
    progress: Callable[[float], object] | None = None,
) -> Effect:
    """Effect of each set of edits on one number of the answer. Raises EditError for an edit that does not fit."""
    head = pipeline.config.head
    logits = sweep(pipeline, x, [(), *edits], [KEYS[head]], progress=progress)[KEYS[head]]
    before, *after = (float(said[cell]) for said in said_by(head, logits))
    return Effect(before, np.array(after))


def written(trace: Trace, cell: Cell) -> Lead | None:
    """The logit of a cell as a sum over sources; None if the head is not linear."""
    key = KEYS[trace.config.head]
    if trace.config.head == "span":  # before it is transposed
        key, cell = "of_bounds", cell[::-1]
    if not is_sum(trace.graph, key) or trace.edited & {"bounds"}:
        return None
    parts = {name: float(part[cell]) for name, part in of_sum(trace, key).items()}
    return Lead(sum(parts.values()), parts, exact=True)
