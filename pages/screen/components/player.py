"""A button that plays a sequence, such as the steps of attention."""

import time
from collections.abc import Callable

import streamlit as st

from pages.drawing.text import plain

#: In the session: the page that plays; the index shown, and since when.
PLAYING, SINCE = "player.page", "player.since"


def player(page: str, shown: int, count: int, choose: Callable[[int], None], seconds: float) -> None:
    """A button "Play", which shows `count` things in turn, each for so many seconds; while playing, "Stop".

    page: its name. shown: the index on the screen. choose: shows another.
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
    """Stop playing on other pages than this."""
    if st.session_state.get(PLAYING) != page:
        stop()


def stop() -> None:
    """Stop playing."""
    st.session_state[PLAYING] = None


def _go_on(shown: int, count: int, choose: Callable[[int], None], seconds: float) -> None:
    """Show the next one if its time has come, whether the clock or a redrawn page asks; stop after the last."""
    seen, since = st.session_state.get(SINCE) or (None, 0.0)
    if seen != shown:
        st.session_state[SINCE] = shown, time.monotonic()  # it has just been shown
        return
    if time.monotonic() - since < 0.9 * seconds:  # no clock is exact
        return
    if shown == count - 1:
        st.session_state[PLAYING] = None
    else:
        choose(shown + 1)
    st.rerun()
