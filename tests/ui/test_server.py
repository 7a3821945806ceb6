"""What the server does otherwise than Streamlit's own."""

import asyncio
import importlib
import inspect
import socket

import pytest
import uvicorn
from streamlit.runtime import runtime
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server.starlette.starlette_server import _bind_socket
from websockets.asyncio.client import connect

from pages.ui import server
from tests.classroom.visitor import visit


def test_a_server_of_the_app_sends_in_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "MESSAGE_FLUSH_INTERVAL_SECS", 0.005)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", PagesManager.uses_pages_directory)
    importlib.reload(importlib.import_module("app"))
    loop = runtime.Runtime._loop_coroutine
    assert loop.__globals__["MESSAGE_FLUSH_INTERVAL_SECS"] == server.BURST
    assert "await asyncio.sleep(MESSAGE_FLUSH_INTERVAL_SECS)" in inspect.getsource(loop)


async def _waits_to_send(app: object) -> bool:
    """Whether the system keeps back what the server says, on a web socket of a server such as Streamlit starts."""
    bound = _bind_socket("127.0.0.1", 0, 1)
    one = uvicorn.Server(uvicorn.Config(app, ws="websockets-sansio", lifespan="off", log_level="error"))
    serving = asyncio.create_task(one.serve([bound]))
    async with connect("ws://{}:{}".format(*bound.getsockname())) as client:
        await client.recv()
        (connection,) = one.server_state.connections
        served = connection.transport.get_extra_info("socket")
        waits = not served.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    one.should_exit = True
    await serving
    return waits


async def _says_hello(scope: dict, receive: object, send: object) -> None:
    await receive()  # that somebody comes
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": "hello"})
    await receive()  # that they leave


def test_what_pages_say_is_sent_without_delay() -> None:
    assert visit(_waits_to_send(_says_hello)), "else there is nothing to mend any more"
    assert not visit(_waits_to_send(server.Entrance(_says_hello)))
