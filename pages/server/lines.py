"""The line between a browser and its session, which survives broken sockets.

A network that fails for some seconds closes the socket. Streamlit would then lose what the visitor does and what the
server sends. So both sides number their messages, keep each until the other acknowledges it, and send the rest through
the next socket: start.js in the browser, `Line` here. Messages are bytes; a text is the number of messages received.
"""

import asyncio
import re
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import parse_qs

from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: Seconds that a line lasts without a socket.
PATIENCE = 60.0
#: Lines without a socket. If there are more, the one without for longest ends.
MOST_WAITING = 128
#: Bytes at which a line takes no more from Streamlit, which ends a session when its own queue is full; and bytes of all
#: lines together, at which the fullest ends.
MOST_KEPT, MOST_HELD = 2_000_000, 64_000_000
#: Close codes of a browser that leaves or a server that stops. Any other means a broken socket.
LEFT = (1000, 1001, 1012)
#: The code that tells a browser that its line is over.
OVER = 4404
#: The random name that a browser gives a line; nobody can guess it.
NAME = re.compile(r"[0-9a-f]{32}")
COUNT = re.compile(r"[0-9]{1,15}")

_lines: dict[str, "Line"] = {}
_waiting: dict["Line", None] = {}  # lines without a socket, the longest first


async def through_a_line(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a web socket: as the next socket of the line named in its address, or alone if none is named."""
    asked = {name: values[0] for name, values in parse_qs(scope["query_string"].decode("ascii", "replace")).items()}
    name, heard = asked.get("line", ""), asked.get("heard", "")
    if not (NAME.fullmatch(name) and COUNT.fullmatch(heard)):
        await app(scope, receive, send)
        return
    line = _lines.get(name)
    if line is None and heard == "0" and "again" not in asked:
        line = _lines[name] = Line(app, scope, lambda: _lines.pop(name, None))
    if line is None or line.origin != _origin(scope):
        await receive()
        await send({"type": "websocket.accept", "subprotocol": "streamlit"})
        await send({"type": "websocket.close", "code": OVER})
        return
    await line.go_through(int(heard), receive, send)


def _origin(scope: Scope) -> bytes | None:
    return dict(scope["headers"]).get(b"origin")


class Line:
    """One session's messages, in both directions.

    app: serves the session and sees one single web socket. at_end: called when the session has ended.
    """

    def __init__(self, app: ASGIApp, scope: Scope, at_end: Callable[[], object]) -> None:
        self.origin = _origin(scope)
        self._said: asyncio.Queue[Message] = asyncio.Queue()  # from the browser, not yet taken by the app
        self._heard = 0  # messages received from the browser
        self._kept: deque[Message] = deque()  # sent, but not acknowledged by the browser
        self._before = 0  # messages that the browser has acknowledged
        self._bytes = 0
        self._change = asyncio.Condition()
        self._accepted: Message | None = None
        self._over = False
        self._socket: object = None  # the latest one
        self._telling: asyncio.Task[None] | None = None  # sends to it
        self._patience: asyncio.TimerHandle | None = None
        self._task = asyncio.create_task(self._serve(app, scope, at_end))

    async def _serve(self, app: ASGIApp, scope: Scope, at_end: Callable[[], object]) -> None:
        await self._said.put({"type": "websocket.connect"})
        try:
            await app(scope, self._said.get, self._tell)
        finally:
            at_end()
            _waiting.pop(self, None)
            self._over = True
            async with self._change:
                self._change.notify_all()

    async def _tell(self, message: Message) -> None:
        """Keep a message of the app until the browser acknowledges it."""
        async with self._change:
            if message["type"] == "websocket.accept":
                self._accepted = message
            else:
                await self._change.wait_for(lambda: self._bytes < MOST_KEPT)
                self._kept.append(message)
                self._bytes += _size(message)
            self._change.notify_all()
        while sum(line._bytes for line in _lines.values()) > MOST_HELD:
            max(_lines.values(), key=lambda line: line._bytes)._end()

    async def go_through(self, heard: int, receive: Receive, send: Send) -> None:
        """Use this socket, whose browser has received `heard` messages, until it closes or another one is opened."""
        this = self._socket = object()
        _waiting.pop(self, None)
        if self._patience:
            self._patience.cancel()
        if self._telling:
            self._telling.cancel()
        await receive()
        await self._acknowledged(heard)
        closed, code = False, None

        async def say(message: Message) -> None:
            """Send a message, unless we have closed the socket, which would raise."""
            nonlocal closed
            if not closed:
                closed = message["type"] == "websocket.close"
                await send(message)

        telling = self._telling = asyncio.create_task(self._send_all(say))
        try:
            while code is None and self._socket is this:
                message = await receive()
                if message["type"] == "websocket.disconnect":
                    code = message.get("code", 1006)
                elif self._socket is this:
                    await self._hear(message, say)
        finally:
            telling.cancel()
            if self._socket is this and not self._over:
                wait = 0 if code in LEFT else PATIENCE
                self._patience = asyncio.get_running_loop().call_later(wait, self._end)
                if wait:
                    _waiting[self] = None
                if len(_waiting) > MOST_WAITING:
                    next(iter(_waiting))._end()

    async def _hear(self, message: Message, send: Send) -> None:
        if (number := message.get("text")) is not None:
            await self._acknowledged(int(number) if COUNT.fullmatch(number) else 0)
            return
        self._heard += 1
        self._said.put_nowait(message)
        with suppress(OSError):  # closed, as its next message will say
            await send({"type": "websocket.send", "text": str(self._heard)})

    async def _send_all(self, send: Send) -> None:
        """Send all messages that the browser lacks, and new ones, until the line ends."""
        async with self._change:
            await self._change.wait_for(lambda: self._accepted or self._over)
        with suppress(OSError):  # closed, as the reading side learns, too
            if self._accepted:
                await send(self._accepted)
                await send({"type": "websocket.send", "text": str(self._heard)})
            at = self._before
            while message := await self._kept_at(at):
                await send(message)
                at = max(at + 1, self._before)
            await send({"type": "websocket.close", "code": OVER})

    async def _kept_at(self, place: int) -> Message | None:
        """Wait for the message with this number, from 0; None once the line has ended."""
        async with self._change:
            await self._change.wait_for(lambda: self._over or place < self._before + len(self._kept))
            after = max(place - self._before, 0)  # browsers may acknowledge more than was sent
            return self._kept[after] if after < len(self._kept) else None

    async def _acknowledged(self, number: int) -> None:
        async with self._change:
            while self._kept and self._before < number:
                self._bytes -= _size(self._kept.popleft())
                self._before += 1
            self._change.notify_all()

    def _end(self) -> None:
        """Tell the app that its browser is gone."""
        _waiting.pop(self, None)
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1006})
        self._bytes = 0
        self._kept.clear()


def _size(message: Message) -> int:
    return len(message.get("bytes") or b"")
