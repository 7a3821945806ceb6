"""How a question goes in class: its phases, which of them can follow, and what is worth doing with an answer.

lobby → question → open → closed → revealed → explained → question …, and from closed once by way of discuss → open →
closed, the second vote. A study goes from closed to the next question, and once back to the lobby. Pause is a flag
beside the phase. Nothing here knows where a class is kept.
"""

from enum import StrEnum

ROUNDS = 2  # how often one question is voted on
FEWEST = 5  # answers that say something about a class
#: Below the first share of right answers a hint helps, below the second a talk with the neighbour (Vickrey 2015).
HINT_BELOW, DISCUSS_TO = 0.35, 0.70


class Phase(StrEnum):
    """Where a class is with its question."""

    LOBBY = "lobby"  # phones come in
    QUESTION = "question"  # it is read, and cannot be answered yet
    OPEN = "open"  # phones answer; not even the teacher sees what
    CLOSED = "closed"  # what was answered is seen, and what is right is not
    DISCUSS = "discuss"  # neighbours talk before the second vote
    REVEALED = "revealed"  # what the network does is seen
    EXPLAINED = "explained"
    ENDED = "ended"


#: From these on a phone may know what is true.
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
    """What is worth doing with the answers of a class: a hint to the teacher, who decides."""

    HINT = "hint"
    DISCUSS = "discuss"
    EXPLAIN = "explain"


def following(phase: Phase, round_: int = 1, *, last: bool = False) -> tuple[Phase, ...]:
    """The phases that may come after this one; the first is "next", the others are the teacher's choice.

    round_: the vote that is or was open, 1 or 2. last: whether no question is left. Another question, and the end, can
    be chosen at any time. Nothing follows the end, but a class that was ended by mistake is reopened where it was.
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
    """Which vote it is once `to` has followed `phase`: opened again after a talk it is the next one."""
    if to is Phase.QUESTION:
        return 1
    return round_ + 1 if (phase, to) == (Phase.DISCUSS, Phase.OPEN) else round_


def proposal(right: float, answers: int, round_: int = 1) -> Proposal | None:
    """What to do after closing. right: the share of right answers. None where too few have answered.

    After the second vote there is no third, so what is left is to explain.
    """
    if answers < FEWEST:
        return None
    if round_ >= ROUNDS or right > DISCUSS_TO:
        return Proposal.EXPLAIN
    return Proposal.HINT if right < HINT_BELOW else Proposal.DISCUSS
