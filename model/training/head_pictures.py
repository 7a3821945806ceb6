"""A picture of all heads at once, for the model card: who looks at whom, every layer and head, on a few sentences."""

from pathlib import Path

import numpy as np
from PIL import Image

from model.pipeline import Pipeline

TILE, GAP, MARGIN = 56, 4, 28  # pixels
NONE, ALL = np.array([246, 248, 252.0]), np.array([8, 48, 107.0])  # the colours of weights 0 and 1


def tile(weights: np.ndarray) -> np.ndarray:
    """One head's (query, key) as (TILE, TILE, 3): rows look at columns. Dark as the square root, so that 0.1 shows."""
    cells = np.arange(TILE) * len(weights) // TILE
    strength = np.sqrt(weights[np.ix_(cells, cells)])[..., None]
    return (NONE + strength * (ALL - NONE)).astype(np.uint8)


def grid(attention: np.ndarray) -> np.ndarray:
    """(layer, head, query, key): a row of tiles for each layer."""
    step = TILE + GAP
    picture = np.full((len(attention) * step - GAP, attention.shape[1] * step - GAP, 3), 255, np.uint8)
    for layer, heads in enumerate(attention):
        for head, weights in enumerate(heads):
            picture[layer * step : layer * step + TILE, head * step : head * step + TILE] = tile(weights)
    return picture


def draw_heads(pipeline: Pipeline, sentences: tuple[str, ...], path: Path) -> None:
    """Write one grid for each sentence, side by side."""
    grids = [grid(pipeline(sentence).over_layers("attention.weights")) for sentence in sentences]
    white = np.full((len(grids[0]), MARGIN, 3), 255, np.uint8)
    row = [part for one in grids for part in (white, one)][1:]
    Image.fromarray(np.concatenate(row, axis=1)).quantize(64).save(path, optimize=True)
