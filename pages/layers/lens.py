"""Logit lens: what the answer head would say after each layer, if that layer were the last."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import likeliest, placed
from pages.layers.states import steps
from pages.ui.figures import Axis, Figure, heatmap, worded
from pages.ui.runs.worked_out import BEST, best_words
from pages.ui.sections.sentence_vector import of_input
from pages.ui.text import plain, t, texts_of
from pages.ui.text.numbers import decimal
from pages.ui.view import View

HIGH = 460  # pixels
MOST_CLASSES = 16  # with a column of their own
text, word = texts_of("layers")


def logit_lens(view: View) -> None:
    """The likeliest words at the selected token, or the classes, after each layer; of two runs how they differ."""
    if "logits" not in view.trace:
        no_guess = of_input(view, "no_guess") if view.choice.checkpoint else "untrained.no_guess"
        st.info(t(no_guess), icon=":material/shuffle:")
    elif view.differs and view.counterpart(view.token) is not None:
        _difference(view)
    elif view.says_words:
        _words(view)
    else:
        _classes(view)


def _words(view: View) -> None:
    best, shares = best_words(view.choice.pipeline, view.trace, view.token)
    words = [[view.output_names[i] for i in row] for row in best]
    ranks = Axis(word("axis_rank"), [str(rank + 1) for rank in range(BEST)])
    figure = worded(shares, words, Axis(word("axis_step"), steps(view)), ranks, height=HIGH)
    table = partial(pd.DataFrame, words, index=steps(view), columns=range(1, BEST + 1))
    _draw(view, figure, "read_guess", best[:, 0], float(shares[-1, 0]), table)


def _classes(view: View) -> None:
    probabilities = _guessed(view, view.trace)
    columns = classes_to_show(probabilities)
    axes = Axis(word("axis_step"), steps(view)), Axis(word("axis_class"), [view.output_names[i] for i in columns])
    figure = heatmap(probabilities[:, columns], *axes, scale="share", square=False, height=HIGH)
    table = partial(pd.DataFrame, probabilities, index=steps(view), columns=view.output_names)
    _draw(view, figure, "read_guess_class", probabilities.argmax(axis=1), float(probabilities[-1].max()), table)


def _draw(
    view: View, figure: Figure, read: str, first: np.ndarray, value: float, table: Callable[[], pd.DataFrame]
) -> None:
    """Draw it with the answer, and from which layer on it is the first guess. first: of each state, (1 + layers,)."""
    leads, answer = first == first[-1], view.output_names[first[-1]]
    since = int(np.flatnonzero(~leads).max(initial=-1)) + 1
    said = [text(read, token=placed(view.tokens)[view.token], answer=answer, value=decimal(value))]
    said.append(text("known" if since else "known_first", answer=answer, layer=since))
    if earlier := [steps(view)[step] for step in np.flatnonzero(leads[:since])]:
        said.append(text("known_before", earlier=plain("common.comma").join(earlier)))
    view.picture("guess", figure, " ".join([*said, text("lens")]), table=table)


def _difference(view: View) -> None:
    """By how much the probabilities differ after each layer, of the words or classes that differ most."""
    drawn = view.measure(partial(_guessed, view))
    most = np.sort(np.argsort(-np.abs(drawn.values).max(axis=0), kind="stable")[:MOST_CLASSES])
    outputs = Axis(plain(f"axis.{view.trace.axes('logits')[-1]}"), [view.output_names[i] for i in most])
    drawn = drawn[:, most].on(Axis(word("axis_step"), steps(view)), outputs)
    view.picture("guess", heatmap(drawn.values, *drawn.axes, square=False, height=HIGH), "", shows=drawn)


def _guessed(view: View, run: Trace) -> np.ndarray:
    """The guesses at the selected token, or at that in its place: (1 + layers, word or class)."""
    place = view.token if run is view.trace else view.counterpart(view.token)
    assert place is not None  # only asked where there is one
    return view.pipeline.read_layers(run, place)


def classes_to_show(probabilities: np.ndarray) -> list[int]:
    """The classes of (state, class) with a column: all, or the likeliest of the last state and the best of each."""
    if probabilities.shape[1] <= MOST_CLASSES:
        return list(range(probabilities.shape[1]))
    backwards = probabilities[::-1]
    return likeliest(backwards, [MOST_CLASSES // 2, *[1] * (len(backwards) - 1)])
