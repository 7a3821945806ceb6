"""The Heads page: all heads in one picture, what they write adds up, and the arithmetic adds up as displayed."""

import json
import re

import numpy as np
import pytest

from model.analysis import head_table, token_places
from pages.ui import session
from tests.pages.opening import assert_fine, figure, numbers, open_page, texts

SENTENCE = "the dog chased the cat ."


def weights_of(trace) -> np.ndarray:
    return np.stack([trace[f"layers.{layer}.attention.weights"] for layer in range(trace.config.layers)])


def test_every_cell_of_every_head_is_in_the_one_figure() -> None:
    app = open_page("heads", s=SENTENCE, layer="2", head="3")
    weights = weights_of(session.run("text", SENTENCE))
    cells = figure(app)["data"][0]
    sheet = numbers(cells["z"])
    assert sheet.dtype == np.uint8
    n = weights.shape[-1]
    x = cells["x0"] + cells["dx"] * np.arange(sheet.shape[1])
    y = cells["y0"] + cells["dy"] * np.arange(sheet.shape[0])
    for row, i in ((0, 0), (1, 2), (5, 7)):
        tile = sheet[np.ix_(np.abs(y - row) < 0.5 - 1e-9, np.abs(x - i) < 0.5 - 1e-9)]
        tile = tile[:, (tile > 0).any(0)][(tile > 0).any(1)]  # without the gaps
        places = ((np.arange(n) + 0.5) / n * len(tile)).astype(int)
        np.testing.assert_allclose((tile[np.ix_(places, places)] - 1.0) / 254, weights[row, i], atol=0.5 / 254 + 1e-6)


def test_a_click_lands_on_the_head_whose_tile_it_is() -> None:
    app = open_page("heads", s=SENTENCE)
    overlay = figure(app)["data"][1]
    x, y = numbers(overlay["x"]), numbers(overlay["y"])
    assert [(row, i) for row in range(6) for i in range(8)] == list(zip(y, x, strict=True))
    assert overlay["text"][10].startswith("2·3")


def test_any_heads_can_be_averaged() -> None:
    app = open_page("heads", s=SENTENCE, layer="4")
    weights = weights_of(session.run("text", SENTENCE))
    np.testing.assert_allclose(numbers(figure(app, 1)["data"][0]["z"]), weights[3].mean(0), atol=1e-6)
    app.multiselect(key="heads.subset").set_value(["1·2", "4·7", "6·8"]).run()
    assert_fine(app)
    chosen = np.mean([weights[0, 1], weights[3, 6], weights[5, 7]], axis=0)
    np.testing.assert_allclose(numbers(figure(app, 1)["data"][0]["z"]), chosen, atol=1e-6)


def test_the_table_has_the_figures_of_each_head_and_the_role_is_one_of_them() -> None:
    app = open_page("heads", s=SENTENCE, layer="2")
    trace = session.run("text", SENTENCE)
    measures = head_table(weights_of(trace), trace.tokens, token_places(trace.config, len(trace.tokens)))
    app.toggle(key="heads.every_layer").set_value(True).run()
    table = app.dataframe[0].value
    assert len(table) == 48
    shown = table.iloc[:, 1:].to_numpy(dtype=float)
    np.testing.assert_allclose(shown, np.stack([value.ravel() for value in measures.values()], 1), atol=1e-5)
    for role, row in zip(table.iloc[:, 0], shown, strict=True):
        figure_in_role = float(re.search(r"\d+\.\d\d", role)[0])
        columns = np.concatenate([row, [weights_of(trace).mean(-2).max()]])
        assert "from everywhere" in role or np.abs(columns - figure_in_role).min() < 0.0051, role


def test_lengths_of_the_parts_are_shown_and_their_sum_is_the_output() -> None:
    app = open_page("heads", s=SENTENCE, layer="3")
    trace = session.run("text", SENTENCE)
    attention = session.pipeline("text").network.layers[2].attention
    heads, W_O = trace["layers.2.attention.heads"], attention.W_O.weight.numpy()
    parts = np.stack([heads[i] @ W_O[:, i * 32 : (i + 1) * 32].T for i in range(8)])
    np.testing.assert_allclose(
        numbers(figure(app, 3)["data"][0]["z"]), np.linalg.norm(parts, axis=-1).T, rtol=1e-4, atol=1e-5
    )
    text = texts(app).replace("\\", "")
    summed, recorded = re.search(r"have length (\d+\.\d+); the recorded output has (\d+\.\d+)", text).groups()
    assert summed == recorded == f"{np.linalg.norm(trace['layers.2.attention.output'][1]):.4f}"


def test_concat_and_output_are_the_recorded_values() -> None:
    app = open_page("heads", s=SENTENCE, layer="5", head="2")
    trace = session.run("text", SENTENCE)
    for which, key in ((4, "concat"), (5, "output")):
        np.testing.assert_array_equal(numbers(figure(app, which)["data"][0]["z"]), trace[f"layers.4.attention.{key}"])
    marked = figure(app, 4)["layout"]["shapes"][-1]
    assert (marked["x0"], marked["x1"]) == (31.5, 63.5)  # head 2 of 8, 32 wide


@pytest.mark.parametrize(("token", "component"), [(0, 1), (4, 77), (7, 256)])
def test_by_hand_re_adds_from_the_numbers_that_it_displays(token: int, component: int) -> None:
    app = open_page("heads", s=SENTENCE, layer="3", head="4")
    app.selectbox(key="token").set_value(token)
    app.number_input(key="heads.component").set_value(component).run()
    assert_fine(app)
    factors, products = (frame.value.round(4) for frame in app.dataframe[1:3])
    np.testing.assert_allclose(factors.loc["head"] * factors.loc["W_O"], factors.loc["head · W_O"], atol=3e-4)
    np.testing.assert_allclose(products.iloc[3, 1:], factors.loc["head · W_O"], atol=1e-9)
    np.testing.assert_allclose(products.iloc[:, 1:].sum(axis=1), products["sum"], atol=32 * 5e-5 + 1e-4)
    text = texts(app).replace("\\", "").replace("−", "-")
    terms, bias, output = re.search(r"then b_O: ([^,]*), and (\S+) gives \*\*(-?\d+\.\d+)\*\*", text).groups()
    terms = [float(term) for term in terms.split()]
    np.testing.assert_allclose(terms, products["sum"], atol=1e-4)
    assert sum(terms) + float(bias) == pytest.approx(float(output), abs=10 * 5e-5 + 1e-4)
    recorded = session.run("text", SENTENCE)["layers.2.attention.output"][token, component - 1]
    assert float(output) == pytest.approx(recorded, abs=1e-4)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("link", [{"s": "a"}, {"s": "word " * 70}, {"input": "digit"}, {"input": "flat"}])
def test_every_kind_of_input_fills_the_page(language: str, link: dict[str, str]) -> None:
    app = open_page("heads", **({"lang": language} | link))
    assert len(app.get("plotly_chart")) == 6
    for chart in app.get("plotly_chart"):
        assert json.loads(chart.proto.spec)["data"]


def test_choosing_another_layer_or_head_runs_no_network() -> None:
    app = open_page("heads", s=SENTENCE)
    network = session.pipeline("text").network
    runs = []
    handle = network.register_forward_hook(lambda *_: runs.append(1))
    try:
        for layer, head in ((2, 3), (6, 8)):
            app.session_state["layer"], app.session_state["head"] = layer, head
            app.run()
            assert_fine(app)
    finally:
        handle.remove()
    assert not runs


def test_pictures_are_light_enough_for_a_classroom() -> None:
    app = open_page("heads", s="word " * 30)
    assert sum(len(chart.proto.spec) for chart in app.get("plotly_chart")) < 500_000
