"""Every recorded quantity is what its row of the graph says: recomputed in NumPy from what it reads, it is the same.

One function for each operation, written as in the paper; nothing here knows where LayerNorm stands, what a head reads
or what kind of input there is.
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch

from model.encoder import Encoder
from model.graph import RULES, Quantity
from model.rule import sides
from model.trace import Trace, record
from tests.networks import ALL, TRANSLATORS, pipeline, trace_of

NETWORKS = [*ALL, *TRANSLATORS]
networks = pytest.mark.parametrize("name", NETWORKS)


def close(a: np.ndarray, b: np.ndarray, tolerance: float = 2e-5) -> None:
    assert a.shape == b.shape
    np.testing.assert_allclose(a, b, atol=tolerance * max(1.0, float(np.abs(b[np.isfinite(b)]).max(initial=0))))


# The operations: `of` is the quantity's run, `reads` the values that it is computed from.


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


def scale(of: Run, x: np.ndarray) -> np.ndarray:
    return x * np.float32(of.quantity.factor)


def token_dropout(of: Run, x: np.ndarray) -> np.ndarray:
    hidden = np.array([i == of.network.config.dropped for i in of.trace.ids])
    return (np.where(hidden, 0, 0.88)[:, None] / (1 - hidden.mean()) * x).astype(np.float32)


def cut(of: Run, image: np.ndarray) -> np.ndarray:
    P, places = of.network.config.patch_size, range(0, image.shape[-1], of.network.config.patch_size)
    return np.stack([image[..., y : y + P, x : x + P].ravel() for y in places for x in places])


def flatten(of: Run, image: np.ndarray) -> np.ndarray:
    return image.reshape(1, -1)


def linear(of: Run, x: np.ndarray) -> np.ndarray:
    return x @ of.numbers("weight").T + of.bias


def put_in_front(of: Run, x: np.ndarray) -> np.ndarray:
    return np.concatenate([in_front(of), x])


def in_front(of: Run) -> np.ndarray:
    own = dict(of.network.embedding.named_parameters(recurse=False))
    return np.concatenate([np.atleast_2d(own[name]) for name in ("cls", "distillation", "registers") if name in own])


def learned(of: Run) -> np.ndarray:
    return of.numbers("vector")


def positions(of: Run) -> np.ndarray:
    n, d_model = of.trace[of.quantity.key].shape
    if of.quantity.module:
        registers = np.zeros((of.network.config.registers, d_model))  # which take no place, behind the first token
        return np.insert(of.numbers("table")[: n - len(registers)], 1, registers, axis=0)
    angle = np.arange(n)[:, None] / 10_000 ** (np.arange(0, d_model, 2) / d_model)
    return np.stack([np.sin(angle), np.cos(angle)], axis=-1).reshape(n, d_model)  # sin, cos, sin, cos, …


def add(of: Run, *terms: np.ndarray) -> np.ndarray:
    return sum(terms)


def times(of: Run, one: np.ndarray, other: np.ndarray) -> np.ndarray:
    return one * other


def layer_scale(of: Run, x: np.ndarray) -> np.ndarray:
    return x * of.numbers("scale")


def norm(of: Run, x: np.ndarray) -> np.ndarray:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    if of.network.config.norm == "rms":
        mean, variance = 0.0, (x * x).sum(-1, keepdims=True) / x.shape[-1]
    epsilon = of.network.get_submodule(of.quantity.module).eps
    return of.numbers("weight") * (x - mean) / np.sqrt(variance + epsilon) + of.bias


def split(of: Run, x: np.ndarray) -> np.ndarray:
    return np.stack(np.split(x, of.config.heads, axis=-1))


def scores(of: Run, Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    return Q @ K.transpose(0, 2, 1)


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


def biased(of: Run, *terms: np.ndarray) -> np.ndarray:
    return sum(terms)


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


def weighted_sum(of: Run, A: np.ndarray, V: np.ndarray) -> np.ndarray:
    return A @ V


def concat(of: Run, heads: np.ndarray) -> np.ndarray:
    return np.concatenate(list(heads), axis=-1)


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
    return x * (1 + np.vectorize(math.erf, otypes=[np.float32])(x / np.sqrt(2))) / 2


def first(of: Run, x: np.ndarray) -> np.ndarray:
    return x[0]


def second(of: Run, x: np.ndarray) -> np.ndarray:
    return x[1]


def turn(of: Run, x: np.ndarray) -> np.ndarray:
    return x.T


def mean(of: Run, *two: np.ndarray) -> np.ndarray:
    return np.mean(two, axis=0)


def patch_mean(of: Run, x: np.ndarray) -> np.ndarray:
    return x[of.network.config.tokens_in_front :].mean(axis=0)


def contribution(of: Run, heads: np.ndarray) -> np.ndarray:
    """x W with zeros for all heads but one, for each of them."""
    alone = heads[None] * np.eye(len(heads), dtype=np.float32)[:, :, None, None]  # (the one, head, token, d_k)
    return np.stack([concat(of, one) @ of.numbers("weight").T for one in alone])


OPERATIONS: dict[str, Callable[..., np.ndarray]] = {"input": input_} | {
    function.__name__: function
    for function in (
        look_up, scale, cut, flatten, learned, linear, put_in_front, positions, add, times, norm, split, rotate, scores,
        distances, at_distance, relative, biased, mask, softmax, weighted_sum, concat, activation, first, second, turn,
        mean, patch_mean, layer_scale, contribution, token_dropout,
    )
}  # fmt: skip


def recorded_and_asides(trace: Trace) -> list[str]:
    return [key for key in trace.graph.quantities if key in trace]


def recomputed(name: str, key: str) -> np.ndarray:
    """A quantity from what it reads: recorded values, and what is not recorded recomputed in turn."""
    trace, quantity = trace_of(name), pipeline(name).graph[key]
    reads = [trace[read] if read in trace else recomputed(name, read) for read in quantity.reads]
    return OPERATIONS[quantity.operation](Run(trace, pipeline(name).network, quantity), *reads)


@networks
def test_every_quantity_is_what_its_operation_makes_of_what_it_reads(name: str) -> None:
    trace = trace_of(name)
    for key in recorded_and_asides(trace):
        try:
            close(trace[key], recomputed(name, key))
        except AssertionError as error:
            raise AssertionError(key) from error


def test_every_operation_is_written_here_and_met_in_some_network() -> None:
    assert set(OPERATIONS) == set(RULES)
    met = (quantity for name in NETWORKS for quantity in pipeline(name).graph.quantities.values())
    assert {quantity.operation for quantity in met} == set(OPERATIONS)


@networks
def test_what_the_heads_contribute_adds_up_with_the_bias_to_the_output(name: str) -> None:
    trace, network = trace_of(name), pipeline(name).network
    keys = [key for key in recorded_and_asides(trace) if key.endswith("contributions")]
    assert len(keys) == sum(1 for key in trace if key.endswith(("attention.output", "cross.output")))
    for key in keys:
        attention = key.removesuffix(".contributions")
        bias = network.get_submodule(f"{attention}.W_O").bias
        close(trace[key].sum(axis=0) + (0 if bias is None else bias.numpy()), trace[f"{attention}.output"])


# The rules: from which cells each is computed. What is more than products and sums is said above.

MATRICES = {
    "look_up": ("weight",),
    "relative": ("weight",),
    "distances": ("weight",),
    "linear": ("weight", "bias"),
    "contribution": ("weight",),
    "norm": ("weight", "bias"),
    "layer_scale": ("scale",),
    "learned": ("vector",),
}
PRODUCTS, SUMS = (
    ("linear", "scores", "weighted_sum", "contribution"),
    ("add", "biased", "mean", "scale", "split", "concat", "cut", "flatten"),
)


def own_terms(of: Run) -> list[np.ndarray]:
    """The matrix and the bias whose letters a rule has behind those of what it reads."""
    if of.quantity.operation == "put_in_front":
        return [in_front(of)]
    module = of.network.get_submodule(of.quantity.module or "")
    own = [of.numbers(name) for name in MATRICES.get(of.quantity.operation, ()) if getattr(module, name) is not None]
    return [own[0].T, *own[1:]] if of.quantity.operation in ("linear", "contribution") else own


def sizes_of(of: Run, terms: list[np.ndarray], value: np.ndarray) -> dict[str, int]:
    """How many places each letter of a rule has: the same wherever it stands."""
    config, (rule, result) = of.network.config, sides(of.quantity.rule)
    side, P = config.patches_per_side, config.image_size if config.input == "flat" else config.patch_size
    inside = {"h": config.heads, "c": config.d_k, "k": config.channels, "r": side, "s": side, "y": P, "x": P}
    sizes: dict[str, int] = {}
    for axes, array in zip((*rule, result), (*terms, value), strict=True):
        for letters, length in zip(axes, array.shape, strict=True):
            if not letters.isdigit():
                known = math.prod(inside[letter] for letter in letters) if letters[1:] else length
                assert sizes.setdefault(letters, known) == length, (of.quantity.key, letters)
    return inside | sizes


@networks
def test_products_and_sums_are_what_their_rule_says_and_each_letter_has_one_size(name: str) -> None:
    trace, network = trace_of(name), pipeline(name).network
    for quantity in trace.graph.quantities.values():
        if quantity.layer not in (None, 0) or quantity.operation in ("input", "positions"):
            continue
        run = Run(trace, network, quantity)
        reads = [trace[read] if read in trace else recomputed(name, read) for read in quantity.reads]
        terms, value = reads + own_terms(run), recomputed(name, quantity.key)
        sizes, (rule, result) = sizes_of(run, terms, value), sides(quantity.rule)
        left = "".join(result)
        letters = ["".join(axes).lstrip("01") for axes in rule]
        if quantity.operation not in (*PRODUCTS, *SUMS, "first", "second"):
            continue
        rows = [term[int(axes[0])] if axes[0].isdigit() else term for axes, term in zip(rule, terms, strict=True)]
        parts = [row.reshape([sizes[x] for x in of]) for of, row in zip(letters, rows, strict=True)]
        if quantity.operation in PRODUCTS:
            found = np.einsum(f"{letters[0]},{letters[1]}->{left}", *parts[:2], optimize=True) + sum(parts[2:])
        else:
            kept = "".join(letter for letter in left if letter in letters[0])  # a new axis has one place
            found = quantity.factor * sum(np.einsum(f"{letters[0]}->{kept}", part) for part in parts)
        close(found.reshape(value.shape).astype(np.float32), value)


@networks
def test_the_answer_is_the_softmax_of_the_logits(name: str) -> None:
    for guess in trace_of(name).answer:
        p = recomputed(name, "answer")
        p = p if guess.token is None else p[guess.token]
        best = np.sort(p)[::-1][: len(guess.labels)]
        np.testing.assert_allclose(sorted(guess.probabilities, reverse=True), best, atol=1e-5)


@networks
def test_a_norm_gives_mean_0_and_variance_1_or_mean_square_1_before_its_scale_and_shift(name: str) -> None:
    trace, network = trace_of(name), pipeline(name).network
    for key in trace:
        if trace.quantity(key).operation == "norm":
            module = network.get_submodule(key)
            core = (trace[key] - (0 if module.bias is None else module.bias.numpy())) / module.weight.numpy()
            core = np.atleast_2d(core)
            close((core**2).mean(-1), np.ones(len(core)), 1e-2)
            if network.config.norm == "layer":
                close(core.mean(-1), np.zeros(len(core)), 1e-3)


# What is recorded.


@networks
def test_what_is_recorded_is_what_the_graph_says_in_its_order_with_its_axes(name: str) -> None:
    trace, encoder = trace_of(name), pipeline(name).config
    assert trace.keys() == [quantity.key for quantity in trace.graph if quantity.traced]
    n, target = len(trace.tokens), len(getattr(trace, "target_tokens", ()))
    for key in recorded_and_asides(trace):
        config = trace.graph.decoder if trace.graph.decoder and key.startswith(("decoder.", "logits")) else encoder
        sizes = {"head": config.heads, "token": n, "target": target, "d_k": config.d_k, "d_model": config.d_model}
        sizes["d_E"] = config.d_embedding
        sizes |= {
            "d_ff": config.d_ff,
            "bound": 2,
            "projection": config.projection,
            "probe": 1,
            "class": config.classes,
            "word": config.vocab_size,
        }
        asks = target if key.startswith("decoder.") else n
        looked_at = n if ".cross." in key else asks
        here = sizes | {"query": asks, "key": looked_at, "distance": 2 * n - 1}
        assert trace[key].shape == tuple(here[axis] for axis in trace.axes(key)), key
        assert trace[key].dtype == np.float32
        assert not trace[key].flags.writeable


@networks
def test_every_key_is_the_path_of_its_module(name: str) -> None:
    assert set(trace_of(name).keys()) <= {path for path, _ in pipeline(name).network.named_modules()}


@networks
def test_every_parameter_is_some_quantitys_and_those_used_twice_are_tied(name: str) -> None:
    network, used = pipeline(name).network, set()
    for quantity in pipeline(name).graph:
        if quantity.module:
            own = {id(parameter) for parameter in network.get_submodule(quantity.module).parameters(recurse=False)}
            assert own and quantity.tied == bool(own & used), quantity.key
            used |= own
    left = {name for name, parameter in network.named_parameters() if id(parameter) not in used}
    assert left <= {"decoder.embedding.language.weight"}  # two rows more of what looks words up


# The reads are complete: what changes when a quantity changes is what is computed from it, and nothing else.


def inputs(name: str) -> tuple[torch.Tensor, ...]:
    """What the network itself reads: the source, and for a translator the target."""
    trace, source = trace_of(name), pipeline(name).reader.read(trace_of(name).subject).tensor
    return (source, torch.tensor([trace.target_ids])) if name in TRANSLATORS else (source,)


def downstream(name: str, key: str) -> set[str]:
    """What must change with `key`: all that is computed from it, but a softmax of one number is 1, whatever that is."""
    trace, changed = trace_of(name), {key}
    for quantity in trace.graph:
        alone = quantity.operation == "softmax" and quantity.traced and trace[quantity.key].shape[-1] == 1
        if changed & set(quantity.reads) and not alone:
            changed.add(quantity.key)
    return {key for key in changed if key in trace}


def noisy(seed: int, value: torch.Tensor, _kept: object) -> torch.Tensor:
    return value + torch.randn(value.shape, generator=torch.Generator().manual_seed(seed))


@networks
def test_a_change_reaches_what_is_computed_from_it_and_nothing_else(name: str) -> None:
    network, given = pipeline(name).network, inputs(name)
    _, before = record(network, *given)
    keys = list(before)
    for seed, key in enumerate(keys[:: max(1, len(keys) // 12)]):
        _, after = record(network, *given, edits=[(key, partial(noisy, seed))])
        assert {k for k in keys if not torch.equal(before[k], after[k])} == downstream(name, key), key
