"""How long a run may take: whoever computes looks at the clock on the way, and ends when the time is over.

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
    """What was asked for took longer than it may."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """In this block, `check` raises in this thread once so many seconds are over; of several, the innermost counts."""
    token = _until.set(monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


@contextmanager
def not_counted() -> Iterator[None]:
    """What this block takes is added to the time: waiting, or loading what all will use."""
    start = monotonic()
    try:
        yield
    finally:
        _until.set(_until.get() + monotonic() - start)


def check() -> None:
    """Raises OverdueError when the time is over. To be called wherever work goes on from one step to the next."""
    if monotonic() > _until.get():
        raise OverdueError("the time for this run is over")


def left() -> float:
    """Seconds until then, at least 0; infinite where nobody set a time."""
    return max(0.0, _until.get() - monotonic())
