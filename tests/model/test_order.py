"""Two sentences with the same words differ by their positions alone."""

import numpy as np
import pytest

from model import Edit, load
from model.measures.order import likeness, same_words, without_positions
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


def test_each_word_is_compared_with_itself_where_the_words_go_round() -> None:
    one, other = (load("text")(words) for words in ("the dog saw a cat", "a cat the dog saw"))
    pairs = same_words(one.tokens, other.tokens)
    assert pairs and likeness(one, other, pairs)[0] == pytest.approx(1, abs=1e-5)  # equal before positions are added
