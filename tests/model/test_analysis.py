"""Measurements on traces follow their definitions, on inputs whose result is known."""

import numpy as np
import pytest
import torch

from model import Edit
from model.analysis import (
    cosine_similarity,
    entropy,
    head_pattern,
    head_table,
    mean_distance,
    outliers,
    pca,
    rollout,
    softmax,
    token_places,
)
from model.config import PRESETS
from tests.networks import example, pipeline, trace_of

dice = np.random.default_rng(3)
WORDS = ["[CLS]", "the", "cat", "sat", "down", "[SEP]"]


def distributions(*shape: int) -> np.ndarray:
    values = dice.random(shape) ** 3
    return (values / values.sum(-1, keepdims=True)).astype(np.float32)


def looking(offset: int, n: int = len(WORDS), share: float = 0.9) -> np.ndarray:
    """A head that attends `offset` positions ahead (cyclically), with the rest of its weight spread evenly."""
    return (share * np.roll(np.eye(n), offset, axis=1) + (1 - share) / n).astype(np.float32)


def measured(weights: np.ndarray, tokens: list[str]) -> tuple[dict[str, float], np.ndarray]:
    places = token_places(PRESETS["text"], len(tokens))
    return {name: float(value) for name, value in head_table(weights, tokens, places).items()}, places


# -- pca -----------------------------------------------------------------------------------------------


def test_pca_shares_are_the_variances_along_the_directions() -> None:
    cloud = dice.normal(size=(40, 5)) * [5, 3, 1, 1, 1]
    points, shares = pca(cloud)
    np.testing.assert_allclose(points.var(0) / cloud.var(0).sum(), shares, rtol=1e-5)
    np.testing.assert_allclose(points.mean(0), 0, atol=1e-5)
    assert abs(np.corrcoef(points.T)[0, 1]) < 1e-5


def test_pca_does_not_turn_over_when_the_points_come_in_another_order() -> None:
    for _ in range(20):
        cloud, order = dice.normal(size=(9, 4)), dice.permutation(9)
        np.testing.assert_allclose(pca(cloud[order])[0], pca(cloud)[0][order], atol=1e-5)


@pytest.mark.parametrize("points", [np.ones((1, 6)), np.ones((4, 6)), np.arange(5.0)[:, None]])
def test_pca_of_too_little_gives_zeros_where_no_direction_is(points: np.ndarray) -> None:
    coordinates, shares = pca(points)
    assert coordinates.shape == (len(points), 2)
    assert not coordinates[:, 1].any() and shares[1] == 0
    assert np.isfinite(coordinates).all() and np.isfinite(shares).all()


# -- similarity, entropy, distance ---------------------------------------------------------------------


def test_cosine_does_not_see_lengths() -> None:
    rows, others = dice.normal(size=(5, 8)), dice.normal(size=(3, 8))
    cosine = cosine_similarity(rows, others)
    np.testing.assert_allclose(cosine_similarity(rows * 7, others * 0.01), cosine, atol=1e-6)
    np.testing.assert_allclose(np.diag(cosine_similarity(rows)), 1, atol=1e-6)
    np.testing.assert_allclose(cosine_similarity(rows, -rows).diagonal(), -1, atol=1e-6)
    assert cosine[1, 2] == pytest.approx(rows[1] @ others[2] / np.sqrt(rows[1] @ rows[1] * (others[2] @ others[2])))
    assert not cosine_similarity(np.zeros((2, 4))).any()


@pytest.mark.parametrize("n", [1, 2, 8, 50])
def test_entropy_runs_from_one_key_to_all_keys(n: int) -> None:
    assert entropy(np.eye(n)[0]) == 0
    assert entropy(np.full(n, 1 / n)) == pytest.approx(np.log2(n), abs=1e-6)
    p, q = distributions(n), distributions(6)
    assert 0 <= entropy(p) <= np.log2(n) + 1e-6
    assert entropy(np.outer(p, q).ravel()) == pytest.approx(entropy(p) + entropy(q), abs=1e-5)


def test_distance_is_that_of_places_weighted() -> None:
    places, back = token_places(PRESETS["text"], 9), np.abs(np.arange(9) - np.arange(9)[::-1]).mean()
    assert mean_distance(np.eye(9), places) == 0
    assert mean_distance(0.5 * np.eye(9) + 0.5 * np.eye(9)[::-1], places) == pytest.approx(back / 2)


def test_distance_between_patches_is_measured_in_the_image_and_leaves_cls_out() -> None:
    places = token_places(PRESETS["digits"], 50)
    weights = np.zeros((50, 50))
    weights[:, 0] = 0.75  # [CLS] has no position; the rest of each row counts in full
    weights[:, 1] = 0.25  # the top left patch
    corner = np.hypot(*np.divmod(np.arange(49), 7)).mean()
    assert mean_distance(weights, places) == pytest.approx(corner)
    weights[:, :2] = [1, 0]
    assert np.isnan(mean_distance(weights, places))


# -- what a head looks at ------------------------------------------------------------------------------


def test_a_head_is_named_after_where_its_weight_goes() -> None:
    for name, offset in (("itself", 0), ("previous", -1), ("next", 1)):
        measures, places = measured(weights := looking(offset), WORDS)
        pattern = head_pattern(weights, measures, places)
        assert (pattern.name, pattern.figure) == (name, measures[name]) == (name, pytest.approx(0.9 + 0.1 / 6))
    for name, place in (("cls", 0), ("sep", 5), ("token", 2)):
        weights = np.full((6, 6), 0.2 / 5, np.float32)
        weights[:, place] = 0.8
        pattern = head_pattern(weights, *measured(weights, WORDS))
        assert (pattern.name, pattern.figure) == (name, pytest.approx(0.8))
        assert pattern.place == (2 if name == "token" else None)


def test_a_head_earns_no_name_by_an_even_spread() -> None:
    for n in (2, 3, 6, 30):
        weights = np.full((n, n), 1 / n, np.float32)
        pattern = head_pattern(weights, *measured(weights, ["[CLS]", *"x" * (n - 2), "[SEP]"]))
        assert (pattern.name, pattern.figure) == ("broad", pytest.approx(np.log2(n), abs=1e-5))
    assert head_pattern(np.ones((1, 1)), *measured(np.ones((1, 1)), ["image"])).name == "alone"


def test_near_and_the_largest_target_are_what_is_left() -> None:
    n, step = 20, np.arange(20)
    near = np.where(np.abs(step[:, None] - step) <= 2, 1.0, 0.0)
    near /= near.sum(1, keepdims=True)
    words = [str(i) for i in step]
    pattern = head_pattern(near, *measured(near, words))
    assert pattern.name == "near" and pattern.figure <= pattern.reference / 2
    mixed = np.zeros((n, n))
    mixed[step, (step * 7 + 3) % n] = mixed[step, (step * 3 + 11) % n] = 0.5
    mixed /= mixed.sum(1, keepdims=True)
    measures, places = measured(mixed, words)
    pattern, columns = head_pattern(mixed, measures, places), mixed.mean(axis=0)
    targets = {name: measures[name] for name in ("itself", "previous", "next")} | {"token": columns.max()}
    assert pattern.name == max(targets, key=targets.__getitem__) and pattern.figure == pytest.approx(
        targets[pattern.name]
    )
    assert pattern.figure < 0.4


def test_what_an_input_lacks_is_not_a_number() -> None:
    measures, _ = measured(distributions(3, 3), ["[CLS]", "r1c1", "r1c2"])
    assert np.isnan(measures["sep"]) and not np.isnan(measures["cls"])
    alone, _ = measured(np.ones((1, 1)), ["image"])
    assert alone["itself"] == 1 and np.isnan(alone["previous"]) and np.isnan(alone["next"])


def test_a_table_of_all_heads_is_the_table_of_each() -> None:
    weights = distributions(2, 3, 6, 6)
    places = token_places(PRESETS["text"], 6)
    whole = head_table(weights, WORDS, places)
    for row, i in np.ndindex(2, 3):
        for name, values in head_table(weights[row, i], WORDS, places).items():
            assert whole[name][row, i] == pytest.approx(float(values)), name


# -- what a head writes, and where it comes from -------------------------------------------------------


def test_rollout_is_shares_of_the_input() -> None:
    weights = distributions(4, 3, 7, 7)
    reached = rollout(weights)
    np.testing.assert_allclose(reached.sum(-1), 1, atol=1e-6)
    assert (reached >= 0).all()
    np.testing.assert_allclose(reached[0], weights[0].mean(0) / 2 + np.eye(7) / 2, atol=1e-6)
    for layer in range(1, 4):  # walks continue from those of the layer before
        last_step = rollout(weights[layer : layer + 1])[0]
        np.testing.assert_allclose(reached[layer], last_step @ reached[layer - 1], atol=1e-6)


# -- the answer after every layer ----------------------------------------------------------------------


@pytest.mark.parametrize("name", ["trained text", "003", "pre-norm patches"])
def test_reading_the_last_layer_is_the_networks_own_answer(name: str) -> None:
    trace, pipe = trace_of(name), pipeline(name)
    token = min(1, len(trace.tokens) - 1)
    read = pipe.read_layers(trace, token)
    logits = trace["logits"] if trace["logits"].ndim == 1 else trace["logits"][token]
    expected = np.exp(logits - logits.max())
    np.testing.assert_allclose(read[-1], expected / expected.sum(), atol=1e-5)
    Z = pipe.network.norm(torch.tensor(trace.states()[-1:]))  # read like all other layers
    again = pipe.network.read_out(Z[:, token] if trace["logits"].ndim > 1 else Z)[0].softmax(-1)
    np.testing.assert_allclose(read[-1], again.numpy(force=True), atol=1e-5)
    assert read.shape == (trace.config.layers + 1, len(logits))
    np.testing.assert_allclose(read.sum(-1), 1, atol=1e-4)


@pytest.mark.parametrize("edit", [Edit("logits", "scale", 0.2), Edit("logits", "zero")])
def test_the_last_layer_says_what_the_changed_network_answers(edit: Edit) -> None:
    for name in ("trained text", "trained digits"):
        pipe = pipeline(name)
        trace = pipe(example(name), [edit])
        logits = trace["logits"] if trace["logits"].ndim == 1 else trace["logits"][1]
        np.testing.assert_allclose(pipe.read_layers(trace, 1)[-1], softmax(logits), atol=1e-6)


def test_what_stands_far_out_is_found_whatever_the_unit_and_nothing_is_where_nothing_does() -> None:
    values = np.random.default_rng(0).normal(size=(15, 200))
    assert outliers(values) is None
    planted = values.copy()
    planted[:, 7], planted[3, 150] = 30 + values[:, 7], -60
    for unit in (1e-3, 1.0, 1e3):
        found = outliers(unit * planted)
        assert found is not None and found.cells[0].tolist() == [3, 150] and found.columns() == [150, 7]
        assert len(found.cells) == 16 and found.usual == pytest.approx(
            unit * np.quantile(np.abs(planted), 0.99), rel=0.1
        )
    for empty in (np.zeros((3, 4)), np.full((3, 4), np.nan), np.zeros((0, 4)), np.array([1.0, 100.0])):
        assert outliers(empty) is None
