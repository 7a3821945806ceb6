"""Layers: how each token's vector changes from layer to layer, and where it comes from."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st

from model.analysis import placed, rollout
from model.config import NORMS
from model.encoder import EncoderLayer
from pages.layers.pictures import (
    all_reached,
    chosen_key,
    classes,
    cosine_by_hand,
    difference,
    lengths_on_the_way,
    likeness,
    origin,
    path,
    read_output,
    rollout_by_hand,
    similarity,
    words,
)
from pages.ui.components.arithmetic import arithmetic
from pages.ui.page import Page, Parts
from pages.ui.picture import Picture
from pages.ui.runs.worked_out import best_words, plane
from pages.ui.sections.cell_map import cell_maps
from pages.ui.sections.sentence_vector import of_input
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.sections.working import MOST, terms
from pages.ui.text import plain, t

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

    def parts(self) -> Parts:
        return {"lens": self.lens, "path": self.trajectories, "alike": self.similarity, "origin": self.origin}

    def lens(self) -> None:
        """The likeliest words at the selected token, or the classes, after each layer; of two runs how they differ."""
        if "logits" not in self.trace:
            no_guess = of_input(self, "no_guess") if self.choice.checkpoint else "untrained.no_guess"
            st.info(t(no_guess), icon=":material/shuffle:")
        elif self.two.differs and self.two.counterpart(self.token) is not None:
            self.show("guess", partial(difference, lens=self.pipeline.read_layers))
        elif self.says_words:
            found = best_words(self.choice.pipeline, self.trace, self.token)
            self.show("guess", partial(words, found=found))
        else:
            self.show("guess", partial(classes, lens=self.pipeline.read_layers))

    def trajectories(self) -> None:
        """The plane, and the lengths beside it; in a presentation the plane alone."""
        make = partial(path, plane=plane)
        if self.choice.big:
            self.show("path", make)
            return
        left, right = st.columns([3, 2], gap="medium")
        with left:
            self.show("path", make)
        with right:
            self.show("norms", lengths_on_the_way)

    def similarity(self) -> None:
        key = chosen_key(self.at, likeness(self.trace, self.at))
        self.map("similarity", similarity, key, lambda: cosine_by_hand(self.trace, self.at, key))

    def origin(self) -> None:
        """The rollout; after the last layer, Z below it."""
        run, at, reached = self.trace, self.at, all_reached(self.trace)
        key = chosen_key(at, reached[at.layer, at.token])
        by_hand = partial(rollout_by_hand, run, at, reached, key, MOST)
        self.map("rollout", origin, key, lambda: [terms(self, table) for table in by_hand()])
        Z = self.trace.graph.Z
        if self.layer + 1 == self.trace.graph.layers() and not self.choice.big:
            cell_maps(self, [Z], [read_output(self.trace, self.at)], [{"title": "Z"}])

    def map(self, name: str, make: Callable[..., Picture], key: int, lines: Callable[[], Sequence[str]]) -> None:
        """A map of all tokens by all tokens, beside it the arithmetic of its chosen cell; in a presentation alone.

        lines: the arithmetic, in HTML.
        """
        alone = self.choice.big
        left, right = (st.container(), None) if alone else st.columns([1, 1], gap="medium")
        with left:
            self.show(name, make)
        if right is not None:
            names = placed(self.tokens)
            with right, st.container(border=True, key=f"working.{name}"):
                pair = plain("layers.pair", token=names[self.token], other=names[key])
                st.markdown(f"**{plain('common.by_hand')}** · {pair}")
                arithmetic("".join(lines()), key=f"{name}_by_hand")

    def code(self) -> Sequence[object]:
        return EncoderLayer, rollout
