"""Extract the ink from an unevenly lit photograph of pen on paper.

An adaptive threshold (Bradley and Roth 2007) compares ink with the paper around it. A large median filter estimates the
paper: it removes strokes and keeps the edges of shadows.
"""

import numpy as np
from PIL import Image, ImageFilter

from model.digits import DigitError, Picture, pieces

SIDE = 400  # pixels of the longer side: finer than any stroke that a network sees, coarser than a sensor's noise
COARSE = 128  # of the longer side, at which the paper is found
WINDOW = 39  # of the median: wider than two strokes
EVEN = 0.02  # of white; the border of a photograph varies more
LEAST_CONTRAST = 0.12  # between paper and strongest ink, relative to the paper
MOST_GRAIN = 0.2  # of the strongest ink: largest variation of the paper
LEAST = 0.4  # of the strongest ink; anything fainter is paper
SPECK = 0.04  # of the largest piece's ink; smaller pieces are dirt
KEPT = 0.6  # share of the ink that must remain without dirt


def is_photo(picture: Picture) -> bool:
    """Whether the border of a picture in [0, 1] is uneven, as in every photograph of paper."""
    border = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
    return float(np.quantile(np.abs(border - np.median(border)), 0.9)) > EVEN


def ink_of_photo(picture: Picture) -> Picture:
    """The ink on a photographed sheet or board: (height, width) in [0, 1], bright on 0, the longer side at most 400.

    Raises DigitError: "blank" or "noise" if no ink stands out, "too_small" if a side is below 12 pixels.
    """
    sheet = Image.fromarray((picture * 255).round().astype(np.uint8))
    sheet.thumbnail((SIDE, SIDE), Image.Resampling.BOX)
    sheet = sheet.filter(ImageFilter.GaussianBlur(max(sheet.size) / 300))
    small = sheet.copy()
    small.thumbnail((COARSE, COARSE), Image.Resampling.BOX)
    paper = small.filter(ImageFilter.MedianFilter(WINDOW)).filter(ImageFilter.GaussianBlur(0.7))
    light = np.asarray(paper.resize(sheet.size, Image.Resampling.BICUBIC), dtype=np.float32) / 255
    seen = np.asarray(sheet, dtype=np.float32) / 255
    if min(seen.shape) < 12:
        raise DigitError("too_small", height=seen.shape[0], width=seen.shape[1])

    darker = (light - seen).clip(0) / light.clip(0.05)
    brighter = (seen - light).clip(0) / (1 - light).clip(0.05)
    top, left = (side // 6 for side in seen.shape)  # leave out the edge of the table
    dark, bright = (float(np.square(one[top:-top, left:-left]).sum()) for one in (darker, brighter))
    contrast = brighter if bright > 2 * dark else darker  # shadows have a bright rim, boards nothing dark
    strongest = float(np.quantile(contrast, 0.9995))
    grain = float(np.quantile(np.maximum(darker, brighter), 0.7))  # noise where there is no ink
    if strongest < LEAST_CONTRAST:
        raise DigitError("blank", strongest=strongest)
    if grain > MOST_GRAIN * strongest:
        raise DigitError("noise", grain=grain / strongest)
    strength = (contrast / strongest).clip(0, 1)
    return without_dirt(np.where(strength < LEAST, 0, strength).astype(np.float32))


def without_dirt(ink: Picture) -> Picture:
    """The ink without specks, and without pieces that touch the border if there is ink elsewhere.

    Raises DigitError("noise") if hardly more than dirt is left.
    """
    names = pieces(ink > 0)
    mass = np.bincount(names.ravel(), ink.ravel())
    mass[0] = 0
    border = np.unique(np.concatenate([names[0], names[-1], names[:, 0], names[:, -1]]))
    inside = mass.copy()
    inside[border] = 0
    if inside.sum() > 0.1 * mass.sum():
        mass = inside
    kept = mass >= SPECK * mass.max()
    if mass[kept].sum() < KEPT * mass.sum():
        raise DigitError("noise", kept=float(mass[kept].sum() / mass.sum()))
    return np.where(kept[names] & (names > 0), ink, 0).astype(np.float32)
