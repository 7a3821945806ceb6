"""What a class answered, and what the network does, as figures. No Streamlit here."""

from collections.abc import Sequence

import numpy as np

from pages.ui.classroom.questions import Guess, Shown, Told
from pages.ui.classroom.tally import BARS, Bar
from pages.ui.figures import BLUE, GREY, ORANGE, Axis, Figure, figure_of, grouped_bars, heatmap
from pages.ui.figures.base import BREAK, LEGEND, axis_layout, frame, look, scale, stroke
from pages.ui.figures.theme import scaled
from pages.ui.lessons.asking import figure_of as number_in_words
from pages.ui.teaching.as_head import Head
from pages.ui.text import language, plain

MOST_WORDS = 10  # of all that were written, those that are drawn
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
    """What is true, as people say it; of beans, who gets most."""
    answer = truth["answer"]
    if shown["gesture"] == "beans":
        most = max(range(len(answer)), key=answer.__getitem__)
        return f"{shown['names'][language()][most]} ({answer[most]:.0f})"
    return name_of(shown, answer) if isinstance(answer, str) else number_in_words(answer)


def answer_is(truth: Told) -> str:
    """The text that says whose answer it is."""
    return "the_teachers_answer" if truth.get("own") else "the_answer"


def distribution(shown: Shown, bars: Sequence[Bar], rounds: Sequence[int], *, revealed: bool) -> Figure:
    """How many gave each answer, first and second vote side by side. revealed: the right ones get their mark."""
    drawn = bars[:MOST_WORDS] if shown["gesture"] == "word" else bars
    names = names_of(shown, drawn)
    if revealed:
        names = [RIGHT * bar.right + name for bar, name in zip(drawn, names, strict=True)]
    series = {
        plain(f"class.vote_{number}"): np.array([bar.counts.get(number, 0) for bar in drawn], dtype=np.float32)
        for number in rounds
    }
    figure = grouped_bars(series, Axis("", names), "", [FIRST, SECOND][-len(rounds) :] if rounds else [])
    most = max((values.max(initial=0) for values in series.values()), default=0)
    for trace in figure.data:
        trace |= {"text": [f"{count:.0f}" if count else "" for count in trace["y"]], "textposition": "outside"}
        trace |= {"cliponaxis": False, "hoverinfo": "skip", "hovertemplate": None}
    figure.layout["yaxis"] |= {"visible": False, "range": [0, max(1.0, 1.15 * float(most))]}
    figure.layout["showlegend"] = len(rounds) > 1
    return figure


def beans_over_each_other(
    rows: np.ndarray,
    names: Sequence[str],
    *,
    before: np.ndarray | None = None,
    own: np.ndarray | None = None,
) -> Figure:
    """All that was shared out, a thin line each, (phone, token); the mean as a thick one.

    before: the mean of the first vote. own: what the network gives, as bars, once it is revealed.
    """
    places = np.arange(len(names))
    traces: list[dict] = []
    if own is not None:
        bar = dict(type="bar", x=places, y=own, marker={"color": BLUE}, name=plain("class.the_network"))
        traces.append(bar | {"opacity": 0.8, "hoverinfo": "skip"})
    points: list[tuple[float | None, float | None]] = []
    for row in rows:
        points += [*zip(places.tolist(), row.tolist(), strict=True), BREAK]
    thin = {"opacity": max(0.12, min(0.6, 4 / max(1, len(rows)))), "name": plain("class.each_of_you")}
    traces.append(stroke(points, GREY, 2) | thin)
    if before is not None:
        first = plain("class.vote_1")
        traces.append(stroke(np.stack([places, before], axis=1), GREY, 4) | {"name": first})
    mean = stroke(np.stack([places, rows.mean(axis=0)], axis=1), ORANGE, 5) if len(rows) else stroke([], ORANGE, 5)
    traces.append(mean | {"name": plain("class.the_class")})
    sides = {"xaxis": axis_layout(Axis("", names), len(names)), "yaxis": scale("", rangemode="tozero")}
    return figure_of(traces, sides | LEGEND | look(scaled(330)))


def class_beside_heads(mean: np.ndarray, rows: np.ndarray, heads: Sequence[Head], names: Sequence[str]) -> Figure:
    """The class as one more head, on top, and below it those of the run, the most alike first."""
    values = np.stack([mean / 100, *(rows[head.layer, head.head] for head in heads)]).astype(np.float32)
    called = [plain("class.the_class"), *(f"{one.layer + 1}·{one.head + 1} ({one.shared:.0f})" for one in heads)]
    height = 60 + scaled(16 * len(called))
    figure = heatmap(values, Axis("", called), Axis("", names), scale="share", square=False, height=height, thin=False)
    figure.data[0]["showscale"] = False
    figure.layout["margin"]["t"] = 8
    figure.layout["shapes"] = [frame(0, 0, 0, len(names) - 1)]
    return figure
