"""Downloads: the whole run, tables that spreadsheets read, pictures that open offline."""

import io

import numpy as np
import pandas as pd

from pages.ui.figures import Axis, heatmap
from pages.ui.view import csv, figure_table, npz, standalone
from tests.networks import trace_of


def test_the_npz_holds_the_whole_run_under_the_traces_keys() -> None:
    for name in ("trained text", "trained digits", "trained flat"):
        trace = trace_of(name)
        saved = np.load(io.BytesIO(npz(trace)), allow_pickle=False)
        assert set(saved.files) == {*trace.keys(), "tokens"}
        assert saved["tokens"].tolist() == trace.tokens
        for key in trace:
            np.testing.assert_array_equal(saved[key], trace[key])


def test_the_csv_keeps_chinese_and_every_digit() -> None:
    values = np.array([[0.123456, -2.5], [3.0, 1e-6]], np.float32)
    table = figure_table(heatmap(values, Axis("query", ["天", "<b>"]), Axis("key", ["天", "气"])))
    content = csv(table)
    assert content.startswith(b"\xef\xbb\xbf")  # the mark by which spreadsheets know UTF-8
    read = pd.read_csv(io.BytesIO(content), index_col=0)
    assert list(read.index) == ["天", "<b>"] and list(read.columns) == ["天", "气"]
    np.testing.assert_allclose(read.to_numpy(), values, rtol=1e-6)


def test_the_html_needs_nothing_from_elsewhere() -> None:
    page = standalone(heatmap(np.eye(3), Axis("query", ["a", "b", "c"]), Axis("key", ["a", "b", "c"])))
    assert "<script src=" not in page and "Plotly.newPlot" in page and len(page) > 1_000_000
