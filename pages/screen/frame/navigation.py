"""Links from page to page that keep the choice."""

from functools import cache
from typing import Any

import streamlit as st

from pages.screen import link
from pages.screen.frame.contents import path_of

#: In the session: the page to open, where a click also chose values.
OPEN = "open"


def page_link(name: str, label: str, icon: str | None = None) -> None:
    """A link to another page that keeps the choice. With the query in it, it is one step for the back button, not two.

    A query older than what was typed since does no harm: see `link.arrive` and `frame.frame`.
    """
    query = st.query_params.to_dict() | {link.PAGE: _address(name).url_path}
    st.page_link(_address(name), label=label, icon=icon, query_params=query)


def go_to(name: str) -> None:
    """Open another page and keep the choice."""
    st.switch_page(_address(name), query_params=st.query_params.to_dict())


def open_with(name: str, **values: Any) -> None:
    """Choose values, from a callback, and open another page."""
    link.select(**values)
    st.session_state[OPEN] = name


@cache
def _address(name: str) -> st.Page:
    """The page for links. Streamlit identifies pages by URL path; `frame` knows how to draw them."""
    return st.Page(lambda: None, title=name, url_path=path_of(name), default=name == "home")
