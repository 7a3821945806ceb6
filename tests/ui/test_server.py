"""What the server does otherwise than Streamlit's own."""

import asyncio
import importlib
import socket

import pytest
import uvicorn
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.pages_manager import PagesManager
from streamlit.web.server.starlette.starlette_server import _bind_socket
from websockets.asyncio.client import connect

from pages.ui import server
from tests.classroom.visitor import visit


class _Session:
    """What AppSession.flush_browser_queue knows: whether a run is going on, what it said, and who sends it."""

    flush_browser_queue = AppSession.flush_browser_queue

    def __init__(self) -> None:
        self._state, self._browser_queue, self.woken = AppSessionState.APP_IS_RUNNING, ForwardMsgQueue(), 0

    def _message_enqueued_callback(self) -> None:
        self.woken += 1

    def begin(self, *fragments: str) -> None:
        message = ForwardMsg(hash="begins")
        message.new_session.name = "app"
        message.metadata.run.fragment_ids.extend(fragments)
        self._browser_queue.enqueue(message)

    def say(self, words: str) -> None:
        self._browser_queue.enqueue(ForwardMsg(hash=words))

    def sent(self) -> list[str]:
        return [message.hash for message in self.flush_browser_queue()]


@pytest.fixture
def talking(monkeypatch: pytest.MonkeyPatch) -> _Session:
    """A session of a server of the app."""
    monkeypatch.setattr(AppSession, "flush_browser_queue", AppSession.flush_browser_queue)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", PagesManager.uses_pages_directory)
    importlib.reload(importlib.import_module("app"))
    monkeypatch.setattr(_Session, "flush_browser_queue", AppSession.flush_browser_queue)
    return _Session()


def test_what_a_page_says_is_sent_when_all_is_said(talking: _Session) -> None:
    async def talk() -> None:
        talking.say("one")
        assert talking.sent() == []
        talking.say("two")
        assert talking.sent() == []
        talking._state = AppSessionState.APP_NOT_RUNNING
        assert talking.sent() == ["one", "two"]

    visit(talk())


def test_nobody_waits_long_for_a_page_that_takes_long(talking: _Session) -> None:
    async def talk() -> None:
        for words in ("one", "two"):
            began, woken = asyncio.get_running_loop().time(), talking.woken
            talking.say(words)
            while not (sent := talking.sent()):
                await asyncio.sleep(0.001)
            assert sent == [words] and asyncio.get_running_loop().time() - began >= server.HOLD
            await asyncio.sleep(0.002)
            assert talking.woken == woken + 1, "where nobody says more, somebody must wake who sends"

    visit(talk())


def test_the_frame_is_sent_while_the_page_is_being_written(talking: _Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "HOLD", 0.5)  # so that a busy machine does not confuse the two

    async def waited() -> float:
        began = asyncio.get_running_loop().time()
        while not talking.sent():
            await asyncio.sleep(0.001)
        return asyncio.get_running_loop().time() - began

    async def talk() -> None:
        talking.begin("page")
        assert await waited() >= server.HOLD
        talking.begin()
        assert server.HOLD_FRAME <= await waited() < server.HOLD
        talking.say("the page's first words")
        assert await waited() >= server.HOLD

    visit(talk())


def test_the_next_run_has_a_time_of_its_own(talking: _Session) -> None:
    async def talk() -> None:
        talking.say("one")
        assert talking.sent() == []
        talking._state = AppSessionState.APP_NOT_RUNNING
        assert talking.sent() == ["one"]
        await asyncio.sleep(server.HOLD)
        talking._state = AppSessionState.APP_IS_RUNNING
        talking.say("two")
        assert talking.sent() == []

    visit(talk())


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
