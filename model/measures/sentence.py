"""A whole sentence as one vector, for an encoder without a head; and how alike two sentences are."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from model.edits import head_off
from model.graph import Graph
from model.measures.sweep import sweep
from model.pipeline import Pipeline
from model.trace import Trace
from model.variants.pooled import Pooled

#: How the rows of Z become one vector, where the makers do not say: their mean, or the row of [CLS].
POOLINGS = ("mean", "cls")
VECTOR = "vector"  # the one that the network itself puts out
MAKERS = "makers"  # as the folder says, with all that comes behind the pooling


@dataclass(frozen=True)
class Cosine:
    """u · v / (|u| |v|), and the three numbers that it is made of; 0 where a vector is 0 and points nowhere."""

    dot: float
    u: float  # |u|
    v: float

    @property
    def value(self) -> float:
        return self.dot / (self.u * self.v) if self.u and self.v else 0.0


def read_for(trace: Trace, pooling: str) -> np.ndarray:
    """What `sentence_vector` is made of: Z, or the network's own vector."""
    return trace[_key(trace.graph, pooling)]


def _key(graph: Graph, pooling: str) -> str:
    return graph.vector if pooling == VECTOR and graph.vector else graph.Z


def sentence_vector(Z: np.ndarray, pooling: str = "mean", pooled: Pooled | None = None) -> np.ndarray:
    """(token, d_model) -> (d_model): all tokens count, [CLS] and [SEP] among them.

    pooling MAKERS: as `pooled` says, with all that comes behind. VECTOR: Z is the network's own, see `read_for`.
    """
    if pooling == VECTOR:
        return Z.reshape(-1)
    if pooling == MAKERS and pooled:
        return pooled.steps(Z)[-1][1]
    return Z.mean(axis=0) if pooling == "mean" else Z[0]


def cosine(u: np.ndarray, v: np.ndarray) -> Cosine:
    """How alike two vectors point: 1 the same way, 0 at right angles, −1 opposite."""
    return Cosine(float(u @ v), float(np.linalg.norm(u)), float(np.linalg.norm(v)))


def moved_by_heads(
    pipeline: Pipeline, trace: Trace, pooling: str = "mean", progress: Callable[[float], object] | None = None
) -> np.ndarray:
    """1 − cosine of the sentence vector with and without each head: (layer, head), 0 where the head does nothing.

    trace: an unchanged run; each head is switched off alone. progress: as for `sweep`.
    """
    layers, heads = trace.graph.layers(), trace.config.heads
    off = [[head_off(layer, head)] for layer in range(layers) for head in range(heads)]
    key = _key(trace.graph, pooling)
    states = sweep(pipeline, trace, off, (key,), progress=progress)[key]
    own = sentence_vector(trace[key], pooling, pipeline.pooled)
    moved = [1 - cosine(own, sentence_vector(Z, pooling, pipeline.pooled)).value for Z in states]
    return np.array(moved, np.float32).reshape(layers, heads)
