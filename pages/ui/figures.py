"""Pure functions from numbers and labels to Plotly figures. No Streamlit here, and no model."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.colors import get_colorscale

#: Blue for small and negative, white for zero, orange-brown for large: told apart by colour-blind eyes too.
SIGNED = [[0.0, "#08519c"], [0.25, "#6baed6"], [0.5, "#f7f7f7"], [0.75, "#fdae61"], [1.0, "#b35806"]]
SHARES = [list(stop) for stop in get_colorscale("Cividis")]
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


def coloured(equation: str, mode: str) -> str:
    """An equation with Q, K and V (and their matrices) in their colours."""
    colours = ROLE_COLOURS[mode]
    return re.sub(
        r"(?<![A-Za-z\\{_])((?:W_|b_)?([QKV]))(?![A-Za-z])",
        lambda hit: rf"\textcolor{{{colours[hit[2]]}}}{{{hit[1]}}}",
        equation,
    )


def figure_of(traces: dict | list[dict], layout: dict) -> go.Figure:
    """A Plotly figure of plain data, which Plotly takes as it stands.

    To check every property would cost more than all the rest of a page. The tests do it, where they open a page.
    """
    return go.Figure(traces, layout, _validate=False)


def heatmap(values: np.ndarray, rows: Axis, columns: Axis, **options) -> go.Figure:
    """A matrix as coloured cells, first row on top; row and column names on the axes, never merged.

    options: those of `heatmap_parts`.
    """
    return figure_of(*heatmap_parts(values, rows, columns, **options))


def heatmap_parts(
    values: np.ndarray,
    rows: Axis,
    columns: Axis,
    *,
    scale: str = "signed",
    limit: float | None = None,
    cell: tuple[int, int] | None = None,
    clickable: bool = False,
    square: bool = True,
    gaps: bool = True,
    line_colour: str | None = None,
    font_size: int = 12,
    height: int | None = None,
) -> tuple[list[dict], dict]:
    """The traces and the layout of a `heatmap`, for one that shall be changed before it is drawn.

    scale: "signed" (two colours, symmetric about 0), "share" (0 to 1) or "positive" (0 to the largest).
    limit: the value of the strongest colour, for a range shared among pictures. cell: outlined.
    clickable: an invisible marker on each cell, since a heatmap alone reports no clicks to Streamlit.
    gaps: thin ones between up to 32 rows or columns. line_colour: of the axes, which have no line otherwise.
    Infinite cells (hidden by a mask) stay blank.
    """
    values = np.asarray(values, dtype=np.float32)
    finite = np.where(np.isfinite(values), values, np.nan)
    n_rows, n_columns = values.shape
    largest = limit or float(np.nanmax(np.abs(finite), initial=0.0)) or 1.0
    low, high = {"signed": (-largest, largest), "share": (0.0, limit or 1.0), "positive": (0.0, largest)}[scale]
    clickable = clickable and max(n_rows, n_columns) <= MOST_CLICKABLE
    hover = f"{label(rows.title)} <b>%{{y}}</b><br>{label(columns.title)} <b>%{{x}}</b><br>"
    cells = dict(
        type="heatmap",
        z=finite,
        zmin=low,
        zmax=high,
        colorscale=SIGNED if scale == "signed" else SHARES,
        xgap=1 if gaps and n_columns <= 32 else 0,
        ygap=1 if gaps and n_rows <= 32 else 0,
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
    traces: list = [cells]
    if clickable:
        y, x = np.mgrid[0:n_rows, 0:n_columns].astype(np.float32)
        traces.append(
            dict(
                type="scatter",
                x=x.ravel(),
                y=y.ravel(),
                customdata=finite.ravel(),
                mode="markers",
                marker={"size": 6, "opacity": 0},
                selected={"marker": {"opacity": 0}},
                unselected={"marker": {"opacity": 0}},
                showlegend=False,
                hovertemplate=hover + "%{customdata:.4f}<extra></extra>",
            )
        )
    layout: dict = {
        "xaxis": _side(columns, n_columns, font_size) | {"range": [-0.5, n_columns - 0.5]},
        "yaxis": _side(rows, n_rows, font_size) | {"range": [n_rows - 0.5, -0.5]},
    }
    if line_colour is not None:
        for side in layout.values():
            side |= {"showline": True, "linewidth": 3, "linecolor": line_colour}
            side["title"]["font"] = {"color": line_colour}
    if cell is not None and cell[0] < n_rows and cell[1] < n_columns:
        row, column = cell
        corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        layout["shapes"] = [{"type": "rect", **corners, "line": {"color": ACCENT, "width": 3}}]
    if square and n_columns <= 3 * n_rows:
        layout["yaxis"] |= {"scaleanchor": "x", "constrain": "domain"}
        layout["xaxis"] |= {"constrain": "domain"}
    if height is None:
        height = int(min(620, max(230, 90 + n_rows * (26 if square else 22) * font_size / 12)))
    return traces, layout | look(height, font_size)


def _side(axis: Axis, n: int, font_size: int) -> dict:
    side: dict = {
        "title": {"text": label(axis.title)},
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
    texts: Sequence[str] | None = None,
    value_range: tuple[float, float] | None = None,
    horizontal: bool = True,
    font_size: int = 12,
    height: int | None = None,
) -> go.Figure:
    """One bar for each name, in the order given (the first on top, where horizontal).

    texts: what stands at each bar, if not its value with three decimals.
    """
    places = np.arange(len(values), dtype=np.float32)
    values = np.asarray(values, dtype=np.float32)
    kind = {"orientation": "h", "x": values, "y": places} if horizontal else {"x": places, "y": values}
    value_letter, name_letter = ("x", "y") if horizontal else ("y", "x")
    bar = dict(
        type="bar",
        **kind,
        marker={"color": colours},
        unselected={"marker": {"opacity": 1}},  # a click on one bar shall not fade the others
        text=[f"{value:.3f}" for value in values] if texts is None else list(texts),
        textposition="auto",
        hovertemplate=f"%{{{name_letter}}}: %{{{value_letter}:.4f}}<extra></extra>",
    )
    ends = [-0.6, len(values) - 0.4]
    side = _side(names, len(values), font_size) | {"range": ends[::-1] if horizontal else ends}
    scale = {"title": {"text": label(value_title)}, "zeroline": True, "automargin": True}
    if value_range:
        scale["range"] = value_range
    rows = len(values) if horizontal else 9
    height = height or int(min(720, 80 + rows * 24 * font_size / 12))
    return figure_of(bar, {f"{name_letter}axis": side, f"{value_letter}axis": scale} | look(height, font_size))


def attention_lines(
    weights: np.ndarray, rows: Axis, columns: Axis, chosen: int | None, mode: str, font_size: int = 12
) -> go.Figure:
    """The same weights as lines from each query (left) to each key (right), thicker where more is taken.

    Lines are drawn in ten bundles of like weight, so that the figure stays light. Those of the `chosen` row stand out.
    """
    n_rows, n_columns = weights.shape
    colour = ROLE_COLOURS[mode]["Q"]
    traces: list = []
    bundles = np.clip((weights * 10).astype(int), 0, 9)
    for bundle in range(10):
        for lit in (False, True):
            pairs = [(i, j) for i, j in np.argwhere(bundles == bundle) if (i == chosen) == lit and weights[i, j] > 0.02]
            if not pairs:
                continue
            share = (bundle + 0.5) / 10
            traces.append(
                dict(
                    type="scatter",
                    x=np.array([x for _ in pairs for x in (0, 1, np.nan)], np.float32),
                    y=np.array([y for i, j in pairs for y in (i, j, np.nan)], np.float32),
                    mode="lines",
                    line={"width": 1 + 8 * share, "color": ACCENT if lit else colour},
                    opacity=min(1.0, (0.35 if lit else 0.1) + share),
                    hoverinfo="skip",
                    showlegend=False,
                )
            )
    for x, axis, n, side in ((0, rows, n_rows, "middle left"), (1, columns, n_columns, "middle right")):
        traces.append(
            dict(
                type="scatter",
                x=np.full(n, x, np.float32),
                y=np.arange(n, dtype=np.float32),
                mode="text",
                text=[f"{label(text)}&nbsp;" if x == 0 else f"&nbsp;{label(text)}" for text in axis.labels],
                textposition=side,
                textfont={"size": font_size if n <= 24 else max(7, font_size - 4)},
                hoverinfo="skip",
                showlegend=False,
                cliponaxis=False,
            )
        )
    layout = {
        "xaxis": {
            "range": [-0.6, 1.6],
            "tickvals": [0, 1],
            "ticktext": [label(rows.title), label(columns.title)],
            "side": "top",
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
        },
        "yaxis": {"range": [max(n_rows, n_columns) - 0.5, -0.5], "visible": False},
    }
    return figure_of(traces, layout | look(int(min(900, 70 + max(n_rows, n_columns) * 24 * font_size / 12)), font_size))


def look(height: int, font_size: int) -> dict:
    """The layout that all figures share."""
    return {
        "height": height,
        "margin": {"l": 6, "r": 6, "t": 8, "b": 6},
        "font": {"size": font_size},
        "hovermode": "closest",
        "hoverdistance": -1,
        "dragmode": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }


def finish(figure: go.Figure, height: int, font_size: int) -> go.Figure:
    """The look that all figures share, for one that is built step by step."""
    return figure.update_layout(look(height, font_size))


#: What goes in, what is added, what comes out: none of them a role of attention, so none has a role's colour.
BEFORE, ADDED, AFTER = "#8a8f98", ACCENT, "#7b6fd0"
LEGEND = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "title": {"text": ""}}


def wide_heatmap(
    values: np.ndarray,
    rows: Axis,
    title: str,
    numbers: Sequence[int] | None = None,
    *,
    one: str | None = None,
    limit: float | None = None,
    exact: bool = True,
    cell: tuple[int, int] | None = None,
    clickable: bool = False,
    font_size: int = 12,
) -> go.Figure:
    """A heatmap with far more columns than can be named: a column's number stands in the hover.

    values: (row, column). title: of the columns. numbers: of the columns as people count them; from 1 on if left out.
    one: what the hover calls a column, if not by the title. exact: False sends each cell as one of 255 colours
    (a quarter of the bytes) and leaves the value out of the hover.
    """
    n_rows, n_columns = values.shape
    labels = [str(number) for number in (range(1, n_columns + 1) if numbers is None else numbers)]
    height = int(min(640, 96 + max(n_rows, 2) * 15 * font_size / 12))
    options = {"cell": cell, "clickable": clickable, "font_size": font_size, "height": height, "square": False}
    traces, layout = heatmap_parts(values, rows, Axis(title, labels), limit=limit, **options)
    layout["xaxis"]["showticklabels"] = False
    layout["xaxis"]["title"]["standoff"] = font_size + 8  # without tick labels it would lie on the cells
    if one:
        for part in traces:
            part["hovertemplate"] = part["hovertemplate"] and part["hovertemplate"].replace(label(title), label(one))
    if not exact:
        cells = traces[0]
        largest = cells["zmax"]
        # Symmetric about 127, so that zero has a colour of its own.
        cells["z"] = np.rint(np.clip(np.asarray(values) / largest, -1, 1) * 127 + 127).astype(np.uint8)
        cells["zmin"], cells["zmax"] = 0, 254
        cells["colorbar"] |= {"tickvals": [0, 127, 254], "ticktext": [f"−{largest:.3g}", "0", f"{largest:.3g}"]}
        cells["hovertemplate"] = cells["hovertemplate"].replace("%{z:.4f}", "")
    return figure_of(traces, layout)


def _named(series: Mapping[str, np.ndarray], names: Axis, value_title: str, font_size: int) -> dict:
    """The layout of a figure with names from left to right, a value upwards, and a legend above."""
    places = len(next(iter(series.values())))
    return {
        "xaxis": _side(names, places, font_size) | {"range": [-0.6, places - 0.4]},
        "yaxis": {"title": {"text": label(value_title)}, "zeroline": True, "automargin": True},
        "showlegend": True,
        "legend": LEGEND,
    } | look(int(330 * font_size / 12), font_size)


def grouped_bars(
    series: Mapping[str, np.ndarray],
    names: Axis,
    value_title: str,
    colours: Sequence[str],
    *,
    stacked: bool = False,
    value_range: tuple[float, float] | None = None,
    font_size: int = 12,
) -> go.Figure:
    """For each place, one upright bar of every series, side by side or on top of each other."""
    traces = [
        dict(
            type="bar",
            x=np.arange(len(values), dtype=np.float32),
            y=np.asarray(values, dtype=np.float32),
            name=label(title),
            marker={"color": colour},
            unselected={"marker": {"opacity": 1}},
            hovertemplate=f"<b>%{{x}}</b><br>{label(title)} %{{y:.4g}}<extra></extra>",
        )
        for (title, values), colour in zip(series.items(), colours, strict=True)
    ]
    layout = _named(series, names, value_title, font_size)
    if value_range:
        layout["yaxis"]["range"] = value_range
    return figure_of(traces, layout | {"barmode": "stack" if stacked else "group", "bargap": 0.25})


def spreads(
    series: Mapping[str, np.ndarray], names: Axis, value_title: str, colours: Sequence[str], font_size: int = 12
) -> go.Figure:
    """For each row of each table (row, value) a box: its middle half, its median, and whiskers from 5 % to 95 %."""
    traces = []
    for (title, values), colour in zip(series.items(), colours, strict=True):
        low, q1, median, q3, high = np.quantile(values, [0.05, 0.25, 0.5, 0.75, 0.95], axis=1).astype(np.float32)
        box = {"lowerfence": low, "q1": q1, "median": median, "q3": q3, "upperfence": high}
        places = np.arange(len(values), dtype=np.float32)
        traces.append(
            dict(type="box", x=places, **box, name=label(title), marker={"color": colour}, line={"width": 1.5})
        )
    return figure_of(traces, _named(series, names, value_title, font_size) | {"boxmode": "group"})


def outlines(
    series: Mapping[str, np.ndarray],
    value_title: str,
    count_title: str,
    colours: Sequence[str],
    *,
    bins: int = 32,
    font_size: int = 12,
) -> go.Figure:
    """Histograms of several sets of values over the same bins, each as an outline, so that they may overlap."""
    edges = np.histogram_bin_edges(np.concatenate([np.ravel(values) for values in series.values()]), bins)
    middles = ((edges[:-1] + edges[1:]) / 2).astype(np.float32)
    traces = [
        dict(
            type="scatter",
            x=middles,
            y=np.histogram(values, edges)[0].astype(np.float32),
            mode="lines",
            line={"shape": "hvh", "color": colour, "width": 2},
            fill="tozeroy",
            fillcolor=f"rgba({int(colour[1:3], 16)}, {int(colour[3:5], 16)}, {int(colour[5:7], 16)}, 0.12)",
            name=label(title),
            hovertemplate=f"{label(title)}<br>%{{x:.2f}}: %{{y}}<extra></extra>",
        )
        for (title, values), colour in zip(series.items(), colours, strict=True)
    ]
    layout = {
        "xaxis": {"title": {"text": label(value_title)}, "zeroline": True, "automargin": True},
        "yaxis": {"title": {"text": label(count_title)}, "rangemode": "tozero", "automargin": True},
        "showlegend": True,
        "legend": LEGEND,
    }
    return figure_of(traces, layout | look(int(330 * font_size / 12), font_size))


def activation_curve(
    curve: tuple[np.ndarray, np.ndarray],
    points: tuple[np.ndarray, np.ndarray],
    chosen: int,
    titles: tuple[str, str, str],
    font_size: int = 12,
) -> go.Figure:
    """An activation function, one point on it for each neuron, the chosen one large; below, how many lie where.

    curve, points: (before, after) each. titles: of "before", of "after", and of one neuron.
    """
    before, after, neuron = (label(title) for title in titles)
    x, y = (np.asarray(values, dtype=np.float32) for values in points)
    numbers = np.arange(1, len(x) + 1, dtype=np.uint16)
    hover = f"{neuron} %{{customdata}}<br>{before} %{{x:.4f}}<br>{after} %{{y:.4f}}<extra></extra>"
    dots = {"color": AFTER, "size": 5, "opacity": 0.45}
    large = {"color": ACCENT, "size": 13, "line": {"color": "white", "width": 2}}
    one = slice(chosen, chosen + 1)
    counts, edges = np.histogram(x, 40)
    middles = ((edges[:-1] + edges[1:]) / 2).astype(np.float32)
    traces = [
        dict(
            type="scatter",
            x=curve[0].astype(np.float32),
            y=curve[1].astype(np.float32),
            mode="lines",
            line={"color": BEFORE, "width": 2},
            hoverinfo="skip",
        ),
        dict(type="scatter", x=x, y=y, customdata=numbers, mode="markers", marker=dots, hovertemplate=hover),
        dict(
            type="scatter",
            x=x[one],
            y=y[one],
            customdata=numbers[one],
            mode="markers",
            marker=large,
            hovertemplate=hover,
        ),
        dict(
            type="bar",
            x=middles,
            y=counts.astype(np.float32),
            marker={"color": AFTER},
            yaxis="y2",
            hovertemplate="%{x:.2f}: %{y}<extra></extra>",
        ),
    ]
    layout = {
        "showlegend": False,
        "bargap": 0.05,
        "xaxis": {"title": {"text": before}, "anchor": "y2", "zeroline": True, "automargin": True},
        "yaxis": {"title": {"text": after}, "domain": [0.3, 1], "zeroline": True, "automargin": True},
        "yaxis2": {"domain": [0, 0.2], "showticklabels": False, "showgrid": False},
    }
    return figure_of(traces, layout | look(int(400 * font_size / 12), font_size))


#: The lowest of 255 colours is kept for the gaps between tiles: bytes have no NaN.
_STEPS = 254


def tiles(
    values: np.ndarray,
    rows: Axis,
    columns: Axis,
    *,
    scale: str = "share",
    limit: float | None = None,
    chosen: tuple[int, int] | None = None,
    hover: Sequence[str] = (),
    font_size: int = 12,
    height: int | None = None,
) -> go.Figure:
    """Many matrices side by side as one picture: values (row, column, n, m), a tile for each row and column.

    One stitched heatmap of bytes, since a subplot for each tile would cost a hundred times as much. A tile is one unit
    wide and high, so that a click, like a tick, says which tile and not which cell. scale, limit: as in `heatmap`.
    chosen: outlined. hover: a line for each tile, row by row.
    """
    values = np.asarray(values, dtype=np.float32)
    finer = -(-16 // max(values.shape[2:]))  # small matrices in finer cells, so that the gaps stay narrow
    values = values.repeat(finer, axis=2).repeat(finer, axis=3)
    n_rows, n_columns, n, m = values.shape
    largest = limit or (1.0 if scale == "share" else float(np.abs(values).max(initial=0.0))) or 1.0
    low = -largest if scale == "signed" else 0.0
    shares = np.clip((values - low) / (largest - low), 0, 1)
    gap_y, gap_x = max(1, n // 16), max(1, m // 16)
    sheet = np.zeros((n_rows, n + gap_y, n_columns, m + gap_x), dtype=np.uint8)
    sheet[:, :n, :, :m] = 1 + np.rint(shares * _STEPS).transpose(0, 2, 1, 3)
    sheet = sheet.reshape(n_rows * (n + gap_y), n_columns * (m + gap_x))[:-gap_y, :-gap_x]
    dx, dy = 1 / (m + gap_x), 1 / (n + gap_y)
    cells = dict(
        type="heatmap",
        z=sheet,
        x0=-0.5 + dx * (gap_x + 1) / 2,
        dx=dx,
        y0=-0.5 + dy * (gap_y + 1) / 2,
        dy=dy,
        zmin=0,
        zmax=_STEPS + 1,
        colorscale=_with_gap(SIGNED if scale == "signed" else SHARES),
        hoverinfo="skip",
        colorbar={
            "orientation": "h",
            "x": 1.0,
            "xanchor": "right",
            "y": 1.0,
            "yanchor": "bottom",
            "len": 0.3,
            "thickness": 7,
            "outlinewidth": 0,
            "ypad": 4,
            "tickfont": {"size": font_size - 2},
            "tickvals": [1, 1 + _STEPS / 2, 1 + _STEPS],
            "ticktext": [f"{value:g}".replace("-", "−") for value in (low, (low + largest) / 2, largest)],
        },
    )
    y, x = np.mgrid[0:n_rows, 0:n_columns].astype(np.float32)
    places = dict(
        type="scatter",
        x=x.ravel(),
        y=y.ravel(),
        text=[label(line) for line in hover],
        mode="markers",
        marker={"size": 6, "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        showlegend=False,
        hovertemplate="%{text}<extra></extra>",
    )
    layout: dict = {
        "xaxis": _side(columns, n_columns, font_size) | {"range": [-0.52, n_columns - 0.48]},
        "yaxis": _side(rows, n_rows, font_size) | {"range": [n_rows - 0.48, -0.52]},
    }
    if chosen is not None:
        row, column = chosen
        corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        layout["shapes"] = [{"type": "rect", **corners, "line": {"color": ACCENT, "width": 3}}]
    if height is None:
        height = int(min(620, (66 + n_rows * 68) * font_size / 12))
    return figure_of([cells, places], layout | look(height, font_size))


def _with_gap(colorscale: Sequence[Sequence]) -> list[list]:
    """A colour scale for bytes: 0 is see-through, 1 to 255 run through the colours."""
    size = _STEPS + 1
    clear = "rgba(0,0,0,0)"
    half = 0.5 / size
    coloured = [[(1 + place * _STEPS) / size, colour] for place, colour in colorscale]
    return [[0.0, clear], [half, clear], [half, colorscale[0][1]], *coloured]


def paths(
    points: np.ndarray,
    names: Sequence[str],
    steps: Axis,
    titles: tuple[str, str],
    *,
    chosen: int = 0,
    font_size: int = 12,
    height: int = 460,
) -> go.Figure:
    """The way of each token through the layers: points (step, token, 2), a line for each token, the chosen one bold.

    steps: what the colour counts, with a name for each step.
    """
    n_steps, n = points.shape[:2]
    points = np.asarray(points, dtype=np.float32)
    broken = np.concatenate([points, np.full((1, n, 2), np.nan, np.float32)]).transpose(1, 0, 2).reshape(-1, 2)
    shown = list(range(n)) if n <= 20 else [chosen]
    traces = [
        dict(
            type="scatter",
            x=broken[:, 0],
            y=broken[:, 1],
            mode="lines",
            line={"color": "rgba(128,128,128,0.35)", "width": 1},
        ),
        dict(
            type="scatter",
            x=points[..., 0].ravel(),
            y=points[..., 1].ravel(),
            mode="markers",
            marker={
                "color": np.repeat(np.arange(n_steps, dtype=np.uint8), n),
                "colorscale": SHARES,
                "size": 6,
                "line": {"width": 0.5, "color": "rgba(128,128,128,0.8)"},
                "colorbar": _legend_bar(steps),
            },
            text=[f"<b>{label(name)}</b> · {label(step)}" for step in steps.labels for name in names],
            hovertemplate="%{text}<extra></extra>",
        ),
        dict(
            type="scatter",
            x=points[:, chosen, 0],
            y=points[:, chosen, 1],
            mode="lines+markers",
            line={"color": ACCENT, "width": 3},
            marker={"size": 8},
            hoverinfo="skip",
        ),
        dict(
            type="scatter",
            x=points[-1, shown, 0],
            y=points[-1, shown, 1],
            mode="text",
            text=[f"<b>{label(names[i])}</b>" if i == chosen else label(names[i]) for i in shown],
            textposition="top center",
            hoverinfo="skip",
        ),
    ]
    return figure_of(traces, _plain_axes(titles) | look(height, font_size))


def _plain_axes(titles: tuple[str, str]) -> dict:
    x, y = ({"title": {"text": label(title)}, "zeroline": False, "automargin": True} for title in titles)
    return {"xaxis": x, "yaxis": y, "showlegend": False}


def _legend_bar(steps: Axis) -> dict:
    """A colour bar that names whole numbers: 0, 1, …"""
    return {
        "title": {"text": label(steps.title), "side": "right"},
        "thickness": 8,
        "outlinewidth": 0,
        "tickvals": list(range(len(steps.labels))),
        "ticktext": [label(text) for text in steps.labels],
    }


def scatter(
    x: np.ndarray,
    y: np.ndarray,
    titles: tuple[str, str],
    groups: np.ndarray,
    legend: Axis,
    hover: Sequence[str],
    *,
    names: Sequence[str] | None = None,
    chosen: int | None = None,
    font_size: int = 12,
    height: int = 420,
) -> go.Figure:
    """Points coloured by group (0, 1, …; `legend` names them). names: a text at each point. chosen: ringed."""
    x, y = np.asarray(x, dtype=np.float32), np.asarray(y, dtype=np.float32)
    traces = [
        dict(
            type="scatter",
            x=x,
            y=y,
            mode="markers+text" if names else "markers",
            text=[label(name) for name in names] if names else None,
            textposition="top center",
            customdata=[label(line) for line in hover],
            hovertemplate="%{customdata}<extra></extra>",
            marker={
                "color": np.asarray(groups, dtype=np.uint8),
                "colorscale": SHARES,
                "cmin": 0,
                "cmax": max(len(legend.labels) - 1, 1),
                "size": 11,
                "line": {"width": 1, "color": "rgba(128,128,128,0.8)"},
                "colorbar": _legend_bar(legend),
            },
        )
    ]
    if chosen is not None:
        ring = {"size": 20, "color": "rgba(0,0,0,0)", "line": {"color": ACCENT, "width": 3}}
        traces.append(dict(type="scatter", x=x[[chosen]], y=y[[chosen]], mode="markers", marker=ring, hoverinfo="skip"))
    return figure_of(traces, _plain_axes(titles) | look(height, font_size))


def worded(values: np.ndarray, words: Sequence[Sequence[str]], rows: Axis, columns: Axis, **options) -> go.Figure:
    """A heatmap of shares with a word and its share in each cell. options: as for `heatmap`."""
    traces, layout = heatmap_parts(values, rows, columns, scale="share", square=False, **options)
    traces[0] |= {
        "text": [[label(word) for word in row] for row in words],
        "texttemplate": "%{text}<br>%{z:.2f}",
        "hovertemplate": "<b>%{text}</b><br>%{z:.4f}<extra></extra>",
    }
    return figure_of(traces, layout)


def side_by_side(
    values: np.ndarray, rows: Axis, columns: Axis, width: int, *, chosen: int | None = None, font_size: int = 12
) -> go.Figure:
    """A heatmap of blocks, each `width` columns wide and named by `columns`, with lines between. chosen: outlined."""
    traces, layout = heatmap_parts(values, rows, Axis(columns.title), square=False, font_size=font_size)
    edges = [i * width - 0.5 for i in range(len(columns.labels) + 1)]
    whole = {"yref": "paper", "y0": 0, "y1": 1}
    grey, accent = {"color": "#808080", "width": 1}, {"color": ACCENT, "width": 3}
    shapes = [{"type": "line", "x0": edge, "x1": edge, **whole, "line": grey} for edge in edges[1:-1]]
    if chosen is not None:
        shapes.append({"type": "rect", "x0": edges[chosen], "x1": edges[chosen + 1], **whole, "line": accent})
    layout["shapes"] = shapes
    layout["xaxis"] |= {
        "tickvals": [edge + width / 2 for edge in edges[:-1]],
        "ticktext": [label(text) for text in columns.labels],
    }
    return figure_of(traces, layout)


def lines(
    values: np.ndarray,
    names: Sequence[str],
    steps: Axis,
    value_title: str,
    *,
    font_size: int = 12,
    height: int = 320,
) -> go.Figure:
    """One line for each name: values (name, step). Dashes and colours tell them apart."""
    styles = ((ACCENT, "solid"), ("#7F7F7F", "dash"), ("#8C6D31", "dot"), ("#4C9BB8", "dashdot"))
    places = np.arange(values.shape[1], dtype=np.float32)
    traces = [
        dict(
            type="scatter",
            x=places,
            y=row,
            name=label(name),
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate="%{y:.3f}<extra>%{fullData.name}</extra>",
        )
        for name, row, (colour, dash) in zip(names, np.asarray(values, dtype=np.float32), styles, strict=False)
    ]
    layout = {
        "xaxis": _side(steps, values.shape[1], font_size),
        "yaxis": {"title": {"text": label(value_title)}, "rangemode": "tozero", "automargin": True},
        "showlegend": True,
        "legend": LEGEND,
    }
    return figure_of(traces, layout | look(height, font_size))


@dataclass(frozen=True)
class Thumbnail:
    """A small heatmap: title (Plotly markup), values (row, column), names of the rows, and a scale as `heatmap` has."""

    title: str
    values: np.ndarray
    rows: Sequence[str] = ()
    scale: str = "signed"
    colour: str | None = None  # of the title


def thumbnails(grid: Sequence[Sequence[Thumbnail]], *, font_size: int = 12, row_height: int = 118) -> go.Figure:
    """Many small heatmaps in one figure, line by line, each with a colour range of its own; at most a dozen.

    Written as plain data: Plotly's make_subplots takes seven times as long.
    """
    row_height = round(row_height * font_size / 12)
    height = row_height * len(grid)
    gap, head = 0.03, 1.9 * font_size / height
    data, layout, titles = [], {}, []
    for line, pictures in enumerate(grid):
        top, bottom = 1 - line / len(grid) - head, 1 - (line + 1) / len(grid) + 6 / height
        for place, picture in enumerate(pictures):
            name = str(len(data) + 1) if data else ""
            values = np.asarray(picture.values, dtype=np.float32)
            largest = float(np.abs(values).max(initial=0.0)) or 1.0
            left, right = place / len(pictures) + (gap / 2 if place else 0), (place + 1) / len(pictures)
            right -= gap / 2 if place + 1 < len(pictures) else 0
            data.append(
                {
                    "type": "heatmap",
                    "z": values,
                    "zmin": -largest if picture.scale == "signed" else 0.0,
                    "zmax": 1.0 if picture.scale == "share" else largest,
                    "colorscale": SIGNED if picture.scale == "signed" else SHARES,
                    "showscale": False,
                    "xaxis": f"x{name}",
                    "yaxis": f"y{name}",
                    "hovertemplate": "<b>%{y}</b> · %{x}<br>%{z:.4f}<extra></extra>",
                }
            )
            side = {"showticklabels": False, "showgrid": False, "zeroline": False, "ticks": ""}
            layout[f"xaxis{name}"] = side | {"domain": [left, right], "anchor": f"y{name}"}
            layout[f"yaxis{name}"] = side | {
                "domain": [bottom, top],
                "anchor": f"x{name}",
                "range": [len(values) - 0.5, -0.5],
                "tickmode": "array",
                "tickvals": list(range(len(picture.rows))),
                "ticktext": [label(text) for text in picture.rows],
            }
            titles.append(
                {
                    "text": picture.title,
                    "x": left,
                    "y": top,
                    "xref": "paper",
                    "yref": "paper",
                    "xanchor": "left",
                    "yanchor": "bottom",
                    "showarrow": False,
                    "font": {"size": font_size} | ({"color": picture.colour} if picture.colour else {}),
                }
            )
    return figure_of(data, layout | {"annotations": titles} | look(height, font_size))


def waves(
    table: np.ndarray,
    dimensions: Sequence[int],
    places: Axis,
    value_title: str,
    *,
    used: int | None = None,
    chosen: tuple[int, int] | None = None,
    font_size: int = 12,
    height: int = 340,
) -> go.Figure:
    """Up to six columns of a table (place, dimension) as lines over the places, counted from 0.

    used: how many places the input takes; a band marks them. chosen: (place, dimension), ringed on its line.
    """
    table = np.asarray(table, dtype=np.float32)
    steps = np.arange(len(table), dtype=np.float32)
    colours = ("#0072B2", "#E69F00", "#8C6D31", "#009E73", "#7F7F7F", ACCENT)
    dashes = ("solid", "dash", "dot", "dashdot", "solid", "solid")
    traces = [
        dict(
            type="scatter",
            x=steps,
            y=table[:, dimension],
            name=f"j = {dimension}",
            mode="lines" if len(table) > 1 else "markers",
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate=f"{label(places.title)} <b>%{{x}}</b>, j = {dimension}: %{{y:.4f}}<extra></extra>",
        )
        for dimension, colour, dash in zip(dimensions, colours, dashes, strict=False)
    ]
    if chosen is not None:
        ring = {"size": 15, "color": "rgba(0,0,0,0)", "line": {"color": ACCENT, "width": 3}}
        place = {"x": steps[[chosen[0]]], "y": table[chosen][None]}
        traces.append(dict(type="scatter", **place, mode="markers", marker=ring, showlegend=False, hoverinfo="skip"))
    band = {"type": "rect", "x0": -0.5, "x1": (used or 0) - 0.5, "yref": "paper", "y0": 0, "y1": 1}
    band |= {"fillcolor": "#7F7F7F", "opacity": 0.12, "line": {"width": 0}, "layer": "below"}
    layout = {
        "xaxis": {"title": {"text": label(places.title)}, "zeroline": False, "automargin": True},
        "yaxis": {"title": {"text": label(value_title)}, "automargin": True},
        "shapes": [band] if used and used < len(table) else [],
        "showlegend": True,
        "legend": LEGEND,
    }
    return figure_of(traces, layout | look(height, font_size))


def queries_and_keys(
    queries: np.ndarray,
    keys: np.ndarray,
    names: Sequence[str],
    legend: tuple[str, str],
    titles: tuple[str, str],
    mode: str,
    *,
    link: tuple[int, int] | None = None,
    font_size: int = 12,
    height: int = 560,
) -> go.Figure:
    """Queries (blue circles) and keys (orange diamonds) as points of one plane, (token, 2) each, with equal units.

    link: a query and a key to join with a line. Where there are many tokens only those two are named; the others in
    the hover.
    """
    few = len(names) <= 24
    traces = []
    if link is not None:
        ends = np.stack([queries[link[0]], keys[link[1]]]).astype(np.float32)
        line = {"color": ACCENT, "width": 3}
        traces.append(
            dict(
                type="scatter", x=ends[:, 0], y=ends[:, 1], mode="lines", line=line, hoverinfo="skip", showlegend=False
            )
        )
    sides = (("Q", queries, "circle", "top center"), ("K", keys, "diamond", "bottom center"))
    for side, (role, points, symbol, where) in enumerate(sides):
        points, colour = np.asarray(points, dtype=np.float32), ROLE_COLOURS[mode][role]
        linked = None if link is None else link[side]
        traces.append(
            dict(
                type="scatter",
                x=points[:, 0],
                y=points[:, 1],
                name=label(legend[side]),
                mode="markers+text",
                text=[label(name) if few or i == linked else "" for i, name in enumerate(names)],
                textposition=where,
                textfont={"color": colour, "size": font_size},
                marker={"color": colour, "symbol": symbol, "size": 10},
                customdata=[label(name) for name in names],
                hovertemplate=f"{label(legend[side])}: <b>%{{customdata}}</b><extra></extra>",
                cliponaxis=False,
            )
        )
    layout = _plain_axes(titles)
    layout["yaxis"]["scaleanchor"] = "x"
    return figure_of(traces, layout | {"showlegend": True, "legend": LEGEND} | look(height, font_size))


#: A drawing is white ink on black in either theme, as on the pad; under a veil of weights the ink is dimmed.
INK = [[0.0, "#000000"], [1.0, "#ffffff"]]
DIMMED_INK = [[0.0, "#000000"], [1.0, "#9a9a9a"]]
#: Weights laid over a drawing, in the colour of the keys: nothing at 0, nearly opaque at the largest.
VEIL = [[0.0, "rgba(240,160,48,0)"], [1.0, "rgba(240,160,48,0.92)"]]


def _bytes(shares: np.ndarray) -> np.ndarray:
    """Shares from 0 to 1 as bytes: a quarter of the size, and no eye sees the difference."""
    return np.rint(np.clip(shares, 0, 1) * 255).astype(np.uint8)


def drawing(
    values: np.ndarray,
    *,
    cut: int | None = None,
    box: tuple[int, int, int, int] | None = None,
    cross: tuple[float, float] | None = None,
    font_size: int = 12,
    height: int = 240,
) -> go.Figure:
    """A grey picture (row, column) in [0, 1] with square pixels, ink bright.

    cut: lines every `cut` pixels, and the patches' rows and columns named r1 … and c1 …. box: (top, left, bottom,
    right), outlined. cross: two lines through a place (row, column).
    """
    n_rows, n_columns = values.shape
    pixels = dict(
        type="heatmap",
        z=_bytes(values),
        zmin=0,
        zmax=255,
        colorscale=INK,
        showscale=False,
        hovertemplate="%{y}, %{x}<extra></extra>",
    )
    lines: list[dict] = []
    line = {"color": ROLE_COLOURS["dark"]["K"], "width": 1}

    def along(row: float | None, column: float | None) -> dict:
        """A line over the whole width or height."""
        x = (-0.5, n_columns - 0.5) if column is None else (column, column)
        y = (-0.5, n_rows - 0.5) if row is None else (row, row)
        return {"type": "line", "x0": x[0], "x1": x[1], "y0": y[0], "y1": y[1], "line": line}

    side = {"showgrid": False, "zeroline": False, "ticks": "", "showticklabels": False, "constrain": "domain"}
    rows = side | {"range": [n_rows - 0.5, -0.5], "scaleanchor": "x"}
    columns = side | {"range": [-0.5, n_columns - 0.5]}
    if cut:
        lines += [along(place - 0.5, None) for place in range(cut, n_rows, cut)]
        lines += [along(None, place - 0.5) for place in range(cut, n_columns, cut)]
        for axis, letter, n in ((rows, "r", n_rows), (columns, "c", n_columns)):
            names = [f"{letter}{i + 1}" for i in range(n // cut)]
            middles = [(i + 0.5) * cut - 0.5 for i in range(n // cut)]
            axis |= {"showticklabels": True, "tickmode": "array", "tickvals": middles, "ticktext": names}
            axis |= {"tickfont": {"size": font_size - 2}}
    if cross is not None:
        lines += [along(cross[0], None), along(None, cross[1])]
    if box is not None:
        top, left, bottom, right = box
        corners = {"x0": left - 0.5, "x1": right - 0.5, "y0": top - 0.5, "y1": bottom - 0.5}
        lines.append({"type": "rect", **corners, "line": line | {"width": 2}})
    layout = {"xaxis": columns, "yaxis": rows, "shapes": lines}
    return figure_of(pixels, layout | look(int(height * font_size / 12), font_size))


def _weight_bar(largest: float, font_size: int) -> dict:
    return {
        "orientation": "h",
        "x": 1.0,
        "xanchor": "right",
        "y": 1.0,
        "yanchor": "bottom",
        "len": 0.4,
        "thickness": 7,
        "outlinewidth": 0,
        "bgcolor": "#000000",
        "ypad": 4,
        "tickfont": {"size": font_size - 2, "color": "#ffffff"},
        "tickvals": [0.0, largest],
        "ticktext": ["0", f"{largest:.2g}"],
    }


def over_drawing(
    picture: np.ndarray,
    weights: np.ndarray,
    tokens: Sequence[str],
    query: int,
    title: str,
    *,
    font_size: int = 12,
    height: int = 420,
) -> go.Figure:
    """One row of attention weights laid over the drawing that its patches were cut from.

    picture: (side, side) in [0, 1]. weights: (token,), the first on [CLS], which stands at the left, outside the
    drawing. tokens: their names. query: the token that looks, outlined in the colour of the queries. title: of the
    weights. A click on the patch in row r, column c reports (r, c), on [CLS] (0, -2).
    """
    side = round((len(weights) - 1) ** 0.5)
    size = len(picture) // side
    weights = np.asarray(weights, dtype=np.float32)
    ink = dict(
        type="heatmap",
        z=_bytes(picture),
        x0=-0.5 + 0.5 / size,
        dx=1 / size,
        y0=-0.5 + 0.5 / size,
        dy=1 / size,
        zmin=0,
        zmax=255,
        colorscale=DIMMED_INK,
        showscale=False,
        hoverinfo="skip",
    )
    sheet = np.full((side, side + 2), np.nan, dtype=np.float32)
    sheet[:, 2:] = weights[1:].reshape(side, side)
    sheet[0, 0] = weights[0]
    largest = float(weights.max()) or 1.0
    veil = dict(
        type="heatmap",
        z=sheet,
        x0=-2,
        dx=1,
        zmin=0.0,
        zmax=largest,
        colorscale=VEIL,
        xgap=1,
        ygap=1,
        hoverinfo="skip",
        colorbar=_weight_bar(largest, font_size),
    )
    places = np.mgrid[0:side, 0:side]
    y, x = (np.concatenate([[first], grid.ravel()]) for first, grid in zip((0, -2), places, strict=True))
    marks = dict(
        type="scatter",
        x=x.astype(np.float32),
        y=y.astype(np.float32),
        customdata=weights,
        text=[label(token) for token in tokens],
        mode="markers",
        marker={"size": 6, "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        showlegend=False,
        hovertemplate=f"<b>%{{text}}</b><br>{label(title)} %{{customdata:.4f}}<extra></extra>",
    )
    place = {"x0": x[query] - 0.5, "x1": x[query] + 0.5, "y0": y[query] - 0.5, "y1": y[query] + 0.5}
    ground = {"type": "rect", "x0": -2.5, "x1": -1.5, "y0": -0.5, "y1": 0.5, "fillcolor": "#000000"}
    plain_side = {"showgrid": False, "zeroline": False, "ticks": "", "tickmode": "array", "constrain": "domain"}
    layout = {
        "xaxis": plain_side
        | {
            "range": [-2.55, side - 0.45],
            "tickvals": [-2, *range(side)],
            "ticktext": [label(tokens[0]), *(f"c{i + 1}" for i in range(side))],
        },
        "yaxis": plain_side
        | {
            "range": [side - 0.45, -0.55],
            "scaleanchor": "x",
            "tickvals": list(range(side)),
            "ticktext": [f"r{i + 1}" for i in range(side)],
        },
        "shapes": [
            ground | {"layer": "below", "line": {"width": 0}},
            {"type": "rect", **place, "line": {"color": ROLE_COLOURS["dark"]["Q"], "width": 3}},
        ],
    }
    return figure_of([ink, veil, marks], layout | look(int(height * font_size / 12), font_size))


def over_drawings(
    picture: np.ndarray,
    weights: np.ndarray,
    rows: Axis,
    columns: Axis,
    *,
    chosen: tuple[int, int] | None = None,
    hover: Sequence[str] = (),
    font_size: int = 12,
    height: int | None = None,
) -> go.Figure:
    """The same drawing many times, each under weights of its own: weights (row, column, patches down, patches across).

    Two stitched heatmaps in which a copy is one unit wide and high, so that a click says which. All share one scale.
    chosen: outlined. hover: a line for each copy, row by row.
    """
    weights = np.asarray(weights, dtype=np.float32)
    n_rows, n_columns, side, _ = weights.shape
    pixels = len(picture)
    gap = pixels // 14  # of the picture's pixels, between two copies
    unit = pixels + gap
    copies = np.zeros((n_rows, unit, n_columns, unit), dtype=np.uint8)
    # 0 is kept for the gap, which is see-through.
    copies[:, :pixels, :, :pixels] = (1 + np.rint(np.clip(picture, 0, 1) * _STEPS))[None, :, None, :]
    copies = copies.reshape(n_rows * unit, n_columns * unit)[:-gap, :-gap]
    start = -0.5 + (gap + 1) / (2 * unit)
    ink = dict(
        type="heatmap",
        z=copies,
        x0=start,
        dx=1 / unit,
        y0=start,
        dy=1 / unit,
        zmin=0,
        zmax=_STEPS + 1,
        colorscale=_with_gap(DIMMED_INK),
        showscale=False,
        hoverinfo="skip",
    )
    sheet = np.full((n_rows, side + 1, n_columns, side + 1), np.nan, dtype=np.float32)
    sheet[:, :side, :, :side] = weights.transpose(0, 2, 1, 3)
    sheet = sheet.reshape(n_rows * (side + 1), n_columns * (side + 1))[:-1, :-1]
    within = np.arange(side + 1) * (pixels / side) / unit  # the edges of the patches in a copy

    def edges(copies: int) -> np.ndarray:
        return (np.arange(copies)[:, None] - 0.5 + gap / (2 * unit) + within).ravel()

    largest = float(weights.max(initial=0.0)) or 1.0
    veil = dict(
        type="heatmap",
        z=sheet,
        x=edges(n_columns),
        y=edges(n_rows),
        zmin=0.0,
        zmax=largest,
        colorscale=VEIL,
        hoverinfo="skip",
        colorbar=_weight_bar(largest, font_size),
    )
    y, x = np.mgrid[0:n_rows, 0:n_columns].astype(np.float32)
    places = dict(
        type="scatter",
        x=x.ravel(),
        y=y.ravel(),
        text=[label(line) for line in hover],
        mode="markers",
        marker={"size": 6, "opacity": 0},
        selected={"marker": {"opacity": 0}},
        unselected={"marker": {"opacity": 0}},
        showlegend=False,
        hovertemplate="%{text}<extra></extra>",
    )
    layout: dict = {
        "xaxis": _side(columns, n_columns, font_size) | {"range": [-0.52, n_columns - 0.48], "constrain": "domain"},
        "yaxis": _side(rows, n_rows, font_size)
        | {"range": [n_rows - 0.48, -0.52], "scaleanchor": "x", "constrain": "domain"},
    }
    if chosen is not None:
        row, column = chosen
        corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
        layout["shapes"] = [{"type": "rect", **corners, "line": {"color": ACCENT, "width": 3}}]
    for side_of in (layout["xaxis"], layout["yaxis"]):
        side_of["showticklabels"] = "ticktext" in side_of
    if height is None:
        height = int(min(640, 70 + n_rows * 110))
    return figure_of([ink, veil, places], layout | look(int(height * font_size / 12), font_size))
