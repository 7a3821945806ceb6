"""Ablations: the measurements equal the runs with those edits, and words collapse as stated."""

import numpy as np
import pytest

from model import Edit, load
from model.analysis import cosine_similarity, mean_likeness
from model.edits import EditError
from model.measures.without import PARTS, fates, one_against_all, value_zeroing, without

SENTENCE = "the animal [MASK] not cross the street because it was too tired ."


@pytest.mark.parametrize("part", PARTS)
def test_a_fate_is_that_of_the_run_with_the_changes(part: str) -> None:
    pipeline = load("text")
    states = pipeline(SENTENCE, without(pipeline.graph, part)).states()
    found = fates(pipeline, SENTENCE)[part]
    np.testing.assert_allclose(found.alike, mean_likeness(states), atol=1e-4)
    np.testing.assert_allclose(found.length, np.linalg.norm(states, axis=-1).mean(axis=-1), rtol=1e-3)


def test_without_residual_paths_all_words_become_one_vector_and_as_it_is_they_do_not() -> None:
    found = fates(load("text"), SENTENCE)
    assert found["residual"].alike[-1] > 0.99 > 0.3 > found["all"].alike[-1]
    assert all(fate.alike[0] == pytest.approx(found["all"].alike[0]) for fate in found.values())
    assert found["norm"].length[-1] > 100 * found["all"].length[-1]


def test_a_part_without_which_numbers_overflow_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def too_large(pipeline: object, x: object, edits: list, keys: list) -> dict[str, np.ndarray]:
        if any(edit.operation == "bypass" for edit in edits[0]):
            raise EditError("overflow")
        return {key: np.eye(3)[None] for key in keys}

    monkeypatch.setattr("model.measures.without.sweep", too_large)
    assert list(fates(load("text"), SENTENCE)) == ["all", "residual"]


def test_likeness_is_one_of_equal_directions_and_leaves_each_row_itself_out() -> None:
    rows = np.array([[1.0, 0], [2.0, 0], [0, 3.0]])
    assert mean_likeness(rows) == pytest.approx((1 + 0 + 0) / 3)
    assert mean_likeness(rows[:2]) == pytest.approx(1)
    assert mean_likeness(rows) < cosine_similarity(rows).mean()


def test_of_one_head_against_all_each_is_once_off_and_once_the_only_one() -> None:
    graph = load("text").graph
    whole, *rows = one_against_all(graph, 4)
    off, only = ([{edit.head for edit in row} for row in some] for some in (rows[:8], rows[8:]))
    assert whole == () and off == [{head} for head in range(8)]
    assert only == [set(range(8)) - {head} for head in range(8)]
    assert {edit.key for row in rows for edit in row} == {"layers.4.attention.heads"}


@pytest.mark.parametrize(("layer", "edits"), [(0, ()), (5, ()), (2, (Edit("layers.1.attention.heads", "zero"),))])
def test_without_a_value_each_state_turns_as_far_as_in_the_run_with_that_change(
    layer: int, edits: tuple[Edit, ...]
) -> None:
    pipeline = load("text")
    trace = pipeline(SENTENCE, edits)
    found, states = value_zeroing(pipeline, trace, layer), trace.states()[layer + 1]
    turned = np.empty_like(found)
    for key in range(len(trace.tokens)):
        off = Edit(f"layers.{layer}.attention.V", "zero", token=key)
        changed = pipeline(SENTENCE, [*edits, off]).states()[layer + 1]
        lengths = np.linalg.norm(states, axis=1) * np.linalg.norm(changed, axis=1)
        turned[:, key] = 1 - (states * changed).sum(1) / lengths
    np.testing.assert_allclose(found, turned / turned.sum(1)[:, None], atol=1e-3)


@pytest.mark.parametrize("token", [None, 3])
def test_a_state_into_which_nothing_is_mixed_has_a_row_of_zeros_and_each_other_row_sums_to_one(
    token: int | None,
) -> None:
    pipeline = load("text")
    trace = pipeline(SENTENCE, Edit("layers.2.attention.concat", "zero", token=token))
    rows = value_zeroing(pipeline, trace, 2).sum(axis=1)
    nothing = [token in (None, place) for place in range(len(trace.tokens))]
    np.testing.assert_allclose(rows, np.where(nothing, 0, 1))
