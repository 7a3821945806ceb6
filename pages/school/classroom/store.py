"""Storage of classes: SQLite in a folder of ours, or PostgreSQL (DATABASE_URL), for several machines.

Names and addresses are never stored, and nothing for longer than a day; deleted data are overwritten. A teacher has a
secret key, of which only the hash is stored; a phone has a number given by the server. All times are the database's,
since clocks of machines may differ. Every function may raise UnavailableError.
"""

import errno
import json
import logging
import os
import secrets
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from cachetools import LRUCache
from sqlalchemy import (
    URL,
    Boolean,
    Column,
    Connection,
    Float,
    Integer,
    MetaData,
    Row,
    String,
    Table,
    Text,
    case,
    create_engine,
    event,
    func,
    inspect,
    literal_column,
    make_url,
    select,
    text,
)
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import SQLAlchemyError

from pages.school.classroom.door import MOST_OF_ADDRESS, TAG
from pages.school.classroom.phases import ROUNDS, TOLD, Phase, following, round_of
from pages.school.classroom.questions import Guess, Shown, Told, checked, stem

LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # without O and I, which look like numbers
CODE = 6  # letters
UNSAID, SURE = 0, 3  # confidence of a vote: not said, or from 1 (guessed) to this
DAY, HOUR = 24 * 3600, 3600
SEEN = 15  # seconds for which a phone counts as present after its worker's last report
TIMES = "begun", "opened", "closes"  # columns set by the database's clock
MARK = 10  # leading characters of a phone's number that identify it among those present
WAIT = 5  # seconds to wait for the database
MOST_CLASSES, MOST_PHONES = 1000, 2000  # classes at a time; phones that vote in one class
MOST_VIEW = 60  # characters of a phone's open view
MOST_BYTES = 30_000  # of a question or a link
SPARE = 1_000_000  # bytes reserved on disk: a hundred times what closing and deleting need
ROOT = Path(__file__).parents[3]
logger = logging.getLogger(__name__)


class UnavailableError(Exception):
    """The database is locked, full or unreachable. Nothing was stored; try again."""


class UnknownClassError(Exception):
    """There is no such class, or the key is wrong."""


class TooManyError(Exception):
    """There are too many classes."""


class Verdict(StrEnum):
    """What happened to a vote."""

    KEPT = "kept"
    CLOSED = "closed"  # the question is not open
    UNKNOWN = "unknown"  # no such class
    IMPOSSIBLE = "impossible"  # the question does not accept this guess
    FULL = "full"


@dataclass(frozen=True)
class ClassState:
    """State of a class.

    number: of the current question, in the order asked (0: none yet). place: its index in the lesson. round: its first
    or second vote. version: grows with each act of the teacher. lead: the view to which she leads, a page with its
    query, or "". led: grows with each. plan: what the class is about, as she wrote it. begun: time of the first
    question, or None. ticket: lets windows and followers ask for the state. left: seconds until the vote closes by
    itself; None if it does not. resumes: of an ended class, the phase in which it is reopened.
    """

    code: str
    phase: Phase
    number: int
    place: int
    round: int
    paused: bool
    version: int
    lead: str
    led: int
    plan: str
    created: float
    begun: float | None
    ticket: str
    resumes: Phase
    left: float | None = None


class Vote(NamedTuple):
    """One anonymous answer. confidence: UNSAID, or from 1 (guessed) to SURE."""

    guess: Guess
    confidence: int


class Linked(NamedTuple):
    """One answer in a study. phone: from 1 on; it cannot be traced to the phone's number. seconds: from the opening of
    the vote to its first answer.
    """

    number: int
    phone: int
    guess: Guess
    confidence: int
    seconds: float | None


@dataclass(frozen=True)
class Ballot:
    """A vote to be stored. device: the phone's number."""

    code: str
    number: int
    round: int
    device: str
    guess: object
    confidence: int


@dataclass(frozen=True)
class Asked:
    """A question that was asked, with its votes by round; open rounds are left out."""

    number: int
    place: int
    shown: Shown
    truth: Told
    votes: Mapping[int, Sequence[Vote]]


_tables = MetaData()
_code, _number = String(CODE), Integer
classes = Table(
    "classes",
    _tables,
    Column("code", _code, primary_key=True),
    Column("key_hash", String(64), nullable=False),
    Column("phase", String(16), nullable=False),
    Column("number", _number, nullable=False),
    Column("place", Integer, nullable=False),
    Column("round", Integer, nullable=False),
    Column("paused", Boolean, nullable=False),
    Column("version", Integer, nullable=False),
    Column("lead", Text, nullable=False),
    Column("plan", Text, nullable=False),
    Column("led", Integer, nullable=False),
    Column("created", Float, nullable=False),
    Column("begun", Float),
    Column("opened", Float),  # time of the current vote
    Column("closes", Float),  # when the vote closes by itself
    Column("resumes", String(16)),  # phase in which an ended class is reopened
)
questions = Table(
    "questions",
    _tables,
    Column("code", _code, primary_key=True),
    Column("number", _number, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("shown", Text, nullable=False),
    Column("truth", Text, nullable=False),
)
votes = Table(
    "votes",
    _tables,
    Column("code", _code, primary_key=True),
    Column("number", _number, primary_key=True),
    Column("round", Integer, primary_key=True),
    Column("device", String(32), primary_key=True),
    Column("guess", Text, nullable=False),
    Column("confidence", Integer, nullable=False),
    Column("seconds", Float),  # since the vote was opened
)
#: Views (pages, stations of the tour) that phones of a study opened between its two rounds.
opened = Table(
    "opened_views",
    _tables,
    Column("code", _code, primary_key=True),
    Column("device", String(32), primary_key=True),
    Column("view", String(MOST_VIEW), primary_key=True),
)
#: The phones of each class on each worker, as one text of marks, and when the worker reported them.
present = Table(
    "present_phones",
    _tables,
    Column("code", _code, primary_key=True),
    Column("worker", String(32), primary_key=True),
    Column("marks", Text, nullable=False),
    Column("seen", Float, nullable=False),
)


def default_url() -> URL:
    """DATABASE_URL, or a file in GLASS_DATA, or one in .data beside the app."""
    if given := os.environ.get("DATABASE_URL"):
        url = make_url(given)
        plain = url.drivername in ("postgres", "postgresql")
        return url.set(drivername="postgresql+psycopg") if plain else url
    folder = Path(os.environ.get("GLASS_DATA") or ROOT / ".data")
    return URL.create("sqlite", database=str(folder / "classes.sqlite"))


def is_code(code: str) -> bool:
    """Whether this has the form of a code."""
    return len(code) == CODE and set(code) <= set(LETTERS)


@cache
def store() -> "Store":
    """The store of this process."""
    return Store(default_url())


class Store:
    """All classes of one database. Safe for any number of threads, workers and machines."""

    def __init__(self, url: URL | str) -> None:
        """url: as in SQLAlchemy. Connects when first needed."""
        url = make_url(url)
        self._file = Path(url.database) if url.get_backend_name() == "sqlite" and url.database else None
        # PostgreSQL takes timeouts as an option of the connection; psycopg alone would wait for minutes.
        waits = {
            "connect_timeout": WAIT,
            "tcp_user_timeout": WAIT * 1000,
            "options": f"-c statement_timeout={WAIT * 1000} -c lock_timeout={WAIT * 1000}",
        }
        self._engine = create_engine(
            url, pool_pre_ping=self._file is None, connect_args={"timeout": WAIT} if self._file else waits
        )
        self._reading = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._insert = sqlite.insert if self._file else postgresql.insert
        self._ready: int | None = None  # inode of the file whose tables exist
        self._preparing = Lock()
        self._shown: LRUCache[tuple[str, int], Shown] = LRUCache(200)
        seconds = "strftime('%s', 'now') + 0.0" if self._file else "extract(epoch FROM now())"
        self._time = literal_column(f"({seconds})", Float)  # the database's clock
        self._left = (classes.c.closes - self._time).label("left")
        self._gone = (self._time - classes.c.opened).label("gone")
        if self._file:
            event.listen(self._engine, "connect", _as_we_use_sqlite)
            event.listen(self._engine, "begin", _begin)
        else:
            event.listen(self._engine, "do_connect", _connect_for_a_while)

    # -- the teacher's ---------------------------------------------------------------------------------------------

    def create(self, plan: str = "") -> tuple[str, str]:
        """Create a class in the lobby: its code for phones, and the teacher's secret key. May raise TooManyError."""
        self.forget_old()
        key, code = secrets.token_urlsafe(16), "".join(secrets.choice(LETTERS) for _ in range(CODE))
        with self._transaction() as now:
            if now.execute(select(func.count()).select_from(classes)).scalar_one() >= MOST_CLASSES:
                raise TooManyError
            begun = {"phase": Phase.LOBBY, "number": 0, "place": 0, "round": 1, "paused": False, "version": 1}
            begun |= {"lead": "", "led": 0, "plan": plan, "created": self._time}
            now.execute(classes.insert().values(code=code, key_hash=_hash(key), **begun))
        return code, key

    def of_teacher(self, code: str, key: str) -> ClassState:
        """How her class stands; UnknownClassError if it is not hers, or no longer there."""
        with self._look() as now:
            return self._hers(now, code, key)

    def ask(
        self, code: str, key: str, version: int, place: int, shown: Shown, truth: Told, plan: str | None = None
    ) -> ClassState:
        """Ask a question, at any time; phones get its stem, and no longer the view led to. place: its index in the
        lesson. plan: from now on.

        Like every act, it takes effect only if the class is as the teacher saw it (`version`), so the second half of a
        double click does nothing. Returns the new state.
        """
        written = {"shown": _written(shown), "truth": _written(truth)}
        with self._transaction() as now:
            room = self._hers(now, code, key, alone=True)
            if room.version != version or room.phase is Phase.ENDED:
                return room
            now.execute(questions.insert().values(code=code, number=room.number + 1, place=place, **written))
            values = {"phase": Phase.QUESTION, "number": room.number + 1, "place": place, "round": 1, "paused": False}
            values["lead"] = ""
            values |= {} if plan is None else {"plan": plan}
            return self._change(now, room, closes=None, begun=func.coalesce(classes.c.begun, self._time), **values)

    def advance(self, code: str, key: str, version: int, to: Phase) -> ClassState:
        """Go on to a phase that may follow (`phases.following`). See `ask`, which goes on to another question.

        A class ended by mistake returns to where it was, but a vote open at the end stays closed.
        """
        with self._transaction(ends=True) as now:
            room = self._hers(now, code, key, alone=True)
            possible = to is not Phase.QUESTION and to in following(room.phase, room.round)
            if room.version != version or not (to is room.resumes if room.phase is Phase.ENDED else possible):
                return room
            values = {"phase": to, "round": round_of(room.phase, to, room.round), "paused": False}
            if to is Phase.ENDED:
                values["resumes"] = Phase.CLOSED if room.phase is Phase.OPEN else room.phase
            if to is Phase.OPEN:
                values["opened"] = self._time
            changed = self._change(now, room, closes=None, **values)
        if to is Phase.ENDED:
            self._wipe()
        return changed

    def pause(self, code: str, key: str, version: int, paused: bool) -> ClassState:
        """Let phones say “look up front”, or show the question again. Votes are still taken; a countdown stops. See
        `ask`.
        """
        with self._transaction() as now:
            room = self._hers(now, code, key, alone=True)
            if room.version != version or room.paused == paused:
                return room
            return self._change(now, room, paused=paused, closes=None)

    def count_down(self, code: str, key: str, version: int, seconds: int) -> ClassState:
        """Close the vote by itself after so many seconds. See `ask`."""
        with self._transaction() as now:
            room = self._hers(now, code, key, alone=True)
            if room.version != version or room.phase is not Phase.OPEN:
                return room
            return self._change(now, room, closes=self._time + seconds)

    def plan(self, code: str, key: str, plan: str) -> None:
        """Store another plan; phones are not notified."""
        with self._transaction() as now:
            self._put(now, self._hers(now, code, key, alone=True), plan=plan)

    def lead(self, code: str, key: str, where: str) -> ClassState:
        """Lead followers to a view: a page and its query, “attention?layer=3”; "" stops leading."""
        if len(where) > MOST_BYTES:
            raise ValueError("a link too long to be followed")
        with self._transaction() as now:
            room = self._hers(now, code, key, alone=True)
            if room.lead == where:
                return room
            return self._put(now, room, lead=where, led=room.led + 1)

    def end(self, code: str, key: str) -> None:
        """Delete the class and all answers. (For a class that only ended, see the phase “ended”.)"""
        with self._transaction(ends=True) as now:
            self._hers(now, code, key, alone=True)
            _forget(now, [code])
        self._wipe()

    def asked(self, code: str, key: str) -> list[Asked]:
        """All questions in the order asked, for results and the report.

        Votes of an open round are left out: nobody sees them before it is closed.
        """
        with self._look() as now:
            room = self._hers(now, code, key)
            known = questions.c.code == code, questions.c.number <= room.number
            rows = now.execute(select(questions).where(*known).order_by(questions.c.number)).all()
            given = now.execute(select(votes).where(votes.c.code == code).order_by(votes.c.device)).all()
        # The state was read first, so a vote opened since then counts as it was then.
        closed = room.round if room.phase not in (Phase.QUESTION, Phase.OPEN) else room.round - 1
        found: dict[int, dict[int, list[Vote]]] = {row.number: {} for row in rows}
        for vote in given:
            if (vote.number, vote.round) <= (room.number, closed):
                found[vote.number].setdefault(vote.round, []).append(Vote(json.loads(vote.guess), vote.confidence))
        return [
            Asked(row.number, row.place, json.loads(row.shown), json.loads(row.truth), found[row.number])
            for row in rows
        ]

    def linked(self, code: str, key: str) -> tuple[list[Linked], dict[int, list[str]]]:
        """Of an ended study: all answers, and by phone the views opened in between; otherwise empty.

        Phones are numbered independently of when and from where they joined.
        """
        with self._look() as now:
            room = self._hers(now, code, key)
            if room.phase is not Phase.ENDED or not room.number or not self._question(now, code, 1).get("study"):
                return [], {}
            given = now.execute(select(votes).where(votes.c.code == code).order_by(votes.c.number)).all()
            views = now.execute(select(opened).where(opened.c.code == code)).all()
        order = sorted({vote.device for vote in given}, key=lambda device: _hash(f"study {key} {device}"))
        phones = {device: place for place, device in enumerate(order, 1)}
        found = [
            Linked(vote.number, phones[vote.device], json.loads(vote.guess), vote.confidence, vote.seconds)
            for vote in given
        ]
        seen: dict[int, list[str]] = {}
        for row in views:
            if row.device in phones:
                seen.setdefault(phones[row.device], []).append(row.view)
        return found, seen

    def count(self, code: str) -> tuple[int, int]:
        """(answers in the current round, phones present)."""
        with self._look() as now:
            this = votes.c.code == classes.c.code, votes.c.number == classes.c.number, votes.c.round == classes.c.round
            answered = select(func.count()).select_from(votes.join(classes, this[0] & this[1] & this[2]))
            lately = present.c.seen > self._time - SEEN
            held = now.scalars(select(present.c.marks).where(present.c.code == code, lately)).all()
            there = {marks[at : at + MARK] for marks in held for at in range(0, len(marks), MARK)}
            return now.execute(answered.where(classes.c.code == code)).scalar_one(), len(there)

    def most_of_address(self, code: str, key: str) -> int:
        """The largest number of answers in the current round from one address."""
        with self._look() as now:
            return max(_Answered(self._devices(now, self._hers(now, code, key))).of_address.values(), default=0)

    # -- the members' ----------------------------------------------------------------------------------------------

    def room(self, code: str) -> ClassState | None:
        """State of a class; None if there is none."""
        row = self._row(code)
        return None if row is None else _room(row)

    def seal(self, code: str) -> str | None:
        """The key that signs the phones' numbers, unknown to phones; None if there is no such class."""
        row = self._row(code)
        return None if row is None else _hash(f"seal {row.key_hash}")

    def _row(self, code: str) -> Row | None:
        if not is_code(code):
            return None
        with self._look() as now:
            return now.execute(select(classes, self._left).where(classes.c.code == code)).one_or_none()

    def snapshot(self, code: str) -> dict[str, Any] | None:
        """Everything that a phone may know now; None if there is no such class.

        The answer is not even read before it is revealed, nor a view sent that could show it. While a question is only
        shown, phones get its stem.
        """
        if not is_code(code):
            return None
        told = case((classes.c.phase.in_(TOLD), questions.c.truth)).label("truth")
        this = (questions.c.code == classes.c.code) & (questions.c.number == classes.c.number)
        asked = select(*classes.c, self._left, questions.c.shown, told).select_from(classes.outerjoin(questions, this))
        with self._look() as now:
            row = now.execute(asked.where(classes.c.code == code)).one_or_none()
        if row is None:
            return None
        says = {name: getattr(row, name) for name in ("version", "led", "phase", "number", "round", "paused")}
        if row.left is not None:
            says["left"] = max(0.0, row.left)
        if row.lead and row.phase in (Phase.LOBBY, *TOLD, Phase.ENDED):
            says["lead"] = row.lead
        if row.shown and row.phase not in (Phase.LOBBY, Phase.ENDED):
            shown = json.loads(row.shown)
            says["question"] = stem(shown) if row.phase == Phase.QUESTION else shown
        if row.shown and json.loads(row.shown).get("study"):
            says["study"] = True
        if row.truth:
            says["truth"] = json.loads(row.truth)
        return says

    def standing(self, codes: Iterable[str]) -> dict[str, tuple[int, int, str]]:
        """(version, led, ticket) of each class that exists, for all phones of a worker. First closes votes whose time
        is over.
        """
        which = select(classes, self._left).where(classes.c.code.in_(list(codes)))
        with self._look() as now:
            rows = now.execute(which).all()
        if over := [row.code for row in rows if row.left is not None and row.left <= 0]:
            with self._transaction() as now:
                due = classes.c.code.in_(over) & (classes.c.closes <= self._time)
                now.execute(
                    classes.update().where(due).values(phase=Phase.CLOSED, closes=None, version=classes.c.version + 1)
                )
                rows = now.execute(which).all()
        return {row.code: (row.version, row.led, _ticket(row)) for row in rows}

    def vote(self, ballot: Ballot) -> Verdict:
        """Store one vote. See `vote_all`."""
        return self.vote_all([ballot])[0]

    def vote_all(self, ballots: Sequence[Ballot]) -> list[Verdict]:
        """Store votes in one transaction, and return a verdict on each.

        There is one vote per phone, question and round; a later one replaces it. Stored votes are durable when this
        returns. A stored vote that is sent again after closing, because the phone missed the reply, is reported as
        kept.
        """
        verdicts = [Verdict.CLOSED] * len(ballots)
        kept: dict[tuple, dict[str, object]] = {}
        with self._transaction() as now:
            codes = sorted({ballot.code for ballot in ballots})
            # FOR SHARE: no teacher can close the question before the transaction ends.
            which = select(classes, self._left, self._gone).where(classes.c.code.in_(codes))
            rows = now.execute(which.with_for_update(read=True)).all()
            rooms, gone = {row.code: _room(row) for row in rows}, {row.code: row.gone for row in rows}
            answered = {code: _Answered(self._devices(now, room)) for code, room in rooms.items()}
            for place, ballot in enumerate(ballots):
                room = rooms.get(ballot.code)
                if room is None:
                    verdicts[place] = Verdict.UNKNOWN
                elif _takes(room, ballot):
                    vote = _possible(self._question(now, room.code, room.number), ballot)
                    verdicts[place] = Verdict.IMPOSSIBLE if vote is None else Verdict.FULL
                    if vote is not None and answered[room.code].takes(ballot.device):
                        mine = {"code": room.code, "number": room.number, "round": room.round, "device": ballot.device}
                        written = {"guess": json.dumps(vote.guess), "confidence": vote.confidence}
                        written["seconds"] = gone[room.code]  # a replacing vote keeps the first one's seconds
                        kept[tuple(mine.values())] = mine | written
                        verdicts[place] = Verdict.KEPT
                elif self._is_kept(now, room, ballot):
                    verdicts[place] = Verdict.KEPT
            # In sorted order, so that two workers with the same phones' votes cannot deadlock.
            self._upsert(now, votes, [kept[which] for which in sorted(kept)], ("guess", "confidence"))
        return verdicts

    # -- the workers' ----------------------------------------------------------------------------------------------

    def note_present(self, worker: str, phones: Mapping[str, Iterable[str]]) -> None:
        """Store which phones of each class a worker hears of. A phone of several workers counts once."""
        marks = {code: "".join(device[:MARK] for device in devices) for code, devices in phones.items()}
        with self._transaction() as now:
            seen = now.scalar(select(self._time))
            rows = [{"code": code, "worker": worker, "marks": text, "seen": seen} for code, text in marks.items()]
            self._upsert(now, present, rows, ("marks", "seen"))

    def note_opened(self, code: str, device: str, view: str) -> None:
        """Store the view that a phone of a study has open."""
        with self._transaction() as now:
            new = self._insert(opened).values(code=code, device=device, view=view[:MOST_VIEW])
            now.execute(new.on_conflict_do_nothing())

    def forget_old(self) -> None:
        """Delete classes older than a day, and unused ones after an hour.

        Unused: no phone has joined, nothing was asked, and the teacher has led to no page.
        """
        used = (classes.c.number > 0) | (classes.c.led > 0) | classes.c.code.in_(select(present.c.code))
        over = (classes.c.created < self._time - DAY) | ((classes.c.created < self._time - HOUR) & ~used)
        with self._transaction(ends=True) as now:
            old = now.scalars(select(classes.c.code).where(over)).all()
            if old:
                _forget(now, old)
        self._wipe()

    # -- how it is done --------------------------------------------------------------------------------------------

    @contextmanager
    def _transaction(self, *, ends: bool = False) -> Iterator[Connection]:
        """A transaction. ends: it closes or deletes, so it may use the reserved disk space."""
        try:
            self._prepare()
            self._use_spare() if ends else self._keep_spare()
            with self._engine.begin() as now:
                yield now
        except (SQLAlchemyError, OSError) as problem:
            raise UnavailableError(str(problem)) from problem

    @contextmanager
    def _look(self) -> Iterator[Connection]:
        """A read-only connection, which blocks no writer."""
        try:
            self._prepare()
            with self._reading.connect() as now:
                yield now
        except (SQLAlchemyError, OSError) as problem:
            raise UnavailableError(str(problem)) from problem

    def _keep_spare(self) -> None:
        """Reserve some disk space beside the file: on a full disk, a vote could be neither closed nor deleted.

        Nothing else is written without it. Raises OSError if there is no space.
        """
        if self._file is None or (spare := self._file.with_suffix(".spare")).exists():
            return
        if shutil.disk_usage(self._file.parent).free < 2 * SPARE:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        spare.write_bytes(bytes(SPARE))

    def _use_spare(self) -> None:
        if self._file and shutil.disk_usage(self._file.parent).free < SPARE:
            self._file.with_suffix(".spare").unlink(missing_ok=True)

    def _wipe(self) -> None:
        """Remove deleted data from SQLite's log as well; PostgreSQL does so by itself.

        Another process that reads the file may prevent it; `forget_old` tries again.
        """
        if self._file:
            with self._look() as now:
                busy, *_ = now.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)").one()
            if busy:
                logger.warning("What was deleted stands in %s-wal as long as somebody else reads it.", self._file)

    def _prepare(self) -> None:
        """Create the tables at first use, and again if the file was removed."""
        if self._ready is not None and self._ready == self._there():
            return
        with self._preparing:
            if self._ready is not None and self._ready == self._there():
                return
            self._engine.dispose()
            self._shown.clear()
            if self._file:
                self._file.parent.mkdir(parents=True, exist_ok=True)
            with self._engine.begin() as now:
                if not self._file:  # IF NOT EXISTS does not protect against several workers that start at once
                    now.execute(text("SELECT pg_advisory_xact_lock(20170612)"))
                _tables.create_all(now)
                for former in ("pictures", "present"):  # tables of earlier versions lack a column
                    now.execute(text(f"DROP TABLE IF EXISTS {former}"))
                later = {"begun": "FLOAT", "opened": "FLOAT", "closes": "FLOAT", "resumes": "VARCHAR(16)"}
                for table, columns in (("classes", later), ("votes", {"seconds": "FLOAT"})):
                    there = {column["name"] for column in inspect(now).get_columns(table)}
                    for name in columns.keys() - there:
                        now.execute(text(f"ALTER TABLE {table} ADD COLUMN {name} {columns[name]}"))
            self._ready = self._there()

    def _there(self) -> int | None:
        """Inode of the current file; constant for PostgreSQL."""
        if self._file is None:
            return 0
        return self._file.stat().st_ino if self._file.exists() else None

    def _hers(self, now: Connection, code: str, key: str, *, alone: bool = False) -> ClassState:
        """The teacher's class. alone: locked against changes until the transaction ends."""
        if not is_code(code):
            raise UnknownClassError
        which = select(classes, self._left).where(classes.c.code == code)
        row = now.execute(which.with_for_update() if alone else which).one_or_none()
        if row is None or not secrets.compare_digest(row.key_hash, _hash(key)):
            raise UnknownClassError
        return _room(row)

    def _change(self, now: Connection, room: ClassState, **values: object) -> ClassState:
        """Update the class and its version, which notifies phones and windows."""
        return self._put(now, room, version=room.version + 1, **values)

    def _put(self, now: Connection, room: ClassState, **values: Any) -> ClassState:
        now.execute(classes.update().where(classes.c.code == room.code).values(**values))
        left = {"left": None} if "closes" in values else {}
        return replace(room, **{name: value for name, value in values.items() if name not in TIMES} | left)

    def _question(self, now: Connection, code: str, number: int) -> Shown:
        """A question that was asked; it never changes under its number."""
        this = code, number
        if this not in self._shown:
            which = select(questions.c.shown).where(questions.c.code == code, questions.c.number == number)
            self._shown[this] = json.loads(now.scalars(which).one())
        return self._shown[this]

    def _is_kept(self, now: Connection, room: ClassState, ballot: Ballot) -> bool:
        """Whether this vote was already stored before its question was closed."""
        if not 0 < ballot.number <= room.number or not 0 < ballot.round <= ROUNDS:
            return False
        this = votes.c.code == room.code, votes.c.number == ballot.number, votes.c.round == ballot.round
        there = now.execute(select(votes).where(*this, votes.c.device == ballot.device)).one_or_none()
        return there is not None and _possible(self._question(now, room.code, ballot.number), ballot) == Vote(
            json.loads(there.guess), there.confidence
        )

    def _devices(self, now: Connection, room: ClassState) -> Sequence[str]:
        """Phones that have voted in this round."""
        this = votes.c.code == room.code, votes.c.number == room.number, votes.c.round == room.round
        return now.scalars(select(votes.c.device).where(*this)).all()

    def _upsert(self, now: Connection, table: Table, rows: list[dict], changes: Sequence[str]) -> None:
        if not rows:
            return
        new = self._insert(table)
        keys = [column.name for column in table.primary_key]
        now.execute(
            new.on_conflict_do_update(index_elements=keys, set_={name: new.excluded[name] for name in changes}), rows
        )


def _room(row: Row) -> ClassState:
    ours = "key_hash", "opened", "closes"
    values = {column.name: getattr(row, column.name) for column in classes.c if column.name not in ours}
    values |= {"phase": Phase(row.phase), "resumes": Phase(row.resumes or Phase.LOBBY)}
    return ClassState(**values, ticket=_ticket(row), left=row.left)


def _takes(room: ClassState, ballot: Ballot) -> bool:
    """Whether this vote is for the open question and round."""
    over = room.left is not None and room.left <= 0
    return (room.phase, room.number, room.round) == (Phase.OPEN, ballot.number, ballot.round) and not over


class _Answered:
    """The phones counted in a round of votes. The number of phones per address is limited, so that others find room.

    of_address: count by the leading digits that phones of an address share.
    """

    def __init__(self, devices: Iterable[str]) -> None:
        self.devices = set(devices)
        self.of_address = Counter(device[:TAG] for device in self.devices)

    def takes(self, device: str) -> bool:
        """Whether this phone is counted, or can be."""
        if device in self.devices:
            return True
        if len(self.devices) >= MOST_PHONES or self.of_address[device[:TAG]] >= MOST_OF_ADDRESS:
            return False
        self.devices.add(device)
        self.of_address[device[:TAG]] += 1
        return True


def _ticket(row: Row) -> str:
    """What the teacher's windows and followers show to ask for the state; the key cannot be derived from it."""
    return _hash(f"ticket {row.key_hash}")[:20]


def _possible(shown: Shown, ballot: Ballot) -> Vote | None:
    """The vote, if the question accepts it."""
    if type(ballot.confidence) is not int or not UNSAID <= ballot.confidence <= SURE:
        return None
    try:
        return Vote(checked(shown, ballot.guess), ballot.confidence)
    except ValueError:
        return None


def _hash(key: str) -> str:
    return sha256(key.encode()).hexdigest()


def _written(value: Shown | Told) -> str:
    written = json.dumps(value)
    if len(written) > MOST_BYTES:
        raise ValueError("a question too long to be sent to phones")
    return written


def _forget(now: Connection, codes: Sequence[str]) -> None:
    for table in (classes, questions, votes, present, opened):
        now.execute(table.delete().where(table.c.code.in_(codes)))


def _as_we_use_sqlite(connection: Any, _: object) -> None:
    """SQLite settings: readers do not wait for writers, commits survive crashes and power failures, deleted data are
    overwritten.
    """
    connection.execute("PRAGMA secure_delete = ON")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")


def _begin(connection: Connection) -> None:
    """Writers take the lock at once; otherwise two that have read could deadlock."""
    if connection.get_execution_options().get("isolation_level") != "AUTOCOMMIT":
        connection.exec_driver_sql("BEGIN IMMEDIATE")


def _connect_for_a_while(_: object, __: object, arguments: list, options: dict) -> Any:
    """A connection to PostgreSQL that is given up without an answer within WAIT seconds.

    The database's own timeouts do not help if its machine hangs.
    """
    import psycopg

    class Patient(psycopg.Connection):
        def wait(self, *given: Any, **more: Any) -> Any:
            try:
                return super().wait(*given, **more | {"timeout": WAIT + 1})
            except psycopg.OperationalError:
                self.pgconn.finish()
                raise

    return Patient.connect(*arguments, **options)
