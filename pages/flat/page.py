"""Flat: a drawing as a sequence of length one (lecture note 003): what attention cannot do there."""

import numpy as np
import pandas as pd
import streamlit as st

from model.embedding import FlatEmbedding
from model.heads import ClassifierNetwork
from model.sublayers import ScaledDotProductAttention
from pages.drawing.page import Page
from pages.drawing.picture import touched
from pages.drawing.screen import Screen
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.text import class_label
from pages.drawing.text.numbers import percent, unsigned
from pages.flat.pictures import ATTENTION, PASSES, drawn, of_one, text, word
from pages.screen.components.tables import draw_table
from pages.screen.frame.pen import Pen
from pages.screen.runs import pipelines
from pages.screen.runs.worked_out import disturbed

#: What is disturbed, each with noise of this strength.
DISTURBED = ("Q", "K", "scores", "V")
NOISE = 5.0
ONE = r"\operatorname{softmax}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{e^{s}}{e^{s}} = 1"


def ink_of(choice: Choice) -> bytes:
    """The reader's drawing; where he has none, one is borrowed."""
    return choice.ink or sketch.ink(sketch.example())


def of_flat(screen: Screen, choice: Choice) -> Screen:
    """The page is about "flat", whatever the input."""
    borrowed = screen.network != "flat" or not screen.choice.drawing
    return screen.of("flat", ink_of(screen.choice)) if borrowed else screen


def above(screen: Screen, pen: Pen) -> None:
    if not screen.choice.ink:
        st.caption(text("borrowed"))


def of_one_token(screen: Screen, pen: Pen) -> None:
    """Attention of one token to itself in every head; outside a presentation, what noise does there, and the same
    drawing in patches.
    """
    left, right = st.columns([3, 2], gap="medium")
    with left:
        pen.show("attention", of_one)
        if not screen.choice.big and not touched(screen.run, screen.at.head, *PASSES, every_head=True):
            idle(screen)
    with right:
        pen.show("drawing", drawn)
        if not screen.choice.big:
            noise(screen)
            beside_patches(screen, pen)


def idle(screen: Screen) -> None:
    """What attention is, and how many parameters have no effect."""
    learned = {name: weight.numel() for name, weight in screen.pipeline.network.named_parameters()}
    unused = sum(count for name, count in learned.items() if ".W_Q." in name or ".W_K." in name)
    whole = sum(learned.values())
    st.markdown(text("why", idle=f"{unused:,}", all=f"{whole:,}", share=percent(unused / whole)))


def noise(screen: Screen) -> None:
    """What noise on the way does to the answer: on Q, K or the scores nothing."""
    calm = np.array(screen.run.answer[0].probabilities)
    answers = disturbed(screen.subject, tuple(ATTENTION + place for place in DISTURBED), NOISE, screen.run.edits)
    changes = np.abs(answers - calm).max(axis=1)
    names = [word("undisturbed"), *(word("noise_on", place=word(place)) for place in DISTURBED)]
    table = pd.DataFrame(
        np.column_stack([np.vstack([calm, answers]), [0.0, *changes]]),
        index=names,
        columns=[*(class_label(label) for label in screen.run.answer[0].labels), word("column_change")],
    )
    six = st.column_config.NumberColumn(format="%.6f")
    draw_table(table, "flat.disturbed", column_config=dict.fromkeys(table.columns, six))
    st.markdown(
        text("read_disturbed", noise=f"{NOISE:g}", still=f"{changes[:3].max():g}", value=unsigned(float(changes[3])))
    )


def beside_patches(screen: Screen, pen: Pen) -> None:
    """The same drawing cut into patches: how many tokens there are to choose from, and what is answered."""
    patches = pipelines.run("digits", screen.subject)
    even = float(np.array(patches.answer[0].probabilities)[::2].sum())
    lines = {
        "tokens": (len(screen.run.tokens), len(patches.tokens)),
        "weights": tuple(f"{len(run.tokens)} × {len(run.tokens)}" for run in (screen.run, patches)),
        "answer": (class_label(screen.run.answer[0].best), patches.answer[0].best),
        "even": (f"{screen.run.answer[0].probabilities[0]:.4f}", f"{even:.4f}"),
    }
    table = pd.DataFrame(
        [tuple(map(str, values)) for values in lines.values()],
        index=[word(f"row_{name}") for name in lines],
        columns=[word("column_flat"), word("column_patches")],
    )
    draw_table(table, "flat.beside")
    drawing = screen.choice.drawing or sketch.example()
    pen.way_to("attention", word("patches"), input="digit", drawing=drawing, tab=None)


PAGE = Page(
    name="flat",
    group="more",
    tabs=lambda screen: {"attention": of_one_token},
    any_input=True,
    attention=True,
    elsewhere=lambda choice, given: ("flat", ink_of(choice)),
    about=of_flat,
    chips=lambda screen: False,
    equation=lambda screen: ONE,
    above=above,
    code=lambda screen: (FlatEmbedding, ScaledDotProductAttention, ClassifierNetwork),
)
