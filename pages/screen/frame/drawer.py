"""The drawer of settings, closed at first. Keys of its widgets are mostly names of a link."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait

import streamlit as st

from model import CheckpointError
from model.deadline import not_counted
from pages.drawing.state.choice import MODELS, PICTURE, PIPELINES, SYMBOLS, Choice
from pages.drawing.state.first_sight import first_place
from pages.drawing.state.offered import HUB, add, models_from, of_pictures, offered, withdraw
from pages.drawing.text import LANGUAGES, plain, t
from pages.screen import link
from pages.screen.frame.changes_bar import compare_box
from pages.screen.frame.learned import step_slider
from pages.screen.frame.line import begin_with
from pages.screen.frame.pickers import either
from pages.screen.runs.pipelines import explain_checkpoint, pipeline

#: In the session: the dialog that the page is to open, "share" or "glossary".
OVER = "drawer.over"
#: In the session: the box for an encoder to add; the name to read; the name to show once read; the error.
ADD, ASKED, READ, REFUSED = "drawer.add", "drawer.asked", "drawer.read", "drawer.refused"
_reading = ThreadPoolExecutor(1, "reading")  # a thread, to show progress; one, to load large encoders in turn


def drawer() -> Choice:
    """Draw the settings that all pages share; return the choice."""
    if name := st.session_state.pop(READ, ""):
        st.session_state["model"] = name
        st.session_state["input"] = PICTURE if name in of_pictures() else "sentence"
        _take_reader()
    _worded("lang", tuple(LANGUAGES), LANGUAGES.get, on_change=_take_language)
    seers = of_pictures()
    kinds = (*PIPELINES, *[PICTURE] * bool(seers))
    kind = _worded("input", kinds, lambda kind: plain(f"sidebar.input_{kind}"), on_change=_take_reader)
    if kind in ("sentence", PICTURE):
        _who_reads(seers if kind == PICTURE else [*MODELS, *(name for name in offered() if name not in seers)])
        _your_own()
    now = link.chosen()
    if kind == "digit":
        step_slider(now.learned)
    compare_box(now)
    st.toggle(plain("sidebar.big"), key="big", persist_state="session")
    notes = [plain("sidebar.symbols_ours"), *(plain("sidebar.symbols_note", note=note) for note in SYMBOLS[1:])]
    either("symbols", plain("sidebar.symbols"), SYMBOLS, notes, now.symbols, help=plain("sidebar.symbols_help"))
    look = {"icon": ":material/qr_code_2:", "key": "share", "width": "stretch"}
    st.button(plain("share.title"), on_click=lambda: st.session_state.update({OVER: "share"}), **look)
    return link.chosen()


def _worded(name: str, options: tuple[str, ...], words, **look) -> str:
    """A row of buttons. words: value -> its text in the reader's language."""
    look |= {"format_func": words, "key": name, "required": True, "persist_state": "session"}
    return st.pills(plain(f"sidebar.{name}"), options, **look)  # pills stay whole where they take two lines


def _who_reads(readers: list[str]) -> None:
    """Our encoder, the paper's base size untrained (`model=paper` in a link), or an offered checkpoint by its name."""
    if st.session_state["model"] not in readers:  # it reads another kind of input
        st.session_state["model"] = readers[0]
    if readers != list(MODELS):
        names = {"trained": plain("sidebar.model_trained"), "paper": plain("untrained.toggle")}
        st.selectbox(
            plain("sidebar.model"),
            readers,
            format_func=lambda name: names.get(name, name),
            key="model",
            persist_state="session",
            help=plain("sidebar.model_help"),
            on_change=_take_reader,
        )
        return
    st.session_state["paper"] = st.session_state["model"] == "paper"
    st.toggle(plain("untrained.toggle"), key="paper", help=t("untrained.help"), on_change=_take_model)


def _your_own() -> None:
    """How to add another encoder; a box for its name, if the server's owner allows that."""
    with st.expander(plain("sidebar.add")):
        if source := models_from():
            st.text_input(plain("sidebar.add_name" if source == HUB else "sidebar.add_folder"), key=ADD, on_change=_ask)
        else:
            st.markdown(plain("sidebar.add_how"))
        if name := st.session_state.pop(ASKED, ""):
            _add(name, source)
        if error := st.session_state.get(REFUSED):
            explain_checkpoint(error)


def _ask() -> None:
    st.session_state.update({ASKED: st.session_state[ADD].strip(), REFUSED: None})


def _add(name: str, source: str) -> None:
    """Read an encoder and show it; until then, and if it cannot be read, the page stays."""
    shares: list[float] = []
    with st.spinner(t("sidebar.adding", name=name)), not_counted():
        bar, reading = st.empty(), _reading.submit(_read, name, source, shares.append)
        while wait([reading], 0.2).not_done:
            if shares:
                bar.progress(shares[-1])
    try:
        st.session_state[READ] = reading.result()
    except CheckpointError as error:
        st.session_state[REFUSED] = error
        return
    st.rerun()


def _read(name: str, source: str, tell: Callable[[float], object]) -> str:
    """Load an encoder; return its name in links. Raises CheckpointError."""
    name = add(name, source, tell)
    try:
        pipeline(name)
    except CheckpointError:
        withdraw(name)
        raise
    return name


def _take_language() -> None:
    """Begin anew in the new language, if our first sentence is on the screen, with nothing hidden or changed."""
    if first_place(st.session_state["s"]) is not None and link.chosen().hidden is None and not link.chosen().edits:
        begin_with(st.session_state["lang"])
        link.select(token=None, key=None)


def _take_model() -> None:
    st.session_state["model"] = "paper" if st.session_state["paper"] else "trained"


def _take_reader() -> None:
    """Forget chosen outputs: their numbers mean others to another network."""
    link.select(output=None, against=None)
