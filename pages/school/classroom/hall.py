"""All phones of a worker: one look at the store for all of them, a bell that wakes them, one who writes their votes."""

import asyncio
import json
import logging
import secrets
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from cachetools import TTLCache

from pages.school.classroom.store import Ballot, Store, UnavailableError, Verdict, is_code

LOOK = 0.1  # seconds between two looks at the store
TROUBLED = 1.0  # seconds until the next look at a store that does not answer
TELL_PRESENT = 5.0  # seconds between two notes of how many phones are here
FORGET = 3600.0
LINGER = 30.0  # seconds for which a class without a phone is still looked after, and a phone that asks is still there
AT_ONCE = 200  # votes in one transaction
MOST_WAITING = 5000  # votes
MOST_STREAMS = 3000  # phones that are told by themselves; others ask
#: Wrong codes from one address in a minute. A class behind one address mistypes less, and a code in use is found by
#: one guess in a million or so.
MOST_FAILURES, FAILURES_FOR = 60, 60.0
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


class Gathering:
    """The phones of one class that are on this worker, and what they know.

    said: what a phone may know, as JSON; None once the class is gone. version: of what is said.
    """

    def __init__(self, says: dict[str, Any]) -> None:
        self.bell = asyncio.Event()
        self.streams: Counter[str] = Counter()
        self.asked: TTLCache[str, None] = TTLCache(MOST_STREAMS, LINGER)
        self.used = time.monotonic()
        self.tell(says)

    def tell(self, says: dict[str, Any] | None) -> None:
        """Let all phones know."""
        self.said = None if says is None else json.dumps(says, ensure_ascii=False, separators=(",", ":"))
        self.version = 0 if says is None else int(says["version"])
        self.ticket = "" if says is None else str(says["ticket"])
        bell, self.bell = self.bell, asyncio.Event()
        bell.set()

    @property
    def phones(self) -> int:
        return len(self.streams.keys() | self.asked.keys())


class Hall:
    """What the routes of one process share. Entered (`open`) while the server runs."""

    def __init__(self, store: Callable[[], Store]) -> None:
        """store: gives the store; it is called once it is needed."""
        self._store = store
        self._worker = secrets.token_hex(8)
        self._classes: dict[str, Gathering] = {}
        self._waiting: asyncio.Queue[tuple[Ballot, asyncio.Future[Verdict]]] = asyncio.Queue(MOST_WAITING)
        self._failures: TTLCache[str, int] = TTLCache(10_000, FAILURES_FOR)
        self._streams = 0
        self._threads = ThreadPoolExecutor(4, "classroom")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """While this is entered, phones are told what changes, and their votes are kept."""
        tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._write())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._threads.shutdown(wait=False)

    # -- for the routes --------------------------------------------------------------------------------------------

    async def enter(self, code: str, device: str) -> Gathering | None:
        """The class of this code, with this phone in it; None if there is none. UnavailableError as of the store."""
        found = self._classes.get(code)
        if found is None:
            says = await self._in_thread(lambda: self._store().snapshot(code)) if is_code(code) else None
            if says is None:
                return None
            found = self._classes.setdefault(code, Gathering(says))
        found.used = time.monotonic()
        found.asked[device] = None
        return found if found.said is not None else None

    def tries_too_much(self, address: str) -> bool:
        """Whether so many wrong codes came from there that no more are looked up."""
        return self._failures.get(address, 0) >= MOST_FAILURES

    def note_failure(self, address: str) -> None:
        """A code from there was wrong."""
        self._failures[address] = self._failures.get(address, 0) + 1

    @property
    def is_full(self) -> bool:
        return self._streams >= MOST_STREAMS

    async def listen(self, gathering: Gathering, device: str) -> AsyncIterator[str | None]:
        """What a phone may know, now and whenever it changes; None, and no more, once the class is gone."""
        self._streams += 1
        gathering.streams[device] += 1
        try:
            while gathering.said is not None:
                bell = gathering.bell
                yield gathering.said
                await bell.wait()
            yield None
        finally:
            self._streams -= 1
            gathering.streams[device] -= 1
            gathering.streams += Counter()  # whose count is 0 is gone
            gathering.used = time.monotonic()

    async def vote(self, ballot: Ballot) -> Verdict:
        """What became of a vote, once it is certain. UnavailableError if that cannot be said: it is sent again."""
        certain: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        try:
            self._waiting.put_nowait((ballot, certain))
        except asyncio.QueueFull:
            raise UnavailableError("too many votes at once") from None
        return await certain

    # -- what goes on meanwhile ------------------------------------------------------------------------------------

    async def _in_thread(self, look: Callable[[], Result]) -> Result:
        """The store answers soon, but a server that waits for it would answer nobody."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, look)

    async def _write(self) -> None:
        """Keep all votes that have come, in one transaction, and then those that came meanwhile."""
        while True:
            some = [await self._waiting.get()]
            while len(some) < AT_ONCE and not self._waiting.empty():
                some.append(self._waiting.get_nowait())
            ballots = [ballot for ballot, _ in some]
            try:
                verdicts = await self._in_thread(lambda ballots=ballots: self._store().vote_all(ballots))  # type: ignore[misc]
            except Exception as problem:  # whoever waits must hear of it, or waits for ever
                if not _known(problem):
                    logger.exception("Votes could not be kept.")
                for _, certain in some:
                    if not certain.done():
                        certain.set_exception(UnavailableError(str(problem)))
                continue
            for (_, certain), verdict in zip(some, verdicts, strict=True):
                if not certain.done():  # a phone that hung up waits no longer
                    certain.set_result(verdict)

    async def _watch(self) -> None:
        """Look what has changed, for all classes at once; note who is here; forget what is old."""
        told = forgot = time.monotonic()
        troubled = False
        while True:
            await asyncio.sleep(TROUBLED if troubled else LOOK)
            now = time.monotonic()
            try:
                await self._look(now)
                if now - told > TELL_PRESENT and self._classes:
                    told = now
                    here = {code: gathering.phones for code, gathering in self._classes.items()}
                    await self._in_thread(lambda here=here: self._store().note_present(self._worker, here))  # type: ignore[misc]
                if now - forgot > FORGET:
                    forgot = now
                    await self._in_thread(lambda: self._store().forget_old())
                troubled = False
            except Exception as problem:  # whatever it is, all phones here would hear nothing any more
                if not troubled:
                    logger.error("Classes cannot be looked up at present: %s", problem, exc_info=not _known(problem))
                troubled = True

    async def _look(self, now: float) -> None:
        for code, gathering in list(self._classes.items()):
            if not gathering.streams and now - gathering.used > LINGER:
                del self._classes[code]
        if not self._classes:
            return
        known = {code: gathering.version for code, gathering in self._classes.items()}

        def changed() -> dict[str, dict[str, Any] | None]:
            standing = self._store().standing(known)
            return {
                code: self._store().snapshot(code) if code in standing else None
                for code, version in known.items()
                if code not in standing or standing[code][0] != version
            }

        for code, says in (await self._in_thread(changed)).items():
            self._classes[code].tell(says)
            if says is None:
                del self._classes[code]


def _known(problem: Exception) -> bool:
    return isinstance(problem, UnavailableError)
