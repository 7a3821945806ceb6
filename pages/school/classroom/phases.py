"""The phases of a question in class, their order, and which step to propose after a vote.

lobby → question → open → closed → revealed → explained → question …, and once from closed by discuss → open → closed,
the second vote. A study goes from closed to the next question, and once back to the lobby. Pause is a flag besides the
phase. Independent of storage.
"""

from enum import StrEnum

ROUNDS = 2  # votes on one question
FEWEST = 5  # answers needed for a proposal
#: A share of right answers below the first suggests a hint, below the second a discussion with neighbours (Vickrey
#: 2015).
HINT_BELOW, DISCUSS_TO = 0.35, 0.70


class Phase(StrEnum):
    """Phase of a class."""

    LOBBY = "lobby"  # phones join
    QUESTION = "question"  # it is shown, but cannot be answered yet
    OPEN = "open"  # phones vote; nobody sees the votes
    CLOSED = "closed"  # votes are shown, the right answer is not
    DISCUSS = "discuss"  # neighbours talk before the second vote
    REVEALED = "revealed"  # the network's answer is shown
    EXPLAINED = "explained"
    ENDED = "ended"


#: Phases in which phones may know the answer.
TOLD = (Phase.REVEALED, Phase.EXPLAINED)
_NEXT = {
    Phase.LOBBY: Phase.QUESTION,
    Phase.QUESTION: Phase.OPEN,
    Phase.OPEN: Phase.CLOSED,
    Phase.CLOSED: Phase.REVEALED,
    Phase.DISCUSS: Phase.OPEN,
    Phase.REVEALED: Phase.EXPLAINED,
    Phase.EXPLAINED: Phase.QUESTION,
}


class Proposal(StrEnum):
    """Proposed next step, for the teacher to decide."""

    HINT = "hint"
    DISCUSS = "discuss"
    EXPLAIN = "explain"


def following(phase: Phase, round_: int = 1, *, last: bool = False) -> tuple[Phase, ...]:
    """The phases that may follow; the first is "next", the others are the teacher's choice.

    round_: the current vote, 1 or 2. last: whether no question is left. Another question, or the end, can be chosen at
    any time. Nothing follows the end, but a class ended by mistake is reopened where it was.
    """
    if phase is Phase.ENDED:
        return ()
    after = _NEXT[phase]
    if last and after is Phase.QUESTION:
        after = Phase.ENDED
    talk = (Phase.DISCUSS,) if phase is Phase.CLOSED and round_ < ROUNDS else ()
    jumps = (Phase.ENDED,) if last else (Phase.QUESTION, Phase.ENDED)
    rest = (Phase.LOBBY,) if phase is Phase.CLOSED else ()
    return tuple(dict.fromkeys((after, *talk, *rest, *jumps)))


def round_of(phase: Phase, to: Phase, round_: int) -> int:
    """The vote's number after going on to `to`: one more if opened again after a discussion."""
    if to is Phase.QUESTION:
        return 1
    return round_ + 1 if (phase, to) == (Phase.DISCUSS, Phase.OPEN) else round_


def proposal(right: float, answers: int, round_: int = 1) -> Proposal | None:
    """Proposal after a vote. right: share of right answers. None if there are too few answers.

    After the second vote, always to explain.
    """
    if answers < FEWEST:
        return None
    if round_ >= ROUNDS or right > DISCUSS_TO:
        return Proposal.EXPLAIN
    return Proposal.HINT if right < HINT_BELOW else Proposal.DISCUSS
