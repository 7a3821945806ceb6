"""Answers of a run as bars: for each token of a masked-word network, else one; and the logit lens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from model.overview.run import Run

MOST_BARS = 5  # bars, if there are many words or classes; up to `FEW` classes are all shown, in their order
FEW = 10
MOST_LOGITS = 2_000_000  # for ranking words at every token; with more, only at the tokens asked about
LENS = 3  # words shown of the logit lens

Bar = tuple[str, float]


@dataclass(frozen=True)
class Answers:
    """The bars of a run.

    kind: "word" (at each token), "class", "label" (true or false), "number", "tag" (of a token), "bound" (start and end
    of a part of the text), or "none". rows: token -> bars; -1 is the whole input. lens: token -> bars after each layer,
    if computed. reads: the one token whose row an answer for the whole input is read from. right: token -> the true
    word. altered: see `altered`.
    """

    kind: str
    rows: dict[int, list[Bar]]
    lens: dict[int, list[list[Bar]]]
    reads: int | None = None
    right: dict[int, str] | None = None
    altered: Sequence[int] = ()

    @property
    def described(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "rows": self.rows,
            "lens": self.lens,
            "reads": self.reads,
            "right": self.right or {},
            "altered": self.altered,
        }


def answers_of(
    trace: Run,
    *,
    asked: Sequence[int] = (),
    right: dict[int, str] | None = None,
    name: Callable[[str], str] = str,
) -> Answers:
    """The bars of a run, for the network's kind of head.

    asked: tokens for the logit lens; default the masked ones. right: token -> the true word. name: display name of a
    class.
    """
    head, graph = trace.config.head, trace.graph
    if "logits" in trace and trace.axes("logits") == ("token", "word"):
        return _of_words(trace, asked or [i for i, token in enumerate(trace.tokens) if token == "[MASK]"], right)
    guesses = trace.answer
    if not guesses or graph.vector or graph.decoder:
        vector = graph.vector or trace.pooled
        return Answers("vector" if vector else "decoder" if graph.decoder else "none", {}, {})
    if head == "tags":
        rows = {guess.token or 0: bars_of(guess.labels, guess.probabilities, name) for guess in guesses}
        return Answers("tag", rows, {})
    if head == "span":
        best = [(name(guess.best), max(guess.probabilities)) for guess in guesses]
        return Answers("bound", {-1: best}, {})
    kind = {"labels": "label", "numbers": "number"}.get(head, "class")
    (guess,) = guesses
    rows = {-1: bars_of(guess.labels, guess.probabilities, name)}
    read = [place for place in trace.config.tokens_read if place < len(trace.tokens)]
    reads = read[0] if len(read) == 1 else None
    lens = {-1: _lens(trace, 0, [name(label) for label in guess.labels])} if kind == "class" else {}
    return Answers(kind, rows, lens, reads)


def _of_words(trace: Run, asked: Sequence[int], right: dict[int, str] | None) -> Answers:
    logits, names = trace["logits"], trace.outputs
    places = list(asked) if logits.size > MOST_LOGITS else range(len(trace.tokens))
    rows = {place: best_words(logits[place], names) for place in places}
    return Answers(
        "word", rows, {place: _lens(trace, place, names) for place in asked[:LENS]}, right=right, altered=altered(trace)
    )


def altered(trace: Run) -> list[int]:
    """The tokens whose vector changes altered on its way, so that an answer there is no mere copy: sub-layers and
    positions add to it, and take nothing of the word away.
    """
    add = "embedding.positions", "embedding.segments", ".attention.", ".ffn."
    edits = [edit for edit in trace.edits if not any(part in edit.key for part in add)]
    places = {place for edit in edits for place in (edit.token, *[edit.from_token] * (edit.operation == "swap"))}
    return [i for i in range(len(trace.tokens)) if {i, None} & places]


def best_words(logits: np.ndarray, names: Sequence[str]) -> list[Bar]:
    """The likeliest words of a row of logits."""
    p = torch.tensor(logits).softmax(-1)
    best = p.topk(min(MOST_BARS, len(p)))
    return [(_named(names, i), float(v)) for v, i in zip(best.values, best.indices.tolist(), strict=True)]


def _named(names: Sequence[str], place: int) -> str:
    return names[place] if place < len(names) else str(place)


def bars_of(labels: Sequence[str], values: Sequence[float], name: Callable[[str], str]) -> list[Bar]:
    order = range(len(values))
    shown = order if len(values) <= FEW else sorted(order, key=lambda i: -abs(values[i]))[:MOST_BARS]
    return [(name(_named(labels, i)), float(values[i])) for i in shown]


@torch.inference_mode()
def _lens(trace: Run, token: int, names: Sequence[str]) -> list[list[Bar]]:
    """The head's answer as if each layer were the last (logit lens, nostalgebraist 2020)."""
    network = trace.network
    states = torch.from_numpy(np.stack([trace.stream(layer)[-1] for layer in range(trace.graph.layers())]))
    Z = network.norm(states.to(next(network.parameters())))
    p = network.read_out(Z[:, token] if "word" in trace.axes("logits") else Z).float().softmax(-1)
    if p.shape[-1] <= FEW:
        return [[(_named(names, i), float(v)) for i, v in enumerate(row)] for row in p]
    best = p.topk(LENS)
    every = zip(best.values.tolist(), best.indices.tolist(), strict=True)
    return [[(_named(names, i), v) for v, i in zip(*layer, strict=True)] for layer in every]
