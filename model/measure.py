"""What is true of the real thing: parameters counted, and what must hold in every run."""

from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from model.config import EncoderConfig
from model.heads import network_for
from model.trace import Trace


class WithoutNumbers(TorchFunctionMode):
    """Weights are made on the meta device: they have a shape and no numbers, and so nothing is drawn for them.

    Only weights, since arithmetic on that device (the table of positions) would load a compiler of 800 modules.
    """

    def __torch_function__(self, function, types, args=(), kwargs=None):
        if function is torch.empty:
            return torch.empty(*args, **(kwargs or {}) | {"device": "meta"})
        if function is nn.init.normal_:
            return kwargs["tensor"]
        return function(*args, **kwargs or {})


def real_parameters(config: EncoderConfig) -> int:
    """sum(p.numel()) over the real network, built without allocating its weights."""
    if config.positions == "sinusoidal":
        config = replace(config, max_len=1)  # a table of any length: it holds no parameters
    with WithoutNumbers():
        network = network_for(config)
    return sum(parameter.numel() for parameter in network.parameters())


@dataclass(frozen=True)
class LayerProperties:
    """What must hold in each layer of a run, in numbers (lecture note 004, section 10)."""

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
