"""The run on one screen: model/overview's painter as a component of the page.

It has three parts. The run is one message that stays the same from layer to layer, so that the server sends it once and
then only names it. Two small invisible components hold the place that the server knows, and the answer to the last
request: numbers of an opened picture, or the answer's dependence on each head. Places that the reader chooses are
numbered; an answer to an earlier one moves nothing.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from model.overview import Packed
from pages.screen.components.told import told
from pages.server.assets import script

PLACES = ("layer", "head", "token", "key")
MOST = 10_000  # larger places are invalid
#: A request besides the pictures of a run.
LEAN = "lean"

_overview = st.components.v2.component(
    "overview", html='<div class="overview"></div>', js=script("overview", "painter"), isolate_styles=False
)
_place = st.components.v2.component("overview_place", js=script("overview_place"))
_rows = st.components.v2.component("overview_rows", js=script("overview_rows"))
#: In the session: the number of the last message handled.
HEARD = "overview.heard"


def overview(
    packed: Packed,
    place: dict[str, int],
    on_place: Callable[[dict[str, int]], object],
    on_open: Callable[[str, dict[str, int]], object],
    on_off: Callable[[int, int], object],
    more: Callable[[str, int, int, int], Packed],
    key: str = "overview",
) -> None:
    """Show a run. place: layer, head and token from 0. key: another for a second run on the page, whose message has
    `theirs`: its counterpart of each token of the first.

    on_place: gets what the reader changed of the place. on_open: gets the role of a picture whose page to open, and the
    place. on_off: gets layer and head of a head to turn off or on. more: (role of a picture or LEAN, layer, head,
    token) -> the answer to that request.
    """
    asked = f"{key}.asked"

    def heard(event: str) -> None:
        every = told(key, event)
        for sent in every if isinstance(every, list) else ():
            if int(sent["number"]) > st.session_state.get(f"{key}.{event}", 0):
                st.session_state[f"{key}.{event}"] = int(sent["number"])
                st.session_state[HEARD] = max(int(sent["number"]), st.session_state.get(HEARD, 0))
                heed(event, sent)

    def heed(event: str, sent: dict[str, Any]) -> None:
        chosen = {name: sent["place"][name] for name in PLACES if _is_place(sent["place"].get(name))}
        if event == "need":
            at = {name: place for name, place in sent["at"].items() if _is_place(place)}
            st.session_state[asked] = sent["id"], str(sent["role"]), at
        if event == "open":
            on_open(str(sent["role"]), chosen)
            return
        if chosen:
            on_place(chosen)
        if event == "off" and all(map(_is_place, sent["head"])):
            on_off(*sent["head"])

    events = {f"on_{event}_change": partial(heard, event) for event in ("place", "open", "need", "off")}
    _overview(key=key, data=packed.message, **events)
    _rows(key=f"{key}_rows", data=_behind(packed.about, st.session_state.get(asked), more))
    if key == "overview":
        _place(key="overview_place", data={"place": place, "heard": st.session_state.get(HEARD, 0)})


def _behind(about: dict[str, Any], wanted: Any, more: Callable[[str, int, int, int], Packed]) -> bytes:
    """The answer to the last request, if it was about this run."""
    if not wanted or wanted[0] != about["id"]:
        return b""
    _, role, place = wanted
    most = {"layer": about["sizes"]["layers"], "head": about["sizes"]["heads"], "token": about["sizes"]["n"]}
    known = role in about["arrays"] or role in ("x", LEAN)
    if not known or role == "z" or any(place.get(axis, size) >= size for axis, size in most.items()):
        return b""
    return more(role, *(place[axis] for axis in most)).with_(id=about["id"]).message


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < MOST
