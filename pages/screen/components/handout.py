"""A button that saves a hand-out: HTML from here, its pictures as the visitor's browser draws them.

Only a browser can draw them, and his has: no other need be there.
"""

from collections.abc import Mapping

import streamlit as st

from pages.drawing.figures import Figure
from pages.server.assets import script

_handout = st.components.v2.component("handout", html="<button></button>", css="""
button { width: 100%; min-height: 2.5rem; padding: .25rem .75rem; cursor: pointer; font: inherit; color: inherit;
  background: none; border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius) }
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color) }
""", js=script("handout"))  # fmt: skip


def handout(
    label: str, html: str, file: str, pictures: Mapping[str, Figure] | None = None, key: str = "handout"
) -> None:
    """The button. html: in which `picture:KEY` stands for a picture. file: how it is called when saved.

    pictures: by their keys, drawn for paper; where there are none, the charts of these keys as they are on the page.
    """
    figures = {name: figure.as_json() for name, figure in (pictures or {}).items()}
    _handout(key=key, data=[{"label": label, "html": html, "file": file, "pictures": figures}])
