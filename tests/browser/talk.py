"""Messages between a page and the server: whether a run was requested, and whether it has ended."""

from weakref import WeakKeyDictionary

from playwright.sync_api import Page, WebSocket
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

STEP, MOST = 10, 5_000  # milliseconds between checks, and in all: a cut line never answers


class Talk:
    """asked: the page requested a run that has not begun. runs: a run has begun and not ended."""

    def __init__(self) -> None:
        self.asked = self.runs = False

    def sent(self, frame: bytes | str) -> None:
        if isinstance(frame, bytes) and BackMsg.FromString(frame).WhichOneof("type") == "rerun_script":
            self.asked = True

    def received(self, frame: bytes | str) -> None:
        if not isinstance(frame, bytes):
            return
        message = ForwardMsg.FromString(frame)
        match message.WhichOneof("type"):
            case "new_session":
                self.asked, self.runs = False, True
            case "script_finished":
                self.runs = message.script_finished == ForwardMsg.FINISHED_EARLY_FOR_RERUN

    def closed(self, _: WebSocket) -> None:
        self.asked = self.runs = False


TALKS: WeakKeyDictionary[Page, Talk] = WeakKeyDictionary()


def heed(page: Page) -> None:
    """Watch the messages of this page from now on."""
    talk = TALKS[page] = Talk()

    def opened(socket: WebSocket) -> None:
        if "/_stcore/stream" in socket.url:
            socket.on("framesent", talk.sent)
            socket.on("framereceived", talk.received)
            socket.on("close", talk.closed)

    page.on("websocket", opened)


def answered(page: Page) -> None:
    """Wait until the run requested by the last key or click, if any, has ended."""
    talk = TALKS.get(page)
    if talk is None:
        return
    page.evaluate("new Promise(done => setTimeout(done))")  # the key or click has reached the page
    for _ in range(MOST // STEP):
        if not talk.asked and not talk.runs:
            return
        page.wait_for_timeout(STEP)
