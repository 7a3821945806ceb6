"""Tallies of votes: by answer and round, and how many were sure but wrong."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

import numpy as np

from pages.school.classroom.questions import CHIPS, Guess, Shown, Told, tidy
from pages.school.classroom.store import SURE, Asked, Vote
from pages.school.questions.case import Truth, is_right

BARS = 10  # parts of a slider's span
Part = tuple[float, float]


@dataclass(frozen=True)
class Bar:
    """One answer, and its number of votes in each round.

    guess: as given; for sliders an interval. right: whether it is right, or holds the answer. rights: how many of them
    were right. sure_and_wrong: votes of the last round that were.
    """

    guess: Guess | Part
    right: bool
    counts: Mapping[int, float]
    rights: Mapping[int, int] = field(default_factory=dict)
    sure_and_wrong: int = 0


@dataclass(frozen=True)
class Tally:
    """Totals of one round.

    answers: number. rights: number of right ones. sure_and_wrong: number of sure but wrong ones. mean: of "chips", in
    hundredths, (option,).
    """

    answers: int
    rights: int
    sure_and_wrong: int
    mean: np.ndarray

    @property
    def right(self) -> float:
        """Share of right answers, 0 without answers."""
        return self.rights / max(1, self.answers)


def right(shown: Shown, truth: Told, guess: Guess) -> bool:
    """Whether a guess is right."""
    answer = tidy(truth["answer"]) if shown["gesture"] == "word" else truth["answer"]
    return is_right(shown["gesture"], guess, Truth(answer, 0.0, {}, (), {}, near=truth.get("near", 0.0)))


def tally(shown: Shown, truth: Told, votes: Sequence[Vote]) -> Tally:
    """Totals of one round."""
    true = [right(shown, truth, vote.guess) for vote in votes]
    wrong = sum(_sure_and_wrong(shown, truth, vote) for vote in votes)
    options = len(shown["options"]) if shown["gesture"] == "chips" else 0
    given = np.array([vote.guess for vote in votes if options], float).reshape(len(votes) * bool(options), options)
    mean = given.sum(axis=0) * 100 / (CHIPS * max(1, len(given)))
    return Tally(len(votes), sum(true), wrong, mean)


def tallies(asked: Asked) -> dict[int, Tally]:
    """Totals of each round of a question."""
    return {number: tally(asked.shown, asked.truth, given) for number, given in sorted(asked.votes.items())}


def bars(shown: Shown, truth: Told, rounds: Mapping[int, Sequence[Vote]], *, revealed: bool = False) -> list[Bar]:
    """All answers except chips, with both rounds side by side.

    Options in their order, words by number of votes, numbers in ascending order, sliders in tenths of the span. Once
    revealed, the true number has a bar, given or not; all other bars stay as they are.
    """
    gesture = shown["gesture"]
    if gesture == "chips":
        return []
    low, high = shown.get("span", (0, 0))
    edges = [low + (high - low) * place / BARS for place in range(BARS + 1)]
    parts = [*pairwise(edges)] if gesture == "slide" else []
    answer = truth["answer"] if revealed else None

    def group(guess: Guess) -> Guess | Part:
        return [part for part in parts if part[0] <= cast(float, guess)][-1] if parts else guess

    def counted(votes: Iterable[Vote]) -> Counter[Guess | Part]:
        return Counter(group(vote.guess) for vote in votes)

    counts = {number: counted(votes) for number, votes in sorted(rounds.items())}
    rights = {
        number: counted(vote for vote in rounds[number] if revealed and right(shown, truth, vote.guess))
        for number in counts
    }
    last = rounds[max(rounds)] if rounds else ()
    wrong = counted(vote for vote in last if _sure_and_wrong(shown, truth, vote))
    total = sum(counts.values(), Counter[Guess | Part]())
    if gesture in ("tap", "same"):
        order: Sequence[Guess | Part] = shown["options"]
    elif gesture == "word":
        order = sorted(total, key=lambda word: (-total[word], str(word)))
    elif gesture == "slide":
        order = parts
    else:
        true = [] if answer is None or answer % 1 else [int(answer)]
        order = sorted({*total, *true})  # type: ignore[type-var]
    return [
        Bar(
            guess,
            answer is not None and guess == group(answer) if isinstance(guess, tuple) else right(shown, truth, guess),
            {number: given[guess] for number, given in counts.items()},
            {number: given[guess] for number, given in rights.items()},
            wrong[guess],
        )
        for guess in order
    ]


def sure_and_wrong(found: Sequence[Bar]) -> Bar | None:
    """The wrong answer with the most sure votes, to start a discussion with; None if it is one vote, or none leads."""
    most = max((bar.sure_and_wrong for bar in found), default=0)
    wrong = [bar for bar in found if bar.sure_and_wrong == most]
    return wrong[0] if most > 1 and len(wrong) == 1 else None


def _sure_and_wrong(shown: Shown, truth: Told, vote: Vote) -> bool:
    return vote.confidence == SURE and not right(shown, truth, vote.guess)
