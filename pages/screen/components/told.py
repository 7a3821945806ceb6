"""What a component has told the server, for the callback that hears it."""

from typing import Any

import streamlit as st


def told(key: str, name: str) -> Any:
    """The value `name` that the component `key` has sent; None where the server has let go of that component.

    A browser on a slow line can speak for a page that its reader has already left. Streamlit then drops what it knows
    of the components of the new page, and still calls their callbacks once.
    """
    component = st.session_state.get(key)
    return component.get(name) if component else None
