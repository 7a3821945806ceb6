"""What the server does otherwise than Streamlit's own: how it answers addresses, and when it sends."""

import gzip
import re
import socket
from functools import cache
from pathlib import Path

from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import file_util, get_option
from streamlit.runtime import runtime
from streamlit.runtime.pages_manager import PagesManager

from pages.ui import scripts

SLASH = "%E2%88%95"  # ∕, which divides fractions and not addresses
BURST = 0.02  # seconds: with more, the last part of a page waits longer than the browser saves
# The client, opened at /attention, would look for its server below that path first, and get two 404s.
HERE = '<script>window.__streamlit = {BACKEND_BASE_URL: new URL(".", location).href}</script>'


def name_the_pages_ourselves() -> None:
    """Let no file of pages/ be a page of itself, as Streamlit has it until the first st.navigation.

    Else the first visitor of a fresh server who opens /attention would get that page without its frame.
    """
    PagesManager.uses_pages_directory = False


def send_in_bursts() -> None:
    """Let the server send what pages say every BURST seconds, where Streamlit has it every 5 ms.

    A page is written in 30 to 50 ms. The browser draws the whole page anew for each part of it that comes, and the
    server looks at every visitor for each part that it sends.
    """
    runtime.MESSAGE_FLUSH_INTERVAL_SECS = BURST  # type: ignore[misc]  # Streamlit itself never changes it


class Entrance:
    """Middleware: a page's address starts the client and tells it where the server is; what pages say is not kept back;
    and there are our own scripts, packed.

    Only at a name without a slash does the client find its own files, and Streamlit know pages. Who asks for /foo/bar
    is sent to /foo∕bar, and the app says that there is no such page.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app, self.scripts = app, {scripts.address(name): _packed(path) for name, path in scripts.SOURCES.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            _send_without_delay(send)
        if scope["type"] == "http" and (script := self.scripts.get("/".join(scope["path"].rsplit("/", 2)[1:]))):
            await script(scope, receive, send)
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
    """Whether an answer begins here that is Streamlit's own start page; it has no other page of HTML."""
    if message["type"] != "http.response.start" or message["status"] != 200:
        return False
    return dict(message["headers"]).get(b"content-type", b"").startswith(b"text/html")


def _enter(path: str, query: str) -> Response:
    """The start page, if this is the address of one; `path` is as the browser sent it."""
    name = path.removeprefix(f"/{get_option('server.baseUrlPath').strip('/')}").lstrip("/")
    single = re.sub("/|%2F", SLASH, name, flags=re.IGNORECASE)
    if single != name:
        return RedirectResponse("./" + "../" * name.count("/") + single + (f"?{query}" if query else ""))
    return HTMLResponse(_start_page(), headers={"Cache-Control": "no-cache"})


@cache
def _start_page() -> str:
    """Streamlit's, with our scripts fetched beside its own: else a component would ask for its own when it is drawn."""
    page = Path(file_util.get_static_dir(), "index.html").read_text("utf-8")
    plotly, *ours = map(scripts.address, scripts.SOURCES)
    wanted = "".join(f'<link rel="modulepreload" href="{address}">' for address in ours)
    return page.replace("<head>", f'<head>{HERE}<script id="plotly" async src="{plotly}"></script>{wanted}', 1)


def _packed(script: Path) -> Response:
    """A script for the browser. It never changes under its name."""
    told = {"Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable"}
    return Response(gzip.compress(script.read_bytes()), headers=told, media_type="text/javascript")
