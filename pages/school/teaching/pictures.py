"""What a class answered, and what the network does, as figures. No Streamlit here."""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np

from pages.school.classroom.questions import Guess, Shown, Told
from pages.school.classroom.tally import BARS, Bar, Tally
from pages.school.questions.case import short
from pages.ui.figures import BLUE, GREY, LEGEND, ORANGE, Axis, Figure, figure_of, grouped_bars
from pages.ui.figures.base import BREAK, axis_layout, look, scale, stroke, text_width
from pages.ui.figures.theme import LARGE, font_size, letters, scaled
from pages.ui.text import language, plain, t
from pages.ui.text.numbers import percent

MOST_WORDS = 6  # of all that were written, those that have a bar of their own
FAR = 28  # pixels of letters that are read from the last row, in a presentation
FIRST, SECOND = GREY, BLUE
RIGHT = "✓ "


def names_of(shown: Shown, bars: Sequence[Bar]) -> list[str]:
    """What the answers are called, in the reader's language; of a slider, from where to where."""
    if shown["gesture"] == "slide":
        half = (shown["span"][1] - shown["span"][0]) / BARS / 2
        digits = 1 if half >= 0.05 else 2
        return [f"{float(bar.guess) - half:.{digits}f}–{float(bar.guess) + half:.{digits}f}" for bar in bars]  # type: ignore[arg-type]
    return [name_of(shown, bar.guess) for bar in bars]


def name_of(shown: Shown, guess: Guess) -> str:
    """What one answer is called."""
    options = shown.get("options", [])
    return shown["names"][language()][options.index(guess)] if guess in options else f"{guess}"


def answer_of(shown: Shown, truth: Told) -> str:
    """What is true, as people say it; of chips, who gets most."""
    answer = truth["answer"]
    if shown["gesture"] == "chips":
        most = max(range(len(answer)), key=answer.__getitem__)
        return f"{shown['names'][language()][most]} ({short(answer[most] / 100)})"
    return name_of(shown, answer) if isinstance(answer, str) else short(answer)


def answer_is(truth: Told) -> str:
    """The text that says whose answer it is."""
    return "the_teachers_answer" if truth.get("own") else "the_answer"


def said_of_sure(shown: Shown, last: Tally, worst: Bar | None) -> str:
    """How many were sure, and wrong, in the last vote; with what most of them answered, if that is known. Nothing where
    nobody was.
    """
    if not (wrong := last.sure_and_wrong):
        return ""
    of_all = {"wrong": wrong, "all": last.answers, "share": percent(wrong / last.answers)}
    if worst is None:  # chips are no single answer
        return t("class.sure_and_wrong", **of_all)
    (name,) = names_of(shown, [worst])
    return t("class.most_sure_of", answer=name, **of_all)


@contextmanager
def for_the_last_row(less: int = 0) -> Iterator[None]:
    """Draw what is drawn in this block in letters that can be read from there. less: pixels that they are smaller."""
    with letters(round(font_size() * FAR / LARGE) - less):
        yield


def distribution(shown: Shown, bars: Sequence[Bar], rounds: Sequence[int], *, revealed: bool) -> Figure:
    """How many gave each answer, first and second vote side by side. revealed: the right ones get their mark.

    Numbers stand along their axis; words have a row each, where they can be read.
    """
    with for_the_last_row():
        if shown["gesture"] in ("slide", "number"):
            return _along(shown, bars, rounds, revealed)
        return _below_each_other(shown, bars, rounds, revealed)


def _along(shown: Shown, bars: Sequence[Bar], rounds: Sequence[int], revealed: bool) -> Figure:
    """Bars over the numbers that were given; of a slider, between the ends of its tenths."""
    names = names_of(shown, bars)
    series = {plain(f"class.vote_{number}"): _counts(bars, number) for number in rounds}
    figure = grouped_bars(series, Axis("", names), "", _colours(rounds))
    for trace in figure.data:
        told = [f"{count:.0f}" if count else "" for count in trace["y"]]
        if revealed and trace is figure.data[-1]:
            told = [RIGHT * bar.right + text for bar, text in zip(bars, told, strict=True)]
        trace |= {"text": told, "textposition": "outside", "cliponaxis": False}
        trace |= {"constraintext": "none", "textangle": 0, "hoverinfo": "skip", "hovertemplate": None}
    if shown["gesture"] == "slide":
        low, high = shown["span"]
        ends = np.linspace(low, high, BARS + 1)
        figure.layout["xaxis"] |= {"tickvals": [place - 0.5 for place in range(BARS + 1)], "tickangle": 0}
        figure.layout["xaxis"] |= {"ticktext": [f"{end:.3g}" for end in ends], "range": [-0.6, BARS - 0.4]}
    most = max((trace["y"].max(initial=0) for trace in figure.data), default=0)
    figure.layout["yaxis"] |= {"visible": False, "range": [0, max(1.0, 1.25 * float(most))]}
    figure.layout["showlegend"] = len(rounds) > 1
    return figure


def _below_each_other(shown: Shown, bars: Sequence[Bar], rounds: Sequence[int], revealed: bool) -> Figure:
    """A row for each answer; of many words, for those that most wrote (and the right one), and one for all others."""
    kept, rest = list(bars), []
    if shown["gesture"] == "word" and len(bars) > MOST_WORDS + 1:
        order = sorted(bars, key=lambda bar: not (revealed and bar.right))[:MOST_WORDS]
        kept, rest = [bar for bar in bars if bar in order], [bar for bar in bars if bar not in order]
    names = [RIGHT * (revealed and bar.right) + name for bar, name in zip(kept, names_of(shown, kept), strict=True)]
    names += [plain("class.other_words", count=len(rest))] if rest else []
    places, size = np.arange(len(names)), font_size() if len(rounds) < 2 else 0.8 * font_size()
    traces, most = [], 1.0
    for number, colour in zip(rounds, _colours(rounds), strict=True):
        counts = np.append(_counts(kept, number), _counts(rest, number).sum()) if rest else _counts(kept, number)
        all_, most = sum(bar.counts.get(number, 0) for bar in bars), max(most, float(counts.max(initial=0)))
        bar = dict(type="bar", orientation="h", x=counts, y=places, name=plain(f"class.vote_{number}"))
        bar |= {"text": [f" {count:.0f} · {percent(count / all_)}" if count else "" for count in counts.tolist()]}
        bar |= {
            "marker": {"color": colour},
            "textposition": "outside",
            "textfont": {"size": size},
            "constraintext": "none",
        }
        traces.append(bar | {"cliponaxis": False, "hoverinfo": "skip"})
    sides = {"xaxis": scale("", visible=False, range=[0, 2 * most]), "yaxis": _rows(names)}
    legend = LEGEND if len(rounds) > 1 else {"showlegend": False}
    grouped = {"barmode": "group", "bargap": 0.2}
    return without_title(figure_of(traces, sides | legend | grouped | look(scaled(30 * len(names)))))


def _counts(bars: Sequence[Bar], number: int) -> np.ndarray:
    return np.array([bar.counts.get(number, 0) for bar in bars], dtype=np.float32)


def _colours(rounds: Sequence[int]) -> list[str]:
    return [FIRST, SECOND][-len(rounds) :] if rounds else []


def _rows(names: Sequence[str]) -> dict:
    """The side of a picture in which each name has a row, the first on top."""
    return axis_layout(Axis("", names), len(names)) | {"range": [len(names) - 0.5, -0.5]}


def without_title(figure: Figure) -> Figure:
    """With no more room at the left than the names need: there is no title."""
    widest = max(map(text_width, figure.layout["yaxis"]["ticktext"]), default=0)
    figure.layout["margin"]["l"] = math.ceil(widest * font_size()) + 10
    return figure


def chips_over_each_other(
    rows: np.ndarray,
    names: Sequence[str],
    *,
    before: np.ndarray | None = None,
    own: np.ndarray | None = None,
) -> Figure:
    """All that was shared out, a thin line each, (phone, token), with a row for each token; the mean as a thick one.

    before: the mean of the first vote. own: what the network gives, as bars, once it is revealed.
    """
    places = np.arange(len(names))
    traces: list[dict] = []
    if own is not None:
        bar: dict = dict(type="bar", orientation="h", x=own, y=places, marker={"color": BLUE})
        bar |= {"name": plain("class.the_network"), "opacity": 0.8, "hoverinfo": "skip"}
        traces.append(
            bar | {"text": [f" {share:.0f}" for share in own], "textposition": "outside", "cliponaxis": False}
        )
    points: list[tuple[float | None, float | None]] = []
    for row in rows:
        points += [*zip(row.tolist(), places.tolist(), strict=True), BREAK]
    thin = {"opacity": max(0.12, min(0.6, 4 / max(1, len(rows)))), "name": plain("class.each_of_you")}
    traces.append(stroke(points, GREY, 2) | thin | {"showlegend": False})
    if before is not None:
        first = plain("class.vote_1")
        traces.append(stroke(np.stack([before, places], axis=1), GREY, 4) | {"name": first})
    mean = stroke(np.stack([rows.mean(axis=0), places], axis=1), ORANGE, 5) if len(rows) else stroke([], ORANGE, 5)
    traces.append(mean | {"name": plain("class.the_class")})
    with for_the_last_row():
        along = scale("", rangemode="tozero", tickfont={"size": round(0.8 * font_size())})
        sides = {"xaxis": along, "yaxis": _rows(names)}
        figure = figure_of(traces, sides | LEGEND | look(scaled(330)))
        figure.layout["legend"] = {**figure.layout["legend"], "font": {"size": round(0.8 * font_size())}}
        return without_title(figure)
