"""Why ÷ √d_k: the pages' statements on scores, weights and slopes hold for random draws, and follow from softmax."""

import numpy as np
import pytest

from model.analysis import softmax
from model.measures.scaling import DRAWS, KEYS, WIDTHS, at_every_width, choosing, every_way, random_scores


def test_undivided_the_weights_run_to_extremes_and_divided_they_do_not_depend_on_d_k() -> None:
    undivided, divided, by_d_k = zip(*(every_way(random_scores(d_k), d_k) for d_k in WIDTHS), strict=True)
    assert [found.spread for found in undivided] == pytest.approx([d_k**0.5 for d_k in WIDTHS], rel=0.04)
    assert [found.spread for found in divided] == pytest.approx([1] * len(WIDTHS), rel=0.04)
    assert list(undivided) == sorted(undivided, key=lambda found: found.largest)
    assert undivided[-1].largest > 0.9 and undivided[-1].slope < undivided[0].slope / 3
    assert np.ptp([found.largest for found in divided]) < 0.03
    assert np.ptp([found.slope for found in divided]) < 0.02
    assert list(by_d_k) == sorted(by_d_k, key=lambda found: -found.largest), "and by d_k itself they come near to 1/n"
    assert 1 / KEYS < by_d_k[-1].largest < 1.1 / KEYS
    assert [found.spread for found in by_d_k] == pytest.approx([1 / width**0.5 for width in WIDTHS], rel=0.04)
    np.testing.assert_allclose(at_every_width()[:, 2], np.transpose(by_d_k))


def test_the_slope_is_how_much_a_weight_moves_with_its_own_score() -> None:
    scores, step = random_scores(16)[:1].astype(np.float64), 1e-5
    best = scores[0].argmax()
    up, down = scores.copy(), scores.copy()
    up[0, best] += step
    down[0, best] -= step
    moved = (softmax(up) - softmax(down))[0, best] / (2 * step)
    assert choosing(scores).slope == pytest.approx(moved, rel=1e-5)


def test_hidden_keys_do_not_count_and_a_key_alone_spreads_nothing() -> None:
    scores = random_scores(16)
    hidden = np.concatenate([scores, np.full((DRAWS, 3), -np.inf)], axis=1)
    assert choosing(hidden) == pytest.approx(choosing(scores))
    assert choosing(np.array([[3.0, -np.inf]])) == (0.0, 1.0, 0.0)
    assert choosing(np.array([[3.0, 1.0, -np.inf]])).spread == pytest.approx(np.std([3, 1], ddof=1))
