"""Matrices as coloured cells: one, several side by side, and many stitched together."""

import math
from collections.abc import Callable, Sequence
from functools import reduce, wraps
from typing import NamedTuple, ParamSpec

import numpy as np

from pages.drawing.figures.base import (
    ACCENT,
    COVERED,
    LESS,
    MORE,
    MOST_CLICKABLE,
    MOST_NAMED,
    STEPS,
    TO_THE_NEAREST,
    Axis,
    Figure,
    at,
    axis_layout,
    colour_bar,
    colours_of,
    crossing,
    figure_of,
    frame,
    grid,
    ink_on,
    label,
    look,
    on_screen,
    one_sheet,
    question_marks,
    sign_colours,
    signed_colours,
    stroke,
    text_width,
    thinned,
    tile_layout,
    tile_markers,
    unseen,
    up_to,
    with_gap,
    words_at,
)
from pages.drawing.figures.theme import font_size, scaled
from pages.drawing.text.numbers import four_decimals, two, written

MOST_APART = 32  # rows or columns with gaps between their cells
GAP = 0.04  # share of a tile, before the next one
WORDS = 1.2  # font sizes: the room for a word below a tile
MOST_DRAWN = 512  # columns of a matrix beside others; of more columns, several share one
STRIP = 5.5  # font sizes: the height of the strip of sorted numbers
LARGE = 0.2  # share of the largest number; a cell from here on shows its number
SLANT = -45  # degrees, of names above a map
MOST_CELLS = 600_000  # of all tiles together: as many bytes
P = ParamSpec("P")


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
    line_colour: str | None = None,
    thin: bool = True,
    height: int | None = None,
    marked: Sequence[int] = (),
    corner: str | None = None,
) -> tuple[list[dict], dict]:
    """The traces and the layout of a `heatmap`, for callers that change them: a matrix as coloured cells, first row on
    top, with row and column names on the axes.

    scale: "signed" (two colours, symmetric about 0), "share" (0 to 1) or "positive" (0 to the largest).
    limit: the value of the strongest colour, for a range shared among pictures. cell: the one outlined.
    clickable: puts an invisible marker on each cell, since heatmaps report no clicks; above MOST_CLICKABLE cells, only
    on every second column (third, …), and the nearest marker answers.
    Places without names are counted from 1 in ticks, hovers and clicks.
    line_colour: of the axes, which otherwise have no line.
    thin: whether axes of named columns show at most about MOST_NAMED names; hovers show all.
    marked: columns with a ▼ above, whose cells all have markers.
    corner: a text at the upper left in place of both axis titles; columns are then named above, slanted.
    Infinite cells (hidden by a mask) stay blank.
    """
    values, thin = np.asarray(values, dtype=np.float32), thin and bool(columns.labels)
    finite = np.where(np.isfinite(values), values, np.nan)
    n_rows, n_columns = values.shape
    largest = limit or float(np.nanmax(np.abs(finite), initial=0.0)) or 1.0
    low, high = {"signed": (-largest, largest), "share": (0.0, limit or 1.0), "positive": (0.0, largest)}[scale]
    top, left = (0 if axis.labels else 1 for axis in (rows, columns))
    hover = f"{label(rows.title)} <b>%{{y}}</b><br>{label(columns.title)} <b>%{{x}}</b><br>"
    if scale == "signed":
        # Plotly itself would sometimes label only the zero.
        unit = 10.0 ** np.floor(np.log10(largest))
        named = float(np.floor(largest / unit) * unit)
        ends = {end: f"{end:g}" for end in (-named, 0, named)}
    else:  # always label the end: 0.15 must not look like 1
        ends = {0: "0", high: up_to(high, finite)}
    cells: dict = dict(
        type="heatmap",
        z=finite,
        x0=left,
        y0=top,
        zmin=low,
        zmax=high,
        colorscale=colours_of(scale),
        xgap=int(n_columns <= MOST_APART),
        ygap=int(n_rows <= MOST_APART),
        hoverinfo="skip" if clickable else None,
        hovertemplate=None if clickable else hover + "%{z:.4f}<extra></extra>",
        colorbar=colour_bar(ends),
    )
    traces: list = [cells]
    if marked:
        above = [(left + column, top - 0.5) for column in marked]
        sign = {"symbol": "triangle-down", "size": 9, "color": ACCENT}
        traces.append(at(above, "markers", marker=sign, hoverinfo="skip", cliponaxis=False, showlegend=False))
    if clickable:
        step = -(-n_rows * n_columns // MOST_CLICKABLE["square" if square else "wide"])
        asked = sorted({*range(0, n_columns, step), *marked})
        shown = {"customdata": finite[:, asked].ravel(), "hovertemplate": hover + "%{customdata:.4f}<extra></extra>"}
        traces.append(unseen(grid(n_rows, n_columns, top, left, asked), **shown))
    row, column = (thinned(n, at) for n, at in zip(values.shape, cell or (None, None), strict=True))
    layout: dict = {
        "xaxis": axis_layout(columns, n_columns, column if thin else None)
        | {"range": [left - 0.5, left + n_columns - 0.5]},
        "yaxis": axis_layout(rows, n_rows, row if thin else None) | {"range": [top + n_rows - 0.5, top - 0.5]},
    }
    if line_colour is not None:
        for side in layout.values():
            side |= {"showline": True, "linewidth": 3, "linecolor": line_colour}
    if thin and max(len(axis.labels) for axis in (rows, columns)) > MOST_NAMED:
        layout["meta"] = _say_all_names(
            traces[-1], rows, columns, values.shape, asked if clickable else range(n_columns)
        )
    if cell is not None and cell[0] < n_rows and cell[1] < n_columns:
        layout["shapes"] = crossing(*cell, n_rows, n_columns, top, left)
    if square and n_columns <= 3 * n_rows:
        layout["yaxis"] |= {"scaleanchor": "x", "constrain": "domain", "constraintoward": "top"}
        layout["xaxis"] |= {"constrain": "domain", "constraintoward": "left"}
    if corner is not None:
        _name_above(layout, corner)
    if height is None:
        height = on_screen(max(230, 90 + scaled(n_rows * (28 if square else 22))))
    return traces, layout | look(height) | (TO_THE_NEAREST if clickable else {})


def _whole(parts: Callable[P, tuple[list[dict], dict]]) -> Callable[P, Figure]:
    @wraps(parts)
    def figure(*of: P.args, **look: P.kwargs) -> Figure:
        return figure_of(*parts(*of, **look))

    return figure


heatmap = _whole(heatmap_parts)


def cover(figure: Figure, row: int, columns: Sequence[int], signs: Sequence[str], options: Sequence[int]) -> None:
    """Cover cells of a row of a `heatmap`: a frame round them, a question mark or sign in each. options: the number
    that a click on each column gives, −1 for none.
    """
    cells, *more = figure.data
    if more:  # the markers go: only options can be clicked
        cells |= {"hoverinfo": None, "hovertemplate": more[-1]["hovertemplate"].replace("customdata", "z")}
    top, left = cells["y0"], cells["x0"]
    points = [(left + column, top + row) for column in columns]
    figure.data = [cells, question_marks(points, [sign or COVERED for sign in signs] or [COVERED] * len(points))]
    # Off centre, or the browser would mark the name of the column in its middle as chosen.
    ends = top + row, left + columns[0], top + row, left + columns[-1] + 0.01
    figure.layout["shapes"] = [frame(*ends), *figure.layout.get("shapes", ())]
    if asked := [column for column, option in enumerate(options) if option >= 0]:
        names = [figure.layout["xaxis"]["ticktext"][column] for column in asked]
        places, numbers = [(left + column, top + row) for column in asked], [[options[column]] for column in asked]
        figure.data.append(unseen(places, customdata=numbers, text=names))
        figure.layout |= TO_THE_NEAREST


def _name_above(layout: dict, corner: str) -> None:
    """Move the names of a map's columns above it, slanted."""
    for side in (layout["xaxis"], layout["yaxis"]):
        side.pop("title", None)
        side["tickfont"] = {"size": max(font_size(), side.get("tickfont", {}).get("size", 0)) + 1}
    layout["xaxis"]["side"] = "top"
    if layout["xaxis"].pop("autotickangles", None):
        layout["xaxis"]["tickangle"] = SLANT
    words = {"text": label(corner).replace("\n", "<br>"), "align": "right", "showarrow": False}
    place = {"xref": "paper", "x": 0, "xanchor": "right", "xshift": -9, "yref": "paper", "y": 1, "yanchor": "bottom"}
    layout["annotations"] = [words | place | {"font": {"size": font_size()}, "opacity": 0.8, "borderpad": 0}]


def _say_all_names(trace: dict, rows: Axis, columns: Axis, shape: tuple[int, int], asked: Sequence[int]) -> dict:
    """Let hovers name each cell though the axes show only some names; return all names, for tables.

    trace: the cells, or the markers on the columns `asked`.
    """
    sides = zip(shape, (rows, columns), strict=True)
    names = [list(axis.labels) or [str(place + 1) for place in range(count)] for count, axis in sides]
    across = [f"{label(columns.title)} <b>{label(name)}</b><br>" for name in (names[1][place] for place in asked)]
    text = [[f"{label(rows.title)} <b>{label(name)}</b><br>{end}" for end in across] for name in names[0]]
    trace["text"] = [line for row in text for line in row] if trace["type"] == "scatter" else text
    if trace["hovertemplate"]:
        trace["hovertemplate"] = "%{text}" + trace["hovertemplate"].rpartition("<br>")[2]
    return {"rows": names[0], "columns": names[1]}


def ranked_bars(
    cells: np.ndarray,
    rows: Axis,
    columns: Axis,
    every: np.ndarray,
    titles: tuple[str, str],
    column: int,
    cell: tuple[int, int] | None,
) -> Figure:
    """All numbers, sorted, in a strip on top; below, some rows as bars, each beside its row of a map.

    cells: (row, column) of the map, the large ones with their numbers; the bars show one column of it. every: all
    numbers, sorted. titles: of the strip, and above the names of rows. cell: the one outlined. A click gives (row,
    column).
    """
    size, height = font_size(), on_screen(520)
    drawn, layout = heatmap_parts(
        cells, rows, columns, square=False, clickable=True, cell=cell, height=height, corner=titles[1]
    )
    known = np.nan_to_num(cells)
    own = known[:, column]
    low, high = min(0.0, float(own.min())), max(0.0, float(own.max()))
    room = 0.3 * (high - low or 1.0)  # for a number at the end of a bar
    colours = sign_colours(own)
    if cell:
        colours[cell[0]] = ACCENT
    bar = dict(
        type="bar",
        orientation="h",
        x=own,
        y=np.arange(len(own)),
        xaxis="x2",
        marker={"color": colours},
        unselected={"marker": {"opacity": 1}},
        text=[two(value) for value in own],
        textposition="outside",
        constraintext="none",
        cliponaxis=False,
        hoverinfo="skip",
    )
    # Invisible marks answer in place of the bars: the nearest mark may belong to another bar.
    answers = {"xaxis": "x2", "customdata": np.stack([bar["y"], np.full(len(own), column)], axis=1).astype(np.uint16)}
    told = [f"{label(name)}: {written(f'{value:.4f}')}" for name, value in zip(rows.labels, own, strict=True)]
    middles = np.stack([np.full(len(own), (low + high) / 2), bar["y"]], axis=1)
    drawn.append(unseen(middles, text=told, **answers))
    large = np.argwhere(np.abs(known) > LARGE * np.abs(known).max())
    if len(columns.labels) <= MOST_APART and len(large):
        texts = [written(f"{cells[row, at]:.1f}") for row, at in large]
        inks = [*map(ink_on, signed_colours(cells[tuple(large.T)]))]
        look = {"textfont": {"size": size - 1, "color": inks}, "meta": {"short": [""] * len(large)}}
        drawn.append(words_at(large[:, ::-1], texts, **look))
        layout["meta"] = layout.get("meta", {}) | {"roomy": round(2.6 * size * len(columns.labels))}
    places = np.arange(1, len(every) + 1)
    for part, colour in ((np.minimum(every, 0), LESS), (np.maximum(every, 0), MORE)):
        area = stroke(np.stack([places, part], axis=1), colour, 1, fill="tozeroy", fillcolor=colour)
        drawn.append(area | {"xaxis": "x3", "yaxis": "y2"})
    line = size / height  # of words, as a share of the height
    deep = 0.71 * (1 + max(map(text_width, columns.labels)))  # slanted names, or an upright [MASK] among Chinese
    low_end = 1 - (STRIP + 1 + 1.15 * deep) * line
    layout["yaxis"] |= {"domain": [0, low_end], "anchor": "x2"}
    layout["xaxis"] |= {"domain": [0.36, 1]}
    layout["annotations"][0] |= {"y": low_end}
    drawn[0]["colorbar"] |= {"x": 0.36}
    words = {"xref": "x3 domain", "x": 0.06, "xanchor": "left", "yref": "paper", "y": 1, "yanchor": "top"}
    words |= {"text": f"<b>{label(titles[0])}</b>", "showarrow": False, "font": {"size": size + 4}}
    layout["annotations"].append(words)
    hidden = {"visible": False}
    layout["xaxis2"] = hidden | {"domain": [0, 0.33], "range": [low - room * (low < 0), high + room * (high > 0)]}
    layout["xaxis3"] = hidden | {"domain": [0, 1], "range": [0, len(every)], "anchor": "y2"}
    layout["yaxis2"] = hidden | {"domain": [1 - STRIP * line, 1], "anchor": "x3"}
    figure = figure_of([*drawn, bar], layout | {"showlegend": False, "bargap": 0.25})
    figure.layout["margin"]["t"] = 8
    return figure.tell(fills=True, upright=560)


class Matrix(NamedTuple):
    """One of the matrices of `abreast`.

    limit: the value of its strongest colour. width: its share of the picture. column: the chosen one, from 0. symbol,
    title: Plotly markup above it. focus: whether it has a frame. digits: whether cells show numbers. framed: columns
    with a frame, from 0.
    """

    values: np.ndarray
    columns: Axis
    limit: float
    width: float = 1
    column: int | None = None
    scale: str = "signed"
    title: str = ""
    focus: bool = False
    symbol: str = ""
    digits: bool = False
    framed: range = range(0)


def abreast(matrices: Sequence[Matrix], rows: Axis, row: int | None, *, height: int) -> Figure:
    """Matrices side by side over the same rows, each with its own colours and its name above. row: the chosen one.

    A click gives (matrix, row, column), from 0.
    """
    drawn: list[dict] = []
    whole: dict = {"shapes": [], "annotations": []}
    left, gap = 0.0, 0.025
    widest = max(range(len(matrices)), key=lambda which: matrices[which].width)
    top = 0 if rows.labels else 1
    for which, one in enumerate(matrices):
        n_rows, n_columns = one.values.shape
        traces, layout = heatmap_parts(
            one.values,
            rows,
            one.columns,
            scale=one.scale,
            limit=one.limit,
            clickable=True,
            square=False,
            thin=False,
            height=height,
        )
        cells, markers = traces
        first = 0 if one.columns.labels else 1
        block = -(-n_columns // MOST_DRAWN)
        if block > 1:
            cells |= {"z": in_blocks(cells["z"], 1, block), "dx": block, "x0": first + (block - 1) / 2}
        i, j = (markers["y"] - top).astype(int), (markers["x"] - first).astype(int)
        markers["customdata"] = np.stack([np.full_like(i, which), i, j], axis=1).astype(np.uint16)
        markers["text"] = four_decimals(one.values[i, j])
        called = one.symbol or label(one.columns.title)
        markers["hovertemplate"] = f"%{{y}}<br>{called} <b>%{{x}}</b><br>%{{text}}<extra></extra>"
        axis = f"x{which + 1}" if which else "x"
        for trace in (cells, markers):
            trace["xaxis"] = axis
        if one.digits:
            cells |= {
                "text": [[two(value) for value in row] for row in one.values],
                "texttemplate": "%{text}",
            }
        share = one.width * (1 - gap * (len(matrices) - 1)) / sum(other.width for other in matrices)
        side = layout.pop("xaxis") | {"domain": [left, left + share], "anchor": "y"}
        side |= {"showticklabels": False, "automargin": False}
        side.pop("title", None)
        whole = layout | whole | {f"xaxis{axis[1:]}": side}
        cells["showscale"] = which == widest and one.scale == "signed"
        ends = {-one.limit: "−", 0.0: "0", one.limit: "+"}
        cells["colorbar"] = colour_bar(ends, x=left)
        whole["annotations"].append(_above(f"<i>{called}</i><br>{one.title}", left + share / 2))
        frames = []
        if one.focus:
            frames.append(frame(top, first, top + n_rows - 1, first + n_columns - 1, width=3))
        if one.framed:
            frames.append(frame(top, first + one.framed[0], top + n_rows - 1, first + one.framed[-1], width=2))
        if row is not None and one.column is not None:
            frames += crossing(row, one.column, n_rows, n_columns, top, first)
        elif row is not None:
            frames.append(frame(row + top, first, row + top, first + n_columns - 1, width=1.5))
        whole["shapes"] += [shape | {"xref": axis} for shape in frames]
        drawn += traces
        left += share + gap
    whole["yaxis"].pop("title", None)
    whole["margin"] = whole["margin"] | {"t": round(4.3 * font_size())}
    return figure_of(drawn, whole)


def _above(words: str, x: float) -> dict:
    """Words above a part of a picture."""
    place = {"xref": "paper", "x": x, "xanchor": "center", "yref": "paper", "y": 1, "yanchor": "bottom"}
    return {"text": words, "showarrow": False, "font": {"size": font_size() + 1}, **place}


def in_blocks(values: np.ndarray, down: int, across: int) -> np.ndarray:
    """(…, n, m) with one cell for each block of `down` × `across`: the value furthest from 0."""
    if down == across == 1:
        return values
    n, m = values.shape[-2:]
    sides = [(0, 0)] * (values.ndim - 2) + [(0, -n % down), (0, -m % across)]
    padded = np.pad(values, sides)

    def of_each(most: np.ufunc) -> np.ndarray:
        """Compare whole rows, then whole columns: faster than block by block."""
        rows = reduce(most, (padded[..., row::down, :] for row in range(down)))
        return reduce(most, (rows[..., column::across] for column in range(across)))

    high = of_each(np.maximum)
    if values.min(initial=0.0) >= 0:
        return high
    low = of_each(np.minimum)
    return np.where(high >= -low, high, low)


def block_of(shape: Sequence[int]) -> int:
    """How many rows and columns share a cell in `tiles`: 1, unless (row, column, n, m) is too large to send."""
    return math.ceil(math.sqrt(math.prod(shape) / MOST_CELLS))


def tiles(
    values: np.ndarray,
    rows: Axis,
    columns: Axis,
    *,
    scale: str = "share",
    limit: float | None = None,
    chosen: tuple[int, int] | None = None,
    hover: Sequence[str] = (),
    words: Sequence[str] = (),
    brief: Sequence[str] = (),
    height: int | None = None,
    least: int | None = None,
    square: bool = False,
    above: bool = False,
) -> Figure:
    """Many matrices as tiles of one picture: values (row, column, n, m).

    One stitched heatmap of bytes, a hundred times cheaper than subplots. A tile is one unit large, so a click gives the
    tile, not the cell. scale, limit: as in `heatmap`. chosen: the tile outlined. hover: a line for each tile, row by
    row; words: the same, written below the tiles, with room for them down to the `least` height; brief: shorter ones,
    where tiles are narrow. square: whether tiles are square. above: columns are named above, without axis titles. Very
    many cells are drawn in blocks, see `block_of`. NaN is transparent.
    """
    values = np.asarray(values, dtype=np.float32)
    values = in_blocks(values, *[block_of(values.shape)] * 2)
    n_rows, n_columns, n, m = values.shape
    largest = limit or (1.0 if scale == "share" else float(np.nanmax(np.abs(values), initial=0.0))) or 1.0
    low = -largest if scale == "signed" else 0.0
    shares = np.clip((values - low) / (largest - low), 0, 1)
    ends = {at: f"{low + at * (largest - low):.3g}" for at in (0, 0.5, 1)}
    if scale != "signed":
        ends[1] = up_to(largest, values)
    height = height or min(620, scaled(66 + n_rows * 68))
    size = font_size()
    share = (
        min(WORDS * size * n_rows / ((least or height) - 6 * font_size()), 0.4) if words else 0.0
    )  # of a tile with its word
    steps = np.where(np.isnan(shares), 0, 1 + np.rint(shares * STEPS)).astype(np.uint8)
    cells: dict = dict(
        type="heatmap",
        z=one_sheet(steps),
        x=_edges(n_columns, m, 1 - GAP),
        y=_edges(n_rows, n, 1 - GAP - share),
        dx=1,  # keeps Plotly from merging columns
        zmin=0,
        zmax=STEPS + 1,
        colorscale=with_gap(colours_of(scale)),
        hoverinfo="skip",
        colorbar=colour_bar({1 + STEPS * at: name for at, name in ends.items()}, title=None),
    )
    traces = [cells, tile_markers(n_rows, n_columns, hover)]
    if words:
        row, column = np.divmod(np.arange(len(words)), n_columns)
        foot = row + 0.5 - (share + GAP / 2) / 2
        below = {"textfont": {"size": size}, "cliponaxis": True, "showlegend": False}
        below |= {"meta": {"short": list(map(label, brief))}}
        traces.append(words_at(np.stack([column, foot], axis=1), list(map(label, words)), **below))
    layout = tile_layout(rows, columns, (n_rows, n_columns), chosen, height, square=square)
    if above:
        for side in (layout["xaxis"], layout["yaxis"]):
            side.pop("title", None)
        layout["xaxis"]["side"] = "top"
        layout["margin"] = layout["margin"] | {"t": round(2.2 * font_size())}
    return figure_of(traces, layout)


def _edges(tiles: int, cells: int, share: float) -> np.ndarray:
    """The edges of all tiles' cells along one side, (tile · (cell + 1),). share: of a tile; the gap takes the rest."""
    own = np.linspace(0, share, cells + 1) + (GAP - 1) / 2
    return (np.arange(tiles)[:, None] + own).ravel()
