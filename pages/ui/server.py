"""What the server does otherwise than Streamlit's own: how it answers addresses, when it runs, and when it sends."""

import asyncio
import gzip
import re
import shutil
import socket
import tempfile
from collections import deque
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util, get_option, net_util
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.scriptrunner import RerunData, ScriptRunner, ScriptRunnerEvent

from pages.ui import assets

SLASH = "%E2%88%95"  # ∕, which divides fractions and not addresses
# Seconds: most pages are written by then, and of the others the reader shall see something. The frame is written first,
# so that the browser can draw it while the page is being written.
HOLD, HOLD_FRAME = 0.06, 0.03
TURN = 0.1  # seconds: the time of three runs
# On every answer: a browser takes a file for what it is called, and no other site shows ours in a frame.
GUARD = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "frame-ancestors 'self'; base-uri 'self'; form-action 'self'; object-src 'none'",
}
LEAST_ROOM = (
    32 * 2**20
)  # bytes on the disk of temporary files: scripts on their way to browsers, and pictures sent here
# What a run tells while more is to come.
GOES_ON = (
    ScriptRunnerEvent.SCRIPT_STARTED,
    ScriptRunnerEvent.ENQUEUE_FORWARD_MSG,
    ScriptRunnerEvent.SCRIPT_STOPPED_FOR_RERUN,
)


def ask_no_stranger() -> None:
    """Let Streamlit not ask a server on the internet for this one's address.

    It would, once more for each page of another site that tries to open ours, and let everybody wait two seconds.
    """
    net_util.get_external_ip = lambda: None


def send_whole_pages() -> None:
    """Let the server keep what a run says until all is said, or for HOLD seconds if that comes first.

    A page is written in 30 to 50 ms. Streamlit hands each part of it to the thread that sends, which wakes up for each
    and lets the page wait; and for each part that arrives the browser draws the whole page anew.
    """
    kept: WeakKeyDictionary[AppSession, deque[partial[None]]] = WeakKeyDictionary()
    timers: WeakKeyDictionary[AppSession, asyncio.TimerHandle] = WeakKeyDictionary()

    def hear(session: AppSession, sender: ScriptRunner | None, event: ScriptRunnerEvent, **about: Any) -> None:
        """In a run's own thread."""
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
        """A run that has ended is heard before the next is begun: after that, Streamlit no longer listens to it.

        A session that has run nothing yet knows no part of a page: it is the new one of a browser that was away too
        long, or whose server was begun again. Asked for a part, it runs all, or each click there would be lost.
        """
        if wanted and session not in kept:
            wanted.fragment_id = ""
        if (said := kept.get(session)) and said[-1].args[1] not in GOES_ON:
            hand_over(session)
        request(session, wanted)

    request = AppSession.request_rerun
    AppSession.request_rerun = ask  # type: ignore[method-assign,assignment]
    AppSession._on_scriptrunner_event = hear  # type: ignore[method-assign,assignment]  # no setting for it


def run_in_turn() -> None:
    """Let one run after the other compute where several visitors click at once: side by side, each would take longer.

    Nobody waits longer than TURN seconds for another's long experiment.
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


class Entrance:
    """Middleware: a page's address starts the client and tells it where the server is; what pages say is not kept back;
    there is what is ours, packed; /health says whether the server can serve; and how full its caches are is told to
    this machine only.

    Only at a name without a slash does the client find its own files, and Streamlit know pages. Who asks for /foo/bar
    is sent to /foo∕bar, and the app says that there is no such page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.assets = app, {assets.address(source): _packed(source) for source in assets.ALL}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            _send_without_delay(send)
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = _guarded(send)
        base = f"/{get_option('server.baseUrlPath').strip('/')}".rstrip("/")
        match scope["path"].removeprefix(base):
            case "/health" if _no_room():
                await PlainTextResponse("no room for temporary files", 503)(scope, receive, send)
                return
            case "/health":
                path = f"{base}/_stcore/health"
                scope = {**scope, "path": path, "raw_path": path.encode()}
            case "/_stcore/metrics" if not _asked_from_here(scope):
                await PlainTextResponse("for this machine only", 403)(scope, receive, send)
                return
        if asset := self.assets.get("/".join(scope["path"].rsplit("/", 2)[1:])):
            await asset(scope, receive, send)
            return
        entered = False

        async def answer(message: Message) -> None:
            nonlocal entered
            entered = entered or _starts_the_client(message)
            if not entered:
                await send(message)

        await self.app(scope, receive, answer)
        if entered:
            await _enter(scope["raw_path"].decode("ascii"), scope["query_string"].decode("ascii"))(scope, receive, send)


def _guarded(send: Send) -> Send:
    """`send`, with the headers of GUARD on each answer."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(GUARD)
        await send(message)

    return answer


def _no_room() -> bool:
    """Whether the disk of temporary files is nearly full: scripts would then reach browsers cut short."""
    return shutil.disk_usage(tempfile.gettempdir()).free < LEAST_ROOM


def _asked_from_here(scope: Scope) -> bool:
    """Whether a request comes from this very machine, and not through a proxy on it."""
    host = (scope["client"] or ("",))[0]
    return host in ("127.0.0.1", "::1", "::ffff:127.0.0.1") and "x-forwarded-for" not in Headers(scope=scope)


def _send_without_delay(send: Send) -> None:
    """Let the system hand over each part of a page when it is sent.

    Else it keeps a small part back until the browser has acknowledged the one before, which takes up to 40 ms. asyncio
    asks for this, too, but not on the sockets that Streamlit opens (without IPPROTO_TCP). `send` is uvicorn's.
    """
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    connection = transport and transport.get_extra_info("socket")
    if connection and connection.family in (socket.AF_INET, socket.AF_INET6):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _starts_the_client(message: Message) -> bool:
    """Whether an answer begins here that is Streamlit's own start page; other HTML there is only to download."""
    if message["type"] != "http.response.start" or message["status"] != 200:
        return False
    headers = dict(message["headers"])
    return headers.get(b"content-type", b"").startswith(b"text/html") and b"content-disposition" not in headers


def _enter(path: str, query: str) -> Response:
    """The start page, if this is the address of one; `path` is as the browser sent it."""
    name = path.removeprefix(f"/{get_option('server.baseUrlPath').strip('/')}").lstrip("/")
    single = re.sub("/|%2F", SLASH, name, flags=re.IGNORECASE)
    if single != name:
        return RedirectResponse("./" + "../" * name.count("/") + single + (f"?{query}" if query else ""))
    return HTMLResponse(_start_page(), headers={"Cache-Control": "no-cache", "Referrer-Policy": "origin"})


@cache
def _start_page() -> str:
    """Streamlit's, with our scripts fetched beside its own: else a component would ask for its own when it is drawn.

    The style stands behind the head, where the client puts its own.
    """
    page = Path(file_util.get_static_dir(), "index.html").read_text("utf-8")
    plotly, style = f'"{assets.address(assets.PLOTLY)}"', f'"{assets.address(assets.STYLE)}"'
    wanted = "".join(f'<link rel="modulepreload" href="{assets.address(path)}">' for path in assets.SCRIPTS.values())
    start = f"<script>{assets.START.read_text('utf-8')}</script>"
    page = page.replace("<head>", f'<head>{start}<script id="plotly" async src={plotly}></script>{wanted}', 1)
    return page.replace("<body>", f'<body><link rel="stylesheet" href={style}>', 1)


def _packed(source: Path) -> Response:
    """A script or a style for the browser. It never changes under its name."""
    told = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}
    kind = "text/css" if source.suffix == ".css" else "text/javascript"
    return Response(gzip.compress(source.read_bytes()), headers=told, media_type=kind)
