"""An encoder without one of its parts: the effect on its tokens and its answer.

Source: Dong, Cordonnier & Loukas 2021, "Attention is not all you need: pure attention loses rank doubly exponentially
with depth": without residual paths and feed-forward networks, all tokens soon become the same vector.
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

#: Parts that can be removed in all layers at once.
PARTS = ("residual", "norm")
LEAST_TURN = 1e-12  # cosine distance for an angle of 10⁻⁶, about ten rounding errors of float32


def without(graph: Graph, part: str) -> tuple[Edit, ...]:
    """The edits that remove a part: residual paths, LayerNorm, or the feed-forward networks."""
    found = {
        "residual": [(each.sum, "without") for each in graph.sublayers(0)],
        "norm": [(row, "bypass") for row in dict.fromkeys(graph[norm].row for norm in graph.norms)],
        "ffn": [(each.output, "zero") for each in graph.sublayers(0) if each.name == "ffn"],
    }
    return tuple(Edit(key.replace("layers.0.", "layers.{l}."), operation) for key, operation in found[part])


class Fate(NamedTuple):
    """Statistics of the tokens before the first layer and after each: (1 + layers,) each.

    alike: mean cosine of all pairs of tokens. length: mean length of their vectors.
    """

    alike: np.ndarray
    length: np.ndarray


def fates(pipeline: Pipeline, x: Hashable, edits: Sequence[Edit] = ()) -> dict[str, Fate]:
    """Statistics of the tokens of an input: "all" for the whole network, and without each of PARTS.

    edits: applied in every run. Leaves out a part without which numbers overflow.
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
    """(query, key): how much each token's state after a layer turns without each token's value; rows sum to 1.

    A row is 0 if the state turns by less than float32's rounding error. Source: Mohebbi et al. 2023, "Quantifying
    Context Mixing in Transformers", section 3: cosine distances, normalized.
    """
    key = trace.graph.stream(layer)[-1]
    rows = [(Edit(f"layers.{layer}.attention.V", "zero", token=token),) for token in range(len(trace.tokens))]
    states = sweep(pipeline, trace, [(*trace.edits, *row) for row in [(), *rows]], [key])[key].astype(np.float64)
    before, *changed = states / np.linalg.norm(states, axis=-1, keepdims=True).clip(np.finfo(float).tiny)
    turned = ((before - np.array(changed)) ** 2).sum(-1).T / 2  # of two unit vectors 1 − cos
    turned[turned.max(-1) < LEAST_TURN] = 0
    return turned / turned.sum(-1, keepdims=True).clip(LEAST_TURN)


def ffn_off(graph: Graph, layer: int) -> list[tuple[Edit, ...]]:
    """Three sets of edits: none, without the feed-forward network of one layer, without any."""
    (key,) = [each.output for each in graph.sublayers(layer) if each.name == "ffn"]
    return [(), (Edit(key, "zero"),), without(graph, "ffn")]


def one_against_all(graph: Graph, layer: int) -> list[tuple[Edit, ...]]:
    """Sets of edits: none, then without each head of a layer, then with only that head: 1 + 2 · heads."""
    off = [head_off(layer, head) for head in range(graph.config.heads)]
    return [(), *((edit,) for edit in off), *(tuple(edit for edit in off if edit != kept) for kept in off)]


class Answers(NamedTuple):
    """Probabilities of some outputs in several runs, p (run, output): the likeliest ones of the first run, and the
    likeliest of each other run. So each run's likeliest is the largest in its row.
    """

    outputs: tuple[int, ...]
    p: np.ndarray

    @property
    def best(self) -> list[int]:
        """Index of the likeliest output of each run."""
        return [self.outputs[place] for place in self.p.argmax(axis=1)]


def answers(pipeline: Pipeline, x: Hashable, rows: Sequence[Sequence[Edit]], token: int) -> Answers:
    """Effect of each set of edits on the answer at one token; keeps the first run's five likeliest outputs."""
    return kept_of(softmax(sweep(pipeline, x, rows, token=token)["logits"].astype(np.float64)), 5)


def kept_of(p: np.ndarray, most: int) -> Answers:
    """The part of probabilities (run, output) to keep: the `most` likeliest of the first run, and the likeliest of each
    other run.
    """
    outputs = likeliest(p, [most, *[1] * (len(p) - 1)])
    return Answers(tuple(outputs), p[:, outputs].astype(np.float32))
