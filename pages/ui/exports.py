"""What a reader takes along: tables, pictures and whole runs as files."""

import html
import io
import re
from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from model import Trace


def figure_table(figure: go.Figure) -> pd.DataFrame:
    """The numbers of a picture with the names on its axes: of a heatmap its cells, else one column for each series."""
    cells = next((trace for trace in figure.data if trace.type == "heatmap"), None)
    if cells is not None:
        z = np.asarray(cells.z)
        sides = zip(z.shape, (figure.layout.yaxis.ticktext, figure.layout.xaxis.ticktext), strict=True)
        rows, columns = (_unescape(names) or range(1, count + 1) for count, names in sides)
        return pd.DataFrame(z, index=rows, columns=columns)
    series = {}
    for number, trace in enumerate(figure.data, 1):
        lying = trace.type == "bar" and trace.orientation == "h"
        names = _unescape((figure.layout.yaxis if lying else figure.layout.xaxis).ticktext)
        values = np.asarray(trace.x if lying else trace.y)
        places = np.asarray(trace.y if lying else trace.x)
        index = names if names is not None and len(names) == len(values) else places
        series[trace.name or f"value {number}"] = pd.Series(values, index=index)
    return pd.concat(series, axis=1)


def _unescape(labels: Sequence[str] | None) -> list[str] | None:
    return [html.unescape(text) for text in labels] if labels is not None else None


def csv(table: pd.DataFrame, about: str = "") -> bytes:
    """A table that spreadsheets open with Chinese intact (UTF-8 with its mark). about: a first line that says whose."""
    first = f"# {about}\n" if about else ""
    return (first + table.to_csv()).encode("utf-8-sig")


def standalone(figure: go.Figure) -> str:
    """The figure as one HTML file that opens offline; its camera saves an SVG."""
    figure = go.Figure(figure).update_layout(paper_bgcolor="white", plot_bgcolor="white")
    config = {"displaylogo": False, "toImageButtonOptions": {"format": "svg"}}
    return figure.to_html(include_plotlyjs=True, config=config)


def npz(trace: Trace) -> bytes:
    """The whole run: one array under each key of the trace, and the tokens."""
    file = io.BytesIO()
    np.savez_compressed(file, tokens=np.array(trace.tokens), **{key: trace[key] for key in trace})
    return file.getvalue()


def file_name(*parts: str) -> str:
    """A name that every system takes, from words in any language: "glass-encoder-attention-我爱你-layer-3"."""
    words = (re.sub(r"[^\w]+", "-", part).strip("-_") for part in parts)
    return "-".join(["glass-encoder", *filter(None, words)])[:120]
