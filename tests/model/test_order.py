"""Two sentences of the same words: order is told by the positions, and by nothing else."""

import numpy as np
import pytest

from model import Edit, Trace, load
from model.measures.comparison import Pair, in_place_of
from model.measures.order import likeness, same_words, without_positions
from tests.networks import example, pipeline

PAIRS = [("我爱你。", "你爱我。"), ("the dog chased the cat .", "the cat chased the dog .")]


def difference(one: Trace, other: Trace, pairs: list[Pair], key: str) -> float:
    """The largest difference of a quantity between the two runs, word by word, wherever each word stands."""
    there = in_place_of(other[key], other.axes(key), pairs, len(pairs))
    both = np.isfinite(one[key]) & np.isfinite(there)
    return float(np.abs(np.subtract(one[key], there, where=both, out=np.zeros_like(there))).max())


@pytest.mark.parametrize("sentences", PAIRS)
def test_without_positions_nothing_differs_and_with_them_all_does(sentences: tuple[str, str]) -> None:
    text = load("text")
    runs, bare = [text(s) for s in sentences], [text(s, edits=without_positions(text.graph)) for s in sentences]
    pairs = same_words(*(run.tokens for run in runs))
    for key in runs[0]:
        gaps = difference(*runs, pairs, key), difference(*bare, pairs, key)
        assert gaps[1] < 2e-4
        assert gaps[0] > 0.01 or key == "embedding.tokens"
    np.testing.assert_allclose(likeness(*bare, pairs), 1, atol=1e-5)
    alike = likeness(*runs, pairs)
    np.testing.assert_allclose(alike[0], 1, atol=1e-6)
    assert alike[1:].min() < 0.99


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
