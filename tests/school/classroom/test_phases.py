"""Phases of a class: which may follow which, and which one is proposed."""

from itertools import product

import pytest

from pages.school.classroom.phases import (
    DISCUSS_TO,
    FEWEST,
    HINT_BELOW,
    ROUNDS,
    TOLD,
    Phase,
    Proposal,
    following,
    proposal,
    round_of,
)


def walk(turns: int = 40) -> list[tuple[Phase, int]]:
    """Phases visited by a teacher who always presses “next”."""
    phase, number = Phase.LOBBY, 1
    seen = [(phase, number)]
    for _ in range(turns):
        to = following(phase, number)[0]
        phase, number = to, round_of(phase, to, number)
        seen.append((phase, number))
    return seen


def test_next_alone_leads_through_every_question_and_votes_once() -> None:
    seen = walk()
    turn = [Phase.QUESTION, Phase.OPEN, Phase.CLOSED, Phase.REVEALED, Phase.EXPLAINED]
    assert [phase for phase, _ in seen[1:]] == turn * 8
    assert {number for _, number in seen} == {1}


def test_behind_the_last_question_next_is_the_end_and_there_is_no_question() -> None:
    assert following(Phase.EXPLAINED, last=True) == (Phase.ENDED,)
    for phase in Phase:
        assert phase is Phase.LOBBY or Phase.QUESTION not in following(phase, last=True)


def test_one_question_is_voted_on_twice_at_most() -> None:
    reached = {(Phase.QUESTION, 1)}
    for _ in range(ROUNDS * len(Phase)):
        reached |= {(to, round_of(phase, to, n)) for phase, n in reached for to in following(phase, n)}
    assert {n for _, n in reached} == set(range(1, ROUNDS + 1))
    opened = [(phase, n) for phase, n in reached for to in following(phase, n) if to is Phase.OPEN]
    assert sorted(opened) == [(Phase.DISCUSS, 1), (Phase.QUESTION, 1)], (
        "round 2 opens behind a talk, and nothing after it"
    )


@pytest.mark.parametrize(("phase", "round_"), list(product(Phase, range(1, ROUNDS + 1))))
def test_answer_is_shown_only_after_closing_the_vote(phase: Phase, round_: int) -> None:
    ways = following(phase, round_)
    assert Phase.REVEALED not in ways or phase is Phase.CLOSED
    assert phase not in (Phase.REVEALED, Phase.EXPLAINED, Phase.CLOSED) or Phase.OPEN not in ways, "who knows, votes"
    assert not set(ways) & set(TOLD) or phase in (Phase.CLOSED, *TOLD)
    assert (Phase.ENDED in ways) is (phase is not Phase.ENDED) and len(set(ways)) == len(ways)


@pytest.mark.parametrize(
    ("right", "answers", "said"),
    [
        (0.0, FEWEST, Proposal.HINT),
        (HINT_BELOW - 0.01, 40, Proposal.HINT),
        (HINT_BELOW, 40, Proposal.DISCUSS),
        (DISCUSS_TO, 40, Proposal.DISCUSS),
        (DISCUSS_TO + 0.01, 40, Proposal.EXPLAIN),
        (1.0, FEWEST, Proposal.EXPLAIN),
        (0.5, FEWEST - 1, None),
        (0.0, 0, None),
    ],
)
def test_what_is_proposed(right: float, answers: int, said: Proposal | None) -> None:
    assert proposal(right, answers) is said
    assert proposal(right, answers, ROUNDS) is (said and Proposal.EXPLAIN), "after the second vote there is no third"
