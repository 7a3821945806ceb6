"""What the votes on a question add up to: by gesture, both rounds beside each other, and who was sure and wrong."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil, floor
from typing import cast

import numpy as np

from pages.school.classroom.questions import CHIPS, Guess, Shown, Told, tidy
from pages.school.classroom.store import SURE, Asked, Vote
from pages.school.questions.case import Truth, is_right

BARS = 10  # into which the span of a slider is cut
Part = tuple[float, float]


@dataclass(frozen=True)
class Bar:
    """One answer, and how many gave it in each round.

    guess: as it was given; of a slider, and of numbers that are right, from where to where. right: whether it is.
    sure_and_wrong: how many of the last round were.
    """

    guess: Guess | Part
    right: bool
    counts: Mapping[int, float]
    sure_and_wrong: int = 0


@dataclass(frozen=True)
class Tally:
    """What one round adds up to.

    answers: how many. rights: how many of them were right. sure_and_wrong: how many were sure, and wrong. mean: of
    "chips", in hundredths, (option,).
    """

    answers: int
    rights: int
    sure_and_wrong: int
    mean: np.ndarray

    @property
    def right(self) -> float:
        """The share of right answers, 0 where there are none."""
        return self.rights / max(1, self.answers)


def right(shown: Shown, truth: Told, guess: Guess) -> bool:
    """Whether a guess is right, as it is alone."""
    answer = tidy(truth["answer"]) if shown["gesture"] == "word" else truth["answer"]
    return is_right(shown["gesture"], guess, Truth(answer, 0.0, {}, (), {}, near=truth.get("near", 0.0)))


def tally(shown: Shown, truth: Told, votes: Sequence[Vote]) -> Tally:
    """Add up one round."""
    true = [right(shown, truth, vote.guess) for vote in votes]
    wrong = sum(_sure_and_wrong(shown, truth, vote) for vote in votes)
    options = len(shown["options"]) if shown["gesture"] == "chips" else 0
    given = np.array([vote.guess for vote in votes if options], float).reshape(len(votes) * bool(options), options)
    mean = given.sum(axis=0) * 100 / (CHIPS * max(1, len(given)))
    return Tally(len(votes), sum(true), wrong, mean)


def tallies(asked: Asked) -> dict[int, Tally]:
    """What each vote on a question adds up to."""
    return {number: tally(asked.shown, asked.truth, given) for number, given in sorted(asked.votes.items())}


def bars(shown: Shown, truth: Told, rounds: Mapping[int, Sequence[Vote]], *, revealed: bool = False) -> list[Bar]:
    """All answers but chips, with both rounds beside each other.

    Options in their order, words by how many wrote them, numbers from the least on; of a slider, tenths of its span.
    Once it is revealed, one bar of numbers and sliders holds all that is right and nothing else.
    """
    gesture = shown["gesture"]
    if gesture == "chips":
        return []
    near = _near(shown, truth) if revealed and gesture in ("slide", "number") else None
    parts = _parts(shown, near) if gesture == "slide" else []

    def group(guess: Guess) -> Guess | Part:
        if near and right(shown, truth, guess):
            return near
        if gesture != "slide":
            return guess
        begun = [part for part in parts if part != near and part[0] <= cast(float, guess)]
        return begun[-1] if begun else parts[0]

    counted = {number: Counter(group(vote.guess) for vote in votes) for number, votes in sorted(rounds.items())}
    last = rounds[max(rounds)] if rounds else ()
    wrong = Counter(group(vote.guess) for vote in last if _sure_and_wrong(shown, truth, vote))
    total = sum(counted.values(), Counter[Guess | Part]())
    if gesture in ("tap", "same"):
        order: Sequence[Guess | Part] = shown["options"]
    elif gesture == "word":
        order = sorted(total, key=lambda word: (-total[word], str(word)))
    elif gesture == "slide":
        order = parts
    else:
        order = sorted({*total, near} - {None}, key=lambda one: one[0] if isinstance(one, tuple) else float(one))  # type: ignore[arg-type]
    return [
        Bar(
            guess,
            guess == near if isinstance(guess, tuple) else right(shown, truth, guess),
            {number: counts[guess] for number, counts in counted.items()},
            wrong[guess],
        )
        for guess in order
    ]


def sure_and_wrong(found: Sequence[Bar]) -> Bar | None:
    """The wrong answer that most were sure of, which a talk begins with; None where nobody was."""
    wrong = [bar for bar in found if bar.sure_and_wrong]
    return max(wrong, key=lambda bar: bar.sure_and_wrong, default=None)


def _sure_and_wrong(shown: Shown, truth: Told, vote: Vote) -> bool:
    return vote.confidence == SURE and not right(shown, truth, vote.guess)


def _near(shown: Shown, truth: Told) -> Part | None:
    """From where to where a number is right; None where nobody set down what is."""
    if (answer := truth["answer"]) is None:
        return None
    low, high = shown["span"]
    least, most = max(low, answer - truth.get("near", 0.0)), min(high, answer + truth.get("near", 0.0))
    if shown["gesture"] == "number" and ceil(least) <= floor(most):
        return ceil(least), floor(most)
    return least, most


def _parts(shown: Shown, near: Part | None) -> list[Part]:
    """The parts into which the span of a slider is cut: tenths, and what is right as one of them, where it is known."""
    low, high = shown["span"]
    tenths = [low + (high - low) * place / BARS for place in range(BARS + 1)]
    if near is None:
        return list(pairwise(tenths))
    least, most = near
    half = (high - low) / BARS / 2  # less is no bar of its own
    below, above = [edge for edge in tenths if edge < least - half], [edge for edge in tenths if edge > most + half]
    return [*pairwise(sorted({low, *below, least})), near, *pairwise(sorted({most, *above, high}))]
