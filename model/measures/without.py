"""An encoder without one of its parts: what becomes of its words, and of its answer.

Source: Dong, Cordonnier & Loukas 2021, "Attention is not all you need: pure attention loses rank doubly exponentially
with depth": without residual paths and feed-forward networks all tokens soon become the same vector.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from model.analysis import likeliest, mean_likeness, softmax
from model.edits import Edit, EditError, head_off
from model.graph import Graph
from model.measures.sweep import sweep
from model.pipeline import Pipeline
from model.trace import Trace

#: What can be taken away in all layers at once.
PARTS = ("residual", "norm")
LEAST_TURN = 1e-12  # as a cosine distance: that of an angle of 10⁻⁶, some ten roundings of float32


def without(graph: Graph, part: str) -> tuple[Edit, ...]:
    """The changes that take a part away: the residual paths, LayerNorm, or the feed-forward networks."""
    found = {
        "residual": [(each.sum, "without") for each in graph.sublayers(0)],
        "norm": [(row, "bypass") for row in dict.fromkeys(graph[norm].row for norm in graph.norms)],
        "ffn": [(each.output, "zero") for each in graph.sublayers(0) if each.name == "ffn"],
    }
    return tuple(Edit(key.replace("layers.0.", "layers.{l}."), operation) for key, operation in found[part])


class Fate(NamedTuple):
    """What becomes of the words before the first layer and after each: (1 + layers,) each.

    alike: the mean cosine of all pairs of words. length: the mean length of their vectors.
    """

    alike: np.ndarray
    length: np.ndarray


def fates(pipeline: Pipeline, x: Hashable, edits: Sequence[Edit] = ()) -> dict[str, Fate]:
    """What becomes of the words of an input: "all", with every part there, and without each of PARTS.

    edits: of every run. A part without which numbers grow too large is left out.
    """
    graph = pipeline.graph
    streams = [graph.stream(layer) for layer in range(graph.layers())]
    keys = [streams[0][0], *(stream[-1] for stream in streams)]
    found = {}
    for name in ("all", *PARTS):
        extra = () if name == "all" else without(graph, name)
        try:
            run = sweep(pipeline, x, [(*edits, *extra)], keys)
        except EditError as error:
            if error.reason != "overflow":
                raise
            continue
        states = np.concatenate([run[key] for key in keys])
        found[name] = Fate(mean_likeness(states), np.linalg.norm(states, axis=-1).mean(axis=-1))
    return found


def value_zeroing(pipeline: Pipeline, trace: Trace, layer: int) -> np.ndarray:
    """(query, key): how far each token's state behind a layer turns without each token's value in it; rows sum to 1.

    A row is 0 where the state turns by less than float32 rounds: nothing was mixed in, so nothing has a share in it.
    Source: Mohebbi et al. 2023, "Quantifying Context Mixing in Transformers", section 3: cosine distances, normalised.
    """
    key = trace.graph.stream(layer)[-1]
    rows = [(Edit(f"layers.{layer}.attention.V", "zero", token=token),) for token in range(len(trace.tokens))]
    states = sweep(pipeline, trace, [(*trace.edits, *row) for row in [(), *rows]], [key])[key].astype(np.float64)
    before, *changed = states / np.linalg.norm(states, axis=-1, keepdims=True).clip(np.finfo(float).tiny)
    turned = ((before - np.array(changed)) ** 2).sum(-1).T / 2  # of two unit vectors 1 − cos
    turned[turned.max(-1) < LEAST_TURN] = 0
    return turned / turned.sum(-1, keepdims=True).clip(LEAST_TURN)


def ffn_off(graph: Graph, layer: int) -> list[tuple[Edit, ...]]:
    """Rows of edits: none, without the feed-forward network of one layer, and without any."""
    (key,) = [each.output for each in graph.sublayers(layer) if each.name == "ffn"]
    return [(), (Edit(key, "zero"),), without(graph, "ffn")]


def one_against_all(graph: Graph, layer: int) -> list[tuple[Edit, ...]]:
    """Rows of edits: none, then without each head of a layer, then with each of them as the only one: 1 + 2 · heads."""
    off = [head_off(layer, head) for head in range(graph.config.heads)]
    return [(), *((edit,) for edit in off), *(tuple(edit for edit in off if edit != kept) for kept in off)]


class Answers(NamedTuple):
    """The probabilities of some outputs in each of several runs, p (run, output): those that the first run holds for
    likeliest, and the likeliest of each other run. So the likeliest of a run is the largest in its row.
    """

    outputs: tuple[int, ...]
    p: np.ndarray

    @property
    def best(self) -> list[int]:
        """The likeliest output of each run."""
        return [self.outputs[place] for place in self.p.argmax(axis=1)]


def answers(pipeline: Pipeline, x: Hashable, rows: Sequence[Sequence[Edit]], token: int) -> Answers:
    """What each set of edits does to the answer at one token; of the first set's outputs five are kept."""
    return kept_of(softmax(sweep(pipeline, x, rows, token=token)["logits"].astype(np.float64)), 5)


def kept_of(p: np.ndarray, most: int) -> Answers:
    """Of the probabilities of some runs, (run, output), those that are kept: `most` for the first run's sake."""
    outputs = likeliest(p, [most, *[1] * (len(p) - 1)])
    return Answers(tuple(outputs), p[:, outputs].astype(np.float32))
