"""How our server differs from Streamlit's."""

import asyncio
import importlib
import logging
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from threading import Event, Thread

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from streamlit import net_util
from streamlit.config import is_manually_set
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import ScriptRunner, ScriptRunnerEvent
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from streamlit.web.server.server_util import is_url_from_allowed_origins
from streamlit.web.server.starlette.starlette_server import _bind_socket
from websockets.asyncio.client import connect

from pages.server import assets, entrance, log
from pages.server import streamlit_private as private
from tests.classroom.visitor import visit


class _Session:
    """Stand-in for AppSession: passes the events of a run to the loop's thread and wakes the sender."""

    _on_scriptrunner_event = AppSession._on_scriptrunner_event

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.woken = 0
        self._message_enqueued_callback = self._wake
        self._call_soon_on_event_loop = asyncio.get_running_loop().call_soon_threadsafe

    def _wake(self) -> None:
        self.woken += 1

    def _handle_scriptrunner_event_on_event_loop(self, sender: str, event: ScriptRunnerEvent, **about: object) -> None:
        self.sent.append(sender or event.name)
        if self._message_enqueued_callback:
            self._message_enqueued_callback()

    def begin(self, *fragments: str) -> None:
        self._on_scriptrunner_event("", event=ScriptRunnerEvent.SCRIPT_STARTED, fragment_ids_this_run=list(fragments))

    def say(self, words: str) -> None:
        self._on_scriptrunner_event(words, event=ScriptRunnerEvent.ENQUEUE_FORWARD_MSG)

    def end(self) -> None:
        self._on_scriptrunner_event("", event=ScriptRunnerEvent.SCRIPT_STOPPED_WITH_SUCCESS)

    async def waited(self) -> float:
        """Seconds until something is sent; then clears it."""
        began = time.monotonic()
        while not self.sent:
            await asyncio.sleep(0.001)
        self.sent.clear()
        return time.monotonic() - began


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server of the app."""
    for owner, name in (
        (AppSession, "_on_scriptrunner_event"),
        (AppSession, "request_rerun"),
        (ScriptRunner, "_run_script"),
        (MemoryUploadedFileManager, "add_file"),
        (WebsocketSessionManager, "disconnect_session"),
    ):
        monkeypatch.setattr(owner, name, getattr(owner, name))
    importlib.reload(importlib.import_module("app"))
    monkeypatch.setattr(_Session, "_on_scriptrunner_event", AppSession._on_scriptrunner_event)
    yield


@pytest.mark.usefixtures("app")
async def test_page_is_sent_when_complete() -> None:
    session = _Session()
    session.begin("page")
    for words in ("one", "two"):
        session.say(words)
        await asyncio.sleep(0.001)
        assert session.sent == []
    session.end()
    await asyncio.sleep(0)
    assert session.sent == ["SCRIPT_STARTED", "one", "two", "SCRIPT_STOPPED_WITH_SUCCESS"]
    assert session.woken == 1 and session._message_enqueued_callback, "whoever sends is woken once"


@pytest.mark.usefixtures("app")
async def test_slow_page_is_sent_in_parts() -> None:
    session = _Session()
    for woken, words in enumerate(("one", "two"), 1):
        session.say(words)
        assert await session.waited() >= private.HOLD
        assert session.woken == woken, "where nobody says more, somebody must wake who sends"


@pytest.mark.usefixtures("app")
async def test_the_frame_is_sent_while_the_page_is_being_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "HOLD", 0.5)  # so that a busy machine does not confuse the two

    session = _Session()
    session.begin("page")
    assert await session.waited() >= private.HOLD
    session.begin()
    assert private.HOLD_FRAME <= await session.waited() < private.HOLD
    session.say("the page's first words")
    assert await session.waited() >= private.HOLD


@pytest.mark.usefixtures("app")
async def test_the_next_run_has_a_time_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "HOLD", 0.5)

    session = _Session()
    session.say("one")
    session.end()
    await asyncio.sleep(private.HOLD / 2)
    session.sent.clear()
    session.say("two")
    assert await session.waited() >= private.HOLD


def _asking(monkeypatch: pytest.MonkeyPatch, asked: Callable) -> _Session:
    """A session that calls `asked` for a rerun."""
    monkeypatch.setattr(AppSession, "_on_scriptrunner_event", AppSession._on_scriptrunner_event)
    monkeypatch.setattr(AppSession, "request_rerun", asked)
    private.send_whole_pages()
    monkeypatch.setattr(_Session, "_on_scriptrunner_event", AppSession._on_scriptrunner_event)
    return _Session()


async def test_a_run_that_has_ended_is_heard_before_the_next_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _asking(monkeypatch, lambda session, wanted: session.sent.append("asked"))
    AppSession.request_rerun(session, None)
    session.say("one")
    AppSession.request_rerun(session, None)
    assert session.sent == ["asked", "asked"], "a run that goes on is not sent in parts"
    session.end()
    AppSession.request_rerun(session, None)
    assert session.sent == ["asked", "asked", "one", "SCRIPT_STOPPED_WITH_SUCCESS", "asked"]


async def test_a_browser_that_was_away_too_long_gets_a_whole_page(monkeypatch: pytest.MonkeyPatch) -> None:
    session = _asking(monkeypatch, lambda session, wanted: session.sent.append(wanted.fragment_id))
    AppSession.request_rerun(session, ClientState(fragment_id="page"))
    assert session.sent == [""], "a new session knows no part of a page"
    session.begin()
    AppSession.request_rerun(session, ClientState(fragment_id="page"))
    assert session.sent[-1] == "page"


@pytest.mark.usefixtures("app")
async def test_nothing_is_lost_between_two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "HOLD", 0)  # so that the threads switch all the time
    words = [str(number) for number in range(20_000)]

    session = _Session()
    await asyncio.to_thread(lambda: [session.say(one) for one in words])
    await asyncio.sleep(0.1)
    assert session.sent == words


def _taking(monkeypatch: pytest.MonkeyPatch, run: Callable[[str], None]) -> Callable[[str], Thread]:
    """Runs by name, each in a thread, that take turns."""
    monkeypatch.setattr(ScriptRunner, "_run_script", lambda _, name: run(name))
    private.run_in_turn()

    def start(name: str) -> Thread:
        thread = Thread(target=ScriptRunner._run_script, args=(None, name))
        thread.start()
        return thread

    return start


def test_one_run_computes_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "TURN", 60)
    steps: list[str] = []

    def run(name: str) -> None:
        steps.append(name)
        time.sleep(0.005)
        steps.append(name)

    for thread in [*map(_taking(monkeypatch, run), "abcdef")]:
        thread.join()
    assert len(steps) == 12 and steps[::2] == steps[1::2]


def test_nobody_waits_for_a_long_experiment(monkeypatch: pytest.MonkeyPatch) -> None:
    ended, runs = Event(), []

    def run(name: str) -> None:
        if name == "long":
            assert ended.wait(60)
        runs.append(name)

    start = _taking(monkeypatch, run)
    long = start("long")
    for name in "ab":
        start(name).join()
    assert runs == ["a", "b"]
    ended.set()
    long.join()
    start("c").join()
    assert runs == ["a", "b", "long", "c"]


def test_a_run_that_fails_gives_its_turn_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private, "TURN", 60)
    runs: list[str] = []

    def run(name: str) -> None:
        if name == "fails":
            raise ValueError
        runs.append(name)

    monkeypatch.setattr(ScriptRunner, "_run_script", lambda _, name: run(name))
    private.run_in_turn()
    with pytest.raises(ValueError):
        ScriptRunner._run_script(None, "fails")
    ScriptRunner._run_script(None, "next")
    assert runs == ["next"]


async def _waits_to_send(app: object) -> bool:
    """Whether the system delays small packets on a web socket of a server like Streamlit's."""
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
    await receive()  # until somebody connects
    await send({"type": "websocket.accept"})
    await send({"type": "websocket.send", "text": "hello"})
    await receive()  # until they leave


def _hears(*said: BackMsg) -> list[BackMsg]:
    """The messages that reach Streamlit."""
    messages = [{"type": "websocket.receive", "bytes": one.SerializeToString()} for one in said]

    async def talk() -> list[BackMsg]:
        heard = []
        left = iter([*messages, {"type": "websocket.disconnect"}])

        async def receive() -> dict:
            return next(left)

        hear = private.keep_little(receive)
        while (message := await hear())["type"] == "websocket.receive":
            heard.append(BackMsg.FromString(message["bytes"]))
        return heard

    return visit(talk())


def _click(*states: WidgetState) -> BackMsg:
    said = BackMsg()
    said.rerun_script.query_string, said.rerun_script.fragment_id = "s=a", "part"
    said.rerun_script.widget_states.widgets.extend(states)
    return said


def test_what_a_browser_says_is_heard_as_it_is() -> None:
    said = _click(WidgetState(id="s", string_value="汉" * 10_000), WidgetState(id="layer", int_value=3))
    assert _hears(said, said) == [said, said]


def test_of_what_is_too_long_for_a_visit_the_beginning_is_heard_and_then_something_small() -> None:
    small = WidgetState(id="layer", int_value=3)
    texts = [WidgetState(id=str(place), string_value="汉" * 300_000) for place in range(3)]
    pictures = WidgetState(id="snap", json_trigger_value="x" * 500_000)
    whole = WidgetState(id="chart", bytes_value=bytes(300_000))
    heard, then = _hears(_click(*texts, pictures, whole, small))
    states = {state.id: state for state in heard.rerun_script.widget_states.widgets}
    assert states.keys() == {"layer", "0", "snap"} and states["layer"] == small and states["snap"] == pictures
    assert set(states["0"].string_value) == {"汉"} and states["0"].ByteSize() <= private.MOST_STATE
    assert heard.rerun_script.query_string == "s=a" and heard.rerun_script.fragment_id == "part"
    assert then.WhichOneof("type") == "app_heartbeat"


def test_no_more_widgets_are_heard_than_a_page_can_have() -> None:
    heard, _ = _hears(_click(*(WidgetState(id=f"{place:0200}", int_value=1) for place in range(5000))))
    assert len(heard.rerun_script.widget_states.widgets) <= private.MOST_WIDGETS


def test_states_of_what_is_no_widget_are_left_out() -> None:
    names = ["", "x", "\ufeff", "$$", "$$ID-1-layer", "$$STREAMLIT_INTERNAL_KEY_$$ID-2-line__events", "", "ID-1"]
    wanted = ClientState(widget_states={"widgets": [WidgetState(id=name, int_value=1) for name in names]})
    private._leave_out_strangers(wanted)
    assert [state.id for state in wanted.widget_states.widgets] == names[4:6]


def test_a_failure_that_is_asked_for_again_and_again_is_written_down_once_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(logger: logging.Logger, kind: type[Exception]) -> None:
        try:
            raise kind("a visitor's words")
        except kind:
            logger.exception("a page failed")

    monkeypatch.setattr(log, "FAILING", ("one failing part", "another"))
    log.quieten()
    loggers = [logging.getLogger(name) for name in log.FAILING]
    for _ in range(50):
        for kind in (KeyError, ValueError):
            fail(loggers[0], kind)
            fail(loggers[1], kind)
    loggers[0].error("no failure of code")
    assert len(caplog.records) == 3, "two kinds of failure at one place, and what is none"
    monkeypatch.setattr(log, "monotonic", lambda: time.monotonic() + log.MINUTE)
    fail(loggers[0], KeyError)
    assert len(caplog.records) == 4


def test_what_is_no_message_is_answered_by_streamlit() -> None:
    async def receive() -> dict:
        return {"type": "websocket.receive", "bytes": b"\xff" * (private.MOST_STATE + 1)}

    assert visit(private.keep_little(receive)()) == visit(receive())


def test_server_does_not_ask_the_internet_for_its_address(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither when a page of another site opens a socket, nor at the start, for the printed address."""
    asked: list[str] = []
    monkeypatch.setattr(net_util, "get_external_ip", lambda: asked.append("checkip"))
    assert not is_url_from_allowed_origins("http://evil.example") and asked
    asked.clear()
    private.ask_no_stranger()
    assert not is_url_from_allowed_origins("http://evil.example") and not asked
    assert is_manually_set("browser.serverAddress")


def test_small_packets_are_sent_without_delay() -> None:
    assert visit(_waits_to_send(_says_hello)), "else there is nothing to mend any more"
    assert not visit(_waits_to_send(entrance.Entrance(_says_hello)))


@cache
def _entrance() -> entrance.Entrance:
    """The entrance to an app that answers "app:" and the path."""

    async def app(scope: dict, receive: object, send: object) -> None:
        await PlainTextResponse(f"app:{scope['path']}", headers={"X-Content-Type-Options": "?"})(scope, receive, send)

    return entrance.Entrance(app)


async def _ask(path: str, client: str = "127.0.0.1", headers: dict[str, str] | None = None) -> tuple[int, dict, str]:
    """Request a path; returns status, headers, text."""
    heard: list[dict] = []

    async def send(message: dict) -> None:
        heard.append(message)

    sent = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    scope = {"type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b""}
    await _entrance()({**scope, "headers": sent, "client": (client, 5)}, None, send)
    told = [(name.decode(), value.decode()) for name, value in heard[0]["headers"]]
    assert len(told) == len(dict(told)), "each header once"
    return (
        heard[0]["status"],
        dict(told),
        b"".join(message.get("body", b"") for message in heard).decode(errors="replace"),
    )


def test_every_answer_forbids_guesses_at_what_a_file_is_and_frames_of_other_sites() -> None:
    script = assets.address(assets.STYLE)
    for path in ("/media/file", f"/{script}", "/health", "/_stcore/metrics"):
        _, told, _ = visit(_ask(path, client="10.0.0.9"))
        assert told["x-content-type-options"] == "nosniff"
        assert "frame-ancestors 'self'" in told["content-security-policy"]


def test_only_sites_that_the_owner_names_may_frame_the_app() -> None:
    sites = "https://moodle.example.edu https://*.example.org http://localhost:8080"
    assert entrance.framed_by("") == "frame-ancestors 'self'"
    assert entrance.framed_by(sites) == f"frame-ancestors 'self' {sites}"
    for wrong in ("*", "moodle.example.edu", "https://a.b; script-src *", "https://a.b,https://c.d", "'none'"):
        with pytest.raises(SystemExit, match="FRAMED_BY names sites"):
            entrance.framed_by(wrong)


def test_health_is_the_runtimes_until_the_disk_of_temporary_files_is_full(monkeypatch: pytest.MonkeyPatch) -> None:
    assert visit(_ask("/health"))[::2] == (200, "app:/_stcore/health")
    real = shutil.disk_usage(tempfile.gettempdir())
    monkeypatch.setattr(shutil, "disk_usage", lambda _: real._replace(free=entrance.LEAST_ROOM - 1))
    status, _, said = visit(_ask("/health"))
    assert status == 503 and "app:" not in said


def test_how_full_the_caches_are_is_told_to_this_machine_only() -> None:
    metrics = "/_stcore/metrics"
    assert visit(_ask(metrics))[::2] == (200, f"app:{metrics}")
    assert visit(_ask(metrics, client="10.0.0.9"))[0] == 403
    assert visit(_ask(metrics, headers={"x-forwarded-for": "127.0.0.1"}))[0] == 403, "nginx asks from here, too"
