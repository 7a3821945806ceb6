"""A button that shows one thing after another by itself."""

import time
from collections.abc import Callable

import streamlit as st

from pages.drawing.text import plain

#: In the session: the page that plays, and what it shows by now, with the time since when.
PLAYING, SINCE = "player.page", "player.since"


def player(page: str, shown: int, count: int, choose: Callable[[int], None], seconds: float) -> None:
    """Play: from the first of `count` things to the last, each for so many seconds; Stop while it plays.

    page: its name. shown: which one is on the screen. choose: puts another there.
    """
    playing = st.session_state.get(PLAYING) == page

    def toggle() -> None:
        st.session_state[PLAYING] = None if playing else page
        st.session_state[SINCE] = None
        if not playing:
            choose(0)

    icon = ":material/stop:" if playing else ":material/play_arrow:"
    look = {"icon": icon, "help": plain(f"{page}.play_help"), "key": f"{page}.play"}
    st.button(plain("attention.stop" if playing else "attention.play"), on_click=toggle, **look)
    if playing:
        st.fragment(_go_on, run_every=seconds)(shown, count, choose, seconds)


def stop_elsewhere(page: str) -> None:
    """Stop what plays on another page than this one: who comes back begins anew."""
    if st.session_state.get(PLAYING) != page:
        stop()


def stop() -> None:
    """Stop what plays."""
    st.session_state[PLAYING] = None


def _go_on(shown: int, count: int, choose: Callable[[int], None], seconds: float) -> None:
    """Goes on when the time is over, whoever asks: the clock, or the page, drawn anew; after the last one it stops."""
    seen, since = st.session_state.get(SINCE) or (None, 0.0)
    if seen != shown:
        st.session_state[SINCE] = shown, time.monotonic()  # this one has just come on the screen
        return
    if time.monotonic() - since < 0.9 * seconds:  # no clock is exact
        return
    if shown == count - 1:
        st.session_state[PLAYING] = None
    else:
        choose(shown + 1)
    st.rerun()
