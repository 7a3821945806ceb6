"""What is true of the real thing: parameters counted, layers timed, and what must hold in every run."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from model.config import EncoderConfig
from model.cost import attention_cost, ffn_cost, layer_parameters, total
from model.encoder import EncoderLayer
from model.heads import network_for
from model.trace import Trace

#: A measurement stays small: one layer of at most 80 MB, 32 MB for each n × n quantity, some seconds in all.
MOST_PARAMETERS = 20_000_000
MOST_WEIGHTS = 2**23  # h·n²
MOST_MULTIPLY_ADDS = 5 * 10**9  # of one pass at the greatest length
LENGTHS = tuple(2**power for power in range(4, 13))

_one_at_a_time = threading.Lock()  # two measurements at once would only measure each other


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
class LayerTimes:
    """Seconds of one forward pass through the two sub-layers of one layer, for each length n."""

    lengths: tuple[int, ...]
    attention: tuple[float, ...]
    ffn: tuple[float, ...]


def measurable_lengths(config: EncoderConfig) -> tuple[int, ...]:
    """The lengths at which one layer can be timed here: fewer for larger layers, none for gigantic ones."""
    if total(layer_parameters(config)).number > MOST_PARAMETERS:
        return ()

    def fits(n: int) -> bool:
        work = total(attention_cost(config, n)).number + ffn_cost(config, n).number
        return config.heads * n**2 <= MOST_WEIGHTS and work <= MOST_MULTIPLY_ADDS

    return tuple(n for n in LENGTHS if fits(n))


def layer_times(config: EncoderConfig) -> LayerTimes:
    """Time attention and FFN of one real layer with random weights, at each measurable length."""
    lengths = measurable_lengths(config)
    if not lengths:
        return LayerTimes((), (), ())
    with _one_at_a_time, torch.inference_mode():
        layer = EncoderLayer(config).eval()
        inputs = [torch.randn(1, n, config.d_model) for n in lengths]
        attention = tuple(_fastest(partial(layer.attention, x, x)) for x in inputs)
        ffn = tuple(_fastest(partial(layer.ffn, x)) for x in inputs)
    return LayerTimes(lengths, attention, ffn)


def _fastest(run: Callable[[], object], enough: float = 0.15, most: int = 20) -> float:
    """Seconds of the fastest of several runs: whatever else the machine does can only add time."""
    run()
    best, spent, times = float("inf"), 0.0, 0
    while times < 2 or (spent < enough and times < most):
        start = time.perf_counter()
        run()
        seconds = time.perf_counter() - start
        best, spent, times = min(best, seconds), spent + seconds, times + 1
    return best


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
