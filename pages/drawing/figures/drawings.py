"""Drawn digits, with attention laid over them."""

import math
from collections.abc import Sequence

import numpy as np

from pages.drawing.figures.base import (
    BARE,
    ROLE_COLOURS,
    SHARES,
    STEPS,
    TO_THE_NEAREST,
    Axis,
    Figure,
    colour_bar,
    figure_of,
    frame,
    grid,
    label,
    look,
    one_sheet,
    outline,
    patch_sides,
    rules,
    tile_layout,
    tile_markers,
    tint,
    unseen,
    up_to,
    with_gap,
)
from pages.drawing.figures.colours import dimmed, stitched, under
from pages.drawing.figures.theme import font_size, scaled

#: A drawing is white ink on black in both themes, as on the pad; under weights the ink is dimmed.
WHITE_INK = [[0.0, "#000000"], [1.0, "#ffffff"]]
DIMMED_INK = [[0.0, "#000000"], [1.0, "#9a9a9a"]]
#: Colours of weights over a drawing: the ends of the scale of weights, without the grey between, which looks like ink.
#: The larger a weight, the less of the drawing shines through.
VEIL = [[0.0, tint(SHARES[0][1], 0.55)], [1.0, tint(SHARES[-1][1], 0.92)]]
#: Differences over a drawing: blue for less, transparent at 0, orange for more.
SIGNED_VEIL = [
    [0.0, "rgba(86,180,233,0.92)"],
    [0.5, "rgba(163,170,140,0)"],
    [1.0, tint(ROLE_COLOURS["dark"]["K"], 0.92)],
]
MOST_SMALL = 64  # pixels a side of a copy in colour


def ink(pixels: np.ndarray, colorscale: list[list], start: float = 0.0, step: float = 1.0) -> dict:
    """Bytes (row, column) as a grey picture. start: the first pixel's centre; step: from pixel to pixel."""
    at = {"x0": start, "dx": step, "y0": start, "dy": step}
    scale = {"zmin": 0, "zmax": 255, "colorscale": colorscale, "showscale": False}
    return {"type": "heatmap", "z": pixels, **at, **scale, "hoverinfo": "skip"}


def as_bytes(shares: np.ndarray, most: int = 255) -> np.ndarray:
    """Shares from 0 to 1 as bytes: a quarter of the size, with no visible difference."""
    return np.rint(np.clip(shares, 0, 1) * most).astype(np.uint8)


def drawing(
    values: np.ndarray,
    *,
    cut: int | None = None,
    box: tuple[int, int, int, int] | None = None,
    cross: tuple[float, float] | None = None,
    height: int = 240,
) -> Figure:
    """A grey picture (row, column) in [0, 1] with square pixels, ink bright.

    cut: the side of a patch; lines part the patches, named r1 … and c1 …. box: (top, left, bottom, right), outlined.
    cross: (row, column), where two lines cross.
    """
    n_rows, n_columns = values.shape
    colour = ROLE_COLOURS["dark"]["K"]
    side = BARE | {"showticklabels": False, "constrain": "domain"}
    x, y = side | {"range": [-0.5, n_columns - 0.5]}, side | {"range": [n_rows - 0.5, -0.5], "scaleanchor": "x"}
    shapes: list[dict] = []
    if cut:
        x, y = patch_sides(n_rows // cut, cut, font_size() - 2)
        edges = [place - 0.5 for place in range(cut, n_rows, cut)]
        shapes += rules(edges, edges, values.shape, colour)
    if cross is not None:
        shapes += rules(cross[:1], cross[1:], values.shape, colour)
    if box is not None:
        top, left, bottom, right = box
        shapes.append(frame(top, left, bottom - 1, right - 1, colour, 2))
    pixels = ink(as_bytes(values), WHITE_INK) | {"hoverinfo": None, "hovertemplate": "%{y}, %{x}<extra></extra>"}
    layout = {"xaxis": x, "yaxis": y, "shapes": shapes}
    return figure_of(pixels, layout | look(scaled(height)))


def veiled(weights: np.ndarray, differs: bool, limit: float | None = None) -> tuple[dict, dict]:
    """The colours of weights, or of their differences, over a drawing; and an invisible trace whose colour bar shows
    these colours on black.

    limit: the value of the strongest colour, if not the largest.
    """
    largest = limit or float(np.abs(weights).max(initial=0.0)) or 1.0
    ends = {end: f"{end:.2g}" for end in ([-largest, 0.0, largest] if differs else [0.0, largest])}
    ends |= {} if differs else {largest: up_to(largest, weights)}
    veil, look = SIGNED_VEIL if differs else VEIL, {"zmin": min(ends), "zmax": largest, "hoverinfo": "skip"}
    opaque = [[at, _on_black(colour)] for at, colour in veil]
    key = {"type": "heatmap", "z": np.zeros((1, 1)), "opacity": 0, "colorscale": opaque, "colorbar": colour_bar(ends)}
    return look | {"colorscale": veil, "showscale": False}, look | key


def _on_black(colour: object) -> str:
    """A colour (rgba(…)) as it looks on black."""
    *parts, opacity = map(float, str(colour)[5:-1].split(","))
    return f"rgb{tuple(round(part * opacity) for part in parts)}"


def ground(picture: np.ndarray, side: int) -> tuple[list[dict], list[dict]]:
    """The traces and images of a picture below weights of side × side patches, one unit each."""
    if picture.ndim == 3:
        return [], [under(dimmed(picture), -0.5, -0.5, side, side)]
    size = len(picture) // side
    return [ink(as_bytes(picture), DIMMED_INK, -0.5 + 0.5 / size, 1 / size)], []


def copied_ground(picture: np.ndarray, n_rows: int, n_columns: int, gap: int) -> tuple[list[dict], list[dict]]:
    """The traces and images of many copies of a picture, each one unit large, `gap` of its pixels apart."""
    if picture.ndim == 3:
        return [], [stitched(np.broadcast_to(dimmed(picture), (n_rows, n_columns, *picture.shape)))]
    pixels, unit = len(picture), len(picture) + gap
    copies = np.broadcast_to(1 + as_bytes(picture, STEPS), (n_rows, n_columns, pixels, pixels))  # 0 is the gap
    return [ink(one_sheet(copies, gap, gap), with_gap(DIMMED_INK), -0.5 + (gap + 1) / (2 * unit), 1 / unit)], []


def over_drawing(
    picture: np.ndarray,
    weights: np.ndarray,
    tokens: Sequence[str],
    query: int,
    title: str,
    *,
    front: int = 1,
    differs: bool = False,
    limit: float | None = None,
    height: int = 420,
) -> Figure:
    """One row of attention weights over the picture.

    picture: (side, side) in [0, 1], or (side, side, 3) in colour. weights: (token,). The first `front` tokens are no
    patches; they stand left of the picture, one below another, in as many columns as needed. tokens: their names.
    query: the attending token, outlined in the colour of queries. title: of the weights. differs: the weights are
    differences. limit: the value of the strongest colour, if not the largest weight. A click on a patch gives (row,
    column); for other tokens see `token_at`.
    """
    side = math.isqrt(len(weights) - front)
    weights = np.asarray(weights, dtype=np.float32)
    traces, images = ground(picture, side)
    columns = -(-front // side)
    left = -columns - 1 if columns else 0
    sheet = np.full((side, side - left), np.nan, dtype=np.float32)
    sheet[:, -left:] = weights[front:].reshape(side, side)
    in_front = np.pad(weights[:front], (0, columns * side - front), constant_values=np.nan)
    sheet[:, :columns] = in_front.reshape(columns, side).T
    look_of_veil, key = veiled(weights, differs, limit)
    veil = dict(type="heatmap", z=sheet, x0=left, dx=1, xgap=1, ygap=1, **look_of_veil)
    outside = grid(columns, side)[:front, ::-1] + [left, 0]  # column by column
    places = np.concatenate([outside, grid(side, side)])
    marks = unseen(
        places,
        customdata=weights,
        text=[label(token) for token in tokens],
        hovertemplate=f"<b>%{{text}}</b><br>{label(title)} %{{customdata:.4f}}<extra></extra>",
    )
    column, row = places[query].tolist()
    dark = [
        {"type": "rect", "x0": x - 0.5, "x1": x + 0.5, "y0": y - 0.5, "y1": y + 0.5, "fillcolor": "#000000"}
        | {"layer": "below", "line": {"width": 0}}
        for x, y in outside.tolist()
    ]
    named = [*map(label, tokens[:front])]
    named = named if front < 3 else [named[0], "…", named[-1]]
    x, y = patch_sides(side, 1, font_size())
    x |= {"constraintoward": "left", "range": [left - 0.55, side - 0.45]}
    below = {
        "x": left - 0.5,
        "xanchor": "left",
        "y": min(front, side) - 0.5,
        "yanchor": "top",
        "showarrow": False,
        "text": "<br>".join(named),
    }
    layout = {
        "xaxis": x,
        "yaxis": y | {"range": [side - 0.45, -0.55], "side": "right" if front else "left"},
        "annotations": [below] * bool(front),
        "shapes": [*dark, outline(row, column, ROLE_COLOURS["dark"]["Q"])],
        "images": images,
    }
    return figure_of([*traces, key, veil, marks], layout | look(scaled(height)) | TO_THE_NEAREST)


def token_at(row: int, column: int, side: int, front: int) -> int:
    """The token that was clicked in `over_drawing`: a patch, or one of the `front` tokens outside."""
    if column >= 0:
        return front + row * side + column
    return min((column + 1 + -(-front // side)) * side + row, front - 1)


def over_drawings(
    picture: np.ndarray,
    weights: np.ndarray,
    rows: Axis,
    columns: Axis,
    *,
    chosen: tuple[int, int] | None = None,
    hover: Sequence[str] = (),
    differs: bool = False,
    limit: float | None = None,
    height: int = 500,
) -> Figure:
    """Copies of one picture, each under its own weights: (row, column, patches down, patches across).

    Two stitched heatmaps in which a copy is one unit large, so a click gives row and column. All share one scale.
    chosen: the copy outlined. hover: a line for each copy, row by row. differs: the weights are differences. limit: the
    value of the strongest colour, if not the largest weight.
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
    within = np.arange(side + 1) * (pixels / side) / unit  # the edges of the patches in a copy

    def edges(copies: int) -> np.ndarray:
        return (np.arange(copies)[:, None] - 0.5 + gap / (2 * unit) + within).ravel()

    look, key = veiled(weights, differs, limit)
    veil = dict(
        type="heatmap",
        z=one_sheet(weights, empty=np.nan),
        x=edges(n_columns),
        y=edges(n_rows),
        **look,
    )
    places = tile_markers(n_rows, n_columns, hover)
    layout = tile_layout(rows, columns, (n_rows, n_columns), chosen, scaled(height))
    for axis in (layout["xaxis"], layout["yaxis"]):
        axis["showticklabels"] = "ticktext" in axis
    return figure_of([*traces, veil, key, places], layout | {"images": images})
