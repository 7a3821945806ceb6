"""Workers that serve phones without Streamlit, and a class on them with its teacher."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from pages.school.classroom.store import Store
from tests.classroom.phone import Phone
from tests.classroom.server import ROOT, free_ports, wait_for
from tests.school.classroom.taught import Class


class School(Class):
    """Workers on one store, and a class with its teacher."""

    def __init__(self, url: str, ports: list[int], processes: list[subprocess.Popen]) -> None:
        super().__init__(Store(url))
        self.ports, self.processes = ports, processes

    def phone(self, worker: int = 0, code: str | None = None, source: str = "127.0.0.1") -> Phone:
        return Phone(f"127.0.0.1:{self.ports[worker]}", code or self.code, source)

    def votes(self) -> dict[int, list]:
        return dict(self.act("asked")[-1].votes)


@contextmanager
def school(environment: dict[str, str], url: str, workers: int = 1) -> Iterator[School]:
    with ExitStack() as stack:
        first, processes = free_ports(workers), []
        ports = [*range(first, first + workers)]
        for which, port in enumerate(ports):
            processes.append(start(port, environment))
            stack.callback(end, processes, which)
        for port, process in zip(ports, processes, strict=True):
            wait_for(f"http://127.0.0.1:{port}/join", process)
        yield School(url, ports, processes)


def start(port: int, environment: dict[str, str]) -> subprocess.Popen:
    command = [sys.executable, "-m", "tests.classroom.phones_only", str(port)]
    return subprocess.Popen(command, cwd=ROOT, env=os.environ | environment)


def end(processes: list[subprocess.Popen], which: int) -> None:
    processes[which].terminate()
    processes[which].wait(20)
