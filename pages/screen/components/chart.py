"""A Plotly chart that stays on the page and redraws only what is new in its figure.

Streamlit's own chart is replaced for each new figure, and drawn two or three times until it knows its width. This one
knows its width and is drawn once.
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
    """Draw a figure, as high as its layout says, as wide as its layout says or as there is room.

    alt: the text alternative. file, caption: name and headline of the PNG that the camera saves. code: gives the
    numbers in a notebook, to copy. on_pick(row, column): called when a mark is clicked; marks with customdata lists
    pass those instead. at_once: how the browser draws the figure for another place.

    Of several messages sent during one run, only the last arrives. So clicks are numbered, and each is sent again with
    later ones. Until the browser has the answer, it also sends the old states of buttons and sliders.
    """
    # in the session: the number of the last click that on_pick got, and the place that it led to
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

    mode = st.context.theme.type  # another theme makes another chart
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
