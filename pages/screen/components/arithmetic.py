"""Arithmetic in HTML, which comes with every click.

The browser searches the HTML of st.html for scripts, element by element, which takes longer than drawing it. This
component shows its HTML unchecked, so every name in it must be escaped.
"""

import streamlit as st

from pages.server.assets import script

_arithmetic = st.components.v2.component(
    "arithmetic", html='<div class="arithmetic"></div>', js=script("arithmetic"), isolate_styles=False
)


def arithmetic(html: str, key: str) -> None:
    """Show a piece of HTML in which every name is escaped. key: unique on the page."""
    _arithmetic(key=key, data=html.encode())
