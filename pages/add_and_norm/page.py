"""Add & Norm: the residual connection adds a sub-layer's output to its input; LayerNorm rescales every vector."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from model.config import NORMS
from model.encoder import EncoderLayer
from model.graph import Sublayer
from model.rms import RMSNorm
from pages.add_and_norm.pictures import USUAL, AddNorm, cosines, histogram, lengths, maps, text, word
from pages.add_and_norm.why_add_and_norm import (
    about_gradients,
    batch_norm,
    batch_of_one,
    gradients_by_layer,
)
from pages.ui.frame.pickers import either
from pages.ui.page import Page, Parts
from pages.ui.picture import Numbers
from pages.ui.runs.worked_out import gradients
from pages.ui.sections.quantity_map import chosen_cell, name_of
from pages.ui.sections.without import alike_without
from pages.ui.sections.working import working

AFTER_SUM = r"\operatorname{%s}\bigl(X + \operatorname{Sublayer}(X)\bigr)"
BEFORE_SUBLAYER = r"X + \operatorname{Sublayer}\bigl(\operatorname{%s}(X)\bigr)"
JUST_THE_SUM = r"X + \operatorname{Sublayer}(X)"
FORMER = {"values": "maps", "without": "ablation", "why": "ablation"}


WAYS = {"lengths": lengths, "cosines": cosines}


class AddAndNorm(Page):
    former = FORMER

    @property
    def add_norm(self) -> AddNorm:
        """The sub-layer that the page is about."""
        return AddNorm(self.trace, self.at)

    @property
    def sub(self) -> Sublayer:
        return self.add_norm.sub

    @property
    def title_equation(self) -> str:
        if self.sub.norm is None:
            return JUST_THE_SUM
        return (BEFORE_SUBLAYER if self.sub.norm_first else AFTER_SUM) % NORMS[self.config.norm]

    @property
    def purpose(self) -> str:
        return super().purpose if self.sub.norm and not self.sub.norm_first else "add_and_norm.purpose_before"

    def above(self) -> None:
        if self.add_norm.rms:
            st.caption(text("simpler"))

    def parts(self) -> Parts:
        parts: dict[str, Callable[[], object]] = {"maps": self.maps, "ways": self.ways_pictures}
        if self.kind != "single" or self.knows_gradients or not self.add_norm.rms:
            parts["ablation"] = self.ablation
        return parts

    @property
    def knows_gradients(self) -> bool:
        """Whether gradients are shown: of the network as it was trained, and not of others', which may be large."""
        return not (self.trace.edits or self.choice.checkpoint or self.choice.paper)

    def ablation(self) -> None:
        """What is lost without residual connections or norms: how alike tokens become, and what training has."""
        if self.kind != "single":
            alike_without(self)
        if self.knows_gradients:
            found = gradients(self.choice.pipeline, self.trace.states()[0], self.token)
            self.show("gradients", partial(gradients_by_layer, found=found))
            st.markdown(about_gradients())
        if self.add_norm.rms:
            return
        if self.kind == "single":
            st.markdown(batch_of_one())
        else:
            self.show("batch_norm", batch_norm)

    def choose_part(self, names: Sequence[str]) -> str:
        part = super().choose_part(names)
        sublayers = self.trace.graph.sublayers(self.layer)
        words, now = [word(f"place_{each.name}") for each in sublayers], sublayers.index(self.sub) + 1
        either("sublayer", word("place"), range(1, len(sublayers) + 1), words, now, label_visibility="collapsed")
        return part

    def code(self) -> Sequence[object]:
        return (EncoderLayer, RMSNorm) if self.add_norm.rms else (EncoderLayer,)

    def ways_pictures(self) -> None:
        """How long the vectors are, and where they point."""
        for column, (name, make) in zip(st.columns([1, 1]), WAYS.items(), strict=True):
            with column:
                self.show(name, make)

    def maps(self) -> None:
        """Every quantity on the way in one band; below it, but not in a presentation, the arithmetic of the chosen cell
        and the token's values.
        """
        steps = self.add_norm.steps
        drawn = self.two.numbers(lambda run, place: [Numbers.of(run, key) for key in steps])
        limit = float(np.quantile(np.abs([one.less_nothing().array for one in drawn]), USUAL)) or None
        focus = next((key for key in steps if name_of(key) == self.choice.stage), steps[-1])
        self.show_both("maps", partial(maps, focus=focus, limit=limit))
        if self.choice.big:
            return
        left, right = st.columns([1, 1], gap="medium")
        with left:
            working(self, focus, chosen_cell(self.trace, self.at, focus))
        with right:
            self.show("histogram", histogram)
