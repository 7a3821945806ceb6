"""A real server and a real Chromium. Without a Chromium these tests are skipped; where CI is set they fail."""

import os
import re
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, NoReturn
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    BrowserType,
    Error,
    Page,
    Request,
    WebError,
    WebSocket,
    expect,
    sync_playwright,
)

from tests.browser.talk import heed
from tests.classroom.server import serve

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
NO_CHROMIUM = "no Chromium on this machine (Debian: apt-get install chromium)"
QUIET = [  # Chromium's own requests would look like the app's
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True, "locale": "en-US"}
PATIENCE = 90_000  # milliseconds; a busy machine is slow, not broken, and the first visitor waits for torch

expect.set_options(timeout=PATIENCE)


def lacking(reason: str) -> NoReturn:
    """Skip the test; in CI, fail."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser for a program that is no test."""
    if CHROMIUM is None:
        sys.exit(NO_CHROMIUM)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict) -> dict:
    """Use the Chromium of the operating system, so that Playwright's need not be downloaded."""
    if CHROMIUM is None:
        lacking(NO_CHROMIUM)
    return {**browser_type_launch_args, "executable_path": CHROMIUM, "args": QUIET}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict) -> dict:
    """A wide screen with reduced motion, because animations are painted by the processor."""
    screen = {"viewport": {"width": 1440, "height": 900}, "reduced_motion": "reduce"}
    return {**browser_context_args, "locale": "en-US", **screen}


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def hosted(folder: Path) -> Iterator[str]:
    """Host a folder on this machine until the end of the block; yields its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="session")
def app_url(tmp_path_factory: pytest.TempPathFactory, browser_type_launch_args: dict) -> Iterator[str]:
    """The server shared by the tests, with a folder of its own for classes."""
    school = {"GLASS_DATA": str(tmp_path_factory.mktemp("school")), "DATABASE_URL": ""}
    with serve(environment=school) as server:
        yield server.url


@contextmanager
def window(browser_type: BrowserType, about: dict) -> Iterator[BrowserContext]:
    """A window whose browser caches compiled scripts, which halves the work of opening the next page."""
    with TemporaryDirectory() as folder, browser_type.launch_persistent_context(folder, **about) as context:
        context.on("page", heed)
        for page in context.pages:
            heed(page)
        yield context


@pytest.fixture(scope="session")
def context(
    browser_type: BrowserType, browser_type_launch_args: dict, browser_context_args: dict
) -> Iterator[BrowserContext]:
    """The window shared by the tests."""
    with window(browser_type, browser_type_launch_args | browser_context_args) as context:
        yield context


@pytest.fixture(scope="session")
def pocket(browser_type: BrowserType, browser_type_launch_args: dict) -> Iterator[BrowserContext]:
    """The phone shared by the tests."""
    with window(browser_type, browser_type_launch_args | PHONE) as context:
        yield context


@pytest.fixture(scope="session")
def browser(context: BrowserContext) -> Browser:
    """The browser of the shared window, for fixtures that expect one."""
    return context.browser


@pytest.fixture
def own_tab() -> None:
    """Request it for a tab of the test's own, for what cannot be undone: a slow line, init scripts, counted steps."""


@pytest.fixture
def goes_on() -> None:
    """Request it to start where the test before it in its file ended: `visit` navigates within the open app. The test
    must not leave anything on the page that would disturb the next one.
    """


@pytest.fixture
def page(context: BrowserContext, browser_context_args: dict, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A tab of the shared window."""
    own = "own_tab" in request.fixturenames
    with tab(context) if own else kept_tab(context, browser_context_args, request) as page:
        yield page


@pytest.fixture
def phone(pocket: BrowserContext, requests: list[str], request: pytest.FixtureRequest) -> Iterator[Page]:
    """The tab of the phone."""
    with watched(pocket, requests), kept_tab(pocket, PHONE, request) as page:
        yield page


@contextmanager
def tab(context: BrowserContext) -> Iterator[Page]:
    """A new tab; afterwards the app's data in the browser is deleted."""
    page = context.new_page()
    yield page
    leave(page)
    page.close()


def leave(page: Page) -> None:
    """Leave the app and delete its data in the browser. Restores a cut line; init scripts stay."""
    page.context.set_offline(False)
    left = {"origin": "/".join(page.url.split("/", 3)[:3]), "storageTypes": "cookies,local_storage,indexeddb"}
    page.goto("about:blank")
    line = page.context.new_cdp_session(page)
    line.send("Storage.clearDataForOrigin", left)
    line.detach()


#: The file whose test used a shared tab last.
LEFT_BY: WeakKeyDictionary[Page, Path] = WeakKeyDictionary()


@contextmanager
def kept_tab(context: BrowserContext, about: dict, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The first tab of a window, reset: opening a page there takes half the work of a new tab.

    With `goes_on` it is not reset between tests of one file, except when a test is repeated.
    """
    page = context.pages[0] if context.pages else context.new_page()
    stays = "goes_on" in request.fixturenames
    open_app = stays and request.node.execution_count == 1 and LEFT_BY.get(page) == request.path
    if page.url != "about:blank" and not open_app:
        leave(page)
    LEFT_BY[page] = request.path
    yield page
    try:
        page.unroute_all(behavior="ignoreErrors")
        if stays:
            page.keyboard.press("Escape")
        else:
            leave(page)
        page.set_viewport_size(about["viewport"])
        motion = about.get("reduced_motion", "no-preference")
        page.emulate_media(media="screen", color_scheme="light", reduced_motion=motion, forced_colors="none")
        page.mouse.move(1, 1)
    except Error:  # crashed or hung: the next test gets a new one
        page.close()
        raise


@pytest.fixture
def requests() -> list[str]:
    """Addresses of all requests during the test."""
    return []


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine(context: BrowserContext, requests: list[str]) -> Iterator[None]:
    """No request or web socket goes anywhere but to 127.0.0.1, and no tab stays open."""
    before = context.pages
    with watched(context, requests):
        yield
    for left in context.pages:
        if before and left not in before:
            left.close()
    outside = [url for url in requests if urlsplit(url).scheme not in ("data", "blob")]
    outside = [url for url in outside if urlsplit(url).hostname not in ("127.0.0.1", "class.localhost")]
    assert not outside, f"asked for outside this machine: {outside}"


#: A line of a script of ours, not of Streamlit's.
OURS = re.compile(r"/static/\w+-[0-9a-f]{12}\.js")


@pytest.fixture(autouse=True)
def none_of_our_scripts_fails(context: BrowserContext) -> Iterator[None]:
    """On no page, also not on one that is being left."""
    failed: list[str] = []

    def note(said: WebError) -> None:
        if OURS.search(said.error.stack or ""):
            failed.append(f"{said.error.message} {said.error.stack}")

    context.on("weberror", note)
    yield
    context.remove_listener("weberror", note)
    assert not failed, failed


@contextmanager
def watched(context: BrowserContext, requests: list[str]) -> Iterator[None]:
    """Note all requests and web sockets of a context until the end of the block."""
    end = watch(context, requests)
    yield
    end()


def watch(context: BrowserContext, requests: list[str]) -> Callable[[], None]:
    """Note all requests and web sockets of a context, also in later tabs; returns a function that stops it."""
    context.set_default_timeout(PATIENCE)

    def note(asked: Request | WebSocket) -> None:
        requests.append(asked.url)

    def listen(page: Page) -> None:
        page.on("websocket", note)

    def end() -> None:
        context.remove_listener("request", note)
        context.remove_listener("page", listen)
        for page in context.pages:
            page.remove_listener("websocket", note)

    context.on("request", note)
    context.on("page", listen)
    for page in context.pages:
        listen(page)
    return end
