"""Visitors' uploads, arriving or not yet read, in bounded memory.

A new upload waits for room; while others wait, uploads that take long or stay unread are dropped. Each session has one
file, until it is read or replaced or the web socket closes.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Lock
from time import monotonic

from model.unpacking import MOST_READ

LATE = 10.0  # seconds after which an unread or incomplete file gives way to others
LONGEST_WAIT = 30.0  # seconds for room
LOOK = 0.05  # seconds between two checks for room


class Uploads:
    """At most `most` bytes of files. Waiting happens on the server's event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()  # pages read files on their own threads
        self._unread: dict[str, tuple[str, bytes, float]] = {}  # session -> file, content, time; oldest first
        self._coming: dict[asyncio.Timeout, tuple[int, float, str]] = {}  # -> bytes, start, address; oldest first
        self._waiting: dict[object, str] = {}  # -> address; oldest first

    @property
    def held(self) -> int:
        """Bytes of unread files, and the full size of arriving ones."""
        with self._lock:
            unread = sum(len(content) for _, content, _ in self._unread.values())
        return unread + sum(size for size, _, _ in self._coming.values())

    def keep(self, session: str, file: str, content: bytes) -> None:
        """Keep a file that has arrived, in place of the session's unread one."""
        with self._lock:
            self._unread.pop(session, None)
            self._unread[session] = file, content[: MOST_READ + 1], monotonic()

    def take(self, session: str, file: str) -> bytes | None:
        """The content of a file, once; None where it is gone."""
        with self._lock:
            if session not in self._unread or self._unread[session][0] != file:
                return None
            return self._unread.pop(session)[1]

    def drop(self, session: str) -> None:
        """Drop a session's unread file."""
        with self._lock:
            self._unread.pop(session, None)

    @asynccontextmanager
    async def room(self, size: int, address: str = "") -> AsyncIterator[None]:
        """A block in which a file of so many bytes arrives from an address. The address with the fewest arriving bytes
        enters first, with its oldest file.

        Raises TimeoutError if there is no room in time, or if the file takes long while others wait.
        """
        size, this = min(size, self.most), object()
        self._waiting[this] = address
        try:
            async with asyncio.timeout(LONGEST_WAIT):
                while self._next() is not this or self.held + size > self.most:
                    self._let_the_oldest_go()
                    await asyncio.sleep(LOOK)
        finally:
            del self._waiting[this]
        async with asyncio.timeout(None) as limit:
            self._coming[limit] = size, monotonic(), address
            try:
                yield
            finally:
                del self._coming[limit]

    def _next(self) -> object:
        """The upload that enters next."""
        coming = Counter[str]()
        for size, _, address in self._coming.values():
            coming[address] += size
        return min(self._waiting, key=lambda one: coming[self._waiting[one]])

    def _let_the_oldest_go(self) -> None:
        """Drop the oldest unread file, or else stop the oldest arriving one, if it is LATE."""
        late = monotonic() - LATE
        with self._lock:
            session, since = next(((one, since) for one, (_, _, since) in self._unread.items()), ("", late))
            if since < late:
                del self._unread[session]
                return
        for limit, (_, since, _) in self._coming.items():
            if since < late and not limit.expired():
                limit.reschedule(asyncio.get_running_loop().time())
                return


uploads = Uploads(48_000_000)
