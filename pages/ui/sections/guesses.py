"""The answer at one place: its likeliest words or classes, and what they say."""

from dataclasses import replace
from functools import partial

import numpy as np

from model.analysis import likeliest, rank
from pages.ui.picture import Make
from pages.ui.runs.doubt import hedge
from pages.ui.sections.answers import Choose, likeliest_outputs, moved_most, probabilities
from pages.ui.text import plain, t
from pages.ui.text.numbers import decimal, first
from pages.ui.view import View

EASY = 0.5  # a word that can be seen and gets less is not found easily


def guesses(
    view: View,
    name: str,
    place: int,
    choose: Choose,
    truth: int | None = None,
    *,
    most: int = 10,
    title: str | None = None,
) -> None:
    """The likeliest words at one place, or all classes; while the run is changed, with where each was before.

    choose: what a click on an output's bar chooses. truth: the word that stands there, in another colour.
    """
    title = title or plain("words.guesses" if view.says_words else "words.classes")
    at = replace(view.at, token=place)
    if view.two.differs and view.two.counterpart(place) is not None:
        view.show(name, partial(moved_most, title=title, choose=choose, most=most), at=at)
        return
    said = guess_in_words(view, probabilities(view.trace, place), place, truth)
    look = {"title": title, "choose": choose, "truth": truth, "most": most}
    make: Make = partial(likeliest_outputs, said=said, unchanged=view.original if view.trace.edits else None, **look)
    view.show(name, make(view.trace, at) if view.two.differs else make, at=at)  # nothing to compare it with


def guess_in_words(view: View, p: np.ndarray, place: int, truth: int | None) -> str:
    """ "In place of ‘it’ it would put ‘he’ (0.57), then ‘she’ (0.18). ‘it’ has rank 4 of 12,000.\""""
    names = view.output_names
    best, second = likeliest(p[None], [2])
    said: dict[str, object] = {
        "best": names[best],
        "first": first(p, decimal),
        "second": names[second],
        "then": decimal(p[second]),
    }
    if not view.says_words:
        read = t("words.read_class" if p[second] >= 0.01 or len(p) == 2 else "words.read_sure", **said)
        return f"{hedge(view.choice.pipeline, view.subject)} {read}".strip()
    if view.trace.tokens[place] != "[MASK]":
        same = best == view.trace.ids[place]
        kind = "seen_other" if not same else "seen" if p[best] >= EASY else "seen_unsure"
        return t(f"words.read_{kind}", **said, word=view.trace.tokens[place])
    if truth is None:
        number, several = view.typed.tokens[: place + 1].count("[MASK]"), view.typed.tokens.count("[MASK]") > 1
        return t("words.read_typed_number" if several else "words.read_typed", **said, number=number)
    if truth == best:
        return t("words.read_right", **said)
    return t("words.read_wrong", **said, truth=names[truth], rank=f"{rank(p, truth):,}", size=f"{len(p):,}")
