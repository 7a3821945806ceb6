"""A phone of a class, like the page /join: it listens, votes, and can repeat a vote until it is acknowledged."""

import asyncio
import json
import time
from collections.abc import Callable, Iterable
from typing import Any

PATIENCE, LONGEST = 20, 120  # seconds, for an answer and for a number


async def all_of(phones: "Iterable[Phone]", does: str, *said: Any) -> list[Any]:
    """What each phone answers where all do the same at once."""
    return await asyncio.gather(*(getattr(phone, does)(*said) for phone in phones))


def is_in(phase: str) -> Callable[[dict[str, Any]], bool]:
    """Whether a message tells this phase."""
    return lambda says: says["phase"] == phase


class Phone:
    """A phone on one server or proxy.

    heard: (time.monotonic(), message) of all that the class was told. raw: every byte of it and of the answers.
    """

    def __init__(self, address: str, code: str, source: str = "127.0.0.1") -> None:
        """address: host:port. source: the local address that it connects from."""
        self.host, _, port = address.partition(":")
        self.source = source, 0
        self.port, self.code = int(port), code
        self.device = ""  # its number, once the server has given it one
        self.heard: list[tuple[float, dict[str, Any]]] = []
        self.raw = bytearray()
        self.status = 0
        self._listening: asyncio.Task[None] | None = None
        self._news = asyncio.Event()
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    @property
    def says(self) -> dict[str, Any]:
        """The last message to the class."""
        return self.heard[-1][1] if self.heard else {}

    async def come(self) -> None:
        """Get a number, and listen from now on."""
        await self.sign_in()
        self._listening = asyncio.create_task(self._listen())
        async with asyncio.timeout(PATIENCE):
            while not self.heard and not self._listening.done():
                await self._hears()

    async def wait(self, wanted: Callable[[dict[str, Any]], bool]) -> float:
        """Wait for a message; returns when it first arrived."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for when, says in self.heard:
                    if wanted(says):
                        return when
                await self._hears()

    async def leave(self) -> None:
        if self._listening:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._line:
            self._line[1].close()

    async def sign_in(self) -> None:
        """Ask for a number until there is one, or there is no such class."""
        async with asyncio.timeout(LONGEST):
            while not self.device:
                try:
                    self.status, _ = await self.now()
                except (asyncio.IncompleteReadError, OSError):
                    self.status = 0
                if self.status == 404:
                    return
                if not self.device:
                    await asyncio.sleep(0.5)

    async def now(self) -> tuple[int, dict[str, Any]]:
        """Ask once for the state, as phones do that cannot listen; also gives a phone its number."""
        status, answer = await self.ask("GET", "/now")
        self.device = answer.pop("device", self.device)
        return status, answer

    async def vote(self, guess: object, sure: int = 2, **where: int) -> tuple[int, str]:
        """Send a vote once; returns the status and the verdict."""
        await self.sign_in()
        at = {"n": self.says.get("number", 1), "r": self.says.get("round", 1)} | where
        status, answer = await self.ask("POST", "/vote", json.dumps({**at, "guess": guess, "sure": sure}).encode())
        return status, answer.get("verdict", "")

    async def ask(
        self, method: str, what: str, body: bytes = b"", kind: str = "application/json"
    ) -> tuple[int, dict[str, Any]]:
        """One request on a connection that is kept."""
        for attempt in (1, 2):
            self._line = self._line or await asyncio.open_connection(self.host, self.port, local_addr=self.source)
            reader, writer = self._line
            try:
                writer.write(self._head(method, what, body, kind) + body)
                async with asyncio.timeout(PATIENCE):
                    status, headers = await self._answer(reader)
                    content = await reader.readexactly(int(headers.get("content-length", 0)))
                break
            except (asyncio.IncompleteReadError, ConnectionError):
                self._line = None
                if attempt == 2:
                    raise
        self.raw += content
        if headers.get("connection") == "close":
            writer.close()
            self._line = None
        return status, json.loads(content) if "json" in headers.get("content-type", "") else {}

    def _head(self, method: str, what: str, body: bytes = b"", kind: str = "") -> bytes:
        path = f"/live/{self.code}{what}{'&' if '?' in what else '?'}d={self.device}"
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}"]
        if body:
            lines += [f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
        return "\r\n".join([*lines, "", ""]).encode()

    async def _answer(self, reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        pairs = (line.partition(":") for line in head[1:] if line)
        return int(head[0].split()[1]), {name.lower(): value.strip() for name, _, value in pairs}

    async def _listen(self) -> None:
        """Listen to server-sent events (HTTP/1.1 chunks); reconnect when the connection breaks."""
        while True:
            try:
                reader, writer = await asyncio.open_connection(self.host, self.port, local_addr=self.source)
            except OSError:
                await asyncio.sleep(0.2)
                continue
            try:
                writer.write(self._head("GET", ""))
                self.status, _ = await self._answer(reader)
                if self.status in (403, 404, 429):
                    return
                if self.status != 200:  # the server is gone: wait before asking again, as /join does
                    await asyncio.sleep(0.2)
                text = b""
                while self.status == 200:
                    size = int(await reader.readuntil(b"\r\n"), 16)
                    text += (await reader.readexactly(size + 2))[:-2]
                    *whole, text = text.split(b"\r\n\r\n")
                    for event in whole:
                        self._take(event)
                    if not size:
                        break
            except (asyncio.IncompleteReadError, OSError, ValueError):
                await asyncio.sleep(0.2)
            finally:
                writer.close()
                self._tell()

    def _take(self, event: bytes) -> None:
        self.raw += event
        lines = event.decode().split("\r\n")
        if data := [line[6:] for line in lines if line.startswith("data: {")]:
            says = json.loads(data[0])
            self.heard.append((time.monotonic(), says))
        if "event: gone" in lines:
            self.heard.append((time.monotonic(), {"phase": "gone"}))
        self._tell()

    def _tell(self) -> None:
        news, self._news = self._news, asyncio.Event()
        news.set()

    async def _hears(self) -> None:
        await self._news.wait()
