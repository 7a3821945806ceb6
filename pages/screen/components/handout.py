"""A button that saves a hand-out: HTML from the server, with pictures drawn by the visitor's browser.

The server needs no browser of its own.
"""

from collections.abc import Mapping

import streamlit as st

from pages.drawing.figures import Figure
from pages.server.assets import script

_handout = st.components.v2.component("handout", html="<button></button>", css="""
button { width: 100%; min-height: 2.5rem; padding: .25rem .75rem; cursor: pointer; font: inherit; color: inherit;
  background: none; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius) }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color) }
""", js=script("handout", "chart"))  # fmt: skip


def handout(
    label: str, html: str, file: str, pictures: Mapping[str, Figure] | None = None, key: str = "handout"
) -> None:
    """The button. html: contains `picture:KEY` for each picture. file: the name of the saved file.

    pictures: key -> figure to draw for paper; if left out, the charts with these keys on the page.
    """
    figures = {name: figure.as_json() for name, figure in (pictures or {}).items()}
    _handout(key=key, data=[{"label": label, "html": html, "file": file, "pictures": figures}])
