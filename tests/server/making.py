"""Uploads for tests: digits as scanners and cameras save them, and files that must be refused."""

import zlib
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageOps

from pages.drawing.state import sketch
from tests.model.making import saved

ORIENTATION = 0x0112  # of EXIF


DICE = np.random.default_rng(0)


def sheet(which: int, side: int = 600, ink: int = 20, paper: int = 250) -> Image.Image:
    """A handwritten digit on paper, as a scanner would show it."""
    drawn = Image.fromarray(sketch.example_digits()[which]).resize((side // 2, side // 2), Image.Resampling.BICUBIC)
    drawn = drawn.filter(ImageFilter.GaussianBlur(side / 150)).point(lambda v: 255 if v > 110 else 0)
    page = Image.new("L", (side, side), paper)
    page.paste(ink, (side // 4, side // 5), drawn.filter(ImageFilter.GaussianBlur(side / 300)))
    return page


def photo(which: int, light: str, ink: float = 0.3, paper: float = 0.9) -> Image.Image:
    """A photograph of it: 1600 × 1200, unevenly lit, noisy. ink: the share of light that ink reflects."""
    page = Image.new("L", (1600, 1200), 255)
    page.paste(sheet(which, 900, 0, 255), (350, 130))
    strength = 1 - np.asarray(page, dtype=np.float32) / 255
    y, x = np.mgrid[0:1:1200j, 0:1:1600j]
    lights = {
        "from the left": 1 - 0.6 * x,
        "a shadow": np.where(x + 0.4 * y > 0.75, 0.5, 1),
        "a dark table": np.where((x < 0.06) | (y > 0.93), 0.2, 1 - 0.2 * y),
    }
    seen = paper * lights[light] * (1 - (1 - ink) * strength) + DICE.normal(0, 0.02, strength.shape)
    return Image.fromarray((seen.clip(0, 1) * 255).astype(np.uint8))


def turned(which: int, orientation: int) -> bytes:
    """The image rotated, with an EXIF orientation that turns it upright."""
    undo = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    return saved(sheet(which).transpose(undo[orientation]), "JPEG", exif=exif)


def transparent(which: int) -> bytes:
    """Black ink on transparent black."""
    alpha = sheet(which).point(lambda v: 255 - v).point(lambda v: 0 if v < 40 else v)
    picture = Image.new("LA", alpha.size)
    picture.putalpha(alpha)
    return saved(picture.convert("RGBA"), "PNG")


def sixteen_bits(which: int, brightest: int = 65535) -> bytes:
    values = np.asarray(sheet(which), dtype=np.float64) / 255 * brightest
    return saved(Image.fromarray(values.astype(np.uint16)), "PNG")


def first_of_two(kind: str) -> bytes:
    return saved(sheet(3).convert("RGB"), kind, save_all=True, append_images=[sheet(8).convert("RGB")], duration=100)


def grainy(megapixels: float) -> bytes:
    """A photo as large as phones take: a JPEG of many megapixels and almost 12 MB."""
    side = int((megapixels * 1e6) ** 0.5)
    page = np.asarray(sheet(4, 1000).resize((side, side)), dtype=np.int16)
    return saved(Image.fromarray((page + DICE.integers(-8, 5, page.shape)).clip(0, 255).astype(np.uint8)), "JPEG")


def huge_head() -> bytes:
    """A PNG of a few hundred bytes whose header claims 2.5 gigapixels."""
    head = bytearray(saved(Image.new("L", (1, 1)), "PNG"))
    head[16:24] = (50_000).to_bytes(4, "big") * 2
    head[29:33] = zlib.crc32(head[12:29]).to_bytes(4, "big")
    return bytes(head)


def smudged(which: int) -> bytes:
    page = sheet(which)
    draw = ImageDraw.Draw(page)
    for x, y in DICE.integers(20, 580, (25, 2)):
        draw.ellipse([x, y, x + 4, y + 4], fill=150)
    noisy = np.asarray(page) + DICE.normal(0, 6, (600, 600))
    return saved(Image.fromarray(noisy.clip(0, 255).astype(np.uint8)), "JPEG")


READ: dict[str, tuple[int, Callable[[], bytes]]] = {
    "PNG": (2, lambda: saved(sheet(2), "PNG")),
    "PNG of black and white": (5, lambda: saved(sheet(5).convert("1"), "PNG")),
    "PNG, faint": (7, lambda: saved(sheet(7, 600, 170, 250), "PNG")),
    "16 bits": (3, lambda: sixteen_bits(3)),
    "16 bits of which 12 are used": (5, lambda: sixteen_bits(5, 4095)),
    "transparent": (2, lambda: transparent(2)),
    "JPEG for print": (4, lambda: saved(sheet(4).convert("CMYK"), "JPEG")),
    "JPEG, much compressed": (3, lambda: saved(sheet(3), "JPEG", quality=8)),
    "JPEG lying on its left": (7, lambda: turned(7, 6)),
    "JPEG of 48 megapixels": (4, lambda: grainy(48)),
    "WebP, the first of two": (3, lambda: first_of_two("WEBP")),
    "HEIC": (4, lambda: saved(sheet(4).convert("RGB"), "HEIF")),
    "a smudged scan": (5, lambda: smudged(5)),
    "photo with a shadow": (4, lambda: saved(photo(4, "a shadow"), "JPEG")),
    "photo with the table's edge": (7, lambda: saved(photo(7, "a dark table"), "JPEG")),
    "photo of a pencil": (8, lambda: saved(photo(8, "from the left", ink=0.7), "JPEG")),
    "photo of chalk": (9, lambda: saved(photo(9, "from the left", ink=3.2, paper=0.25), "JPEG")),
}


REFUSED: dict[str, tuple[str, Callable[[], bytes]]] = {
    "empty": ("file", lambda: b""),
    "text": ("file", lambda: b"seven"),
    "half a JPEG": ("file", lambda: saved(sheet(7), "JPEG")[:300]),
    "a PDF": ("file", lambda: saved(sheet(7), "PDF")),
    "more than 12 MB": ("large", lambda: saved(sheet(7), "PNG") + bytes(12 * 2**20)),
    "gigapixels in its head": ("large", huge_head),
    "60 megapixels": ("large", lambda: saved(Image.new("1", (10_000, 6_000)), "PNG")),
    "1 × 1": ("too_small", lambda: saved(Image.new("L", (1, 1)), "PNG")),
    "white": ("blank", lambda: saved(Image.new("L", (300, 300), 255), "PNG")),
    "noise": ("noise", lambda: saved(Image.fromarray(DICE.integers(0, 256, (300, 300), dtype=np.uint8)), "PNG")),
    "a filled square": ("all_ink", lambda: saved(ImageOps.expand(Image.new("L", (200, 200)), 50, 255), "PNG")),
}
