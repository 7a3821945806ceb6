"""The answer at one place: its likeliest words or classes, and the sentence about them."""

from dataclasses import replace
from functools import partial

import numpy as np

from model.analysis import likeliest, rank, word_at
from model.overview.answers import altered
from pages.drawing.picture import Make, says_words
from pages.drawing.pictures.answers import Choose, likeliest_outputs, moved_most, probabilities
from pages.drawing.pictures.hidden_words import how_to_hide
from pages.drawing.screen import Screen
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import decimal, first
from pages.screen.frame.pen import Pen
from pages.screen.runs.doubt import hedge


def guesses(
    screen: Screen,
    pen: Pen,
    name: str,
    place: int,
    choose: Choose,
    truth: int | None = None,
    *,
    most: int = 10,
    title: str | None = None,
    output: int | None = None,
    height: int | None = None,
) -> None:
    """The likeliest words at one place, or all classes; in a changed run, with their probabilities before.

    choose, truth, output: see `likeliest_outputs`.
    """
    title = title or plain("words.guesses" if says_words(screen.run) else "words.classes")
    at = replace(screen.at, token=place)
    if screen.two.differs and screen.two.counterpart(place) is not None:
        pen.show(name, partial(moved_most, title=title, choose=choose, most=most, height=height), at=at)
        return
    said = guess_in_words(screen, probabilities(screen.run, place), place, truth)
    look = {"title": title, "choose": choose, "truth": truth, "most": most, "output": output, "height": height}
    before = screen.original if screen.run.edits else None
    make: Make = partial(likeliest_outputs, said=said, unchanged=before, **look)
    pen.show(name, make(screen.run, at) if screen.two.differs else make, at=at)  # no counterpart to compare with


def guess_in_words(screen: Screen, p: np.ndarray, place: int, truth: int | None) -> str:
    """ "In place of ‘it’ it would put ‘he’ (0.57), then ‘she’ (0.18). ‘it’ has rank 4 of 12,000.\""""
    names = screen.outputs
    best, second = likeliest(p[None], [2])
    said = {
        "best": names[best],
        "first": first(p, decimal),
        "second": names[second],
        "then": decimal(p[second]),
    }
    if not says_words(screen.run):
        read = t("words.read.class" if p[second] >= 0.01 or len(p) == 2 else "words.read.sure", **said)
        return read if screen.run.edits else f"{hedge(screen.choice.pipeline, screen.subject)} {read}".strip()
    if screen.run.tokens[place] != "[MASK]":
        same = best == screen.run.ids[place]
        word = word_at(screen.run.tokens, place)
        kind = "seen_other" if not same else "seen" if word == screen.run.tokens[place] else "seen_piece"
        kind = "altered" if place in altered(screen.run) else kind
        offer = how_to_hide(screen, place) if kind in ("seen", "seen_piece") else ""
        return f"{t(f'words.read.{kind}', **said, word=word)} {offer}".strip()
    if truth is None:
        number, several = screen.typed.tokens[: place + 1].count("[MASK]"), screen.typed.tokens.count("[MASK]") > 1
        return t("words.read.typed_number" if several else "words.read.typed", **said, number=number)
    if truth == best:
        return t("words.read.right", **said)
    said |= {"truth": names[truth], "word": word_at(screen.typed.tokens, place)}
    kind = "wrong" if said["word"] == screen.typed.tokens[place] else "wrong_piece"
    return t(f"words.read.{kind}", **said, rank=f"{rank(p, truth):,}", size=f"{len(p):,}")
