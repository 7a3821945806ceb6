"""Two sentences of the same words: order is told by the positions, and by nothing else."""

import numpy as np
import pytest

from model import Edit
from model.measures.order import same_words, without_positions
from tests.networks import example, pipeline


@pytest.mark.parametrize("name", ["told apart", "by distance", "distances alone"])
def test_each_of_what_knows_the_places_tells_the_order_alone(name: str) -> None:
    of, ids = pipeline(name), example(name)
    every = without_positions(of.graph)

    def differ(edits: list[Edit]) -> float:
        return float(np.abs(of(ids, edits).Z - of(ids[::-1], edits).Z[::-1]).max())

    assert differ([*every]) < 1e-5
    assert all(differ([edit for edit in every if edit is not kept]) > 1e-3 for kept in every)


def test_words_are_matched_wherever_they_stand_and_only_if_they_are_the_same() -> None:
    pairs = same_words(["the", "dog", "saw", "the", "cat"], ["the", "cat", "saw", "the", "dog"])
    assert [(pair.one, pair.other) for pair in pairs] == [(0, 0), (1, 4), (2, 2), (3, 3), (4, 1)]
    assert same_words(["a", "b"], ["a", "a"]) is None
