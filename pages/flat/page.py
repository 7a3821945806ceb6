"""Flat: a drawing as a sequence of length one (lecture note 003): what attention cannot do there."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model import Edit
from model.embedding import FlatEmbedding
from model.heads import ClassifierNetwork
from model.sublayers import ScaledDotProductAttention
from pages.drawing.figures.equations import plain_math
from pages.drawing.page import Page
from pages.drawing.picture import touched
from pages.drawing.screen import Screen, changed
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.text import class_label
from pages.drawing.text.numbers import percent
from pages.flat.pictures import (
    ATTENTION,
    CALM,
    DISTURBED,
    NOISE,
    PARITY,
    PASSES,
    as_one,
    in_patches,
    of_one,
    text,
    with_noise,
    word,
)
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound
from pages.screen.link import select

ONE = r"\operatorname{softmax}\left(\frac{q \cdot k}{\sqrt{d_k}}\right) = \frac{e^{s}}{e^{s}} = 1"


def ink_of(choice: Choice) -> bytes:
    """The reader's drawing; where he has none, one is borrowed."""
    return choice.ink or sketch.ink(sketch.example())


def disturbed(choice: Choice) -> str:
    """What the reader disturbs on this page, or CALM: another page's step is none of it."""
    return choice.stage if choice.tab in TABS and choice.stage in DISTURBED else CALM


def noise(name: str) -> tuple[Edit, ...]:
    """The change that puts noise on one quantity of attention in every layer; none for CALM."""
    return () if name == CALM else (Edit(f"layers.{{l}}.attention.{name}", "noise", NOISE),)


def of_flat(screen: Screen, choice: Choice) -> Screen:
    """The page is about "flat", whatever the input, with noise where the reader wants it."""
    borrowed = screen.network != "flat" or not screen.choice.drawing
    flat = screen.of("flat", ink_of(screen.choice)) if borrowed else screen
    if (name := disturbed(choice)) == CALM:
        return flat
    return replace(flat, run=flat.source.run("flat", flat.subject, (*flat.run.edits, *noise(name))))


def where_noise_is(screen: Screen, pen: Pen) -> None:
    """Buttons for what is disturbed."""
    tab = screen.choice.tab if screen.choice.tab in TABS else next(iter(TABS))
    words = {CALM: word("no_noise")}
    words |= {name: plain_math(screen.run.graph[ATTENTION + name].symbol) for name in DISTURBED[1:]}
    look = bound("flat.noise", disturbed(screen.choice), lambda name: select(tab=tab, stage=name))
    look |= {"format_func": words.__getitem__, "required": True, "wrap": True}
    with pen.places:
        st.segmented_control(word("noise"), list(words), **look)


def both_readings(screen: Screen, pen: Pen) -> None:
    """The drawing as either network reads it, with its answer; beside them what noise makes of both answers."""
    where_noise_is(screen, pen)
    own = screen.run.edits[: len(screen.run.edits) - (disturbed(screen.choice) != CALM)]
    whole, cut = _answers(screen, "flat", own), _answers(screen, "digits", ())
    best = int(whole[0].argmax())  # the class that the line on top names
    p, answer = np.stack([whole[:, best], cut[:, best::2].sum(axis=1)]), class_label(PARITY[best])
    now = DISTURBED.index(disturbed(screen.choice))
    patches = screen.source.run("digits", screen.subject, noise(disturbed(screen.choice)))
    accuracy = [screen.source.pipeline(name).measured["test_accuracy"] for name in ("flat", "digits")]
    ink = screen.choice.drawing or sketch.example()
    left, middle, right = st.columns([1, 1, 2] if screen.choice.big else [2, 2, 3], gap="medium")
    with left:
        pen.show("one_token", partial(as_one, answer=answer, p=p[0, now], accuracy=accuracy[0], now=now))
    with middle:
        pen.show("patches", in_patches(patches, ink, answer, p[1, now], accuracy[1], now=now, unchanged=bool(own)))
    with right:
        pen.show("with_noise", partial(with_noise, answer=answer, p=p, now=now))


def _answers(screen: Screen, network: str, edits: tuple[Edit, ...]) -> np.ndarray:
    """The probability of each class, calm and with noise on each of what is disturbed: (len(DISTURBED), class)."""
    run = partial(screen.source.run, network, screen.subject)
    runs = [changed(run, (*edits, *noise(name))) for name in DISTURBED]
    return np.array([one.answer[0].probabilities for one in runs])


def of_heads(screen: Screen, pen: Pen) -> None:
    """Attention of the one token to itself in every head."""
    where_noise_is(screen, pen)
    pen.show("attention", of_one)


def on_one_screen(screen: Screen, pen: Pen) -> None:
    """Both readings, below them what every head makes of the one token, and what that leaves of attention."""
    both_readings(screen, pen)
    pen.show("attention", of_one)
    linear = [ATTENTION + name for name in ("V", "concat", "output")]
    if not touched(screen.run, screen.at.head, *linear, shares=PASSES, every_head=True):
        idle(screen)


def idle(screen: Screen) -> None:
    """What attention is, and how many parameters have no effect."""
    learned = {name: weight.numel() for name, weight in screen.pipeline.network.named_parameters()}
    unused = sum(count for name, count in learned.items() if ".W_Q." in name or ".W_K." in name)
    whole = sum(learned.values())
    st.markdown(text("why", idle=f"{unused:,}", all=f"{whole:,}", share=percent(unused / whole)))


TABS = {"noise": both_readings, "attention": of_heads}
PAGE = Page(
    name="flat",
    group="more",
    tabs=lambda screen: TABS if screen.choice.big else {"noise": on_one_screen},
    any_input=True,
    attention=True,
    draws=True,
    elsewhere=lambda choice, given: ("flat", ink_of(choice)),
    about=of_flat,
    chips=lambda screen: False,
    equation=lambda screen: ONE,
    code=lambda screen: (FlatEmbedding, ScaledDotProductAttention, ClassifierNetwork),
)
