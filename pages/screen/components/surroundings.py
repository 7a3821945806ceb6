"""What Streamlit leaves unsaid round a page, or says in English only: set right in the browser, after every change.

The document gets the reader's language, and so does what Streamlit itself says; what scrolls can be reached with the
keyboard.
"""

from collections.abc import Mapping

import streamlit as st

from pages.server.assets import script

_surroundings = st.components.v2.component("surroundings", js=script("surroundings"))


def surroundings(language: str, words: Mapping[str, str], big: bool, **names: str) -> None:
    """Tend the document. language: for <html lang>. words: what Streamlit says -> what shall stand there.
    big: whether this is a presentation.

    names: `equation` and `part`, what a screen reader calls an equation, or another part of a page, that scrolls;
    `unheard`, what is said while there is no connection.
    """
    _surroundings(key="surroundings", data={"language": language, "words": dict(words), "big": big, **names})
