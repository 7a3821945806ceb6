"""Flat: a drawing as a sequence of length one (lecture note 003): what attention cannot do there."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model import Edit, Trace
from model.embedding import FlatEmbedding
from model.heads import ClassifierNetwork
from model.sublayers import ScaledDotProductAttention
from pages.drawing.figures.equations import plain_math
from pages.drawing.page import Page
from pages.drawing.picture import touched
from pages.drawing.screen import Screen, changed
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.text.numbers import percent, unsigned
from pages.flat.pictures import (
    ATTENTION,
    DISTURBED,
    NOISE,
    PASSES,
    SCORED,
    as_read,
    in_patches,
    of_one,
    text,
    with_noise,
    word,
)
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either

ONE = r"\operatorname{softmax}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{e^{s}}{e^{s}} = 1"


def ink_of(choice: Choice) -> bytes:
    """The reader's drawing; where he has none, one is borrowed."""
    return choice.ink or sketch.ink(sketch.example())


def of_flat(screen: Screen, choice: Choice) -> Screen:
    """The page is about "flat", whatever the input; among its heads with noise where the reader wants it."""
    borrowed = screen.network != "flat" or not screen.choice.drawing
    flat = screen.of("flat", ink_of(screen.choice)) if borrowed else screen
    if choice.tab != "attention" or choice.stage not in DISTURBED:
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


def noise_on_attention(screen: Screen, pen: Pen) -> None:
    """The drawing as either network reads it; beside it how far noise moves what either says: odd or even."""
    patches = screen.source.run("digits", screen.subject)
    moved = np.stack([_moved(screen, "flat", screen.run), _moved(screen, "digits", patches)])
    accuracy = {name: screen.source.pipeline(name).measured["test_accuracy"] for name in ("flat", "digits")}
    big = screen.choice.big
    left, right = st.columns([4, 5] if big else [1, 3], gap="large")
    whole, cut = left.columns(2) if big else (left, left)
    with whole:
        pen.show("one_token", partial(as_read, accuracy=accuracy["flat"]))
    with cut:
        pen.show("patches", lambda run, place: as_read(patches, place, accuracy["digits"]))
    with right:
        pen.show("with_noise", partial(with_noise, moved=moved))


def _moved(screen: Screen, network: str, calm: Trace) -> np.ndarray:
    """How far noise on each of what is disturbed, in every layer, moves the probability that the digit is odd: of ten
    classes, the sum of the odd ones.
    """
    noises = [Edit(f"layers.{{l}}.attention.{name}", "noise", NOISE) for name in SCORED]
    run = partial(screen.source.run, network, screen.subject)
    runs = [calm, *(changed(run, (*calm.edits, noise)) for noise in noises)]
    odd = np.array([one.answer[0].probabilities for one in runs])[:, 1::2].sum(axis=1)
    return np.abs(odd[1:] - odd[0])


def of_heads(screen: Screen, pen: Pen) -> None:
    """Attention of the one token to itself in every head; the same drawing in patches."""
    where_noise_is(screen, pen)
    left, right = st.columns([2, 1], gap="medium")
    with left:
        pen.show("attention", of_one)
        if screen.choice.stage in DISTURBED:
            disturbed(screen)
        if not screen.choice.big and not touched(screen.run, screen.at.head, shares=PASSES, every_head=True):
            idle(screen)
    with right:
        patches = screen.source.run("digits", screen.subject)
        pen.show("patches", in_patches(patches, screen.choice.drawing or sketch.example()))


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
    tabs=lambda screen: {"noise": noise_on_attention, "attention": of_heads},
    any_input=True,
    attention=True,
    draws=True,
    elsewhere=lambda choice, given: ("flat", ink_of(choice)),
    about=of_flat,
    chips=lambda screen: False,
    equation=lambda screen: ONE,
    code=lambda screen: (FlatEmbedding, ScaledDotProductAttention, ClassifierNetwork),
)
