"""The frame that all pages share: address, bar, drawer, input, and the page itself.

A page is a fragment: a choice on it redraws only the page, unless the frame shows that choice, too.
"""

import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import CheckpointError, WeightsError
from model.checkpoints.hub import memory
from model.deadline import OverdueError
from model.pipeline import MOST_CHARACTERS
from pages.drawing.page import School
from pages.drawing.state.choice import Choice, Problem
from pages.drawing.state.offered import offered, on_this_machine, withdraw
from pages.drawing.text import ELSEWHERE, LANGUAGES, catalogue, plain, speak, t
from pages.screen import link
from pages.screen.components.bar import Stop, bar
from pages.screen.components.player import stop_elsewhere
from pages.screen.components.surroundings import surroundings
from pages.screen.frame import contents
from pages.screen.frame.contents import NAMES, pages, path_of
from pages.screen.frame.draw import draw
from pages.screen.frame.drawer import OVER, drawer
from pages.screen.frame.line import begin, line, to_see
from pages.screen.frame.navigation import OPEN, go_to, page_link
from pages.screen.frame.places import fit_places
from pages.screen.runs import pipelines
from pages.server import in_flight
from pages.server.entrance import is_from_here
from pages.server.in_flight import CrowdedError
from pages.server.streamlit_private import (
    forget_old_widgets,
    give_way,
    intended_page,
    is_fragment_run,
    on_every_page,
)

#: In the session: the values of the choice that the frame has drawn.
FRAMED = "framed"
#: In the session: the container in the drawer for lessons and classes.
BESIDE = "beside"
LOCAL_SITE = re.compile(r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?")
ELSEWHERE.append(lambda: st.session_state.get("lang"))


@cache
def _drawn(name: str, school: School) -> Callable[[], None]:
    """The fragment that Streamlit calls to draw a page, and can redraw alone."""

    def draw() -> None:
        _draw(name, school)

    return st.fragment(draw)


def _addresses(language: str, school: School) -> list[st.Page]:
    """All pages with their titles, and another for an address that is no page's."""
    titles = catalogue(language)
    pages = [
        st.Page(_drawn(name, school), title=titles[f"{name}.title"], url_path=path_of(name), default=name == "home")
        for name in NAMES
    ]
    if path := st.session_state.get("lost"):
        pages.append(st.Page(lambda: _lost(path), title=plain("frame.lost_title"), url_path=path))
    return pages


def _note_lost() -> None:
    """Keep an address that is no page's: Streamlit tells it in the first run only."""
    path = intended_page()
    if path and path.strip() and path not in map(path_of, NAMES):  # blanks lead home
        st.session_state["lost"] = path


def _lost(path: str) -> None:
    """The page for an address that is no page's, with a link to Home."""
    st.subheader(plain("frame.lost_title"), anchor=False)
    st.markdown(t("frame.lost", path=path))
    page_link("home", plain("frame.lost_home"), ":material/arrow_back:")


@cache
def _said(language: str) -> dict[str, str]:
    """Streamlit's words, in any of our languages -> their translation into this one."""
    wanted = catalogue(language)
    keys = [key for key in wanted if key.startswith("streamlit.")]
    said = [(catalogue(name)[key], wanted[key]) for name in LANGUAGES for key in keys]
    return {theirs: ours for theirs, ours in said if theirs != ours}


def _tend(shown: Choice) -> None:
    """Correct the document round the page; see `surroundings`."""
    names = {name: plain(f"frame.{name}") for name in ("equation", "part", "unheard")}
    surroundings(shown.lang, _said(shown.lang), shown.big, **names)


def frame(school: School) -> None:
    """Draw everything for a visitor: set-up, address, navigation, drawer, input, then the page itself.

    school: what lessons and classes add to each page.
    """
    st.set_page_config(page_icon="🔎", layout="wide")
    forget_old_widgets()
    pipelines.follow_files()
    on_this_machine.set(_is_on_this_machine())
    _note_lost()
    wanted = link.clicked()
    problems = link.arrive()
    speak(st.session_state["lang"])
    page = st.navigation(_addresses(st.session_state["lang"], school), position="hidden")
    if wanted not in (None, page.url_path):
        go_to(wanted or "home")
    name = plain("home.title")
    st.set_page_config(page_title=name if page.title == name else f"{page.title} · {name}")
    with st.container():  # always there, so that remarks that come or go keep all below in place
        for problem in problems:
            _say(problem)
    with _excuses(page.title):
        begin()
        _bar(page.url_path)
        with st.sidebar:
            st.session_state[BESIDE] = st.container()
            choice = st.session_state["choice"] = drawer()
            _tend(choice)
        with st.container():  # always there, as above
            _await_network(choice, page.title)
        opened = [row for row in pages() if path_of(row.name) == page.url_path]
        asks = next((row.asks for row in opened if row.asks), None)
        line(asks, any(row.draws for row in opened))
        if OPEN in st.session_state:
            go_to(st.session_state.pop(OPEN))
        st.session_state[FRAMED] = _framed(asks)
        page.run()


def _is_on_this_machine() -> bool:
    """Whether the visitor's browser runs on the server's machine and came through no proxy.

    A proxy may hide for whom it asks, but browsers name the proxy as their site.
    """
    host = st.context.ip_address or "127.0.0.1"  # Streamlit has None for it, and for ::1
    site = LOCAL_SITE.fullmatch(st.context.headers.get("Origin", ""))
    return site is not None and is_from_here(host, st.context.headers)


def _await_network(choice: Choice, title: str) -> None:
    """Load a checkpoint that is not in memory yet; meanwhile show sentence, title and a message.

    If it cannot be read, the page tries again and says why.
    """
    folder = offered().get(choice.model)
    if folder is None or pipelines.is_loaded(choice.pipeline):
        return
    room = st.empty()
    with room.container():
        if choice.input == "sentence":
            st.text(choice.sentence)
        st.subheader(title, anchor=False)
        twice = memory([str(folder)])
        st.status(t("frame.loading", name=choice.model, megabytes=twice // 2_000_000))
        with suppress(CheckpointError):
            pipelines.pipeline(choice.pipeline)
    room.empty()


def _bar(here: str) -> None:
    """The bar with the pages for this kind of input, and the open one."""
    words = {name: plain(f"frame.{name}") for name in ("pages", "settings", "leave")}
    words |= {"more": plain("common.more"), "app": plain("home.title"), "glossary": plain("glossary.title")}
    of_words = st.session_state["input"] == "sentence"
    shown = [row for row in pages() if of_words or not row.words_only or path_of(row.name) == here]
    stops = [Stop(path_of(row.name), plain(f"{row.name}.short"), row.group) for row in shown]
    over = partial(st.session_state.update, {OVER: "glossary"})
    bar(stops, here, words, lambda path: st.session_state.update({OPEN: path or "home"}), over)


def _draw(name: str, school: School) -> None:
    """Draw a page for the present choice; if the frame shows other values of it, rerun all."""
    if is_fragment_run():  # else the frame has done this
        forget_old_widgets()
        speak(st.session_state["lang"])
        if pipelines.follow_files() or link.framed() != st.session_state[FRAMED][0]:
            st.rerun()
    stop_elsewhere(name)
    with _excuses(name):
        with on_every_page():  # one pad for all pages
            drawing = to_see(contents.page(name).draws)
        fit_places(contents.page(name))
        if _framed(contents.page(name).asks) != st.session_state[FRAMED]:
            st.rerun()
        choice = st.session_state["choice"] = link.write().with_(
            drawing=drawing, photo=st.session_state.get(link.PHOTO)
        )
        if OPEN in st.session_state:
            go_to(st.session_state.pop(OPEN))
        with st.session_state[BESIDE]:
            school.beside(name)
        draw(contents.page(name), choice, school)


def _framed(asks: Callable[[Choice], Choice] | None) -> tuple[Any, ...]:
    """The values of the choice that the frame shows, and the words on top of a page that asks. asks: as in `Page`."""
    choice = link.chosen()
    with suppress(WeightsError):  # the page says so
        choice = asks(choice) if asks and choice.input == "sentence" else choice
    return link.framed(), choice.sentence, choice.hidden


@contextmanager
def _excuses(name: str) -> Iterator[None]:
    """Show a readable message in place of any error in this block. name: of the page, for the log."""
    try:
        with in_flight.page(_tell_place()):
            yield
    except WeightsError as error:
        pipelines.explain_weights(error)
    except CheckpointError as error:
        pipelines.explain_checkpoint(error)
        withdraw(st.session_state["model"])
        ours = {"model": "trained", "input": "sentence"}
        st.button(plain("frame.ours"), icon=":material/arrow_back:", on_click=link.select, kwargs=ours)
    except OverdueError as error:
        st.warning(
            t("error.crowded" if isinstance(error, CrowdedError) else "error.overdue"), icon=":material/hourglass_top:"
        )
        st.button(plain("error.again"), icon=":material/refresh:", key="again")
    except Exception:
        logging.getLogger(__name__).exception("page %s failed", name)
        st.error(t("error.unexpected"), icon=":material/error:")


def _tell_place() -> in_flight.Tell:
    """A function that shows, always in one toast, how many visitors come before this one; a click ends the wait."""
    shown: list[DeltaGenerator] = []

    def tell(before: int) -> None:
        give_way()
        toast = shown.pop() if shown else st
        shown.append(toast.toast(t("frame.waits", before=before), icon=":material/hourglass_top:"))

    return tell


def _say(problem: Problem) -> None:
    """Say which value of a link cannot be used."""
    icon = ":material/content_cut:" if problem.reason == "link_long" else ":material/link_off:"
    st.warning(t(f"error.{problem.reason}", name=problem.name, value=problem.value, most=MOST_CHARACTERS), icon=icon)
