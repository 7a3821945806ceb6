"""Layers: how each token's vector changes from layer to layer, and where it comes from."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from model.analysis import rollout
from model.config import NORMS
from model.encoder import EncoderLayer
from pages.layers.lens import logit_lens
from pages.layers.origin import origin
from pages.layers.similarity import similarity
from pages.layers.trajectories import trajectories
from pages.ui.page import Page
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.text import t

PARTS = {"lens": logit_lens, "path": trajectories, "alike": similarity, "origin": origin}
FORMER = {"lengths": "path", "out": "origin"}


class Layers(Page):
    former = FORMER

    @property
    def purpose(self) -> str:
        return "layers.purpose_shared" if shared_weights(self.config) else super().purpose

    @property
    def title_equation(self) -> str:
        """The whole layer, wherever its LayerNorms stand."""
        lines: list[str] = []
        rows = ("MHA", r"\lambda", "X", "X'"), ("FFN", r"\lambda'", "X'", "X^{(l+1)}")
        for sub, (name, scale, read, made) in zip(self.trace.graph.sublayers(self.layer), rows, strict=True):
            norm = rf"\operatorname{{{NORMS[self.config.norm]}}}(%s)" if sub.norm else "%s"
            found = rf"{scale} \odot \text{{{name}}}" if self.config.layer_scale else rf"\text{{{name}}}"
            whole = f"{read} + {found}({norm % read})" if sub.norm_first else norm % f"{read} + {found}({read})"
            lines.insert(0, f"{made} = {whole}")
        return r"\begin{gathered} " + r" \\ ".join(lines) + r" \end{gathered}"

    def above(self) -> None:
        if said := shared_weights(self.config, "differs"):
            st.caption(" ".join(said))
        if len(self.tokens) == 1:
            st.info(t("layers.one_token"), icon=":material/info:")

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {name: partial(draw, self) for name, draw in PARTS.items()}

    def code(self) -> Sequence[object]:
        return EncoderLayer, rollout
