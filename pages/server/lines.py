"""The line between a browser and its session, which outlives the sockets that it goes through.

A network that is away for some seconds closes the socket. Streamlit's client would then forget what its visitor does,
and what the server sent meanwhile would be lost. So both sides number their messages, keep each until the other has
acknowledged it, and send the rest again through the next socket: start.js in the browser, `Line` here. Messages are
bytes; a text is a number: how many messages of the other side have been heard.
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
#: Lines without a socket at the same time. Of more, the one that has been without for longest ends.
MOST_WAITING = 128
#: Bytes that a line keeps before it takes no more from Streamlit, which ends a session once its own queue is full; and
#: all lines together, before the fullest ends.
MOST_KEPT, MOST_HELD = 2_000_000, 64_000_000
#: Codes with which a browser leaves, or a server stops. With any other, a socket was broken.
LEFT = (1000, 1001, 1012)
#: The code that tells a browser that its line is over.
OVER = 4404
#: The name that a browser draws for a line. Nobody else can guess it.
NAME = re.compile(r"[0-9a-f]{32}")
COUNT = re.compile(r"[0-9]{1,15}")

_lines: dict[str, "Line"] = {}
_waiting: dict["Line", None] = {}  # those without a socket, the longest first


async def through_a_line(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    """Serve a web socket: as the next one of the line that its address names; one that names none, on its own."""
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

    app: what takes the session's web socket for a single one. at_end: called when it has ended.
    """

    def __init__(self, app: ASGIApp, scope: Scope, at_end: Callable[[], object]) -> None:
        self.origin = _origin(scope)
        self._said: asyncio.Queue[Message] = asyncio.Queue()  # by the browser, and not yet taken by the app
        self._heard = 0  # messages of the browser
        self._kept: deque[Message] = deque()  # what the browser has not acknowledged
        self._before = 0  # messages that it has
        self._bytes = 0
        self._change = asyncio.Condition()
        self._accepted: Message | None = None
        self._over = False
        self._socket: object = None  # the last one
        self._telling: asyncio.Task[None] | None = None  # what it shall hear
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
        """Keep what the app sends until the browser has heard it."""
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
        """Use this socket, whose browser has heard so many messages, until it closes or the browser opens another."""
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
            """Send it, unless we have closed the socket: that would be an error."""
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
        with suppress(OSError):  # it is closed: its next message says so
            await send({"type": "websocket.send", "text": str(self._heard)})

    async def _send_all(self, send: Send) -> None:
        """Send what this socket's browser has not heard, and what comes, until the line ends."""
        async with self._change:
            await self._change.wait_for(lambda: self._accepted or self._over)
        with suppress(OSError):  # it is closed, which the socket's reader is told, too
            if self._accepted:
                await send(self._accepted)
                await send({"type": "websocket.send", "text": str(self._heard)})
            at = self._before
            while message := await self._kept_at(at):
                await send(message)
                at = max(at + 1, self._before)
            await send({"type": "websocket.close", "code": OVER})

    async def _kept_at(self, place: int) -> Message | None:
        """The message with this number, from 0, as soon as there is one; None once the line has ended."""
        async with self._change:
            await self._change.wait_for(lambda: self._over or place < self._before + len(self._kept))
            after = max(place - self._before, 0)  # some browsers acknowledge what they were not sent
            return self._kept[after] if after < len(self._kept) else None

    async def _acknowledged(self, number: int) -> None:
        async with self._change:
            while self._kept and self._before < number:
                self._bytes -= _size(self._kept.popleft())
                self._before += 1
            self._change.notify_all()

    def _end(self) -> None:
        """Let the app know that its browser is gone."""
        _waiting.pop(self, None)
        self._said.put_nowait({"type": "websocket.disconnect", "code": 1006})
        self._bytes = 0
        self._kept.clear()


def _size(message: Message) -> int:
    return len(message.get("bytes") or b"")
