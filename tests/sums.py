"""Sums by source and by origin add up to what a run recorded: checks for any trace, edited or not."""

import numpy as np

from model import Trace
from model.graph import Sublayer
from model.measures.origins import of_reads
from model.measures.sources import Sum, of_attention, of_sum


def close(found: np.ndarray, recorded: np.ndarray, of: str) -> None:
    assert found.shape == recorded.shape, of
    apart = np.abs(found - recorded).max() / max(np.abs(recorded).max(), np.finfo(np.float32).tiny)
    assert apart <= 1e-5, f"{of}: its parts miss what was recorded by {apart:.2g} of the largest"


def sides(trace: Trace) -> tuple[str, ...]:
    return ("", "decoder.") if trace.graph.decoder else ("",)


def of_stream(trace: Trace, layer: int, side: str = "", heads: bool = False) -> Sum:
    """What a layer reads, by source; of one layer more than there are, what the encoder hands on, or the decoder."""
    if layer < trace.graph.layers(side):
        return of_sum(trace, trace.graph.stream(layer, side)[0], heads)
    return of_sum(trace, trace.graph.stream(layer - 1, side)[-1] if side else trace.graph.Z, heads)


def attentions(trace: Trace) -> list[Sublayer]:
    graph = trace.graph
    layers = [graph.sublayers(layer, side) for side in sides(trace) for layer in range(graph.layers(side))]
    return [sublayer for layer in layers for sublayer in layer if sublayer.name != "ffn"]


def streams_add_up(trace: Trace, side: str, layer: int) -> None:
    is_Z = not side and layer == trace.graph.layers()
    for heads in (False, True):
        parts = of_stream(trace, layer, side, heads)
        close(sum(parts.values()), trace.Z if is_Z else trace.states(side)[layer], f"{side}layer {layer} reads")


def scores_add_up(trace: Trace, attention: Sublayer) -> None:
    scaled = trace[trace.graph[f"{attention.prefix}masked"].reads[0]]  # what the distance adds is a source, too
    # What all heads read is followed once; that this changes nothing, the first head shows.
    known = {read: of_sum(trace, read) for read in (attention.reads, attention.memory) if read}
    parts = [of_attention(trace, attention, head, known=known if head else {}) for head in range(len(scaled))]
    close(np.array([of.parts.sum((0, 1)) for of in parts]), scaled, attention.prefix)


def origins_add_up(trace: Trace) -> None:
    known = of_reads(trace)
    for key, parts in known.items():
        if key in trace:
            close(sum(parts.values()), trace[key], key)
    for attention in attentions(trace):
        scaled = trace[trace.graph[f"{attention.prefix}masked"].reads[0]]
        found = [of_attention(trace, attention, head, known=known).parts.sum((0, 1)) for head in range(len(scaled))]
        close(np.array(found), scaled, attention.prefix)


def edited_sums_add_up(trace: Trace) -> None:
    """Where an edit stands at which sums are followed: before the weights of attention, and outside FFN."""
    inside = ("weights", "masked", ".V", "heads", "concat", "hidden", "activation", "logits")
    if not any(key in trace.edited and not key.endswith(inside) for key in trace):
        return
    side = sides(trace)[-1]
    streams_add_up(trace, side, trace.graph.layers(side))
    for attention in attentions(trace)[-2:]:
        scores_add_up(trace, attention)
