"""The quantities of a run that the overview shows, in the order of softmax(QKᵀ/√d_k)·V."""

from collections.abc import Collection
from dataclasses import dataclass

from model.graph import Graph

#: Pictures of every layer; "x", a layer's input, is the output of the layer before.
IN_LAYER = ("q", "k", "s", "w", "v", "a", "n1", "h", "n2")
#: Pictures whose columns are the tokens.
SQUARE = ("s", "w")

#: Picture or "answer" -> the app's page that shows it large, and what the link chooses there; None removes a choice.
PAGE_OF: dict[str, tuple[str, dict[str, str | int | None]]] = {
    "x0": ("tokens", {}),
    "x": ("layers", {}),
    "q": ("queries_keys_values", {"stage": "Q"}),
    "k": ("queries_keys_values", {"stage": "K"}),
    "v": ("queries_keys_values", {"stage": "V"}),
    "s": ("attention", {"stage": "scaled"}),
    "w": ("attention", {"stage": None}),
    "a": ("heads", {}),
    "n1": ("add_and_norm", {"sublayer": 1}),
    "n2": ("add_and_norm", {"sublayer": 2}),
    "h": ("feed_forward", {}),
    "answer": ("answer", {}),
}


@dataclass(frozen=True)
class Picture:
    """One picture of the overview.

    symbol: ^ and _ raise and lower the next character or {group}; {l} is the layer's number. caption: key of its name
    in the words.
    """

    role: str
    symbol: str
    caption: str


def keys_of(graph: Graph, layer: int) -> dict[str, str]:
    """Role -> trace key, for the pictures of one layer in order of computation."""
    attention, ffn = graph.sublayers(layer)
    _, middle, after = graph.stream(layer)
    here = attention.prefix
    neurons = f"{ffn.prefix}product" if f"{ffn.prefix}product" in graph else f"{ffn.prefix}activation"
    keys = (f"{here}Q", f"{here}K", f"{here}masked", f"{here}weights", f"{here}V", f"{here}output")
    return dict(zip(IN_LAYER, (*keys, middle, neurons, after), strict=True))


def key_before(graph: Graph) -> str:
    """The key of X⁰, what enters the first layer."""
    return graph.stream(0)[0]


def pictures_of(graph: Graph) -> list[Picture]:
    """The pictures of a network, from left to right, as this network writes and computes them."""
    config = graph.config
    tilde = "\u0303" if config.positions == "rotary" else ""
    scores = f"Q{tilde}K{tilde}^⊤"
    if config.distance_terms:
        scores += f"/√{{{1 + len(config.distance_terms)}d_k}}"
    elif config.divided:
        scores += "/√d_k"
    if config.by_distance:
        scores += "+B"
    added = "residual" if config.norm_first else "add_norm"
    return [
        Picture("x0", "X^0", "embedding"),
        Picture("x", "X^{l}", "input"),
        Picture("q", "Q", "query"),
        Picture("k", "K", "key"),
        Picture("s", scores, "scores"),
        Picture("w", "softmax", "weights"),
        Picture("v", "V", "value"),
        Picture("a", "Concat W_O", "mixed"),
        Picture("n1", "X′", added),
        Picture("h", "FFN", "neurons"),
        Picture("n2", "X^{l+1}", added),
    ]


def touched(graph: Graph, edited: Collection[str]) -> list[str]:
    """The pictures that edits at these keys change, in order: "2.w" for the weights of the third layer, "x0" before
    all.

    A key without a picture counts for the next picture computed after it.
    """
    shown = {key_before(graph): "x0"}
    for layer in range(graph.layers()):
        shown |= {key: f"{layer}.{role}" for role, key in keys_of(graph, layer).items()}
    order = [quantity.key for quantity in graph]
    found: dict[str, None] = {}
    for place, key in enumerate(order):
        if key in edited:
            after = (shown[later] for later in order[place:] if later in shown)
            found[next(after, "answer")] = None
    return list(found)
