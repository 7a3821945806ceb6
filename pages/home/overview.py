"""The run on one screen, as Home shows it and as a reader takes it along in one file."""

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from model import Trace
from model.analysis import winners
from model.overview import WORDS, Difference, Overview, Packed, answers_of, columns_of, exact, pack
from model.overview.run import Run
from pages.ui.components.overview import overview
from pages.ui.frame.navigation import open_with
from pages.ui.picture import Numbers
from pages.ui.sections.answers import all_probabilities
from pages.ui.server.cache import once_a_run
from pages.ui.state.link import select
from pages.ui.text import class_label, language, literal, plain
from pages.ui.text.numbers import decimal
from pages.ui.view import View

#: The page of each picture, and what is chosen there with it.
PAGE_OF: dict[str, tuple[str, dict[str, object]]] = {
    "x0": ("tokens", {"panel": None}),
    "x": ("layers", {"panel": None}),
    "q": ("queries_keys_values", {"stage": "Q"}),
    "k": ("queries_keys_values", {"stage": "K"}),
    "v": ("queries_keys_values", {"stage": "V"}),
    "s": ("attention", {"panel": None, "stage": "scaled"}),
    "w": ("attention", {"panel": None, "stage": None}),
    "a": ("heads", {"panel": None}),
    "n1": ("add_and_norm", {"panel": None, "sublayer": 1}),
    "n2": ("add_and_norm", {"panel": None, "sublayer": 2}),
    "h": ("feed_forward", {"panel": None}),
    "answer": ("answer", {"panel": None}),
}


def run_on_one_screen(view: View) -> None:
    """The pictures of the whole run, or of its difference from another; a click on one opens its page at that place.

    Where the reader wants both runs, the other one stands below, at the same layer and head.
    """
    place = {"layer": view.layer, "head": view.head, "token": view.token}
    overview(packed(view), place, lambda chosen: select(**chosen), _open, partial(_rows, view.trace))
    if view.two.beside and view.other:
        named = view.compared_with("other")[0]
        st.subheader(literal(named[0].upper() + named[1:]), anchor=False)
        theirs = [view.two.counterpart(token) for token in range(len(view.tokens))]
        other = _pack(view, view.other).with_(theirs=theirs)
        overview(other, place, lambda chosen: select(**chosen), _open, partial(_rows, view.other), key="overview_other")


@once_a_run
def _rows(run: Trace, role: str, layer: int, head: int, token: int) -> Packed:
    """The numbers behind the cells of an opened picture."""
    rows = exact(run, role, layer, head, token)
    return Packed(rows.described(), b"".join(rows.parts))


def _open(role: str, place: dict[str, int]) -> None:
    if role in PAGE_OF:
        page, more = PAGE_OF[role]
        open_with(page, **more, **place)


def as_file(view: View) -> Callable[[], str]:
    """What makes the run as one file, when it is asked for."""
    place = {"layer": view.layer, "head": view.head, "token": view.token}
    made = Overview(packed(view, whole=True), place, view.about(), language())
    return lambda: made.html


def packed(view: View, whole: bool = False) -> Packed:
    """The run for the painter, with all that it says. Made once for each run, language and layer that is sent."""
    trace, kept = view.trace, _kept(view.trace)
    whole = whole or columns_of(trace) is not None
    layer = 0 if whole else view.layer  # the same for all layers, where all are sent
    if view.two.differs:
        return _pack(view, Difference(trace, partial(_less, view)), layer, whole)
    key = language(), whole, layer, view.usual_token, tuple(view.typed.ids)
    if key not in kept:
        kept[key] = _pack(view, trace, layer, whole)
    return kept[key]


def _pack(view: View, run: Run, layer: int = 0, whole: bool = True) -> Packed:
    """A run, or the difference of two, for the painter."""
    hidden = [place for place, token in enumerate(run.tokens) if token == "[MASK]"]
    own = run.tokens == view.tokens
    seen = {place: view.typed.tokens[place] for place in hidden} if own else {}
    right = {place: word for place, word in seen.items() if word != "[MASK]"}
    asked = hidden or [min(view.usual_token, len(run.tokens) - 1)]
    answers = answers_of(view.trace if isinstance(run, Difference) else run, asked=asked, right=right, name=class_label)
    made = pack(run, layer=layer, answers=answers, picture=view.seen if own else None, whole=whole)
    return made.with_(words={name: plain(f"overview.{name}") for name in WORDS}, notes=notes(view))


def _less(view: View, key: str) -> np.ndarray:
    """A quantity of this run less that of the other; NaN for a token that has no counterpart there."""
    (numbers,) = view.two.numbers(lambda run, _: [Numbers.of(run, key)])
    return numbers.array


@once_a_run
def _kept(run: Trace) -> dict[Hashable, Any]:
    return {}


def notes(view: View) -> dict[int, str]:
    """Whose numbers these are, of a difference; else what the reader's changes do to the answer, at each token where
    there is one; -1 stands for the whole input. Nothing without.
    """
    if view.two.differs:
        return {-1: plain("home.differences", less=view.compared_with("less")[0])}
    if not view.trace.edits:
        return {}
    if "logits" not in view.trace:
        return {-1: plain("home.changed_run")}
    kept = _kept(view.trace)
    if (key := ("moved", language())) not in kept:
        now, before = (np.atleast_2d(all_probabilities(run)) for run in (view.trace, view.original))
        rows = enumerate(zip(before, now, strict=True))
        kept[key] = {place if view.says_words else -1: _moved(view, *row) for place, row in rows}
    return kept[key]


def _moved(view: View, before: np.ndarray, now: np.ndarray) -> str:
    """Which probability of one answer the reader's changes move most."""
    most, *others = winners(np.abs(now - before), decimal)
    values = {"before": decimal(before[most]), "after": decimal(now[most])}
    how = "moved_none" if values["before"] == values["after"] else "moved_two" if others else "moved"
    return plain(f"home.{how}", name=view.output_names[most], **values)
