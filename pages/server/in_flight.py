"""Bounds on the memory and computing time of all pages being drawn.

A page that runs a network waits in line until the bytes that it may need fit beside those of other pages. So memory
stays bounded: thirty visitors with the longest inputs are served in turn. Long inputs have their own line, so that no
short sentence waits behind them.
"""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Condition
from time import monotonic

from model import deadline
from model.deadline import OverdueError
from pages.server.memory import trim

RUNS = 4  # of a page: with and without changes, of another input, of a translation
LARGE = 32_000_000  # bytes: a page of ours with 40 tokens
MOST_SECONDS = 15.0  # that a page may compute
LONGEST_WAIT = 300.0  # seconds in line: at three seconds a page, sixty visitors wait three minutes
LOOK = 1.0  # seconds between two reports of the place in line
#: Gets the number of pages before this one. It may raise to stop waiting.
Tell = Callable[[int], object]


class CrowdedError(OverdueError):
    """There was no room in time."""


@dataclass(eq=False)
class Drawing:
    """A page being drawn: whom to tell its place in line, the rooms that it is in, and what to do at its end."""

    tell: Tell = lambda before: None
    rooms: list["Room"] = field(default_factory=list)
    at_end: list[Callable[[], None]] = field(default_factory=list)


class Room:
    """Pages that may hold `most` bytes together, and the line of pages that wait."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._line: deque[Drawing] = deque()
        self._inside: dict[Drawing, int] = {}  # page -> bytes
        self._changed = Condition()

    def enter(self, page: Drawing, needed: int) -> None:
        """Wait until it is this page's turn and `needed` bytes fit; an empty room fits any page.

        The page stays until it ends. Raises CrowdedError after LONGEST_WAIT.
        """
        until = monotonic() + LONGEST_WAIT
        with self._changed:
            self._line.append(page)
        try:
            while (before := self._wait(page, needed)) is not None:
                if monotonic() >= until:
                    raise CrowdedError("no room in time")
                page.tell(before)
        finally:
            with self._changed:
                self._line.remove(page)
                self._changed.notify_all()

    def _wait(self, page: Drawing, needed: int) -> int | None:
        """Let the page in and return None, or return after LOOK seconds how many pages are before it."""

        def fits() -> bool:
            return not self._inside or sum(self._inside.values()) + needed <= self.most

        with self._changed:
            if not self._changed.wait_for(lambda: self._line[0] is page and fits(), min(LOOK, LONGEST_WAIT)):
                return len(self._inside) + self._line.index(page)
            self._inside[page] = needed
            page.rooms.append(self)
            return None

    def leave(self, page: Drawing) -> None:
        """Make room for others."""
        with self._changed:
            del self._inside[page]
            self._changed.notify_all()


small, large = Room(48_000_000), Room(96_000_000)
_page: ContextVar[Drawing | None] = ContextVar("page", default=None)


@contextmanager
def page(tell: Tell = Drawing.tell) -> Iterator[None]:
    """A block that draws a page or makes a download. A block inside another belongs to it.

    tell: gets, each second of waiting, the number of pages before this one. Network runs in the block raise
    OverdueError after MOST_SECONDS of computing.
    """
    if _page.get():
        yield
        return
    this = Drawing(tell)
    token = _page.set(this)
    try:
        with deadline.within(MOST_SECONDS):
            yield
    finally:
        _page.reset(token)
        for act in this.at_end:
            act()
        for room in this.rooms:
            room.leave(this)
        if large in this.rooms:
            trim()


def at_end(act: Callable[[], None]) -> None:
    """Call `act` when the page ends, however it ends."""
    if this := _page.get():
        this.at_end.append(act)


def make_room(run: int) -> None:
    """Wait until there is room for a page whose runs take `run` bytes each; the page keeps the room.

    A page in the large room never waits again, so no two pages wait for each other. Waiting does not count as
    computing. Raises CrowdedError after LONGEST_WAIT.
    """
    this = _page.get()
    wanted = large if RUNS * run >= LARGE else small
    if this is None or large in this.rooms or wanted in this.rooms:
        return
    deadline.check()
    with deadline.not_counted():
        wanted.enter(this, RUNS * run)
