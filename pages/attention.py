"""Attention: match, scale, mask, softmax, weighted sum — one step at a time, for the chosen layer and head."""

import streamlit as st

from model.encoder import MultiHeadAttention, ScaledDotProductAttention
from pages.ui.pickers import either
from pages.ui.sections.attention import attention_steps, weights_picture
from pages.ui.sections.overlay import over_heads, over_layers
from pages.ui.text import plain, t
from pages.ui.view import View

EQUATION = r"\text{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right) V"
PREFIX = "layers.{l}.attention."


def places_below(view: View) -> None:
    """Layer and head as buttons below the picture, seen where the sidebar with its sliders is closed (style.css)."""
    config = view.trace.config
    with st.container(key="places_below"):
        for name, now, count in (("layer", view.choice.layer, config.layers), ("head", view.choice.head, config.heads)):
            numbers = [str(place + 1) for place in range(count)]
            either(name, plain(f"sidebar.{name}"), range(count), numbers, now)


view = View("attention", EQUATION)
if view.kind == "single" and not view.story:
    st.info(t("attention.single"), icon=":material/info:")

if view.story:
    weights_picture(view, view.key(PREFIX + "weights"), "row" if view.kind == "drawing" else "lines")
    if view.kind != "single":
        places_below(view)
    view.tell(t(f"attention.story_ask_{view.kind}"), t(f"attention.story_take_{view.kind}"))
else:
    part = view.panel("steps", "heads", "layers") if view.kind == "drawing" else "steps"
    match part:
        case "steps":
            attention_steps(view, view.key(PREFIX))
        case "heads":
            over_heads(view)
        case "layers":
            over_layers(view)

view.close(ScaledDotProductAttention, MultiHeadAttention)
