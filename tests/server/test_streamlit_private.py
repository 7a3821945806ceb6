"""The private parts of Streamlit, uvicorn and Plotly that we use exist: an upgrade without one fails here."""

import ast
import inspect
import logging
import re
from collections.abc import Callable
from functools import cache
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from unittest.mock import Mock

import pytest
from streamlit import error_util, file_util, net_util
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import NewSession
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent, StopException
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequests
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state import SafeSessionState, SessionState
from streamlit.runtime.state.common import WidgetMetadata
from streamlit.runtime.state.session_state import WStates
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import Protocol
from websockets.streams import StreamReader

from pages.drawing.text import catalogue
from pages.screen import link
from pages.screen.frame import frame
from pages.server import assets, log, streamlit_private
from pages.server.streamlit_private import IN_PLOTLY, IN_STREAMLIT

HOUSE = Path(__file__).parents[2]
OURS = (assets.START, assets.STYLE, *assets.SCRIPTS.values())


@cache
def _client() -> str:
    """Source of Streamlit's frontend."""
    files = Path(file_util.get_static_dir()).rglob("*")
    return "\n".join(file.read_text("utf-8", "replace") for file in files if file.suffix in (".js", ".css"))


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (AppSession.request_rerun, ("self", "client_state")),
        (AppSession._on_scriptrunner_event, ("self", "sender", "event", "fragment_ids_this_run")),
        (AppSession._handle_scriptrunner_event_on_event_loop, ("self", "sender", "event", "fragment_ids_this_run")),
        (AppSession._call_soon_on_event_loop, ("self", "callback")),
        (ForwardMsgQueue.clear, ("self", "retain_lifecycle_msgs", "fragment_ids_this_run")),
        (MemoryUploadedFileManager.add_file, ("self", "session_id", "file")),
        (MemoryUploadedFileManager.remove_session_files, ("self", "session_id")),
        (WebsocketSessionManager.disconnect_session, ("self", "session_id")),
        (ScriptRunner._run_script, ("self", "rerun_data")),
        (ScriptRunContext.run_with_active_hash, ("self", "page_hash")),
        (app_session._populate_config_msg, ("msg",)),
        (app_session._populate_theme_msg, ("msg", "section")),
        (file_util.get_static_dir, ()),
        (net_util.get_external_ip, ()),
        (WebSocketsSansIOProtocol.data_received, ("self", "data")),
        (WebSocketsSansIOProtocol.connection_lost, ("self", "exc")),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_what_we_call_and_replace_takes_what_we_give_it(function: Callable, parameters: tuple[str, ...]) -> None:
    """By these parameter names, in this order, and no other parameter is required."""
    theirs = inspect.signature(function).parameters
    assert tuple(theirs)[: len(parameters) - 1] == parameters[:-1] and set(parameters) <= set(theirs)
    assert not [name for name, one in theirs.items() if one.default is one.empty and name not in parameters]


def test_settings_that_are_read_once_are_told_as_streamlit_tells_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def told() -> bytes:
        message = NewSession()
        app_session._populate_config_msg(message.config)
        app_session._populate_theme_msg(message.custom_theme)
        app_session._populate_theme_msg(message.custom_theme.light, "theme.light")
        app_session._populate_theme_msg(message.custom_theme.dark.sidebar, "theme.dark.sidebar")
        return message.SerializeToString()

    theirs = told()
    for name in ("_populate_config_msg", "_populate_theme_msg"):
        monkeypatch.setattr(app_session, name, getattr(app_session, name))
    streamlit_private.read_settings_once()
    assert told() == told() == theirs


def test_a_run_gives_way_to_a_click_on_the_page_alone_which_is_then_made(monkeypatch: pytest.MonkeyPatch) -> None:
    requests = ScriptRequests()
    monkeypatch.setattr(streamlit_private, "_run", lambda: Mock(script_requests=requests))
    streamlit_private.give_way()
    wanted = RerunData(fragment_id_queue=["page"])
    requests.request_rerun(wanted)
    assert requests.on_scriptrunner_yield() is None, "by itself Streamlit now does so: give_way may go"
    with pytest.raises(StopException):
        streamlit_private.give_way()
    assert requests.on_scriptrunner_ready().rerun_data.fragment_id_queue == ["page"]


def test_no_part_of_a_page_is_sent_without_its_block_when_its_fragment_runs_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The picture in the block is a reference: the browser has it already."""
    about = find_spec("streamlit.runtime.forward_msg_queue")
    about.loader.exec_module(theirs := module_from_spec(about))  # another test may have replaced the method of ours
    block, picture = ForwardMsg(), ForwardMsg(ref_hash="picture")
    block.delta.add_block.vertical.border, block.delta.fragment_id = False, "page"
    block.metadata.delta_path[:], picture.metadata.delta_path[:] = [0, 4], [0, 4, 0]

    def sent() -> list[ForwardMsg]:
        queue = theirs.ForwardMsgQueue()
        for message in (block, picture):
            queue.enqueue(message)
        queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=["page"])
        queue.enqueue(block)  # the new run's stands behind them
        return queue.flush()

    assert sent() == [picture, block], "Streamlit now keeps both or neither: send_blocks_before_their_parts may go"
    monkeypatch.setattr(streamlit_private, "ForwardMsgQueue", theirs.ForwardMsgQueue)
    streamlit_private.send_blocks_before_their_parts()
    assert sent() == [block, picture, block]


def _set_by(function: Callable) -> set[str]:
    """Attributes that a method sets."""
    tree = ast.parse(inspect.cleandoc("\n" + inspect.getsource(function)))
    return {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store)}


@pytest.mark.parametrize(
    ("owner", "names"),
    [
        (AppSession, {"_message_enqueued_callback"}),
        (ForwardMsgQueue, {"_delta_index_map"}),
        (UploadedFile, {"file_id"}),
        (WebSocketsSansIOProtocol, {"transport", "conn", "frames"}),
        (Protocol, {"reader", "current_size", "max_message_size"}),
        (StreamReader, {"buffer"}),
    ],
)
def test_what_we_read_of_an_object_is_set_where_it_begins(owner: type, names: set[str]) -> None:
    assert names <= _set_by(owner.__init__)


def test_a_script_run_knows_what_we_ask_it() -> None:
    asked = {"fragment_ids_this_run", "is_history_navigation", "pages_manager", "session_id", "session_state"}
    assert asked <= set(ScriptRunContext.__dataclass_fields__) and {"file_id", "data"} <= set(UploadedFileRec._fields)
    assert isinstance(PagesManager.main_script_hash, property) and isinstance(PagesManager.intended_page_name, property)
    state, widgets = SessionState(), WStates()
    assert SafeSessionState(state, lambda: None)._state is state
    assert isinstance(state._new_widget_state, WStates) and isinstance(state._old_state, dict)
    assert isinstance(widgets.widget_metadata, dict) and widgets.states == {}
    assert "fragment_id" in WidgetMetadata.__dataclass_fields__


def test_failures_are_written_down_by_those_who_are_asked_to_do_so_seldom() -> None:
    writers = error_util._LOGGER, *(logging.getLogger(module.__name__) for module in (frame, link))
    assert [logger.name for logger in writers] == [*log.FAILING]


def test_a_run_tells_how_it_goes_on() -> None:
    """A new kind of event must be sorted by us: does a run continue after it or is it over?"""
    over = {
        "SCRIPT_STOPPED_WITH_COMPILE_ERROR",
        "SCRIPT_STOPPED_WITH_SUCCESS",
        "FRAGMENT_STOPPED_WITH_SUCCESS",
        "SHUTDOWN",
    }
    assert {event.name for event in ScriptRunnerEvent} - {event.name for event in streamlit_private.GOES_ON} == over


@pytest.mark.parametrize("name", IN_STREAMLIT, ids=lambda name: name if isinstance(name, str) else "".join(name))
def test_streamlits_client_writes_what_we_look_for(name: str | tuple[str, ...]) -> None:
    for part in (name,) if isinstance(name, str) else name:
        end = "" if part.endswith("-") or part != name else r"(?![\w-])"
        assert re.search(re.escape(part) + end, _client())


@pytest.mark.parametrize("name", IN_PLOTLY, ids="".join)
def test_plotly_draws_what_we_look_for(name: str | tuple[str, ...]) -> None:
    for part in (name,) if isinstance(name, str) else name:
        assert re.search(rf"{part}(?![\w-])", assets.PLOTLY.read_text("utf-8"))


def test_streamlits_client_says_what_we_translate() -> None:
    said = {words for name, words in catalogue("en").items() if name.startswith("streamlit.")}
    assert not [words for words in said if not any(f"{mark}{words}{mark}" in _client() for mark in "\"'`")]


def _looked_for() -> set[str]:
    """Selectors in our scripts and style.css: data-testid, other data- attributes, classes."""
    found: set[str] = set()
    for source in OURS:
        text = re.sub(r"/\*.*?\*/|\$\{[^{}]*\}", "", assets.content(source).decode(), flags=re.DOTALL)
        found.update(re.findall(r'data-testid="?([\w-]+)', text))
        found.update(re.findall(r"\[(data-(?!testid|do|menu|role|word|detail|theme)[\w-]+)", text))
        selectors = r"[^{};]+(?=\{)" if source == assets.STYLE else r"'[^'\n]*'|`[^`\n]*`"
        for selector in re.findall(selectors, text):
            found.update(re.findall(r"(?<![\w/])\.([a-zA-Z_][\w-]*)", selector))
    return found


@cache
def _ours() -> str:
    """All Python and scripts of pages/ and the overview, which set our own classes."""
    folders = HOUSE / "pages", HOUSE / "model" / "overview"
    sources = (source for folder in folders for kind in ("*.py", "*.js") for source in folder.rglob(kind))
    return "\n".join(source.read_text("utf-8") for source in sources)


def _written_here(name: str) -> bool:
    """Whether a name is ours: a quoted class, the key of a widget, or an attribute that we set."""
    if name.startswith("data-"):
        return f"dataset.{name.removeprefix('data-')} =" in _ours()
    return name.startswith("st-key-") or bool(re.search(rf"[\"' ]{name}[\"' ]", _ours()))


def test_all_that_our_scripts_and_style_look_for_is_ours_or_on_the_list() -> None:
    listed = {"".join(name) for name in (*IN_STREAMLIT, *IN_PLOTLY)}
    unknown = {name for name in _looked_for() - listed if not _written_here(name)}
    assert unknown == set()


def test_nothing_on_the_list_is_left_from_earlier() -> None:
    entrance = HOUSE / "pages/server/entrance.py"
    text = "\n".join(assets.content(source).decode() for source in (*OURS, entrance))
    assert not [name for name in map("".join, (*IN_STREAMLIT, *IN_PLOTLY)) if name not in text]


def test_no_other_file_imports_what_is_private() -> None:
    public = ("streamlit.starlette", "streamlit.delta_generator")
    for source in (HOUSE / "app.py", *(HOUSE / "pages").rglob("*.py")):
        found = re.findall(
            r"^\s*(?:from|import) ((?:streamlit|uvicorn)\.[\w.]+)", source.read_text("utf-8"), re.MULTILINE
        )
        assert source.stem == "streamlit_private" or not set(found) - set(public), source


def test_no_style_asks_for_a_colour_that_only_components_are_told() -> None:
    rules = re.sub(r"/\*.*?\*/", "", assets.STYLE.read_text("utf-8"), flags=re.DOTALL).split("}")
    asking = [rule.partition("{")[0].strip() for rule in rules if "var(--st-" in rule]
    ours = (".navbar ", ".lit ", ".sentence", ".chart, .arithmetic", ".facts ")
    assert asking and all(selector.startswith(ours) for selector in asking)
