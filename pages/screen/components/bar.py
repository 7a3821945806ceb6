"""The bar on top of every page: the settings, the name of the app, its pages in the order of the network.

On a phone the bar shows the current page and opens the list of pages over it. It is one element instead of twenty
links of Streamlit, each of which would be sent, parsed as Markdown and drawn on every click, as slow as a picture. Like
theirs, its links keep the choice and open in a new tab with Ctrl or the middle button.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import streamlit as st

from pages.screen.components.told import told
from pages.server.assets import script

_bar = st.components.v2.component("bar", html='<nav class="navbar"></nav>', js=script("bar"), isolate_styles=False)


@dataclass(frozen=True)
class Stop:
    """One link of the bar: the page's URL path, its name, and where it stands.

    part: the "way" through the network, its repeated "layer", "beside" it at the right end, or under "more".
    """

    path: str
    name: str
    part: str = "way"


def bar(
    stops: Sequence[Stop],
    here: str,
    words: Mapping[str, str],
    on_open: Callable[[str], object],
    on_glossary: Callable[[], object],
) -> None:
    """Draw the bar.

    here: the path of the current page. words: names of the bar ("pages"), the app ("app"), and the buttons "settings",
    "more", "glossary" (below "more") and "leave", which ends a presentation. on_open: gets the URL path of the wanted
    page, even if the message also changes something on the page, so that only the page is drawn.
    """

    def opened() -> None:
        if (path := told("bar", "open")) is not None:
            on_open(str(path))

    data = {"words": dict(words), "here": here, "stops": [vars(stop) for stop in stops]}
    # A list: in a dictionary Streamlit would check each value for tables.
    _bar(key="bar", data=[data], on_open_change=opened, on_glossary_change=on_glossary)
