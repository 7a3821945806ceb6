"""Attention set by hand: each task can be reached, none is at the start, and what it teaches is so."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from model.analysis import softmax
from model.four_tokens import LENGTHS, REACH, TASKS, VALUES, C, D, Setup, Task, attend, averages, shares

COPY, AVERAGE, SPOILED, SAVED = TASKS
GRID = list(product(range(-REACH, REACH + 1), repeat=2))
SOLVED = {
    COPY: Setup(query=(0, 3)),
    AVERAGE: Setup(query=(3, 3)),
    SPOILED: Setup(query=(3, 3)),
    SAVED: Setup(query=(5, -2), second=(0, 5)),
}


def test_nothing_is_reached_before_anybody_moved_anything() -> None:
    assert not any(task.reached(Setup()) for task in TASKS)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.name)
def test_every_task_can_be_reached(task: Task) -> None:
    assert task.reached(SOLVED[task])


def test_what_is_shown_is_the_arithmetic_of_the_paper() -> None:
    setup = Setup((3, -1), (2, 2), (4, 0), (-1, 5))
    run = attend(setup, 2, LENGTHS)
    for draw, (head, query) in product(range(len(LENGTHS)), enumerate((setup.query, setup.second))):
        keys = np.array([np.multiply(setup.a, LENGTHS[draw]), setup.b, C, D])
        weights = softmax(keys @ query / 2**0.5)
        np.testing.assert_allclose(run["weights"][draw, head, 0], weights, atol=1e-6)
        np.testing.assert_allclose(run["heads"][draw, head, 0, 0], weights @ VALUES, atol=1e-5)


def test_who_copies_b_hands_on_its_value_and_who_averages_the_mean_of_two() -> None:
    def output(setup: Setup) -> float:
        return float(attend(setup)["heads"].item())

    assert output(Setup(query=(0, 5))) == pytest.approx(VALUES[1], abs=0.02)
    assert output(Setup(query=(5, 5))) == pytest.approx((VALUES[0] + VALUES[1]) / 2, abs=0.01)


def test_a_task_that_is_reached_hands_on_what_it_says() -> None:
    """Whoever copies 0.95 of B is at most 0.05 of the farthest value off, and so with averages."""
    farthest = max(abs(value - VALUES[1]) for value in VALUES)
    for query in GRID:
        output = float(attend(Setup(query=query))["heads"].item())
        assert not COPY.reached(Setup(query=query)) or abs(output - VALUES[1]) <= 0.05 * farthest
        assert not AVERAGE.reached(Setup(query=query)) or abs(output - 5) <= 2 * 0.05 * farthest


def test_one_query_never_averages_in_every_draw_wherever_it_and_the_keys_lie() -> None:
    """Of all that can be set: since C scores 0, A and B must score high, and then the noise moves A's weight."""
    keys, ends = np.array(GRID), np.array([min(LENGTHS), max(LENGTHS)])
    scores = keys @ keys.T / 2**0.5  # (query, key)
    fixed = np.array([C, D]) @ keys.T / 2**0.5  # (2, query)
    for query in range(len(GRID)):
        logits = np.empty((len(GRID), len(GRID), len(ends), 4))  # (a, b, draw, key)
        logits[..., 0] = (scores[query][:, None] * ends)[:, None]
        logits[..., 1] = scores[query][None, :, None]
        logits[..., 2:] = fixed[:, query]
        assert not averages(softmax(logits).reshape(-1, 4)).reshape(-1, len(ends)).all(axis=1).any()


def test_who_averages_with_one_head_is_spoiled_by_noise_and_two_equal_heads_do_not_help() -> None:
    for query in GRID:
        setup = Setup(query=query)
        if AVERAGE.reached(setup):
            assert SPOILED.reached(setup)
        assert not SAVED.reached(replace(setup, second=query))


def test_the_shares_of_two_heads_are_the_mean_of_theirs() -> None:
    setup = SOLVED[SAVED]
    both = shares(attend(setup, 2))
    alone = [shares(attend(replace(setup, query=query))) for query in (setup.query, setup.second)]
    np.testing.assert_allclose(both, np.mean(alone, axis=0), atol=1e-6)
