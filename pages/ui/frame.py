"""The frame round every page: the table of pages, what app.py draws, and `choice()`, a page's first act."""

import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import streamlit as st
from streamlit.navigation.page import Page

from model import Trace, WeightsError
from pages.ui import link, session
from pages.ui.choice import MOST_CHARACTERS, Choice, Problem
from pages.ui.memory import forget_old_widgets
from pages.ui.sidebar import sidebar
from pages.ui.text import plain, t

PAGES_FOLDER = Path(__file__).parents[1]
#: A page begins near the top, close to its neighbours; its strip is one row (which scrolls on a phone), its chips are
#: small. A long equation scrolls on a phone; a brace under one keeps its foot. The lines of an arithmetic wrap.
STYLE = """
[data-testid="stHeader"]{background:none;min-height:2.4rem;height:2.4rem;pointer-events:none}
[data-testid="stHeader"] button{pointer-events:auto}
[data-testid="stMainBlockContainer"]{padding:2.4rem 2.2rem 1.5rem}
[data-testid="stMainBlockContainer"] [data-testid="stVerticalBlock"]{gap:.55rem}
[data-testid="stMainBlockContainer"] h3{padding:.1rem 0 .5rem}
.st-key-strip{flex-wrap:nowrap!important;overflow-x:auto;gap:.1rem;border-bottom:1px solid var(--st-border-color)}
.st-key-strip > div{flex:0 0 auto;width:auto!important}
.st-key-strip [data-testid="stPageLink"] a{padding:.15rem .5rem}
.st-key-strip p{line-height:1.25;white-space:nowrap}
.st-key-strip button{min-height:1.9rem;padding:0 .5rem;border:none;background:none}
.st-key-chips button{min-height:1.7rem;padding:0 .6rem}
.katex-display{overflow-x:auto;overflow-y:hidden;margin:.2rem 0;padding:.2rem 0 .6rem}
[class*="st-key-heading"] .katex-display{margin:0;padding:0 0 .3rem;font-size:.85em}
[class*="st-key-working"] p{margin-bottom:.55rem}
[class*="st-key-working"] p:has(> .katex){padding-left:1.5em;text-indent:-1.5em}
[class*="st-key-working"] table{margin-top:.5rem;font-size:.85rem;font-variant-numeric:tabular-nums}
[class*="st-key-working"] td,[class*="st-key-working"] th{padding:.1rem .45rem!important}
@media (max-width:640px){[data-testid="stMainBlockContainer"]{padding:2.8rem 1rem 1.5rem}}
"""
#: Presentation: all is larger, the sidebar is away, and the first picture comes at once.
LARGE = """
:root{font-size:20px!important}
[data-testid="stSidebar"],[data-testid="stHeader"]{display:none}
[data-testid="stMainBlockContainer"]{padding:.3rem 1rem 1rem}
.st-key-strip p{font-size:.8rem!important}
"""


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

    def reads(self, trace: Trace) -> bool:
        """Whether the page has anything to say about such an input."""
        return trace.picture is None or not self.words_only


PAGES: tuple[PageRow, ...] = (
    PageRow("home", ":material/home:"),
    PageRow("tokens", ":material/abc:", shape_of="embedding.sum"),
    PageRow("queries_keys_values", ":material/key:", shape_of="layers.{l}.attention.Q"),
    PageRow("attention", ":material/grid_on:", shape_of="layers.{l}.attention.weights"),
    PageRow("heads", ":material/apps:", shape_of="layers.{l}.attention.concat"),
    PageRow("add_and_norm", ":material/add:", shape_of="layers.{l}.attention.output"),
    PageRow("feed_forward", ":material/bolt:", shape_of="layers.{l}.ffn.hidden"),
    PageRow("layers", ":material/layers:", shape_of="embedding.sum"),
    PageRow("answer", ":material/lightbulb:", shape_of="logits"),
    PageRow("translation", ":material/translate:", words_only=True),
    PageRow("what_if", ":material/science:", "try"),
    PageRow("flat", ":material/horizontal_rule:", "try"),
    PageRow("shapes_and_cost", ":material/straighten:", "learn"),
)


def choice() -> Choice:
    """The reader's choice. A page's first act.

    While a folder called pages/ lies beside app.py, the first visitor of a fresh server who opens /attention
    gets that page without app.py. Calling st.navigation ends that old mode for good; then we start over.
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
    st.switch_page(page_path(name), query_params=st.query_params.to_dict())


def _navigation() -> list:
    return [
        st.Page(
            page_path(row.name),
            title=plain(f"{row.name}.title"),
            url_path=url_path(row.name),
            default=row.name == "home",
        )
        for row in PAGES
    ]


def frame() -> None:
    """Everything that app.py does: page set-up, the address, navigation, sidebar, then the page itself."""
    st.set_page_config(page_title="Glass Encoder", page_icon="🔎", layout="wide")
    forget_old_widgets()
    wanted = link.clicked()
    problems = link.arrive()
    if wanted is not None:
        go_to(wanted or "home")
    page = st.navigation(_navigation(), position="hidden")
    try:
        with st.container():  # always there, so that a remark that comes or goes moves nothing below it
            for problem in problems:
                _say(problem)
        with st.sidebar:
            st.session_state["choice"] = sidebar()
        st.html(f"<style>{STYLE}</style>")
        if st.session_state["choice"].big:
            # Streamlit sizes everything in rem; figures read Choice.big themselves.
            st.html(f"<style>{LARGE}</style>")
        st.session_state["frame_is_drawn"] = True
        page.run()
    except WeightsError as error:
        session.name(error)
    except Exception:
        logging.getLogger(__name__).exception("page %s failed", page.title)
        st.error(t("error.unexpected"), icon=":material/error:")
    finally:
        st.session_state.pop("frame_is_drawn", None)  # the next run must draw its own


def _say(problem: Problem) -> None:
    """What a link asks for and cannot be had."""
    icon = ":material/content_cut:" if problem.reason == "link_long" else ":material/link_off:"
    st.warning(t(f"error.{problem.reason}", name=problem.name, value=problem.value, most=MOST_CHARACTERS), icon=icon)
