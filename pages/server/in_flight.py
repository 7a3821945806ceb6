"""What the pages that are being drawn may hold and how long they may compute, all visitors together.

A page that has something worked out waits in line until what it may come to hold has room beside what the others hold.
So thirty visitors who ask for the most at once are served one after the other, and memory stays bounded. Long inputs
have a line of their own: nobody with a short sentence stands behind them.
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

RUNS = 4  # of a page: with changes and without, of another input, of a translation
LARGE = 32_000_000  # bytes: a page of ours with 40 tokens
MOST_SECONDS = 15.0  # that a page may compute
LONGEST_WAIT = 300.0  # seconds in line: sixty wait for three minutes, where a page takes three seconds
LOOK = 1.0  # seconds after which one who waits is told his place again
#: Is told how many are computed before this page. It may raise to give up waiting.
Tell = Callable[[int], object]


class CrowdedError(OverdueError):
    """Others have so much worked out that there was no room in time."""


@dataclass(eq=False)
class Drawing:
    """A page that is being drawn: what it is told while it waits, the rooms that it is in, and what is to be done when
    it ends.
    """

    tell: Tell = lambda before: None
    rooms: list["Room"] = field(default_factory=list)
    at_end: list[Callable[[], None]] = field(default_factory=list)


class Room:
    """Pages that may hold `most` bytes together, and the line of those that wait."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._line: deque[Drawing] = deque()
        self._inside: dict[Drawing, int] = {}  # with their bytes
        self._changed = Condition()

    def enter(self, page: Drawing, needed: int) -> None:
        """Wait until it is this page's turn and so many bytes fit, to the end of the page; alone, it always fits.

        Raises CrowdedError after LONGEST_WAIT.
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
        """Let the page in, or after a LOOK return how many are computed before it."""

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
    """While this lasts, a page is drawn, or a file for download made; a page inside a page is part of it.

    tell: is told each second of waiting how many are computed before it.
    Whatever runs a network in it raises OverdueError once it has computed for MOST_SECONDS.
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
    """Let this be done when the page has ended, however it ends."""
    if this := _page.get():
        this.at_end.append(act)


def make_room(run: int) -> None:
    """Wait until there is room for a page whose runs take so many bytes each; it keeps it to its end.

    Who is among the large ones waits for nothing more, so no two wait for each other. Waiting does not count as
    computing. Raises CrowdedError after LONGEST_WAIT.
    """
    this = _page.get()
    wanted = large if RUNS * run >= LARGE else small
    if this is None or large in this.rooms or wanted in this.rooms:
        return
    deadline.check()
    with deadline.not_counted():
        wanted.enter(this, RUNS * run)
