"""Small attention maps on the buttons that choose a head."""

from base64 import b64encode
from io import BytesIO

import numpy as np
import streamlit as st
from PIL import Image

from model import Trace
from pages.drawing.cache import once_a_run
from pages.drawing.figures.base import SHARES
from pages.drawing.scales import weights_end

STOPS = [at for at, _ in SHARES]
#: 256 colours: (colour, RGB).
COLOURS = np.stack(
    [
        np.interp(np.linspace(0, 1, 256), STOPS, [int(colour[part : part + 2], 16) for _, colour in SHARES])
        for part in (1, 3, 5)
    ],
    axis=1,
).astype(np.uint8)
MOST = 32  # pixels a side: of more tokens, neighbours share a pixel, which shows the largest weight


def thumbnails(widget: str, run: Trace, layer: int) -> None:
    """Draw each head's weights on its button. widget: the key of the row of buttons."""
    kept = _kept(run)
    if layer not in kept:
        key = f"layers.{layer}.attention.weights"
        kept[layer] = [png(weights / weights_end(run, key)) for weights in run[key]]
    row = f".st-key-{widget.replace('.', '-')}"
    rules = (
        f"{row} button:nth-of-type({place}) p::before {{ background-image: url(data:image/png;base64,{picture}) }}"
        for place, picture in enumerate(kept[layer], 1)
    )
    st.html(f"<style>{''.join(rules)}</style>")


@once_a_run
def _kept(run: Trace) -> dict[int, list[str]]:
    return {}


def png(weights: np.ndarray) -> str:
    """A map as PNG in base64. weights: divided by the one with the brightest colour."""
    together = -(-len(weights) // MOST)
    side = -(-len(weights) // together)
    padded = np.zeros((side * together, side * together))
    padded[: len(weights), : len(weights)] = np.clip(weights, 0, 1)
    shades = padded.reshape(side, together, side, together).max((1, 3))
    picture = Image.fromarray(COLOURS[np.rint(shades * 255).astype(np.uint8)])
    file = BytesIO()
    picture.save(file, "png")
    return b64encode(file.getvalue()).decode()
