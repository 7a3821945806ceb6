"""The cosine of two texts as a sum over pairs of their words, through the whole network: integrated Jacobians.

Möller, Nikolaev and Padó 2023, "An Attribution Method for Siamese Encoders". A word's contribution to a vector is the
derivative of the vector, integrated along the straight path from a neutral word to this one; the contribution of two
words to the cosine is the product of theirs. The authors train a network in which a neutral text has the vector 0.
Other networks have none, but the mean vector of texts of random words is short. So paths start at such texts ("expected
gradients", Erion et al. 2021), and their remaining share of the cosine is reported separately.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch.autograd import forward_ad
from torch.nn.functional import linear
from torch.overrides import TorchFunctionMode

from model.measures.alike import NO_SUM
from model.measures.gradients import TOKENS
from model.pipeline import SPECIAL_TOKENS, Pipeline, TextReader
from model.sweep import MOST_NUMBERS
from model.trace import Trace, hooked
from model.variants.pooled import POOLINGS, Pooled


class AtWords(NamedTuple):
    """cells: (token, other token), 0 for special tokens. cells.sum() + of_random + gap is the cosine.

    of_random: share of the texts of random words. gap: error due to the finite number of points.
    """

    cells: np.ndarray
    of_random: float
    gap: float


def at_words(
    pipeline: Pipeline,
    trace: Trace,
    other: Trace,
    way: Pooled | None = None,
    texts: int = 8,
    points: int = 8,
    seed: int = 0,
    progress: Callable[[float], object] = lambda share: None,
) -> AtWords:
    """The cosine of two texts, without edits, divided among pairs of their words.

    way: how Z is pooled; default: as the checkpoint says. texts: number of random texts for each of both. points: on
    each path. Costs as much as 2 · texts · points · tokens runs. Raises ValueError if a vector is no sum over its
    tokens, or an input is no text.
    """
    way = way or trace.pooled
    sums = [None if way is None or pipeline.graph.vector else way.parts(run.Z) for run in (trace, other)]
    if way is None or sums[0] is None or sums[1] is None or not isinstance(pipeline.reader, TextReader):
        raise ValueError(NO_SUM)
    dice, both = np.random.default_rng(seed), []
    for half, run in enumerate((trace, other)):
        done = partial(lambda share, half: progress((half + share) / 2), half=half)
        both.append(_brought(pipeline, run, way, dice, texts, points, done))
    (one, start), (two, start_of_other) = both
    u, v = (parts.sum(axis=0) for parts in sums if parts is not None)
    lengths = float(np.linalg.norm(u) * np.linalg.norm(v)) or 1.0
    cells = one @ two.T / lengths
    of_random = float(u @ start_of_other + start @ v - start @ start_of_other) / lengths
    return AtWords(cells, of_random, float(u @ v) / lengths - of_random - float(cells.sum()))


def _brought(
    pipeline: Pipeline,
    trace: Trace,
    way: Pooled,
    dice: np.random.Generator,
    texts: int,
    points: int,
    progress: Callable[[float], object],
) -> tuple[np.ndarray, np.ndarray]:
    """Contribution of each token to the vector, (token, out), and the mean vector of the random texts, (out,)."""
    vocabulary, n = pipeline.reader.vocabulary, len(trace.tokens)
    words = [number for number, piece in enumerate(vocabulary) if piece.lstrip("▁Ġ").isalpha()]
    end, inputs = torch.tensor(trace[TOKENS]), pipeline.inputs(trace)[1]
    starts, slopes = [], []
    most = max(1, MOST_NUMBERS // (n * pipeline.config.d_ff))
    for text in range(texts):
        ids = tuple(i if vocabulary[i] in SPECIAL_TOKENS else int(dice.choice(words)) for i in trace.ids)
        random = pipeline.run_of(ids)
        starts.append(_sum(random[pipeline.graph.Z][0].double().numpy(), way))
        straight = end - random[TOKENS][0].clone()
        each = torch.eye(n, dtype=end.dtype)[:, :, None] * straight  # (token, token, d_model): each token moves alone
        for point in range(points):
            # Midpoints of equal steps, shifted a little for each text, so that together they are dense.
            at = end - (1 - (point + (text + 0.5) / texts) / points) * straight
            slopes.append(np.concatenate([_along(pipeline, inputs, at, some, way) for some in each.split(most)]))
            progress((text * points + point + 1) / (texts * points))
    return np.mean(slopes, axis=0), np.mean(starts, axis=0)


def _along(
    pipeline: Pipeline, inputs: tuple[torch.Tensor | None, ...], at: torch.Tensor, tangents: torch.Tensor, way: Pooled
) -> np.ndarray:
    """Derivative of the vector at the tokens `at` in each of some directions: (direction, out)."""
    put = at.expand_as(tangents).clone()
    with forward_ad.dual_level(), torch.no_grad(), _LinearOnce():
        moving = forward_ad.make_dual(put, tangents)
        with hooked(pipeline.network, {TOKENS: lambda _: moving}, gradients=True):
            Z, moved = forward_ad.unpack_dual(pipeline.network(*inputs))
        assert moved is not None  # Z is computed from the tokens
        return _sum(moved.double().numpy(), way, POOLINGS[way.pooling](Z[0].double().numpy()), bias=False)


class _LinearOnce(TorchFunctionMode):
    """W x + b for equal rows x, and its derivative, without torch's two products with the derivative of W, which
    is 0.
    """

    def __torch_function__(
        self, func: Callable, types: object, args: tuple = (), kwargs: dict | None = None
    ) -> torch.Tensor:
        if func is linear and not kwargs:
            x, slope = forward_ad.unpack_dual(args[0])
            if slope is not None:
                grows: torch.Tensor = linear(slope, args[1])
                return forward_ad.make_dual(linear(x[:1], *args[1:]).expand_as(grows).clone(), grows)
        found: torch.Tensor = func(*args, **(kwargs or {}))
        return found


def _sum(Z: np.ndarray, way: Pooled, shares: np.ndarray | None = None, bias: bool = True) -> np.ndarray:
    """The pooled vector before normalization, of Z or of its derivative: (…, token, d_model) -> (…, out)."""
    found: np.ndarray = ((POOLINGS[way.pooling](Z) if shares is None else shares) * Z).sum(axis=-2)
    for dense in way.dense:
        found = found @ dense.W + (0 if dense.b is None or not bias else dense.b)
    return found
