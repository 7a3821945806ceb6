"""The store of classes on SQLite and PostgreSQL: keys, actions, votes, what phones see."""

import json
import os
import resource
import shutil
import sqlite3
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from sqlalchemy import make_url, select, update

from pages.school.classroom import store as kept
from pages.school.classroom.door import new_number
from pages.school.classroom.phases import TOLD, Phase
from pages.school.classroom.store import (
    DAY,
    HOUR,
    LETTERS,
    Ballot,
    ClassState,
    Store,
    TooManyError,
    UnavailableError,
    UnknownClassError,
    Verdict,
    default_url,
    is_code,
)
from tests.postgres import frozen, postgres
from tests.school.classroom.asked import EXAMPLES, SECRET
from tests.school.classroom.taught import Class

TAP = EXAMPLES["tap"]


@pytest.fixture(scope="module")
def postgres_url() -> Iterator[str]:
    with postgres() as url:
        yield url


#: Tests of what differs between the databases run on both, all others on SQLite.
both = pytest.mark.parametrize("url", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def url(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """URL of an empty database."""
    if getattr(request, "param", "sqlite") == "sqlite":
        monkeypatch.delenv("DATABASE_URL", raising=False)
        monkeypatch.setenv("GLASS_DATA", str(tmp_path / "data"))
    else:
        monkeypatch.setenv("DATABASE_URL", request.getfixturevalue("postgres_url"))
    return default_url().render_as_string(hide_password=False)


@pytest.fixture
def store(url: str) -> Iterator[Store]:
    """The store of one worker."""
    one = Store(url)
    yield one
    with one._transaction() as now:
        kept._forget(now, now.scalars(select(kept.classes.c.code)).all())
    one._engine.dispose()


@pytest.fixture
def lesson(store: Store) -> Class:
    return Class(store)


TO_OPEN = (Phase.QUESTION, Phase.OPEN)


@both
def test_codes_are_pronounceable_and_keys_are_not_stored(store: Store) -> None:
    code, key = store.create()
    assert is_code(code) and not set("O0I1") & set(LETTERS) and len(LETTERS) == 24
    assert store.of_teacher(code, key).phase is Phase.LOBBY
    with store._look() as now:
        written = [str(tuple(row)) for row in now.execute(select(kept.classes))]
    assert written and not any(key in row for row in written)


@both
@pytest.mark.parametrize("code", ["AAAAAA", "\ud800" * 6, "A" * 5000])
def test_invalid_codes_are_no_class(store: Store, code: str) -> None:
    assert store.room(code) is None and store.snapshot(code) is None
    for act in (
        lambda: store.of_teacher(code, "key"),
        lambda: store.advance(code, "key", 1, Phase.OPEN),
        lambda: store.end(code, "key"),
    ):
        with pytest.raises(UnknownClassError):
            act()


def test_nobody_acts_for_a_teacher_without_her_key(lesson: Class, store: Store) -> None:
    code, version = lesson.code, lesson.room.version
    other = store.create()[1]
    for key in ("", other, lesson.key + "x"):
        for act in (
            lambda key=key: store.of_teacher(code, key),
            lambda key=key: store.ask(code, key, version, 0, TAP.shown, TAP.truth),
            lambda key=key: store.advance(code, key, version, Phase.ENDED),
            lambda key=key: store.pause(code, key, version, True),
            lambda key=key: store.lead(code, key, "attention"),
            lambda key=key: store.asked(code, key),
            lambda key=key: store.end(code, key),
        ):
            with pytest.raises(UnknownClassError):
                act()
    assert lesson.room.version == version


@both
def test_a_double_click_goes_one_step(lesson: Class) -> None:
    seen = lesson.go(*TO_OPEN).version
    closed = lesson.advance(seen, Phase.CLOSED)
    assert closed.phase is Phase.CLOSED and closed.version > seen
    assert lesson.advance(seen, Phase.CLOSED) == closed
    asked = lesson.act("ask", closed.version, 3, TAP.shown, TAP.truth)
    assert (asked.number, asked.place) == (2, 3)
    assert lesson.act("ask", closed.version, 4, TAP.shown, TAP.truth) == asked
    paused = lesson.act("pause", asked.version, True)
    assert lesson.act("pause", asked.version, False) == paused


@both
def test_of_two_teachers_at_once_one_acts_and_both_learn_how_it_stands(lesson: Class, url: str) -> None:
    seen, start = lesson.go(Phase.QUESTION).version, threading.Barrier(8)

    def act(which: int) -> ClassState:
        one = Store(url)
        one.of_teacher(lesson.code, lesson.key)  # is connected
        start.wait()
        return one.advance(lesson.code, lesson.key, seen, (Phase.OPEN, Phase.ENDED)[which % 2])

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(act, range(8)))
    assert set(found) == {lesson.room} and lesson.room.version == seen + 1
    assert lesson.advance(seen, Phase.ENDED) == lesson.room, "she saw what is no longer so"


def test_a_phase_that_cannot_follow_is_not_gone_to(lesson: Class) -> None:
    room = lesson.go(*TO_OPEN)
    for phase in (Phase.REVEALED, Phase.LOBBY, Phase.OPEN, Phase.QUESTION):
        assert lesson.advance(room.version, phase) == room
    ended = lesson.go(Phase.ENDED)
    assert lesson.act("ask", ended.version, 0, TAP.shown, TAP.truth) == ended


@pytest.mark.parametrize(
    ("ways", "back"),
    [((), Phase.LOBBY), (TO_OPEN, Phase.CLOSED), ((*TO_OPEN, Phase.CLOSED, Phase.DISCUSS), Phase.DISCUSS)],
)
def test_a_class_that_was_ended_by_mistake_goes_on_where_it_was(
    lesson: Class, ways: tuple[Phase, ...], back: Phase
) -> None:
    """A vote closed by the end stays closed."""
    before = lesson.go(*ways)
    voted = lesson.vote() is Verdict.KEPT
    ended = lesson.go(Phase.ENDED)
    for phase in {*Phase} - {back}:
        assert lesson.advance(ended.version, phase) == ended
    after = lesson.advance(ended.version, ended.resumes)
    assert (after.phase, after.number, after.round, after.place) == (back, before.number, before.round, before.place)
    assert voted == (ways == TO_OPEN) and lesson.vote("0", "late") is Verdict.CLOSED
    assert not voted or votes_of(lesson) == {1: [("1", 2)]}


def test_the_view_to_follow_changes_without_standing_in_the_way_of_an_act(lesson: Class) -> None:
    before = lesson.room
    led = lesson.act("lead", "attention?layer=3")
    assert (led.lead, led.version) == ("attention?layer=3", before.version) and led.led == before.led + 1
    assert lesson.store.room(lesson.code) == led
    assert lesson.act("lead", "attention?layer=3") == led, "nobody is moved to where he is"
    with pytest.raises(ValueError):
        lesson.act("lead", "x" * 100_000)


# -- votes -------------------------------------------------------------------------------------------------------------


def votes_of(lesson: Class, number: int = 1) -> dict[int, list]:
    return dict(lesson.act("asked")[number - 1].votes)


@both
def test_one_phone_has_one_vote_and_the_last_one_counts(lesson: Class) -> None:
    lesson.go(*TO_OPEN)
    for guess in ("0", "0", "1"):
        assert lesson.vote(guess) is Verdict.KEPT
    assert lesson.vote("0", "d2", 3) is Verdict.KEPT
    assert lesson.answers == 2
    lesson.go(Phase.CLOSED)
    assert votes_of(lesson) == {1: [("1", 2), ("0", 3)]}


def test_votes_count_only_where_and_while_the_question_is_open(lesson: Class) -> None:
    assert lesson.vote() is Verdict.CLOSED
    lesson.go(Phase.QUESTION)
    assert lesson.vote() is Verdict.CLOSED
    lesson.go(Phase.OPEN)
    for where in ({"number": 0}, {"number": 2}, {"round": 2}, {"round": 0}):
        assert lesson.vote(**where) is Verdict.CLOSED
    assert lesson.vote() is Verdict.KEPT
    for phase in (Phase.CLOSED, Phase.DISCUSS):
        lesson.go(phase)
        assert lesson.vote("0") is Verdict.CLOSED
    lesson.go(Phase.OPEN)
    assert lesson.vote("0", round=1) is Verdict.CLOSED, "the first round is over"
    assert lesson.vote("0") is Verdict.KEPT
    for phase in (Phase.CLOSED, Phase.REVEALED, Phase.EXPLAINED, Phase.QUESTION, Phase.ENDED):
        lesson.go(phase)
        assert lesson.vote(device="late", number=1) is Verdict.CLOSED
    assert votes_of(lesson) == {1: [("1", 2)], 2: [("0", 2)]}
    assert lesson.vote(number=2) is Verdict.CLOSED and votes_of(lesson, 2) == {}


def test_a_vote_whose_phone_never_heard_that_it_was_kept_is_told_so_after_closing(lesson: Class) -> None:
    lesson.go(*TO_OPEN)
    lesson.vote("1")
    lesson.go(Phase.CLOSED)
    assert lesson.vote("1") is Verdict.KEPT
    assert {lesson.vote("0"), lesson.vote("1", "d2"), lesson.vote("1", confidence=3)} == {Verdict.CLOSED}
    lesson.go(Phase.QUESTION)
    assert lesson.vote("1", number=1) is Verdict.KEPT and lesson.vote("1", number=2) is Verdict.CLOSED
    assert votes_of(lesson) == {1: [("1", 2)]}


@both
def test_after_its_seconds_a_vote_closes_by_itself_and_what_was_kept_counts(lesson: Class) -> None:
    store, code = lesson.store, lesson.code
    version = lesson.go(*TO_OPEN).version
    assert "left" not in store.snapshot(code) and lesson.room.left is None
    store.count_down(code, lesson.key, version, 2)
    said, ticks = store.snapshot(code), store.standing([code])
    assert said and 0 < said["left"] <= 2 and said["version"] == version + 1
    assert lesson.vote("1") is Verdict.KEPT
    while (lesson.room.left or 0) > 0:
        time.sleep(0.05)
    assert lesson.room.phase is Phase.OPEN, "nobody has looked"
    assert lesson.vote("0", "late") is lesson.vote("0") is Verdict.CLOSED and lesson.vote("1") is Verdict.KEPT
    assert store.standing([code])[code][0] == ticks[code][0] + 1 == store.standing([code])[code][0]
    assert lesson.room.phase is Phase.CLOSED and votes_of(lesson) == {1: [("1", 2)]}
    assert lesson.room.left is None and "left" not in store.snapshot(code)


def test_a_countdown_is_that_of_one_vote_and_ends_with_a_pause(lesson: Class) -> None:
    store, code, key = lesson.store, lesson.code, lesson.key
    for act in (
        lambda: lesson.go(Phase.CLOSED, Phase.DISCUSS, Phase.OPEN),
        lambda: store.pause(code, key, lesson.room.version, True),
        lambda: lesson.go(*TO_OPEN),
    ):
        if lesson.room.phase is not Phase.OPEN:
            lesson.go(*TO_OPEN)
        store.count_down(code, key, lesson.room.version, 60)
        assert lesson.room.left
        act()
        assert lesson.room.left is None and "left" not in store.snapshot(code)
    before = lesson.go(Phase.CLOSED)
    assert store.count_down(code, key, before.version, 60) == before, "nothing is open"


@both
def test_classes_that_an_earlier_version_kept_go_on(lesson: Class, url: str) -> None:
    with lesson.store._transaction() as now:
        for column in ("classes DROP COLUMN begun", "classes DROP COLUMN opened", "classes DROP COLUMN closes",
                       "classes DROP COLUMN resumes", "votes DROP COLUMN seconds"):  # fmt: skip
            now.exec_driver_sql(f"ALTER TABLE {column}")
    later = Store(url)
    assert later.of_teacher(lesson.code, lesson.key).phase is Phase.LOBBY
    later._engine.dispose()


@pytest.mark.parametrize("confidence", [-1, 4, None, True, 2.0, "2"])
def test_confidence_is_one_of_three_or_not_said(lesson: Class, confidence: object) -> None:
    lesson.go(*TO_OPEN)
    assert lesson.vote(confidence=confidence) is Verdict.IMPOSSIBLE
    assert lesson.vote("no option") is Verdict.IMPOSSIBLE
    assert lesson.answers == 0


def test_while_it_is_open_nobody_sees_what_was_answered(lesson: Class) -> None:
    lesson.go(*TO_OPEN)
    lesson.vote()
    assert votes_of(lesson) == {}
    lesson.go(Phase.CLOSED, Phase.DISCUSS, Phase.OPEN)
    lesson.vote("0")
    assert votes_of(lesson) == {1: [("1", 2)]}


@both
def test_votes_of_many_workers_at_once_are_each_kept_once(lesson: Class, url: str) -> None:
    """Each phone votes through two workers: one of its two votes stays, and no worker waits forever."""
    lesson.go(*TO_OPEN)
    batches = [
        [Ballot(lesson.code, 1, 1, f"{place:03}", "01"[worker % 2], 1 + worker % 3) for place in range(300)]
        for worker in range(4)
    ]
    orders = [batches[0], batches[1][::-1], batches[2], batches[3][::-1]]
    start = threading.Barrier(4)

    def keep(batch: list[Ballot]) -> list[Verdict]:
        one = Store(url)
        one.room(lesson.code)  # is connected
        start.wait()
        return one.vote_all(batch)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(keep, orders))
    assert {verdict for verdicts in found for verdict in verdicts} == {Verdict.KEPT}
    assert lesson.answers == 300


@both
def test_when_a_question_is_closed_each_vote_is_kept_or_told_no(lesson: Class, url: str) -> None:
    """Exactly the acknowledged votes are kept, whenever closing falls between them."""
    lesson.go(*TO_OPEN)
    acknowledged, start = [], threading.Barrier(5)

    def keep_voting(worker: int) -> None:
        one = Store(url)
        start.wait()
        for place in range(60):
            device = f"{worker}-{place}"
            if one.vote(Ballot(lesson.code, 1, 1, device, "1", 2)) is Verdict.KEPT:
                acknowledged.append(device)

    with ThreadPoolExecutor(4) as pool:
        voting = [pool.submit(keep_voting, worker) for worker in range(4)]
        start.wait()
        time.sleep(0.05)
        lesson.advance(lesson.room.version, Phase.CLOSED)
        count = lesson.answers
        for one in voting:
            one.result()
    assert lesson.answers == count == len(acknowledged)


def test_a_class_takes_so_many_phones_and_no_more(lesson: Class, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_PHONES", 3)
    lesson.go(*TO_OPEN)
    found = [lesson.vote(device=str(place)) for place in range(4)]
    assert found == [Verdict.KEPT] * 3 + [Verdict.FULL]
    assert lesson.vote(device="1") is Verdict.KEPT, "who has a place may change his mind"


@both
def test_an_address_takes_so_many_places_and_leaves_the_rest_to_others(
    lesson: Class, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_OF_ADDRESS", 3)
    lesson.go(*TO_OPEN)
    assert lesson.act("most_of_address") == 0
    one, other = ([new_number("seal", address) for _ in range(5)] for address in ("10.0.0.1", "10.0.0.2"))
    ballots = [Ballot(lesson.code, 1, 1, device, "1", 1) for device in (*one, one[0], *other[:2])]
    kept_ones, full = Verdict.KEPT, Verdict.FULL
    assert lesson.store.vote_all(ballots) == [*[kept_ones] * 3, full, full, *[kept_ones] * 3]
    assert lesson.answers == 5 and lesson.act("most_of_address") == 3


# -- what phones see ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gesture", list(EXAMPLES))
def test_a_phone_is_told_the_truth_only_once_it_is_revealed_and_the_stem_before_it_is_open(
    store: Store, gesture: str
) -> None:
    code, key = store.create()
    shown, truth, *_ = EXAMPLES[gesture]
    store.ask(code, key, 1, 0, shown, truth)
    ways = [Phase.OPEN, Phase.CLOSED, Phase.DISCUSS, Phase.OPEN, Phase.CLOSED, Phase.REVEALED, Phase.EXPLAINED]
    for phase in [Phase.QUESTION, *ways, Phase.ENDED]:
        if phase is not Phase.QUESTION:
            store.advance(code, key, store.of_teacher(code, key).version, phase)
        said = store.snapshot(code)
        assert said is not None and said["phase"] == phase
        assert ("truth" in said) is (phase in TOLD) and said.get("truth", truth) == truth
        assert set(said.get("question", ())) <= (
            set(shown) if phase is not Phase.QUESTION else {"key", "gesture", "ask", "reads"}
        )
        assert any(text in json.dumps(said, ensure_ascii=False) for text in SECRET.values()) is (phase in TOLD)
    assert "question" not in said


def test_a_phone_is_told_nothing_of_the_teachers(lesson: Class) -> None:
    """Except the page that she leads to, while no question is open that it could answer."""
    lesson.act("lead", "attention?layer=3")
    lobby = lesson.store.snapshot(lesson.code)
    lesson.go(*TO_OPEN)
    assert lesson.store.room(lesson.code).lead == "", "a question is not about the view before it"
    lesson.act("lead", "attention?layer=3")
    said = lesson.store.snapshot(lesson.code)
    assert lobby is not None and said is not None and lobby["lead"] == "attention?layer=3"
    assert said.keys() == {"version", "led", "phase", "number", "round", "paused", "question"}
    assert lesson.key not in json.dumps([lobby, said])
    lesson.go(Phase.CLOSED)
    assert "lead" not in (lesson.store.snapshot(lesson.code) or ())
    lesson.go(Phase.REVEALED)
    assert (lesson.store.snapshot(lesson.code) or {})["lead"] == lobby["lead"]
    lesson.go(Phase.ENDED)
    assert (lesson.store.snapshot(lesson.code) or {})["lead"] == lobby["lead"]


@both
def test_phones_are_counted_while_their_workers_hold_them(lesson: Class, url: str) -> None:
    numbers = [f"{place:08x}" + "0" * 24 for place in range(11)]
    lesson.store.note_present("one", {lesson.code: numbers[:7]})
    Store(url).note_present("two", {lesson.code: numbers[5:]})
    lesson.store.note_present("one", {lesson.code: numbers[:6]})
    assert lesson.store.count(lesson.code) == (0, 11), "one that asks two workers is one phone"
    with lesson.store._transaction() as now:
        now.execute(update(kept.present).values(seen=kept.present.c.seen - kept.SEEN - 1))
    assert lesson.store.count(lesson.code) == (0, 0)


# -- the end -----------------------------------------------------------------------------------------------------------


def rows_of(store: Store, code: str) -> int:
    with store._look() as now:
        tables = (kept.classes, kept.questions, kept.votes, kept.present, kept.opened)
        return sum(len(now.execute(select(one).where(one.c.code == code)).all()) for one in tables)


def begun(store: Store) -> Class:
    one = Class(store)
    one.go(*TO_OPEN)
    one.vote()
    store.note_present("worker", {one.code: ["0" * 32]})
    store.note_opened(one.code, "0" * 32, "attention")
    return one


@both
def test_ended_class_is_deleted_and_others_stay(store: Store) -> None:
    one, other = begun(store), begun(store)
    one.end()
    assert store.snapshot(one.code) is None and rows_of(store, one.code) == 0 and rows_of(store, other.code) == 5


def make_older(store: Store, seconds: float) -> None:
    with store._transaction() as now:
        now.execute(update(kept.classes).values(created=kept.classes.c.created - seconds))


@both
def test_after_a_day_a_class_is_forgotten(store: Store) -> None:
    old = begun(store)
    make_older(store, DAY + 1)
    new = begun(store)
    assert rows_of(store, old.code) == 0 and rows_of(store, new.code) == 5


@both
def test_after_an_hour_a_class_is_forgotten_that_nobody_joined(store: Store) -> None:
    alone, joined, asked, led = (Class(store) for _ in range(4))
    store.note_present("worker", {joined.code: []})  # its phones have left
    asked.go(Phase.QUESTION)
    store.lead(led.code, led.key, "attention")
    make_older(store, HOUR + 1)
    new = Class(store)
    assert store.room(alone.code) is None
    assert all(store.room(one.code) for one in (joined, asked, led, new))


@both
def test_time_is_the_databases_and_not_the_workers(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    one = begun(store)
    later = time.time() + 2 * DAY
    monkeypatch.setattr(time, "time", lambda: later)
    store.note_present("another", {one.code: ["1" * 32, "2" * 32]})
    store.forget_old()
    assert store.count(one.code) == (1, 3)
    monkeypatch.undo()
    store.forget_old()
    assert store.count(one.code) == (1, 3)


@both
def test_a_server_keeps_so_many_classes_and_no_more(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST_CLASSES", 2)
    store.create(), store.create()
    with pytest.raises(TooManyError):
        store.create()


@both
def test_several_workers_begin_at_once(url: str, store: Store) -> None:
    with store._transaction() as now:
        kept._tables.drop_all(now)
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: Store(url).create()[0], range(8)))) == 8


# -- databases that are locked, full or gone ---------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "WAIT", 0.2)
    return tmp_path / "classes.sqlite"


def of_file(file: Path) -> Class:
    store = Store(f"sqlite:///{file}")
    one = Class(store)
    one.go(*TO_OPEN)
    return one


def fails_and_recovers(one: Class, hurt: Callable[[], Callable[[], None]]) -> None:
    assert one.vote(device="before") is Verdict.KEPT
    ballot = Ballot(one.code, 1, 1, "during", "1", 2)
    heal = hurt()
    try:
        with pytest.raises(UnavailableError):
            one.store.vote(ballot)
    finally:
        heal()
    assert one.answers == 1, "what was not acknowledged is not there, what was is"
    assert one.store.vote(ballot) is Verdict.KEPT and one.answers == 2


def test_a_full_disk_is_said_and_waited_for(file: Path) -> None:
    def hurt() -> Callable[[], None]:
        """Limit files of this process to one byte."""
        usual = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, usual[1]))
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, usual)

    fails_and_recovers(of_file(file), hurt)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 3 MB; skips without the right to mount."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if (
        shutil.which("mount") is None
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", disk], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("nothing can be mounted here")
    yield disk
    subprocess.run(["umount", "--lazy", disk], check=True)


def test_on_a_full_disk_a_vote_is_closed_and_deleted_and_none_comes(small_disk: Path) -> None:
    one = of_file(small_disk / "classes.sqlite")
    assert one.vote(device="before") is Verdict.KEPT
    with suppress(OSError), (small_disk / "others").open("wb") as others:
        while True:
            others.write(bytes(4096))
            others.flush()
    assert shutil.disk_usage(small_disk).free == 0
    closed = one.advance(one.room.version, Phase.CLOSED)
    assert closed.phase is Phase.CLOSED and one.answers == 1
    for _ in range(3):  # nor does anybody else take the room
        with pytest.raises(UnavailableError):
            one.store.vote(Ballot(one.code, 1, 1, "during", "1", 2))
        with pytest.raises(UnavailableError):
            one.store.create()
    one.end()
    assert one.store.room(one.code) is None
    (small_disk / "others").unlink()
    assert one.store.create() and (small_disk / "classes.spare").stat().st_size == kept.SPARE


def test_while_somebody_else_reads_what_was_deleted_stands_and_it_is_said(
    file: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, log = of_file(file), file.with_name(f"{file.name}-wal")
    assert one.vote(device="phone-of-somebody") is Verdict.KEPT
    reader = sqlite3.connect(file, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT * FROM votes").fetchall()
    one.end()
    assert b"phone-of-somebody" in log.read_bytes() and "as long as somebody else reads" in caplog.text
    reader.close()
    caplog.clear()
    one.store.forget_old()
    assert b"phone-of-somebody" not in log.read_bytes() and not caplog.text


@pytest.mark.parametrize("how", ["deleted", "forgotten"])
def test_of_what_is_deleted_nothing_stands_in_the_files(file: Path, how: str) -> None:
    one, worker = of_file(file), Store(f"sqlite:///{file}")
    secrets = ["a plan of hers", "phone-of-somebody", TAP.shown["ask"]["en"]]
    one.act("plan", secrets[0])
    assert worker.vote(Ballot(one.code, 1, 1, secrets[1], "1", 2)) is Verdict.KEPT

    def found() -> list[str]:
        raw = b"".join(path.read_bytes() for path in file.parent.iterdir())
        return [secret for secret in secrets if secret.encode() in raw]

    assert found() == secrets
    if how == "deleted":
        one.end()
    else:
        make_older(one.store, DAY + 1)
        worker.forget_old()
    assert found() == []


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    store = Store(f"sqlite:///{tmp_path / 'taken' / 'classes.sqlite'}")
    with pytest.raises(UnavailableError):
        store.create()
    assert not isinstance(UnavailableError(), OSError)


def test_a_database_that_was_taken_away_is_begun_anew_and_nothing_is_kept_in_the_old_one(file: Path) -> None:
    one = of_file(file)
    for left in file.parent.glob("classes.sqlite*"):
        left.unlink()
    assert one.store.snapshot(one.code) is None
    assert one.store.vote(Ballot(one.code, 1, 1, "d", "1", 2)) is Verdict.UNKNOWN
    again = Class(one.store)
    again.go(*TO_OPEN)
    assert again.vote() is Verdict.KEPT and Store(f"sqlite:///{file}").count(again.code)[0] == 1
    shutil.rmtree(file.parent)
    assert one.store.room(again.code) is None


def test_a_postgres_that_is_away_is_said_and_a_short_name_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://nobody:secret@127.0.0.1:1/none")
    url = default_url()
    assert url == make_url("postgresql+psycopg://nobody:secret@127.0.0.1:1/none")
    with pytest.raises(UnavailableError) as said:
        Store(url).create()
    assert "secret" not in str(said.value)


def test_default_store_is_beside_the_app_and_ignored_by_git(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("DATABASE_URL", "GLASS_DATA"):
        monkeypatch.delenv(name, raising=False)
    folder = Path(str(default_url().database)).parent
    assert folder == kept.ROOT / ".data" and f"{folder.name}/" in (kept.ROOT / ".gitignore").read_text().split()
    assert os.environ.get("GLASS_DATA") is None


def test_a_postgres_that_stands_still_is_said_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its machine still responds, so no connection breaks and none of its own timeouts applies."""
    monkeypatch.setattr(kept, "WAIT", 1)
    with postgres() as url:
        store = Store(url)
        one = Class(store)
        one.go(*TO_OPEN)
        assert one.vote(device="before") is Verdict.KEPT
        ballot = Ballot(one.code, 1, 1, "during", "1", 2)
        with frozen(url):
            for tried in (lambda: store.vote(ballot), lambda: Store(url).create()):
                began = time.monotonic()
                with pytest.raises(UnavailableError):
                    tried()
                assert time.monotonic() - began < 40  # not for ever
        assert store.vote(ballot) is Verdict.KEPT and store.count(one.code)[0] == 2
