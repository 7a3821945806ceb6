"""The run on one screen: model/overview's painter as a component of the page.

Three parts. The run comes once, in one message that stays the same while the reader goes from layer to layer, so the
server need only name it. Beside it, small and unseen, come the place that the server knows, and the numbers behind the
cells of a picture that the reader has opened. Every place that the reader chooses has a number; an answer to an earlier
one moves nothing.
"""

from collections.abc import Callable
from typing import Any

import streamlit as st

from model.overview import Packed
from pages.ui.components.told import told
from pages.ui.server.assets import script

PLACES = ("layer", "head", "token", "key")
MOST = 10_000  # a place further than this is none

_overview = st.components.v2.component(
    "overview", html='<div class="overview"></div>', js=script("overview", "painter"), isolate_styles=False
)
_place = st.components.v2.component("overview_place", js=script("overview_place"))
_rows = st.components.v2.component("overview_rows", js=script("overview_rows"))
#: In the session: the number of the last place that was heard.
HEARD = "overview.heard"


def overview(
    packed: Packed,
    place: dict[str, int],
    on_place: Callable[[dict[str, int]], object],
    on_open: Callable[[str, dict[str, int]], object],
    rows: Callable[[str, int, int, int], Packed],
    key: str = "overview",
) -> None:
    """Show a run. place: layer, head and token from 0. key: another one for a second run on the page, whose `theirs`
    says which of its tokens stands in the place of each token of the first.

    on_place: gets those of them that the reader has changed. on_open: gets the role of a picture whose page he wants,
    and the place to open it at. rows: role of a picture, layer, head, token -> the numbers behind its cells there. They
    are sent when the reader has opened it.
    """
    opened = f"{key}.opened"

    def heard(event: str) -> None:
        sent = told(key, event)
        if not isinstance(sent, dict):
            return
        st.session_state[HEARD] = max(int(sent["number"]), st.session_state.get(HEARD, 0))
        chosen = {name: sent["place"][name] for name in PLACES if _is_place(sent["place"].get(name))}
        if event == "need":
            at = {name: place for name, place in sent["at"].items() if _is_place(place)}
            st.session_state[opened] = sent["id"], str(sent["role"]), at
        if event == "open":
            on_open(str(sent["role"]), chosen)
        elif chosen:
            on_place(chosen)

    _overview(
        key=key,
        data=packed.message,
        on_place_change=lambda: heard("place"),
        on_open_change=lambda: heard("open"),
        on_need_change=lambda: heard("need"),
    )
    _rows(key=f"{key}_rows", data=_behind(packed.about, st.session_state.get(opened), rows))
    if key == "overview":
        _place(key="overview_place", data={"place": place, "heard": st.session_state.get(HEARD, 0)})


def _behind(about: dict[str, Any], wanted: Any, rows: Callable[[str, int, int, int], Packed]) -> bytes:
    """The numbers behind the picture that the reader has opened, if it is one of this run."""
    if not wanted or wanted[0] != about["id"]:
        return b""
    _, role, place = wanted
    most = {"layer": about["sizes"]["layers"], "head": about["sizes"]["heads"], "token": about["sizes"]["n"]}
    known = role in about["arrays"] or role == "x"
    if not known or role == "z" or any(place.get(axis, size) >= size for axis, size in most.items()):
        return b""
    return rows(role, *(place[axis] for axis in most)).with_(id=about["id"]).message


def _is_place(value: Any) -> bool:
    return isinstance(value, int) and 0 <= value < MOST
