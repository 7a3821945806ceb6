"""The page of queries, keys and values: projections that can be checked, and a plane that says how true it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from model.analysis import head_slice, largest_terms
from pages.ui import session
from tests.pages.opening import figure, numbers, open_page, texts

KINDS = [{"s": "the animal did not cross the street ."}, {"input": "digit"}, {"input": "flat"}]
NAME = "queries_keys_values"


def run_of(app: AppTest):
    choice = app.session_state["choice"]
    return choice, session.run(choice.pipeline, choice.subject), session.pipeline(choice.pipeline)


@pytest.mark.parametrize("link", KINDS)
@pytest.mark.parametrize("role", ["Q", "K", "V"])
def test_the_sum_by_hand_comes_out_as_displayed(link: dict, role: str) -> None:
    app = open_page(NAME, **link)
    token = min(3, len(run_of(app)[1].tokens) - 1)
    app.session_state[f"{NAME}.role"], app.session_state["token"], app.session_state["head_component"] = role, token, 5
    app.run()
    choice, trace, _ = run_of(app)
    table = app.dataframe[0].value
    x, w, products = (np.array([float(cell or "nan") for cell in table[name]]) for name in table.columns[1:])
    terms = ~np.isnan(x)
    assert terms.sum() == 10
    assert [f"{a * b:.5f}" for a, b in zip(x[terms], w[terms], strict=True)] == [f"{p:.5f}" for p in products[terms]]
    assert f"{products[:-1].sum():.5f}" == f"{products[-1]:.5f}"
    recorded = trace[f"layers.{choice.layer}.attention.{role}"][choice.head, token, 5]
    assert products[-1] == pytest.approx(recorded, abs=2e-5)
    assert f"{products[-1]:.5f}" in texts(app).replace("\\", "")


@pytest.mark.parametrize("link", [{**KINDS[0], "layer": "3", "head": "6"}, {**KINDS[1], "head": "2"}, KINDS[2]])
def test_the_slices_make_the_vectors(link: dict) -> None:
    app = open_page(NAME, **link)
    choice, trace, pipeline = run_of(app)
    attention = pipeline.network.layers[choice.layer].attention
    X = trace.layer_input(choice.layer)
    d_k = trace.config.d_k
    for place, role in enumerate("QKV"):
        vectors, W = (numbers(figure(app, which)["data"][0]["z"]) for which in (place, place + 3))
        bias = getattr(attention, f"W_{role}").bias.numpy()[choice.head * d_k :][:d_k]
        assert W.shape == (trace.config.d_model, d_k)
        assert np.allclose(vectors, X @ W + bias, atol=1e-4)


def test_head_slices_side_by_side_are_the_whole_matrix() -> None:
    weight = np.arange(24.0).reshape(4, 6)[:, :4]
    assert np.array_equal(np.hstack([head_slice(weight, 2, head) for head in range(2)]), weight.T)


def test_the_plane_is_a_projection_and_says_how_much_it_keeps() -> None:
    app = open_page(NAME, layer="2", **KINDS[0])
    choice, trace, _ = run_of(app)
    Q, K = (trace[f"layers.1.attention.{role}"][choice.head] for role in "QK")
    marks = {mark.get("name"): mark for mark in figure(app, 6)["data"]}
    flat = [
        np.stack([numbers(marks[name][axis]) for axis in "xy"], axis=1)
        for name in ("query (looks)", "key (is looked at)")
    ]
    between = np.linalg.norm(flat[0][:, None] - flat[1][None], axis=-1)
    assert (between <= np.linalg.norm(Q[:, None] - K[None], axis=-1) + 1e-4).all()
    both, real = np.concatenate(flat), np.concatenate([Q, K])
    share = ((both - both.mean(0)) ** 2).sum() / ((real - real.mean(0)) ** 2).sum()
    assert f"**{share:.0%}**" in texts(app).replace("\\", "")


def test_one_token_is_explained() -> None:
    assert any("single token" in note.value for note in open_page(NAME, input="flat").info)


def test_the_chosen_cell_survives_a_smaller_head() -> None:
    app = open_page(NAME, **KINDS[0])
    app.session_state["head_component"] = 31
    app.run()
    app.button_group(key="input").set_value("digit").run()
    assert not app.exception and not app.error
    assert app.number_input(key="head_component").value < run_of(app)[1].config.d_k


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
