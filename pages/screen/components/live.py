"""The state of a class, polled without a run of the page: how many are there and answered, whether all moved on."""

from collections.abc import Callable

import streamlit as st

from pages.screen.components.told import told
from pages.server.assets import script

SOON, LATER = 1000, 2000  # milliseconds between two polls: on the projector, and on phones that follow

_live = st.components.v2.component("live", html='<p class="live"></p>', js=script("live"), isolate_styles=False)


def live(
    code: str,
    ticket: str,
    version: int,
    led: int,
    *,
    words: str = "",
    more: str = "",
    answered: int = 0,
    there: int = 0,
    every: int = SOON,
    follows: bool = False,
    view: str = "",
    on_moved: Callable[[], None] = lambda: None,
) -> None:
    """Poll the state of a class; draw the page anew when `version` or `led` changes.

    ticket: of the class. words: the text shown, with **{answered}** and **{there}**. more: a further text with
    {answered} and {there}, if clearly more have answered than are there. follows: whether this is a phone of the class;
    polling keeps it in. view: what it has open, a page or a station of the tour. on_moved: called before the page is
    drawn anew.
    """

    def moved() -> None:
        if told("live", "moved"):
            on_moved()

    data = {"code": code, "ticket": ticket, "version": version, "led": led, "words": words, "more": more}
    looks = {"every": every, "answered": answered, "there": there, "follows": follows, "view": view}
    _live(key="live", data=data | looks, on_moved_change=moved)
