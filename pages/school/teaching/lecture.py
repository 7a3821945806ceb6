"""Current state of a class: its lesson on its own input, the questions asked, and the answers."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from pages.drawing.figures.theme import DENSE, font_size, letters
from pages.drawing.picture import Picture
from pages.drawing.screen import Screen
from pages.drawing.state.choice import Choice
from pages.drawing.text import language
from pages.school.classroom.phases import TOLD, Phase, Proposal, following, proposal
from pages.school.classroom.store import Asked
from pages.school.classroom.tally import Bar, Tally, bars, tallies
from pages.school.lessons.lesson import Lesson
from pages.school.lessons.wording import title_of
from pages.school.questions.case import Case, Truth
from pages.school.questions.pictures import Look, of_place
from pages.school.questions.question import Question
from pages.school.teaching.asked import why
from pages.school.teaching.desk import Desk
from pages.screen.frame.pen import Pen

MANY = 20  # tokens, from which on a map beside the answers has little room for a row


@dataclass(frozen=True)
class Lecture:
    """A lesson in a class.

    page: for the class's own run. own_choice: the reader's current choice. clear: questions with a clear answer for
    this input, with run and answer, by index in the lesson. left_out: the others. asked: all questions asked, the
    current one last.
    """

    screen: Screen
    pen: Pen
    own_choice: Choice
    desk: Desk
    lesson: Lesson
    clear: Mapping[int, tuple[Question, Case, Truth]]
    left_out: Sequence[Question]
    asked: Sequence[Asked]

    @property
    def phase(self) -> Phase:
        return self.desk.room.phase

    @property
    def now(self) -> Asked | None:
        """The current question; None in the lobby."""
        there = [one for one in self.asked if one.number == self.desk.room.number]
        return there[0] if there and self.phase is not Phase.LOBBY else None

    @property
    def question(self) -> Question | None:
        """The lesson's entry for the current question."""
        return self.lesson[self.now.shown["key"]] if self.now and self.now.shown["key"] in self.lesson.keys else None

    @property
    def is_own(self) -> bool:
        """Whether a teacher set the answer to the current question, not the network."""
        return self.now is not None and self.now.truth.get("own", False)

    @property
    def is_told(self) -> bool:
        """Whether all is said about the current question: with the answer, if nothing explains it."""
        says = self.now and self.now.truth.get("why", {}).get(language())
        return self.phase is Phase.EXPLAINED or (self.phase is Phase.REVEALED and not says)

    @property
    def here(self) -> tuple[Question, Case, Truth] | None:
        """The current question with run and answer; None if the class has since changed its input."""
        if self.now is None or (here := self.clear.get(self.now.place)) is None:
            return None
        return here if self.now.truth.get("why", {}).get(language()) == why(here[0], here[2]) else None

    @property
    def truth(self) -> Truth | None:
        """The true answer to the current question in this run."""
        return self.here and self.here[2]

    @cached_property
    def picture(self) -> Picture | None:
        """The page's picture for a teacher's own question, shown in all phases."""
        if self.here is None or self.here[0].measure is not None:
            return None
        question, case, truth = self.here
        look = Look(question.row, question.gesture, case, truth, shown=self.phase in TOLD)
        with letters(min(font_size(), DENSE) if len(case.tokens) > MANY else font_size()):
            return next(iter(of_place(question.place, look)), None)

    @property
    def about(self) -> str:
        """Subtitle of the report: lesson, date, code and input."""
        day = time.strftime("%Y-%m-%d", time.localtime(self.desk.room.created))
        return " · ".join((title_of(self.lesson), day, self.desk.code, self.screen.about()))

    @property
    def coming(self) -> list[int]:
        """Indices of the questions not asked yet: those after the current one, then those skipped; in a study, then
        those to be asked again.
        """
        times = Counter(one.place for one in self.asked)
        left = [place for place in self.clear if times[place] < 1 + self.lesson.twice]
        here = self.desk.room.place
        return sorted(left, key=lambda place: (times[place], not self.lesson.twice and place < here, place))

    @property
    def is_between(self) -> bool:
        """Whether all questions of a study have been asked once."""
        return self.lesson.twice and len(self.asked) == len(self.clear)

    @property
    def next_phases(self) -> tuple[Phase, ...]:
        """The phases that may follow; PageDown goes to the first, except the end, which has only a button."""
        if self.lesson.twice and self.phase is Phase.CLOSED:  # answers are not told
            return (Phase.LOBBY if self.is_between else Phase.QUESTION if self.coming else Phase.ENDED,)
        return following(Phase.EXPLAINED if self.is_told else self.phase, self.desk.room.round, last=not self.coming)

    @cached_property
    def tallies(self) -> dict[int, Tally]:
        """Totals of each round of the current question."""
        return tallies(self.now) if self.now else {}

    @cached_property
    def bars(self) -> list[Bar]:
        return bars(self.now.shown, self.now.truth, self.now.votes) if self.now else []

    @property
    def last(self) -> Tally | None:
        """Totals of the last closed round."""
        return self.tallies[max(self.tallies)] if self.tallies else None

    @property
    def proposal(self) -> Proposal | None:
        """The proposed next step after the vote."""
        if self.phase is not Phase.CLOSED or self.last is None:
            return None
        return proposal(self.last.right, self.last.answers, self.desk.room.round)
