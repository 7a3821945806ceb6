"""The page of queries, keys and values: projections that can be checked, and a plane that says how true it is."""

import numpy as np

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
