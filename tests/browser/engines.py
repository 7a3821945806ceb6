"""WebKit and Firefox, each by its own driver protocol, as on a Mac, an iPhone, or in Firefox.

WebKit is driven by WebDriver over HTTP, on a virtual screen; Firefox by WebDriver BiDi over a web socket.
"""

import json
import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from urllib.request import Request, urlopen

from websockets.sync.client import ClientConnection, connect

from tests.browser.conftest import lacking
from tests.classroom.server import free_ports, wait_for

MINIBROWSER = next(iter(sorted(Path("/usr/lib").glob("*/webkit2gtk-4.?/MiniBrowser"))), None)
PATIENCE = 90  # seconds; a busy machine is slow, not broken
KEYS = {"Enter": "\ue007", "ArrowDown": "\ue015", "ArrowRight": "\ue014"}


class Engine(Protocol):
    """A browser window."""

    def open(self, url: str) -> None:
        """Open an address, and wait until the document is loaded."""

    def errors(self) -> list[str]:
        """Errors of scripts since then."""

    def run(self, body: str, *given: Any) -> Any:
        """Result of a function body run on the page, with `given` as its `arguments`."""


def wait(engine: Engine, body: str, *given: Any) -> Any:
    """Result of `run`, once it is truthy in JavaScript."""
    until = time.monotonic() + PATIENCE
    while not (found := engine.run(body, *given)):
        assert time.monotonic() < until, f"never so: {body} {given}; {engine.errors()}"
        time.sleep(0.2)
    return found


def needed(*programs: str | Path | None, packages: str) -> None:
    """Skip the test if a program is missing; in CI, fail."""
    if all(program and shutil.which(program) for program in programs):
        return
    lacking(f"a browser is missing on this machine (Debian: apt-get install {packages})")


@contextmanager
def ended(command: Sequence[str | Path], **about: Any) -> Iterator[subprocess.Popen]:
    """Run a program until the end of the block."""
    process = subprocess.Popen(command, text=True, **about)
    try:
        yield process
    finally:
        process.terminate()
        process.wait(20)


# -- WebKit -----------------------------------------------------------------------------------------------------------


# The driver does not report errors.
LISTEN = """window.failed = []
for (const kind of ['error', 'unhandledrejection'])
  addEventListener(kind, ({ message = '', reason }) => {
    if (!message.startsWith('ResizeObserver loop')) failed.push(message || String(reason))  // drawn in the next frame
  })"""


# [left, top, width, height] of an element once it no longer moves; also searches components' shadow trees.
BOX = """const trees = [document, ...[...document.querySelectorAll('*')].map(one => one.shadowRoot).filter(Boolean)]
const found = trees.map(tree => tree.querySelector(arguments[0])).find(Boolean)
if (!found || found.disabled) return null
found.scrollIntoView({ block: 'nearest' })
const { x, y, width, height } = found.getBoundingClientRect(), box = [x, y, width, height]
if (found.stood !== String(box)) return void (found.stood = String(box))
return width * height ? box : null"""


class WebKit:
    """A window of WebKit, controlled through its driver."""

    def __init__(self, address: str) -> None:
        self._address = address
        options = {"binary": str(MINIBROWSER), "args": ["--automation"]}
        wanted = {"capabilities": {"alwaysMatch": {"webkitgtk:browserOptions": options}}}
        self._session = f"/session/{self._ask('/session', wanted)['sessionId']}"

    def open(self, url: str) -> None:
        self._ask(f"{self._session}/url", {"url": url})
        self.run(LISTEN)

    def errors(self) -> list[str]:
        return self.run("return window.failed")

    def run(self, body: str, *given: Any) -> Any:
        return self._ask(f"{self._session}/execute/sync", {"script": body, "args": given})

    def resize(self, width: int, height: int) -> None:
        self._ask(f"{self._session}/window/rect", {"width": width, "height": height})

    def click(self, selector: str) -> None:
        self.drag(selector, (0.5, 0.5))

    def press(self, *keys: str) -> None:
        """Press and release each key: a character, or a name in KEYS."""
        strokes = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keys", "actions": strokes})

    def drag(self, selector: str, *points: tuple[float, float]) -> None:
        """Drag the mouse through points, given as shares of the element's width and height."""
        x, y, width, height = wait(self, BOX, selector)
        places = [(x + across * width, y + down * height) for across, down in points]
        moves = [{"type": "pointerMove", "x": round(x), "y": round(y), "duration": 0} for x, y in places]
        steps = [moves[0], {"type": "pointerDown", "button": 0}, *moves[1:], {"type": "pointerUp", "button": 0}]
        self._act({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": steps})

    def close(self) -> None:
        self._ask(self._session, method="DELETE")

    def _act(self, device: dict) -> None:
        self._ask(f"{self._session}/actions", {"actions": [device]})

    def _ask(self, path: str, content: dict | None = None, method: str = "POST") -> Any:
        data = None if content is None else json.dumps(content).encode()
        with urlopen(Request(self._address + path, data, method=method), timeout=PATIENCE) as answer:
            return json.load(answer)["value"]


@contextmanager
def webkit() -> Iterator[WebKit]:
    """A window of WebKit until the end of the block."""
    needed("WebKitWebDriver", "Xvfb", MINIBROWSER, packages="webkit2gtk-driver xvfb")
    port = free_ports()
    address = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        screen = ["Xvfb", "-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp"]
        display = stack.enter_context(ended(screen, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)).stdout
        assert display
        about = {"DISPLAY": f":{display.readline().strip()}", "LANG": "en_US.UTF-8"}
        command = ["WebKitWebDriver", f"--port={port}"]
        driver = stack.enter_context(ended(command, env=os.environ | about, stderr=subprocess.DEVNULL))
        wait_for(f"{address}/status", driver)
        window = WebKit(address)
        stack.callback(window.close)
        window.resize(1180, 820)  # like an iPad
        yield window


# -- Firefox ----------------------------------------------------------------------------------------------------------


class Firefox:
    """A window of Firefox, controlled through its web socket."""

    def __init__(self, socket: ClientConnection) -> None:
        self._errors: list[str] = []
        self._socket, self._number = socket, 0
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        self._window = self._ask("browsingContext.getTree")["contexts"][0]["context"]

    def open(self, url: str) -> None:
        self._errors.clear()
        self._ask("browsingContext.navigate", context=self._window, url=url, wait="complete")

    def errors(self) -> list[str]:
        self.run("return null")  # receives all events sent before the answer
        return self._errors

    def run(self, body: str, *given: Any) -> Any:
        called = f"JSON.stringify((function () {{ {body} }})(...{json.dumps(given)}) ?? null)"
        answer = self._ask("script.evaluate", expression=called, target={"context": self._window}, awaitPromise=True)
        assert "result" in answer, answer
        return json.loads(answer["result"]["value"])

    def _ask(self, method: str, **parameters: Any) -> Any:
        self._number += 1
        self._socket.send(json.dumps({"id": self._number, "method": method, "params": parameters}))
        while (said := json.loads(self._socket.recv(PATIENCE))).get("id") != self._number:
            entry = said.get("params", {})
            if entry.get("level") == "error" and entry.get("type") == "javascript":
                self._errors.append(entry["text"])
        assert said["type"] == "success", said
        return said["result"]


@contextmanager
def firefox() -> Iterator[Firefox]:
    """A window of Firefox with its own profile, until the end of the block."""
    program = next(filter(None, map(shutil.which, ("firefox-esr", "firefox"))), None)
    needed(program, packages="firefox-esr")
    with TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        command = [program, "--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"]
        with ended(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            address = next(filter(None, (re.search(r"ws://\S+", line) for line in process.stderr)))[0]
            with connect(f"{address}/session", max_size=None) as socket:
                yield Firefox(socket)
