"""Decompose a residual stream vector, a score or a logit into the contributions of all earlier parts.

From the embedding to a query or key there are only sums, matrix products, rotations and LayerNorm. LayerNorm divides by
the standard deviation of the whole vector; each deviation is held as in this run. This is the only approximation: the
rest is linear, and the parts add up. They say what a number consists of, not what it would be without one of them: then
deviations and later layers would change, too.

`made_of` opens a part of an answer's lead further: attention into heads, a head into what it takes from each token, and
that into the sources of that token, back to the words.

A source is named by its key, "embedding.tokens", "layers.0.ffn.output"; a single head is "layers.0.attention.heads[2]".
BIAS is the sum of all biases, DISTANCE what the distance of two tokens adds to a score, EDIT the contribution of edits.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from model.analysis import softmax
from model.graph import Graph, Sublayer
from model.operations import Quantity
from model.rms import centred
from model.rule import EVERY
from model.trace import Trace
from model.variants.rotary import turned

#: Endings of the keys at which decomposition stops.
SOURCES = (
    "embedding.tokens", "embedding.segments", "embedding.positions",
    "attention.output", "cross.output", "ffn.output",
)  # fmt: skip
#: The operations that decomposition passes through.
SUMS = ("add", "mean", "patch_mean", "layer_scale", "norm", "linear", "first", "second")
BIAS, DISTANCE, EDIT = "bias", "distance", "edit"
ROUNDING = 1e-5  # rounding error of a float32 sum
Sum = dict[Any, np.ndarray]  # name of a source, or a pair of names -> its part, float64


@dataclass(frozen=True)
class Scores:
    """Unmasked scores of one head by pairs of sources: parts (source of query, source of key, query, key).

    In self-attention, queries and keys have the same sources; in cross-attention, keys have those of the encoder's Z.
    """

    of_queries: tuple[str, ...]
    of_keys: tuple[str, ...]
    parts: np.ndarray

    def above_mean(self, query: int, key: int, visible: np.ndarray) -> tuple[float, np.ndarray]:
        """The mean of a row, and how much each pair of sources raises one score above it; their sum is the score.

        A number added to a whole row changes no weight, so softmax sees only differences from the mean. visible: the
        keys that each query may attend to, (query, key).
        """
        row = self.parts[:, :, query]
        means = row[:, :, visible[query]].mean(-1)
        return float(means.sum()), row[:, :, key] - means

    def weights(self, query: int, visible: np.ndarray, without: str | None = None) -> np.ndarray:
        """The weights of a row; with `without`, without the contribution of one source to its keys."""
        kept = [name != without for name in self.of_keys]
        return softmax(np.where(visible[query], self.parts[:, kept, query].sum((0, 1)), -np.inf))

    def shares(self, visible: np.ndarray) -> np.ndarray:
        """(source of query, source of key): share of each pair in what softmax sees, over all rows.

        They sum to 1; a pair that works against the others is negative. All are 0 where scores differ by rounding.
        """
        means = self.parts.mean(-1, keepdims=True, where=visible)
        seen = np.where(visible, self.parts - means, 0)
        whole = seen.sum((0, 1))
        differ = np.abs(whole).max() > ROUNDING * np.abs(self.parts).max()
        return (seen * whole).sum((2, 3)) * differ / max(float((whole**2).sum()), np.finfo(float).tiny)


def of_attention(
    trace: Trace,
    attention: Sublayer,
    head: int,
    heads: bool = False,
    queries: slice = EVERY,
    known: Mapping[str, Sum] = MappingProxyType({}),
) -> Scores:
    """(x W_Q + b_Q) (memory W_K + b_K)ᵀ / √d_k of one head, expanded: each source of x with each of memory.

    A relative position bias is a source of its own, for both query and key. The product of a query with the key of a
    distance counts as a source of the key, that of a key with the query of a distance as a source of the query.
    queries: only these rows, to save memory. known: decompositions of what it reads by other sources.

    Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits": the QK circuit, there without
    LayerNorm.
    """
    names = ("Q", "K", "scores", "scaled", "relative", "biased")
    Q, K, S, scaled, B, biased = (f"{attention.prefix}{name}" for name in names)
    asking = EVERY if trace.edited else queries  # edits apply to whole quantities
    of_memory = of_sum(trace, attention.memory or attention.reads, heads, known=known)
    if attention.memory is None or known:
        of_x = {name: part[asking] for name, part in known.get(attention.reads, of_memory).items()}
    else:
        of_x = of_sum(trace, attention.reads, heads, asking)
    q, k = _projected(trace, Q, of_x, head), _projected(trace, K, of_memory, head)
    if f"{Q}_rotated" in trace.graph:
        q, k = _turned(trace, Q, q, head, asking), _turned(trace, K, k, head)
    scores = {(a, b): q[a] @ k[b].T for a in q for b in k}
    if trace.config.distance_terms:
        scores = _with_distances(trace, attention.prefix, scores, q, k, head, asking)
    parts = _edited(trace, S, scores, {}, (EDIT, EDIT), head)
    if scaled in trace.graph:
        scores = parts
        parts = {pair: part * trace.graph[scaled].factor for pair, part in scores.items()}
        parts = _edited(trace, scaled, parts, {S: scores}, (EDIT, EDIT), head)
    if biased in trace.graph:
        without = parts
        parts = parts | {(DISTANCE, DISTANCE): value_of(trace, B)[head][asking]}
        parts = _edited(trace, biased, parts, {trace.graph[biased].reads[0]: without}, (EDIT, EDIT), head)
    of_queries, of_keys = (_in_order(names) for names in zip(*parts, strict=True))
    if attention.memory is None:
        of_queries = of_keys = _in_order(of_queries + of_keys)
    nothing = np.zeros_like(next(iter(parts.values())))
    table = np.array([[parts.get((a, b), nothing) for b in of_keys] for a in of_queries])
    return Scores(of_queries, of_keys, table if asking == queries else table[:, :, queries])


@dataclass(frozen=True)
class Lead:
    """The lead of one logit over another, and the contribution of each source.

    parts: increase of the lead when the sources are added one by one, in order of computation, to the vector that the
    head reads, starting with all biases, including the head's. They add up to the lead. exact: the head is linear, so
    they do not depend on this order.
    """

    value: float
    parts: dict[str, float]
    exact: bool


def of_lead(trace: Trace, output: int, against: int, token: int = 0, heads: bool = False) -> Lead:
    """The lead of the logit of `output` over that of `against`, by source. token: for words, the position of
    the guess. heads: each head as a source, after what else its attention wrote.
    """
    reads = slice(token, token + 1) if trace.config.head == "masked-word" else slice(0, len(trace.config.read_alone))
    reads = EVERY if trace.config.patch_head or trace.config.pooling == "mean" else reads
    followed = EVERY if trace.edited else reads  # edits apply to whole quantities
    if exact := is_sum(trace.graph, "logits"):
        logits = _in_turn(trace, "logits", heads, followed)
        parts = {name: float(part[output] - part[against]) for name, part in logits.items()}
        return Lead(sum(parts.values()), {BIAS: 0.0} | parts, exact)
    sources = {BIAS: np.zeros_like(trace.Z[followed], float)} | _in_turn(trace, trace.graph.Z, heads, followed)
    vectors = np.stack([*sources.values()])[:, reads if followed != reads else EVERY]
    leads = _leads(trace, np.cumsum(vectors, axis=0), output, against)
    steps = np.diff(leads, prepend=0.0).tolist()
    return Lead(float(leads[-1]), dict(zip(sources, steps, strict=True)), exact)


def _in_turn(trace: Trace, key: str, heads: bool, tokens: slice) -> Sum:
    """`of_sum`; with `heads`, each attention as what is left of it, followed by its heads."""
    sources = of_sum(trace, key, tokens=tokens)
    if not heads:
        return sources
    fine, found = of_sum(trace, key, True, tokens), dict[Any, np.ndarray]()
    for name, part in sources.items():
        own = {one: fine[one] for one in fine if one.startswith(f"{name.removesuffix('output')}heads[")}
        found |= {name: part - sum(own.values())} | own
    return found


def _leads(trace: Trace, vectors: np.ndarray, output: int, against: int) -> np.ndarray:
    """The lead that the head computes from each of some vectors (part, token, d_model)."""
    with torch.inference_mode():
        read, network = torch.from_numpy(vectors).float(), trace.network
        if trace.config.head == "masked-word":  # compute only these two of thousands of words
            last, two = network.logits, [output, against]
            bias = None if last.bias is None else last.bias[two]
            found = functional.linear(network.transform(read), last.weight[two], bias)
        else:
            found = network.read_out(read)[..., [output, against]]
    leads: np.ndarray = (found[..., 0] - found[..., 1]).reshape(-1).double().numpy()
    return leads


@dataclass(frozen=True)
class Part:
    """The contribution of one place in the network to what the answer is read from; `made_of` decomposes it further.

    That target is one number, the lead, if the head is linear; else the vector that the head reads.

    name: of a source, of a head, "layers.0.attention.heads[2]", or of the value it takes from one token,
    "layers.0.attention.V[2]". token: its position; None: of no one token. value: the contribution, a number or
    (d_model,). slope: derivative of the target by each number of the place, all else held constant, (number,) or
    (d_model, number); None if it cannot be decomposed.
    """

    name: str
    token: int | None
    value: np.ndarray
    slope: np.ndarray | None = None


def all_of_it(trace: Trace, output: int, against: int, token: int = 0) -> Part:
    """The whole to start from: the lead of `output` over `against`, or the vector that the head reads for it."""
    if is_sum(trace.graph, "logits"):
        logits = value_of(trace, "logits")
        slope = np.zeros(len(logits))
        slope[output] += 1
        slope[against] -= 1
        return Part("logits", 0, slope @ logits, slope)
    if "pooled" in trace.graph:
        mean = value_of(trace, "pooled")
        return Part("pooled", 0, mean, np.eye(len(mean)))
    Z = value_of(trace, trace.graph.Z)[token if trace.config.head == "masked-word" else 0]
    return Part(trace.graph.Z, token if trace.config.head == "masked-word" else 0, Z, np.eye(len(Z)))


def made_of(trace: Trace, part: Part) -> list[Part]:
    """The parts that add up to a part. Empty for words, positions and biases.

    Attention consists of heads, a head of what it takes from each token, and that, like an FFN, of what was read there.
    Deviations of LayerNorm, attention weights, and the share of each neuron's input that passes its activation are held
    constant, so the parts add up. Contributions of edits are EDIT. Raises ValueError if an edit prevents the
    decomposition.
    """
    if part.slope is None:
        return []
    key, head = part.name.removesuffix("]").partition("[")[::2]
    prefix, slope, token = key.rpartition(".")[0] + ".", part.slope, part.token or 0
    if key.endswith("attention.output"):
        linear, heads = trace.network.get_submodule(trace.graph[key].module or ""), value_of(trace, f"{prefix}heads")
        slopes = np.split(slope @ linear.weight.double().numpy(), len(heads), axis=-1)
        found = [Part(f"{prefix}heads[{i}]", token, one @ heads[i, token], one) for i, one in enumerate(slopes)]
        found += _bias_part(linear, slope)
    elif key.endswith("attention.heads"):
        weights, V = (value_of(trace, f"{prefix}{name}")[int(head)] for name in ("weights", "V"))
        found = [
            Part(f"{prefix}V[{head}]", i, weight * slope @ V[i], weight * slope)
            for i, weight in enumerate(weights[token])
        ]
    elif key.endswith("attention.V"):
        d_k = slope.shape[-1]
        rows = slice(int(head) * d_k, (int(head) + 1) * d_k)
        module = trace.graph[trace.graph[key].reads[0]].module or ""
        found = _through(trace, module, trace.graph.sublayer(prefix).reads, token, slope, rows)
    elif key.endswith("ffn.output"):
        linear = trace.network.get_submodule(trace.graph[key].module or "")
        module, passes = let_through(trace, prefix)
        inside = slope @ linear.weight.double().numpy() * passes[token]
        found = _through(trace, module, trace.graph.sublayer(prefix).reads, token, inside)
        found += _bias_part(linear, slope)
    elif key.endswith(SOURCES):
        return []
    else:
        found = _followed(trace, key, token, slope)
    found = _merged(found)
    rest = part.value - sum(one.value for one in found)
    if trace.edits and np.abs(rest).max() > ROUNDING * max(1.0, np.abs(part.value).max()):
        found.append(Part(EDIT, None, rest))
    return found


def opened(trace: Trace, whole: Part, branch: Sequence[int]) -> list[Part]:
    """The parts opened one after the other: `whole`, then each by its index among the parts of the one before, as far
    as the indices exist.
    """
    if not branch:
        return [whole]
    parts = made_of(trace, whole)
    return [whole, *(opened(trace, parts[branch[0]], branch[1:]) if branch[0] < len(parts) else [])]


def leads_of(trace: Trace, way: Sequence[Part], parts: Sequence[Part], output: int, against: int) -> np.ndarray:
    """Contribution of each part to the lead, (part,): its value; or, as in `of_lead`, how much the lead grows as it
    joins what came before, biases first.

    way: the parts opened to get there, as of `opened`; `parts` are what the last is made of.
    """
    values = np.array([part.value for part in parts])
    if values.ndim == 1:
        return values
    before = np.zeros_like(way[0].value)
    for above, part in pairwise(way):
        others = _biases_first(made_of(trace, above))
        names = [(one.name, one.token) for one in others]
        before = before + sum(one.value for one in others[: names.index((part.name, part.token))])
    order = sorted(range(len(parts)), key=lambda i: parts[i].name != BIAS)
    leads = _leads(trace, np.cumsum([before, *values[order]], axis=0)[:, None], output, against)
    leads[0] *= len(way) > 1  # at the beginning the head's own bias counts to the first
    found = np.empty(len(parts))
    found[order] = np.diff(leads)
    return found


def _biases_first(parts: Sequence[Part]) -> list[Part]:
    return sorted(parts, key=lambda part: part.name != BIAS)


def _followed(trace: Trace, key: str, token: int, slope: np.ndarray) -> list[Part]:
    """Decompose one token of a quantity, backwards, by the sources of `of_sum`. slope: as of a Part."""
    if key.endswith(SOURCES):
        return [Part(key, token, slope @ value_of(trace, key)[token], slope)]
    quantity = trace.graph[key]
    if key in trace.edited or quantity.operation not in SUMS:
        raise ValueError(f"{key} is no sum of what earlier parts put in")
    read = quantity.reads[0]
    match quantity.operation:
        case "add" | "mean":
            share = slope / len(quantity.reads) if quantity.operation == "mean" else slope
            return [part for one in quantity.reads for part in _followed(trace, one, token, share)]
        case "norm":
            norm, x = trace.network.get_submodule(quantity.module or ""), value_of(trace, read)[token]
            bias = _bias_part(norm, slope)
            slope = slope * norm.weight.double().numpy() / np.sqrt((centred(norm, x) ** 2).mean() + norm.eps)
            slope = centred(norm, slope)
            return [*_followed(trace, read, token, slope), *bias]
        case "layer_scale":
            return _followed(trace, read, token, slope * _numbers(trace, quantity))
        case "patch_mean":
            patches = range(trace.config.tokens_in_front, len(trace.tokens))
            return [part for one in patches for part in _followed(trace, read, one, slope / len(patches))]
        case "linear":
            return _through(trace, quantity.module or "", read, token, slope)
    return _followed(trace, read, int(quantity.operation == "second"), slope)


def _through(trace: Trace, module: str, read: str, token: int, slope: np.ndarray, outputs: slice = EVERY) -> list[Part]:
    """Decompose x W + b backwards: the sources of what was read, and the bias."""
    linear = trace.network.get_submodule(module)
    W = linear.weight[outputs].double().numpy()
    return [*_followed(trace, read, token, slope @ W), *_bias_part(linear, slope, outputs)]


def _bias_part(module: nn.Module, slope: np.ndarray, outputs: slice = EVERY) -> list[Part]:
    """The contribution of a bias, if there is one."""
    return [] if module.bias is None else [Part(BIAS, None, slope @ module.bias[outputs].double().numpy())]


def _merged(parts: Sequence[Part]) -> list[Part]:
    """Merge parts with the same name and token; biases last."""
    found: dict[tuple[str, int | None], Part] = {}
    for part in parts:
        name, one = (part.name, part.token), part
        if before := found.get(name):
            slope = None if before.slope is None or part.slope is None else before.slope + part.slope
            one = Part(*name, before.value + part.value, slope)
        found[name] = one
    return sorted(found.values(), key=lambda part: part.name == BIAS)


def nbytes(trace: Trace, heads: bool = False) -> int:
    """Estimated memory for decomposing the last layer's stream: each source at each token, twice."""
    layers, inside = trace.graph.layers(), trace.config.heads if heads else 1
    return 16 * (4 + layers * (1 + inside)) * len(trace.tokens) * trace.config.d_model


def of_sum(
    trace: Trace,
    key: str,
    heads: bool = False,
    tokens: slice = EVERY,
    known: Mapping[str, Sum] = MappingProxyType({}),
) -> Sum:
    """Decompose a quantity of the residual stream, or computed from it, by source. Raises ValueError if it is no such
    sum.

    tokens: only these; allowed without edits, since each token is decomposed separately. known: quantities already
    decomposed for all tokens, where decomposition stops.
    """
    if key in known:
        return known[key]
    quantity = trace.graph[key]
    if key.endswith(SOURCES):
        attention = quantity.reads[-1:] == (key.removesuffix("output") + "concat",)
        parts = _each_head(trace, quantity) if heads and attention else {key: value_of(trace, key)}
        return {name: part[tokens] for name, part in parts.items()}
    if quantity.operation not in SUMS:
        raise ValueError(f"{key} is no sum of what earlier parts put in")
    reads = {read: of_sum(trace, read, heads, tokens, known) for read in quantity.reads}
    match quantity.operation:
        case "add":
            parts = _added(reads.values())
        case "mean":
            parts = {name: part / len(reads) for name, part in _added(reads.values()).items()}
        case "norm":
            parts = _normed(trace, quantity, reads[quantity.reads[0]], tokens)
        case "layer_scale":
            parts = {name: part * _numbers(trace, quantity) for name, part in reads[quantity.reads[0]].items()}
        case "patch_mean":
            front = trace.config.tokens_in_front
            parts = {name: part[front:].mean(0) for name, part in reads[quantity.reads[0]].items()}
        case "linear":
            parts = linear_of(trace, quantity.module or "", reads[quantity.reads[0]])
        case "first" | "second" as row:
            parts = {name: part[int(row == "second")] for name, part in reads[quantity.reads[0]].items()}
    return _edited(trace, key, parts, reads)


# -- the steps ---------------------------------------------------------------------------------------------------


def is_sum(graph: Graph, key: str) -> bool:
    """Whether only sums, matrix products and LayerNorm lie between a quantity and its sources."""
    quantity = graph[key]
    return key.endswith(SOURCES) or (quantity.operation in SUMS and all(is_sum(graph, read) for read in quantity.reads))


def let_through(trace: Trace, prefix: str) -> tuple[str, np.ndarray]:
    """Name of an FFN's first matrix (not the gate), and the share of its output that passes each neuron: (token,
    neuron).

    A gate is held constant.
    """
    hidden, passes = (value_of(trace, f"{prefix}{name}") for name in ("hidden", "activation"))
    if (up := trace.graph.get(f"{prefix}up")) is not None:
        return up.module or "", passes
    shares = np.divide(passes, hidden, out=np.zeros_like(hidden), where=hidden != 0)
    return trace.graph[f"{prefix}hidden"].module or "", shares


def _in_order(names: Iterable[str]) -> tuple[str, ...]:
    """Unique names in order of computation; those of many places last."""
    return tuple(sorted(dict.fromkeys(names), key=(BIAS, DISTANCE, EDIT).__contains__))


def value_of(trace: Trace, key: str) -> np.ndarray:
    """A recorded quantity as float64."""
    return trace[key].astype(np.float64)


def _numbers(trace: Trace, quantity: Quantity) -> np.ndarray:
    """The trained factors of LayerScale: (d_model,)."""
    numbers: np.ndarray = trace.network.get_submodule(quantity.module or "").scale.double().numpy()
    return numbers


def _added(sums: Iterable[Sum]) -> Sum:
    """Add sums, merging sources of the same name."""
    total: Sum = {}
    for parts in sums:
        for name, part in parts.items():
            total[name] = total[name] + part if name in total else part
    return total


def _normed(trace: Trace, quantity: Quantity, parts: Sum, tokens: slice) -> Sum:
    """γ ⊙ (x − μ) / σ + β with the σ of the whole vector in this run; for RMSNorm x / RMS in place of (x − μ) / σ."""
    norm, whole = trace.network.get_submodule(quantity.module or ""), value_of(trace, quantity.reads[0])[tokens]
    size = np.sqrt((centred(norm, whole) ** 2).mean(-1, keepdims=True) + norm.eps)
    normed = {name: norm.weight.double().numpy() / size * centred(norm, x) for name, x in parts.items()}
    return _added([normed, _bias(norm, whole.shape)])


def linear_of(trace: Trace, module: str, parts: Sum, outputs: slice = slice(None)) -> Sum:
    """x W + b."""
    linear = trace.network.get_submodule(module)
    W = linear.weight[outputs].double().numpy().T
    products = {name: x @ W for name, x in parts.items()}
    return _added([products, _bias(linear, next(iter(products.values())).shape, outputs)])


def _bias(module: nn.Module, shape: tuple[int, ...], outputs: slice = EVERY) -> Sum:
    """The bias at each token, if there is one."""
    return {} if module.bias is None else {BIAS: np.broadcast_to(module.bias[outputs].double().numpy(), shape)}


def _projected(trace: Trace, key: str, parts: Sum, head: int) -> Sum:
    """x W + b for the queries or the keys of one head: (token, d_k)."""
    product, d_k = trace.graph[trace.graph[key].reads[0]], trace[key].shape[-1]
    projected = linear_of(trace, product.module or "", parts, slice(head * d_k, (head + 1) * d_k))
    return _edited(trace, key, projected, {}, head=head)


def _with_distances(trace: Trace, prefix: str, products: Sum, q: Sum, k: Sum, head: int, asking: slice) -> Sum:
    """Scores of one head with its terms for distances: each part of a query times the keys of distances, and each part
    of a key times the queries of distances. products: of queries and keys; q, k: their parts.
    """
    n = len(trace.tokens)
    place = (np.arange(n - 1, 2 * n - 1) - np.arange(n)[:, None])[asking]  # (query, key): index of their distance
    parts = {f"{prefix}content_to_content": products}
    if (key := f"{prefix}K_distance") in trace.graph:
        K_R, row = value_of(trace, key)[head], np.arange(len(place))[:, None]
        parts[f"{prefix}content_to_position"] = {(a, DISTANCE): (part @ K_R.T)[row, place] for a, part in q.items()}
    if (key := f"{prefix}Q_distance") in trace.graph:
        Q_R, column = value_of(trace, key)[head], np.arange(n)
        parts[f"{prefix}position_to_content"] = {(DISTANCE, b): (part @ Q_R.T)[column, place] for b, part in k.items()}
    return _added(_edited(trace, key, own, {}, (EDIT, EDIT), head) for key, own in parts.items())


def _turned(trace: Trace, key: str, parts: Sum, head: int, tokens: slice = EVERY) -> Sum:
    """Rotated queries or keys of one head; each part separately, since rotation is linear."""
    speeds = trace.network.get_submodule(key.rpartition(".")[0]).speeds.double()
    whole, (_, *shape) = {}, trace[key].shape
    for name, part in parts.items():
        at_places = np.zeros(shape)
        at_places[tokens] = part
        whole[name] = turned(torch.from_numpy(at_places), speeds).numpy()[tokens]
    return _edited(trace, f"{key}_rotated", whole, {key: parts}, head=head)


def _each_head(trace: Trace, quantity: Quantity) -> Sum:
    """The output of an attention: head_i W_Oⁱ for each head, and b_O."""
    prefix, concat = quantity.key.removesuffix("output"), value_of(trace, quantity.reads[0])
    linear, count = trace.network.get_submodule(quantity.module or ""), len(trace[f"{prefix}heads"])
    pairs = zip(np.split(concat, count, axis=-1), np.split(linear.weight.double().numpy().T, count), strict=True)
    parts = {f"{prefix}heads[{head}]": x @ W_O for head, (x, W_O) in enumerate(pairs)}
    own = np.repeat(np.eye(count), concat.shape[-1] // count, axis=-1)  # (head, d_model): 1 for the head's own columns
    alone = {name: concat * place for name, place in zip(parts, own, strict=True)}
    return _edited(trace, quantity.key, parts | _bias(linear, concat.shape), {quantity.reads[0]: alone})


def _edited(
    trace: Trace, key: str, parts: Sum, reads: Mapping[str, Sum], own: Any = EDIT, head: int | None = None
) -> Sum:
    """Apply the run's edits to the decomposition at a key.

    Edits are affine here; their constant term is a part called `own`. reads: decompositions of what the key is computed
    from, since an edit may return one of those that are recorded. head: if the parts are of one head.
    """
    if key not in trace.edited:
        return parts

    def changed(name: Any) -> np.ndarray:
        read = {of: np.full(trace[of].shape, part.get(name, 0.0)) for of, part in reads.items() if of in trace}
        value = trace.change(key, np.full(trace[key].shape, parts.get(name, 0.0)), read)
        return value if head is None else value[head]

    nothing = changed(None)
    return _added([{name: changed(name) - nothing for name in parts}, {own: nothing}])
