"""What widgets keep in a visitor's session, and what need not be kept there."""

import ctypes
import gc
import sys

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx


def hold(widget: str, value: object) -> None:
    """Let a widget show a value, before it is drawn. One that shows it already is left alone.

    Whatever is said to a widget reaches the browser when this run does, and would take back a click made meanwhile.
    """
    if widget not in st.session_state or st.session_state[widget] != value:
        st.session_state[widget] = value


def forget_old_widgets() -> None:
    """Let go of the callbacks of widgets that are no longer on the page, with all that they hold.

    Streamlit 1.67 drops the value of a widget that is gone and keeps its callback until the session ends. A chart that
    answers to clicks is a new widget whenever its picture changes, and its callback may hold the arrays of a whole
    page: sixty clicks left 20 MB behind. Called when a run begins, since the last one needs its callbacks until then.
    """
    context = get_script_run_ctx()
    assert context is not None  # a page is running
    session = context.session_state._state
    widgets = session._new_widget_state
    widgets.widget_metadata = {
        name: about
        for name, about in widgets.widget_metadata.items()
        if name in widgets.states or name in session._old_state
    }


def give_back() -> None:
    """Let go at once of all that nothing can reach any more, and of what glibc's malloc would keep for later.

    Else many MB wait for Python's own collector, and leave small pieces of the heap in use when they go. It takes
    some tens of milliseconds.
    """
    gc.collect()
    trim()


def trim() -> None:
    """Hand the system what glibc's malloc has free and would keep for later, in 1 to 15 ms.

    After a minute of thirty visitors with the longest inputs that was 280 MB of 1,240.
    """
    if sys.platform == "linux" and hasattr(malloc := ctypes.CDLL(None), "malloc_trim"):
        malloc.malloc_trim(0)
