"""Several servers behind nginx, run from the container's files: a visitor stays on one worker, and survives its end."""

import asyncio
import gzip
import os
import re
import resource
import selectors
import shutil
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import psutil
import pytest

from pages.school.classroom.door import MOST_OF_ADDRESS
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import Store
from pages.server import assets
from tests.classroom.phone import Phone, all_of, is_in
from tests.classroom.server import ROOT, Server, serve
from tests.classroom.visitor import Visitor
from tests.school.classroom.asked import EXAMPLES

#: Streams allowed from one address here: fewer than in production, more than a class has, and quick to open.
STREAMS = 800


def lay_out(folder: Path) -> None:
    """Copy exactly what the Containerfile copies into /app."""
    for source, target in re.findall(r"^COPY (\S+) (\S+)$", (ROOT / ".serve/Containerfile").read_text(), re.MULTILINE):
        if (ROOT / source).is_dir():
            shutil.copytree(ROOT / source, folder / target)
        else:
            shutil.copy(ROOT / source, folder / target)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    if not shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin"):
        reason = "no nginx on this machine (Debian: apt-get install nginx)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    folder = tmp_path_factory.mktemp("app")
    lay_out(folder)
    conf = folder / ".serve/nginx.conf"
    most = re.sub("limit_conn phones 2000;", f"limit_conn phones {STREAMS};", conf.read_text())
    assert most != conf.read_text()
    conf.write_text(most)
    with serve(folder / "app.py", workers=2, root=folder) as server:
        yield server


async def come(server: Server, number: int) -> Visitor:
    visitor = Visitor(server.address)
    await visitor.open("attention", f"s=the+dog+saw+{number}+cats+.&layer={1 + number}&head={2 + number}")
    return visitor


async def test_visitors_are_shared_out_and_stay_where_they_are(server: Server) -> None:
    visitors = [await come(server, number) for number in range(4)]
    first = [visitor.worker for visitor in visitors]
    assert sorted(Counter(first).values()) == [2, 2]
    for visitor in visitors:
        await visitor.set(head=1)
        await visitor.go("heads")
        await visitor.close()
    assert [visitor.worker for visitor in visitors] == first
    assert not any(visitor.lost for visitor in visitors)


def seen(visitor: Visitor) -> tuple:
    return visitor.path, visitor.value("s"), visitor.value("layer"), visitor.value("head"), visitor.link


async def test_when_a_worker_dies_its_visitors_go_on_with_what_they_had(server: Server) -> None:
    visitors = [await come(server, number) for number in range(4)]
    await visitors[0].go("heads")
    await visitors[1].set(s="typed , not in the first link .")
    before = [seen(one) for one in visitors]
    homes, doomed = [one.worker for one in visitors], visitors[0].worker
    (process,) = [one for one in server.workers() if doomed in one.cmdline()]
    process.kill()
    start = time.monotonic()
    await asyncio.gather(*(visitor.again() for visitor in visitors))
    assert time.monotonic() - start < 60
    assert [seen(one) for one in visitors] == before
    assert [visitor.lost > 0 for visitor in visitors] == [home == doomed for home in homes]
    for visitor in visitors:
        await visitor.close()
    while len(server.workers()) < 2 or process.pid in {one.pid for one in server.workers()}:
        assert time.monotonic() - start < 60, "the worker is started again"
        await asyncio.sleep(0.1)


def test_when_nginx_is_killed_it_is_started_again_and_its_orphans_are_ended(server: Server) -> None:
    everything = psutil.Process(server.process.pid).children(recursive=True)
    nginx = [one for one in everything if one.name() == "nginx"]
    (master,) = [one for one in nginx if one.parent() not in nginx]
    start = time.monotonic()
    master.kill()
    psutil.wait_procs(nginx, timeout=10)
    assert not any(one.is_running() for one in nginx)
    while True:
        try:
            with urlopen(f"http://{server.address}/health", timeout=10) as answer:
                assert answer.read() == b"ok"
                break
        except OSError:
            assert time.monotonic() - start < 20
            time.sleep(0.1)


def test_health_is_served_and_only_what_no_camera_makes_is_refused_at_the_door(server: Server) -> None:
    with urlopen(f"http://{server.address}/health", timeout=10) as answer:
        assert answer.read() == b"ok"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "frame-ancestors 'self'" in answer.headers["Content-Security-Policy"]
    with pytest.raises(HTTPError, match="403"):  # only this machine may read how full the caches are
        urlopen(f"http://{server.address}/_stcore/metrics", timeout=10)
    for size, refused_at_the_door in ((12 * 2**20, False), (40 * 2**20, True)):
        upload = Request(f"http://{server.address}/_stcore/upload_file/a/b", data=bytes(size), method="PUT")
        with pytest.raises(HTTPError) as refused:  # refused by the app, because the session has no visitor
            urlopen(upload, timeout=10)
        assert (refused.value.code == 413) is refused_at_the_door


def test_a_forged_cookie_leads_to_a_worker_and_nowhere_else(server: Server) -> None:
    arguments = [worker.cmdline() for worker in server.workers()]
    ports = {line[line.index("--server.port") + 1] for line in arguments}
    for forged in ("22", "127.0.0.1:22", "example.org", "%00", "x" * 1000):
        request = Request(f"http://{server.address}/", headers={"Cookie": f"worker={forged}"})
        with urlopen(request, timeout=10) as answer:
            assert SimpleCookie("; ".join(answer.headers.get_all("Set-Cookie")))["worker"].value in ports


def ask(server: Server, words: str) -> socket.socket:
    """Open a connection and send the beginning of a request."""
    host, port = server.address.split(":")
    connection = socket.create_connection((host, int(port)), timeout=10)
    connection.sendall(words.encode())
    return connection


@pytest.fixture
def many_connections() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 10_000:
        pytest.skip("this system allows nobody so many connections")
    resource.setrlimit(resource.RLIMIT_NOFILE, (10_000, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("many_connections")
def test_thousands_of_requests_that_are_never_finished_keep_nobody_out(server: Server) -> None:
    begun = f"GET / HTTP/1.1\r\nHost: {server.address}\r\n"
    with ExitStack() as unfinished, selectors.DefaultSelector() as closed:
        missing = 4200
        for _ in range(3):  # refill as nginx makes room by closing some
            for _ in range(missing):
                closed.register(unfinished.enter_context(ask(server, begun)), selectors.EVENT_READ)
            time.sleep(0.1)
            gone = [key.fileobj for key, _ in closed.select(timeout=0)]
            missing = len([closed.unregister(one) for one in gone])
        for _ in range(20):
            with urlopen(f"http://{server.address}/attention", timeout=10) as answer:
                assert answer.status == 200


def test_for_a_client_that_asks_and_does_not_read_little_is_held(server: Server) -> None:
    sockets = Path("/proc/net/tcp")  # a line per socket: addresses, state, bytes waiting to be sent
    if not sockets.exists():
        pytest.skip("only Linux tells what waits to be sent")
    head = f"GET /{assets.address(assets.PLOTLY)} HTTP/1.1\r\nHost: {server.address}\r\n\r\n"
    with ask(server, head) as connection:
        here, there = connection.getsockname()[1], connection.getpeername()[1]
        ends = f":{there:04X} 0100007F:{here:04X} "
        time.sleep(0.5)
        (line,) = [line for line in sockets.read_text().splitlines() if ends in line]
        waiting = int(line.split()[4].split(":")[0], 16)
    assert 0 < waiting < 300_000


@pytest.mark.parametrize(
    ("asked", "status"), [("POST /", 413), ("POST /health", 413), ("PUT /_stcore/upload_file/a/b", 403)]
)
def test_a_strangers_file_is_refused_before_it_is_taken_in(server: Server, asked: str, status: int) -> None:
    head = f"{asked} HTTP/1.1\r\nHost: {server.address}\r\nContent-Length: 32000000\r\n\r\n"
    with ask(server, head + "its beginning") as connection:
        assert connection.recv(4096).startswith(f"HTTP/1.1 {status} ".encode())


async def test_a_visitor_sends_a_large_picture_and_no_more_than_three_at_once(server: Server) -> None:
    visitor = await come(server, 0)
    assert await visitor.send(bytes(12 * 2**20)) == 204
    path, headers = visitor.upload("b")
    lines = [f"PUT {path} HTTP/1.1", f"Host: {server.address}", "Content-Length: 32000000"]
    head = "\r\n".join([*lines, *(f"{name}: {value}" for name, value in headers.items()), "", ""])
    with ExitStack() as unfinished:
        for _ in range(3):
            unfinished.enter_context(ask(server, head))
        last = unfinished.enter_context(ask(server, head))
        assert last.recv(4096).startswith(b"HTTP/1.1 429 ")
    await visitor.close()


def store_of(server: Server) -> Store:
    """The app's default store of classes."""
    return Store(f"sqlite:///{server.workers()[0].cwd()}/.data/classes.sqlite")


async def test_a_large_class_behind_one_address_hears_and_votes_and_outlives_a_worker(server: Server) -> None:
    store = store_of(server)
    code, key = store.create()
    sources = [*["127.0.0.1"] * MOST_OF_ADDRESS, *["127.0.0.2"] * 100]  # as many as one address may bring, and others
    phones = [Phone(server.address, code, source) for source in sources]
    await all_of(phones, "come")
    store.ask(code, key, 1, 0, EXAMPLES["tap"].shown, EXAMPLES["tap"].truth)
    since = time.monotonic()
    store.advance(code, key, 2, Phase.OPEN)
    heard = await all_of(phones, "wait", is_in("open"))
    assert max(heard) - since < 5, "nothing is kept back on the way"

    async def vote(place: int, phone: Phone) -> None:
        await asyncio.sleep(place / 200)
        for _ in range(100):
            try:
                if await phone.vote("01"[place % 2], n=1, r=1) == (200, "kept"):
                    return
            except (OSError, ValueError, asyncio.IncompleteReadError):
                phone._line = None
            await asyncio.sleep(0.1)
        raise AssertionError("never acknowledged")

    async def kill() -> None:
        await asyncio.sleep(1)
        server.workers()[0].kill()

    await asyncio.gather(kill(), *(vote(*one) for one in enumerate(phones)))
    assert store.count(code)[0] == 700
    store.advance(code, key, 3, Phase.CLOSED)
    await all_of(phones, "wait", is_in("closed"))
    assert sorted(vote.guess for vote in store.asked(code, key)[0].votes[1]) == ["0"] * 350 + ["1"] * 350
    await all_of(phones, "leave")


@pytest.mark.usefixtures("many_connections")
async def test_no_stream_keeps_a_vote_out(server: Server) -> None:
    """Phones from one address hold as many streams as it may; then a class votes from there."""
    store = store_of(server)
    code, key = store.create()
    listeners = [Phone(server.address, code) for _ in range(STREAMS // 2)]
    await all_of(listeners, "sign_in")
    with ExitStack() as lines:
        opened = []
        for one in listeners * 3:
            asked = f"GET /live/{code}?d={one.device} HTTP/1.1\r\nHost: {server.address}\r\n\r\n"
            opened.append(lines.enter_context(await asyncio.to_thread(ask, server, asked)))
        refused = sum(b" 429 " in line.recv(100) for line in opened)
        assert refused == STREAMS // 2
        store.ask(code, key, 1, 0, EXAMPLES["tap"].shown, EXAMPLES["tap"].truth)
        store.advance(code, key, 2, Phase.OPEN)
        phones = [Phone(server.address, code) for _ in range(30)]
        assert [await phone.vote("1", n=1, r=1) for phone in phones] == [(200, "kept")] * 30
        assert {(await phone.now())[0] for phone in phones} == {200}
        await all_of((*phones, *listeners), "leave")


def test_the_page_for_phones_comes_packed_and_starts_no_client(server: Server) -> None:
    packed = Request(f"http://{server.address}/join", headers={"Accept-Encoding": "gzip"})
    with urlopen(packed, timeout=10) as answer:
        assert answer.headers["Content-Encoding"] == "gzip" and answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Set-Cookie"] is None
        page = answer.read()
    assert len(page) <= 30_000 and b'id="words"' in gzip.decompress(page)
