"""Figures show the numbers that they are given, under the names that they are given."""

import base64
import json

import numpy as np
import pytest

from pages.ui.figures import Axis, attention_lines, bars, heatmap

VALUES = np.array([[1.0, -4.0], [2.0, 3.0]], np.float32)


def spec(figure) -> dict:
    return json.loads(figure.to_json())


def test_signed_values_have_a_scale_symmetric_about_0() -> None:
    drawn = spec(heatmap(VALUES, Axis("r"), Axis("c")))["data"][0]
    assert (drawn["zmin"], drawn["zmax"]) == (-4, 4)


def test_shares_run_from_0_to_1_unless_a_range_is_given() -> None:
    drawn = spec(heatmap(VALUES, Axis("r"), Axis("c"), scale="share"))["data"][0]
    assert (drawn["zmin"], drawn["zmax"]) == (0, 1)
    drawn = spec(heatmap(VALUES, Axis("r"), Axis("c"), scale="share", limit=0.5))["data"][0]
    assert (drawn["zmin"], drawn["zmax"]) == (0, 0.5)


def test_values_travel_as_typed_float32() -> None:
    z = spec(heatmap(VALUES.astype(float), Axis("r"), Axis("c")))["data"][0]["z"]
    assert z["dtype"] == "f4"
    np.testing.assert_array_equal(np.frombuffer(base64.b64decode(z["bdata"]), "<f4").reshape(2, 2), VALUES)


def test_what_a_mask_hides_stays_blank() -> None:
    hidden = np.array([[-np.inf, 1.0], [0.5, -2.0]], np.float32)
    figure = heatmap(hidden, Axis("r"), Axis("c"))
    assert np.isnan(figure.data[0].z[0, 0]) and figure.data[0].zmax == 2


def test_equal_tokens_stay_apart_and_tags_are_shown_as_typed() -> None:
    layout = spec(heatmap(VALUES, Axis("r", ["the", "the"]), Axis("c", ["<b>x</b>", "a&b"])))["layout"]
    assert layout["yaxis"]["tickvals"] == [0, 1] and layout["yaxis"]["ticktext"] == ["the", "the"]
    assert layout["xaxis"]["ticktext"] == ["&lt;b&gt;x&lt;/b&gt;", "a&amp;b"]
    assert layout["yaxis"]["range"] == [1.5, -0.5]  # first row on top


@pytest.mark.parametrize("n", [1, 8, 64, 65])
def test_a_clickable_map_has_a_marker_on_each_cell_up_to_64(n: int) -> None:
    figure = heatmap(np.eye(n), Axis("r"), Axis("c"), clickable=True)
    assert len(figure.data) == (2 if n <= 64 else 1)
    if n <= 64:
        marks = figure.data[1]
        for i in range(0, n * n, 7):
            assert (marks.y[i], marks.x[i]) == divmod(i, n)
            assert marks.customdata[i] == (1 if i % (n + 1) == 0 else 0)


def test_bars_keep_their_order() -> None:
    figure = bars(np.array([3.0, 1.0]), Axis("word", ["a", "b"]), "probability")
    assert list(figure.data[0].x) == [3, 1] and list(figure.layout.yaxis.range) == [1.6, -0.6]


def test_lines_join_each_query_to_what_it_looks_at() -> None:
    weights = np.array([[0.9, 0.1], [0.01, 0.99]], np.float32)
    figure = attention_lines(weights, Axis("q", ["a", "b"]), Axis("k", ["a", "b"]), 0, "light")
    joined = set()
    for line in (trace for trace in figure.data if trace.mode == "lines"):
        ends = np.asarray(line.y).reshape(-1, 3)
        joined |= {(int(start), int(end)) for start, end, _ in ends}
    assert joined == {(0, 0), (0, 1), (1, 1)}  # the hundredth is too thin to draw
