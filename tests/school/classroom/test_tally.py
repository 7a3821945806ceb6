"""Tallies of votes, for every kind of question."""

import json

import numpy as np
import pytest

from pages.school.classroom.questions import checked
from pages.school.classroom.store import Vote
from pages.school.classroom.tally import bars, right, sure_and_wrong, tally
from tests.school.classroom.asked import EXAMPLES

GESTURES = list(EXAMPLES)


def votes_on(gesture: str) -> list[Vote]:
    """All right and wrong guesses as phones send them; the wrong ones with high confidence."""
    example = EXAMPLES[gesture]
    told = [Vote(checked(example.shown, guess), 1) for guess in example.right]
    return told + [Vote(checked(example.shown, guess), 3) for guess in example.wrong]


@pytest.mark.parametrize("gesture", GESTURES)
def test_possible_guesses_are_taken_as_they_are_and_all_others_refused(gesture: str) -> None:
    example = EXAMPLES[gesture]
    for guess in (*example.right, *example.wrong):
        taken = checked(example.shown, json.loads(json.dumps(guess)))
        assert checked(example.shown, taken) == taken
        assert right(example.shown, example.truth, taken) is (guess in example.right)
    for guess in example.impossible:
        with pytest.raises(ValueError):
            checked(example.shown, guess)


@pytest.mark.parametrize("gesture", GESTURES)
def test_a_round_adds_up_to_its_votes(gesture: str) -> None:
    example, given = EXAMPLES[gesture], votes_on(gesture)
    found = tally(example.shown, example.truth, given)
    assert found.answers == len(given) and found.sure_and_wrong == len(example.wrong)
    assert found.right == len(example.right) / len(given)
    assert tally(example.shown, example.truth, given[::-1]).mean.tolist() == found.mean.tolist()
    nobody = tally(example.shown, example.truth, [])
    assert (nobody.answers, nobody.right, nobody.mean.sum()) == (0, 0, 0)


@pytest.mark.parametrize("gesture", [gesture for gesture in GESTURES if gesture != "chips"])
def test_every_vote_stands_in_one_bar_and_both_rounds_beside_each_other(gesture: str) -> None:
    example, given = EXAMPLES[gesture], votes_on(gesture)
    second = given[: len(example.right)]
    found = bars(example.shown, example.truth, {1: given, 2: second}, revealed=True)
    assert [sum(bar.counts[number] for bar in found) for number in (1, 2)] == [len(given), len(second)]
    assert any(bar.right and bar.counts[2] for bar in found)
    assert sure_and_wrong(found) is None, "of the last round, in which nobody was wrong"
    first = sure_and_wrong(bars(example.shown, example.truth, {1: [*given, given[-1]]}))
    assert first is not None and not first.right and first.sure_and_wrong > 1
    assert not any(bar.counts for bar in bars(example.shown, example.truth, {}))


@pytest.mark.parametrize("near", [0.0, 0.02, 0.1, 0.3])
@pytest.mark.parametrize("answer", [0.0, 0.01, 0.23, 0.5, 0.97, 1.0])
def test_bars_of_a_slider_stay_as_they_are_once_revealed_and_say_what_of_each_is_right(
    answer: float, near: float
) -> None:
    shown, truth = EXAMPLES["slide"].shown, EXAMPLES["slide"].truth | {"answer": answer, "near": near}
    given = [Vote(hundredth / 100, 1) for hundredth in range(101)]
    rounds = {1: given, 2: given[::2]}
    before, then = (bars(shown, truth, rounds, revealed=revealed) for revealed in (False, True))
    assert [(bar.guess, bar.counts) for bar in before] == [(bar.guess, bar.counts) for bar in then]
    (marked,) = [bar for bar in then if bar.right]
    assert marked.guess[0] <= answer <= marked.guess[1] and marked.rights[1] > 0
    for number, votes in rounds.items():
        assert sum(bar.rights[number] for bar in then) == tally(shown, truth, votes).rights
    assert before == bars(shown, truth | {"answer": 0.7}, rounds), "none of them tells"
    assert not any(bar.right or any(bar.rights.values()) for bar in before)


@pytest.mark.parametrize("near", [0, 1.5])
@pytest.mark.parametrize("given", [[1, 3], [4, 5, 5], []])
def test_the_true_number_has_its_bar_once_it_is_revealed_and_all_others_keep_theirs(
    near: float, given: list[int]
) -> None:
    shown = EXAMPLES["number"].shown | {"span": [0, 48]}
    truth = EXAMPLES["number"].truth | {"answer": 4, "near": near}
    found = bars(shown, truth, {1: [Vote(number, 1) for number in given]}, revealed=True)
    assert [bar.guess for bar in found] == sorted({*given, 4})
    assert [bar.counts[1] for bar in found] == [given.count(bar.guess) for bar in found]
    assert [bar.guess for bar in found if bar.right] == [one for one in sorted({*given, 4}) if abs(one - 4) <= near]


def test_words_are_counted_however_they_are_written_the_most_frequent_first() -> None:
    example = EXAMPLES["word"]
    found = bars(example.shown, example.truth, {1: votes_on("word")})
    assert (found[0].guess, found[0].counts[1], found[0].right) == ("went", len(example.right), True)


def test_the_mean_of_chips_is_a_row_of_attention() -> None:
    found = tally(EXAMPLES["chips"].shown, EXAMPLES["chips"].truth, votes_on("chips"))
    chips = np.array([vote.guess for vote in votes_on("chips")])
    np.testing.assert_allclose(found.mean, chips.mean(axis=0) * 100 / chips.sum(axis=1).mean())
    assert bars(EXAMPLES["chips"].shown, EXAMPLES["chips"].truth, {1: votes_on("chips")}) == []


def test_the_talk_begins_with_what_most_were_sure_of_and_wrong() -> None:
    example = EXAMPLES["tap"]
    given = [Vote("1", 3)] * 9 + [Vote("0", 3)] * 2 + [Vote("0", 1)] * 5
    found = sure_and_wrong(bars(example.shown, example.truth, {1: given}))
    assert found is not None and (found.guess, found.sure_and_wrong) == ("0", 2)
    for gesture, votes in (("tap", given[:-6]), ("number", [Vote(0, 3), Vote(48, 3)] * 2)):  # one vote; two lead
        assert sure_and_wrong(bars(EXAMPLES[gesture].shown, EXAMPLES[gesture].truth, {1: votes})) is None
