"""Drawings: their code in links, the ten examples, and drawings made from picture files and photos."""

import base64
import io
import math
import zlib
from collections.abc import Callable
from functools import cache, lru_cache
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numpy as np
from PIL import Image, ImageOps
from pillow_heif import register_heif_opener

from model.digits import SMALLEST_SIDE, DigitError, Steps
from model.digits import grey as grey_of
from model.digits import steps as steps_of
from model.errors import ReasonedError
from model.photos import ink_of_photo, is_photo
from model.unpacking import MOST_READ, MOST_UNPACKED, bytes_to_read

register_heif_opener()

SIDE = 112  # a drawing is 112 × 112 places of four greys: four times finer than the network's input
MOST_SCANS = 100  # an ordinary file has at most a dozen
MOST_PIXELS = 50_000_000  # of a file: the largest that phones take
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "HEIF")
SHRUNK = 1000  # pixels: no digit needs more
LEAST_CONTRAST = 0.02  # as a share of white
Seen = TypeVar("Seen")
_one_at_a_time = Lock()  # unpacked, a large photo takes hundreds of megabytes


class DrawingError(ReasonedError):
    """A drawing that cannot be read: `reason` is "code", "file" or "large"."""


def pack(drawing: np.ndarray) -> bytes:
    """(112, 112) values 0 to 3 -> 3136 bytes, four places in each, row by row."""
    places = drawing.reshape(-1, 4).astype(np.uint8)
    return (places[:, 0] | places[:, 1] << 2 | places[:, 2] << 4 | places[:, 3] << 6).tobytes()


def unpack(packed: bytes) -> np.ndarray:
    """The reverse of `pack`. Raises DrawingError for anything but 3136 bytes."""
    if len(packed) != SIDE * SIDE // 4:
        raise DrawingError("code")
    places = np.frombuffer(packed, np.uint8)
    return np.stack([places >> shift & 3 for shift in (0, 2, 4, 6)], axis=1).reshape(SIDE, SIDE)


def to_code(packed: bytes) -> str:
    """The code of a drawing, or of other bytes, in a link."""
    return base64.urlsafe_b64encode(zlib.compress(packed, 9)).decode().rstrip("=")


def from_code(code: str) -> bytes:
    """The packed drawing of a code. Raises DrawingError for a damaged code; never unpacks more than a drawing."""
    packed = bytes_of(code, SIDE * SIDE // 4 + 1)
    unpack(packed)
    return packed


def bytes_of(code: str, most: int) -> bytes:
    """The bytes of a code, at most `most`. Raises DrawingError for a damaged code."""
    try:
        return zlib.decompressobj().decompress(base64.urlsafe_b64decode(code + "=" * (-len(code) % 4)), most)
    except (ValueError, zlib.error) as error:
        raise DrawingError("code") from error


def grey(packed: bytes) -> np.ndarray:
    """A packed drawing as a picture: (112, 112) floats in [0, 1], ink bright."""
    return unpack(packed).astype(np.float32) / 3


@lru_cache(maxsize=64)
def steps(packed: bytes) -> Steps:
    """Every picture from a drawing to the network's input. Raises DigitError where there is no digit."""
    return steps_of(grey(packed))


def ink(packed: bytes) -> bytes:
    """The network's input: the prepared 28 × 28 picture as bytes. Raises DigitError where there is no digit."""
    return (steps(packed).centred * 255).round().astype(np.uint8).tobytes()


def from_picture(picture: np.ndarray) -> bytes:
    """A grey picture in [0, 1] (ink bright) -> a packed drawing that fills the pad."""
    scaled = Image.fromarray((picture * 255).astype(np.uint8)).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
    return pack((np.asarray(scaled, dtype=np.float32) / 255 * 3).round())


def framed(ink: np.ndarray) -> np.ndarray:
    """The ink's box (height, width) in the middle of a square with room round it, as on the pad."""
    side = int(1.4 * max(ink.shape)) + 2
    square = np.zeros((side, side), np.float32)
    top, left = ((side - length) // 2 for length in ink.shape)
    square[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
    return square


def from_file(content: bytes) -> bytes:
    """An uploaded picture or photo -> a packed drawing of its ink. Raises DrawingError or DigitError."""
    pixels = grey_of(opened(content, in_grey))
    if min(pixels.shape) < SMALLEST_SIDE:
        raise DigitError("too_small", shape=pixels.shape)
    if np.ptp(pixels) < LEAST_CONTRAST:
        raise DigitError("blank")  # all paper or all ink
    if is_photo(pixels):
        pixels = ink_of_photo(pixels)
    return from_picture(framed(steps_of(pixels).cropped))


def opened(content: bytes, prepare: Callable[[Image.Image], Seen]) -> Seen:
    """`prepare` of the (first) picture in a PNG, JPEG, WebP, GIF or HEIC file.

    Raises DrawingError. The file's head tells the size, so too large a picture is never unpacked.
    """
    scans = content.count(b"\xff\xda") if content.startswith(b"\xff\xd8") else 0  # each scan of a JPEG costs a pass
    if len(content) > MOST_READ or scans > MOST_SCANS:
        raise DrawingError("large")
    try:
        with _one_at_a_time, Image.open(io.BytesIO(content), formats=FORMATS) as picture:
            if math.prod(picture.size) > MOST_PIXELS or bytes_to_read(picture, content, SHRUNK) > MOST_UNPACKED:
                raise DrawingError("large")
            return prepare(picture)
    except DrawingError:
        raise
    except Image.DecompressionBombError as error:
        raise DrawingError("large") from error
    except Exception as error:  # readers raise nearly anything for damaged files
        raise DrawingError("file") from error


def in_grey(picture: Image.Image) -> np.ndarray:
    """An opened picture in grey, upright, on white, at most SHRUNK pixels a side: uint8; or uint16, in full size."""
    if picture.mode.startswith("I"):  # 16 bits of grey, which Pillow would clip at 255
        return np.asarray(ImageOps.exif_transpose(picture)).astype(np.uint16)
    return np.asarray(upright(picture, SHRUNK).convert("L"))


def upright(picture: Image.Image, most: int) -> Image.Image:
    """An opened picture, turned upright, on white where transparent, at most `most` pixels a side."""
    if picture.mode.startswith("I"):
        sixteen = np.asarray(picture).clip(0, 2**16 - 1)
        picture = Image.fromarray((sixteen >> 8).astype(np.uint8))
    picture.draft("RGB", (most, most))  # a JPEG need not be unpacked whole
    clear = picture.has_transparency_data
    if picture.mode not in ("L", "RGB", "RGBA"):
        picture = picture.convert("RGBA" if clear else "RGB")
    picture.thumbnail((most, most), Image.Resampling.BOX)
    picture = ImageOps.exif_transpose(picture)
    if clear:
        picture = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", picture.size, "white"), picture)
    return picture


@cache
def example_digits() -> np.ndarray:
    """Ten handwritten digits, 0 to 9, from MNIST's test set: (10, 28, 28) bytes, ink bright."""
    with Image.open(Path(__file__).parent / "example_digits.png") as picture:
        return np.asarray(picture).reshape(28, 10, 28).transpose(1, 0, 2)


@cache
def example(which: int = 5) -> bytes:
    """One of the example digits as a packed drawing."""
    return from_picture(example_digits()[which] / 255)
