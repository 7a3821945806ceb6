"""The run on one screen: on Home, and as one file to download."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from functools import partial
from typing import Any
from zlib import crc32

import numpy as np
import streamlit as st

from model import Trace
from model.analysis import winners
from model.edits import head_off
from model.overview import WORDS, Difference, Overview, Packed, answers_of, columns_of, exact, pack
from model.overview.pictures import PAGE_OF
from model.overview.run import Run
from model.overview.without import without_heads
from pages.drawing.cache import digest, once_a_run
from pages.drawing.picture import Numbers, says_words
from pages.drawing.pictures.answers import all_probabilities
from pages.drawing.screen import Screen
from pages.drawing.text import class_label, language, literal, plain
from pages.drawing.text.numbers import decimal
from pages.screen.components.overview import LEAN, overview
from pages.screen.frame.changes_bar import toggled
from pages.screen.frame.navigation import open_with
from pages.screen.frame.pen import Pen
from pages.screen.link import select
from pages.screen.runs import pipelines
from pages.what_if.experiment import moved_by_heads


def run_on_one_screen(screen: Screen, pen: Pen) -> None:
    """The pictures of the whole run, or of a difference; a click on one opens its page at that place.

    If the reader compares side by side, the other run is below, at the same layer and head.
    """
    place = {"layer": screen.at.layer, "head": screen.at.head, "token": screen.at.token}
    heard = (lambda chosen: select(**chosen)), _open, _turn
    own = packed(screen).with_(of=crc32(repr((screen.network, digest(screen.subject))).encode()))
    own = own if screen.shows not in ("original", "other") else own.with_(off=None)
    overview(own, place, *heard, partial(_more, screen))
    if screen.two.beside and screen.other:
        named = screen.compared_with("other")[0]
        st.subheader(literal(named[0].upper() + named[1:]), anchor=False)
        theirs = [screen.two.counterpart(token) for token in range(len(screen.run.tokens))]
        other = _pack(screen, screen.other).with_(theirs=theirs, off=None)
        overview(other, place, *heard, partial(_rows, screen.other), key="overview_other")


@once_a_run
def _rows(run: Trace, role: str, layer: int, head: int, token: int) -> Packed:
    """The numbers behind the cells of an opened picture."""
    rows = exact(run, role, layer, head, token, str if says_words(run) else class_label)
    return Packed(rows.described(), b"".join(rows.parts))


def _more(screen: Screen, role: str, layer: int, head: int, token: int) -> Packed:
    """The answer to a request of the overview: how much a token's answer depends on each head; or `_rows`."""
    if role == LEAN:
        words = says_words(screen.run)
        place = token if words else -1
        if screen.run.edits:
            again = pipelines.run(screen.network, screen.subject, screen.run.edits)
            return Packed({LEAN: without_heads(again, place).get(LEAN, {place: []})}, b"")
        moved = moved_by_heads(screen, token if words else 0) if "logits" in screen.run else None
        return Packed({LEAN: {place: [] if moved is None else np.nan_to_num(moved).tolist()}}, b"")
    return _rows(screen.run, role, layer, head, token)


def _turn(layer: int, head: int) -> None:
    """Turn a head off or on."""
    select(edits=toggled(head_off(layer, head)))


def _open(role: str, place: dict[str, int]) -> None:
    if role in PAGE_OF:
        page, more = PAGE_OF[role]
        open_with(page, tab=None, **more, **place)


def as_file(screen: Screen) -> Callable[[], str]:
    """A function that makes the run as one HTML file, on demand."""
    place = {"layer": screen.at.layer, "head": screen.at.head, "token": screen.at.token}
    made = Overview(packed(screen, whole=True), place, screen.about(), language())
    if screen.two.differs:
        return lambda: made.html
    run, token = (screen.network, screen.subject, screen.run.edits), screen.at.token
    names = {} if says_words(screen.run) else {label: class_label(label) for label in screen.outputs}

    def make() -> str:
        """Run again, so that no run is held while the page is open."""
        without = without_heads(pipelines.run(*run), token, lambda label: names.get(label, label))
        return replace(made, packed=made.packed.with_(**without)).html

    return make


def packed(screen: Screen, whole: bool = False) -> Packed:
    """The run for the painter, with its texts; made once for each run, language and layer."""
    trace, kept = screen.run, _kept(screen.run)
    whole = whole or columns_of(trace) is not None
    layer = 0 if whole else screen.at.layer  # one message holds all layers
    if screen.two.differs:
        return _pack(screen, Difference(trace, partial(_less, screen)), layer, whole)
    key = language(), whole, layer, screen.usual_token, tuple(screen.typed.ids)
    if key not in kept:
        kept[key] = _pack(screen, trace, layer, whole)
    return kept[key]


def _pack(screen: Screen, run: Run, layer: int = 0, whole: bool = True) -> Packed:
    """A run, or the difference of two, for the painter."""
    hidden = [place for place, token in enumerate(run.tokens) if token == "[MASK]"]
    own = run.tokens == screen.run.tokens
    seen = {place: screen.typed.tokens[place] for place in hidden} if own else {}
    right = {place: word for place, word in seen.items() if word != "[MASK]"}
    asked = hidden or [min(screen.usual_token, len(run.tokens) - 1)]
    answers = answers_of(screen.run if isinstance(run, Difference) else run, asked=asked, right=right, name=class_label)
    drawn = own and np.array_equal(run.picture, screen.run.picture)  # another drawing has the same tokens
    made = pack(run, layer=layer, answers=answers, picture=screen.seen if drawn else None, whole=whole)
    return made.with_(
        words={name: plain(f"overview.{name}") for name in WORDS}, notes={} if run is screen.other else notes(screen)
    )


def _less(screen: Screen, key: str) -> np.ndarray:
    """A quantity of this run minus the other run's; NaN for tokens without counterpart."""
    (numbers,) = screen.two.numbers(lambda run, _: [Numbers.of(run, key)])
    return numbers.array


@once_a_run
def _kept(run: Trace) -> dict[Hashable, Any]:
    return {}


def notes(screen: Screen) -> dict[int, str]:
    """Token (-1: the whole input) -> note: for a difference, which runs it compares; for a changed run, how its answer
    changed there. {} otherwise.
    """
    if screen.two.differs:
        return {-1: plain("home.differences", less=screen.compared_with("less")[0])}
    if not screen.run.edits:
        return {}
    if "logits" not in screen.run:
        return {-1: plain("home.changed_run")}
    kept = _kept(screen.run)
    if (key := ("moved", language())) not in kept:
        now, before = (np.atleast_2d(all_probabilities(run)) for run in (screen.run, screen.original))
        rows = enumerate(zip(before, now, strict=True))
        kept[key] = {place if says_words(screen.run) else -1: _moved(screen, *row) for place, row in rows}
    return kept[key]


def _moved(screen: Screen, before: np.ndarray, now: np.ndarray) -> str:
    """The note that names the probability of one answer that the reader's changes moved most."""
    most, *others = winners(np.abs(now - before), decimal)
    values = {"before": decimal(before[most]), "after": decimal(now[most])}
    how = "moved_none" if values["before"] == values["after"] else "moved_two" if others else "moved"
    return plain(f"home.{how}", name=screen.outputs[most], **values)
