"""Values of widgets in a session, and memory to give back to the system."""

import ctypes
import gc
import sys

import streamlit as st


def hold(widget: str, value: object) -> None:
    """Set a widget's value before it is drawn, unless it has that value.

    A value that is set reaches the browser with this run and would undo a click made meanwhile.
    """
    if widget not in st.session_state or st.session_state[widget] != value:
        st.session_state[widget] = value


def give_back() -> None:
    """Collect garbage now, and return memory that glibc's malloc would keep.

    Otherwise many MB wait for Python's collector and then leave the heap fragmented. It takes some tens of
    milliseconds.
    """
    gc.collect()
    trim()


def trim() -> None:
    """Return free memory that glibc's malloc would keep to the system, in 1 to 15 ms.

    After a minute of thirty visitors with the longest inputs this was 280 MB of 1,240.
    """
    if sys.platform == "linux" and hasattr(malloc := ctypes.CDLL(None), "malloc_trim"):
        malloc.malloc_trim(0)
