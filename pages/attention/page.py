"""Attention: the weights of one head as a map, computed step by step, and through all layers."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from model.measures.scaling import WIDTHS
from model.sublayers import MultiHeadAttention, ScaledDotProductAttention
from pages.attention.maps import through_layers, weights
from pages.attention.read import steps_of
from pages.attention.scaling import about_scaling, why_scaled, word
from pages.attention.steps import attention_steps
from pages.ui.components.player import stop
from pages.ui.frame.pickers import bound
from pages.ui.page import Page, Parts
from pages.ui.state.link import select
from pages.ui.text import t

PREFIX = "layers.{l}.attention."


class Attention(Page):
    head_maps = True

    @property
    def title_equation(self) -> str:
        Q, K = (rf"\tilde{{{role}}}" if self.trace.config.positions == "rotary" else role for role in "QK")
        terms, graph = self.config.distance_terms, self.trace.graph
        products = [rf"{Q} {K}^{{\top}}", *(graph[f"layers.0.attention.{term}"].symbol for term in terms)]
        scores = " + ".join(products)
        if self.config.divided:
            root = rf"{len(products)}\, d_k" if terms else "d_k"
            scores = rf"\frac{{{scores}}}{{\sqrt{{{root}}}}}"
        scores += " + B" * self.config.by_distance
        return rf"\text{{Attention}}(Q, K, V) = \operatorname{{softmax}}\left({scores}\right) V"

    def above(self) -> None:
        if self.config.by_distance:
            st.caption(t("attention.by_distance" if self.config.divided else "attention.by_distance_undivided"))
        if self.config.distance_terms:
            st.caption(t("attention.told_apart", parts=1 + len(self.config.distance_terms)))
        if self.kind == "single":
            st.info(t("attention.single"), icon=":material/info:")

    def parts(self) -> Parts:
        parts: dict[str, Callable[[], object]] = {"map": self.map, "steps": self.steps}
        if self.kind != "single":
            parts["layers"] = lambda: through_layers(self)
            if self.config.divided and not self.config.distance_terms:
                parts["root"] = self.root
        return parts

    def choose_part(self, names: Sequence[str]) -> str:
        if (part := super().choose_part(names)) != "steps":
            stop()
        return part

    def usual_part(self, names: Sequence[str]) -> str:
        """That of the link's step, or of what stood there in links of before."""
        choice = self.choice
        if choice.panel == "heads" and self.kind == "drawing":
            return "layers"
        if (choice.stage, choice.as_) == ("scaled", "why") and "root" in names:
            return "root"
        steps = steps_of(self.trace, self.key(PREFIX))
        return "steps" if choice.stage in steps and choice.stage != "weights" else "map"

    def map(self) -> None:
        self.step_keys()
        weights(self, self.key(PREFIX), self.row)

    def steps(self) -> None:
        self.step_keys()
        attention_steps(self, self.key(PREFIX), self.row)

    def step_keys(self) -> None:
        """Let digits open the steps."""
        for number, name in enumerate(steps_of(self.trace, self.key(PREFIX)), 1):
            self.on_key(str(number), partial(select, panel="steps", stage=name))

    def root(self) -> None:
        """What the division does to random vectors of any length, and to those of the chosen head."""
        look = bound("scaling.d_k", self.choice.d_k, lambda d_k: select(d_k=d_k)) | {"label_visibility": "collapsed"}
        with self.row:
            st.select_slider(word("slider"), WIDTHS, width=260, format_func="dₖ = {}".format, **look)
        self.show("why", partial(why_scaled, d_k=self.choice.d_k))
        st.caption(about_scaling())

    def code(self) -> Sequence[object]:
        own = type(self.pipeline.network.layers[self.choice.layer].attention)  # of a family that does otherwise
        return tuple(dict.fromkeys((ScaledDotProductAttention, MultiHeadAttention, own)))
