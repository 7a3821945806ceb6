"""The frame round every page: the table of pages, what app.py draws, and `choice()`, a page's first act.

A page is a fragment. What is chosen on it draws only the page anew; what the frame shows, too, all of both.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.navigation.page import Page
from streamlit.runtime.scriptrunner import get_script_run_ctx

from model import CheckpointError, Trace, WeightsError
from pages.ui import link, session
from pages.ui.choice import Choice, Problem
from pages.ui.components.surroundings import surroundings
from pages.ui.link_values import MOST_CHARACTERS
from pages.ui.memory import forget_old_widgets
from pages.ui.sections.player import stop_elsewhere
from pages.ui.sidebar import aids, places, sidebar, to_see
from pages.ui.text import LANGUAGES, catalogue, plain, speak, t

PAGES_FOLDER = Path(__file__).parents[1]
#: In the session, where a click chose something and another page besides: that page.
OPEN = "open"


@dataclass(frozen=True)
class PageRow:
    """One page: its name (file, URL and text keys), icon, place in the strip, and its shape there.

    group: "stage" stands in the strip itself, "try" and "learn" are its two menus.
    """

    name: str
    icon: str
    group: str = "stage"
    shape_of: str | None = None  # the row of the graph whose shape stands under its name in the strip
    words_only: bool = False
    attention: bool = False  # where heads look is shown there

    def reads(self, trace: Trace) -> bool:
        """Whether the page has anything to say about such an input."""
        return trace.picture is None or not self.words_only


PAGES: tuple[PageRow, ...] = (
    PageRow("home", ":material/home:", attention=True),
    PageRow("tokens", ":material/abc:", shape_of="embedding.sum"),
    PageRow("queries_keys_values", ":material/key:", shape_of="layers.{l}.attention.Q"),
    PageRow("attention", ":material/grid_on:", shape_of="layers.{l}.attention.weights", attention=True),
    PageRow("heads", ":material/apps:", shape_of="layers.{l}.attention.concat", attention=True),
    PageRow("add_and_norm", ":material/add:", shape_of="layers.{l}.attention.output"),
    PageRow("feed_forward", ":material/bolt:", shape_of="layers.{l}.ffn.hidden"),
    PageRow("layers", ":material/layers:", shape_of="layers.{l}.ffn.output", attention=True),
    PageRow("answer", ":material/lightbulb:", shape_of="logits"),
    PageRow("translation", ":material/translate:", words_only=True, attention=True),
    PageRow("what_if", ":material/science:", "try"),
    PageRow("flat", ":material/horizontal_rule:", "try", attention=True),
    PageRow("shapes_and_cost", ":material/straighten:", "learn"),
)


def choice() -> Choice:
    """The reader's choice. A page's first act.

    As long as nothing has called st.navigation, Streamlit may run a file of pages/ without app.py: its AppTest does,
    and so does a server that was not told otherwise (`server.name_the_pages_ourselves`). After that we start over.
    """
    if "frame_is_drawn" not in st.session_state:
        st.navigation(_navigation(), position="hidden")
        st.rerun()
    return st.session_state["choice"]


def page_path(name: str) -> str:
    """A page's file, as st.Page wants it."""
    return str(PAGES_FOLDER / f"{name}.py")


def url_path(name: str) -> str:
    """A page's address."""
    return "" if name == "home" else name


def page_link(name: str, label: str, icon: str | None = None) -> None:
    """A link to another page that keeps the choice: with its query it is one step for the back button, not two.

    A query that is older than what was typed since does no harm: see `link.arrive` and `link.clicked`.
    """
    query = st.query_params.to_dict() | {link.PAGE: url_path(name)}
    st.page_link(_target(name), label=label, icon=icon, query_params=query)


@cache
def _target(name: str) -> Page:
    """What a link leads to. Streamlit would look for a path in the file system, for each link of each run."""
    return st.Page(page_path(name), url_path=url_path(name), default=name == "home")


def go_to(name: str) -> None:
    """Open another page and keep the choice."""
    st.switch_page(_target(name), query_params=st.query_params.to_dict())


def open_with(name: str, **values: Any) -> None:
    """Choose, from a callback, and open another page."""
    link.select(**values)
    st.session_state[OPEN] = name


@cache
def _pages(language: str) -> list[Page]:
    """The pages with their titles. Streamlit would look for each file in the file system, in each run."""
    titles = catalogue(language)
    return [
        st.Page(
            page_path(row.name),
            title=titles[f"{row.name}.title"],
            url_path=url_path(row.name),
            default=row.name == "home",
        )
        for row in PAGES
    ]


def _navigation() -> list:
    """The pages, and one more for an address that leads to none."""
    pages = [copy(page) for page in _pages(st.session_state.get("lang") or "en")]  # each run opens pages of its own
    if path := st.session_state.get("lost"):
        pages.append(st.Page(lambda: _lost(path), title=plain("frame.lost_title"), url_path=path))
    return pages


def _note_lost() -> None:
    """Keep an address that leads to no page: Streamlit says it in the first run only."""
    context = get_script_run_ctx()
    assert context is not None  # a page is running
    path = context.pages_manager.intended_page_name
    if path and path.strip() and path not in {url_path(row.name) for row in PAGES}:  # nothing but blanks leads home
        st.session_state["lost"] = path


def _lost(path: str) -> None:
    """The page of an address that leads to none, with a way back."""
    st.subheader(plain("frame.lost_title"), anchor=False)
    st.markdown(t("frame.lost", path=path))
    page_link("home", plain("frame.lost_home"), ":material/arrow_back:")


@cache
def _said(language: str) -> dict[str, str]:
    """What Streamlit says, in whatever language -> what it shall say in this one."""
    wanted = catalogue(language)
    keys = [key for key in wanted if key.startswith("streamlit.")]
    said = [(catalogue(name)[key], wanted[key]) for name in LANGUAGES for key in keys]
    return {theirs: ours for theirs, ours in said if theirs != ours}


def _tend(shown: Choice) -> None:
    """What Streamlit leaves unsaid, or says in English only, in the reader's language; and how large all is."""
    names = {name: plain(f"frame.{name}") for name in ("controls", "done", "equation", "part")}
    surroundings(shown.lang, _said(shown.lang), shown.big, **names)


def frame() -> None:
    """Everything that app.py does: page set-up, the address, navigation, sidebar, then the page itself."""
    st.set_page_config(page_icon="🔎", layout="wide")
    forget_old_widgets()
    session.follow_files()
    _note_lost()
    wanted = link.clicked()
    problems = link.arrive()
    speak(st.session_state["lang"])
    if wanted is not None:
        go_to(wanted or "home")
    page = st.navigation(_navigation(), position="hidden")
    name = plain("home.title")
    st.set_page_config(page_title=name if page.title == name else f"{page.title} · {name}")
    with st.container():  # always there, so that a remark that comes or goes moves nothing below it
        for problem in problems:
            _say(problem)
    with _excuses(page.title):
        with st.sidebar:
            st.session_state["choice"] = sidebar()
            aids(page.url_path or "home", st.session_state["choice"])
            st.session_state["framed"] = link.framed()
            _tend(st.session_state["choice"])
        if page.url_path == st.session_state.get("lost"):
            page.run()
        else:
            context = get_script_run_ctx()
            assert context is not None  # a page is running
            with context.run_with_active_hash(context.page_script_hash):  # as page.run() does, which runs but once
                st.fragment(_run)(page.url_path or "home")
        if any(row.attention for row in PAGES if url_path(row.name) == page.url_path):
            st.caption(t("common.not_explanation"))


def _run(name: str) -> None:
    """Run a page's file for what is chosen by now; where the frame shows some of that, all is drawn anew instead."""
    context = get_script_run_ctx()
    assert context is not None  # a page is running
    if context.fragment_ids_this_run:  # else the frame has done so
        forget_old_widgets()
        speak(st.session_state["lang"])
        if session.follow_files():
            st.rerun()
    stop_elsewhere(name)
    with _excuses(name):
        with context.run_with_active_hash(context.pages_manager.main_script_hash):  # the same pad on every page
            drawing = to_see()
        places(name)
        if link.framed() != st.session_state["framed"]:
            st.rerun()
        photo = st.session_state.get(link.PHOTO)
        st.session_state["choice"] = link.write().with_(drawing=drawing, photo=photo)
        if OPEN in st.session_state:
            go_to(st.session_state.pop(OPEN))
        st.session_state["frame_is_drawn"] = True
        try:
            exec(context.pages_manager.get_page_script_byte_code(page_path(name)), {"__name__": "__main__"})
        finally:
            st.session_state.pop("frame_is_drawn", None)  # the next run must draw its own


@contextmanager
def _excuses(name: str) -> Iterator[None]:
    """In place of whatever goes wrong in this block, a sentence for the reader. name: of the page, for the log."""
    try:
        yield
    except WeightsError as error:
        session.explain_weights(error)
    except CheckpointError as error:
        session.explain_checkpoint(error)
    except Exception:
        logging.getLogger(__name__).exception("page %s failed", name)
        st.error(t("error.unexpected"), icon=":material/error:")


def _say(problem: Problem) -> None:
    """What a link asks for and cannot be had."""
    icon = ":material/content_cut:" if problem.reason == "link_long" else ":material/link_off:"
    st.warning(t(f"error.{problem.reason}", name=problem.name, value=problem.value, most=MOST_CHARACTERS), icon=icon)
