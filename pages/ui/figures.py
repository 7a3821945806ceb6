"""Pure functions from numbers and labels to Plotly figures. No Streamlit here, and no model."""

import html
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

#: Blue for small and negative, white for zero, orange-brown for large: told apart by colour-blind eyes too.
SIGNED = [[0.0, "#08519c"], [0.25, "#6baed6"], [0.5, "#f7f7f7"], [0.75, "#fdae61"], [1.0, "#b35806"]]
SHARE = "Cividis"
#: Q, K and V wherever they appear, on a light and on a dark ground.
ROLE_COLOURS = {
    "light": {"Q": "#0072B2", "K": "#C25B00", "V": "#00795A"},
    "dark": {"Q": "#56B4E9", "K": "#F0A030", "V": "#2BC29A"},
}
ACCENT = "#CC79A7"
MOST_CLICKABLE = 64  # larger maps are picked with select boxes (an invisible marker for each cell gets slow)


@dataclass(frozen=True)
class Axis:
    """One side of a picture: its title, and a label for each place (none: the places are just counted)."""

    title: str
    labels: Sequence[str] = ()


def label(text: str) -> str:
    """Text that Plotly shows as typed: it reads tags, and would take a token such as <b> for one."""
    return html.escape(text, quote=False)


def heatmap(
    values: np.ndarray,
    rows: Axis,
    columns: Axis,
    *,
    scale: str = "signed",
    limit: float | None = None,
    cell: tuple[int, int] | None = None,
    clickable: bool = False,
    square: bool = True,
    font_size: int = 12,
    height: int | None = None,
) -> go.Figure:
    """A matrix as coloured cells, first row on top; row and column names on the axes, never merged.

    scale: "signed" (two colours, symmetric about 0), "share" (0 to 1) or "positive" (0 to the largest).
    limit: the value of the strongest colour, for a range shared among pictures. cell: outlined.
    clickable: an invisible marker on each cell, since a heatmap alone reports no clicks to Streamlit.
    Infinite cells (hidden by a mask) stay blank.
    """
    values = np.asarray(values, dtype=np.float32)
    finite = np.where(np.isfinite(values), values, np.nan)
    n_rows, n_columns = values.shape
    largest = limit or float(np.nanmax(np.abs(finite), initial=0.0)) or 1.0
    low, high = {"signed": (-largest, largest), "share": (0.0, limit or 1.0), "positive": (0.0, largest)}[scale]
    clickable = clickable and max(n_rows, n_columns) <= MOST_CLICKABLE
    hover = f"{label(rows.title)} <b>%{{y}}</b><br>{label(columns.title)} <b>%{{x}}</b><br>"
    figure = go.Figure(
        go.Heatmap(
            z=finite,
            zmin=low,
            zmax=high,
            colorscale=SIGNED if scale == "signed" else SHARE,
            xgap=1 if n_columns <= 32 else 0,
            ygap=1 if n_rows <= 32 else 0,
            hoverinfo="skip" if clickable else None,
            hovertemplate=None if clickable else hover + "%{z:.4f}<extra></extra>",
            colorbar={
                "orientation": "h",
                "x": 1.0,
                "xanchor": "right",
                "y": 1.0,
                "yanchor": "bottom",
                "len": 0.5,
                "thickness": 7,
                "outlinewidth": 0,
                "ypad": 4,
                "tickfont": {"size": font_size - 2},
                "nticks": 4,
            },
        )
    )
    if clickable:
        y, x = np.mgrid[0:n_rows, 0:n_columns].astype(np.float32)
        figure.add_scatter(
            x=x.ravel(),
            y=y.ravel(),
            customdata=finite.ravel(),
            mode="markers",
            marker={"size": 6, "opacity": 0},
            selected_marker_opacity=0,
            unselected_marker_opacity=0,
            showlegend=False,
            hovertemplate=hover + "%{customdata:.4f}<extra></extra>",
        )
    if cell is not None and cell[0] < n_rows and cell[1] < n_columns:
        row, column = cell
        figure.add_shape(
            type="rect",
            x0=column - 0.5,
            x1=column + 0.5,
            y0=row - 0.5,
            y1=row + 0.5,
            line={"color": ACCENT, "width": 3},
        )
    figure.update_xaxes(**_side(columns, n_columns, font_size), range=[-0.5, n_columns - 0.5])
    figure.update_yaxes(**_side(rows, n_rows, font_size), range=[n_rows - 0.5, -0.5])
    if square and n_columns <= 3 * n_rows:
        figure.update_yaxes(scaleanchor="x", constrain="domain")
        figure.update_xaxes(constrain="domain")
    if height is None:
        height = int(min(620, max(230, 90 + n_rows * (26 if square else 22) * font_size / 12)))
    return finish(figure, height, font_size)


def _side(axis: Axis, n: int, font_size: int) -> dict:
    side: dict = {
        "title": {"text": label(axis.title), "standoff": 6},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
    }
    if axis.labels:
        size = font_size if n <= 20 else max(7, font_size - 1 - n // 16)
        side |= {
            "tickmode": "array",
            "tickvals": list(range(n)),
            "ticktext": [label(text) for text in axis.labels],
            "tickfont": {"size": size},
        }
    return side


def bars(
    values: np.ndarray,
    names: Axis,
    value_title: str,
    *,
    colours: Sequence[str] | str = "#0072B2",
    horizontal: bool = True,
    font_size: int = 12,
    height: int | None = None,
) -> go.Figure:
    """One bar for each name, in the order given (the first on top, where horizontal)."""
    places = np.arange(len(values), dtype=np.float32)
    values = np.asarray(values, dtype=np.float32)
    kind = {"orientation": "h", "x": values, "y": places} if horizontal else {"x": places, "y": values}
    value_letter, name_letter = ("x", "y") if horizontal else ("y", "x")
    figure = go.Figure(
        go.Bar(
            **kind,
            marker={"color": colours},
            text=[f"{value:.3f}" for value in values],
            textposition="auto",
            hovertemplate=f"%{{{name_letter}}}: %{{{value_letter}:.4f}}<extra></extra>",
        )
    )
    side = _side(names, len(values), font_size)
    ends = [-0.6, len(values) - 0.4]
    if horizontal:
        figure.update_yaxes(**side, range=ends[::-1])
        figure.update_xaxes(title={"text": label(value_title)}, zeroline=True, automargin=True)
    else:
        figure.update_xaxes(**side, range=ends)
        figure.update_yaxes(title={"text": label(value_title)}, zeroline=True, automargin=True)
    rows = len(values) if horizontal else 9
    return finish(figure, height or int(min(720, 80 + rows * 24 * font_size / 12)), font_size)


def finish(figure: go.Figure, height: int, font_size: int) -> go.Figure:
    """The look that all figures share."""
    return figure.update_layout(
        height=height,
        margin={"l": 6, "r": 6, "t": 8, "b": 6},
        font={"size": font_size},
        hovermode="closest",
        hoverdistance=-1,
        dragmode=False,
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
