"""How the server answers requests, where it differs from Streamlit."""

import gzip
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import get_option

from pages.server import assets, lines, streamlit_private
from pages.server.uploads import uploads

SLASH = "%E2%88%95"  # ∕, which does not split addresses


def framed_by(sites: str) -> str:
    """The policy that lets us and the owner's sites show our pages in a frame.

    sites: as in FRAMED_BY="https://moodle.example.edu https://*.example.org". Exits at any other value.
    """
    if wrong := [site for site in sites.split() if not re.fullmatch(r"https?://[\w.*-]+(:\d+)?", site, re.ASCII)]:
        sys.exit(f"FRAMED_BY names sites such as https://moodle.example.edu; {wrong[0]!r} is none")
    return " ".join(["frame-ancestors 'self'", *sites.split()])


# Headers of every answer: no guessing of file types, and only named sites may frame our pages.
GUARD = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": f"{framed_by(os.environ.get('FRAMED_BY', ''))}; base-uri 'self'; form-action 'self'; "
    "object-src 'none'",
}
LEAST_ROOM = 32 * 2**20  # bytes free on the disk of temporary files: scripts for browsers, uploaded pictures


class Entrance:
    """Middleware. It serves the start page at every page's address, sends messages without delay, serves our files
    compressed, answers /health, shows metrics to this machine only, and admits uploads when there is room.

    The client finds its files, and Streamlit its pages, only at names without a slash. So /foo/bar is redirected to
    /foo∕bar, and the app says that there is no such page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.assets = app, {assets.address(source): _packed(source) for source in assets.ALL}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            streamlit_private.send_without_delay(send)
            await lines.through_a_line(self._session, scope, receive, send)
            return
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        send = _guarded(send)
        base = f"/{get_option('server.baseUrlPath').strip('/')}".rstrip("/")
        path = scope["path"].removeprefix(base)
        if scope["method"] == "PUT" and path.startswith("/_stcore/upload_file/"):
            await self._take_file(scope, receive, send)
            return
        match path:
            case "/health" if _no_room():
                await PlainTextResponse("no room for temporary files", 503)(scope, receive, send)
                return
            case "/health":
                health = f"{base}/_stcore/health"
                scope = {**scope, "path": health, "raw_path": health.encode()}
            case "/_stcore/metrics" if not _asked_from_here(scope):
                await PlainTextResponse("for this machine only", 403)(scope, receive, send)
                return
            case "/join":  # our page without Streamlit's client
                await self.app(scope, receive, send)
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

    async def _take_file(self, scope: Scope, receive: Receive, send: Send) -> None:
        length = Headers(scope=scope).get("content-length", "")  # missing for chunked uploads
        size = int(length) if length.isdecimal() else get_option("server.maxUploadSize") * 2**20
        try:
            async with uploads.room(size, _address(scope)):
                await self.app(scope, receive, send)
        except ClientDisconnect:  # Streamlit would log a traceback
            return
        except TimeoutError:
            answer = PlainTextResponse("no room for this file now", 503, {"Connection": "close"})
            await answer(scope, receive, send)

    async def _session(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.app(scope, streamlit_private.keep_little(receive), send)


def _guarded(send: Send) -> Send:
    """`send`, with the headers of GUARD on each answer."""

    async def answer(message: Message) -> None:
        if message["type"] == "http.response.start":
            MutableHeaders(scope=message).update(GUARD)
        await send(message)

    return answer


def _no_room() -> bool:
    """Whether the disk of temporary files is nearly full; browsers would then get truncated scripts."""
    return shutil.disk_usage(tempfile.gettempdir()).free < LEAST_ROOM


def _asked_from_here(scope: Scope) -> bool:
    return is_from_here(_address(scope), Headers(scope=scope))


def _address(scope: Scope) -> str:
    return (scope["client"] or ("",))[0]


def is_from_here(host: str, headers: Mapping[str, str]) -> bool:
    """Whether a request comes from this machine, not through a proxy on it that sets X-Forwarded-For."""
    return host in ("127.0.0.1", "::1", "::ffff:127.0.0.1") and "X-Forwarded-For" not in headers


def _starts_the_client(message: Message) -> bool:
    """Whether this message begins Streamlit's start page; its other HTML is for download only."""
    if message["type"] != "http.response.start" or message["status"] != 200:
        return False
    headers = dict(message["headers"])
    return headers.get(b"content-type", b"").startswith(b"text/html") and b"content-disposition" not in headers


def _enter(path: str, query: str) -> Response:
    """The start page, or a redirect to a name without slashes. path: as the browser sent it."""
    name = path.removeprefix(f"/{get_option('server.baseUrlPath').strip('/')}").lstrip("/")
    single = re.sub("/|%2F", SLASH, name, flags=re.IGNORECASE)
    if single != name:
        return RedirectResponse("./" + "../" * name.count("/") + single + (f"?{query}" if query else ""))
    return HTMLResponse(_start_page(), headers={"Cache-Control": "no-cache", "Referrer-Policy": "origin"})


@cache
def _start_page() -> str:
    """Streamlit's start page, which also preloads our scripts; else each would be fetched when first drawn.

    Our styles come after the head, where the client puts its own.
    """
    page = streamlit_private.start_page()
    plotly = f'"{assets.address(assets.PLOTLY)}"'
    styles = "".join(f'<link rel="stylesheet" href="{assets.address(path)}">' for path in assets.STYLES)
    wanted = "".join(f'<link rel="modulepreload" href="{assets.address(path)}">' for path in assets.SCRIPTS.values())
    changed = "window.isBeingChanged = true\n" if os.environ.get("GLASS_DEV") else ""  # `make dev`
    start = f"<script>{changed}{assets.START.read_text('utf-8')}</script>"
    page = page.replace(
        "<head>", f'<head>{assets.IMPORTS}<script id="plotly" async data-src={plotly}></script>{start}{wanted}', 1
    )
    return page.replace("<body>", f'<body>{styles}<p id="unheard" role="status"></p><p id="said" role="status"></p>', 1)


def _packed(source: Path) -> Response:
    """A compressed script or style, cached for good."""
    told = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}
    kind = "text/css" if source.suffix == ".css" else "text/javascript"
    return Response(gzip.compress(assets.content(source)), headers=told, media_type=kind)
