"""How a picture is prepared and cut into patches, and the numbers of the selected one."""

import math
from collections.abc import Mapping
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import ArrayLike

from model.digits import BOX, FAINTEST, MIDDLE, SIZE, hold_ink
from model.hugging_face.images import CheckpointImageReader
from pages.attention.overlay import pieces_of
from pages.ui.figures import Axis, Figure, colour_tiles, drawing, heatmap, tiles
from pages.ui.state import sketch
from pages.ui.state.link import select
from pages.ui.text import texts_of
from pages.ui.view import View, shape

SMALL = 300  # pixels: the height of a step
CHANNELS = ("red", "green", "blue")
text, word = texts_of("tokens")
#: A step of the preparation: its name, its picture, its values, and the numbers of its sentence.
Step = tuple[str, Figure, np.ndarray, Mapping[str, object]]


def patches(view: View) -> None:
    """From the picture to its patches, step by step, and the selected patch as a row of numbers."""
    steps = colour_steps(view) if in_colour(view) else drawing_steps(view)
    still = view.shows == "difference"
    columns = st.columns(len(steps) + 1)
    for column, (name, figure, values, numbers) in zip(columns, steps, strict=False):
        table = pd.DataFrame(values.reshape(len(values), -1))
        with column:
            view.picture(name, figure, text(f"read_{name}", **numbers), values=values, table=table, still=still)
    with columns[-1]:
        cut(view)
    numbers_of_one(view)
    if front := view.tokens[: view.config.tokens_in_front]:
        st.markdown(text("read_front", front=" ".join(front)))


def in_colour(view: View) -> bool:
    return view.seen is not None and view.seen.ndim == 3


def drawing_steps(view: View) -> list[Step]:
    """What was drawn, brought to the form of MNIST's digits."""
    steps = sketch.steps(view.choice.other_drawing if view.shows == "other" else view.choice.drawing)
    raw, cropped, image = steps.raw, steps.cropped, view.trace.picture
    assert image is not None  # a drawing
    top, left = np.flatnonzero(raw.any(1))[0], np.flatnonzero(raw.any(0))[0]
    box = (top, left, top + cropped.shape[0], left + cropped.shape[1])
    row, column = (float((image.sum(1 - axis) * np.arange(SIZE)).sum() / image.sum()) for axis in (0, 1))
    scaled = {"before": shape(cropped), "after": shape(steps.scaled), "box": BOX}
    return [
        ("raw", drawing(raw, box=box, height=SMALL), raw, {"share": f"{(raw > 0).mean():.0%}"}),
        ("scaled", drawing(steps.scaled, height=SMALL), steps.scaled, scaled),
        ("centred", drawing(image, cross=(row, column), height=SMALL), image, {"size": SIZE, "middle": MIDDLE}),
    ]


def colour_steps(view: View) -> list[Step]:
    """The three colours as the network reads them."""
    reader, picture = view.pipeline.reader, view.trace.picture
    assert isinstance(reader, CheckpointImageReader) and picture is not None
    numbers = {"mean": in_a_row(reader.mean), "deviation": in_a_row(reader.deviation)}
    figure = tiles(picture[None], Axis("", [""]), Axis("", channels(view)), scale="signed", height=SMALL)
    return [("colours", figure, picture, numbers)]


def channels(view: View) -> list[str]:
    return [word(channel) for channel in CHANNELS][: view.config.channels]


def in_a_row(values: ArrayLike) -> str:
    """A number for each channel: "0.485, 0.456, 0.406"."""
    return ", ".join(f"{value:.3g}" for value in np.atleast_1d(values))


def cut(view: View) -> None:
    """The patches of the picture, the selected one framed; a click selects another."""
    pixels, front, config = view.trace.patches, view.config.tokens_in_front, view.config
    assert pixels is not None  # a picture
    side, size = math.isqrt(len(pixels)), math.isqrt(pixels.shape[1] // config.channels)
    chosen = divmod(view.token - front, side) if view.token >= front and side > 1 else None
    draw, seen = colour_tiles, pieces_of(view) if in_colour(view) else None
    if seen is None:
        draw, seen = partial(tiles, square=True), pixels.reshape(-1, size, size)
    figure = draw(
        seen.reshape(side, side, *seen.shape[1:]),
        Axis.counted("", side),
        Axis.counted("", side),
        chosen=chosen,
        hover=view.tokens[front:],
        height=SMALL,
    )
    said = text("read_patches", patches=len(pixels), size=size)
    if not in_colour(view):
        said += " " + text("read_inked", inked=int(hold_ink(pixels).sum()), least=FAINTEST)
    view.picture(
        "patches",
        figure,
        said,
        values=pixels,
        table=pd.DataFrame(pixels, index=view.tokens[front:], columns=range(1, pixels.shape[1] + 1)),
        on_pick=(lambda row, column: select(token=front + row * side + column)) if side > 1 else None,
        still=view.shows == "difference",
    )


def numbers_of_one(view: View) -> None:
    """The numbers of the selected patch as they are read, of a picture in colour a row for each colour."""
    front = view.config.tokens_in_front
    if view.trace.patches is None or view.token < front:
        return
    values, name = view.trace.patches[view.token - front], view.tokens[view.token]
    colours = in_colour(view)
    axes = Axis("", channels(view) if colours else [name]), Axis(word("axis_pixel"))
    look = {"scale": "signed" if colours else "share", "square": False, "height": 170}
    figure = heatmap(values.reshape(view.config.channels, -1), *axes, **look)
    said = text("read_pixels", token=name, pixels=len(values))
    view.picture("pixels", figure, said, values=values[None], equation="p", still=view.shows == "difference")
