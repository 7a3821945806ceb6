"""All phones of one worker: it polls the store once for all of them, notifies them, and writes their votes."""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

from cachetools import TTLCache

from pages.school.classroom.door import MOST_OF_ADDRESS, NUMBERS, Queue, door, is_number, new_number
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import MOST_PHONES, Ballot, Store, UnavailableError, Verdict

LOOK = 0.1  # seconds between two polls of the store
TROUBLED = 1.0  # seconds until the next poll if the store fails
TELL_MORE, TELL_PRESENT = 0.5, 5.0  # seconds between two reports of present phones: if some are new, and otherwise
FORGET = 3600.0
TIDY = 60.0  # seconds between two clean-ups of old classes
ANSWER = 10.0  # seconds to wait for the store before giving up
LINGER = 30.0  # seconds for which a class without phones is still polled
STAYS = 120.0  # seconds for which a silent phone counts as present: locked, or loading another page
AT_ONCE = 200  # votes in one transaction
MOST_WAITING = 5000  # votes in the queue
MOST_OPENED = 20_000  # views of all phones of a study
#: Phones with an event stream, of all classes and of one (others poll), and streams of one phone (its tabs).
MOST_STREAMS, MOST_OF_A_CLASS, MOST_OF_A_PHONE = 3000, 2000, 3
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


class Stream:
    """An event stream of one phone. news: set if there is something to send. over: the phone has opened newer ones."""

    def __init__(self) -> None:
        self.news, self.over = asyncio.Event(), False


class Gathering:
    """The phones of one class on this worker, and the state that they may see.

    said: that state as JSON; None once the class is gone. stands: its version. seal: signs the numbers of the phones.
    streams: by phone, the oldest first. heard: phones without a stream that are present: they poll, follow the teacher,
    or did so recently. addresses: of this class's phones. opened: in a study, the views that phones have opened.
    between: whether the study is between its two rounds of questions.
    """

    def __init__(self, says: dict[str, Any], seal: str) -> None:
        self.seal = seal
        self.streams: dict[str, list[Stream]] = {}
        self.heard: TTLCache[str, None] = TTLCache(MOST_STREAMS, STAYS)
        self.addresses: TTLCache[str, None] = TTLCache(MOST_PHONES, FORGET)
        self.opened: set[tuple[str, str]] = set()
        self.used = time.monotonic()
        self.tell(says)

    def tell(self, says: dict[str, Any] | None) -> None:
        """Set the state and notify all phones."""
        left = None if says is None else says.pop("left", None)
        self._ends = None if left is None else time.monotonic() + left
        self.between = bool(says and says.get("study") and says["phase"] == Phase.LOBBY)
        self._said = None if says is None else json.dumps(says, ensure_ascii=False, separators=(",", ":"))
        self.stands = None if says is None else (says["version"], says["led"])
        for stream in [stream for mine in self.streams.values() for stream in mine]:
            stream.news.set()

    @property
    def said(self) -> str | None:
        if self._said is None or self._ends is None:
            return self._said
        return f'{self._said[:-1]},"left":{max(0, self._ends - time.monotonic()):.1f}}}'

    def has_let_in(self, device: str) -> bool:
        """Whether this phone has a number of this class."""
        return is_number(self.seal, device)

    @property
    def is_full(self) -> bool:
        """Whether the limit of streams is reached."""
        return sum(map(len, self.streams.values())) >= MOST_OF_A_CLASS

    @property
    def phones(self) -> set[str]:
        """All phones of the class known to this worker."""
        return self.streams.keys() | set(self.heard)


class Hall:
    """State shared by the routes of one process. Enter `open` while the server runs."""

    def __init__(self, store: Callable[[], Store]) -> None:
        """store: returns the store; called when first needed."""
        self._store = store
        self._worker = secrets.token_hex(8)
        self._classes: dict[str, Gathering] = {}
        self._waiting: asyncio.Queue[tuple[Ballot, asyncio.Future[Verdict]]] = asyncio.Queue(MOST_WAITING)
        self._newcomers = Queue(NUMBERS, MOST_OF_ADDRESS)
        self._tried: dict[tuple[str, str], asyncio.Task[Gathering | None]] = {}
        self._streams = 0
        self._noted: dict[str, set[str]] = {}  # code -> phones last reported to the store
        self._noting = asyncio.Lock()
        self._threads = ThreadPoolExecutor(4, "classroom")

    @asynccontextmanager
    async def open(self) -> AsyncIterator[None]:
        """While entered, phones are notified of changes and votes are written."""
        tasks = [asyncio.create_task(self._watch()), asyncio.create_task(self._write())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._threads.shutdown(wait=False)

    # -- for the routes --------------------------------------------------------------------------------------------

    async def enter(self, code: str, device: str, address: str) -> Gathering | None:
        """The class of this code; None if there is none. Raises UnavailableError like the store.

        If many codes from an address were wrong, the next lookup waits. It does not wait for phones that this worker
        knows from the class, by number or address, so guessing does not disturb members. May raise BusyError.
        """
        found = self._classes.get(code)
        if found is None or not (address in found.addresses or found.has_let_in(device)):
            this = code, address  # many phones joining at once look the code up only once
            if this not in self._tried:
                self._tried[this] = asyncio.create_task(self._try(code, address))
                self._tried[this].add_done_callback(lambda _: self._tried.pop(this))
            found = await asyncio.shield(self._tried[this])
        if found is None or found.said is None:
            return None
        found.used = time.monotonic()
        found.addresses[address] = None
        return found

    async def _try(self, code: str, address: str) -> Gathering | None:
        """See `enter`."""
        await asyncio.sleep(door.wait(address))
        if code in self._classes:
            found = self._classes[code]
        else:
            try:
                says, seal = await self._in_thread(lambda: (self._store().snapshot(code), self._store().seal(code)))
            except UnavailableError:
                door.was_right(address)  # benefit of the doubt: the lookup failed
                raise
            if says is None or seal is None:
                return None
            found = self._classes.setdefault(code, Gathering(says, seal))
        door.was_right(address)
        return found

    async def let_in(self, gathering: Gathering, address: str) -> str:
        """A number for a new phone. An address with many phones has to wait. May raise BusyError."""
        await asyncio.sleep(self._newcomers.wait((address, gathering.seal)))
        return new_number(gathering.seal, address)

    def is_full(self, gathering: Gathering) -> bool:
        """Whether no more phones of this class can have a stream."""
        return self._streams >= MOST_STREAMS or gathering.is_full

    async def listen(self, gathering: Gathering, device: str) -> AsyncIterator[str | None]:
        """Yield the state for a phone, now and after each change; None, as the last value, once the class is gone.

        If a phone has too many streams, its oldest ends, since broken connections are noticed late.
        """
        stream, mine = Stream(), gathering.streams.setdefault(device, [])
        mine.append(stream)
        self._streams += 1
        for old in mine[:-MOST_OF_A_PHONE]:
            old.over = True
            old.news.set()
        try:
            while gathering.said is not None and not stream.over:
                stream.news.clear()
                yield gathering.said
                await stream.news.wait()
            if gathering.said is None:
                yield None
        finally:
            self._streams -= 1
            mine.remove(stream)
            if not mine:
                del gathering.streams[device]
                gathering.heard[device] = None
            gathering.used = time.monotonic()

    async def note_opened(self, gathering: Gathering, code: str, device: str, view: str) -> None:
        """Keep the view that a phone of a study has open between the two rounds. If the store fails, the phone sends it
        again.
        """
        this = device, view
        if not gathering.between or this in gathering.opened or len(gathering.opened) >= MOST_OPENED:
            return
        with suppress(UnavailableError):
            await self._in_thread(lambda: self._store().note_opened(code, device, view))
            gathering.opened.add(this)

    async def vote(self, ballot: Ballot) -> Verdict:
        """The verdict on a vote, once it is certain. Raises UnavailableError if it is not; the phone then sends the
        vote again.
        """
        certain: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        try:
            self._waiting.put_nowait((ballot, certain))
        except asyncio.QueueFull:
            raise UnavailableError("too many votes at once") from None
        return await certain

    # -- what goes on meanwhile ------------------------------------------------------------------------------------

    async def _in_thread(self, look: Callable[[], Result]) -> Result:
        """Run a query of the store in a thread, so that the server goes on answering. May raise UnavailableError."""
        try:
            return await asyncio.wait_for(asyncio.get_running_loop().run_in_executor(self._threads, look), ANSWER)
        except TimeoutError:
            raise UnavailableError("no answer in time") from None

    @property
    def _has_more(self) -> bool:
        """Whether there are phones not yet reported to the store."""
        return any(gathering.phones - self._noted.get(code, set()) for code, gathering in self._classes.items())

    async def _note_present(self) -> None:
        """Report the present phones to the store. May raise UnavailableError."""
        async with self._noting:
            here = {code: gathering.phones for code, gathering in self._classes.items()}
            await self._in_thread(lambda: self._store().note_present(self._worker, here))
            self._noted = here

    async def _write(self) -> None:
        """Write all queued votes in one transaction, then those that arrived meanwhile. Report new phones first, so
        that voters count as present.
        """
        while True:
            some = [await self._waiting.get()]
            while len(some) < AT_ONCE and not self._waiting.empty():
                some.append(self._waiting.get_nowait())
            ballots = [ballot for ballot, _ in some]
            try:
                if self._has_more:
                    await self._note_present()
                verdicts = await self._in_thread(lambda ballots=ballots: self._store().vote_all(ballots))  # type: ignore[misc]
            except Exception as problem:  # whoever waits must get the error
                if not _known(problem):
                    logger.exception("Votes could not be kept.")
                for _, certain in some:
                    if not certain.done():
                        certain.set_exception(UnavailableError(str(problem)))
                continue
            for (_, certain), verdict in zip(some, verdicts, strict=True):
                if not certain.done():  # unless the phone hung up
                    certain.set_result(verdict)

    async def _watch(self) -> None:
        """Poll the store for changes of all classes, report present phones, delete what is old."""
        told = forgot = time.monotonic()
        troubled = False
        while True:
            await asyncio.sleep(TROUBLED if troubled else LOOK)
            now = time.monotonic()
            try:
                await self._look(now)
                if self._classes and now - told > (TELL_MORE if self._has_more else TELL_PRESENT):
                    told = now
                    await self._note_present()
                if now - forgot > TIDY:
                    forgot = now
                    await self._in_thread(lambda: self._store().forget_old())
                troubled = False
            except Exception as problem:  # keep polling after any error, or no phone would hear anything again
                if not troubled:
                    logger.error("Classes cannot be looked up at present: %s", problem, exc_info=not _known(problem))
                troubled = True

    async def _look(self, now: float) -> None:
        for code, gathering in list(self._classes.items()):
            if not gathering.phones and now - gathering.used > LINGER:
                del self._classes[code]
        if not self._classes:
            return
        known = {code: gathering.stands for code, gathering in self._classes.items()}

        def changed() -> dict[str, dict[str, Any] | None]:
            standing = self._store().standing(known)
            return {
                code: self._store().snapshot(code) if code in standing else None
                for code, stands in known.items()
                if code not in standing or standing[code][:2] != stands
            }

        for code, says in (await self._in_thread(changed)).items():
            self._classes[code].tell(says)
            if says is None:
                del self._classes[code]


def _known(problem: Exception) -> bool:
    return isinstance(problem, UnavailableError)
