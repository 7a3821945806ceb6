"""The page of queries, keys and values: projections that can be checked, and a plane that says how true it is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from model.analysis import largest_terms
from tests.pages.opening import figure, numbers, open_page, run_of, said, steps

KINDS = [{"s": "the animal did not cross the street ."}, {"input": "digit"}, {"input": "flat"}]
NAME = "queries_keys_values"


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
