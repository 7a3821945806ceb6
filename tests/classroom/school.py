"""Workers that have phones and no Streamlit, and a class on them with its teacher."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.request import urlopen

from pages.school.classroom.phases import Phase
from pages.school.classroom.store import Store
from tests.classroom.phone import Phone
from tests.classroom.server import ROOT
from tests.school.classroom.asked import EXAMPLES


class School:
    """Workers on one store, and a class with its teacher."""

    def __init__(self, url: str, ports: list[int], processes: list[subprocess.Popen]) -> None:
        self.store, self.ports, self.processes = Store(url), ports, processes
        self.code, self.key = self.store.create()

    def phone(self, worker: int = 0, code: str | None = None, source: str = "127.0.0.1") -> Phone:
        return Phone(f"127.0.0.1:{self.ports[worker]}", code or self.code, source)

    def ask(self, gesture: str, truth: dict | None = None) -> None:
        example = EXAMPLES[gesture]
        version = self.store.of_teacher(self.code, self.key).version
        self.store.ask(self.code, self.key, version, 0, example.shown, truth or example.truth)

    def go(self, *phases: Phase) -> None:
        for phase in phases:
            version = self.store.of_teacher(self.code, self.key).version
            assert self.store.advance(self.code, self.key, version, phase).phase is phase

    def votes(self) -> dict[int, list]:
        return dict(self.store.asked(self.code, self.key)[-1].votes)


@contextmanager
def school(environment: dict[str, str], url: str, workers: int = 1) -> Iterator[School]:
    with ExitStack() as stack:
        ports, processes = [], []
        for _ in range(workers):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                ports.append(probe.getsockname()[1])
            processes.append(start(ports[-1], environment))
            stack.callback(end, processes, len(processes) - 1)
        for port in ports:
            wait_for(port)
        yield School(url, ports, processes)


def start(port: int, environment: dict[str, str]) -> subprocess.Popen:
    command = [sys.executable, "-m", "tests.classroom.phones_only", str(port)]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | environment)


def end(processes: list[subprocess.Popen], which: int) -> None:
    processes[which].terminate()
    processes[which].wait(20)


def wait_for(port: int) -> None:
    for _ in range(300):
        try:
            with urlopen(f"http://127.0.0.1:{port}/join", timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError("the worker was not ready within half a minute")
