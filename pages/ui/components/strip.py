"""The map of all pages, one row: this page lit, those of a layer in a bracket, under each name the shape of its tensor.

On a phone the row says where one is, and opens the map over the page; in a presentation names give way to icons. What
comes into the page's stage and what goes out of it opens in place.

One element instead of twenty: Streamlit's own links would each be sent, read as Markdown and drawn anew on every click,
which took as long as a picture. As they do, a link opens its page here, or, with Ctrl or the middle button, in another
tab, with all that is chosen by then.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from pages.ui.server.assets import script

_strip = st.components.v2.component("strip", html='<nav class="strip"></nav>', js=script("strip"), isolate_styles=False)


@dataclass(frozen=True)
class Stop:
    """One link of the map: the page's URL path, its name, the shape under it or the icon beside it.

    part: of the map in which it stands: the "way" through the network, its repeated "layer", or "apart" from both.
    """

    path: str
    name: str
    shape: str = ""
    icon: str = ""
    part: str = "way"


@dataclass(frozen=True)
class Bracket:
    """Round the pages of a layer: how many layers and heads there are, which are chosen (from 0), and that in words."""

    layers: int
    layer: int
    heads: int
    head: int
    said: str


@dataclass(frozen=True)
class Passing:
    """What opens at the page's name: a title, and what comes in and goes out: each what it is, and its lines."""

    title: str
    sides: tuple[tuple[str, tuple[str, ...]], ...]


def strip(
    label: str,
    more: str,
    stops: Sequence[Stop],
    here: str,
    bracket: Bracket | None = None,
    passing: Passing | None = None,
    *,
    named: bool = True,
) -> str | None:
    """Draw the map. Returns the URL path of the page that was just asked for, else None.

    label: what the row of links is called. more: the button for those apart where they have no room. here: the path of
    the current page. bracket, passing: None where no run tells of them. named: whether in a presentation, where icons
    stand for names, the current page has its name.
    """
    data = {
        "label": label,
        "more": more,
        "here": here,
        "named": named,
        "stops": [vars(stop) for stop in stops],
        "bracket": bracket and vars(bracket),
        "passing": passing and asdict(passing),
    }
    # In a list, for in a dictionary Streamlit would look at each value whether it is a table.
    return _strip(key="strip", data=[data], on_open_change=lambda: None).open
