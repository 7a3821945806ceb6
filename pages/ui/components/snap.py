"""A button, and the key S, that keep the pictures on the page for the teacher's report."""

import re
from collections.abc import Callable

import streamlit as st

from pages.ui.components.told import told
from pages.ui.server.assets import script

PICTURE = re.compile(r"data:image/webp;base64,[A-Za-z0-9+/=]+")

_snap = st.components.v2.component(
    "snap", html='<button type="button" class="snap"></button>', js=script("snap"), isolate_styles=False
)


def snap(label: str, question: int, on_taken: Callable[[int, list[str]], None]) -> None:
    """Draw the button. on_taken: gets the number of the question, and the pictures as addresses that hold them."""

    def taken() -> None:
        if not isinstance(sent := told("snap", "taken"), dict):
            return
        pictures = [one for one in sent["pictures"] if PICTURE.fullmatch(one)]
        on_taken(int(sent["question"]), pictures)

    _snap(key="snap", data={"label": label, "question": question}, width="content", on_taken_change=taken)
