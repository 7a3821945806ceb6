"""Answers of a class as a table with bars, for projector and report. No Streamlit here."""

import html
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pages.drawing.figures.base import text_width
from pages.drawing.text import language, plain, t
from pages.drawing.text.numbers import bound, percent, written
from pages.school.classroom.questions import Guess, Shown, Told
from pages.school.classroom.store import Asked
from pages.school.classroom.tally import Bar, Part, Tally, bars, sure_and_wrong, tallies
from pages.school.questions.case import Truth, short
from pages.school.teaching.asked import MOST_WITH_CHIPS

MOST_ROWS = MOST_WITH_CHIPS  # on the projector; with more answers, the last row stands for the rest
RIGHT = "✓ "
LONG = 16  # letters from which an answer is above its bar, not beside it
A_LINE = 30  # letters in a line beside a picture


def weight(hundredths: float) -> str:
    """An attention weight as phones and pages write it: 0.95."""
    return written(short(hundredths / 100))


def lines(asked: Asked, *, revealed: bool) -> list[Bar]:
    """Bars for the answers to a question, by display name; for chips, the mean weight of each token in hundredths."""
    shown, truth = asked.shown, asked.truth
    if shown["gesture"] == "chips":
        names, most = shown["names"][language()], max(truth["answer"])
        means = {number: one.mean.tolist() for number, one in tallies(asked).items()}
        return [
            Bar(name, truth["answer"][i] == most, {number: mean[i] for number, mean in means.items()})
            for i, name in enumerate(names)
        ]
    found = bars(shown, truth, asked.votes, revealed=revealed)
    return [replace(bar, guess=name_of(shown, bar.guess)) for bar in found]


def as_table(asked: Asked, *, revealed: bool, whole: bool = False) -> str:
    """A row with bars for each answer, for both rounds; for revealed chips, with the network's weights.

    revealed: whether right answers are marked. whole: show every answer, even rare ones.
    """
    votes, found, chips = tallies(asked), lines(asked, revealed=revealed), asked.shown["gesture"] == "chips"
    if not whole and len(found) > MOST_ROWS:
        found = _given(found, revealed)
    own, slides = asked.truth["answer"] if chips and revealed else None, asked.shown["gesture"] == "slide"
    rows = []
    for place, line in enumerate(found):
        drawn, said = [], []
        for number, one in votes.items():
            count = line.counts.get(number, 0)
            drawn.append(("vote" if number == max(votes) else "first", count if chips else 100 * count / one.answers))
            said.append(weight(count) if chips else f"{count:.0f} · {percent(count / one.answers)}")
        told = " → ".join(said) if any(line.counts.values()) else ""
        if revealed and slides and (line.right or any(line.rights.values())):  # only some of a part may be near enough
            told = f"{told} ({RIGHT}{' → '.join(map(str, line.rights.values())) or 0})".strip()
        if own is not None:
            drawn.append(("own", own[place]))
            told = f"{told or '0'} | " * bool(votes) + f"<b>{weight(own[place])}</b>"
        mark = revealed and line.right
        strips = "".join(f'<i class="{kind}" style="width:{share:.1f}%"></i>' for kind, share in drawn)
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


def _order(line: Bar, revealed: bool) -> tuple[bool, float]:
    """Sort key: known right answers first, then by votes."""
    return not (revealed and line.right), -sum(line.counts.values())


def _given(found: Sequence[Bar], revealed: bool) -> list[Bar]:
    """With many answers, only those given and, once revealed, the right one; the last row sums up the rest."""
    given = [line for line in found if any(line.counts.values()) or (revealed and line.right)]
    if len(given) <= MOST_ROWS:
        return given
    first = sorted(given, key=lambda line: _order(line, revealed))[: MOST_ROWS - 1]
    rest = [line.counts for line in given if line not in first]
    counts = {number: sum(counts[number] for counts in rest) for number in rest[0]}
    return [*(line for line in given if line in first), Bar(plain("class.others"), False, counts)]


def with_room(truth: Truth, asked: Asked) -> Truth:
    """A truth with as many bars as fit: right, given, strongest; the last one is the maximum of the rest."""
    if len(truth.bars) <= MOST_ROWS:
        return truth
    orders = {line.guess: _order(line, True) for line in bars(asked.shown, asked.truth, asked.votes)}

    def order(bar: tuple[str, float]) -> tuple[bool, float, float]:
        wrong, given = orders.get(bar[0], (True, 0))
        return wrong, given, 0 if given else -bar[1]

    ordered = sorted(truth.bars, key=order)
    first, rest = ordered[: MOST_ROWS - 1], ordered[MOST_ROWS - 1 :]
    others = f"{plain('class.others')} ≤", max(value for _, value in rest)
    return replace(truth, bars=(*(bar for bar in truth.bars if bar in first), others))


def name_of(shown: Shown, guess: Guess | Part) -> str:
    """Display name of an answer in the reader's language; an interval for sliders."""
    if isinstance(guess, tuple):
        ends = dict.fromkeys(bound(end) for end in guess)
        return (" – " if any("−" in end for end in ends) else "–").join(ends)
    options = shown.get("options", [])
    return (
        shown["names"][language()][options.index(guess)]
        if guess in options
        else guess
        if isinstance(guess, str)
        else written(f"{guess}")
    )


def answer_of(shown: Shown, truth: Told) -> str:
    """The answer in words; for chips, the token that gets most."""
    answer = truth["answer"]
    if shown["gesture"] == "chips":
        most = max(range(len(answer)), key=answer.__getitem__)
        named = plain("common.quoted", token=shown["names"][language()][most])
        return plain("common.and_more", name=named, more=weight(answer[most]))
    return name_of(shown, answer) if isinstance(answer, str) else short(answer)


def said_of_right(votes: Mapping[int, Tally]) -> str:
    """How many were right, in each round."""
    return t("class.right", shares=_shares(votes, "rights"))


def _shares(votes: Mapping[int, Tally], what: str) -> str:
    """Counts and shares in each round: "3 of 12 · 25 % → 12 of 12 · 100 %"."""
    counts = [(getattr(one, what), one.answers) for one in votes.values()]
    return " → ".join(plain("class.share", right=some, all=all_, share=percent(some / all_)) for some, all_ in counts)


def answer_told(shown: Shown, truth: Told) -> str:
    """Whose answer it is, the network's or the teacher's, and the answer, quoted unless it begins with a number."""
    answer = answer_of(shown, truth)
    if not re.match("[“×−\\d]", answer):
        answer = plain("common.quoted", token=answer)
    return t(f"class.the_{'teachers_' * truth.get('own', False)}answer", answer=answer)


def said_of_sure(asked: Asked, *, named: bool = True) -> str:
    """How many were sure but wrong, in each round; if `named`, with the most frequent such answer of the last round. ""
    if nobody was.
    """
    votes = tallies(asked)
    if not any(one.sure_and_wrong for one in votes.values()):
        return ""
    shares = _shares(votes, "sure_and_wrong")
    worst = sure_and_wrong(bars(asked.shown, asked.truth, asked.votes, revealed=True))
    if worst is None or not named:  # chips are not one answer
        return t("class.sure_and_wrong", shares=shares)
    return t("class.most_sure_of", answer=name_of(asked.shown, worst.guess), shares=shares)
