"""Everything private that we use of Streamlit, uvicorn and Plotly: names in Python and in browsers.

No other Python file uses them. After an upgrade tests/server/test_streamlit_private.py says which are gone.
"""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from google.protobuf.message import DecodeError, Message
from starlette.types import Message as Event
from starlette.types import Receive, Send
from streamlit import file_util, net_util
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent, StopException, get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_requests import ScriptRequestType
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext
from streamlit.runtime.state.common import GENERATED_ELEMENT_ID_PREFIX
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from streamlit.runtime.uploaded_file_manager import UploadedFile, UploadedFileRec
from streamlit.runtime.websocket_session_manager import WebsocketSessionManager
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from pages.server.uploads import uploads

# -- names in browsers -------------------------------------------------------------------------------------------

#: Names of Streamlit's client that start.js, style.css and the components use. A tuple: parts that the client joins.
IN_STREAMLIT: tuple[str | tuple[str, ...], ...] = (
    # parts of its pages, by data-testid
    "InputInstructions",
    ("stAlertContent", "Error"),
    "stAppViewContainer",
    ("stBaseButton-", "primary"),
    ("stBaseButton-", "primary", "FormSubmit"),
    "stButton",
    "stButtonGroup",
    "stCaptionContainer",
    "stCheckbox",
    "stColumn",
    "stElementContainer",
    "stElementToolbar",
    "stExpandSidebarButton",
    "stExpander",
    "stFileUploader",
    "stFileUploaderDropzoneInstructions",
    "stHeader",
    "stHeading",
    "stStatusWidget",
    "stHorizontalBlock",
    "stHtml",
    "stLayoutWrapper",
    "stMain",
    "stMainBlockContainer",
    "stMarkdown",
    "stMarkdownContainer",
    "stMetric",
    "stMetricValue",
    "stNumberInput",
    "stPageLink",
    "stPopover",
    "stPopoverBody",
    "stSelectbox",
    "stSidebar",
    "stSidebarHeader",
    "stSidebarUserContent",
    "stSlider",
    "stSliderTickBar",
    "stTextInput",
    "stVerticalBlock",
    "stWidgetLabel",
    # their attributes, a class, and the prefix of classes made from keys
    "stMarkdownColoredText",
    "data-variant",
    "segmented_control",
    "data-selected",
    "st-key-",
    # where it takes its server's address, the event when a part did not arrive
    "__streamlit",
    "BACKEND_BASE_URL",
    "vite:preloadError",
    "_stcore/health",
    # settings that skip a request and block dialogs
    "HOST_CONFIG",
    "blockErrorDialogs",
    "useExternalAuthToken",
    "allowedOrigins",
    # its fonts, and those of its formulas
    "Material Symbols Rounded",
    "katex",
    "katex-display",
    "KaTeX_Main",
    "KaTeX_Math",
    "KaTeX_Size2",
)
#: Names of Plotly that they use. A tuple: as above.
IN_PLOTLY: tuple[str | tuple[str, ...], ...] = (
    "_fullLayout",
    "_hoverdata",
    "_offset",
    "heatmap-label",
    "hm",
    "heatmaplayer",
    "hoverlayer",
    "hovertext",
    "js-plotly-tester",
    "l2p",
    "layer-above",
    "modebar",
    "modebar-btn",
    "p2l",
    "scatterlayer",
    "shapelayer",
    "xaxislayer-above",
    "yaxislayer-above",
    ("y", "tick"),
    ("y", "title"),
)


def start_page() -> str:
    """Streamlit's own start page, in HTML."""
    return Path(file_util.get_static_dir(), "index.html").read_text("utf-8")


# -- the present script run --------------------------------------------------------------------------------------


def _run() -> ScriptRunContext:
    context = get_script_run_ctx()
    assert context is not None  # a page is running
    return context


def is_fragment_run() -> bool:
    """Whether this run draws only fragments, not the frame."""
    return bool(_run().fragment_ids_this_run)


def is_history_navigation() -> bool:
    """Whether the browser's back or forward began this run."""
    return _run().is_history_navigation


def intended_page() -> str | None:
    """The URL path that the browser opened, in the first run only; None or "" for the first page."""
    return _run().pages_manager.intended_page_name


def give_way() -> None:
    """End this run if a click waits: Streamlit lets clicks on a fragment wait to the end of a run.

    st.stop would lose the click.
    """
    requests = _run().script_requests
    if requests is not None and requests._state is ScriptRequestType.RERUN:
        raise StopException


def on_every_page() -> AbstractContextManager[None]:
    """A block whose widgets are the same on every page; otherwise Streamlit makes the page part of their ids."""
    context = _run()
    return context.run_with_active_hash(context.pages_manager.main_script_hash)


def forget_old_widgets() -> None:
    """Drop the callbacks of widgets that are no longer on the page, with all that they hold.

    Streamlit 1.67 drops the value of a removed widget but keeps its callback until the session ends. A clickable chart
    is a new widget whenever its picture changes, and its callback may hold the arrays of a whole page: sixty clicks
    left 20 MB. Call it when a run begins, since the last run needs its callbacks until then. A fragment's run leaves
    the frame's callbacks.
    """
    session, whole = _run().session_state._state, not is_fragment_run()
    widgets = session._new_widget_state
    widgets.widget_metadata = {
        name: about
        for name, about in widgets.widget_metadata.items()
        if name in widgets.states or name in session._old_state or not (whole or about.fragment_id)
    }


def read_upload(file: object) -> bytes | None:
    """The content of an uploaded file, which is then dropped; None if it is gone.

    file: the value of a st.file_uploader.
    """
    if not isinstance(file, UploadedFile):
        return None
    content = uploads.take(_run().session_id, file.file_id)
    return file.getvalue() or None if content is None else content  # its own where `hold_one_file` was not called


# -- the server --------------------------------------------------------------------------------------------------

#: Prefixes of widgets' ids.
OF_WIDGETS = (f"{GENERATED_ELEMENT_ID_PREFIX}-", STREAMLIT_INTERNAL_KEY_PREFIX)
# Seconds: most pages are complete by then; of others, the reader sees a part. The frame is sent earlier, so that the
# browser draws it while the page is computed.
HOLD, HOLD_FRAME = 0.06, 0.03
TURN = 0.1  # seconds: the time of three runs
# Events after which a run sends more.
GOES_ON = (
    ScriptRunnerEvent.SCRIPT_STARTED,
    ScriptRunnerEvent.ENQUEUE_FORWARD_MSG,
    ScriptRunnerEvent.SCRIPT_STOPPED_FOR_RERUN,
)


def ask_no_stranger() -> None:
    """Stop Streamlit from asking a server on the internet for this server's address.

    It asks again whenever another site's page tries to open ours, and makes everybody wait two seconds.
    """
    net_util.get_external_ip = lambda: None


def send_whole_pages() -> None:
    """Hold back a run's messages until the run ends, at most HOLD seconds.

    A page takes 30 to 50 ms. Streamlit hands over each part at once: the sending thread wakes up each time and slows
    the page, and the browser redraws the whole page for each part.
    """
    kept: WeakKeyDictionary[AppSession, deque[partial[None]]] = WeakKeyDictionary()
    timers: WeakKeyDictionary[AppSession, asyncio.TimerHandle] = WeakKeyDictionary()

    def hear(session: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, **about: Any) -> None:
        """Take an event, in the run's own thread."""
        said = kept.setdefault(session, deque())
        said.append(partial(session._handle_scriptrunner_event_on_event_loop, sender, event, **about))
        if event not in GOES_ON:
            session._call_soon_on_event_loop(partial(hand_over, session))
        elif len(said) == 1:
            whole = event is ScriptRunnerEvent.SCRIPT_STARTED and not about.get("fragment_ids_this_run")
            session._call_soon_on_event_loop(partial(wait, session, HOLD_FRAME if whole else HOLD))

    def wait(session: AppSession, seconds: float) -> None:
        timers[session] = asyncio.get_running_loop().call_later(seconds, hand_over, session)

    def hand_over(session: AppSession) -> None:
        if timer := timers.pop(session, None):
            timer.cancel()
        wake, session._message_enqueued_callback = session._message_enqueued_callback, None  # once, not for each part
        try:
            said = kept[session]
            while said:
                said.popleft()()
        finally:
            session._message_enqueued_callback = wake
        if wake:
            wake()

    def ask(session: AppSession, wanted: ClientState | None) -> None:
        """Request a run; first hand over a run that has ended, to which Streamlit would no longer listen.

        A session that has run nothing knows no fragments: its browser was away too long, or the server restarted. Asked
        for a fragment, it runs the whole app, or clicks would be lost.
        """
        if wanted:
            _leave_out_strangers(wanted)
        if wanted and session not in kept:
            wanted.fragment_id = ""
        if (said := kept.get(session)) and said[-1].args[1] not in GOES_ON:
            hand_over(session)
        request(session, wanted)

    request = AppSession.request_rerun
    AppSession.request_rerun = ask  # type: ignore[method-assign,assignment]
    AppSession._on_scriptrunner_event = hear  # type: ignore[method-assign,assignment]  # no setting for it


def send_blocks_before_their_parts() -> None:
    """Let a fragment's run drop nothing that the run before it has not sent yet.

    Streamlit drops that fragment's blocks, but not references to parts of them that the browser has already. A part
    without its block ends Streamlit's client: the reader is left with a blank page.
    """
    clear = ForwardMsgQueue.clear

    def keep(
        queue: ForwardMsgQueue, retain_lifecycle_msgs: bool = False, fragment_ids_this_run: list[str] | None = None
    ) -> None:
        if fragment_ids_this_run:
            queue._delta_index_map = {}  # what follows stands behind, in no earlier message's place
        else:
            clear(queue, retain_lifecycle_msgs, fragment_ids_this_run)

    ForwardMsgQueue.clear = keep  # type: ignore[method-assign,assignment]  # no setting for it


def _leave_out_strangers(wanted: ClientState) -> None:
    """Remove states whose ids are no widget's: Streamlit would look each up, and fail each run."""
    states = wanted.widget_states.widgets
    if strangers := [state for state in states if not state.id.startswith(OF_WIDGETS)]:
        for state in strangers:
            states.remove(state)


def run_in_turn() -> None:
    """Let runs of several visitors compute in turn, since in parallel each takes longer.

    Nobody waits longer than TURN seconds for another's run. When eight clicked on Attention at once, they waited 1.2
    times as long without this (mean of the eight; the last one 0.9 times).
    """
    run, turn = ScriptRunner._run_script, Lock()

    def run_next(runner: ScriptRunner, wanted: RerunData) -> None:
        ours = turn.acquire(timeout=TURN)
        try:
            run(runner, wanted)
        finally:
            if ours:
                turn.release()

    ScriptRunner._run_script = run_next  # type: ignore[method-assign,assignment]  # no setting for it


def read_settings_once() -> None:
    """Let the server read once the settings that it sends to browsers; Streamlit reads them at each click."""
    for tell in (app_session._populate_config_msg, app_session._populate_theme_msg):
        setattr(app_session, tell.__name__, _once(tell))


def _once(tell: Callable[..., None]) -> Callable[..., None]:
    """`tell`, which writes settings (of a theme's section) into a message, but after the first time from a copy."""
    told: dict[tuple[str, ...], Message] = {}

    def copy(message: Message, *section: str) -> None:
        if section not in told:
            tell(one := type(message)(), *section)
            told[section] = one
        if told[section].ByteSize():  # merging an empty message would mark the field as set
            message.MergeFrom(told[section])

    return copy


#: Bytes of all widgets' states in a message, except values sent once (a teacher's pictures); and number of widgets.
MOST_STATE, MOST_WIDGETS = 200_000, 1000
SAID_ONCE = ("trigger_value", "string_trigger_value", "json_trigger_value", "chat_input_value")


def keep_little(receive: Receive) -> Receive:
    """`receive` of a web socket, but with at most MOST_STATE bytes of widgets' states in a message.

    `server.maxWidgetStateSize` bounds one message. But a session keeps each text three times until the visit ends,
    whatever its callback does (only browsers heed `max_chars`), and Streamlit holds a message, raw and parsed, until
    the next one. So a small message follows each large one.
    """
    after_a_large_one = False

    async def hear() -> Event:
        nonlocal after_a_large_one
        if after_a_large_one:
            after_a_large_one = False
            return {"type": "websocket.receive", "bytes": BackMsg(app_heartbeat=True).SerializeToString()}
        message = await receive()
        if len(message.get("bytes") or b"") > MOST_STATE:
            after_a_large_one = True
            message = {**message, "bytes": _cut(message["bytes"])}
        return message

    return hear


def _cut(said: bytes) -> bytes:
    """A message with the widgets' states that have room, small ones first; a text without room is cut."""
    try:
        message = BackMsg.FromString(said)
    except DecodeError:  # Streamlit answers it
        return said
    heard, left = [], MOST_STATE
    states = message.rerun_script.widget_states.widgets
    for state in sorted(states[:MOST_WIDGETS], key=WidgetState.ByteSize):
        kind, size = state.WhichOneof("value"), state.ByteSize()
        if kind in SAID_ONCE or size <= left:
            heard.append(state)
            left -= 0 if kind in SAID_ONCE else size
        elif kind == "string_value" and len(state.id) < left:
            text = state.string_value.encode()[: left - len(state.id)].decode(errors="ignore")
            heard.append(WidgetState(id=state.id, string_value=text))
            left = 0
    message.rerun_script.widget_states.CopyFrom(WidgetStates(widgets=heard))
    return message.SerializeToString()


#: Bytes of one message; of all messages that web sockets hold; and the overhead of each part.
MOST_MESSAGE, MOST_HELD, A_PART = 1_000_000, 64_000_000, 100


def bound_messages() -> None:
    """Refuse messages of more than MOST_MESSAGE bytes at their beginning; and close the web socket that holds most when
    all together hold more than MOST_HELD.

    `server.maxMessageSize` would also bound what we send. A socket holds an incomplete message until its end, and the
    last message until the next: hundreds of sockets could each hold the maximum.
    """
    take, lose = WebSocketsSansIOProtocol.data_received, WebSocketsSansIOProtocol.connection_lost
    #: Bytes of the incomplete message, and of the last complete one.
    held: dict[WebSocketsSansIOProtocol, tuple[int, int]] = {}

    def data_received(line: WebSocketsSansIOProtocol, data: bytes) -> None:
        line.conn.max_message_size = MOST_MESSAGE
        take(line, data)
        before, last = held.get(line, (0, 0))
        now = len(line.conn.reader.buffer) + (line.conn.current_size or 0) + A_PART * len(line.frames)
        held[line] = (now, last) if now else (0, before + len(data))
        while sum(map(sum, held.values())) > MOST_HELD:
            most = max(held, key=lambda one: sum(held[one]))
            del held[most]
            most.transport.abort()
            most.conn.reader.discard()
            most.frames.clear()

    def connection_lost(line: WebSocketsSansIOProtocol, problem: Exception | None) -> None:
        held.pop(line, None)
        lose(line, problem)

    WebSocketsSansIOProtocol.data_received = data_received  # type: ignore[method-assign,assignment]  # no setting for it
    WebSocketsSansIOProtocol.connection_lost = connection_lost  # type: ignore[method-assign,assignment]


def hold_one_file() -> None:
    """Keep uploaded files in `uploads`, one for each session; Streamlit gets all of a file but its content.

    Streamlit would keep all of a session's files until 45 minutes after its web socket has closed, and a widget's file
    as long as the widget shows it, read or not.
    """
    add, disconnect = MemoryUploadedFileManager.add_file, WebsocketSessionManager.disconnect_session

    def add_file(manager: MemoryUploadedFileManager, session_id: str, file: UploadedFileRec) -> None:
        manager.remove_session_files(session_id)
        uploads.keep(session_id, file.file_id, file.data)
        add(manager, session_id, file._replace(data=b""))

    def disconnect_session(manager: WebsocketSessionManager, session_id: str) -> None:
        uploads.drop(session_id)
        disconnect(manager, session_id)

    MemoryUploadedFileManager.add_file = add_file  # type: ignore[method-assign,assignment]  # no setting for it
    WebsocketSessionManager.disconnect_session = disconnect_session  # type: ignore[method-assign,assignment]


def send_without_delay(send: Send) -> None:
    """Set TCP_NODELAY, so that each part of a page leaves when it is sent. send: uvicorn's.

    Otherwise the system holds a small part until the browser has acknowledged the one before, up to 40 ms. asyncio
    sets it, too, but not on Streamlit's sockets (opened without IPPROTO_TCP). On one machine a click took 1.05 times as
    long without it.
    """
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    connection = transport and transport.get_extra_info("socket")
    if connection and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
