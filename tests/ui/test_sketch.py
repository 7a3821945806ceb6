"""Drawings in links and files: exact round trips, and nothing hostile gets through."""

import io
import zlib
from base64 import b64encode, urlsafe_b64encode
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image

from model.digits import DigitError
from pages.ui.components import digit_pad
from pages.ui.state import sketch

DRAWINGS = [sketch.from_picture(digit / 255) for digit in sketch.example_digits()]


def png(pixels: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("which", range(10))
def test_a_link_restores_a_drawing_exactly_and_stays_short(which: int) -> None:
    code = sketch.to_code(DRAWINGS[which])
    assert sketch.from_code(code) == DRAWINGS[which]
    assert len(code) < 1500
    np.testing.assert_array_equal(sketch.pack(sketch.unpack(DRAWINGS[which])), np.bytes_(DRAWINGS[which]))


@pytest.mark.parametrize(
    "code",
    [
        "x",
        "%%%",
        "é",
        "A" * 5000,
        sketch.to_code(DRAWINGS[0])[:-9],
        urlsafe_b64encode(zlib.compress(b"short")).decode(),
        urlsafe_b64encode(zlib.compress(bytes(10**7))).decode(),  # would unpack to ten megabytes
    ],
)
def test_a_damaged_code_is_refused(code: str) -> None:
    with pytest.raises(sketch.DrawingError):
        sketch.from_code(code)


@pytest.mark.parametrize("sent", ["", "AAAA", "***", "é", b64encode(DRAWINGS[3]).decode()])
def test_from_the_pad_nothing_but_a_whole_drawing_is_taken(sent: str, monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[bytes] = []
    monkeypatch.setattr(digit_pad, "_pad", lambda **parts: parts["on_drawing_change"]())
    monkeypatch.setattr(digit_pad.st, "session_state", {"pad": SimpleNamespace(drawing=f"1:{sent}")})
    digit_pad.digit_pad("pad", DRAWINGS[0], 1, 28, False, taken.append)
    assert taken == ([DRAWINGS[3]] if len(sent) > 9 else [])


@pytest.mark.parametrize("which", range(10))
@pytest.mark.parametrize("paper", ["black", "white"])
def test_a_picture_file_gives_nearly_the_same_ink_on_either_ground(which: int, paper: str) -> None:
    pixels = np.kron(sketch.example_digits()[which], np.ones((8, 8), np.uint8))
    packed = sketch.from_file(png(pixels if paper == "black" else 255 - pixels))
    ink = np.frombuffer(sketch.ink(packed), np.uint8).reshape(28, 28) / 255
    original = sketch.example_digits()[which] / 255
    # The centre of mass may round to the pixel beside it.
    shifted = [np.roll(ink, (down, across), (0, 1)) for down in (-1, 0, 1) for across in (-1, 0, 1)]
    assert max(np.corrcoef(moved.ravel(), original.ravel())[0, 1] for moved in shifted) > 0.95


def test_what_is_no_picture_of_a_digit_is_refused() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (300, 300), dtype=np.uint8)
    for content, error in [
        (b"just text", sketch.DrawingError),
        (png(noise)[:5000], sketch.DrawingError),
        (png(np.zeros((10, 10_000), np.uint8)), DigitError),
        (bytes(13 * 2**20), sketch.DrawingError),
        (png(noise), DigitError),
        (png(np.zeros((100, 100), np.uint8)), DigitError),
    ]:
        with pytest.raises(error):
            sketch.from_file(content)
