"""Flat: a drawing as a sequence of length one (lecture note 003): what attention cannot do there."""

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from model import Edit, Trace
from model.embedding import FlatEmbedding
from model.heads import ClassifierNetwork
from model.sublayers import ScaledDotProductAttention
from pages.drawing.figures.equations import plain_math
from pages.drawing.page import Page
from pages.drawing.picture import touched
from pages.drawing.screen import Screen
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.text import class_label
from pages.drawing.text.numbers import percent, unsigned
from pages.flat.pictures import ATTENTION, PASSES, in_patches, of_one, one_token, text, word
from pages.screen.components.tables import draw_table
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.runs import pipelines

#: What is disturbed, each with noise of this strength.
DISTURBED = ("Q", "K", "scaled", "V")
NOISE = 5.0
ONE = r"\operatorname{softmax}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{e^{s}}{e^{s}} = 1"


def ink_of(choice: Choice) -> bytes:
    """The reader's drawing; where he has none, one is borrowed."""
    return choice.ink or sketch.ink(sketch.example())


def of_flat(screen: Screen, choice: Choice) -> Screen:
    """The page is about "flat", whatever the input; with noise where the reader wants it."""
    borrowed = screen.network != "flat" or not screen.choice.drawing
    flat = screen.of("flat", ink_of(screen.choice)) if borrowed else screen
    if choice.stage not in DISTURBED:
        return flat
    noise = Edit(ATTENTION + choice.stage, "noise", NOISE)
    return replace(flat, run=flat.source.run("flat", flat.subject, (*flat.run.edits, noise)))


def symbol(screen: Screen, name: str) -> str:
    return plain_math(screen.run.graph[ATTENTION + name].symbol)


def where_noise_is(screen: Screen, pen: Pen) -> None:
    """Buttons for what is disturbed."""
    words = [word("no_noise"), *(symbol(screen, name) for name in DISTURBED)]
    with pen.places:
        either("stage", word("noise"), ("none", *DISTURBED), words, screen.choice.stage, key="noise")


def of_one_token(screen: Screen, pen: Pen) -> None:
    """The drawing, whole; attention of its one token to itself in every head; the same drawing in patches. Outside a
    presentation also both answers.
    """
    where_noise_is(screen, pen)
    patches = pipelines.run("digits", screen.subject)
    left, middle, right = st.columns([5, 12, 6], gap="medium")
    with left:
        pen.show("one_token", one_token)
    with middle:
        pen.show("attention", of_one)
        if screen.choice.stage in DISTURBED:
            disturbed(screen)
        if not screen.choice.big and not touched(screen.run, screen.at.head, shares=PASSES, every_head=True):
            idle(screen)
    with right:
        pen.show("patches", in_patches(patches, screen.choice.drawing or sketch.example()))
        if not screen.choice.big:
            answers(screen, patches)


def answers(screen: Screen, patches: Trace) -> None:
    """A table of what is read in the drawing, as one token and in patches."""
    own, digit = screen.run.answer[0], patches.answer[0].best
    kind = class_label(own.labels[int(digit) % 2])
    rows = {
        "answer": (class_label(own.best), word("digit", digit=digit, kind=kind)),
        "even": tuple(f"{even:.4f}" for even in (even_of(screen), sum(patches.answer[0].probabilities[::2]))),
    }
    table = pd.DataFrame(
        [tuple(map(str, values)) for values in rows.values()],
        index=[word(f"row_{name}") for name in rows],
        columns=[word("one_token"), word("patches")],
    )
    draw_table(table, "flat.beside")


def even_of(screen: Screen) -> float:
    return float(screen.run.answer[0].probabilities[0])


def idle(screen: Screen) -> None:
    """What attention is, and how many parameters have no effect."""
    learned = {name: weight.numel() for name, weight in screen.pipeline.network.named_parameters()}
    unused = sum(count for name, count in learned.items() if ".W_Q." in name or ".W_K." in name)
    whole = sum(learned.values())
    st.markdown(text("why", idle=f"{unused:,}", all=f"{whole:,}", share=percent(unused / whole)))


def disturbed(screen: Screen) -> None:
    """What the noise does to the answer: on Q, K or the scores nothing."""
    calm = screen.source.run("flat", screen.subject, screen.run.edits[:-1]).answer[0].probabilities
    change = float(np.abs(np.subtract(screen.run.answer[0].probabilities, calm)).max())
    place = symbol(screen, screen.choice.stage or "")
    st.markdown(text("read_noise", noise=f"{NOISE:g}", place=place, value=unsigned(change) if change else "0"))


PAGE = Page(
    name="flat",
    group="more",
    tabs=lambda screen: {"attention": of_one_token},
    any_input=True,
    attention=True,
    draws=True,
    elsewhere=lambda choice, given: ("flat", ink_of(choice)),
    about=of_flat,
    chips=lambda screen: False,
    equation=lambda screen: ONE,
    code=lambda screen: (FlatEmbedding, ScaledDotProductAttention, ClassifierNetwork),
)
