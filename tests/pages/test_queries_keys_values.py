"""The page of queries, keys and values: projections that can be checked, and a plane that says how true it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analysis import largest_terms
from pages.ui.runs import pipelines
from tests.pages.opening import figure, numbers, open_page, run_of, said, steps

KINDS = [{"s": "the animal did not cross the street ."}, {"input": "digit"}, {"input": "flat"}]
NAME = "queries_keys_values"
ROLES = ["Q", "K", "V"]


@pytest.mark.parametrize("link", [{**KINDS[0], "layer": "3", "head": "6"}, {**KINDS[1], "head": "2"}])
def test_the_slices_make_the_vectors(link: dict) -> None:
    maps, slices = (open_page(NAME, **link, panel=panel) for panel in ("maps", "weights"))
    choice, trace = maps.session_state["choice"], run_of(maps)
    pipeline = pipelines.pipeline(choice.pipeline)
    attention = pipeline.network.layers[choice.layer].attention
    X, *_ = trace.stream(choice.layer)
    d_k = trace.config.d_k
    for place, role in enumerate(ROLES):
        vectors, W = (numbers(figure(app, place)["data"][0]["z"]) for app in (maps, slices))
        bias = getattr(attention, f"W_{role}").bias.numpy()[choice.head * d_k :][:d_k]
        assert W.shape == (trace.config.d_model, d_k)
        assert np.allclose(vectors, X @ W + bias, atol=1e-4)


def test_the_plane_is_a_projection_and_says_how_much_it_keeps() -> None:
    app = open_page(NAME, layer="2", panel="plane", **KINDS[0])
    choice, trace = app.session_state["choice"], run_of(app)
    Q, K = (trace[f"layers.1.attention.{role}"][choice.head] for role in "QK")
    marks = {mark.get("name"): mark for mark in figure(app)["data"]}
    flat = [np.stack([numbers(marks[name][axis]) for axis in "xy"], axis=1) for name in ("query", "key")]
    between = np.linalg.norm(flat[0][:, None] - flat[1][None], axis=-1)
    assert (between <= np.linalg.norm(Q[:, None] - K[None], axis=-1) + 1e-4).all()
    both, real = np.concatenate(flat), np.concatenate([Q, K])
    share = ((both - both.mean(0)) ** 2).sum() / ((real - real.mean(0)) ** 2).sum()
    assert f"**{share:.0%}**" in said(app)


@pytest.mark.parametrize(("link", "chosen"), zip(KINDS, ({}, {"key": "5"}, {}), strict=True))
def test_the_selected_query_is_laid_over_the_key_that_fits_best_or_is_chosen(link: dict, chosen: dict) -> None:
    alone = link.get("input") == "flat"
    app = open_page(NAME, panel="pair", token="3", layer="1" if alone else "2", **chosen, **link)
    choice, trace = app.session_state["choice"], run_of(app)
    query = 0 if alone else 2
    Q, K = (trace[f"layers.{choice.layer}.attention.{role}"][choice.head] for role in "QK")
    scores = trace[f"layers.{choice.layer}.attention.scores"][choice.head, query]
    key = 4 if chosen and not alone else int(scores.argmax())
    row, strips = (figure(app, which)["data"] for which in range(2))
    np.testing.assert_array_equal(numbers(row[0]["z"])[0], scores)
    drawn = [numbers(part["y"]) for part in strips]
    for values, own in zip(drawn, (Q[query], K[key], Q[query] * K[key]), strict=True):
        np.testing.assert_allclose(values, own, rtol=1e-6)
    read = said(app)
    total = float(drawn[2].sum())
    assert total == pytest.approx(scores[key], abs=1e-3) and f"add up to {total:.2f}" in read
    assert f"S_{{{query + 1},{key + 1}}}" in steps(app)[0]


def test_the_chosen_cell_survives_a_smaller_head() -> None:
    app = open_page(NAME, part="32", **KINDS[0])
    app.button_group(key="input").set_value("digit").run()
    assert not app.exception and not app.error
    assert "_{1,16} =" in steps(app)[0]


numbers_of = st.lists(st.floats(-50, 50, width=32), min_size=1, max_size=40)


@given(x=numbers_of, w=numbers_of, bias=st.floats(-5, 5), most=st.integers(1, 12))
def test_terms_always_add_up_and_the_rest_is_true(x: list, w: list, bias: float, most: int) -> None:
    n = min(len(x), len(w))
    x, w = np.array(x[:n]), np.array(w[:n])
    terms = largest_terms(x, w, bias, most)
    assert f"{terms.products.sum() + terms.rest + terms.bias:.4f}" == f"{terms.total + 0.0:.4f}" or np.isclose(
        terms.products.sum() + terms.rest + terms.bias, terms.total, atol=1e-9
    )
    assert terms.total == pytest.approx(x @ w + bias, abs=0.02)
    kept = np.abs(x * w)[terms.places]
    assert (np.diff(kept) <= 0).all()
    assert terms.others == n - len(kept)
    left = np.delete(np.abs(x * w), terms.places)
    assert not len(left) or left.max() <= kept.min()
