"""A connection between a browser and its server that can be cut, like a network that fails for some seconds."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from urllib.parse import urlsplit


class Line:
    """Forwards connections to `url` to a server, and back, while it is whole.

    `swallows` is the side, "browser" or "server", whose data is dropped on open connections.
    """

    def __init__(self, server: str) -> None:
        self.whole, self.swallows, self._ends = True, "", set[socket.socket]()
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        self.lead_to(server)
        Thread(target=self._answer, daemon=True).start()

    def lead_to(self, server: str) -> None:
        self._server = "127.0.0.1", urlsplit(server).port

    def cut(self) -> None:
        """Close all connections, and refuse new ones until it is mended."""
        self.whole = False
        for end in tuple(self._ends):
            _shut(end)

    def mend(self) -> None:
        self.whole, self.swallows = True, ""

    def close(self) -> None:
        self.cut()
        self._listening.close()

    def _answer(self) -> None:
        with suppress(OSError):  # closed
            while True:
                browser, _ = self._listening.accept()
                if self.whole:
                    server = socket.create_connection(self._server)
                    self._ends |= {browser, server}
                    Thread(target=self._hand_on, args=("browser", browser, server), daemon=True).start()
                    Thread(target=self._hand_on, args=("server", server, browser), daemon=True).start()
                else:
                    browser.close()

    def _hand_on(self, side: str, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while said := one.recv(65536):
                if self.swallows != side:
                    other.sendall(said)
        for end in (one, other):
            _shut(end)
        self._ends -= {one, other}


def _shut(end: socket.socket) -> None:
    with suppress(OSError):  # already closed
        end.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(server: str) -> Iterator[Line]:
    """A line to a server until the end of the block."""
    line = Line(server)
    try:
        yield line
    finally:
        line.close()
