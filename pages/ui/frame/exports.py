"""What a reader takes along: tables, pictures and whole runs as files."""

import csv as written
import html
import io
import re
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from pandas.api.types import is_numeric_dtype
from plotly.basedatatypes import BasePlotlyType

from model import Trace
from pages.ui.figures import Figure
from pages.ui.state.link_values import EDITS
from pages.ui.text import plain

#: Under pictures drawn for the two themes: their words are dark on the one and light on the other.
GROUND = {"light": "#ffffff", "dark": "#0f1420"}
#: How a cell begins that a spreadsheet might take for a formula and compute when it opens the file (OWASP lists them).
LIVE = re.compile(r"\s*[=+@\-＝＋＠－]|[\t\r\n]")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)


def figure_table(drawn: Figure) -> pd.DataFrame:
    """The numbers of a picture with the names on its axes.

    Of a heatmap its cells; of bars, boxes and lines over common places a column for each series; of points and
    whatever else a row for each, with both its numbers.
    """
    figure = drawn.checked()
    cells = next((trace for trace in figure.data if trace.type == "heatmap"), None)
    if cells is not None:
        z, every = np.asarray(cells.z), figure.layout.meta  # where not all names stand at the axes
        if every:
            return pd.DataFrame(z, index=every["rows"], columns=every["columns"])
        sides = zip(z.shape, (figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext), strict=True)
        rows, columns = (_unescape(names) or range(1, count + 1) for count, names in sides)
        return pd.DataFrame(z, index=rows, columns=columns)
    series = dict(_series(figure))
    if all(values.index.is_unique for values in series.values()):
        across = figure.layout.yaxis if _lies(figure.data[0]) else figure.layout.xaxis
        table = pd.concat(series, axis=1)
        names = dict(zip(across.tickvals or (), _unescape(across.ticktext) or (), strict=False))
        table.index = [names.get(place, place) for place in table.index]  # last: two places may have one name
        return table
    named = {name: values.rename("y").rename_axis("x").reset_index() for name, values in series.items()}
    return pd.concat(named, names=["series", None]).reset_index("series")


def _series(figure: go.Figure) -> Iterator[tuple[str, pd.Series]]:
    """What a picture draws, each under its name: values over their places. What only takes clicks is left out."""
    for number, trace in enumerate(figure.data, 1):
        if getattr(trace.marker, "opacity", None) == 0 or getattr(trace, "mode", None) == "text":
            continue
        name = trace.name or f"value {number}"
        if trace.name and trace.showlegend is False:  # the same series in another run
            name += f" · {plain('change.other_run')}"
        if trace.type == "box":
            for part in ("lowerfence", "q1", "median", "q3", "upperfence"):
                yield f"{name} · {part}", pd.Series(np.asarray(trace[part]), np.asarray(trace.x))
            continue
        x, y = np.asarray(trace.x), np.asarray(trace.y)
        places, values = (y, x) if _lies(trace) else (x, y)
        yield name, pd.Series(values, places)


def _lies(trace: BasePlotlyType) -> bool:
    """Whether it is a lying bar: its values run along x."""
    return trace.type == "bar" and trace.orientation == "h"


def _unescape(labels: Sequence[str] | None) -> list[str] | None:
    return [html.unescape(text) for text in labels] if labels is not None else None


def csv(table: pd.DataFrame, about: str = "") -> bytes:
    """A table that spreadsheets open with Chinese intact (UTF-8 with its mark). about: a first line that says whose.

    No word in it is a formula, whatever a link or a checkpoint has put there: the first line is one cell, all words are
    quoted, so that none falls apart at a comma or a semicolon, and one that begins like a formula gets an apostrophe.
    """
    file = io.StringIO()
    if about:
        first = f"# {' '.join(about.split())}"
        written.writer(file, quoting=written.QUOTE_ALL, lineterminator="\n").writerow([first])
    harmless = table.apply(lambda column: column if is_numeric_dtype(column) else column.map(_harmless))
    both = {"index": _harmless, "columns": _harmless}
    harmless.rename(**both).rename_axis(**both).to_csv(file, quoting=written.QUOTE_NONNUMERIC)
    return file.getvalue().encode("utf-8-sig")


def _harmless(cell: object) -> object:
    """A cell as it is, but words that begin like a formula behind an apostrophe: spreadsheets then leave them alone."""
    if isinstance(cell, str) and LIVE.match(cell) and not NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def standalone(drawn: Figure, about: str, mode: str) -> str:
    """The figure as one HTML file that opens offline, its title says whose it is; its camera saves an SVG.

    mode: "light" or "dark", as the figure was drawn: its words must stand out.
    """
    ground = GROUND[mode]
    template = "plotly_dark" if mode == "dark" else "plotly"
    figure = drawn.checked().update_layout(template=template, paper_bgcolor=ground, plot_bgcolor=ground)
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
    page = figure.to_html(include_plotlyjs=True, config=config)
    head = f"<head><title>{html.escape(about)}</title><style>body {{ background: {ground} }}</style>"
    return page.replace("<head>", head, 1)


def npz(trace: Trace) -> bytes:
    """The whole run: one array under each key of the trace, the tokens, and the changes as they stand in a link.

    Of a translation also the target's tokens.
    """
    file = io.BytesIO()
    names = {name: np.array(getattr(trace, name)) for name in ("tokens", "target_tokens") if hasattr(trace, name)}
    edits = np.array(EDITS.write(trace.edits))
    np.savez_compressed(file, edits=edits, **names, **{key: trace[key] for key in trace})
    return file.getvalue()


def file_name(*parts: str) -> str:
    """A name that every system takes, from words in any language: "glass-encoder-attention-我爱你-layer-3"."""
    words = (re.sub(r"[^\w]+", "-", part).strip("-_") for part in parts)
    return "-".join(["glass-encoder", *filter(None, words)])[:120]
