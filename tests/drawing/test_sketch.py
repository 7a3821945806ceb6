"""Drawings in links and files: exact round trips, and nothing hostile gets through."""

import zlib
from base64 import b64encode, urlsafe_b64encode
from types import SimpleNamespace

import numpy as np
import pytest

from pages.drawing.state import sketch
from pages.screen.components import digit_pad

DRAWINGS = [sketch.from_picture(digit / 255) for digit in sketch.example_digits()]


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
