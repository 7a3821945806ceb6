"""Gradients of an answer: by any quantity, by token, by head; and the length of the gradient at each layer.

The answer is one number, as in `measures.sweep`: the lead of the logit of `of` over that of `against` (words or
classes, or their indices), or without `against` the probability of `of`, at `token` if each token has an answer. For a
span, `of` is "start" or "end", `token` its position and `against` another position. `of` may also be a function from
the network's output (batch, …) to (batch,), such as `cosine_with`. Gradients describe small changes and explain
nothing; `measures.sweep` measures the removal of a head.
"""

from collections.abc import Callable, Iterable
from functools import lru_cache, partial

import numpy as np
import torch
from numpy.polynomial.legendre import leggauss
from torch import Tensor

from model.config import EncoderConfig
from model.edits import no_quantity
from model.encoder import Encoder, EncoderLayer
from model.errors import nearest
from model.heads import network_for
from model.measures.alike import vector_of
from model.measures.sweep import MOST_NUMBERS
from model.pipeline import SPECIAL_TOKENS, Pipeline, TextReader
from model.trace import Trace, hooked
from model.variants.pooled import Pooled

Named = int | str
Of = Named | Callable[[Tensor], Tensor]
TOKENS = "embedding.tokens"  # token embeddings before positions
ANSWERS = ("logits", "tags", "labels", "bounds")
BOUNDS = ("start", "end")


def gradients(
    pipeline: Pipeline, x: object, keys: Iterable[str], of: Of, against: Named | None = None, token: int | None = None
) -> dict[str, np.ndarray]:
    """{key: gradient of the answer by each number}, shaped as in a trace.

    x: an input, or a Trace of it; edits are ignored. Raises ValueError if the network has no such answer, EditError for
    an unknown key.
    """
    kept: dict[str, Tensor] = {}

    def keep(key: str, value: Tensor) -> Tensor:
        kept[key] = value if value.requires_grad else value.requires_grad_()
        return value

    keys = [*keys]
    for key in keys:
        if key not in pipeline.graph or pipeline.graph[key].aside:
            raise no_quantity(key, pipeline.graph)
    _, inputs = pipeline.inputs(x)
    with hooked(pipeline.network, {key: partial(keep, key) for key in keys}, gradients=True):
        answer = _answer(pipeline, pipeline.network(*inputs), of, against, token)
        found = torch.autograd.grad(answer.sum(), [*kept.values()], allow_unused=True, materialize_grads=True)
    return {key: gradient[0].numpy() for key, gradient in zip(kept, found, strict=True)}


def input_x_gradient(
    pipeline: Pipeline, x: object, of: Of, against: Named | None = None, token: int | None = None
) -> np.ndarray:
    """(token,): each token's vector times its gradient: its share of the answer if the network were linear.

    Source: Shrikumar et al. 2016, "Not Just a Black Box".
    """
    return _times_gradient(pipeline, x, [TOKENS], of, against, token)[0].sum(-1)


def integrated_gradients(
    pipeline: Pipeline,
    x: object,
    of: Of,
    against: Named | None = None,
    token: int | None = None,
    baseline: object = None,
    steps: int = 32,
) -> np.ndarray:
    """(token,): integrated gradients along the straight path from a baseline to the input.

    They add up to the answer minus that of the baseline, more exactly with more steps. baseline: another input with as
    many tokens; None: the sentence with all words masked, or a picture of zeros. Positions stay unchanged. Source:
    Sundararajan et al. 2017, "Axiomatic Attribution for Deep Networks", with Gauss-Legendre quadrature.
    """
    trace = x if isinstance(x, Trace) else pipeline(x)
    _, inputs = pipeline.inputs(trace)
    if baseline is None:
        baseline = _saying_nothing(pipeline, trace)
    start = pipeline.run_of(baseline)[TOKENS][0].clone()
    way = torch.tensor(trace[TOKENS]) - start
    total = torch.zeros_like(way)
    places, weights = map(torch.tensor, leggauss(steps))
    most = max(1, MOST_NUMBERS // (len(way) * max(pipeline.config.d_ff, pipeline.config.vocab_size)))
    for some, weight in zip(places.split(most), weights.split(most), strict=True):
        points = (start + ((some[:, None, None] + 1) / 2).to(way) * way).requires_grad_()
        with hooked(pipeline.network, {TOKENS: partial(_instead, points)}, gradients=True):
            answer = _answer(pipeline, pipeline.network(*inputs), of, against, token)
            (gradient,) = torch.autograd.grad(answer @ weight.to(answer) / 2, points)
        total += gradient.sum(0)
    return (way * total).sum(-1).numpy()


def _instead(points: Tensor, _value: Tensor) -> Tensor:
    return points


def _saying_nothing(pipeline: Pipeline, trace: Trace) -> object:
    if not isinstance(pipeline.reader, TextReader):
        return np.zeros_like(trace.picture)
    if "[MASK]" not in pipeline.reader.vocabulary:
        raise ValueError(f"{pipeline.name} has no token that hides a word: say from where, baseline=…")
    words = [place for place, token in enumerate(trace.tokens) if token not in SPECIAL_TOKENS]
    return pipeline.reader.hide(trace.ids, words)


def head_importance(
    pipeline: Pipeline, x: object, of: Of, against: Named | None = None, token: int | None = None
) -> np.ndarray:
    """(layer, head): loss of the answer without each head of the encoder, extrapolated linearly.

    The mean absolute value over many inputs is the importance of Michel et al. 2019, "Are Sixteen Heads Really Better
    than One?", equation 2.
    """
    heads = [f"layers.{layer}.attention.heads" for layer in range(pipeline.config.layers)]
    return np.stack([each.sum((1, 2)) for each in _times_gradient(pipeline, x, heads, of, against, token)])


def _times_gradient(
    pipeline: Pipeline, x: object, keys: Iterable[str], of: Of, against: Named | None, token: int | None
) -> list[np.ndarray]:
    trace = x if isinstance(x, Trace) else pipeline(x)
    return [trace[key] * gradient for key, gradient in gradients(pipeline, trace, keys, of, against, token).items()]


def _answer(pipeline: Pipeline, output: Tensor, of: Of, against: Named | None, token: int | None) -> Tensor:
    """(batch,): the answer, from the network's output."""
    if callable(of):
        return of(output)
    key = next((key for key in ANSWERS if key in pipeline.graph), None)
    if key is None:
        raise ValueError(
            f"{pipeline.name} gives no answer by words or classes: say by a function which number of what it puts out "
            "is meant, as in of=lambda vectors: vectors[:, 0, 3]"
        )
    if len(pipeline.graph[key].axes) > 1:
        if token is None:
            raise ValueError("there is an answer for each token: say of which, token=…")
        size = output.size(-1 if key == "bounds" else 1)
        if not 0 <= token < size:
            raise ValueError(f"there is no token {token}: there are {size}, counted from 0")
        if key == "bounds":
            output, of = output[:, _number_of(pipeline, of, 2)], token
        else:
            output = output[:, token]
    of = _number_of(pipeline, of, output.size(-1))
    if against is not None:
        return output[:, of] - output[:, _number_of(pipeline, against, output.size(-1))]
    if key == "labels":
        return output[:, of].sigmoid() if "answer" in pipeline.graph else output[:, of]
    return output.softmax(-1)[:, of]


def cosine_with(pipeline: Pipeline, other: object, way: Pooled | None = None) -> Callable[[Tensor], Tensor]:
    """A function for `of`: the cosine of the input's vector with that of another input.

    other: an input, or a Trace of it. way: how Z is pooled; default: as the checkpoint says. Raises ValueError if that
    is unknown, and for a network whose output is no vectors.
    """
    trace = other if isinstance(other, Trace) else pipeline(other)
    if pipeline.config.head not in ("none", "vector"):
        raise ValueError(f"{pipeline.name} puts out answers, not vectors: there is no cosine to take a gradient of")
    way = None if pipeline.graph.vector else way or trace.pooled
    v = torch.tensor(trace.vector if way is trace.pooled or way is None else vector_of(trace, way))

    def of(output: Tensor) -> Tensor:
        vectors = output.flatten(1) if way is None else torch.stack([way.made(Z)[-1][1] for Z in output])
        return torch.cosine_similarity(vectors, v.to(vectors), dim=-1)

    return of


def _number_of(pipeline: Pipeline, name: Named, most: int) -> int:
    """Index of a word or class in an answer of size `most`. Raises ValueError if there is none."""
    if isinstance(name, str):
        span = pipeline.config.head == "span"
        names = BOUNDS if span else getattr(pipeline, "target_vocabulary", pipeline.outputs)
        if name not in names:
            near = nearest(name, names, "another")
            raise ValueError(f"{pipeline.name} has no answer {name!r}; did you mean {near}?")
        return names.index(name)
    if not hasattr(name, "__index__") or not 0 <= name < most:
        raise ValueError(f"{pipeline.name} has answers from 0 to {most - 1}; there is no {name}")
    return name


def untrained(config: EncoderConfig) -> Encoder:
    """A randomly initialized network of these sizes, the same at every call."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return network_for(config).eval()


@lru_cache(maxsize=3)  # one for each of our encoders
def twin(config: EncoderConfig) -> Encoder:
    """`untrained`, cached for our own networks, with which it is often compared."""
    return untrained(config)


def gradient_lengths(network: Encoder, X_0: np.ndarray, token: int = 0, residual: bool = True) -> np.ndarray:
    """Length of the gradient of log p at the input of each layer, relative to that at Z: (1 + layers,).

    X_0: (token, d_model), input of the first layer. p: probability of the network's first answer, at `token`, or for a
    classifier of the whole input. residual=False: every sum X + Sublayer(X) is Sublayer(X) alone, with the same
    weights, so gradients pass only through sub-layers.

    Source: lecture notes 000 and 004 (a residual connection lets gradients through); He et al. 2016, "Identity Mappings
    in Deep Residual Networks".
    """
    states = [torch.tensor(X_0)[None].requires_grad_()]
    for layer in network.layers:
        states.append(layer(states[-1]) if residual else _without_residual(layer, states[-1]))
    Z = network.norm(states[-1])
    logits = network.read_out(Z[:, token] if network.config.head == "masked-word" else Z)[0]
    gradients = torch.autograd.grad(logits.log_softmax(-1).max(), states)
    lengths = torch.stack([gradient.norm() for gradient in gradients])
    return (lengths / lengths[-1]).numpy()


def _without_residual(layer: EncoderLayer, x: Tensor) -> Tensor:
    """Output of a layer for x (batch, token, d_model) without residual connections."""
    if layer.norm_first:
        z = layer.norm_1(x)
        return layer.ffn(layer.norm_2(layer.attention(z, z)))
    return layer.norm_2(layer.ffn(layer.norm_1(layer.attention(x, x))))
