"""A Plotly chart that stays where it is: what is new of its figure is drawn over the one before.

Streamlit's own chart is taken away and made anew for each new figure, and drawn two or three times until it knows how
wide it is. This one knows that beforehand, and is drawn once.
"""

import json
from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.drawing.at_once import AtOnce
from pages.drawing.figures import Figure, on_white
from pages.drawing.text import plain
from pages.screen.components.at_once import send
from pages.screen.components.keys import DONE
from pages.screen.components.told import told
from pages.screen.link import chosen, select
from pages.server.assets import script

_chart = st.components.v2.component("chart", html='<div class="chart"></div>', js=script("chart"), isolate_styles=False)


def chart(
    figure: Figure,
    key: str,
    alt: str,
    file: str = "",
    caption: str = "",
    code: str = "",
    on_pick: Callable[..., None] | None = None,
    at_once: AtOnce | None = None,
) -> None:
    """Draw a figure, as wide as there is room (or as its layout says), as high as its layout says.

    alt: what it shows, in words. file, caption: of the PNG that its camera saves, its name and what stands above the
    picture there. code: what gives its numbers in a notebook, to copy. on_pick(row, column): called when a mark is
    clicked; where the marks carry numbers (customdata lists), it gets those. at_once: how the browser draws it for
    another place by itself.

    Of two clicks that are sent during one run only the last arrives: so each has a number, and comes with later ones.
    While it comes, the browser has not heard what it led to, and sends where its buttons and sliders stood before.
    """
    # in the session: the number of the last click that on_pick was called for, and where it led to
    answered, led_to = f"{key}.answered", f"{key}.led_to"

    def picked() -> None:
        clicks = told(key, "picked") or ()
        if any(number <= st.session_state.get(answered, 0) for number, _ in clicks):
            select(**st.session_state[led_to])
        for number, point in clicks:
            if on_pick and number > st.session_state.get(answered, 0):
                own = point.get("customdata")
                on_pick(*own) if isinstance(own, list) else on_pick(round(point["y"]), round(point["x"]))
                st.session_state[answered] = number
                st.session_state[led_to] = {name: getattr(chosen(), name) for name in ("layer", "head", "token")}

    mode = st.context.theme.type  # in other colours it is another chart
    about: dict[str, Any] = {
        "mode": mode,
        "alt": alt,
        "file": file,
        "caption": caption,
        "white": on_white(),
        "save": plain("frame.save_picture"),
        "code": code,
        "copy": plain("frame.copy_code", code=code.partition("\n")[0]),
        "picks": on_pick is not None,
    }
    about["key"], about["heard"] = key, {"keys": st.session_state.get(DONE, 0), key: st.session_state.get(answered, 0)}
    about["once"] = at_once and send(at_once, key)
    data = f'{json.dumps(about)[:-1]}, "figure": {figure.as_json()}}}'
    _chart(key=key, data=data.encode(), on_picked_change=picked)
