"""Phones of a class on real servers: what they are told, what they must not learn, and that no vote is lost."""

import asyncio
import json
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from gzip import compress
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from sqlalchemy import select

from pages.school.classroom import routes
from pages.school.classroom.door import LOOKS, MOST_FAILURES, MOST_OF_ADDRESS, NUMBERS, TAG
from pages.school.classroom.join import LANGUAGES, words
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import opened
from tests.classroom.phone import all_of, is_in
from tests.classroom.phones_only import LONGEST_WAIT, STAYS
from tests.classroom.school import School, end, school
from tests.postgres import postgres
from tests.school.classroom.asked import EXAMPLES


@pytest.fixture
def one(tmp_path: Path) -> Iterator[School]:
    with school({"GLASS_DATA": str(tmp_path)}, f"sqlite:///{tmp_path}/classes.sqlite") as found:
        yield found


@pytest.fixture(scope="module")
def calm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    """A worker that no test harms; each test makes its own class."""
    folder = tmp_path_factory.mktemp("calm")
    with school({"GLASS_DATA": str(folder)}, f"sqlite:///{folder}/classes.sqlite") as found:
        yield found


both = pytest.mark.parametrize("two", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[School]:
    """Two workers on one store; with PostgreSQL as on two machines."""
    with ExitStack() as stack:
        if getattr(request, "param", "sqlite") == "sqlite":
            environment, url = {"GLASS_DATA": str(tmp_path)}, f"sqlite:///{tmp_path}/classes.sqlite"
        else:
            address = stack.enter_context(postgres())
            environment, url = {"DATABASE_URL": address}, address.replace("postgresql:", "postgresql+psycopg:")
        yield stack.enter_context(school(environment, url, workers=2))


@both
async def test_phones_on_every_worker_hear_what_the_teacher_does(two: School) -> None:
    phones = [two.phone(worker) for worker in (0, 1)]
    for phone in phones:
        await phone.come()
        assert phone.says["phase"] == "lobby"
    two.ask("tap")
    ways = [Phase.OPEN, Phase.CLOSED, Phase.DISCUSS, Phase.OPEN, Phase.CLOSED, Phase.REVEALED, Phase.EXPLAINED]
    for phase in [Phase.QUESTION, *ways]:
        if phase is not Phase.QUESTION:
            two.go(phase)
        since, version = time.monotonic(), two.room.version
        for phone in phones:
            assert await phone.wait(lambda says, version=version: says["version"] == version) - since < 2
            status, now = await phone.now()
            assert status == 200 and now == phone.says and now["phase"] == phase
    assert two.store.count(two.code)[1] == 2, "phones that are here"
    two.store.lead(two.code, two.key, "attention?layer=3")
    for phone in phones:
        await phone.wait(lambda says: says.get("lead") == "attention?layer=3")
    two.ask("tap")
    two.go(Phase.OPEN)
    guest = two.phone()
    for port in two.ports * 2:  # its number is valid on every worker
        guest.port, guest._line = port, None
        assert await guest.vote("1", n=2, r=1) == (200, "kept")
    assert two.store.count(two.code)[0] == 1
    await guest.leave()
    two.end()
    for phone in phones:
        await phone.wait(lambda says: says["phase"] == "gone")
        assert (await phone.now())[0] == 404
        await phone.leave()


async def before_the_reveal(at: School, gesture: str, truth: dict) -> bytes:
    """Every byte that a phone receives before the truth is revealed, without random parts."""
    at.code, at.key = at.store.create()
    phone = at.phone()
    await phone.come()
    at.ask(gesture, truth)
    await phone.wait(lambda says: says["phase"] == "question")
    for phase in (Phase.OPEN, Phase.CLOSED, Phase.DISCUSS, Phase.OPEN, Phase.CLOSED):
        at.go(phase)
        version = at.room.version
        await phone.wait(lambda says, version=version: says["version"] == version)
        for guess in (*EXAMPLES[gesture].right, *EXAMPLES[gesture].wrong):
            await phone.vote(guess)
        await phone.now()
    received = bytes(phone.raw)
    at.go(Phase.REVEALED)
    await phone.wait(lambda says: says["phase"] == "revealed")
    assert phone.says["truth"] == truth
    await phone.leave()
    received = re.sub(rb"retry: \d+", b"", received)  # random
    return received.replace(phone.device.encode(), b"").replace(at.code.encode(), b"")


@pytest.mark.parametrize("gesture", ["tap", "word"])
async def test_what_a_phone_gets_before_the_reveal_is_the_same_whatever_is_true(calm: School, gesture: str) -> None:
    """So a phone can infer nothing, neither from messages nor from the verdicts on its votes."""
    example = EXAMPLES[gesture]
    other = {"answer": example.wrong[0], "near": 0.3, "why": {"en": "Other.", "zh": "别的。"}, "see": "heads?layer=1"}
    found = [await before_the_reveal(calm, gesture, truth) for truth in (example.truth, other)]
    assert found[0] == found[1] and len(found[0]) > 500


async def test_a_vote_is_kept_once_or_refused_with_a_word(calm: School) -> None:
    calm.code, calm.key = calm.store.create()
    phone, other = calm.phone(), calm.phone(code=calm.store.create()[0])
    await phone.come()
    await other.sign_in()
    room = calm.store.room(calm.code)
    for shown, status in (("", 404), ("0" * 20, 404), (room.ticket if room else "", 200)):
        assert (await phone.ask("GET", f"/standing?t={shown}"))[0] == status, "who has its ticket learns how it stands"
    assert await phone.vote("1") == (400, "impossible"), "nothing is asked yet"
    calm.ask("tap")
    calm.go(Phase.OPEN)
    await phone.wait(lambda says: says["phase"] == "open")
    assert await asyncio.gather(phone.vote("0"), calm.phone().vote("1")) == [(200, "kept"), (200, "kept")]
    for body in (b"", b"[]", b"{}", b"\xff", b"[" * 3000, json.dumps({"n": 1, "r": 1, "guess": "1"}).encode()):
        assert (await phone.ask("POST", "/vote", body or b" "))[0] == 400
    for guess in EXAMPLES["tap"].impossible:
        assert await phone.vote(guess) == (422, "impossible")
    vote = json.dumps({"n": 1, "r": 1, "guess": "1", "sure": 3}).encode()
    assert (await phone.ask("POST", "/vote", vote, "text/plain"))[0] == 415
    assert (await phone.ask("POST", "/vote", vote + b" " * routes.MOST_BODY))[0] == 413
    made_up = [f"{place:032x}" for place in range(100)]
    strange = ("", "x" * 32, phone.device[:-1] + "x", phone.device[:16], "%ed%a0%80" * 10, other.device, *made_up)
    for device in strange:  # not given to a phone of this class
        stranger = calm.phone()
        stranger.device = device
        assert (await stranger.ask("POST", "/vote", vote)) == (403, {"verdict": "stranger"})
    assert (await phone.ask("POST", "/vote", vote)) == (200, {"verdict": "kept"})
    calm.go(Phase.CLOSED)
    assert await phone.vote("0") == (409, "closed"), "though this worker has not yet heard of it"
    assert sorted(calm.votes()[1]) == [("1", 2), ("1", 3)]
    await phone.leave()
    await other.leave()


async def test_a_phone_that_follows_its_teacher_is_in_the_class_in_every_phase(two: School) -> None:
    """One phone keeps listening; the other opens the teacher's page."""
    stays, follows = phones = two.phone(), two.phone(1)
    for phone in phones:
        await phone.come()
    room = two.room

    async def stays_for(seconds: float) -> int:
        """Number of phones present after `seconds` in which the teacher's page was polled on both workers in turn."""
        for turn in range(int(seconds / 0.1)):
            follows.port, follows._line = two.ports[turn % 2], None
            status, said = await follows.ask("GET", f"/standing?t={room.ticket}")
            assert status == 200
            await asyncio.sleep(0.1)
        return said["there"]

    await follows.leave()
    assert await stays_for(STAYS + 1.5) == 2
    two.ask("tap")
    for phase in (Phase.OPEN, Phase.CLOSED, Phase.DISCUSS, Phase.OPEN, Phase.CLOSED, Phase.REVEALED, Phase.EXPLAINED):
        two.go(phase)
        assert await stays_for(1) == 2, phase
    await asyncio.sleep(STAYS + 2)
    assert two.store.count(two.code)[1] == 1, "it has left"
    assert (await stays.ask("GET", f"/standing?t={room.ticket[:-1]}"))[0] == 404
    await stays.leave()


async def test_what_is_opened_is_kept_of_a_study_alone_and_only_between_its_questions(one: School) -> None:
    """A phone has a page open in every phase of a class, and of a study with two questions."""
    phone, known = one.phone(), EXAMPLES["tap"]
    await phone.come()
    room = one.room
    for study in (False, True):
        shown = {**known.shown, "study": study}
        for turn in range(2):
            room = one.room
            one.act("ask", room.version, 0, shown, known.truth)
            for phase in (Phase.QUESTION, Phase.OPEN, Phase.CLOSED, Phase.LOBBY):
                if phase is not Phase.QUESTION:
                    one.go(phase)
                await phone.wait(
                    lambda says, phase=phase, n=room.number + 1: (says["phase"], says["number"]) == (phase, n)
                )
                view = f"heads.{phase}{study:d}{turn}"
                for said in (view, view, "<b>", "x" * 200):
                    assert (await phone.ask("GET", f"/standing?t={room.ticket}&v={said}"))[0] == 200
    with one.store._look() as now:
        rows = now.execute(select(opened)).all()
    assert {row.view for row in rows} == {"heads.lobby10", "heads.lobby11"}
    await phone.leave()


def wrong_codes(number: int) -> list[str]:
    letters = "BCDEFGHJKL"
    return [f"AAA{letters[n // 100 % 10]}{letters[n // 10 % 10]}{letters[n % 10]}" for n in range(number)]


async def test_who_guesses_codes_is_slowed_down_and_the_class_behind_his_address_goes_on(one: School) -> None:
    inside = one.phone()
    await inside.come()
    one.ask("tap")
    one.go(Phase.OPEN)
    guessers = [one.phone(code=code) for code in wrong_codes(1000)]
    began = time.monotonic()
    guessing = asyncio.gather(*(guesser.now() for guesser in guessers))
    class_after = [one.phone() for _ in range(30)]
    found = [[(await phone.now())[0], (await phone.vote("1"))[0]] for phone in class_after]
    assert found == [[200, 200]] * 30, "who has the right code comes in and votes meanwhile"
    assert await inside.vote("1") == (200, "kept") and (await inside.now())[0] == 200
    answers = [status for status, _ in await guessing]
    seconds = time.monotonic() - began
    assert answers.count(404) <= MOST_FAILURES + LOOKS * seconds + 1, "so many were looked up"
    assert answers.count(404) + answers.count(429) == 1000 and answers.count(429) > 500
    for phone in (inside, *class_after, *guessers):
        await phone.leave()


async def test_a_class_comes_in_after_wrong_codes_from_its_address(one: School) -> None:
    """Even if none of its phones was there before."""
    for code in wrong_codes(140):
        guesser = one.phone(code=code)
        await asyncio.wait_for(guesser.now(), 20)
        await guesser.leave()
    phones = [one.phone() for _ in range(30)]
    began = time.monotonic()
    assert [(await phone.now())[0] for phone in phones] == [200] * 30
    assert time.monotonic() - began < 5
    for phone in phones:
        await phone.leave()


async def test_streams_are_bounded_for_a_phone_and_none_is_there_for_a_made_up_number(calm: School) -> None:
    calm.code, calm.key = calm.store.create()
    guest = calm.phone()
    await guest.sign_in()
    made_up, many = [calm.phone() for _ in range(50)], [calm.phone() for _ in range(12)]
    for place, phone in enumerate(made_up):
        phone.device = f"{place:032x}"
    for phone in many:
        phone.device = guest.device
    await all_of((*made_up, *many), "come")
    assert {phone.status for phone in made_up} == {403}
    calm.ask("tap")
    calm.go(Phase.OPEN)
    phones = [calm.phone() for _ in range(30)]
    await all_of(phones, "come")
    await all_of(phones, "wait", is_in("open"))
    assert [await phone.vote("1") for phone in phones] == [(200, "kept")] * 30
    for _ in range(100):
        if calm.store.count(calm.code) == (30, 31):
            break
        await asyncio.sleep(0.1)
    assert calm.store.count(calm.code) == (30, 31), "one phone is one phone however often it listens"
    await all_of((*made_up, *many, *phones), "leave")


async def test_numbers_are_given_to_an_address_at_a_bounded_rate(calm: School) -> None:
    """More phones than one address may register at once: some wait, some are told to come again."""
    calm.code, calm.key = calm.store.create()
    many = [calm.phone() for _ in range(MOST_OF_ADDRESS + 150)]
    began = time.monotonic()
    statuses = [status for status, _ in await all_of(many, "now")]
    numbers = {phone.device for phone in many} - {""}
    assert statuses.count(200) == len(numbers) and statuses.count(503) == len(many) - len(numbers) > 100
    assert MOST_OF_ADDRESS <= len(numbers) <= MOST_OF_ADDRESS + 1 + NUMBERS * (time.monotonic() - began + LONGEST_WAIT)
    honest = calm.phone()
    await honest.sign_in()  # it asks again, as phones do
    calm.ask("tap")
    calm.go(Phase.OPEN)
    assert await honest.vote("1") == (200, "kept")
    for phone in (*many, honest):
        await phone.leave()


async def test_one_client_takes_no_more_places_than_an_address_may_and_the_teacher_is_told(calm: School) -> None:
    """A class from another address still gets its places."""
    calm.code, calm.key = calm.store.create()
    calm.ask("tap")
    calm.go(Phase.OPEN)
    many = [calm.phone(source="127.0.0.9") for _ in range(MOST_OF_ADDRESS + 5)]
    await all_of(many, "now")
    given = [phone for phone in many if phone.device]
    found = Counter([await phone.vote("0", n=1, r=1) for phone in given])
    assert found[200, "kept"] <= MOST_OF_ADDRESS and len({phone.device[:TAG] for phone in given}) == 1
    honest = [calm.phone() for _ in range(5)]
    assert [await phone.vote("1", n=1, r=1) for phone in honest] == [(200, "kept")] * 5
    assert calm.act("most_of_address") == found[200, "kept"]
    for phone in (*many, *honest):
        await phone.leave()


async def test_while_the_database_is_locked_a_vote_is_not_acknowledged_and_then_kept(
    one: School, tmp_path: Path
) -> None:
    one.ask("tap")
    one.go(Phase.OPEN)
    phone = one.phone()
    await phone.come()
    other = sqlite3.connect(tmp_path / "classes.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert await phone.vote("1") == (503, "busy")
    other.close()
    assert await phone.vote("1") == (200, "kept")
    one.go(Phase.CLOSED)
    await phone.wait(lambda says: says["phase"] == "closed")
    assert one.votes() == {1: [("1", 2)]}
    await phone.leave()


async def test_a_worker_ends_when_it_is_told_to_though_phones_are_listening(one: School) -> None:
    phones = [one.phone() for _ in range(20)]
    await all_of(phones, "come")
    since = time.monotonic()
    await asyncio.to_thread(end, one.processes, 0)
    assert time.monotonic() - since < 5
    await all_of(phones, "leave")


def test_the_page_is_small_speaks_both_languages_and_needs_no_other_host(calm: School) -> None:
    address = f"http://127.0.0.1:{calm.ports[0]}/join"
    wanted = {"": "en", "zh-CN,zh;q=0.9,en;q=0.8": "zh", "de,en;q=0.7,zh;q=0.3": "en", "fr;q=x": "en"}
    for accepted, language in wanted.items():
        with urlopen(Request(address, headers={"Accept-Language": accepted})) as answer:
            assert answer.headers["Vary"] == "Accept-Language"
            html = answer.read()
        text = html.decode()
        assert f'<html lang="{language}">' in text and len(compress(html)) <= 30_000
        assert not re.search(r"https?:|\bsrc=|@import|url\(", text)
        for one_language in LANGUAGES:
            assert json.dumps(words(one_language)["lobby"], ensure_ascii=False) in text
    assert "{" not in re.sub(r"<(style|script)\b.*?</\1>", "", text, flags=re.DOTALL), "all places are filled in"
    *_, script = re.findall(r"<script\b.*?>(.*?)</script>", text, re.DOTALL)
    script = re.sub(r"/\*.*?\*/|//.*|'[^'\n]*'", "", script)
    newer = r"=>|\blet\b|\bconst\b|\bclass\b|`|\bimport\b|\basync\b|innerHTML|\?\?|\?\.\w|\*\*|function \w*\([^)]*="
    assert "inCell" in script and not re.search(newer, script), "old phones run it"
    again = Request(address, headers={"If-None-Match": answer.headers["ETag"]})
    with pytest.raises(HTTPError, match="304"):
        urlopen(again)
