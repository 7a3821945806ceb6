"""The stage strip, one row: a link to every page, with the shape of its tensor, and menus for the pages beside them.

One element instead of twenty: Streamlit's own links would each be sent, read as Markdown and drawn anew on every click,
which took as long as a picture. As they do, a link opens its page here, or, with Ctrl or the middle button, in another
tab, with all that is chosen by then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from pages.ui.scripts import script

CSS = """
.strip { display: flex; align-items: center; gap: .1rem; overflow-x: auto; padding-bottom: .2rem;
  border-bottom: 1px solid color-mix(in srgb, currentColor 20%, transparent) }
.strip :is(a, button) { flex: none; padding: .15rem .5rem; border: 0; border-radius: .5rem; background: none;
  font: inherit; font-size: .875rem; line-height: 1.25; white-space: nowrap; text-align: start;
  color: inherit !important; text-decoration: none !important; cursor: pointer }
.strip :is(a, button):hover { background: color-mix(in srgb, currentColor 10%, transparent) }
.strip a[aria-current] .name { font-weight: 700; text-decoration: underline; text-underline-offset: .3em }
.strip small { display: block; font-size: .75rem; opacity: .75 }
.strip button::after { content: " ▾"; opacity: .75 }
.strip [popover] { margin: 0; padding: .5rem; border-radius: .6rem; color: inherit;
  background: var(--st-background-color);
  border: 1px solid color-mix(in srgb, currentColor 20%, transparent); box-shadow: 0 4px 16px rgba(0, 0, 0, .16) }
.strip [popover] a { display: block; padding: .4rem .6rem }
.strip .icon { font-family: "Material Symbols Rounded"; font-size: 1.2em; vertical-align: -.25em; margin-right: .4rem }
"""

_strip = st.components.v2.component(
    "strip", html='<nav class="strip"></nav>', css=CSS, js=script("strip"), isolate_styles=False
)


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
    data = {
        "label": label,
        "here": here,
        "stages": [asdict(stop) for stop in stages],
        "menus": [{"name": name, "pages": [asdict(stop) for stop in stops]} for name, stops in menus.items()],
    }
    return _strip(key="strip", data=data, on_open_change=lambda: None).open
