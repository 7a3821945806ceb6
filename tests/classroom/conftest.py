"""One server for all tests that leave it intact."""

from collections.abc import Iterator

import pytest

from tests.classroom.server import Server, serve


@pytest.fixture(scope="package")
def server() -> Iterator[Server]:
    with serve() as server:
        yield server
