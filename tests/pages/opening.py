"""Open a page by its link without a browser, and read what is on it."""

import base64
import html
import json
import re
import unicodedata
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
import torch
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from model import Pipeline, Trace
from model.config import PRESETS
from model.heads import network_for
from model.loading import load_tokenizer
from model.pipeline import ImageReader, TextReader
from pages.drawing.text import catalogue
from pages.screen.frame.line import WRITTEN_AFRESH
from pages.screen.runs import pipelines
from tests.networks import draw_norms

APP = Path(__file__).parents[2] / "pages" / "every_page.py"


def raw_names(words: str) -> list[str]:
    """Names such as d_model or x_1 outside of LaTeX and code."""
    left = re.sub(r"\$.+?\$|`.+?`|\{[^}]*\}", "", words.replace("\\", ""))
    return re.findall(r"(?<!\w)[A-Za-z]+\d?_\w+", left)


def at_page(name: str, **link: str) -> AppTest:
    """The page before its first run; `link` holds the query parameters."""
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params.update(link)
    return turn_to(app, name)


def open_page(name: str, **link: str) -> AppTest:
    """The page after its first run; fails if it shows an error."""
    link = {"lang": "en", **link}
    return run_fine(at_page(name, **link))


def turn_to(app: AppTest, name: str) -> AppTest:
    """Switch to another page of the same session; AppTest.switch_page only knows pages that are files."""
    app._page_hash = calc_hash("" if name == "home" else name)
    return app


@cache
def pre_norm(kind: str) -> Pipeline:
    """A small pre-norm encoder with random weights, for "text" or "digits"."""
    torch.manual_seed(0)
    config = replace(PRESETS[kind], layers=3, d_ff=128, norm_first=True, final_norm=True)
    network = network_for(config).eval()
    draw_norms(network)
    digits = [str(digit) for digit in range(10)]
    reader = TextReader(load_tokenizer(), config.max_len) if kind == "text" else ImageReader(config, digits)
    return Pipeline(kind, network, reader)


def with_network(monkeypatch: pytest.MonkeyPatch, pipeline: Pipeline) -> None:
    """Replace our pipelines by this one; a text pipeline does not replace those for drawings and translation."""
    pipeline_of, run = pipelines.pipeline, pipelines.run
    others = {"digits", "translation"} if isinstance(pipeline.reader, TextReader) else set()
    monkeypatch.setattr(pipelines, "pipeline", lambda name: pipeline_of(name) if name in others else pipeline)
    monkeypatch.setattr(
        pipelines,
        "run",
        cache(
            lambda name, subject, edits=(): run(name, subject, edits) if name in others else pipeline(subject, edits)
        ),
    )


def steps(app: AppTest) -> list[str]:
    """The lines of the arithmetic on the page, in LaTeX."""
    return [html.unescape(latex) for latex in re.findall(r'data-latex="(.*?)"', "\n".join(in_html(app)))]


def result(app: AppTest) -> float:
    """The result of the last line of the arithmetic."""
    return float(re.sub(r" \\times 10\^\{(-?\d+)\}", r"e\1", steps(app)[-1].rsplit("=", 1)[-1]))


def recorded(app: AppTest) -> float:
    """The recorded number as written below the arithmetic."""
    before, after = catalogue(app.session_state["lang"])["common.recorded"].split("{value}")
    found = re.search(f"{re.escape(before)}(−?[\\d.]+)(?: × 10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+))?{re.escape(after)}", texts(app))
    digits, power = found.groups()
    return float(f"{digits.replace('−', '-')}e-{unicodedata.normalize('NFKC', power or '0')}")


def in_html(app: AppTest) -> list[str]:
    """Source of each HTML element."""
    arithmetic = protos(app, "arithmetic")
    return [*(part.proto.body for part in app.get("html")), *(part.bytes.decode() for part in arithmetic)]


def cells(table: str) -> list[list[str]]:
    """Rows of an HTML table as plain text, header first."""
    rows = re.findall("<tr>(.*?)</tr>", table)
    return [
        [html.unescape(re.sub("<.*?>", "", cell)) for cell in re.findall("<t[hd]>(.*?)</t[hd]>", row)] for row in rows
    ]


def tables(app: AppTest) -> list[list[list[str]]]:
    """Rows of each table in the arithmetic, with ASCII minus signs."""
    return [cells(table) for table in re.findall("<table>.*?</table>", "".join(in_html(app)).replace("−", "-"))]


def assert_fine(app: AppTest) -> None:
    assert not app.exception, [error.value for error in app.exception]
    assert not app.error, [error.value for error in app.error]
    assert all(button.label for button in app.button), "an icon alone says nothing to who cannot see it"
    for chart in charts(app):
        if (seen := outline(chart["figure"])) not in KNOWN:
            go.Figure(chart["figure"])  # raises for unknown properties; figures.figure_of does not validate
            KNOWN.add(seen)
        assert not (lost := beyond(chart["figure"])), lost


def beyond(figure: dict) -> list[str]:
    """Words that Plotly does not draw, since their place, in float32 as it is sent, lies beyond its axis."""
    lost: list[str] = []
    for trace in figure["data"]:
        for side in "xy" if "text" in trace.get("mode", "") else "":
            axis = figure["layout"].get(f"{side}axis{trace.get(f'{side}axis', side)[1:]}", {})
            if axis.get("type") not in ("log", "category") and None not in (ends := axis.get("range", [None])):
                given = trace[side]
                given = numbers(given) if isinstance(given, dict) else [np.nan if x is None else x for x in given]
                places = np.asarray(given, np.float64)
                words = np.broadcast_to(trace.get("text", ""), len(places))
                lost += words[(places < min(ends)) | (places > max(ends))].tolist()
    return [word for word in lost if word.strip()]


def run_fine(moved: Any) -> AppTest:
    """Run a page, or the page of a control that was moved; nothing may fail."""
    app = moved.run()
    assert_fine(app)
    return app


#: Outlines of validated figures: validating one takes as long as drawing the page.
KNOWN: set[Hashable] = set()
FREE = {"text", "hovertext", "ticktext", "customdata", "name", "hovertemplate", "texttemplate", "meta"}


def outline(part: object, name: str = "") -> Hashable:
    """All of a figure that Plotly may refuse: property names, enumerated values, types and signs of numbers."""
    match part:
        case {"bdata": _, "dtype": kind}:
            return kind
        case dict():
            return frozenset((key, outline(inside, key)) for key, inside in part.items())
        case list():
            return frozenset(outline(one, name) for one in part)
        case int() | float():
            return type(part), part < 0, part > 1
        case str() if name not in FREE:
            return part
    return type(part)


def said(app: AppTest) -> str:
    """All text on the page, without Markdown escapes, with ASCII minus signs."""
    return texts(app).replace("\\", "").replace("−", "-")


def stands(app: AppTest, key: str) -> bool:
    """Whether the fixed parts of a catalogue text are on the page."""
    words = catalogue(app.session_state["lang"])[key].replace("−", "-")
    return all(part.strip() in said(app) for part in re.split(r"\{[^}]*\}|[*$‖]|\w+_\w+[,.;)]*", words))


def warnings(app: AppTest) -> list[str]:
    return [str(warning.value) for warning in app.warning]


def run_of(app: AppTest) -> Trace:
    """The run shown on the page."""
    choice = app.session_state["choice"]
    return pipelines.run(choice.pipeline, choice.subject, choice.edits)


def texts(app: AppTest) -> str:
    """All text on the page and in the sidebar, without HTML tags."""
    said = [str(element.value) for element in [*app.markdown, *app.caption, *app.info, *app.warning]]
    return "\n".join([*said, *(html.unescape(re.sub("<.*?>", "", body)) for body in in_html(app))])


def charts(app: AppTest) -> list[dict]:
    """The charts as sent to the browser: figure, description and key of each."""
    parts = protos(app, "chart")
    return [json.loads(part.bytes) | {"key": part.id.split("-", 2)[2]} for part in parts]


def chart(app: AppTest, name: str) -> dict:
    """The figure of a picture, by its name on the page."""
    (found,) = (one["figure"] for one in charts(app) if one["key"].endswith(f".{name}"))
    return found


def drawn_in(app: AppTest, name: str) -> np.ndarray:
    """The numbers of the first trace of a picture, by its name on the page."""
    return numbers(chart(app, name)["data"][0]["x"])


def maps(app: AppTest) -> list[np.ndarray]:
    """The numbers of every map on the page."""
    traces = [trace for one in charts(app) for trace in one["figure"]["data"]]
    return [numbers(trace["z"]) for trace in traces if trace["type"] == "heatmap"]


def shows(app: AppTest, values: np.ndarray, atol: float = 1e-5) -> bool:
    """Whether a map on the page shows these numbers; masked cells count as 0."""
    return any(
        shown.shape == values.shape and np.allclose(np.nan_to_num(shown), values, atol=atol) for shown in maps(app)
    )


def protos(app: AppTest, name: str) -> list[Any]:
    """The messages to our components of this name."""
    return [part.proto for part in app.get("bidi_component") if part.proto.component_name == name]


def part_of(app: AppTest, name: str) -> str:
    """The JSON sent to our first component of this name."""
    return protos(app, name)[0].json


def for_teachers(box: str, app: AppTest | None = None, /, **link: str) -> AppTest:
    """The tour's page with a box for teachers open: "homework", "paper", "maker", "others"."""
    app = app or open_page("lesson", **link)
    app.session_state["lesson.teachers"] = app.session_state[f"lesson.{box}"] = True
    return app.run()


def write(app: AppTest, sentence: str) -> AppTest:
    """Enter a sentence in the line at the top, as its component does."""
    left = dict.fromkeys(("hidden", "token", "key")) | {"branch": ()} | WRITTEN_AFRESH
    app.session_state["s"], app.session_state["at"] = sentence, app.session_state["at"] | left
    return app.run()


def stops(app: AppTest) -> dict:
    """The data of the bar of pages."""
    return json.loads(part_of(app, "bar"))[0]


def figure(app: AppTest, which: int = 0) -> dict:
    """The Plotly figure number `which` of the page."""
    return charts(app)[which]["figure"]


def numbers(typed: dict) -> np.ndarray:
    """The array inside a Plotly typed-array field."""
    values = np.frombuffer(base64.b64decode(typed["bdata"]), typed["dtype"])
    return values.reshape([int(side) for side in typed["shape"].split(",")]) if "shape" in typed else values


def summed(texts: Sequence[str]) -> list[float]:
    """The numbers written at the bars of a sum, the last of which has ≈ where the others do not add up to it."""
    *parts, total = (text.replace("−", "-") for text in texts)
    assert (sum(map(Decimal, parts)) == Decimal(total.removeprefix("≈ "))) != total.startswith("≈"), texts
    return [*map(float, parts), float(total.removeprefix("≈ "))]


def line(app: AppTest) -> dict:
    """The data of the line at the top."""
    return json.loads(part_of(app, "sentence_line"))


def address(app: AppTest) -> dict[str, str]:
    """The query parameters; AppTest returns those set by the app as lists."""
    return {name: value[0] if isinstance(value, list) else value for name, value in app.query_params.items()}


def within(block: object) -> Iterator[Any]:
    """All elements of a page, in order."""
    for part in getattr(block, "children", {}).values():
        yield part
        yield from within(part)


def component(part: Any) -> str:
    """Name of one of our components, or ""."""
    return getattr(getattr(part, "proto", None), "component_name", "")


def shown_on(app: AppTest) -> list[object]:
    """The content of the page: labels, figures, arithmetic and native elements."""
    components = {part.proto.id: part for part in app.get("bidi_component")}
    shown: list[object] = []
    for part in within(app.main):
        proto = getattr(part, "proto", None)
        if part.type in ("page_link", "button", "download_button"):
            shown.append(proto.label)
        elif component(part) == "chart":
            chart = json.loads(components[proto.id].bytes)
            shown.append((chart["figure"], chart["alt"]))
        elif component(part) == "arithmetic":
            shown.append(components[proto.id].bytes)
        elif not component(part) and proto is not None:  # a widget's value is sent only when it changes
            shown.append(re.sub(r"\s*\b(id|styler_uuid|set_value|raw_values|value): .*", "", str(proto)))
    return shown
