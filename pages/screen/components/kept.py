"""The keys of a teacher's classes, kept by her browser, for a reload and for her second window."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from pages.screen.components.told import told
from pages.server.assets import script

_kept = st.components.v2.component("kept", js=script("kept"))


def kept(
    keep: Mapping[str, str], forget: Sequence[str], on_kept: Callable[[Mapping[str, str]], None], *, known: bool = True
) -> None:
    """Let the browser keep these keys, by the code of their class, and forget others.

    on_kept: gets all that it holds, if it holds some that are not among them, or if that is not `known`.
    """

    def heard() -> None:
        if isinstance(held := told("kept", "kept"), dict):
            on_kept({str(code): str(key) for code, key in held.items()})

    _kept(key="kept", data={"keep": dict(keep), "forget": list(forget), "known": known}, on_kept_change=heard)
