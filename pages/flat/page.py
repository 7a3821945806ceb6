"""Flat: a drawing as a sequence of length one (lecture note 003): what attention cannot do there."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model.embedding import FlatEmbedding
from model.heads import ClassifierNetwork
from model.sublayers import ScaledDotProductAttention
from pages.flat.pictures import ATTENTION, PASSES, of_one, text, word
from pages.ui.components.tables import draw_table
from pages.ui.page import Page, Parts
from pages.ui.runs import pipelines
from pages.ui.runs.worked_out import disturbed
from pages.ui.screen import Screen
from pages.ui.state import sketch
from pages.ui.state.choice import Choice
from pages.ui.text import class_label
from pages.ui.text.numbers import percent

#: What is disturbed, each with noise of this strength.
DISTURBED = ("Q", "K", "scores", "V")
NOISE = 5.0
ONE = r"\operatorname{softmax}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{e^{s}}{e^{s}} = 1"


def ink_of(choice: Choice) -> bytes:
    """The reader's drawing; where he has none, one is borrowed."""
    return choice.ink or sketch.ink(sketch.example())


class Flat(Page):
    title_equation = ONE
    chips = False
    any_input = True

    def elsewhere(self, choice: Choice, given: Hashable) -> tuple[str, Hashable]:
        return "flat", ink_of(choice)

    def about_what(self, screen: Screen) -> Screen:
        """The page is about "flat", whatever the input."""
        borrowed = screen.network != "flat" or not screen.choice.drawing
        return screen.of("flat", ink_of(screen.choice)) if borrowed else screen

    def above(self) -> None:
        if not self.choice.ink:
            st.caption(text("borrowed"))

    def parts(self) -> Parts:
        return {"attention": self.of_one_token}

    def code(self) -> Sequence[object]:
        return FlatEmbedding, ScaledDotProductAttention, ClassifierNetwork

    def of_one_token(self) -> None:
        """Attention of one token to itself in every head; what noise does there; the same drawing in patches."""
        left, right = st.columns([3, 2], gap="medium")
        with left:
            self.attention()
        with right:
            self.noise()
            self.beside_patches()

    def attention(self) -> None:
        """Queries, keys and values of all heads, and what the softmax of a single score makes of them."""
        self.show("attention", of_one)
        if not self.touched(*PASSES, every_head=True):
            learned = {name: weight.numel() for name, weight in self.pipeline.network.named_parameters()}
            idle = sum(count for name, count in learned.items() if ".W_Q." in name or ".W_K." in name)
            whole = sum(learned.values())
            st.markdown(text("why", idle=f"{idle:,}", all=f"{whole:,}", share=percent(idle / whole)))

    def noise(self) -> None:
        """What noise on the way does to the answer: on Q, K or the scores nothing."""
        calm = np.array(self.trace.answer[0].probabilities)
        answers = disturbed(self.subject, tuple(ATTENTION + place for place in DISTURBED), NOISE, self.trace.edits)
        changes = np.abs(answers - calm).max(axis=1)
        names = [word("undisturbed"), *(word("noise_on", place=word(place)) for place in DISTURBED)]
        table = pd.DataFrame(
            np.column_stack([np.vstack([calm, answers]), [0.0, *changes]]),
            index=names,
            columns=[*(class_label(label) for label in self.trace.answer[0].labels), word("column_change")],
        )
        six = st.column_config.NumberColumn(format="%.6f")
        draw_table(table, "flat.disturbed", column_config=dict.fromkeys(table.columns, six))
        st.markdown(
            text("read_disturbed", noise=f"{NOISE:g}", still=f"{changes[:3].max():g}", value=f"{changes[3]:.4f}")
        )

    def beside_patches(self) -> None:
        """The same drawing cut into patches: how many tokens there are to choose from, and what is answered."""
        patches = pipelines.run("digits", self.subject)
        even = float(np.array(patches.answer[0].probabilities)[::2].sum())
        lines = {
            "tokens": (len(self.tokens), len(patches.tokens)),
            "weights": tuple(f"{len(run.tokens)} × {len(run.tokens)}" for run in (self.trace, patches)),
            "answer": (class_label(self.trace.answer[0].best), patches.answer[0].best),
            "even": (f"{self.trace.answer[0].probabilities[0]:.4f}", f"{even:.4f}"),
        }
        table = pd.DataFrame(
            [tuple(map(str, values)) for values in lines.values()],
            index=[word(f"row_{name}") for name in lines],
            columns=[word("column_flat"), word("column_patches")],
        )
        draw_table(table, "flat.beside")
        drawing = self.choice.drawing or sketch.example()
        self.way_to("attention", word("patches"), input="digit", drawing=drawing, panel=None)
