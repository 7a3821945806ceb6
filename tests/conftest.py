"""One torch thread, as the app sets it: products this small only get slower with more. And one look for components."""

import gc
import os
import tempfile
from asyncio import iscoroutinefunction
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import torch
from streamlit.components.v2 import manifest_scanner
from streamlit.runtime import context

from tests.classroom.visitor import visit

#: What real browsers and servers take part in: there a busy machine that stumbles is no defect, three times it is.
JOURNEYS = {Path(__file__).parent / "browser", Path(__file__).parent / "classroom"}

torch.set_num_threads(1)
gc.set_threshold(20_000, 20, 20)  # who looks for rings of objects as often as Python does it takes a tenth of the time
# AppTest reads the metadata of all that is installed, for each page that it opens: five times the work of the page.
manifest_scanner.scan_component_manifests = cache(manifest_scanner.scan_component_manifests)
context._get_client_context = lambda: None  # no browser: a mock of one takes a tenth of a page's time


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Journeys that fail are begun up to twice more, and the summary names them."""
    for item in items:
        if item.path.parent in JOURNEYS:
            item.add_marker(pytest.mark.flaky(reruns=2))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run a test that is a coroutine."""
    if not iscoroutinefunction(pyfuncitem.obj):
        return None
    visit(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}))
    return True


@pytest.fixture(scope="session", autouse=True)
def one_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """What tests write lies in pytest's own folder, which pytest takes away; not what servers do, whom it keeps out."""
    tempfile.tempdir = str(tmp_path_factory.getbasetemp())


@pytest.fixture(scope="module", autouse=True)
def environment_stays() -> Iterator[None]:
    """Nothing is left in the environment: servers that the next file starts would read it."""
    yield
    assert _settings() == FOUND


def _settings() -> dict[str, str | None]:
    return {name: os.environ.get(name) for name in ("GLASS_DATA", "DATABASE_URL", "BEHIND", "MODELS", "MODELS_FROM")}


FOUND = _settings()
