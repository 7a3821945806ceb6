"""What the server does otherwise than Streamlit's own."""

import importlib
import inspect

import pytest
from streamlit.runtime import runtime
from streamlit.runtime.pages_manager import PagesManager

from pages.ui import server


def test_a_server_of_the_app_sends_in_bursts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime, "MESSAGE_FLUSH_INTERVAL_SECS", 0.005)
    monkeypatch.setattr(PagesManager, "uses_pages_directory", PagesManager.uses_pages_directory)
    importlib.reload(importlib.import_module("app"))
    loop = runtime.Runtime._loop_coroutine
    assert loop.__globals__["MESSAGE_FLUSH_INTERVAL_SECS"] == server.BURST
    assert "await asyncio.sleep(MESSAGE_FLUSH_INTERVAL_SECS)" in inspect.getsource(loop)
