"""A PostgreSQL server of one's own for the tests: Debian's, on a port of this machine, gone afterwards."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from tests.classroom.server import free_ports

#: Where Debian keeps its programs: the newest version.
PROGRAMS = max(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), default=None)


@contextmanager
def postgres() -> Iterator[str]:
    """The address of an empty database, until the end of the block. Skips where there is no server; fails under CI."""
    if PROGRAMS is None:
        reason = "no PostgreSQL on this machine (Debian: apt-get install postgresql)"
        pytest.fail(reason) if os.environ.get("CI") else pytest.skip(reason)
    port = free_ports()
    folder = Path(tempfile.mkdtemp(prefix="postgres", dir="/tmp"))  # its own user may not enter the folder of the tests
    data = folder / "data"
    options = {"cwd": folder, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if os.geteuid() == 0:  # it refuses to be root's; Debian's package brings a user for it
        user = pwd.getpwnam("postgres")
        os.chown(folder, user.pw_uid, user.pw_gid)
        options |= {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    try:
        make = ["initdb", "-D", data, "-U", "glass", "--auth=trust", "--encoding=UTF8", "--no-sync"]
        subprocess.run([PROGRAMS / make[0], *make[1:]], check=True, timeout=120, **options)
        settings = ["-p", str(port), "-k", folder, "-c", "listen_addresses=127.0.0.1"]
        server = subprocess.Popen([PROGRAMS / "postgres", "-D", data, *settings], **options)
        try:
            _wait_for(port, server)
            yield f"postgresql://glass@127.0.0.1:{port}/postgres"
        finally:
            server.send_signal(signal.SIGINT)  # at SIGTERM it waits for those who are still connected
            server.wait(20)
    finally:
        shutil.rmtree(folder)


@contextmanager
def frozen(url: str) -> Iterator[None]:
    """While this is entered, the server of `postgres` does nothing at all, and its connections stay."""
    with psycopg.connect(url) as connection:
        (written,) = connection.execute("SELECT pg_read_file('postmaster.pid')").fetchone()
    postmaster = int(written.split()[0])
    os.kill(postmaster, signal.SIGSTOP)  # first: then none of its children comes or goes
    children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
    everyone = [*map(int, children), postmaster]
    for process in everyone[:-1]:
        os.kill(process, signal.SIGSTOP)
    try:
        yield
    finally:
        for process in everyone:
            os.kill(process, signal.SIGCONT)


def _wait_for(port: int, server: subprocess.Popen) -> None:
    ready = [PROGRAMS / "pg_isready", "-h", "127.0.0.1", "-p", str(port), "-q"]
    for _ in range(300):
        if server.poll() is not None:
            raise RuntimeError(f"PostgreSQL ended with code {server.returncode} before it was ready")
        if subprocess.run(ready).returncode == 0:
            return
        time.sleep(0.1)
    raise RuntimeError("PostgreSQL was not ready within half a minute")
