"""The URL as part of the page: what a link asks for becomes a widget's value, and the value goes back into the link.

Done here, for two reasons: Streamlit's own `bind="query-params"` puts a widget's translated label into the URL, while
a link must mean the same in each language; and it drops the value when the link of the page that is open is clicked.
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
    """Note what shall stand in the URL under `name`; None leaves it out. `write` writes it."""
    st.session_state[f"url_{name}"] = value
    st.session_state.setdefault("url_waiting", {})[name] = value


def write() -> None:
    """Write what was put into the URL, all at once: one step for the back button, not one for each value."""
    now = st.query_params.to_dict()
    waiting = st.session_state.pop("url_waiting")
    # Always in the same order: the same values in another order would be one more step for the back button.
    wanted = {name: value for name, value in (waiting | now | waiting).items() if value is not None}
    if list(wanted.items()) != list(now.items()):
        st.query_params.from_dict(wanted)
