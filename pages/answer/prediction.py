"""Prediction: the likeliest words at each hidden place, or the classes, with the arithmetic of one."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from model.analysis import likeliest
from pages.answer.temperature import OWN, at_temperature
from pages.ui.figures import Axis, heatmap
from pages.ui.frame.pickers import either
from pages.ui.sections.answers import all_probabilities, guesses
from pages.ui.sections.working import working
from pages.ui.state.link import select
from pages.ui.text import texts_of
from pages.ui.view import View

MOST_CHARTS = 4  # hidden places with a chart of their own
MOST_COLUMNS = 30  # words beside each other in the picture of all places
LINES = ("answer", "logits")  # whose arithmetic is shown
Hidden = Mapping[int, int | None]  # places, with the words that stood there
text, word = texts_of("answer")


def prediction(view: View, logit: tuple[int, int], asked: int, hidden: Hidden) -> None:
    """The answer, at each place that is asked about, and the arithmetic; in a presentation the answer alone.

    logit: place and output of the one that is worked out.
    """
    if view.choice.big:
        _answers(view, asked, hidden)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _answers(view, asked, hidden)
        if view.says_words:
            _every_place(view, logit, hidden)
    with right:
        words = [word(f"line_{name}") for name in LINES]
        line = either("stage", word("lines"), LINES, words, view.choice.stage, label_visibility="collapsed")
        cell = logit if view.says_words else logit[1:]
        working(view, line, cell, most=10 if line == "answer" else 3)  # a logit has three tables


def _choose(place: int, output: int) -> None:
    select(token=place, output=output)


def _answers(view: View, asked: int, hidden: Hidden) -> None:
    """The likeliest at each hidden place; at another temperature than the network's own, at the one asked about."""
    if view.choice.tau != OWN:
        at_temperature(view, asked if view.says_words else 0, hidden.get(asked))
        return
    shown = list(hidden)[:MOST_CHARTS] or [asked]
    columns = st.columns(min(2, len(shown)))
    for number, place in enumerate(shown):
        with columns[number % 2]:
            title = word("guesses", place=place + 1) if view.says_words else word("probabilities")
            look = {"most": 10 if len(shown) == 1 else 5, "title": title, "on_pick": partial(_choose, place)}
            guesses(view, f"guesses_{place}", place, hidden.get(place), **look)
    if len(hidden) > 1:
        st.caption(text("each_alone", n=len(hidden)))


def _every_place(view: View, logit: tuple[int, int], hidden: Hidden) -> None:
    """The probabilities at each token × the words that come first somewhere."""
    logits, tokens, ids = view.trace["logits"], view.tokens, view.trace.ids
    each = max(3, (MOST_COLUMNS - len(logits)) // max(1, len(hidden)))
    columns = likeliest(logits, [each if place in hidden else 1 for place in range(len(logits))])
    axes = view.token_axis("axis.token"), Axis(word("axis_words"), [view.output_names[i] for i in columns])
    drawn = view.measure(all_probabilities, view.trace.axes("logits"))[:, columns].on(*axes)
    seen = [place for place in range(len(ids)) if place not in hidden and tokens[place] not in ("[CLS]", "[SEP]")]
    same = sum(int(logits[place].argmax()) == ids[place] for place in seen)
    place, output = logit
    cell = (place, columns.index(output)) if output in columns else None
    view.picture(
        "every_place",
        heatmap(drawn.values, *axes, scale=drawn.scale("share"), square=False, clickable=True, cell=cell),
        " ".join([text("read_seen", same=same, seen=len(seen))] * bool(seen) + [text("read_special")]),
        on_pick=lambda row, column: _choose(row, columns[column]),
        shows=drawn,
    )
