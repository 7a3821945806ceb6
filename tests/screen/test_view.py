"""What a reader takes along: the whole run, tables that spreadsheets read, pictures that open offline."""

import csv
import html
import io
import json
import re

import numpy as np
import pandas as pd
import pytest
import streamlit as st

from pages.drawing.figures import Axis, Figure, bars, grouped_bars, heatmap, lines
from pages.drawing.figures.base import MOST_NAMED
from pages.drawing.state import sketch
from pages.drawing.text import catalogue
from pages.screen.frame import exports
from tests.networks import trace_of
from tests.pages.opening import charts, open_page, protos, run_fine

THREE = sketch.to_code(sketch.example(3))
SENTENCE = '我爱你 , "really" # not ?'


def test_the_npz_holds_the_whole_run_under_the_traces_keys() -> None:
    for name in ("trained text", "trained digits", "translation"):
        trace = trace_of(name)
        saved = np.load(io.BytesIO(exports.npz(trace)), allow_pickle=False)
        assert set(saved.files) >= {*trace.keys(), "tokens", "edits"}
        assert saved["tokens"].tolist() == trace.tokens and saved["edits"] == ""
        for key in trace:
            np.testing.assert_array_equal(saved[key], trace[key])


def read(content: bytes, **look) -> pd.DataFrame:
    """A CSV as pandas reads it, its first line being a remark."""
    assert content.startswith(b"\xef\xbb\xbf")  # the mark by which spreadsheets know UTF-8
    return pd.read_csv(io.BytesIO(content), index_col=0, skiprows=1, keep_default_na=False, **look)


def cells(content: bytes) -> list[list[str]]:
    """What stands in the cells of a CSV, row by row."""
    return list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))


@pytest.mark.parametrize("names", [["天", "<b>"], [f"词{i}" for i in range(2 * MOST_NAMED)]])
def test_the_csv_keeps_chinese_every_name_and_every_digit(names: list[str]) -> None:
    values = np.random.default_rng(0).normal(size=(len(names), 2)).astype(np.float32)
    table = exports.figure_table(heatmap(values, Axis("query", names), Axis("key", ["天", "气"])))
    kept = read(exports.csv(table, "我爱你 · layer 2, head 3"))
    assert list(kept.index) == names and list(kept.columns) == ["天", "气"]
    np.testing.assert_allclose(kept.to_numpy(), values, rtol=1e-6)


def test_the_csv_says_in_its_first_line_what_it_is_about() -> None:
    about = 'the cat\n=HYPERLINK("http://x"&A2,"x");=1\r\n+1'
    first, *others = cells(exports.csv(pd.DataFrame({"a": [1]}), about))
    assert first == ["# " + " ".join(about.split())]  # one cell of one line
    assert others == [["", "a"], ["0", "1"]]


#: A formula behind what cannot be seen, or written otherwise.
UNSEEN = ("\ufeff=1", "\u200b=1", "\u202e=1", "\u2066\u00ad\u200f=1", "\x00=1", "\u3000@A", "\ufe66A1", "\U000e0020+A1")


@pytest.mark.parametrize("live", ["=cmd|'/C calc'!A0", "-1+A1", "@SUM(A1)", "\r=1", " =1", *UNSEEN])
def test_no_word_of_a_csv_is_a_formula_and_numbers_stay_numbers(live: str) -> None:
    values, wide = np.array([-0.1, 1e-8], np.float32), live.translate(str.maketrans("=+-@﹦", "＝＋－＠＝"))
    table = pd.DataFrame({live: values, wide: [live, "a;=1,b"]}, index=pd.Index([wide, "-1.5"], name=f"@{live}"))
    kept = exports.csv(table, live)
    assert not [cell for row in cells(kept) for cell in row if re.match(r"\s*[=+@＝＋－＠]|\s|-1\+", cell)]
    assert b'"a;=1,b"' in kept and b'"-1.5"' in kept  # no spreadsheet parts them, and what is a number may begin so
    there = read(kept)
    assert there.index.name == f"'@{live}"
    assert list(there.columns) == ["'" + live, "'" + wide] and list(there.index) == ["'" + wide, "-1.5"]
    np.testing.assert_array_equal(there.iloc[:, 0].to_numpy(np.float32), values)


def test_a_table_holds_every_series_under_its_name() -> None:
    series = {"in": np.array([1.0, 2.0]), "out": np.array([3.0, 4.0])}
    table = exports.figure_table(grouped_bars(series, Axis("token", ["a", "a"]), "length", ["#111111", "#222222"]))
    assert table.index.tolist() == ["a", "a"]
    assert {name: table[name].tolist() for name in table} == {"in": [1, 2], "out": [3, 4]}
    table = exports.figure_table(lines(np.array([[1, 2], [3, 4]]), ["in", "out"], Axis("layer", ["1", "2"]), "length"))
    assert {name: table[name].tolist() for name in table} == {"in": [1, 2], "out": [3, 4]}


@pytest.mark.parametrize(("mode", "ground"), [("light", "#ffffff"), ("dark", "#0f1420")])
def test_the_html_has_the_ground_that_its_words_were_drawn_for(mode: str, ground: str) -> None:
    figure = bars(np.arange(2.0), Axis("token", ["a", "b"]), "length")
    page = exports.standalone(taken(figure), "a", mode)
    assert page.count(f'bgcolor":"{ground}"') == 2 and f"background: {ground}" in page


def taken(figure: Figure, says: str = "", equation: str = "") -> exports.Taken:
    return exports.Taken("Weights <A>", figure, lambda: exports.figure_table(figure), "layer 1", (), says, equation)


def test_the_html_says_what_it_is_how_it_is_computed_and_what_it_shows() -> None:
    figure = bars(np.arange(2.0), Axis("token", ["a", "b"]), "length")
    page = exports.standalone(taken(figure, "a < b", r"q \cdot k"), "x <y>", "light")
    assert "<script src=" not in page and "Plotly.newPlot" in page and "<title>x &lt;y&gt;</title>" in page
    body = re.sub(r"(?s)<script.*?</script>", "", page.partition("<body>")[2])
    seen = [body.index(part) for part in ("<h1>Weights &lt;A&gt;</h1>", "q · k", "plotly-graph-div", "a &lt; b")]
    assert seen == sorted(seen)


def test_a_handout_of_a_page_asks_first_and_hides_what_each_picture_says() -> None:
    app = open_page("attention", s="i love you .", layer="2", head="3")
    app.session_state["attention.downloads"] = True
    run_fine(app)
    (part,) = protos(app, "handout")
    (sheet,) = json.loads(part.json)
    page, words = sheet["html"], catalogue("en")
    assert f"<h1>{words['attention.purpose']}</h1>" in page and "layer 2, head 3" in page and "i love you ." in page
    assert 'src="picture:attention.' in page and 'class="equation"' in page
    (chart,) = charts(app)
    (folded,) = re.findall(r"<details><summary>[^<]*</summary><p>(.*?)</p></details>", page)
    assert html.unescape(folded) in chart["alt"] and folded not in re.sub(r"<details>.*?</details>", "", page)
    assert not re.search(r"<(script|link|iframe)|url\(", page), "nothing is fetched"
    assert len(page) < 20_000 and sheet["file"].endswith(".html")


def test_file_names_hold_page_layer_head_and_sentence_and_no_sign_that_a_system_refuses() -> None:
    name = exports.file_name("attention", "Weights", "layer 2, head 3", SENTENCE)
    assert name == "glass-encoder-attention-Weights-layer-2-head-3-我爱你-really-not"


@pytest.mark.parametrize("shown", ["changed", "original"])
def test_downloads_say_what_was_changed(shown: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, tuple[str, bytes | str]] = {}
    monkeypatch.setattr(st, "download_button", lambda _, data, name, *__, **___: files.update({name: data()}))
    edits = "layers.1.attention.heads~zero~head.3~~embedding.sum~remove~token.2"
    app = open_page("attention", s="i love you .", layer="2", head="3", edits=edits, shown=shown)
    app.session_state["attention.downloads"] = True
    run_fine(app)
    changed, mark = shown == "changed", "changed-" if shown == "changed" else ""
    named = f"glass-encoder-attention-Attention-weights-layer-2-head-3-{mark}i-love-you"
    assert {*files} == {f"{named}.csv", f"{named}.html", f"glass-encoder-trace-{mark}i-love-you.npz"}
    assert charts(app)[0]["file"] == named
    first = files[f"{named}.csv"].decode("utf-8-sig").splitlines()[0]
    title = re.search("<title>(.*)</title>", files[f"{named}.html"])[1]
    for about in (first, title):
        assert ("changed: layer 2, head 3 · head output: switched off + “i” · " in about) == changed, about
    saved = np.load(io.BytesIO(files[f"glass-encoder-trace-{mark}i-love-you.npz"]))
    assert saved["edits"] == (edits if changed else "")


@pytest.mark.parametrize(
    ("link", "said"),
    [
        ({"s": "a cat ran .", "other": "a dog ran .", "shown": "against"}, "less that of: a dog ran . · a cat ran ."),
        ({"s": "a cat ran .", "edits": "layers.1.ffn.output~zero", "shown": "difference"}, "less that of: the same"),
        ({"input": "digit", "other_ink": THREE, "shown": "against"}, "less that of: a picture read as 3 (this one: 5)"),
    ],
)
def test_a_file_of_a_difference_says_from_what(link: dict, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    files: dict[str, bytes | str] = {}
    monkeypatch.setattr(st, "download_button", lambda _, data, name, *__, **___: files.update({name[-4:]: data()}))
    app = open_page("feed_forward", tab="maps", **link)
    app.session_state["feed_forward.downloads"] = True
    run_fine(app)
    first = files[".csv"].decode("utf-8-sig").splitlines()[0]
    assert said in first and said in html.unescape(re.search("<title>(.*)</title>", files["html"])[1]), first
