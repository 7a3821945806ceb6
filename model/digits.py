"""Convert any grey picture of a digit to 28×28 pixels, by the procedure that made MNIST.

LeCun et al. (1998), "Gradient-based learning applied to document recognition", section III.A: the ink is scaled,
with its proportions and with antialiasing, to fit a 20×20 box, and then moved so that its centre of mass lies
in the middle of a 28×28 field.
"""

import math
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn import functional

from model.errors import ReasonedError

SIZE = 28
BOX = 20  # the ink's longest side
MIDDLE = 14  # in MNIST the centre of mass rounds to the pixel of row 14, column 14
REDUCED_SIDE = 1000  # larger pictures are averaged down first, so that memory stays bounded
WHITE_SHARE = 0.2  # of the ink in MNIST's pictures has full brightness
FAINTEST = 0.05  # of the darkest ink; anything fainter is not ink
SMALLEST_SIDE = 4  # pixels: no digit can be read from fewer

Picture = NDArray[np.float32]


class DigitError(ReasonedError):
    """A picture that shows no digit.

    `reason` is one of "not_an_image", "blank", "all_ink", "too_small", "noise"; `values` holds the measurements.
    """


@dataclass(frozen=True, eq=False)
class Steps:
    """The intermediate pictures, each float32 in [0, 1] with bright ink."""

    raw: Picture  # as drawn, (height, width); large pictures averaged down
    cropped: Picture  # the ink's box
    scaled: Picture  # its longest side 20 px
    centred: Picture  # (28, 28): the centre of mass in the middle


def prepare(image: object) -> Picture:
    """Any grey picture (height, width), uint8 or float, light on dark or dark on light -> (28, 28), ink bright.

    Raises DigitError when there is no digit in it.
    """
    return steps(image).centred


def steps(image: object) -> Steps:
    """`prepare` with every intermediate picture."""
    raw = ink(grey(image))
    cropped = crop(raw)
    scaled = scale(cropped)
    check_strokes(cropped, scaled)
    return Steps(raw, cropped, scaled, centre(scaled))


def grey(image: object) -> Picture:
    """Check a picture, reduce it to about `REDUCED_SIDE` pixels a side at most, and scale values to [0, 1]."""
    try:
        pixels = np.asarray(image)
    except (TypeError, ValueError) as error:
        raise DigitError("not_an_image", type=type(image).__name__) from error
    if pixels.dtype.kind not in "buif" or pixels.ndim != 2 or 0 in pixels.shape:
        raise DigitError("not_an_image", shape=pixels.shape, dtype=str(pixels.dtype))
    # White is the largest value of an unsigned integer type; for other types 1, or the brightest pixel if above 1.
    white = np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else max(1, pixels.max())
    step = -(-max(pixels.shape) // REDUCED_SIDE)
    height, width = pixels.shape[0] // step, pixels.shape[1] // step
    if min(height, width) == 0:
        raise DigitError("too_small", shape=pixels.shape)
    blocks = pixels[: height * step, : width * step].reshape(height, step, width, step)
    with np.errstate(invalid="ignore", over="ignore"):
        reduced = blocks.mean((1, 3), dtype=np.float32)
    if not np.isfinite(reduced).all():
        raise DigitError("not_an_image", finite=False)
    return (reduced / np.float32(white)).clip(0, 1)


def ink(picture: Picture) -> Picture:
    """Scale to 0 for the background, 1 for the strongest ink, whichever of the two is dark.

    The background is the majority of the border; if the border is divided, of the whole picture.
    """
    low, high = float(picture.min()), float(picture.max())
    if high - low < 0.02:
        raise DigitError("blank" if high < 0.5 else "all_ink", darkest=low, brightest=high)
    border = np.concatenate([picture[0], picture[-1], picture[1:-1, 0], picture[1:-1, -1]])
    bright = float((border > (low + high) / 2).mean())
    if 0.35 < bright < 0.65:
        bright = float((picture > (low + high) / 2).mean())
    background_is_bright = bright > 0.5
    if background_is_bright:
        picture, border = 1 - picture, 1 - border
        low, high = 1 - high, 1 - low

    paper = border[border <= (low + high) / 2]
    if not paper.size:
        raise DigitError("all_ink", background=0.0)
    level = float(np.median(paper))
    # A photographed sheet is unevenly lit; variation along its edge is not ink. On a clean sheet this changes nothing.
    unevenness = float(np.quantile(np.abs(paper - level), 0.9))
    faintest = max(FAINTEST, min(4 * unevenness / (high - level), 0.5))
    strength = (picture - level) / (high - level)
    return np.where(strength < faintest, 0, strength).astype(np.float32)


def crop(picture: Picture) -> Picture:
    """The smallest box that holds all ink."""
    rows, columns = np.flatnonzero(picture.any(1)), np.flatnonzero(picture.any(0))
    box = picture[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    if max(box.shape) < SMALLEST_SIDE:
        raise DigitError("too_small", height=box.shape[0], width=box.shape[1])
    return box


def scale(picture: Picture) -> Picture:
    """Scale the longest side to 20 px with antialiasing, and the ink to MNIST's brightness, even for a thin pen."""
    longest = max(picture.shape)
    size = [max(1, round(BOX * side / longest)) for side in picture.shape]
    tensor = torch.from_numpy(picture)[None, None]
    small = functional.interpolate(tensor, size, mode="bilinear", antialias=True)[0, 0].numpy()
    small = small / small.max()
    white = np.quantile(small[small >= FAINTEST], 1 - WHITE_SHARE)
    return (small / np.float32(white)).clip(0, 1)


def check_strokes(cropped: Picture, scaled: Picture) -> None:
    """Raises DigitError where the ink is one filled patch, such as a dot, or scattered everywhere.

    All 60 000 training images of MNIST stay within the bounds.
    """
    filled = float(scaled.mean())  # share of the ink's box; a disc fills 0.79
    covered = float((scaled > 0.15).mean())
    # A solid shape without bays has the outline of its box, along rows and columns; antialiased corners shorten it.
    outline = edges(scaled) / (2 * sum(scaled.shape))
    roughness = edges(cropped) / float(cropped.sum())
    scraps = islands(scaled > 0.25)
    measured = {"filled": filled, "covered": covered, "outline": outline, "roughness": roughness, "islands": scraps}
    if scraps > 5 or outline > 2.7 or (roughness > 2.5 and (covered > 0.55 or scraps > 3)):
        raise DigitError("noise", **measured)
    if min(scaled.shape) >= 0.7 * BOX and (filled > 0.8 or (filled > 0.5 and outline < 0.97)):
        raise DigitError("all_ink", **measured)


def edges(picture: Picture) -> float:
    """Sum of absolute differences between neighbouring pixels, along rows and columns."""
    padded = np.pad(picture, 1)
    return float(np.abs(np.diff(padded, axis=0)).sum() + np.abs(np.diff(padded, axis=1)).sum())


def islands(mask: NDArray[np.bool_]) -> int:
    """Number of connected pieces of ink."""
    return int(pieces(mask).max())


def hold_ink(patches: NDArray[np.floating]) -> NDArray[np.bool_]:
    """Which patches (…, pixel) of a prepared picture hold ink, a pixel of FAINTEST or more: (…) booleans."""
    return patches.max(axis=-1) >= FAINTEST


def stand_apart(picture: Picture) -> bool:
    """Whether an empty column splits the ink into two parts, the shorter at least half as high as the taller.

    Two digits written side by side nearly always do so, one digit almost never.
    """
    inked = picture > 0.25
    for column in np.flatnonzero(~inked.any(0)):
        lower, higher = sorted(int(part.any(1).sum()) for part in (inked[:, :column], inked[:, column:]))
        if 0 < higher <= 2 * lower:
            return True
    return False


def pieces(mask: NDArray[np.bool_]) -> NDArray[np.int64]:
    """For each pixel, the number of its connected piece of ink, from 1; 0 without ink. Diagonal neighbours touch."""
    inked = np.pad(mask, 1)  # so that neighbours do not wrap around the border
    here, width = np.flatnonzero(inked), inked.shape[1]
    touching = np.concatenate([[here, here + step] for step in (1, width - 1, width, width + 1)], axis=1)
    touching = touching[:, inked.ravel()[touching[1]]]
    name = np.arange(inked.size)  # of each pixel's piece: finally, the largest index in it
    while touching.size:
        lower, higher = np.sort(name[touching], axis=0)
        np.maximum.at(name, lower, higher)
        while (name[name] != name).any():
            name = name[name]
        touching = touching[:, name[touching[0]] != name[touching[1]]]
    names = np.where(inked, name.reshape(inked.shape), 0)[1:-1, 1:-1]
    return np.searchsorted(np.union1d(names, [0]), names)


def centre(picture: Picture) -> Picture:
    """Place the ink in a 28×28 field with its centre of mass on the middle pixel, cutting nothing off."""
    field = np.zeros((SIZE, SIZE), np.float32)
    weight = picture.sum()
    corner = []
    for axis, side in enumerate(picture.shape):
        mass = picture.sum(1 - axis)
        mean = float((mass * np.arange(side)).sum() / weight)
        # A symmetric picture is half a pixel off either way: always take the upper left, despite rounding errors.
        place = math.ceil(MIDDLE - mean - 0.501)
        corner.append(min(max(place, 0), SIZE - side))
    top, left = corner
    field[top : top + picture.shape[0], left : left + picture.shape[1]] = picture
    return field
