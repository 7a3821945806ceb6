"""The glossary of all symbols: their meaning, their value for this model and input, their page.

Quantities, with symbols and shapes, come from the graph; sizes, weights and special tokens from OWN.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import streamlit as st

from model import Trace
from model.activations import ACTIVATIONS
from model.graph import SIDES, Graph
from model.operations import Quantity
from model.variants.token_dropout import multiplier
from pages.drawing.figures import coloured
from pages.drawing.text import literal, plain, t
from pages.drawing.text.numbers import three
from pages.screen.components.tables import markdown_table
from pages.screen.frame.contents import NAMES
from pages.screen.frame.navigation import page_link


@dataclass(frozen=True)
class Entry:
    """A symbol (LaTeX, or a token between backticks), its page, its text "glossary.{name}", and its value.

    value: with names of `sizes` in braces. module: a module, or the key of a quantity, that the symbol needs.
    """

    symbol: str
    page: str
    name: str
    value: str
    module: str = ""
    part: str = ""  # the part whose bias it names or is
    alone: tuple[str, str] | None = None  # symbol and value without that bias
    field: str = ""  # a field of EncoderConfig that the symbol needs
    norm: str = ""  # the kind of norm that the symbol needs


#: Sizes first, then the pages as the bar has them.
ORDER = ["shapes_and_cost", *(name for name in NAMES if name != "shapes_and_cost")]
WORDS, PROJECTED, WIDENED = "embedding.E", "embedding.W_E", "embedding.projection"
TARGET = "decoder.input"

#: Key -> name, where the sum of token and position is normalised before the first layer.
BEFORE_THE_LAYERS = {"embedding.sum": "summed", "embedding.norm": "embedding_norm"}
#: Key -> name, where it is also projected to d_model.
NARROW = {"embedding.sum": "summed", "embedding.norm": "narrow_norm", "embedding.projection": "projection"}

OWN: tuple[Entry, ...] = (
    Entry("n", "shapes_and_cost", "n", "{n}"),
    Entry("N", "shapes_and_cost", "N", "{N}"),
    Entry("h", "shapes_and_cost", "h", "{h}"),
    Entry("d_{model}", "shapes_and_cost", "d_model", "{d_model}"),
    Entry("d_k", "shapes_and_cost", "d_k", "{d_model} ÷ {h} = {d_k}"),
    Entry("d_v", "shapes_and_cost", "d_v", "{d_k}"),
    Entry("d_{ff}", "shapes_and_cost", "d_ff", "{d_ff}"),
    Entry(r"\lvert {V} \rvert", "shapes_and_cost", "vocabulary", "{vocabulary}", WORDS),
    Entry("`[CLS]`", "tokens", "CLS", "{CLS}"),
    Entry("`[REG]`", "tokens", "REG", "{REG}"),
    Entry("`[SEP]`", "tokens", "SEP", "{SEP}", WORDS),
    Entry("`[MASK]`", "tokens", "MASK", "{MASK}", WORDS),
    Entry("`[PAD]`", "tokens", "PAD", "{PAD}", WORDS),
    Entry("`[UNK]`", "tokens", "UNK", "{UNK}", WORDS),
    Entry("`##`", "tokens", "pieces", "{pieces}", WORDS),
    Entry("E", "tokens", "E", "{vocabulary} × {embedded}", WORDS),
    Entry("k_i", "tokens", "k", "{k}", field="dropped"),
    Entry("d_E", "tokens", "d_E", "{embedded}", WIDENED),
    Entry("W_E", "tokens", "W_E", "{projected} × {d_model}", PROJECTED),
    Entry(r"\cos(a, b)", "tokens", "cosine", "a · b ÷ (‖a‖ ‖b‖)"),
    Entry("X", "queries_keys_values", "X", "{n} × {d_model}"),
    Entry("W_Q", "queries_keys_values", "W_Q", "{d_model} × {d_model}"),
    Entry("W_K", "queries_keys_values", "W_K", "{d_model} × {d_model}"),
    Entry("W_V", "queries_keys_values", "W_V", "{d_model} × {d_model}"),
    Entry("b_Q,\\; b_K,\\; b_V", "queries_keys_values", "b", "{d_model}", part="attention"),
    Entry(r"\sqrt{d_k}", "attention", "root", "√{d_k} = {root}", "layers.0.attention.scaled"),
    Entry(r"\operatorname{softmax}(z)", "attention", "softmax", "eᶻ ÷ Σ eᶻ"),
    Entry("b", "attention", "distances", "{buckets} × {h}", "layers.0.attention.distances"),
    Entry("m_h", "attention", "slopes", "{h}", field="sloped"),
    Entry("r(j - i)", "attention", "row_of_distance", "0 … {last_bucket}", "layers.0.attention.distances"),
    Entry(
        "r",
        "attention",
        "table_of_distances",
        "{rows_of_distances} × {d_model}",
        "layers.0.attention.content_to_content",
    ),
    Entry("W_O", "heads", "W_O", "{d_model} × {d_model}"),
    Entry(r"\mu,\; \sigma^2", "add_and_norm", "moments", "{n} + {n}", norm="layer"),
    Entry(r"\operatorname{RMS}", "add_and_norm", "rms", "{n}", norm="rms"),
    Entry(
        r"\gamma,\; \beta",
        "add_and_norm",
        "gamma_beta",
        "{d_model} + {d_model}",
        part="norm",
        alone=(r"\gamma", "{d_model}"),
    ),
    Entry(r"\nabla_X", "add_and_norm", "gradient", "{n} × {d_model}"),
    Entry(r"\epsilon", "add_and_norm", "epsilon", "{epsilon}"),
    Entry(r"\lambda", "add_and_norm", "lambda", "{d_model} + {d_model}", "layers.0.scale_1"),
    Entry(
        "W_1,\\; b_1",
        "feed_forward",
        "W_1",
        "{d_model} × {d_ff}, {d_ff}",
        part="ffn",
        alone=("W_1", "{d_model} × {d_ff}"),
    ),
    Entry(
        "W_3,\\; b_3",
        "feed_forward",
        "W_3",
        "{d_model} × {d_ff}, {d_ff}",
        "layers.0.ffn.W_3",
        part="ffn",
        alone=("W_3", "{d_model} × {d_ff}"),
    ),
    Entry(r"\operatorname{act}", "feed_forward", "act", "{activation}"),
    Entry(
        "W_2,\\; b_2",
        "feed_forward",
        "W_2",
        "{d_ff} × {d_model}, {d_model}",
        part="ffn",
        alone=("W_2", "{d_ff} × {d_model}"),
    ),
    Entry("Z", "layers", "Z", "{n} × {d_model}"),
    Entry("`[EN]`", "translation", "EN", "{EN}", TARGET),
    Entry("`[ZH]`", "translation", "ZH", "{ZH}", TARGET),
)


def page_of(quantity: Quantity) -> str:
    """The page that shows a quantity; Translation for all of a decoder's."""
    path = quantity.key.split(".")
    first, name = path[0], path[-1]
    if first == "decoder":
        return "translation"
    if first in ("embedding", "input", "segments"):
        return "tokens"
    if first == "layers" and "attention" in path:
        if name in ("concat", "output"):
            return "heads"
        return "attention" if name == "heads" or {"query", "key"} & {*quantity.axes} else "queries_keys_values"
    if first == "layers":
        return "feed_forward" if "ffn" in path else "add_and_norm"
    return "add_and_norm" if quantity.key == "norm" else "answer"


def sizes(trace: Trace) -> dict[str, object]:
    """The numbers of this model and input, by the names in OWN and the graph's names of axes."""
    config, tokens, target = trace.config, trace.tokens, getattr(trace, "target_tokens", [])
    patches = (0, 0) if trace.patches is None else trace.patches.shape
    return {
        "n": len(tokens),
        "k": f"{multiplier(len(tokens), trace.ids.count(config.dropped)):.4f}" if config.dropped is not None else "",
        "N": config.layers,
        "h": config.heads,
        "d_model": config.d_model,
        "embedded": config.embedded,
        "d_k": config.d_k,
        "buckets": config.buckets,
        "last_bucket": config.buckets - 1,
        "rows_of_distances": 2 * config.span,
        "distance": 2 * len(tokens) - 1,
        "d_ff": config.d_ff,
        "root": three(((1 + len(config.distance_terms)) * config.d_k) ** 0.5),
        "vocabulary": config.vocab_size,
        "projected": patches[1] or config.d_embedding,
        "activation": ACTIVATIONS[config.activation].name,
        "epsilon": f"{config.norm_eps:g}",
        "pieces": sum(token.startswith("##") for token in tokens),
        **{name: tokens.count(f"[{name}]") for name in ("CLS", "SEP", "MASK", "UNK", "PAD")},
        "REG": config.registers,
        "token": len(tokens),
        **{name: target.count(f"[{name}]") for name in ("EN", "ZH")},
        "target": len(target),
        "patch": patches[0],
        "pixel": patches[1],
        "channel": config.channels,
        "height": config.image_size,
        "width": config.image_size,
        "word": (trace.graph.decoder or config).vocab_size,
        "projection": config.projection,
        "probe": 1,
        "class": config.classes,
        "heads_abreast": config.heads * config.d_k,
        "bound": 2,
        "d_E": config.d_embedding,
    }


def entries(trace: Trace) -> Iterator[tuple[str, str, str, str]]:
    """All symbols of this model, as (symbol, page, name, value): those of OWN, then the quantities in order."""
    graph, numbers = trace.graph, sizes(trace)
    modules = {quantity.module for quantity in graph} | {quantity.key for quantity in graph}
    for entry in OWN:
        if entry.name in ("CLS", "REG") and not numbers[entry.name]:  # an input may have none
            continue
        if (entry.module and entry.module not in modules) or entry.norm not in ("", trace.config.norm):
            continue
        if entry.field and any(getattr(trace.config, entry.field) is none for none in (None, False)):
            continue
        if entry.module == TARGET and not (graph.decoder and graph.decoder.language_first):
            continue
        symbol, value, name = entry.symbol, entry.value, entry.name
        if entry.name == "root" and (parts := 1 + len(trace.config.distance_terms)) > 1:
            symbol, value = rf"\sqrt{{{parts}\, d_k}}", f"√({parts} · {{d_k}}) = {{root}}"
        if entry.name == "d_k" and trace.config.d_head:
            value = "{d_k}"
        if entry.name == "b" and "keys" in trace.config.unbiased:
            symbol = r"b_Q,\; b_V"
        if entry.part in trace.config.unbiased or (entry.name in ("W_1", "W_3") and "gates" in trace.config.unbiased):
            if entry.alone is None:
                continue
            (symbol, value), name = entry.alone, f"{name}_alone"
        yield symbol, entry.page, name, value.format_map(numbers)
    listed = {("Z", page_of(graph[graph.Z]))}
    for quantity in graph:
        place = quantity.symbol, page_of(quantity)
        product = not quantity.traced and quantity.operation in (
            "linear",
            "look_up",
            "scores",
        )  # no letter of its own
        if place in listed or product:
            continue
        shape = trace[quantity.key].shape if quantity.traced else [numbers[axis] for axis in quantity.axes]
        shape = shape[1:] if quantity.operation == "weighted_sum" else shape  # the symbol is of one head
        yield *place, name_of(graph, quantity), " × ".join(map(str, shape))
        listed.add(place)


def name_of(graph: Graph, quantity: Quantity) -> str:
    """The name of a quantity's text: the end of its key, or its role in the residual stream."""
    for side in SIDES:
        for sublayer in graph.sublayers_of.get((side, quantity.layer or 0), ()):
            if quantity.key == sublayer.sum:
                return f"sum_{sublayer.name}"
            if quantity.key == sublayer.norm:
                return f"{'before' if sublayer.norm_first else 'norm'}_{sublayer.name}"
    if quantity.operation == "input" and "height" in quantity.axes:
        return "image"
    if quantity.key in NARROW and graph.config.d_embedding:
        return NARROW[quantity.key]
    if quantity.key == "embedding.norm" and "embedding.sum" not in graph:
        return "embedding_norm_alone"
    if quantity.key in BEFORE_THE_LAYERS and graph.config.embedding_norm:
        return BEFORE_THE_LAYERS[quantity.key]
    if quantity.operation == "distances":
        return "distance_vectors"
    if quantity.key.endswith(".scores") and quantity.operation == "biased":
        return "scores_told_apart"
    if quantity.operation == "input" and quantity.key == "segments":
        return "which_sentence"
    if quantity.key == graph.vector:
        return "vector"
    if quantity.key.startswith("pool.") and quantity.key != "pool.probe":
        return "of_probe"
    path = quantity.key.removeprefix("decoder.").split(".")
    return "_".join(path[-2:]) if path[0] in ("transform", "pooler") or path[-1] in ("output", "sum") else path[-1]


def open_glossary(trace: Trace) -> None:
    """Open the glossary over the page."""
    st.dialog(plain("glossary.title"), width="large")(_glossary)(trace)


def _glossary(trace: Trace) -> None:
    st.markdown(t("glossary.purpose"))
    listed = list(entries(trace))
    shown_on = {page for _, page, _, _ in listed}
    for shown in sorted(shown_on, key=ORDER.index):
        page_link(shown, f"**{plain(f'{shown}.title')}**", ":material/arrow_forward:")
        heads = [plain(f"glossary.{column}") for column in ("symbol", "meaning", "here")]
        rows = []
        for symbol, page, name, value in listed:
            if page == shown:
                written = symbol if symbol.startswith("`") else f"${coloured(symbol)}$"
                here = literal(value).replace(" × ", "\u00a0×\u00a0")  # a shape stays on one line
                rows.append((written, t(f"glossary.{name}"), here))
        st.markdown(markdown_table(heads, rows, ":--|:--|:--"))
