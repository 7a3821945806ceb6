"""Read what a component sent, in its callback."""

from typing import Any

import streamlit as st


def told(key: str, name: str) -> Any:
    """The value `name` that the component `key` sent; None if the server has dropped that component.

    On a slow line, a browser can send messages of a page that its reader has left. Streamlit then drops the state of
    the new page's components, but still calls their callbacks once.
    """
    component = st.session_state.get(key)
    return component.get(name) if component else None
