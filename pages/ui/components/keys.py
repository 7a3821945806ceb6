"""Keys that work anywhere on a page: arrows for heads and layers, and whatever else the page has given a key.

Fingers are faster than pages. Of several values that are sent during one run only the last arrives: so each press has a
number, and is sent with every later one until a run has said that it is done. And with each press the browser sends
where its sliders stand, which may be from before the last one: so where that led to is kept until the browser knows.
"""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.ui.components.told import told
from pages.ui.server.assets import script
from pages.ui.state.link import chosen, select

_keys = st.components.v2.component("page_keys", js=script("keys"))
DONE, LED_TO = "keys.done", "keys.led_to"  # in the session: the number of the last press, and where it led to


def listen(actions: Mapping[str, Callable[[], None]]) -> None:
    """Call an action when its key is pressed outside of text fields: "ArrowLeft", "Shift+ArrowUp", "1", …"""

    def pressed() -> None:
        if not (sent := told("keys", "pressed")):
            return
        if sent["seen"] < done():
            select(**st.session_state[LED_TO])
        for number, key in sent["waiting"]:
            if number > done() and (action := actions.get(key)):
                action()
        st.session_state[DONE] = sent["waiting"][-1][0]
        st.session_state[LED_TO] = {name: getattr(chosen(), name) for name in ("layer", "head")}

    def done() -> int:
        return st.session_state.get(DONE, 0)

    _keys(key="keys", data=[list(actions), done()], on_pressed_change=pressed)
