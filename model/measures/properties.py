"""Properties that hold in each layer of every run."""

from dataclasses import dataclass

import numpy as np

from model.trace import Trace


@dataclass(frozen=True)
class LayerProperties:
    """The properties of a layer in numbers (lecture note 004, section 10)."""

    shape_in: tuple[int, ...]
    shape_out: tuple[int, ...]
    smallest_sum: float  # of the rows of A, over all heads
    largest_sum: float
    gap_at: tuple[int, int, int]  # head, i, j, where A[i, j] − A[j, i] is largest


def layer_properties(trace: Trace, layer: int) -> LayerProperties:
    """Shapes in and out, row sums of A, and how far A is from its transpose, in layer `layer` (from 0)."""
    A = trace[f"layers.{layer}.attention.weights"]  # (head, query, key)
    sums, gaps = A.sum(axis=-1, dtype=np.float64), np.abs(A - A.swapaxes(-1, -2))
    head, i, j = (int(place) for place in np.unravel_index(gaps.argmax(), gaps.shape))
    if A[head, i, j] < A[head, j, i]:
        i, j = j, i
    return LayerProperties(
        shape_in=trace.stream(layer)[0].shape,
        shape_out=trace.stream(layer)[-1].shape,
        smallest_sum=float(sums.min()),
        largest_sum=float(sums.max()),
        gap_at=(head, i, j),
    )
