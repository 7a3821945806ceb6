"""The numbers of all heads on the page, unseen, for pictures that the browser draws anew: see drawing/at_once.py."""

from typing import Any

import streamlit as st

from pages.drawing.at_once import AtOnce
from pages.server.assets import script

_numbers = st.components.v2.component("at_once", js=script("at_once"))


def send(once: AtOnce, key: str) -> dict[str, Any]:
    """Put the numbers on the page, for the picture called `key`; returns what comes with the picture."""
    _numbers(key=f"at_once.{key}", data=once.sent.name.encode() + b"\n" + once.sent.numbers)
    return {"draws": once.draws, "at": dict(once.at), "sizes": dict(once.sizes), "run": once.sent.name, **once.about}
