"""A button that shows one thing after another by itself."""

from collections.abc import Callable

import streamlit as st

from pages.ui.text import plain


def player(name: str, shown: int, count: int, choose: Callable[[int], None], seconds: float) -> None:
    """Play: from the first of `count` things to the last, each for so many seconds; Stop while it plays.

    name: of the page. shown: which one is on the screen. choose: puts another there.
    """
    key = f"{name}.playing"
    playing = st.session_state.setdefault(key, False)

    def toggle() -> None:
        st.session_state[key] = not playing
        if not playing:
            choose(0)

    icon = ":material/stop:" if playing else ":material/play_arrow:"
    look = {"icon": icon, "help": plain(f"{name}.play_help"), "key": f"{name}.play"}
    st.button(plain("attention.stop" if playing else "attention.play"), on_click=toggle, **look)
    if playing:
        st.fragment(_go_on, run_every=seconds)(name, shown, count, choose)


def _go_on(name: str, shown: int, count: int, choose: Callable[[int], None]) -> None:
    """Goes on each time that it is run again by itself; after the last one it stops."""
    seen = f"{name}.played"
    if st.session_state.get(seen) != shown:
        st.session_state[seen] = shown  # this one has just come on the screen
        return
    st.session_state[seen] = None
    if shown == count - 1:
        st.session_state[f"{name}.playing"] = False
    else:
        choose(shown + 1)
    st.rerun()
