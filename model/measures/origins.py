"""Where the information that a head reads came from originally: the token's own word, its position, or other tokens.

`sources.py` names the module that wrote a part, but attention and FFN transform words and positions; here, parts are
followed through them. Deviations of LayerNorm, attention weights, and the share of each neuron's input that passes are
held constant, so the rest is linear and the parts add up. Thus it shows which tokens were read, not why attention chose
them.
"""

import numpy as np

from model.graph import Graph, Sublayer
from model.measures.sources import (
    BIAS,
    DISTANCE,
    EDIT,
    ROUNDING,
    Scores,
    Sum,
    let_through,
    linear_of,
    of_attention,
    of_sum,
    value_of,
)
from model.trace import Trace

BROUGHT = "brought"  # brought by attention from other tokens, whatever its origin there
KINDS = ("word", "place", "brought", "rest")  # rest: biases, edits, segments


def of_reads(trace: Trace, until: Sublayer | None = None) -> dict[str, Sum]:
    """Input of each sub-layer by origin: key -> name -> (token, d_model).

    Names are those of sources; "embedding.tokens" is what remains of the token's own word. BROUGHT came from other
    tokens. until: the last sub-layer needed.
    """
    known: dict[str, Sum] = {}
    for sublayers in trace.graph.sublayers_of.values():
        for one in sublayers:
            for read in filter(None, (one.memory, one.reads)):
                known[read] = of_sum(trace, read, known=known)
            if one == until:
                return known
            output = f"{one.prefix}output"
            known[output] = _written(trace, one, output, known)
            known[one.sum] = of_sum(trace, one.sum, known=known)
            del known[output]
    return known


def by_place(graph: Graph) -> bool:
    """Whether the effect of positions can be separated: not if queries and keys are rotated."""
    return graph.config.positions != "rotary"


def shares(trace: Trace, attention: Sublayer, head: int, known: dict[str, Sum]) -> dict[str, float]:
    """Share of each origin of the keys in what the softmax of a head sees, over all rows: kind -> share.

    They sum to 1; an origin that works against the others is negative. known: result of `of_reads`.
    """
    scores = of_attention(trace, attention, head, known=known)
    visible = np.isfinite(trace[f"{attention.prefix}masked"][head])
    return by_kind(scores, scores.shares(visible))


def nbytes(trace: Trace) -> int:
    """Estimated memory of `of_reads`: for each sub-layer, two vectors per token for about five origins, and one layer's
    FFN activations.
    """
    config, sublayers = trace.config, sum(map(len, trace.graph.sublayers_of.values()))
    return 8 * 5 * len(trace.tokens) * (2 * sublayers * config.d_model + 2 * config.d_ff)


def by_kind(scores: Scores, pairs: np.ndarray) -> dict[str, float]:
    """Shares of all pairs (source of query, source of key), summed by the kind of the key's source, with all of KINDS.

    Terms that depend on distance count as position.
    """
    found = dict.fromkeys(KINDS, 0.0)
    for row, asks in enumerate(scores.of_queries):
        for column, answers in enumerate(scores.of_keys):
            found["place" if asks == DISTANCE else kind_of(answers)] += float(pairs[row, column])
    return found


def kind_of(name: str) -> str:
    """The kind of an origin."""
    if name == DISTANCE or name.endswith("embedding.positions"):
        return "place"
    return "word" if name.endswith("embedding.tokens") else BROUGHT if name == BROUGHT else "rest"


def _written(trace: Trace, sublayer: Sublayer, output: str, known: dict[str, Sum]) -> Sum:
    """Output of a sub-layer by origin; contributions of edits inside it are EDIT."""
    read = known[sublayer.memory or sublayer.reads]
    if sublayer.name == "ffn":
        module, passes = let_through(trace, sublayer.prefix)
        inside = {name: part * passes for name, part in linear_of(trace, module, read).items()}
    else:
        inside = _attended(trace, sublayer, read)
    parts, value = linear_of(trace, trace.graph[output].module or "", inside), value_of(trace, output)
    rest = value - sum(parts.values())
    if trace.edits and np.abs(rest).max() > ROUNDING * max(1.0, np.abs(value).max()):
        parts[EDIT] = parts.get(EDIT, 0.0) + rest
    return parts


def _attended(trace: Trace, sublayer: Sublayer, read: Sum) -> Sum:
    """The concatenated heads: what each token took from itself, and from others."""
    weights, V = (value_of(trace, f"{sublayer.prefix}{name}") for name in ("weights", "V"))
    module = trace.graph[trace.graph[f"{sublayer.prefix}V"].reads[0]].module or ""
    own = np.zeros((*weights.shape[:2], 1)) if sublayer.memory else np.diagonal(weights, axis1=1, axis2=2)[..., None]
    found: Sum = {}
    for name, part in linear_of(trace, module, read).items():
        values = part.reshape(len(part), *V.shape[::2]).swapaxes(0, 1)  # (head, token, d_k)
        taken = weights @ values
        if name in (BIAS, EDIT):
            found[name] = found.get(name, 0.0) + taken
        else:
            kept = own * values if own.any() else 0 * taken
            found[name] = found.get(name, 0.0) + kept
            found[BROUGHT] = found.get(BROUGHT, 0.0) + taken - kept
    return {name: part.swapaxes(0, 1).reshape(part.shape[1], -1) for name, part in found.items()}
