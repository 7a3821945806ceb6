"""Similarity of two inputs: a vector of each, their cosine, and a map of token pairs whose cells add up to it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from model.edits import Edit
from model.graph import Graph
from model.measures.sources import Part
from model.measures.sweep import sweep
from model.pipeline import Pipeline
from model.trace import Trace
from model.variants.pooled import POOLINGS, Pooled

#: How rows of Z are pooled if the checkpoint does not say: their mean, or the row of [CLS].
MEAN, CLS = Pooled("mean"), Pooled("cls")
NO_SUM = "the vector of this encoder is no sum over its tokens, or how it is made is not known"


@dataclass(frozen=True)
class Cosine:
    """u · v / (|u| |v|) and its three parts; 0 if a vector is 0."""

    dot: float
    u: float  # |u|
    v: float

    @property
    def value(self) -> float:
        return self.dot / (self.u * self.v) if self.u and self.v else 0.0


def vector_of(trace: Trace, way: Pooled | None) -> np.ndarray:
    """The vector of an input: (d_model,) or as wide as the last Linear.

    way: how Z is pooled; None: the network's own vector.
    """
    return _made(trace[_key(trace.graph, way)], way)


def _key(graph: Graph, way: Pooled | None) -> str:
    return graph.vector if way is None and graph.vector else graph.Z


def _made(read: np.ndarray, way: Pooled | None) -> np.ndarray:
    return read.reshape(-1) if way is None else way.steps(read)[-1][1]


def cosine(u: np.ndarray, v: np.ndarray) -> Cosine:
    """Cosine of two vectors: 1 for the same direction, 0 at right angles, −1 opposite."""
    return Cosine(float(u @ v), float(np.linalg.norm(u)), float(np.linalg.norm(v)))


def row_cosines(rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Cosine of each row (…, features) with the corresponding row of `others`, or with its only one: (…,)."""
    pairs = zip(rows, np.broadcast_to(others, rows.shape), strict=True)
    return np.array([cosine(row, other).value for row, other in pairs])


def of_cosine(trace: Trace, other: Trace, way: Pooled | None = None) -> np.ndarray:
    """The cosine of two inputs' vectors as an exact sum over all pairs of their tokens.

    u = Σᵢ pᵢ and v = Σⱼ p′ⱼ, so cos(u, v) = Σᵢⱼ pᵢ · p′ⱼ / (|u| |v|). pᵢ is the contribution of row i of Z: with mean
    pooling zᵢ / n, so a cell is zᵢ · z′ⱼ / (n m |u| |v|); with [CLS] pooling a single cell holds the cosine.

    way: how Z is pooled; default: as the checkpoint says. Returns (token, other token), float64; 0 if a vector is 0.
    Raises ValueError if a vector is no sum over its tokens (see `Pooled.parts`).
    """
    way = way or trace.pooled
    one, two = (None if way is None or run.graph.vector else way.parts(run.Z) for run in (trace, other))
    if one is None or two is None:
        raise ValueError(NO_SUM)
    lengths = float(np.linalg.norm(one.sum(axis=0)) * np.linalg.norm(two.sum(axis=0)))
    return one @ two.T / lengths if lengths else np.zeros((len(one), len(two)))


def of_pair(trace: Trace, other: Trace, cell: tuple[int, int], way: Pooled | None = None) -> Part:
    """A cell of `of_cosine` as the contribution of its first token, a Part that `sources.made_of` opens back to the
    words.

    The other row and both lengths are held constant; the bias of a Linear after pooling is left out. Raises ValueError
    as `of_cosine`.
    """
    way, (i, j) = way or trace.pooled, cell
    one, two = (None if way is None or run.graph.vector else way.parts(run.Z) for run in (trace, other))
    if way is None or one is None or two is None:
        raise ValueError(NO_SUM)
    slope = two[j] / (np.linalg.norm(one.sum(axis=0)) * np.linalg.norm(two.sum(axis=0)) or 1)
    for dense in reversed(way.dense):
        slope = dense.W @ slope
    slope = slope * POOLINGS[way.pooling](trace.Z.astype(np.float64))[i]
    return Part(trace.graph.Z, i, slope @ trace.Z[i], slope)


class Found(NamedTuple):
    """A text and its similarity to a query: its index among the texts given, and the cosine.

    adds: contribution of each of its tokens, (token,); None if the cosine is no such sum.
    """

    place: int
    cosine: float
    tokens: list[str]
    adds: np.ndarray | None


def alike(pipeline: Pipeline, query: object, texts: Iterable[str], way: Pooled | None = None) -> list[Found]:
    """Texts sorted by cosine to a query, highest first.

    query: a text, or a run of one, with its edits. way: how Z is pooled; default: as the checkpoint says, else the
    mean.
    """
    if way is None and not pipeline.graph.vector:
        way = pipeline.pooled if pipeline.pooled and pipeline.pooled.computed else MEAN
    one = query if isinstance(query, Trace) else pipeline(query)
    own, found = vector_of(one, way), []
    for place, other in enumerate(pipeline.batch(texts, keep=[_key(pipeline.graph, way)])):
        summed = way is not None and way.parts(other.Z) is not None
        adds = of_cosine(one, other, way).sum(axis=0) if summed else None
        found.append(Found(place, cosine(own, vector_of(other, way)).value, other.tokens, adds))
    return sorted(found, key=lambda text: -text.cosine)


@torch.inference_mode()
def through_layers(pipeline: Pipeline, trace: Trace, way: Pooled | None) -> np.ndarray:
    """The vector as if each layer were the last: (1 + layers, d_model), or as wide as `vector_of`.

    Row 0 reads the embedding; the last row is the network's own vector.
    """
    network = pipeline.network
    states = network.norm(torch.from_numpy(trace.states()[:-1]).to(next(network.parameters())))
    read = [network.read_out(state[None]) for state in states] if way is None else states
    return np.stack([*(_made(one.float().numpy(), way) for one in read), vector_of(trace, way)])


def moved(
    pipeline: Pipeline,
    x: object,
    edits: Sequence[Sequence[Edit]],
    way: Pooled | None,
    other: np.ndarray | None = None,
    progress: Callable[[float], object] | None = None,
) -> np.ndarray:
    """How much each set of edits changes the cosine with `other`, the vector of another input: (row,).

    Without `other`: 1 − the cosine with the unchanged vector. way: see `vector_of`. progress: as for `sweep`.
    """
    key = _key(pipeline.graph, way)
    own, *changed = (_made(read, way) for read in sweep(pipeline, x, [(), *edits], (key,), progress=progress)[key])
    before = 1.0 if other is None else cosine(own, other).value
    with_ = own if other is None else other
    found = np.array([cosine(with_, vector).value - before for vector in changed], np.float32)
    return -found if other is None else found
