"""The URL as part of the page: what a link asks for becomes a widget's value, and the value goes back into the link.

Streamlit's own `bind="query-params"` puts a widget's translated label into the URL; a link must mean the same
in each language, so for worded choices, the sentence and the drawing this is done here.
"""

from collections.abc import Sequence

import streamlit as st


def asked(name: str) -> str | None:
    """What the URL newly asks for under `name`: on a cold link, a reload, or the back button. Else None."""
    value = st.query_params.get(name)
    return value if value != st.session_state.get(f"url_{name}") else None


def take(name: str, options: Sequence[str], default: str) -> None:
    """Before the widget with key `name` is drawn: its value is what the URL newly asks for, if that exists."""
    value = asked(name)
    if value in options:
        st.session_state[name] = value
    if st.session_state.get(name) not in options:
        st.session_state[name] = default


def put(name: str, value: str | None) -> None:
    """Write `value` into the URL under `name`; None leaves it out."""
    st.session_state[f"url_{name}"] = value
    if value is None:
        st.query_params.pop(name, None)
    elif st.query_params.get(name) != value:
        st.query_params[name] = value
