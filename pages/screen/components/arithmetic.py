"""Arithmetic in HTML, which comes with every click.

What st.html writes, the browser first searches for scripts, element by element: that takes longer than to draw it. This
shows what it is given as it is. So every name in it must be escaped.
"""

import streamlit as st

from pages.server.assets import script

_arithmetic = st.components.v2.component(
    "arithmetic", html='<div class="arithmetic"></div>', js=script("arithmetic"), isolate_styles=False
)


def arithmetic(html: str, key: str) -> None:
    """Show a piece of HTML in which every name is escaped. key: unique on the page."""
    _arithmetic(key=key, data=html.encode())
