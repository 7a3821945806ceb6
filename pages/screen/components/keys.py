"""Keys that work anywhere on a page: arrows for heads and layers, and whatever else the page has given a key. And the
slim line that stays in sight where a page is scrolled: what goes in, the place and the answer.

Fingers are faster than pages. Of several values that are sent during one run only the last arrives: so each press has a
number, and is sent with every later one until a run has said that it is done. And with each press the browser sends
where its sliders and buttons stand, which may be from before the last one: so the way that each place has gone is kept
until the browser knows, and one that is found back on its way is put where that led to.
"""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.screen.components.told import told
from pages.screen.link import chosen, select
from pages.server.assets import script

_keys = st.components.v2.component("page_keys", js=script("keys"), isolate_styles=False)
DONE, WAYS = "keys.done", "keys.ways"  # in the session: the number of the last press, and where each place was since
PLACES = ("layer", "head", "token", "key", "component", "part", "neuron", "step")  # that a press moves


def listen(actions: Mapping[str, Callable[[], None]], station: str = "", said: str = "", answer: str = "") -> None:
    """Call an action when its key is pressed outside of text fields: "ArrowLeft", "Shift+ArrowUp", "1", …

    station: where on the page a reader is; another one begins at the top of the screen, and what is said once the same
    one is "answered" comes into sight. said: the place that he is at,
    which who cannot see the page is told after a press. It stays in sight where the page is scrolled, and with it what
    goes in, and the answer.
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
            for widget in (f"either.{name}", f"pick.{name}"):  # told anew: in the browser it may stand elsewhere
                st.session_state.pop(widget, None)
        st.session_state[DONE], st.session_state[WAYS] = sent["waiting"][-1][0], ways

    def done() -> int:
        return st.session_state.get(DONE, 0)

    _keys(key="keys", data=[list(actions), done(), station, said, answer], on_pressed_change=pressed)
