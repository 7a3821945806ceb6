"""The keys of a teacher's classes, kept in her browser for reloads and her second window."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages.screen.components.told import told
from pages.server.assets import script

_kept = st.components.v2.component("kept", js=script("kept"))


def kept(
    keep: Mapping[str, str], forget: Sequence[str], on_kept: Callable[[Mapping[str, str]], None], *, known: bool = True
) -> None:
    """Let the browser keep these keys (code of a class -> key), and forget those of other classes.

    on_kept: gets all keys in the browser, if some are missing in `keep`, or if `known` is False.
    """

    def heard() -> None:
        if isinstance(held := told("kept", "kept"), dict):
            on_kept({str(code): str(key) for code, key in held.items()})

    _kept(key="kept", data={"keep": dict(keep), "forget": list(forget), "known": known}, on_kept_change=heard)
