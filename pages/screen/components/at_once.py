"""An invisible component with the numbers of all heads, for pictures that the browser draws: see drawing/at_once.py."""

from typing import Any

import streamlit as st

from pages.drawing.at_once import AtOnce
from pages.server.assets import script

_numbers = st.components.v2.component("at_once", js=script("at_once"))


def send(once: AtOnce, key: str) -> dict[str, Any]:
    """Send the numbers for the picture called `key`; return what the picture's own message needs."""
    _numbers(key=f"at_once.{key}", data=once.sent.name.encode() + b"\n" + once.sent.numbers)
    return {"draws": once.draws, "at": dict(once.at), "sizes": dict(once.sizes), "run": once.sent.name, **once.about}
