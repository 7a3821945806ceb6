"""The bar on top of every page: the settings, the name of the app, its pages in the order of the network.

On a phone the bar says where one is and opens the list of pages over the page. One element instead of twenty:
Streamlit's own links would each be sent, read as Markdown and drawn anew on every click, which took as long as a
picture. As they do, a link opens its page here, or, with Ctrl or the middle button, in another tab, with all that is
chosen by then.
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

    here: the path of the current page. words: what the bar is called ("pages"), the app ("app"), and its buttons
    "settings", "more", "glossary" under it, and "leave", which ends a presentation. on_open: gets the URL path of the
    page that was asked for, also where the same message changes something on the page, and so only that is drawn.
    """

    def opened() -> None:
        if (path := told("bar", "open")) is not None:
            on_open(str(path))

    data = {"words": dict(words), "here": here, "stops": [vars(stop) for stop in stops]}
    # In a list, for in a dictionary Streamlit would look at each value whether it is a table.
    _bar(key="bar", data=[data], on_open_change=opened, on_glossary_change=on_glossary)
