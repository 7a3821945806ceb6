"""Attention: match, scale, mask, softmax, weighted sum — one step at a time, for the chosen layer and head."""

import streamlit as st

from model.encoder import MultiHeadAttention, ScaledDotProductAttention
from pages.ui.sections.attention import attention_step, looks_most, stepper, weights_picture
from pages.ui.text import t
from pages.ui.view import View

EQUATION = r"\text{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right) V"
PREFIX = "layers.{l}.attention."

view = View("attention", EQUATION)
weights = view.key(PREFIX + "weights")
if len(view.trace.tokens) == 1:
    st.info(t("attention.single"), icon=":material/info:")

if view.story:
    way = "lines" if view.trace.picture is None else "row"
    weights_picture(view, weights, way, looks_most(view, weights))
    view.tell(t("attention.story_ask"), t("attention.story_take"))
else:
    attention_step(view, view.key(PREFIX), stepper(view))

view.close(ScaledDotProductAttention, MultiHeadAttention)
