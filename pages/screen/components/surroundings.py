"""Corrections to the document round a page, made in the browser after every change.

The document and Streamlit's own words get the reader's language; scrolling parts can be reached with the keyboard.
"""

from collections.abc import Mapping

import streamlit as st

from pages.server.assets import script

_surroundings = st.components.v2.component("surroundings", js=script("surroundings"))


def surroundings(language: str, words: Mapping[str, str], big: bool, **names: str) -> None:
    """Correct the document. language: for <html lang>. words: Streamlit's words -> ours. big: whether this is a
    presentation.

    names: `equation` and `part`, the names of scrolling equations and parts for screen readers; `unheard`, the message
    while there is no connection.
    """
    _surroundings(key="surroundings", data={"language": language, "words": dict(words), "big": big, **names})
