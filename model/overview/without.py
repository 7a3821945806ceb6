"""A run without one of its heads: which are off, and, for a file without a server, its answers without each."""

from collections.abc import Callable
from typing import Any

import numpy as np

from model.analysis import softmax
from model.edits import EditError, head_off
from model.overview.answers import bars_of, best_words
from model.overview.run import Run

MOST = 20_000_000_000  # multiply-adds, about a second; files of larger runs have no answers without a head


def heads_off(trace: Run) -> list[str]:
    """The heads that single edits switch off: "layer.head", from 0."""
    return [f"{layer}.{head}" for layer, head in _heads(trace) if head_off(layer, head) in trace.edits]


def without_heads(trace: Run, token: int, name: Callable[[str], str] = str) -> dict[str, Any]:
    """Answers of a run without each of its heads, and the probability that each head, switched off alone, moves.

    Returns {"without": {"token", "answers": "layer.head" -> bars}, "lean": {token: (layer, head), from 0 to 1}}. token:
    where the answer is read; -1 in both if it is for the whole input. name: display name of a class. {} if the answer
    is no word and no class, or running again is impossible or slow.
    """
    heads = _heads(trace)
    if "logits" not in trace or trace.logits_with is None:
        return {}
    if len(heads) * len(trace.tokens) * sum(one.numel() for one in trace.network.parameters()) > MOST:
        return {}
    words = "word" in trace.axes("logits")
    try:
        logits = trace.logits_with([(), *([head_off(*head)] for head in heads)], token if words else None)
    except EditError:  # a number overflows with this run's edits
        return {}
    p = softmax(logits.astype(np.float64))
    moved = [_rounded(float(np.abs(one - p[0]).sum()) / 2) for one in p[1:]]
    answers = {}
    for (layer, head), row, shares in zip(heads, logits[1:], p[1:], strict=True):
        bars = best_words(row, trace.outputs) if words else bars_of(trace.outputs, shares.tolist(), name)
        answers[f"{layer}.{head}"] = [(label, _rounded(value)) for label, value in bars]
    lean = np.reshape(moved, (trace.config.layers, trace.config.heads)).tolist()
    place = token if words else -1
    return {"without": {"token": place, "answers": answers}, "lean": {place: lean}}


def _heads(trace: Run) -> list[tuple[int, int]]:
    return [(layer, head) for layer in range(trace.config.layers) for head in range(trace.config.heads)]


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")
