"""Prediction: the likeliest words at each hidden place, or the classes, with the arithmetic of one."""

from dataclasses import replace
from functools import partial

import streamlit as st

from pages.answer.pictures import OWN, Hidden, at_temperature, chosen, every_place, tau_word
from pages.ui.frame.pen import Pen
from pages.ui.frame.pickers import bound, either
from pages.ui.picture import says_words
from pages.ui.screen import Screen
from pages.ui.sections.guesses import guesses
from pages.ui.sections.working import working
from pages.ui.state.link import select
from pages.ui.text import texts_of

MOST_CHARTS = 4  # hidden places with a chart of their own
LINES = ("answer", "logits")  # whose arithmetic is shown
text, word = texts_of("answer")


def prediction(screen: Screen, pen: Pen, logit: tuple[int, int], asked: int, hidden: Hidden) -> None:
    """The answer, at each place that is asked about, and the arithmetic; in a presentation the answer alone.

    logit: place and output of the one that is worked out.
    """
    if screen.choice.big:
        _answers(screen, pen, asked, hidden)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _answers(screen, pen, asked, hidden)
        if says_words(screen.run):
            pen.show("every_place", partial(every_place, logit=logit, hidden=hidden))
    with right:
        words = [word(f"line_{name}") for name in LINES]
        line = either("stage", word("lines"), LINES, words, screen.choice.stage, label_visibility="collapsed")
        cell = logit if says_words(screen.run) else logit[1:]
        working(screen, pen, line, cell, most=10 if line == "answer" else 3)  # a logit has three tables


def _answers(screen: Screen, pen: Pen, asked: int, hidden: Hidden) -> None:
    """The likeliest at each hidden place, or where the reader chose another, there; at another temperature than the
    network's own, at the one asked about.
    """
    tau = bound("answer.tau", screen.choice.tau / 10, lambda value: select(tau=round(10 * value)))
    tau |= {"format": "%.1f", "help": tau_word("help"), "width": 380}
    st.slider(tau_word("slider"), 0.1, 5.0, step=0.1, **tau)
    if screen.choice.tau != OWN:
        at = replace(screen.at, token=asked if says_words(screen.run) else 0)
        make = partial(at_temperature, tau=screen.choice.tau / 10, truth=hidden.get(asked))
        pen.show("temperature", make, at=at)
        return
    shown = [*hidden][:MOST_CHARTS] if asked in [*hidden][:MOST_CHARTS] else [asked]
    columns = st.columns(min(2, len(shown)))
    for number, place in enumerate(shown):
        with columns[number % 2]:
            title = word("guesses", place=place + 1) if says_words(screen.run) else word("probabilities")
            look = {"most": 10 if len(shown) == 1 else 5, "title": title}
            guesses(screen, pen, f"guesses_{place}", place, partial(chosen, place), hidden.get(place), **look)
    if len(hidden) > 1:
        st.caption(text("each_alone", n=len(hidden)))
