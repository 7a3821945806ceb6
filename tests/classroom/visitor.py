"""A visitor without a browser: Streamlit's web socket, its messages, and a browser's state between them."""

import asyncio
import json
import time
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import parse_qs
from urllib.request import Request, urlopen

from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.BidiComponent_pb2 import BidiComponent
from streamlit.proto.ButtonGroup_pb2 import ButtonGroup
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake

PATIENCE = 120  # seconds for an answer, or until a lost server is back: a busy machine is slow, not broken
_EARLY = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN


def visit(visits: Coroutine) -> Any:
    """Run a coroutine in its own thread, because Playwright leaves an event loop running in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, visits).result()


class PageError(RuntimeError):
    """An error or exception shown on a page."""


class Visitor:
    """A session with the server at `address` ("127.0.0.1:8501").

    Widgets are named by their keys, rows of buttons by what they choose ("layer"), the sentence on top is "s".

    `runs`, `bytes`, `charts`: finished runs, bytes received, charts of the last run. `lost`: broken connections.
    `heard`: all data received, if `listen` is set. `alerts`: notes and warnings of the last run.
    """

    def __init__(self, address: str, listen: bool = False, comes_back: bool = True) -> None:
        """comes_back: whether to reconnect when the server closes the connection."""
        self.address, self._comes_back = address, comes_back
        self.query = ""
        self.page = ""  # hash of the open page
        self.pages: dict[str, str] = {}  # path -> hash
        self.runs = self.bytes = self.charts = self.lost = 0
        self.heard: list[bytes] | None = [] if listen else None
        self.alerts: list[str] = []
        self._cookies: SimpleCookie = SimpleCookie()
        self._session = ""
        self._socket: ClientConnection | None = None
        self._states: dict[str, WidgetState] = {}  # key -> state sent to the server
        self.buttons: dict[str, object] = {}  # buttons of the page, by key
        self._widgets: dict[str, object] = {}  # key -> text box, row of buttons, or sentence of the last run
        self._boxes: dict[str, str] = {}  # key -> id of a box that can be unfolded, or of a switch
        self._fragments: dict[str, str] = {}  # key -> the fragment that it reruns; "": the whole page
        self._messages: dict[str, tuple[ForwardMsg, int]] = {}  # large messages, sent only once, with their run
        self._longest_kept = 2

    async def open(self, path: str = "", query: str = "") -> float:
        """Follow a link; returns seconds until the page was complete."""
        self.query = query
        await self._connect(path)
        return await self._rerun(path)

    async def set(self, **values: float | str) -> float:
        """Choose numbers and type strings, in one step; returns seconds."""
        for key, value in values.items():
            if key not in self._widgets:
                raise LookupError(f"the page has nothing to set “{key}” with, only {self.widgets}")
            self._states[key] = _state(self._widgets[key], value)
        try:
            return await self._rerun(fragment=self._fragments[key])
        finally:
            self._states.pop("s", None)  # an event, not a widget's state

    async def press(self, key: str) -> float:
        """Click a button; returns seconds."""
        button = self.buttons[key]
        self._states[key] = WidgetState(id=button.id, trigger_value=True)
        try:
            return await self._rerun(fragment=self._fragments[key])
        finally:
            self._states.pop(key, None)

    async def unfold(self, key: str) -> float:
        """Unfold a box, or switch something on; returns seconds."""
        self._states[key] = WidgetState(id=self._boxes[key], bool_value=True)
        return await self._rerun()

    async def again(self) -> float:
        """Rerun the page unchanged; returns seconds."""
        return await self._rerun()

    async def go(self, path: str) -> float:
        """Open another page of the app by its link, with the current query; returns seconds."""
        self.page = self.pages[path]
        return await self._rerun()

    def upload(self, name: str) -> tuple[str, dict[str, str]]:
        """Path and headers of a file upload."""
        token = self._cookies["_streamlit_xsrf"].value
        kind = "multipart/form-data; boundary=-"
        headers = {"Cookie": self._cookie_header(), "X-Xsrftoken": token, "Content-Type": kind}
        return f"/_stcore/upload_file/{self._session}/{name}", headers

    async def ask_for_a_cookie(self) -> None:
        """Get the cookie that uploads need."""
        await asyncio.to_thread(self._fetch, "_stcore/health")

    async def send(self, content: bytes, name: str = "a") -> int:
        """Upload a file as browsers do; returns the status."""
        await self.ask_for_a_cookie()
        path, headers = self.upload(name)
        named = b'---\r\nContent-Disposition: form-data; name="a"; filename="a"\r\n\r\n'
        body = named + content + b"\r\n-----\r\n"
        request = Request(f"http://{self.address}{path}", body, headers, method="PUT")
        return await asyncio.to_thread(lambda: urlopen(request, timeout=PATIENCE).status)

    def options(self, key: str) -> list[str]:
        """Options of a row of buttons."""
        return [option.content for option in self._widgets[key].options]

    def value(self, key: str) -> str:
        """Value shown by a text box, a row of buttons, or the sentence."""
        widget = self._widgets[key]
        state = self._states.get(key)
        if isinstance(widget, BidiComponent):
            return json.loads(widget.json)["sentence"]
        if isinstance(widget, ButtonGroup):
            return state.string_array_value.data[0] if state else widget.options[widget.default[0]].content
        return state.string_value if state else widget.default

    @property
    def widgets(self) -> list[str]:
        """Keys of all that can be set."""
        return sorted(self._widgets)

    @property
    def path(self) -> str:
        return next(path for path, page in self.pages.items() if page == self.page)

    @property
    def link(self) -> dict[str, list[str]]:
        """Query of the address bar."""
        return parse_qs(self.query)

    @property
    def worker(self) -> str | None:
        """The worker named by the cookie."""
        return self._cookies["worker"].value if "worker" in self._cookies else None

    async def close(self) -> None:
        await self._socket.close()

    async def _connect(self, path: str = "") -> None:
        """Fetch the page for its cookies, then open the web socket, with the old session if any; retry for PATIENCE
        seconds.
        """
        until = time.monotonic() + PATIENCE
        while True:
            try:
                await asyncio.to_thread(self._fetch, path)
                self._socket = await connect(
                    f"ws://{self.address}/_stcore/stream",
                    subprotocols=["streamlit", "PLACEHOLDER_AUTH_TOKEN", *([self._session] if self._session else [])],
                    origin=f"http://{self.address}",
                    additional_headers={"Cookie": self._cookie_header()},
                    max_size=None,
                    compression=None,
                )
                self._take_cookies(self._socket.response.headers.get_all("Set-Cookie"))
                return
            except (OSError, InvalidHandshake):
                if time.monotonic() > until:
                    raise
                await asyncio.sleep(0.2)

    def _fetch(self, path: str) -> None:
        request = Request(f"http://{self.address}/{path}", headers={"Cookie": self._cookie_header()})
        with urlopen(request, timeout=PATIENCE) as answer:
            self._take_cookies(answer.headers.get_all("Set-Cookie"))

    def _take_cookies(self, headers: list[str] | None) -> None:
        for header in headers or ():
            self._cookies.load(header)

    def _cookie_header(self) -> str:
        return "; ".join(f"{name}={cookie.value}" for name, cookie in self._cookies.items())

    async def _rerun(self, path: str = "", fragment: str = "") -> float:
        """Ask for a run and read it. Reconnects like a browser."""
        start = time.perf_counter()
        while True:
            try:
                await self._socket.send(self._request(path, fragment).SerializeToString())
                async with asyncio.timeout(PATIENCE):
                    await self._take_in()
                return time.perf_counter() - start
            except ConnectionClosed:
                self.lost += 1
                if not self._comes_back:
                    raise
                fragment = ""
                await self._connect(path)

    def _request(self, path: str, fragment: str) -> BackMsg:
        request = BackMsg()
        client = request.rerun_script
        client.query_string, client.page_script_hash, client.page_name = self.query, self.page, path
        client.fragment_id = fragment
        client.widget_states.widgets.extend(self._states.values())
        client.cached_message_hashes.extend(self._messages)
        client.context_info.locale = "en-US"
        client.context_info.url = f"http://{self.address}/{path}"
        return request

    async def _take_in(self) -> None:
        """Read messages until the run, and reruns that it requested, have ended."""
        while True:
            data = await self._socket.recv()
            self.bytes += len(data)
            if self.heard is not None:
                self.heard.append(data)
            message = ForwardMsg.FromString(data)
            if message.ref_hash:
                message = self._messages[message.ref_hash][0]
            if message.metadata.cacheable:
                self._messages[message.hash] = message, self.runs
            match message.WhichOneof("type"):
                case "new_session":
                    self._session = message.new_session.initialize.session_id
                    self._longest_kept = message.new_session.config.max_cached_message_age
                    self.charts, self.alerts, self.buttons = 0, [], {}
                    if not message.metadata.run.fragment_ids:
                        self._widgets = {}
                case "navigation":
                    self.pages = {page.url_pathname: page.page_script_hash for page in message.navigation.app_pages}
                    self.page = message.navigation.page_script_hash
                case "page_info_changed":
                    self.query = message.page_info_changed.query_string
                case "delta" if message.delta.HasField("new_element"):
                    self._draw(message.delta.new_element, message.delta.fragment_id)
                case "delta" if message.delta.add_block.expandable.id:
                    box = message.delta.add_block.expandable.id
                    self._boxes[box.split("-", 2)[2]] = box
                case "script_finished" if message.script_finished != _EARLY:
                    self.runs += 1
                    self._forget()
                    return

    def _draw(self, element: object, fragment: str) -> None:
        kind = element.WhichOneof("type")
        self.charts += element.bidi_component.component_name == "chart"
        if kind == "exception" or (kind == "alert" and element.alert.format == Alert.ERROR):
            raise PageError(getattr(element, kind))
        if kind == "alert":
            self.alerts.append(element.alert.body)
        if kind == "button":
            key = element.button.id.split("-", 2)[2]
            self.buttons[key], self._fragments[key] = element.button, fragment
        if kind == "checkbox":
            self._boxes[element.checkbox.id.split("-", 2)[2]] = element.checkbox.id
        if kind in ("text_input", "text_area", "button_group") or _is_sentence(element):
            widget = getattr(element, kind)
            key = "s" if _is_sentence(element) else widget.id.split("-", 2)[2].removeprefix("either.")
            self._widgets[key], self._fragments[key] = widget, fragment
            if kind == "button_group" and widget.set_value:
                self._states[key] = WidgetState(id=widget.id, string_array_value={"data": widget.raw_values})
            elif kind != "bidi_component" and widget.set_value:
                self._states[key] = _state(widget, widget.value)

    def _forget(self) -> None:
        """Drop states of widgets that are gone, and messages unused for some runs."""
        self._states = {key: state for key, state in self._states.items() if key in self._widgets or key in self._boxes}
        oldest = self.runs - self._longest_kept
        self._messages = {name: kept for name, kept in self._messages.items() if kept[1] >= oldest}


def _is_sentence(element: object) -> bool:
    return element.bidi_component.component_name == "sentence_line"


def _state(widget: object, value: float | str) -> WidgetState:
    if isinstance(widget, BidiComponent):
        event = {"event": "typed", "value": {"text": value, "number": time.time_ns() // 1_000_000}}
        return WidgetState(id=f"$$STREAMLIT_INTERNAL_KEY_{widget.id}__events", json_trigger_value=json.dumps([event]))
    if isinstance(widget, ButtonGroup):
        return WidgetState(id=widget.id, string_array_value={"data": [str(value)]})
    return WidgetState(id=widget.id, string_value=value)
