"""How large and on which ground all is drawn in this run: said once, as the reader's language is."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

SMALL, LARGE = 12, 18  # points: on a desk, and in a presentation
_font_size: ContextVar[int] = ContextVar("font_size", default=SMALL)
_mode: ContextVar[str] = ContextVar("mode", default="light")


def draw_on(ground: str, *, big: bool) -> None:
    """Let the rest of this run be drawn on a "light" or a "dark" ground, big in a presentation."""
    _mode.set(ground)
    _font_size.set(LARGE if big else SMALL)


def mode() -> str:
    """The ground: "light" or "dark"."""
    return _mode.get()


def font_size() -> int:
    """The size of letters in pictures, in pixels."""
    return _font_size.get()


def big() -> bool:
    """Whether it is drawn for a presentation."""
    return font_size() == LARGE


def scaled(pixels: float) -> int:
    """A length that grows with the letters."""
    return int(pixels * font_size() / SMALL)


@contextmanager
def letters(size: int) -> Iterator[None]:
    """Draw what is drawn in this block in letters of another size."""
    usual = _font_size.set(size)
    try:
        yield
    finally:
        _font_size.reset(usual)


@contextmanager
def on_paper() -> Iterator[None]:
    """Draw what is drawn in this block on a light ground, in letters for a desk."""
    ground = _mode.set("light")
    try:
        with letters(SMALL):
            yield
    finally:
        _mode.reset(ground)
