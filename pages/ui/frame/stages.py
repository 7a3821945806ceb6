"""Which page shows a quantity of the graph, and what one page's stage hands to another's."""

from dataclasses import dataclass, replace

from model import Trace
from model.graph import Graph, Quantity
from model.translator import TranslationTrace
from pages.ui.figures.equations import plain_math

#: The kind of a step -> the page that shows it.
PAGE_OF = {
    "tokens": "tokens",
    "embedding": "tokens",
    "sum": "tokens",
    "positions": "tokens",
    "segments": "tokens",
    "embedding_norm": "tokens",
    "projection": "tokens",
    "Q": "queries_keys_values",
    "K": "queries_keys_values",
    "V": "queries_keys_values",
    "Q_rotated": "queries_keys_values",
    "K_rotated": "queries_keys_values",
    "distances": "queries_keys_values",
    "scores": "attention",
    "mask": "attention",
    "softmax": "attention",
    "heads": "attention",
    "concat": "heads",
    "layer_scale": "add_and_norm",
    "add": "add_and_norm",
    "norm": "add_and_norm",
    "ffn": "feed_forward",
    "linear": "answer",
    "answer": "answer",
}
#: The last part of a key -> the kind of step that computes it.
KIND_OF = {
    **dict.fromkeys(("input", "patches", "row"), "tokens"),
    **dict.fromkeys(("E", "W_E", "tokens"), "embedding"),
    **{name: name[-1] for name in ("W_Q", "W_K", "W_V")},
    **dict.fromkeys(("distance_norm", "W_Q_R", "W_K_R", "Q_distance", "K_distance"), "distances"),
    **dict.fromkeys(("scores", "scaled", "relative", "biased"), "scores"),
    **dict.fromkeys(("Q_R", "K_R", "content_to_content", "content_to_position", "position_to_content"), "scores"),
    **dict.fromkeys(("masked", "weights"), "softmax"),
    **dict.fromkeys(("concat", "output"), "concat"),
    **dict.fromkeys(("first", "second", "cls_logits", "distillation_logits", "logits"), "linear"),
    **dict.fromkeys(("patch_mean", "pooled", "cls_norm", "vector", "patch_logits"), "linear"),
    **dict.fromkeys(("labels", "tags", "of_bounds", "bounds"), "linear"),
}


def kind_of(quantity: Quantity) -> str:
    """What kind of step computes a quantity."""
    *path, name = quantity.key.split(".")
    if path[:1] == ["pool"]:
        return "linear"  # all that a probe does behind the layers is one step
    if KIND_OF.get(name) == "distances":
        return "distances"
    if quantity.layer is not None and quantity.operation in ("add", "norm", "layer_scale"):
        return quantity.operation
    if "ffn" in path:
        return "ffn"
    if name == "masked" and ((path[0] == "decoder" and path[-1] == "attention") or quantity.window is not None):
        return "mask"  # elsewhere nothing is hidden, and it is no step of its own
    if path[-1:] == ["embedding"] and name == "norm":
        return "embedding_norm"
    return "linear" if path in (["transform"], ["pooler"]) else KIND_OF.get(name, name)


def page_of(quantity: Quantity) -> str:
    """The page on which a quantity is shown; all of a decoder's layers is on one."""
    return "translation" if quantity.key.startswith("decoder.") else PAGE_OF[kind_of(quantity)]


@dataclass(frozen=True)
class Passed:
    """A quantity that one page's stage hands to another's: its symbol and shape, and the page at the other end."""

    symbol: str
    shape: str
    page: str


def passed(trace: Trace, page: str, layer: int) -> tuple[list[Passed], list[Passed]]:
    """What the stage of a page takes from others, and what it hands on, in the encoder's layer `layer` (from 0).

    The page of all layers takes what the first one reads and hands on what the last one does. Nothing for pages that
    show no stage.
    """
    graph = trace.graph
    if page == "layers":
        ends = graph.stream(0)[0], graph.stream(graph.layers() - 1)[-1]
        first, last = (Passed(_symbol(graph, key), _shape(trace, key), "") for key in ends)
        return [replace(first, page="tokens")], [replace(last, page="answer")]
    ins, outs = dict[str, Passed](), dict[str, Passed]()

    def own(quantity: Quantity) -> bool:
        return page_of(quantity) == page and quantity.layer in (None, layer)

    for quantity in graph:
        for key in quantity.reads:
            into, out_of = own(quantity), own(graph[key])
            if into != out_of:
                other = page_of(graph[key] if into else quantity)
                (ins if into else outs).setdefault(key, Passed(_symbol(graph, key), _shape(trace, key), other))
    return list(ins.values()), list(outs.values())


def _symbol(graph: Graph, key: str) -> str:
    """The symbol of a quantity in plain letters; X^(l+1) with its number."""
    if key == graph.Z:
        return "Z"
    quantity = graph[key]
    return plain_math(quantity.numbered(quantity.symbol)).replace("'", "′")


def _shape(trace: Trace, key: str) -> str:
    """(8, 12, 12) as people write it: 8 × 12 × 12; for the input, its pieces, patches or pixels."""
    sides: tuple[int, ...] = (len(trace.tokens),)
    if key in trace:
        sides = trace[key].shape
    elif trace.patches is not None:
        sides = trace.patches.shape
    elif isinstance(trace, TranslationTrace) and key.startswith("decoder."):
        sides = (len(trace.target_tokens),)
    return " × ".join(map(str, sides))
