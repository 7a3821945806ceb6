"""Colour pictures in a figure: as a WebP file, not a number for each pixel."""

import base64
import io
from collections.abc import Sequence

import numpy as np
from PIL import Image

from pages.drawing.figures.base import Axis, Figure, figure_of, one_sheet, tile_layout, tile_markers
from pages.drawing.figures.theme import scaled

SHARPEST = 3  # times that small pictures are enlarged at most, so that pixels keep their edges
SMALL = 448  # pixels: the width below which a picture is small


def dimmed(picture: np.ndarray) -> np.ndarray:
    """The picture half grey and darker, so that weights over it stand out."""
    grey = picture.mean(axis=-1, keepdims=True)
    return 0.3 * picture + 0.25 * grey


def under(picture: np.ndarray, left: float, top: float, width: float, height: float) -> dict:
    """A picture (row, column, 3 or 4) in [0, 1] as the ground of a figure; place and size in units of the axes."""
    larger = min(SHARPEST, -(-SMALL // picture.shape[1]))
    pixels = np.rint(np.clip(picture, 0, 1) * 255).astype(np.uint8).repeat(larger, axis=0).repeat(larger, axis=1)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "WEBP", quality=85, method=2)
    return {
        "source": f"data:image/webp;base64,{base64.b64encode(file.getvalue()).decode()}",
        "xref": "x",
        "yref": "y",
        "x": left,
        "y": top,
        "sizex": width,
        "sizey": height,
        "sizing": "stretch",
        "layer": "below",
    }


def stitched(pictures: np.ndarray) -> dict:
    """Pictures (row, column, height, width, 3) as one ground, each one unit large, with gaps."""
    n_rows, n_columns, height, width, _ = pictures.shape
    gap_y, gap_x = max(1, height // 14), max(1, width // 14)
    opaque = np.ones((*pictures.shape[:-1], 1), np.float32)
    sheet = one_sheet(np.concatenate([pictures.astype(np.float32), opaque], axis=-1), gap_y, gap_x)
    left, top = -0.5 + gap_x / (2 * (width + gap_x)), -0.5 + gap_y / (2 * (height + gap_y))
    return under(sheet, left, top, n_columns - 1 - 2 * left, n_rows - 1 - 2 * top)


def colour_tiles(
    pictures: np.ndarray,
    rows: Axis,
    columns: Axis,
    *,
    chosen: tuple[int, int] | None = None,
    hover: Sequence[str] = (),
    height: int = 360,
) -> Figure:
    """Small pictures (row, column, height, width, 3) side by side; a click gives row and column.

    chosen: the one outlined. hover: a line for each, row by row.
    """
    n_rows, n_columns = pictures.shape[:2]
    layout = tile_layout(rows, columns, (n_rows, n_columns), chosen, scaled(height))
    return figure_of([tile_markers(n_rows, n_columns, hover)], layout | {"images": [stitched(pictures)]})
