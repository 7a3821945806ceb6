"""Colour pictures for encoders that read them: ready ones, the drawing on the pad, and visitors' files."""

import io
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from pages.drawing.state import sketch

#: Drawn for this project: a landscape with a few things to find, and a card of plain colours and stripes.
READY = ("scene", "card")
PAD, OWN = "drawing", "own"  # the drawing on the pad, black on white; the visitor's own file
PICTURES = (*READY, PAD, OWN)
MOST_SIDE = 768  # pixels of a kept picture: more than such an encoder reads


@cache
def ready(name: str) -> bytes:
    """One of the ready pictures, as a file's bytes."""
    return (Path(__file__).parent / f"{name}.webp").read_bytes()


@lru_cache(maxsize=64)
def of_drawing(packed: bytes) -> bytes:
    """The drawing on the pad, black on white, as a file's bytes."""
    return _file_of(Image.fromarray((255 - sketch.grey(packed) * 255).round().astype(np.uint8)))


def from_file(content: bytes) -> bytes:
    """An uploaded picture, upright, on white where transparent, at most 768 pixels a side: a PNG file's bytes.

    Raises DrawingError for a file that is too large or no picture.
    """
    return _file_of(sketch.opened(content, _in_colour))


def _in_colour(picture: Image.Image) -> Image.Image:
    return sketch.upright(picture, MOST_SIDE).convert("RGB")


def _file_of(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()
