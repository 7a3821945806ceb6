"""The stage strip, one row: a link to every page, with the shape of its tensor, and menus for the pages beside them.

One element instead of twenty: Streamlit's own links would each be sent, read as Markdown and drawn anew on every click,
which took as long as a picture. As they do, a link opens its page here, or, with Ctrl or the middle button, in another
tab, with all that is chosen by then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.ui.server.assets import script

_strip = st.components.v2.component("strip", html='<nav class="strip"></nav>', js=script("strip"), isolate_styles=False)


@dataclass(frozen=True)
class Stop:
    """One link of the strip: the page's URL path, its name, the shape under it or the icon beside it."""

    path: str
    name: str
    shape: str = ""
    icon: str = ""


def strip(label: str, stages: Sequence[Stop], menus: Mapping[str, Sequence[Stop]], here: str) -> str | None:
    """Draw the strip. Returns the URL path of the page that was just asked for, else None.

    label: what the row of links is called. menus: their names -> their links. here: the path of the current page.
    """
    # In a list, for in a dictionary Streamlit would look at each value whether it is a table.
    data = {
        "label": label,
        "here": here,
        "stages": [vars(stop) for stop in stages],
        "menus": [{"name": name, "pages": [vars(stop) for stop in stops]} for name, stops in menus.items()],
    }
    return _strip(key="strip", data=[data], on_open_change=lambda: None).open
