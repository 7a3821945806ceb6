"""Prediction: the likeliest words at each hidden place, or the classes, with the arithmetic of one."""

from dataclasses import replace
from functools import partial

import streamlit as st

from model.analysis import placed
from model.by_hand import by_hand
from pages.answer.pictures import OWN, Hidden, at_temperature, chosen, tau_word
from pages.answer.who_wrote import by_heads, by_parts
from pages.drawing.picture import says_words
from pages.drawing.pictures.answers import probabilities
from pages.drawing.pictures.hidden_words import to_keep_hidden
from pages.drawing.screen import Screen
from pages.drawing.text import texts_of
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound, either
from pages.screen.link import select
from pages.screen.sections.guesses import guesses
from pages.screen.sections.working import MOST, working

MOST_CHARTS = 4  # hidden places with a chart of their own
LINES = ("answer", "heads", "logits")  # what stands beside the answer
text, word = texts_of("answer")


def prediction(screen: Screen, pen: Pen, logit: tuple[int, int], hidden: Hidden) -> None:
    """The answer at each place that is asked about; beside it who wrote one, or the arithmetic of its logit, which in a
    presentation stands alone once it was chosen.

    logit: place and output of the one that is worked out.
    """
    line, big = screen.choice.stage, screen.choice.big
    if big and line not in LINES:
        _answers(screen, pen, logit[0], hidden)
        return
    if not big:
        with pen.controls:
            words = [word(f"line_{name}") for name in LINES]
            line = either("stage", word("lines"), LINES, words, line, label_visibility="collapsed")
    left, right = (None, st.container()) if big else st.columns(2, gap="medium")
    if left:
        with left:
            _worked_out(screen, pen, logit, hidden, line)
    with right:
        if line == "answer":
            by_parts(screen, pen, *logit)
        elif line == "heads":
            by_heads(screen, pen, *logit, hidden=to_keep_hidden(screen, hidden))
        else:
            working(screen, pen, line, cell_of(screen, logit), most=3)  # a logit has three tables


def cell_of(screen: Screen, logit: tuple[int, int]) -> tuple[int, ...]:
    """Where a logit stands in all of them."""
    return logit if says_words(screen.run) else logit[1:]


def _worked_out(screen: Screen, pen: Pen, logit: tuple[int, int], hidden: Hidden, line: str) -> None:
    """The answers, and how the probability of one came about, unless its logit is worked out."""
    alone = len(hidden) < 2  # then its rows say how each probability came about
    _answers(screen, pen, logit[0], hidden, logit[1] if alone else None)
    if line != "logits":
        cell, own = cell_of(screen, logit), screen.choice.tau == OWN
        found = by_hand(screen.pipeline.network, screen.run, "answer", cell, MOST, screen.choice.tau / OWN)
        if not own:
            found = replace(found, recorded=float(probabilities(screen.run, logit[0])[logit[1]]), changed=True)
        last = replace(found, equation="", steps=found.steps[-1:])
        run_has = "" if own else "temperature.recorded"
        working(screen, pen, "answer", cell, worked=last if alone else found, run_has=run_has)


def _answers(screen: Screen, pen: Pen, asked: int, hidden: Hidden, output: int | None = None) -> None:
    """The likeliest at each hidden place, or where the reader chose another, there; at another temperature than the
    network's own, at the one asked about. output: see `likeliest_outputs`.
    """
    if screen.choice.tau != OWN:
        at = replace(screen.at, token=asked if says_words(screen.run) else 0)
        make = partial(at_temperature, tau=screen.choice.tau / 10, truth=hidden.get(asked), output=output)
        pen.show("temperature", make, at=at)
    else:
        _at_each(screen, pen, asked, hidden, output)
    tau = bound("answer.tau", screen.choice.tau / 10, lambda value: select(tau=round(10 * value)))
    tau |= {"format": "%.1f", "help": tau_word("help"), "width": 380}
    with st.container() if screen.choice.big else pen.places:
        st.slider(tau_word("slider"), 0.1, 5.0, step=0.1, **tau)


def _at_each(screen: Screen, pen: Pen, asked: int, hidden: Hidden, output: int | None) -> None:
    shown = [*hidden][:MOST_CHARTS] if asked in [*hidden][:MOST_CHARTS] else [asked]
    columns = st.columns(min(2, len(shown)))
    for number, place in enumerate(shown):
        with columns[number % 2]:
            title = (
                word("guesses", token=placed(screen.run.tokens)[place])
                if says_words(screen.run)
                else word("probabilities")
            )
            look = {"most": 10 if len(shown) == 1 else 5, "title": title, "output": output}
            guesses(screen, pen, f"guesses_{place}", place, partial(chosen, place), hidden.get(place), **look)
    if len(hidden) > 1:
        st.caption(text("each_alone", n=len(hidden)))
