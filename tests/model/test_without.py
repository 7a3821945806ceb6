"""Without a part: what is measured is what the run with those changes records, and the words collapse as is said."""

import numpy as np
import pytest

from model import load
from model.analysis import cosine_similarity, mean_likeness
from model.edits import EditError
from model.without import PARTS, answers_without_ffn, fates, without

SENTENCE = "the animal [MASK] not cross the street because it was too tired ."


@pytest.mark.parametrize("part", PARTS)
def test_a_fate_is_that_of_the_run_with_the_changes(part: str) -> None:
    pipeline = load("text")
    states = pipeline(SENTENCE, without(pipeline.graph, part)).states()
    found = fates(pipeline, SENTENCE)[part]
    np.testing.assert_allclose(found.alike, mean_likeness(states), atol=1e-4)
    np.testing.assert_allclose(found.length, np.linalg.norm(states, axis=-1).mean(axis=-1), rtol=1e-3)


def test_all_parts_are_taken_away_from_every_sublayer() -> None:
    graph = load("text").graph
    assert [len(without(graph, part)) for part in PARTS] == [2, 2, 1]
    assert {edit.key for part in PARTS for edit in without(graph, part)} <= {quantity.row for quantity in graph}


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

    monkeypatch.setattr("model.without.sweep", too_large)
    assert list(fates(load("text"), SENTENCE)) == ["all", "residual", "ffn"]


def test_likeness_is_one_of_equal_directions_and_leaves_each_row_itself_out() -> None:
    rows = np.array([[1.0, 0], [2.0, 0], [0, 3.0]])
    assert mean_likeness(rows) == pytest.approx((1 + 0 + 0) / 3)
    assert mean_likeness(rows[:2]) == pytest.approx(1)
    assert mean_likeness(rows) < cosine_similarity(rows).mean()


def test_answers_without_ffn_are_those_of_the_changed_runs() -> None:
    pipeline = load("text")
    whole = pipeline(SENTENCE)
    found = answers_without_ffn(pipeline, SENTENCE, 2, 3)
    np.testing.assert_allclose(found[0], whole["logits"][3], atol=1e-3)
    np.testing.assert_allclose(found[2], pipeline(SENTENCE, without(pipeline.graph, "ffn"))["logits"][3], atol=1e-3)
    assert np.abs(found[1] - found[0]).max() > 0.1
