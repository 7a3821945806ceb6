"""What the votes on a question add up to: by gesture, both rounds beside each other, and who was sure and wrong."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np

from pages.school.classroom.questions import CHIPS, Guess, Shown, Told, tidy
from pages.school.classroom.store import SURE, Asked, Vote
from pages.school.questions.case import Truth, is_right

BARS = 10  # into which the span of a slider is cut


@dataclass(frozen=True)
class Bar:
    """One answer, and how many gave it in each round.

    guess: as it was given (of a slider, the middle of a tenth of its span). right: whether the answer is there.
    sure_and_wrong: how many of the last round were.
    """

    guess: Guess
    right: bool
    counts: Mapping[int, float]
    sure_and_wrong: int = 0


@dataclass(frozen=True)
class Tally:
    """What one round adds up to.

    answers: how many. rights: how many of them were right. sure_and_wrong: how many were sure, and wrong. numbers: of
    "slide" and "number", each guess, sorted. mean: of "chips", in hundredths, (option,).
    """

    answers: int
    rights: int
    sure_and_wrong: int
    numbers: Sequence[float]
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
    gesture, guesses = shown["gesture"], [vote.guess for vote in votes]
    numbers = sorted(cast(list[float], guesses)) if gesture in ("slide", "number") else []
    options = len(shown["options"]) if gesture == "chips" else 0
    given = np.array(guesses if options else [], dtype=float).reshape(len(votes) if options else 0, options)
    mean = given.sum(axis=0) * 100 / (CHIPS * max(1, len(given)))
    return Tally(len(votes), sum(true), wrong, numbers, mean)


def tallies(asked: Asked) -> dict[int, Tally]:
    """What each vote on a question adds up to."""
    return {number: tally(asked.shown, asked.truth, given) for number, given in sorted(asked.votes.items())}


def bars(shown: Shown, truth: Told, rounds: Mapping[int, Sequence[Vote]]) -> list[Bar]:
    """All answers but chips, with both rounds beside each other.

    Options in their order, words by how many wrote them, numbers from the least on; of a slider, tenths of its span.
    """
    gesture = shown["gesture"]
    if gesture == "chips":
        return []
    group = _grouping(shown)
    counted = {number: Counter(group(vote.guess) for vote in votes) for number, votes in sorted(rounds.items())}
    last = rounds[max(rounds)] if rounds else ()
    wrong = Counter(group(vote.guess) for vote in last if _sure_and_wrong(shown, truth, vote))
    total = sum(counted.values(), Counter[Guess]())
    if gesture in ("tap", "same"):
        order: Sequence[Guess] = shown["options"]
    elif gesture == "word":
        order = sorted(total, key=lambda word: (-total[word], str(word)))
    elif gesture == "slide":
        low, high = shown["span"]
        order = [low + (high - low) * (place + 0.5) / BARS for place in range(BARS)]
    else:
        order = sorted(total, key=float)  # type: ignore[arg-type]
    holds = _holds_the_answer(shown, truth, group)
    return [
        Bar(guess, holds(guess), {number: counts[guess] for number, counts in counted.items()}, wrong[guess])
        for guess in order
    ]


def sure_and_wrong(found: Sequence[Bar]) -> Bar | None:
    """The wrong answer that most were sure of, which a talk begins with; None where nobody was."""
    wrong = [bar for bar in found if bar.sure_and_wrong]
    return max(wrong, key=lambda bar: bar.sure_and_wrong, default=None)


def _sure_and_wrong(shown: Shown, truth: Told, vote: Vote) -> bool:
    return vote.confidence == SURE and not right(shown, truth, vote.guess)


def _grouping(shown: Shown) -> Callable[[Guess], Guess]:
    """Which bar a guess belongs to, named by its guess or middle."""
    if shown["gesture"] != "slide":
        return lambda guess: guess
    low, high = shown["span"]

    def middle(guess: Guess) -> float:
        place = min(BARS - 1, int((cast(float, guess) - low) / (high - low) * BARS))
        return low + (high - low) * (place + 0.5) / BARS

    return middle


def _holds_the_answer(shown: Shown, truth: Told, group: Callable[[Guess], Guess]) -> Callable[[Guess], bool]:
    """Of a slider, the bar in which the answer lies; of all else, a right guess."""
    if shown["gesture"] == "slide":
        return lambda guess: guess == group(truth["answer"])
    return lambda guess: right(shown, truth, guess)
