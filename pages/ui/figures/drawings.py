"""Drawn digits, with attention laid over them."""

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.base import (
    ROLE_COLOURS,
    STEPS,
    TO_THE_NEAREST,
    UNSEEN,
    Axis,
    axis_layout,
    figure_of,
    label,
    look,
    outline,
    tile_markers,
    with_gap,
)
from pages.ui.figures.colours import dimmed, stitched, under
from pages.ui.numbers import written

#: A drawing is white ink on black in either theme, as on the pad; under a veil of weights the ink is dimmed.
INK = [[0.0, "#000000"], [1.0, "#ffffff"]]
DIMMED_INK = [[0.0, "#000000"], [1.0, "#9a9a9a"]]
#: Weights laid over a drawing, in the colour of the keys: nothing at 0, nearly opaque at the largest.
MOST_NUMBERED = 8  # rows and columns of patches at the edges of a picture
MOST_SMALL = 64  # pixels along one side of a copy in colour
VEIL = [[0.0, "rgba(240,160,48,0)"], [1.0, "rgba(240,160,48,0.92)"]]
#: The same for differences: blue for less, nothing at 0.
SIGNED_VEIL = [[0.0, "rgba(86,180,233,0.92)"], [0.5, "rgba(163,170,140,0)"], [1.0, "rgba(240,160,48,0.92)"]]


def as_bytes(shares: np.ndarray) -> np.ndarray:
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
        z=as_bytes(values),
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


def veiled(weights: np.ndarray, differs: bool, font_size: int) -> dict:
    """How weights, or differences of weights, are coloured over a drawing: from nothing at 0 to the largest."""
    largest = float(np.abs(weights).max(initial=0.0)) or 1.0
    low = -largest if differs else 0.0
    scale = {"zmin": low, "zmax": largest, "colorscale": SIGNED_VEIL if differs else VEIL, "hoverinfo": "skip"}
    return scale | {"colorbar": weight_bar(low, largest, font_size)}


def weight_bar(low: float, largest: float, font_size: int) -> dict:
    ends = [low, 0.0, largest] if low else [0.0, largest]
    return {
        "orientation": "h",
        "x": 0.0,
        "xanchor": "left",
        "y": 1.0,
        "yanchor": "bottom",
        "len": 0.4,
        "thickness": 7,
        "outlinewidth": 0,
        "bgcolor": "#000000",
        "ypad": 4,
        "xpad": 14,
        "title": {"side": "right"},  # above it, even no title takes a line
        "tickfont": {"size": font_size - 2, "color": "#ffffff"},
        "tickvals": ends,
        "ticktext": [written(f"{end:.2g}") for end in ends],
    }


def ground(picture: np.ndarray, side: int) -> tuple[list[dict], list[dict]]:
    """The traces, or the images, of a picture under weights for `side` patches along each side, a unit each."""
    if picture.ndim == 3:
        return [], [under(dimmed(picture), -0.5, -0.5, side, side)]
    size = len(picture) // side
    ink = dict(
        type="heatmap",
        z=as_bytes(picture),
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
    return [ink], []


def copied_ground(picture: np.ndarray, n_rows: int, n_columns: int, gap: int) -> tuple[list[dict], list[dict]]:
    """The same for many copies of a picture, each one unit wide and high, `gap` of its pixels apart."""
    if picture.ndim == 3:
        return [], [stitched(np.broadcast_to(dimmed(picture), (n_rows, n_columns, *picture.shape)))]
    pixels, unit = len(picture), len(picture) + gap
    copies = np.zeros((n_rows, unit, n_columns, unit), dtype=np.uint8)
    # 0 is kept for the gap, which is see-through.
    copies[:, :pixels, :, :pixels] = (1 + np.rint(np.clip(picture, 0, 1) * STEPS))[None, :, None, :]
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
        zmax=STEPS + 1,
        colorscale=with_gap(DIMMED_INK),
        showscale=False,
        hoverinfo="skip",
    )
    return [ink], []


def over_drawing(
    picture: np.ndarray,
    weights: np.ndarray,
    tokens: Sequence[str],
    query: int,
    title: str,
    *,
    differs: bool = False,
    font_size: int = 12,
    height: int = 420,
) -> go.Figure:
    """One row of attention weights laid over the picture that its patches were cut from.

    picture: (side, side) in [0, 1], or (side, side, 3) in colour. weights: (token,), the first on [CLS], which stands
    at the left, outside the picture; below it a distillation token, where there is one. tokens: their names. query: the
    token that looks, outlined in the colour of the queries. title: of the weights. differs: they are differences.
    A click on the patch in row r, column c reports (r, c), on [CLS] (0, -2), on the token below it (1, -2).
    """
    side = math.isqrt(len(weights) - 1)
    front = len(weights) - side**2
    weights = np.asarray(weights, dtype=np.float32)
    traces, images = ground(picture, side)
    sheet = np.full((side, side + 2), np.nan, dtype=np.float32)
    sheet[:, 2:] = weights[front:].reshape(side, side)
    sheet[:front, 0] = weights[:front]
    veil = dict(type="heatmap", z=sheet, x0=-2, dx=1, xgap=1, ygap=1, **veiled(weights, differs, font_size))
    places = np.mgrid[0:side, 0:side]
    in_front = np.arange(front), np.full(front, -2)
    y, x = (np.concatenate([first, grid.ravel()]) for first, grid in zip(in_front, places, strict=True))
    marks = dict(
        type="scatter",
        x=x.astype(np.float32),
        y=y.astype(np.float32),
        customdata=weights,
        text=[label(token) for token in tokens],
        hovertemplate=f"<b>%{{text}}</b><br>{label(title)} %{{customdata:.4f}}<extra></extra>",
        **UNSEEN,
    )
    place = {"x0": x[query] - 0.5, "x1": x[query] + 0.5, "y0": y[query] - 0.5, "y1": y[query] + 0.5}
    outside = {"type": "rect", "x0": -2.5, "x1": -1.5, "y0": -0.5, "y1": front - 0.5, "fillcolor": "#000000"}
    named = list(range(0, side, -(-side // MOST_NUMBERED)))
    plain_side = {"showgrid": False, "zeroline": False, "ticks": "", "tickmode": "array", "constrain": "domain"}
    layout = {
        "xaxis": plain_side
        | {
            "constraintoward": "left",
            "range": [-2.55, side - 0.45],
            "tickvals": [-2, *named],
            "ticktext": ["<br>".join(map(label, tokens[:front])), *(f"c{i + 1}" for i in named)],
        },
        "yaxis": plain_side
        | {
            "range": [side - 0.45, -0.55],
            "scaleanchor": "x",
            "tickvals": named,
            "ticktext": [f"r{i + 1}" for i in named],
        },
        "shapes": [
            outside | {"layer": "below", "line": {"width": 0}},
            {"type": "rect", **place, "line": {"color": ROLE_COLOURS["dark"]["Q"], "width": 3}},
        ],
    }
    layout["images"] = images
    return figure_of([*traces, veil, marks], layout | look(int(height * font_size / 12), font_size) | TO_THE_NEAREST)


def over_drawings(
    picture: np.ndarray,
    weights: np.ndarray,
    rows: Axis,
    columns: Axis,
    *,
    chosen: tuple[int, int] | None = None,
    hover: Sequence[str] = (),
    differs: bool = False,
    font_size: int = 12,
    height: int | None = None,
) -> go.Figure:
    """The same picture many times, each under weights of its own: weights (row, column, patches down, patches across).

    Two stitched heatmaps in which a copy is one unit wide and high, so that a click says which. All share one scale.
    chosen: outlined. hover: a line for each copy, row by row. differs: the weights are differences.
    """
    weights = np.asarray(weights, dtype=np.float32)
    n_rows, n_columns, side, _ = weights.shape
    if picture.ndim == 3:
        step = -(-len(picture) // MOST_SMALL)
        picture = picture[::step, ::step]
    pixels = len(picture)
    gap = max(1, pixels // 14)  # of the picture's pixels, between two copies
    unit = pixels + gap
    traces, images = copied_ground(picture, n_rows, n_columns, gap)
    sheet = np.full((n_rows, side + 1, n_columns, side + 1), np.nan, dtype=np.float32)
    sheet[:, :side, :, :side] = weights.transpose(0, 2, 1, 3)
    sheet = sheet.reshape(n_rows * (side + 1), n_columns * (side + 1))[:-1, :-1]
    within = np.arange(side + 1) * (pixels / side) / unit  # the edges of the patches in a copy

    def edges(copies: int) -> np.ndarray:
        return (np.arange(copies)[:, None] - 0.5 + gap / (2 * unit) + within).ravel()

    x, y = edges(n_columns), edges(n_rows)
    veil = dict(type="heatmap", z=sheet, x=x, y=y, **veiled(weights, differs, font_size))
    places = tile_markers(n_rows, n_columns, hover)
    layout: dict = {
        "xaxis": axis_layout(columns, n_columns, font_size)
        | {"range": [-0.52, n_columns - 0.48], "constrain": "domain", "constraintoward": "left"},
        "yaxis": axis_layout(rows, n_rows, font_size)
        | {"range": [n_rows - 0.48, -0.52], "scaleanchor": "x", "constrain": "domain"},
    }
    if chosen is not None:
        layout["shapes"] = [outline(*chosen)]
    for side_of in (layout["xaxis"], layout["yaxis"]):
        side_of["showticklabels"] = "ticktext" in side_of
    if height is None:
        height = int(min(640, 70 + n_rows * 110))
    layout["images"] = images
    return figure_of([*traces, veil, places], layout | look(int(height * font_size / 12), font_size) | TO_THE_NEAREST)
