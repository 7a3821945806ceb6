"""Keys that work anywhere on a page: arrows for heads and layers, and the page's own keys. Also the slim line that
stays in sight on a scrolled page: input, place and answer.

Several keys may be pressed during one run, but only the last message arrives. So presses are numbered, and each is sent
again with later ones until a run has handled it. The browser also sends the states of sliders and buttons, which may be
older than the last press. So the session keeps the values that each place went through; if the browser sends one of
them, the place gets the last.
"""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.screen.components.told import told
from pages.screen.link import chosen, select
from pages.server.assets import script

_keys = st.components.v2.component("page_keys", js=script("keys"), isolate_styles=False)
DONE, WAYS = "keys.done", "keys.ways"  # in the session: the number of the last press, and each place's values since
PLACES = ("layer", "head", "token", "key", "component", "part", "neuron", "step")  # that a press moves


def listen(actions: Mapping[str, Callable[[], None]], station: str = "", said: str = "", answer: str = "") -> None:
    """Call an action when its key is pressed outside of text fields: "ArrowLeft", "Shift+ArrowUp", "1", …

    station: the reader's station in the tour; a new one begins at the top of the screen, and when it is "answered",
    its explanation scrolls into sight. said: the place, announced to screen readers after a press. On a scrolled page,
    input, place and `answer` stay in sight.
    """

    def pressed() -> None:
        if not (sent := told("keys", "pressed")):
            return
        ways = st.session_state.get(WAYS, {}) if sent["seen"] < done() else {}
        here = chosen()
        select(**{name: way[-1] for name, way in ways.items() if getattr(here, name) in way})
        for number, key in sent["waiting"]:
            if number > done() and (action := actions.get(key)):
                before = chosen()
                action()
                moved = [name for name in PLACES if getattr(before, name) != getattr(chosen(), name)]
                ways |= {name: [*ways.get(name, [getattr(before, name)]), getattr(chosen(), name)] for name in moved}
        for name in ways:
            for widget in (f"either.{name}", f"pick.{name}"):  # set anew: the browser may show another value
                st.session_state.pop(widget, None)
        st.session_state[DONE], st.session_state[WAYS] = sent["waiting"][-1][0], ways

    def done() -> int:
        return st.session_state.get(DONE, 0)

    _keys(key="keys", data=[list(actions), done(), station, said, answer], on_pressed_change=pressed)
