"""A time limit for computations: code between two steps calls `check`, which raises once the time is over.

with within(20):
    load("translation")(sentence)  # raises OverdueError after 20 seconds, wherever it is
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from time import monotonic

_until: ContextVar[float] = ContextVar("until", default=inf)


class OverdueError(RuntimeError):
    """The time limit was exceeded."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """In this block and thread, `check` raises after so many seconds. Of nested limits, the innermost counts."""
    token = _until.set(monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


@contextmanager
def not_counted() -> Iterator[None]:
    """Time spent in this block does not count: waiting, or loading something shared."""
    start = monotonic()
    try:
        yield
    finally:
        _until.set(_until.get() + monotonic() - start)


def check() -> None:
    """Raises OverdueError when the time is over. Long computations call it between steps."""
    if monotonic() > _until.get():
        raise OverdueError("the time for this run is over")


def left() -> float:
    """Seconds left, at least 0; infinite without a limit."""
    return max(0.0, _until.get() - monotonic())
