"""The Attention page: its pictures are the trace, and its arithmetic adds up as displayed."""

import re

import numpy as np
import pytest

from pages.ui import session
from tests.pages.opening import figure, numbers, open_page, texts

SENTENCE = "the dog chased the cat ."


def test_the_five_pictures_are_the_recorded_values() -> None:
    app = open_page("attention", s=SENTENCE, layer="2", head="3")
    trace = session.run("text", SENTENCE)
    for which, key in enumerate(("scores", "scaled", "masked", "weights", "heads")):
        shown = numbers(figure(app, which)["data"][0]["z"])
        np.testing.assert_array_equal(shown, trace[f"layers.1.attention.{key}"][2])


@pytest.mark.parametrize(("query", "key"), [(0, 0), (3, 5), (7, 1)])
def test_by_hand_re_adds_from_the_numbers_that_it_displays(query: int, key: int) -> None:
    app = open_page("attention", s=SENTENCE, layer="3", head="4")
    app.selectbox(key="query").set_value(query)
    app.selectbox(key="key").set_value(key).run()
    products, row = (frame.value.round(4) for frame in app.dataframe[:2])
    said = [float(number) for number in re.findall(r"\*\*(-?\d+\.\d{4})\*\*", texts(app).replace("\\", ""))]
    score, scaled, weight = said
    np.testing.assert_allclose(products.loc["q"] * products.loc["k"], products.loc["q · k"], atol=2e-3)
    assert products.loc["q · k"].sum() == pytest.approx(score, abs=32 * 5e-5 + 1e-4)
    assert score / np.sqrt(32) == pytest.approx(scaled, abs=1e-4)
    assert row["M"].iloc[key] == pytest.approx(scaled, abs=1e-4)
    np.testing.assert_allclose(np.exp(row["M − max"]), row["exp(M − max)"], atol=2e-4)
    assert row["exp(M − max)"].iloc[key] / row["exp(M − max)"].sum() == pytest.approx(weight, abs=2e-4)
    np.testing.assert_allclose(row["A"].sum(), 1, atol=1e-3)


def test_hiding_special_tokens_says_that_rows_no_longer_sum_to_1() -> None:
    app = open_page("attention", s=SENTENCE)
    assert "no longer" not in texts(app)
    app.toggle(key="attention.hide_special").set_value(True).run()
    assert "no longer" in texts(app)
    words = len(session.run("text", SENTENCE).tokens) - 2
    assert numbers(figure(app, 3)["data"][0]["z"]).shape == (words, words)


@pytest.mark.parametrize("kind", ["row", "lines"])
def test_weights_can_be_a_row_or_lines(kind: str) -> None:
    app = open_page("attention", s=SENTENCE, layer="2")
    app.session_state["attention.weights_as"] = kind
    app.run()
    drawn = {trace["type"] for trace in figure(app, 3)["data"]}
    assert drawn == {"bar"} if kind == "row" else drawn == {"scatter"}


def test_the_colour_range_covers_head_layer_or_all() -> None:
    app = open_page("attention", s=SENTENCE, layer="2", head="3")
    trace = session.run("text", SENTENCE)
    scores = [np.abs(trace[f"layers.{layer}.attention.scores"]) for layer in range(6)]
    wanted = {"head": scores[1][2].max(), "layer": scores[1].max(), "all": max(s.max() for s in scores)}
    for scope, limit in wanted.items():
        app.session_state["attention.range"] = scope
        app.run()
        assert figure(app, 0)["data"][0]["zmax"] == pytest.approx(float(limit))
