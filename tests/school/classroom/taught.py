"""A class with its teacher."""

from typing import Any

from pages.school.classroom.phases import Phase
from pages.school.classroom.store import Ballot, ClassState, Store, Verdict
from tests.school.classroom.asked import EXAMPLES


class Class:
    """A class in a store, with its teacher's actions."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.code, self.key = store.create()

    def act(self, name: str, *said: Any) -> Any:
        """What the store does for this teacher."""
        return getattr(self.store, name)(self.code, self.key, *said)

    @property
    def room(self) -> ClassState:
        return self.act("of_teacher")

    @property
    def answers(self) -> int:
        """How many there are in this round."""
        return self.store.count(self.code)[0]

    def ask(self, gesture: str = "tap", truth: dict | None = None, shown: dict | None = None) -> None:
        """Ask an example. truth: instead of the example's own. shown: what phones may see of it."""
        example = EXAMPLES[gesture]
        shown = example.shown | (shown or {})
        self.act("ask", self.room.version, 0, shown, truth or example.truth)

    def advance(self, version: int, phase: Phase | None) -> ClassState:
        return self.act("advance", version, phase)

    def go(self, *phases: Phase) -> ClassState:
        for phase in phases:
            if phase is Phase.QUESTION:
                self.ask()
            else:
                self.advance(self.room.version, phase)
            assert self.room.phase is phase
        return self.room

    def end(self) -> None:
        self.act("end")

    def vote(self, guess: object = "1", device: str = "d1", confidence: int = 2, **where: int) -> Verdict:
        at = {"number": self.room.number, "round": self.room.round} | where
        return self.store.vote(Ballot(self.code, **at, device=device, guess=guess, confidence=confidence))
