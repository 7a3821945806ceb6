"""The encoder's answer: the likeliest words or classes as bars."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import fixed, likeliest, softmax
from pages.drawing.figures import ACCENT, BLUE, GREY, ORANGE, Axis, Figure, bars_with_numbers
from pages.drawing.figures.base import tint
from pages.drawing.figures.curves import adding_up
from pages.drawing.picture import Numbers, Picture, outputs_of, picks_from
from pages.drawing.place import Place
from pages.drawing.text import digits_hidden, plain, t
from pages.drawing.text.numbers import decimal, first, gives, signed, three, two

#: An output -> the values of Choice that a click on its bar sets.
Choose = Callable[[int], Mapping[str, object]]


def likeliest_outputs(
    run: Trace,
    place: Place,
    *,
    said: str,
    title: str,
    choose: Choose,
    truth: int | None = None,
    most: int = 10,
    unchanged: Trace | None = None,
    output: int | None = None,
    height: int | None = None,
) -> Picture:
    """The likeliest words at a token, or all classes, as bars.

    said: the sentence. truth: the word behind [MASK], in another colour. unchanged: the run before the reader's
    changes, if any: a line shows where each bar ended. output: the chosen output: its row is marked, and beside the
    bars stand the steps of softmax.
    """
    now, names = probabilities(run, place.token), outputs_of(run)
    before = now if unchanged is None else probabilities(unchanged, place.token)
    shown = list(range(len(names)))
    if len(names) > most:
        wanted = [*likeliest(before[None], [most]), int(now.argmax()), truth, output]
        shown = list(dict.fromkeys(one for one in wanted if one is not None))
    lit, named = truth if truth is not None else int(now.argmax()), [names[i] for i in shown]
    table = {"p": now[shown]}
    if unchanged is not None:
        table |= {plain("words.before"): before[shown]}
        said += " " + _moved(before, now, names, shown)
    steps = {} if output is None else by_softmax(run, place.token, shown)
    said += digits_hidden(steps)

    def draw(drawn: Numbers) -> Figure:
        was = [""] * len(shown) if unchanged is None else [f"{decimal(before[i])} → " for i in shown]
        numbers = [f"{one}{decimal(now[i])}" for one, i in zip(was, shown, strict=True)]
        colours, room = [ORANGE if i == lit else BLUE for i in shown], np.maximum(now, before)[shown]
        look: dict = {"colours": colours, "room": room, "there": drawn.other, "most": 1.0, "height": height}
        figure = bars_with_numbers(now[shown], named, numbers, **look, **steps)
        shapes = figure.layout["shapes"] = [] if output is None else [row_of(shown.index(output))]
        if unchanged is not None:  # a line where each bar ended before
            line = {"type": "line", "line": {"width": 3, "color": GREY}}
            shapes += [
                line | {"x0": before[i], "x1": before[i], "y0": y - 0.42, "y1": y + 0.42} for y, i in enumerate(shown)
            ]
        return figure.tell(fills=True) if height else figure

    return Picture(
        draw,
        said,
        _at(run, place, lambda every: every[shown]),
        quantity=run.graph["answer"],
        title=title,
        table=lambda _: pd.DataFrame(table, index=named),
        two="beside",
        picks=lambda row, _: choose(shown[row]),
    )


def moved_most(
    run: Trace, place: Place, *, title: str, choose: Choose, most: int = 10, height: int | None = None
) -> Picture:
    """The words, or classes, whose probability differs most between two runs, as bars of the difference."""
    names = outputs_of(run)

    def part(every: Numbers) -> Numbers:
        values = every.array
        shown = np.sort(np.argsort(-np.abs(values), kind="stable")[:most])
        shown = shown if len(values) <= most else shown[np.argsort(-values[shown], kind="stable")]
        return replace(every[shown].on(Axis("", [names[i] for i in shown])), which=shown.tolist())

    def draw(drawn: Numbers) -> Figure:
        numbers = [signed(float(v)) if np.isfinite(v) else "" for v in drawn.array]
        figure = bars_with_numbers(drawn.array, drawn.axes[0].labels, numbers, differs=drawn.differs, height=height)
        return figure.tell(fills=True) if height else figure

    def table(drawn: Numbers) -> pd.DataFrame:
        return pd.DataFrame({plain("change.shown_difference"): drawn.array}, index=drawn.axes[0].labels)

    return Picture(
        draw,
        "",
        _at(run, place, part),
        title=title,
        table=table,
        picks_of=lambda drawn: picks_from(drawn.which, choose),
    )


def by_softmax(run: Trace, place: int, shown: Sequence[int], tau: float = 1.0) -> dict[str, Any]:
    """Arguments of `bars_with_numbers` that show softmax step by step: each output's logit, the logit minus the
    largest, and its exponential; below, the exponentials of all others and their sum. tau: the temperature.
    """
    logits = np.atleast_2d(run["logits"])[place].astype(np.float64) / tau
    away, names = logits - logits.max(), run.graph["logits"].symbol + "/τ" * (tau != 1)
    powers, others = np.exp(away), len(logits) - len(shown)
    rest = [max(float(powers.sum() - powers[shown].sum()), 0.0)] * bool(others)
    top = float(logits.max())

    def less_most(y: float) -> str:
        return gives(float(fixed(y)) - float(fixed(top)), y - top).removeprefix("= ").replace(" ", "")

    parts = adding_up(np.array([*powers[shown], *rest]), digits=3)
    below, empty = [plain("common.others", n=f"{others:,}")] * bool(others), [""] * (1 + bool(others))
    columns = [
        (names, [*(two(y) for y in logits[shown]), *empty]),
        ("− max", [*(less_most(y) for y in logits[shown]), *empty]),
        ("exp", [three(power) for power in (*parts, parts.sum())]),
    ]
    return {"columns": columns, "rests": [*below, plain("common.sum")]}


def row_of(place: int) -> dict:
    """A band behind one row of bars."""
    ends = {"xref": "paper", "x0": 0, "x1": 1, "y0": place - 0.5, "y1": place + 0.5}
    return {"type": "rect", **ends, "fillcolor": tint(ACCENT, 0.2), "line": {"width": 0}, "layer": "below"}


def _moved(before: np.ndarray, now: np.ndarray, names: Sequence[str], shown: Sequence[int]) -> str:
    """The sentence that names the bar that moved most, if one did."""
    most = first(np.abs(now - before), among=shown)
    ends = {"before": decimal(before[most.place]), "after": decimal(now[most.place])}
    hardly = most.value == two(0) or ends["before"] == ends["after"]
    how = "hardly_changed" if hardly else "changed" if most.ahead else "changed_two"
    return t(f"words.read.{how}", name=names[most.place], **ends)


def _at(run: Trace, place: Place, part: Callable[[Numbers], Numbers]) -> Numbers:
    """The probabilities at a token: (output,)."""
    return Numbers(probabilities(run, place.token), run.axes("logits")[-1:], part, place.token)


def all_probabilities(trace: Trace) -> np.ndarray:
    """softmax of the logits, at every place."""
    return softmax(trace["logits"].astype(np.float64))


def probabilities(trace: Trace, place: int = 0) -> np.ndarray:
    """softmax of the logits; at one place, if each place has its own."""
    logits = trace["logits"]
    return softmax((logits[place] if logits.ndim == 2 else logits).astype(np.float64))
