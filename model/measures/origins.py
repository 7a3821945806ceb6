"""What a head finds in a token, by where that came from in the first place: from its own word, from its place, or from
other tokens, whose vectors earlier attention brought there.

`sources.py` says which earlier part wrote it; but attention and FFN write what they made of words and places. Here they
are followed, too. Held as they were in this run are, besides the deviations of LayerNorm, the weights of attention and
which share of its input each neuron lets through: what is left is linear, and the parts add up. So it is said who was
heard, and not what made attention listen to him.
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

BROUGHT = "brought"  # what attention brought from other tokens, whatever they had it from
KINDS = ("word", "place", "brought", "rest")  # rest: biases, edits, which of two sentences it is


def of_reads(trace: Trace, until: Sublayer | None = None) -> dict[str, Sum]:
    """What each sub-layer reads, by origin: key -> name -> (token, d_model).

    Names are those of sources, of which "embedding.tokens" is what a token still has of its own word, and BROUGHT.
    until: the last that is asked about.
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
    """Whether what a place does can be told from the rest: where queries and keys are turned by it, it cannot."""
    return graph.config.positions != "rotary"


def shares(trace: Trace, attention: Sublayer, head: int, known: dict[str, Sum]) -> dict[str, float]:
    """Which share of what the softmax of a head sees, in all its rows, has come from what in the tokens looked at: kind
    -> share. They sum to 1, and what works against the others is negative. known: what `of_reads` found.
    """
    scores = of_attention(trace, attention, head, known=known)
    visible = np.isfinite(trace[f"{attention.prefix}masked"][head])
    return by_kind(scores, scores.shares(visible))


def nbytes(trace: Trace) -> int:
    """About how much memory `of_reads` takes: for each sub-layer two vectors a token of some five origins, and what a
    FFN finds in one layer.
    """
    config, sublayers = trace.config, sum(map(len, trace.graph.sublayers_of.values()))
    return 8 * 5 * len(trace.tokens) * (2 * sublayers * config.d_model + 2 * config.d_ff)


def by_kind(scores: Scores, pairs: np.ndarray) -> dict[str, float]:
    """What all pairs of sources (source of query, source of key) have, summed up by the kind of the key's; all of KINDS
    are there. What a number for the distance has a hand in is of the place.
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
    """What a sub-layer writes, by origin; what edits inside it put in is EDIT."""
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
    """The heads side by side: what each token took from itself, and what from others."""
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
