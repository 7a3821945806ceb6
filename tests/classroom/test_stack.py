"""The machines of stack.yaml, on this one: two servers with an nginx each, one front, one PostgreSQL."""

import asyncio
import os
import re
import shutil
import socket
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection
from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from sqlalchemy import select

from pages.school.classroom import store as kept
from pages.school.classroom.door import LONGEST_WAIT, LOOKS, MOST_FAILURES
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import Store
from tests.classroom.phone import Phone, all_of, is_in
from tests.classroom.server import ROOT, Server, free_ports, serve
from tests.postgres import postgres
from tests.school.classroom.asked import EXAMPLES

NGINX = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin")


@contextmanager
def front(machines: list[Server], folder: Path) -> Iterator[str]:
    """The front's configuration, with addresses in place of Docker's names."""
    port = free_ports()
    conf = (ROOT / ".serve/front.conf").read_text()
    named = re.findall(r"( *)server tasks\.app:8501 resolve (.*;)", conf)
    assert len(named) == 2 and len(set(named)) == 1
    servers = "\n".join(f"{named[0][0]}server {machine.address} {named[0][1]}" for machine in machines)
    conf = re.sub(r" *server tasks\.app.*", servers, re.sub(r" *resolver .*", "", conf))
    conf = conf.replace("listen 8501;", f"listen 127.0.0.1:{port};")
    (folder / "front.conf").write_text(conf)
    command = [NGINX, "-p", folder, "-c", folder / "front.conf"]
    nginx = subprocess.Popen([*command, "-g", f"daemon off; pid {folder}/pid; error_log stderr crit;"])
    try:
        for _ in range(100):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            assert nginx.poll() is None
            time.sleep(0.05)
        yield f"127.0.0.1:{port}"
    finally:
        nginx.terminate()
        nginx.wait(20)


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store, list[Server]]]:
    """Address of the front, the shared store, and the machines."""
    if NGINX is None:
        reason = "no nginx on this machine (Debian: apt-get install nginx)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    with ExitStack() as all_of_it:
        url = all_of_it.enter_context(postgres())
        about = {"DATABASE_URL": url, "BEHIND": "127.0.0.1"}
        machines = [all_of_it.enter_context(serve(workers=1, environment=about)) for _ in range(2)]
        address = all_of_it.enter_context(front(machines, tmp_path_factory.mktemp("front")))
        yield address, Store(url.replace("postgresql:", "postgresql+psycopg:")), machines


async def test_one_class_is_spread_over_both_machines_and_outlives_one(stack: tuple[str, Store, list[Server]]) -> None:
    address, store, machines = stack
    code, key = store.create()
    phones = [Phone(address, code) for _ in range(60)]
    await all_of(phones, "come")
    store.ask(code, key, 1, 0, EXAMPLES["chips"].shown, EXAMPLES["chips"].truth)
    store.advance(code, key, 2, Phase.OPEN)
    await all_of(phones, "wait", is_in("open"))
    kept_ones = await all_of(phones, "vote", [0, 3, 0])
    assert set(kept_ones) == {(200, "kept")} and store.count(code)[0] == 60
    for _ in range(100):
        if store.count(code)[1] == 60:
            break
        await asyncio.sleep(0.1)
    with store._look() as now:
        held = now.scalars(select(kept.present.c.marks).where(kept.present.c.code == code)).all()
    assert [len(marks) // kept.MARK for marks in held] == [30, 30], "each machine has its half of them"
    machines[0].workers()[0].kill()
    store.advance(code, key, 3, Phase.CLOSED)
    await all_of(phones, "wait", is_in("closed"))
    await all_of(phones, "leave")


def fetch(address: str, path: str, source: str = "127.0.0.1", **headers: str) -> tuple[int, SimpleCookie]:
    host, port = address.split(":")
    line = HTTPConnection(host, int(port), timeout=20, source_address=(source, 0))
    line.request("GET", path, headers=headers)
    answer = line.getresponse()
    answer.read()
    line.close()
    return answer.status, SimpleCookie("; ".join(answer.headers.get_all("Set-Cookie") or ()))


def test_a_visitor_stays_on_the_machine_where_he_began_and_others_come_to_the_other(
    stack: tuple[str, Store, list[Server]],
) -> None:
    began = Counter()
    for _ in range(20):
        status, cookies = fetch(stack[0], "/")
        assert status == 200
        home = cookies["worker"].value
        began[home] += 1
        again = {
            fetch(stack[0], "/", Cookie=f"machine={cookies['machine'].value}")[1]["worker"].value for _ in range(4)
        }
        assert again == {home}
    assert len(began) == 2


async def test_each_visitor_has_his_own_limits_though_all_come_through_the_front(
    stack: tuple[str, Store, list[Server]],
) -> None:
    """Headers sent by a client cannot change its address."""

    async def wrong(number: int) -> int:
        letters = "BCDEFGHJKL"
        code = "AAA" + "".join(letters[number // power % 10] for power in (100, 10, 1))
        reader, writer = await asyncio.open_connection(*stack[0].split(":"), local_addr=("127.0.0.2", 0))
        head = f"Host: a\r\nX-Forwarded-For: 10.1.1.{number % 250}\r\nConnection: close"
        writer.write(f"GET /live/{code}/now HTTP/1.1\r\n{head}\r\n\r\n".encode())
        status = int((await reader.readline()).split()[1])
        writer.close()
        return status

    found = Counter(await asyncio.gather(*map(wrong, range(900))))
    assert set(found) == {404, 429} and found[404] < 2 * (MOST_FAILURES + LOOKS * 2 * LONGEST_WAIT)
    began = time.monotonic()
    assert fetch(stack[0], "/live/ZZZZZZ/now", "127.0.0.3")[0] == 404
    assert time.monotonic() - began < 2
