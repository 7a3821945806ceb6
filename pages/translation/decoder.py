"""The inside of the decoder, part by part: each quantity as a map, beside it the arithmetic of its chosen cell."""

import streamlit as st

from model import Edit
from model.analysis import softmax
from model.graph import Quantity
from pages.attention.maps import attention_step
from pages.attention.read import STEPS
from pages.translation.writing import Writing, next_words
from pages.ui.figures import ACCENT, AFTER, Axis, grouped_bars
from pages.ui.frame.changes_bar import quantity_in_words
from pages.ui.frame.glossary import name_of
from pages.ui.frame.pickers import either
from pages.ui.sections.cell_map import cell_map
from pages.ui.sections.working import working
from pages.ui.state.link import select
from pages.ui.text import joined, plain, t
from pages.ui.text.numbers import percent

SIDE = "decoder."
BLOCKS = ("embedding", "attention", "cross", "ffn", "next")


def inside(view: Writing) -> None:
    """One part of the decoder at a time, and one quantity of it."""
    view.choice = view.choice.with_(hide_special=False)  # all tokens are shown
    block = view.choice.block if view.choice.block in BLOCKS else "cross"
    words = [plain(f"translation.block_{name}") for name in BLOCKS]
    either("block", plain("translation.block"), BLOCKS, words, block, label_visibility="collapsed")
    if block == "next":
        next_word(view)
        return
    named = {quantity.key.rpartition(".")[2]: quantity for quantity in quantities_of(view, block)}
    usual = "weights" if "weights" in named else [*named][-1]
    labels = [title(view, quantity) for quantity in named.values()]
    look = {"label_visibility": "collapsed", "key": f"stage.{block}"}
    stage = view.choice.stage if view.choice.stage in named else usual
    name = either("stage", plain("translation.quantity"), [*named], labels, stage, **look)
    if name in STEPS:
        attention_step(view, named[name].key.removesuffix(name), name)
        if (block, name) == ("attention", "masked"):
            without_mask(view)
    else:
        cell_map(view, named[name].key, meaning(view, named[name]), title=title(view, named[name]))


def without_mask(view: Writing) -> None:
    """The chosen head's row with its mask, and as it would be without: what it would take from later words."""
    prefix = view.key(f"{SIDE}layers.{{l}}.attention.")
    free, masked = softmax(view.trace[f"{prefix}scaled"][view.head, view.step]), view.trace[f"{prefix}weights"]
    later = free[view.step + 1 :]
    if not later.size:
        return
    said = {"piece": view.trace.written[view.step], "where": view.where()}
    shares = {"share": percent(float(later.sum())), "answer": percent(float(later[0]))}
    both = {
        plain("translation.with_mask"): masked[view.head, view.step],
        plain("translation.without_mask"): free,
    }
    read = Axis(plain("translation.read_axis"), view.trace.target_tokens)
    view.picture(
        "leak",
        grouped_bars(both, read, plain("attention.weight"), (AFTER, ACCENT), value_range=(0, 1)),
        t("translation.read_leak", **said, **shares),
        title=plain("translation.leak_title"),
        still=True,
    )


def quantities_of(view: Writing, block: str) -> list[Quantity]:
    """The recorded quantities of a part of the decoder, in order; of a sub-layer with its sum and its LayerNorm."""
    graph = view.trace.graph
    if block == "embedding":
        return [quantity for quantity in graph if quantity.traced and quantity.key.startswith(f"{SIDE}{block}.")]
    (sub,) = (sub for sub in graph.sublayers(view.choice.layer, SIDE) if sub.name == block)
    return [
        quantity
        for quantity in graph
        if quantity.traced and (quantity.key.startswith(sub.prefix) or quantity.key in (sub.sum, sub.norm))
    ]


def title(view: Writing, quantity: Quantity) -> str:
    return quantity_in_words(Edit(quantity.key, "zero"), view.trace.graph)


def meaning(view: Writing, quantity: Quantity) -> str:
    """What a quantity is, as the glossary has it, as a sentence. It knows one layer and one attention."""
    graph = view.trace.graph
    name = name_of(graph, graph[quantity.row.replace("{l}", "0")]).replace("cross_output", "attention_output")
    said = t(f"glossary.{name}")
    return f"{said[:1].upper()}{said[1:].rstrip('。.')}{plain('translation.stop')}"


def next_word(view: Writing) -> None:
    """From the last vector to the likeliest next pieces; a click works out another one."""
    piece = view.trace.written_ids[view.step] if view.choice.output is None else view.choice.output
    decoder = view.trace.graph.decoder
    matrix = t("translation.tied_apart" if decoder and decoder.own_words else "translation.tied")
    left, right = (st.container(), None) if view.choice.big else st.columns([3, 2], gap="medium")
    with left:
        next_words(view, lambda number: select(output=number), joined(f"{t('translation.read_logits')} {matrix}"))
    if right is not None:
        with right:
            working(view, "logits", (view.step, piece))
