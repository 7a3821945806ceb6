"""Files that visitors send: those on their way here, and those that have come and are not read yet.

Together they hold at most so many bytes. Who sends one waits until there is room for it; what is on its way or unread
for long goes once others wait. Of each session one file is kept, until it is read or replaced or its web socket closes.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import Lock
from time import monotonic

from model.unpacking import MOST_READ

LATE = 10.0  # seconds after which a file that is not read, or not all here, gives way to others
LONGEST_WAIT = 30.0  # seconds for room
LOOK = 0.05  # seconds from one look for room to the next


class Uploads:
    """At most `most` bytes of files. What waits for room does so on the server's event loop."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._lock = Lock()  # pages read on threads of their own
        self._unread: dict[str, tuple[str, bytes, float]] = {}  # session -> file, content, when it came; oldest first
        self._coming: dict[asyncio.Timeout, tuple[int, float, str]] = {}  # bytes, since when, from where; oldest first
        self._waiting: dict[object, str] = {}  # from where; oldest first

    @property
    def held(self) -> int:
        """Bytes of what is unread, and of what is or will be here of files on their way."""
        with self._lock:
            unread = sum(len(content) for _, content, _ in self._unread.values())
        return unread + sum(size for size, _, _ in self._coming.values())

    def keep(self, session: str, file: str, content: bytes) -> None:
        """Keep a file that has come, instead of the one of this session that is not read yet."""
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
        """Let go of what is unread of a session."""
        with self._lock:
            self._unread.pop(session, None)

    @asynccontextmanager
    async def room(self, size: int, address: str = "") -> AsyncIterator[None]:
        """A block in which a file of so many bytes is on its way here from an address. First enters that of which the
        least is on its way, and of its files the one that came first.

        Raises TimeoutError where there is no room in time, or where the file takes long and others wait.
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
        """Who enters first."""
        coming = Counter[str]()
        for size, _, address in self._coming.values():
            coming[address] += size
        return min(self._waiting, key=lambda one: coming[self._waiting[one]])

    def _let_the_oldest_go(self) -> None:
        """If it is late."""
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
