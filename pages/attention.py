"""Attention: match, scale, mask, softmax, weighted sum — one step at a time, for the chosen layer and head."""

import streamlit as st

from model.encoder import MultiHeadAttention, ScaledDotProductAttention
from pages.ui.frame import choice
from pages.ui.sections.attention import attention_steps, weights_picture
from pages.ui.sections.hidden_words import with_words_hidden
from pages.ui.sections.overlay import over_heads, over_layers
from pages.ui.text import t
from pages.ui.view import View

EQUATION = r"\text{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right) V"
PREFIX = "layers.{l}.attention."

chosen = choice()
hides = chosen.hidden and not chosen.other  # what the reader hid on Home is hidden here, too
view = View("attention", EQUATION, hides=with_words_hidden if hides else None)
if view.kind == "single" and not view.story:
    st.info(t("attention.single"), icon=":material/info:")

if view.story:
    weights_picture(view, view.key(PREFIX + "weights"), "row" if view.kind == "drawing" else "lines")
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
