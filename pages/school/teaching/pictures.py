"""What a class answered as a table with bars, for the projector and the report. No Streamlit here."""

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pages.school.classroom.questions import Guess, Shown, Told
from pages.school.classroom.store import Asked
from pages.school.classroom.tally import BARS, Bar, Tally, bars, sure_and_wrong, tallies
from pages.school.questions.case import Truth, short
from pages.school.teaching.asked import MOST_WITH_CHIPS
from pages.ui.figures.base import text_width
from pages.ui.text import language, plain, t
from pages.ui.text.numbers import percent

MOST_ROWS = MOST_WITH_CHIPS  # on the projector; of more answers, the last row is for the others
RIGHT = "✓ "
LONG = 16  # letters, from which on an answer stands above its bar and no longer beside it
A_LINE = 40  # letters of it in a line, in half of a projector


def lines(asked: Asked) -> list[Bar]:
    """What was answered to a question, by what it is called; of chips, how much of the attention each token got on
    average, in hundredths.
    """
    shown, truth = asked.shown, asked.truth
    if shown["gesture"] == "chips":
        names, most = shown["names"][language()], max(truth["answer"])
        means = {number: one.mean.tolist() for number, one in tallies(asked).items()}
        return [
            Bar(name, truth["answer"][i] == most, {number: mean[i] for number, mean in means.items()})
            for i, name in enumerate(names)
        ]
    found = bars(shown, truth, asked.votes)
    return [replace(bar, guess=name) for name, bar in zip(names_of(shown, found), found, strict=True)]


def as_table(asked: Asked, *, revealed: bool, whole: bool = False) -> str:
    """A row with bars for each answer: both votes and, of chips that are revealed, the network's weights.

    revealed: whether the right answers have their mark. whole: each answer has a row, however few gave it.
    """
    votes, found, chips = tallies(asked), lines(asked), asked.shown["gesture"] == "chips"
    if not whole and len(found) > MOST_ROWS:
        first = sorted(found, key=lambda line: (not (revealed and line.right), -sum(line.counts.values())))[
            : MOST_ROWS - 1
        ]
        rest = [line for line in found if line not in first]
        counts = {number: sum(line.counts.get(number, 0) for line in rest) for number in votes}
        found = [line for line in found if line in first]
        found.append(Bar(plain("class.others"), False, counts))
    own = asked.truth["answer"] if chips and revealed else None
    every = [count for line in found for count in line.counts.values()] + (own or [])
    most, rows = max(every, default=0) or 1, []
    for place, line in enumerate(found):
        drawn, said = [], []
        for number, one in votes.items():
            count = line.counts.get(number, 0)
            drawn.append(("vote" if number == max(votes) else "first", count))
            said.append(f"{count:.0f}" + ("%" if chips else f" · {percent(count / one.answers)}"))
        told = " → ".join(said) if any(line.counts.values()) else ""
        if own is not None:
            drawn.append(("own", own[place]))
            told = f"{told or '0%'} | " * bool(votes) + f"<b>{own[place]:.0f}%</b>"
        mark = revealed and line.right
        strips = "".join(f'<i class="{kind}" style="width:{100 * count / most:.1f}%"></i>' for kind, count in drawn)
        name = html.escape(f"{RIGHT * mark}{line.guess}")
        right = ' class="right"' * mark
        rows.append(f'<tr{right}><th scope="row">{name}</th><td class="bar">{strips}</td><td>{told}</td></tr>')
    names = [plain(f"class.vote_{number}") for number in votes] if len(votes) > 1 else []
    kinds = [*zip(["first", "vote"], names, strict=False)]
    if own is not None:
        kinds = kinds or [("vote", plain("class.the_class"))] * bool(votes)
        kinds.append(("own", plain("class.the_network")))
    legend = " ".join(f'<i class="{kind}"></i> {html.escape(name)}' for kind, name in kinds)
    legend = f"<caption>{legend}</caption>" if kinds else ""
    widths = [text_width(f"{line.guess}") / text_width("e") for line in found]
    long = max(widths, default=0) > LONG
    high = sum(math.ceil(width / A_LINE) + 1 for width in widths) if long else len(rows)
    of = f'class="said{" long" * long}" style="--rows: {high + bool(kinds)}"'
    return f"<table {of}>{legend}{''.join(rows)}</table>"


def strongest(truth: Truth) -> Truth:
    """With as many bars as there is room for; the last one says how high the others are at most."""
    if len(truth.bars) <= MOST_ROWS:
        return truth
    *first, last = sorted(truth.bars, key=lambda bar: -bar[1])[:MOST_ROWS]
    bars = *(bar for bar in truth.bars if bar in first), (f"{plain('class.others')} ≤", last[1])
    return replace(truth, bars=bars)


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


def of_right(one: Tally) -> dict[str, object]:
    """What texts say of the right answers: how many, of how many, and their share."""
    return {"right": one.rights, "all": one.answers, "share": percent(one.right)}


def said_of_right(votes: Mapping[int, Tally]) -> str:
    """How many were right, in each vote that there was."""
    shares = [plain("class.share", **of_right(one)) for one in votes.values()]
    return t("class.right", shares=" → ".join(shares))


def answer_is(truth: Told) -> str:
    """The text that says whose answer it is."""
    return "the_teachers_answer" if truth.get("own") else "the_answer"


def said_of_sure(asked: Asked, *, named: bool = True) -> str:
    """How many were sure, and wrong, in the last vote; where it may be named, with what most of them answered. Nothing
    where nobody was.
    """
    votes = tallies(asked)
    if not votes or not (wrong := votes[max(votes)].sure_and_wrong):
        return ""
    answers = votes[max(votes)].answers
    of_all = {"wrong": wrong, "all": answers, "share": percent(wrong / answers)}
    worst = sure_and_wrong(bars(asked.shown, asked.truth, asked.votes))
    if worst is None or not named:  # chips are no single answer
        return t("class.sure_and_wrong", **of_all)
    (name,) = names_of(asked.shown, [worst])
    return t("class.most_sure_of", answer=name, **of_all)
