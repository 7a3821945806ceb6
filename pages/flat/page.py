"""Flat: a drawing as a sequence of length one (lecture note 003): what attention cannot do there."""

from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from model.embedding import FlatEmbedding
from model.heads import ClassifierNetwork
from model.sublayers import ScaledDotProductAttention
from pages.ui.components.tables import draw_table
from pages.ui.figures import Axis, Thumbnail, role_colours, thumbnails
from pages.ui.figures.equations import html_math, plain_math
from pages.ui.page import Page
from pages.ui.runs import pipelines
from pages.ui.runs.measure import Measure, widest
from pages.ui.runs.worked_out import disturbed
from pages.ui.state import sketch
from pages.ui.state.choice import Choice
from pages.ui.text import class_label, plain, t, texts_of

ATTENTION = "layers.0.attention."
#: What is drawn of each head, row by row.
DRAWN = ("Q", "K", "V"), ("scaled", "weights", "heads")
#: What is disturbed, each with noise of this strength.
DISTURBED = ("Q", "K", "scores", "V")
NOISE = 5.0
ONE = r"\operatorname{softmax}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{e^{s}}{e^{s}} = 1"
text, word = texts_of("flat")


def ink_of(choice: Choice) -> bytes:
    """The reader's drawing; where he has none, one is borrowed."""
    return choice.ink or sketch.ink(sketch.example())


class Flat(Page):
    title_equation = ONE
    chips = False
    any_input = True

    def elsewhere(self) -> tuple[str, Hashable] | None:
        return "flat", ink_of(self.choice)

    def above(self) -> None:
        #: The drawing, as 28 × 28 grey values.
        self.ink = ink_of(self.choice)
        if not self.choice.ink:
            st.caption(text("borrowed"))
        if self.choice.pipeline != "flat" or not self.choice.drawing:
            self.follow("flat", self.ink)  # the page is about "flat", whatever the input
        elif self.shows == "other":
            self.ink = sketch.ink(self.choice.other_drawing)
        self.choice = self.choice.fitted(self.config, len(self.tokens))

    def parts(self) -> Mapping[str, Callable[[], None]]:
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
        names = [plain("heads.head", head=head + 1) for head in range(self.config.heads)]
        measures: dict[str, Measure] = {}
        for name in (name for row in DRAWN for name in row):
            measure = self.measure(ATTENTION + name, every_head=True).less_nothing()[:, 0]
            symbol = plain_math(self.trace.graph[ATTENTION + name].symbol)
            side = Axis(plain("axis.d_k") if measure.values.shape[-1] > 1 else "")
            measures[name] = measure.on(Axis("", [f"{symbol}: {head}" for head in names]), side)
        grid = [[self.small(name, measures[name].values, names) for name in row] for row in DRAWN]
        scaled, values = self.trace[ATTENTION + "scaled"], self.trace[ATTENTION + "V"]
        passes = not self.touched(ATTENTION + "weights", ATTENTION + "heads", every_head=True)
        said = {
            "heads": len(values),
            "d_k": values.shape[-1],
            "low": f"{scaled.min():.2f}",
            "high": f"{scaled.max():.2f}",
        }
        self.picture(
            "attention",
            thumbnails(grid, row_height=170),
            text("read_attention", **said) if passes else t("change.no_law"),
            values=values,
            table=pd.DataFrame(measures["V"].values, index=names, columns=range(1, values.shape[-1] + 1)),
            shows=widest(measures.values()),
        )
        if passes:
            learned = {name: weight.numel() for name, weight in self.pipeline.network.named_parameters()}
            idle = sum(count for name, count in learned.items() if ".W_Q." in name or ".W_K." in name)
            whole = sum(learned.values())
            st.markdown(text("why", idle=f"{idle:,}", all=f"{whole:,}", share=f"{idle / whole:.0%}"))

    def small(self, name: str, values: np.ndarray, heads: Sequence[str]) -> Thumbnail:
        """A row for each head of one quantity."""
        scale = "share" if name == "weights" and not self.differs else "signed"
        title = html_math(self.trace.graph[ATTENTION + name].symbol)
        return Thumbnail(title, values, heads, scale, colour=role_colours().get(name))

    def noise(self) -> None:
        """What noise on the way does to the answer: on Q, K or the scores nothing."""
        calm = np.array(self.trace.answer[0].probabilities)
        answers = disturbed(self.ink, tuple(ATTENTION + place for place in DISTURBED), NOISE, self.trace.edits)
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
        patches = pipelines.run("digits", self.ink)
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
