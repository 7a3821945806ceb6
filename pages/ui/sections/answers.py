"""What the encoder answers: the likeliest words or classes as bars, and in words."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import likeliest, rank, softmax
from pages.ui.figures import BLUE, GREY, ORANGE, Axis, bars_with_numbers
from pages.ui.runs.doubt import hedge
from pages.ui.text import plain, t
from pages.ui.text.numbers import decimal, signed
from pages.ui.view import View

EASY = 0.5  # a word that can be seen and gets less is not found easily


def guesses(
    view: View,
    name: str,
    place: int,
    truth: int | None = None,
    *,
    most: int = 10,
    title: str | None = None,
    on_pick: Callable[[int], None] | None = None,
) -> None:
    """The likeliest words at one place, or all classes, as bars; while the run is changed, with where each was before.

    truth: the word that stands there, in another colour. on_pick: gets the output whose bar is clicked.
    """
    now = probabilities(view.trace, place)
    sentence = guess_in_words(view, now, place, truth)
    title = title or plain("words.guesses" if view.says_words else "words.classes")
    if view.differs and view.counterpart(place) is not None:
        more_and_less(view, name, sentence, all_probabilities, place, most=most, title=title, on_pick=on_pick)
        return
    before = probabilities(view.original, place) if view.trace.edits else now
    names = view.output_names
    if len(names) <= most:
        shown = list(range(len(names)))
    else:
        wanted = [*likeliest(before[None], [most]), int(now.argmax()), *([] if truth is None else [truth])]
        shown = list(dict.fromkeys(wanted))
    changed = bool(view.trace.edits)
    lit = truth if truth is not None else int(now.argmax())
    numbers = [f"{decimal(before[i])} → {decimal(now[i])}" if changed else decimal(now[i]) for i in shown]
    measure = view.measure(all_probabilities, view.trace.axes("logits"), beside=True, token=place)
    there = None if measure.other is None else np.atleast_2d(measure.other)[place][shown]
    colours, room = [ORANGE if i == lit else BLUE for i in shown], np.maximum(now, before)[shown]
    drawn = [names[i] for i in shown]
    figure = bars_with_numbers(
        now[shown], drawn, numbers, colours=colours, room=room, there=there, most=1.0, differs=view.differs
    )
    if changed:  # a line where each bar ended before
        line = {"type": "line", "line": {"width": 3, "color": GREY}}
        marks = [line | {"x0": before[i], "x1": before[i], "y0": y - 0.42, "y1": y + 0.42} for y, i in enumerate(shown)]
        figure.layout["shapes"] = marks
        most_moved = max(shown, key=lambda i: abs(now[i] - before[i]))
        moved = {"before": decimal(before[most_moved]), "after": decimal(now[most_moved])}
        how = "changed" if moved["before"] != moved["after"] else "hardly_changed"
        sentence += " " + t(f"words.read_{how}", name=names[most_moved], **moved)
    columns = {"p": now[shown]} | ({plain("words.before"): before[shown]} if changed else {})
    view.picture(
        name,
        figure,
        sentence,
        quantity=view.trace.graph["answer"],
        title=title,
        table=partial(pd.DataFrame, columns, index=drawn),
        on_pick=None if on_pick is None else lambda row, _: on_pick(shown[row]),
        shows=measure if there is not None else None,
    )


def more_and_less(
    view: View,
    name: str,
    sentence: str,
    of: Callable[[Trace], np.ndarray],
    place: int,
    *,
    most: int = 10,
    on_pick: Callable[[int], None] | None = None,
    **look: object,
) -> None:
    """For the words, or classes, that two runs differ in most: by how much. of: what of a run, with the logits' axes.

    look: as for `View.picture`.
    """
    measure = view.measure(of, view.trace.axes("logits"))
    values = np.atleast_2d(measure.values)[place]
    shown = np.sort(np.argsort(-np.abs(values), kind="stable")[:most])
    shown = (shown if len(values) <= most else shown[np.argsort(-values[shown], kind="stable")]).tolist()
    every = view.output_names
    drawn, names = values[shown], [every[i] for i in shown]
    figure = bars_with_numbers(
        drawn, names, [signed(float(v)) if np.isfinite(v) else "" for v in drawn], differs=view.differs
    )
    table = partial(pd.DataFrame, {plain("change.shown_difference"): drawn}, index=names)
    picked = None if on_pick is None else lambda row, _: on_pick(shown[row])
    shows = replace(measure, values=drawn).on(Axis("", names))
    view.picture(name, figure, sentence, table=table, shows=shows, on_pick=picked, **look)


def all_probabilities(trace: Trace) -> np.ndarray:
    """softmax of the logits, wherever there are some."""
    return softmax(trace["logits"].astype(np.float64))


def probabilities(trace: Trace, place: int = 0) -> np.ndarray:
    """softmax of the logits: at one place, where there are some for each."""
    logits = trace["logits"].astype(np.float64)
    return softmax(logits[place] if logits.ndim == 2 else logits)


def guess_in_words(view: View, p: np.ndarray, place: int, truth: int | None) -> str:
    """ "In place of ‘it’ it would put ‘he’ (0.57), then ‘she’ (0.18). ‘it’ has rank 4 of 12,000.\""""
    names = view.output_names
    best, second = likeliest(p[None], [2])
    said = {"best": names[best], "first": decimal(p[best]), "second": names[second], "then": decimal(p[second])}
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
