"""Attention: match, scale, mask, softmax, weighted sum — one step at a time, for the chosen layer and head."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from model.sublayers import MultiHeadAttention, ScaledDotProductAttention
from pages.ui.frame.pickers import either
from pages.ui.page import Page
from pages.ui.sections.attention import attention_steps
from pages.ui.sections.overlay import over_heads, over_layers
from pages.ui.sections.scaling import choose_width, why_scaled
from pages.ui.text import plain, t

PREFIX = "layers.{l}.attention."


class Attention(Page):
    @property
    def title_equation(self) -> str:
        Q, K = (rf"\tilde{{{role}}}" if self.trace.config.positions == "rotary" else role for role in "QK")
        terms, graph = self.config.distance_terms, self.trace.graph
        products = [rf"{Q} {K}^{{\top}}", *(graph[f"layers.0.attention.{term}"].symbol for term in terms)]
        scores = " + ".join(products)
        if self.config.divided:
            root = rf"{len(products)}\, d_k" if terms else "d_k"
            scores = rf"\frac{{{scores}}}{{\sqrt{{{root}}}}}"
        scores += " + B" * bool(self.config.buckets)
        return rf"\text{{Attention}}(Q, K, V) = \operatorname{{softmax}}\left({scores}\right) V"

    def above(self) -> None:
        if self.config.buckets:
            st.caption(t("attention.by_distance" if self.config.divided else "attention.by_distance_undivided"))
        if self.config.distance_terms:
            told = "told_apart_story" if self.story or self.choice.big else "told_apart"
            st.caption(t(f"attention.{told}", parts=1 + len(self.config.distance_terms)))
        if self.kind == "single" and not self.story:
            st.info(t("attention.single"), icon=":material/info:")

    def why_scaled(self) -> None:
        """What the division does to random vectors of any length, and to those of the chosen head."""
        choose_width(self)
        why_scaled(self, self.key(PREFIX))

    def places_below(self) -> None:
        """Layer and head as buttons below the picture, seen where the sidebar with its sliders is closed."""
        with st.container(key="places_below"):
            for name, now, count in (("layer", self.layer, self.config.layers), ("head", self.head, self.config.heads)):
                numbers = [str(place + 1) for place in range(count)]
                either(name, plain(f"sidebar.{name}"), range(count), numbers, now)

    def parts(self) -> Mapping[str, Callable[[], None]]:
        parts: dict[str, Callable[[], None]] = {"steps": lambda: attention_steps(self, self.key(PREFIX))}
        if self.kind == "drawing":
            parts |= {"heads": lambda: over_heads(self), "layers": lambda: over_layers(self)}
        return parts

    def code(self) -> Sequence[object]:
        own = type(self.pipeline.network.layers[self.choice.layer].attention)  # of a family that does otherwise
        return tuple(dict.fromkeys((ScaledDotProductAttention, MultiHeadAttention, own)))
