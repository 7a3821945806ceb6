"""The size of letters and the ground of all pictures in a run: set once, as the reader's language is."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SMALL, LARGE = 12, 20  # pixels: at a desk, and in a presentation
DENSE = 18  # pixels: the largest in a picture with more rows than room
GROWN = 1.5  # times as long are lengths in a presentation, at most
_font_size: ContextVar[int] = ContextVar("font_size", default=SMALL)
_mode: ContextVar[str] = ContextVar("mode", default="light")


def draw_on(ground: str, *, big: bool) -> None:
    """Set the ground for the rest of this run: "light" or "dark". big: whether this is a presentation."""
    _mode.set(ground)
    _font_size.set(LARGE if big else SMALL)


def mode() -> str:
    """The ground: "light" or "dark"."""
    return _mode.get()


def font_size() -> int:
    """The size of letters in pictures, in pixels."""
    return _font_size.get()


def big() -> bool:
    """Whether pictures are drawn for a presentation."""
    return font_size() == LARGE


def scaled(pixels: float) -> int:
    """A length that grows with the letters, up to `GROWN`."""
    return int(pixels * min(font_size() / SMALL, GROWN))


@contextmanager
def letters(size: int) -> Iterator[None]:
    """Draw in letters of another size in this block."""
    usual = _font_size.set(size)
    try:
        yield
    finally:
        _font_size.reset(usual)


@contextmanager
def on_paper() -> Iterator[None]:
    """Draw on a light ground in SMALL letters in this block."""
    ground = _mode.set("light")
    try:
        with letters(SMALL):
            yield
    finally:
        _mode.reset(ground)
