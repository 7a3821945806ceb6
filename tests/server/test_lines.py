"""A session's line outlives its web sockets: each message arrives once and in order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from pages.server import lines

NAME = "0123456789abcdef" * 2
ACCEPT = {"type": "websocket.accept", "subprotocol": "streamlit"}


class App:
    """An app behind a line: notes what it receives and answers each message with `answers` messages."""

    def __init__(self, answers: int = 1, size: int = 1) -> None:
        self.heard: list[bytes] = []
        self.gone: list[int] = []
        self._answers, self._size = answers, size

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        assert (await receive())["type"] == "websocket.connect"
        await send(ACCEPT)
        while (message := await receive())["type"] == "websocket.receive":
            self.heard.append(message["bytes"])
            for number in range(self._answers):
                await send({"type": "websocket.send", "bytes": message["bytes"] * self._size + bytes([number])})
        self.gone.append(message["code"])


class Socket:
    """A browser's web socket: its messages, and what it received."""

    def __init__(self) -> None:
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        self.told: list[Message] = []

    async def receive(self) -> Message:
        return await self._said.get()

    async def send(self, message: Message) -> None:
        if self.closed:
            raise RuntimeError("after sending 'websocket.close'")  # as uvicorn does
        self.told.append(message)

    def say(self, said: bytes | str) -> None:
        self._said.put_nowait({"type": "websocket.receive", "text" if isinstance(said, str) else "bytes": said})

    def close(self, code: int) -> None:
        self._said.put_nowait({"type": "websocket.disconnect", "code": code})

    @property
    def bytes(self) -> list[bytes]:
        return [message["bytes"] for message in self.told if message.get("bytes") is not None]

    @property
    def acknowledged(self) -> list[str]:
        return [message["text"] for message in self.told if message.get("text") is not None]

    @property
    def closed(self) -> list[int]:
        return [message["code"] for message in self.told if message["type"] == "websocket.close"]


@asynccontextmanager
async def socket(
    app: ASGIApp, heard: int = 0, again: str = "", origin: bytes = b"here", name: str = NAME
) -> AsyncIterator[Socket]:
    """A socket of the line; after the block its network is gone."""
    one = Socket()
    one._said.put_nowait({"type": "websocket.connect"})
    query = f"line={name}&heard={heard}{again}".encode()
    scope = {"type": "websocket", "query_string": query, "headers": [(b"origin", origin)]}
    served = asyncio.create_task(lines.through_a_line(app, scope, one.receive, one.send))
    await _settled()
    yield one
    await _settled()
    one.close(1006)
    await asyncio.wait_for(served, 2)


async def _settled() -> None:
    for _ in range(60):
        await asyncio.sleep(0)


async def test_what_either_side_did_not_hear_comes_through_the_next_socket() -> None:
    app = App(answers=2)
    async with socket(app) as first:
        first.say(b"a")
        await _settled()
        assert first.told[0] == ACCEPT and first.acknowledged == ["0", "1"] and first.bytes == [b"a\0", b"a\1"]
        first.say("1")  # it has heard one of two
    async with socket(app, heard=1, again="&again=1") as second:
        assert second.told[0] == ACCEPT and second.acknowledged == ["1"] and second.bytes == [b"a\1"]
        second.say(b"b")
    async with socket(app, heard=4, again="&again=1") as third:
        assert third.acknowledged == ["2"] and third.bytes == []
    assert app.heard == [b"a", b"b"] and not app.gone


async def test_an_old_socket_says_and_is_told_nothing_more_once_there_is_another() -> None:
    app = App()
    async with socket(app) as first:
        first.say(b"a")
        await _settled()
        async with socket(app, heard=1, again="&again=1") as second:
            first.say(b"b")
            await _settled()
            second.say(b"b")
    assert app.heard == [b"a", b"b"] and first.bytes == [b"a\0"] and second.bytes == [b"b\0"]


async def test_what_comes_through_a_socket_that_we_closed_is_not_acknowledged() -> None:
    async def closing(scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send(ACCEPT)
        await send({"type": "websocket.close", "code": 1008})

    async with socket(closing) as one:
        assert one.closed == [1008]
        one.say(b"too late")
    assert one.acknowledged == ["0"]


async def test_of_many_lines_without_a_socket_the_longest_without_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "MOST_WAITING", 2)
    apps = [App() for _ in range(4)]
    for number, app in enumerate(apps):
        async with socket(app, name=f"{number:032x}"):
            pass
        if number == 1:  # comes back, and is the last to have been away
            async with socket(apps[0], again="&again=1", name=f"{0:032x}"):
                pass
    await _settled()
    assert [bool(app.gone) for app in apps] == [True, True, False, False]  # 1 when 2 went, 0 when 3 did


@pytest.mark.parametrize("code", [*lines.LEFT, 1005, 1006, 1011])
async def test_who_leaves_is_gone_at_once_and_who_is_cut_off_after_a_while(
    code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "PATIENCE", 0.1)
    app = App()
    async with socket(app) as one:
        one.close(code)
        await asyncio.sleep(0.02)
        assert bool(app.gone) == (code in lines.LEFT)
        await asyncio.sleep(0.15)
        assert app.gone
    async with socket(app, again="&again=1") as late:
        assert late.closed == [lines.OVER]


@pytest.mark.parametrize(
    "asked", [{"heard": 3}, {"again": "&again=1"}, {"origin": b"elsewhere"}], ids=["unknown", "ended", "another site"]
)
async def test_line_admits_only_its_own_session(asked: dict[str, Any]) -> None:
    app = App()
    if "origin" in asked:
        async with socket(app) as one:
            one.say(b"secret")
    async with socket(app, **asked) as stranger:
        assert stranger.told == [ACCEPT, {"type": "websocket.close", "code": lines.OVER}]


async def test_invalid_message_number_loses_no_later_message() -> None:
    app = App()
    async with socket(app) as one:
        for number in ("99", "-1", "x", "²", "", "9" * 5000):
            one.say(number)
        one.say(b"a")
        await _settled()
        assert one.bytes == [b"a\0"]


async def test_unacknowledged_messages_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lines, "MOST_KEPT", 1000)
    app = App(answers=100, size=100)
    async with socket(app) as one:
        one.say(b"a")
        await _settled()
        assert 10 <= len(one.bytes) <= 11
        one.say("10")
        await _settled()
        assert 19 <= len(one.bytes) <= 21
        one.close(1000)
    monkeypatch.setattr(lines, "MOST_HELD", 1500)
    full, other = App(answers=8, size=100), App(answers=8, size=100)
    async with socket(full, name="f" * 32) as one, socket(other, name="e" * 32) as two:
        one.say(b"a")
        await _settled()
        two.say(b"a")
        await _settled()
        assert len(full.gone) + len(other.gone) == 1


async def test_a_socket_that_names_no_line_is_served_on_its_own() -> None:
    app, one = App(), Socket()
    one._said.put_nowait({"type": "websocket.connect"})
    one.say(b"a")
    one.close(1006)
    await lines.through_a_line(app, {"query_string": b"line=short&heard=0", "headers": []}, one.receive, one.send)
    assert app.heard == [b"a"] and app.gone == [1006] and one.acknowledged == []
