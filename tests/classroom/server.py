"""Servers of the app on local ports, and what they cost."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from urllib.error import URLError
from urllib.request import urlopen

import psutil

ROOT = Path(__file__).parents[2]
APP = ROOT / "app.py"
#: As in the Makefile, visitors share cores and memory; servers log errors only.
SETTINGS = {
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "MALLOC_MMAP_THRESHOLD_": "262144",
    "STREAMLIT_LOGGER_LEVEL": "error",
}


@dataclass
class Server:
    """One or several workers behind one address."""

    address: str
    process: subprocess.Popen

    @property
    def url(self) -> str:
        return f"http://{self.address}"

    def workers(self) -> list[psutil.Process]:
        """The Streamlit processes."""
        parent = psutil.Process(self.process.pid)
        return [
            one for one in (parent, *parent.children(recursive=True)) if _arguments(one)[1:3] == ["-m", "streamlit"]
        ]

    def cpu(self) -> float:
        """CPU seconds used by the workers."""
        return sum(sum(worker.cpu_times()[:2]) for worker in self.workers())

    def memory(self) -> float:
        """Resident memory of the largest worker, in MB."""
        return max(worker.memory_info().rss for worker in self.workers()) / 1e6


def _arguments(process: psutil.Process) -> list[str]:
    """Command line of a process; [] if it has ended."""
    try:
        return process.cmdline()
    except psutil.NoSuchProcess:
        return []


@contextmanager
def serve(
    app: Path = APP,
    workers: int | None = None,
    root: Path = ROOT,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[Server]:
    """Serve the app, from its first health check to the end of the block: one bare server, or `workers` behind nginx.

    `root` is the project's folder or a copy of it.
    """
    port = free_ports(1 + (workers or 0))
    about = os.environ | SETTINGS | {"PYTHON": sys.executable, "APP": str(app)} | environment
    if workers is None:
        command = [sys.executable, "-m", "streamlit", "run", str(app), "--server.address", "127.0.0.1"]
        command += ["--server.port", str(port), "--server.headless", "true"]
    else:
        command = [str(root / ".serve" / "serve")]
        about |= {"ADDRESS": "127.0.0.1", "PORT": str(port), "WORKERS": str(workers)}
    address, health = f"127.0.0.1:{port}", "_stcore/health" if workers is None else "health"
    process = subprocess.Popen(command, cwd=root, env=about, stdout=subprocess.DEVNULL)
    try:
        wait_for(f"http://{address}/{health}", process)
        yield Server(address, process)
    finally:
        process.terminate()
        process.wait(20)


def wait_for(health: str, process: subprocess.Popen) -> None:
    for _ in range(600):
        if process.poll() is not None:
            raise RuntimeError(f"the server ended with code {process.returncode} before it was ready")
        try:
            with urlopen(health, timeout=1):
                return
        except (URLError, OSError):
            time.sleep(0.1)
    raise RuntimeError("the server was not ready within a minute")


def free_ports(number: int = 1) -> int:
    """First of `number` consecutive free ports. Concurrent processes look in different places.

    The three workers of a test run use separate ranges, so that a killed server can take its port back.
    """
    begin = 9000 + 7_000 * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 3)
    for first in range(begin + os.getpid() % 50 * 101, begin + 7_000, 101):
        with ExitStack() as probes:
            try:
                for port in range(first, first + number):
                    probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
                return first
            except OSError:
                continue
    raise RuntimeError("no free ports on this machine")
