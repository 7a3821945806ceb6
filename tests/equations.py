"""The equations of an encoder in NumPy, a row for each operation of the graph, written as in the paper.

Nothing here knows where LayerNorm stands, what a head reads or what kind of input there is.
"""

import math
from collections.abc import Callable

import numpy as np
import torch

from model.encoder import Encoder
from model.operations import Quantity
from model.trace import Trace


class Run:
    """One quantity of one run: what the operations may ask beside the values that they read."""

    def __init__(self, trace: Trace, network: Encoder, quantity: Quantity) -> None:
        self.trace, self.network, self.quantity = trace, network, quantity
        self.decoder = quantity.key.startswith("decoder.")
        self.config = network.decoder_config if self.decoder else network.config

    def numbers(self, name: str) -> np.ndarray:
        """A parameter of the module whose weights the quantity uses."""
        return self.network.get_submodule(self.quantity.module).get_parameter(name).numpy()

    @property
    def bias(self) -> np.ndarray | float:
        """That of the module, where it has one."""
        return 0.0 if self.network.get_submodule(self.quantity.module).bias is None else self.numbers("bias")


def input_(of: Run) -> np.ndarray:
    if of.trace.picture is not None:
        return of.trace.picture
    if of.quantity.key == "segments":
        return np.array(of.trace.segments)
    return np.array(of.trace.target_ids if of.decoder else of.trace.ids)


def look_up(of: Run, ids: np.ndarray) -> np.ndarray:
    E = of.numbers("weight")
    if of.decoder and of.config.language_first:  # the names of the languages stand behind the vocabulary
        E = np.concatenate([E, of.network.decoder.embedding.language.weight.numpy()])
    return E[ids]


def token_dropout(of: Run, x: np.ndarray) -> np.ndarray:
    hidden = np.array([i == of.network.config.dropped for i in of.trace.ids])
    return (np.where(hidden, 0, 0.88)[:, None] / (1 - hidden.mean()) * x).astype(np.float32)


def cut(of: Run, image: np.ndarray) -> np.ndarray:
    P, places = of.network.config.patch_size, range(0, image.shape[-1], of.network.config.patch_size)
    return np.stack([image[..., y : y + P, x : x + P].ravel() for y in places for x in places])


def in_front(of: Run) -> np.ndarray:
    own = dict(of.network.embedding.named_parameters(recurse=False))
    return np.concatenate([np.atleast_2d(own[name]) for name in ("cls", "distillation", "registers") if name in own])


def positions(of: Run) -> np.ndarray:
    n, d_model = of.trace[of.quantity.key].shape
    if of.quantity.module:
        registers = np.zeros((of.network.config.registers, d_model))  # which take no place, behind the first token
        return np.insert(of.numbers("table")[: n - len(registers)], 1, registers, axis=0)
    angle = np.arange(n)[:, None] / 10_000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d_model)  # sin, cos, sin, cos, …


def norm(of: Run, x: np.ndarray) -> np.ndarray:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    if of.network.config.norm == "rms":
        mean, variance = 0.0, (x * x).sum(-1, keepdims=True) / x.shape[-1]
    epsilon = of.network.get_submodule(of.quantity.module).eps
    return of.numbers("weight") * (x - mean) / np.sqrt(variance + epsilon) + of.bias


def rotate(of: Run, x: np.ndarray) -> np.ndarray:
    """Pairs of numbers as complex ones, each times e^(i·angle)."""
    config, layer, half = of.network.config, of.quantity.layer, x.shape[-1] // 2
    base = config.local_base if layer in config.local else config.rotary_base
    angle = np.arange(x.shape[1])[:, None] / base ** (np.arange(half) / half)
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angle)
    return np.concatenate([turned.real, turned.imag], axis=-1).astype(np.float32)


def distances(of: Run) -> np.ndarray:
    """A row for each distance of a key from a query, from far before to far behind; far ones share rows."""
    config, table, n = of.network.config, of.numbers("weight"), len(of.trace.tokens)
    span, near, farthest = config.span, config.near, config.farthest

    def row(ahead: int) -> int:
        away = abs(ahead)
        if near and away > near:
            share = math.log(away / near) / math.log((farthest - 1) / near)
            away = near + math.ceil(share * (near - 1) - 1e-6)
        return min(max(span - away * (1 if ahead > 0 else -1), 0), 2 * span - 1)

    return table[[row(ahead) for ahead in range(1 - n, n)]]


def at_distance(of: Run, x: np.ndarray) -> np.ndarray:
    """Of (query, distance) or (key, distance), that of each pair."""
    n, to_content = len(of.trace.tokens), of.quantity.key.endswith("position_to_content")
    pairs = [[x[:, j if to_content else i, j - i + n - 1] for j in range(n)] for i in range(n)]
    return np.array(pairs).transpose(2, 0, 1)


def sloped(of: Run) -> np.ndarray:
    """B_ij = −m_h |j − i|; m_h = 2^(−8 h / H) for H heads, and where H is no power of 2 as its makers choose it."""
    heads, places = of.network.config.heads, np.arange(len(of.trace.tokens))
    power = 2 ** int(np.log2(heads))
    slopes = [2.0 ** (-8 * i / power) for i in range(1, power + 1)]
    between = [2.0 ** (-8 * i / (2 * power)) for i in range(1, 2 * power + 1)][::2]
    slopes += between[: heads - power]
    return -np.array(slopes)[:, None, None] * np.abs(places - places[:, None])


def relative(of: Run) -> np.ndarray:
    """Rows 0, 1, 2, … for keys 0, 1, 2, … before the query, the other half for those behind; far ones share a row."""
    _, n, _ = of.trace[of.quantity.key].shape
    table, attention = of.numbers("weight"), of.quantity.key.removesuffix(".relative")
    farthest, half = of.network.get_submodule(attention).farthest, len(table) // 2

    def row(away: int) -> int:
        if away < half // 2:
            return away
        share = math.log(away / (half // 2)) / math.log(farthest / (half // 2))
        return min(half - 1, half // 2 + int(share * (half - half // 2)))

    found = [[table[row(abs(j - i)) + half * (j > i)] for j in range(n)] for i in range(n)]
    return np.array(found).transpose(2, 0, 1)


def mask(of: Run, x: np.ndarray) -> np.ndarray:
    """Nothing is hidden, but in a decoder the words that are not written yet, and what lies outside of a window."""
    later = np.triu(np.ones(x.shape[1:], bool), 1) & (of.decoder and ".attention." in of.quantity.key)
    config = of.network.config
    if of.quantity.layer in config.local and not of.decoder:
        near = sum(np.eye(x.shape[-1], k=k, dtype=bool) for k in range(-config.window, config.window + 1))
        later = later | (near == 0)
    return np.where(later, -np.inf, x)


def softmax(of: Run, x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def activation(of: Run, x: np.ndarray) -> np.ndarray:
    match of.quantity.function:
        case "relu":
            return np.maximum(x, 0)
        case "tanh":
            return np.tanh(x)
        case "sigmoid":
            return 1 / (1 + np.exp(-x))
        case "silu":
            return x / (1 + np.exp(-x))
        case "gelu-quick":
            return x / (1 + np.exp(-1.702 * x))
        case "gelu-tanh":
            return x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))) / 2
        case "gelu":
            return x * (1 + torch.erf(torch.from_numpy(x / np.sqrt(2))).numpy()) / 2
    raise KeyError(of.quantity.function)


def contribution(of: Run, heads: np.ndarray) -> np.ndarray:
    """x W with zeros for all heads but one, for each of them."""
    alone = heads[None] * np.eye(len(heads), dtype=np.float32)[:, :, None, None]  # (the one, head, token, d_k)
    return np.stack([np.concatenate(list(one), axis=-1) @ of.numbers("weight").T for one in alone])


#: Operation -> its equation, of the quantity and of what that reads.
OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    "input": input_,
    "look_up": look_up,
    "scale": lambda of, x: x * np.float32(of.quantity.factor),
    "token_dropout": token_dropout,
    "cut": cut,
    "flatten": lambda of, image: image.reshape(1, -1),
    "linear": lambda of, x: x @ of.numbers("weight").T + of.bias,
    "put_in_front": lambda of, x: np.concatenate([in_front(of), x]),
    "learned": lambda of: of.numbers("vector"),
    "positions": positions,
    "add": lambda of, *terms: sum(terms),
    "times": lambda of, one, other: one * other,
    "layer_scale": lambda of, x: x * of.numbers("scale"),
    "norm": norm,
    "split": lambda of, x: np.stack(np.split(x, of.config.heads, axis=-1)),
    "scores": lambda of, Q, K: Q @ K.transpose(0, 2, 1),
    "rotate": rotate,
    "distances": distances,
    "at_distance": at_distance,
    "sloped": sloped,
    "relative": relative,
    "biased": lambda of, *terms: sum(terms),
    "mask": mask,
    "softmax": softmax,
    "weighted_sum": lambda of, A, V: A @ V,
    "concat": lambda of, heads: np.concatenate(list(heads), axis=-1),
    "contribution": contribution,
    "activation": activation,
    "first": lambda of, x: x[0],
    "second": lambda of, x: x[1],
    "turn": lambda of, x: x.T,
    "mean": lambda of, *two: np.mean(two, axis=0),
    "patch_mean": lambda of, x: x[of.network.config.tokens_in_front :].mean(axis=0),
}


def computed(trace: Trace, network: Encoder, key: str) -> tuple[np.ndarray, list[np.ndarray]]:
    """A quantity from what it reads, and that: recorded values, and what is not recorded recomputed in turn."""
    quantity = trace.graph[key]
    reads = [trace[read] if read in trace else computed(trace, network, read)[0] for read in quantity.reads]
    return OPERATIONS[quantity.operation](Run(trace, network, quantity), *reads), reads


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 2e-5) -> None:
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, atol=tolerance * max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0))))
