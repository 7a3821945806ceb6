"""A button that saves a hand-out: HTML from here, its pictures as the visitor's browser has drawn them.

Only a browser can draw them, and his has: no other need be there.
"""

import streamlit as st

from pages.ui.server.assets import script

_handout = st.components.v2.component("handout", html="<button></button>", css="""
button { width: 100%; min-height: 2.5rem; padding: .25rem .75rem; cursor: pointer; font: inherit; color: inherit;
  background: none; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius) }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color) }
""", js=script("handout"))  # fmt: skip


def handout(label: str, html: str, file: str) -> None:
    """The button. html: in which `picture:KEY` stands for the chart of that key. file: how it is called when saved."""
    _handout(key="handout", data=[{"label": label, "html": html, "file": file}])
