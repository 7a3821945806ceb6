"""The strip of changes: the changes, the input compared with, and which run is shown."""

import streamlit as st

from pages.drawing.screen import Screen
from pages.drawing.text import plain, t
from pages.screen.frame.changes_bar import changes_bar, compare_bar, shown_switch, twin_bar
from pages.screen.frame.learned import learned_bar
from pages.screen.runs import pipelines


def changes_strip(screen: Screen, *, always: bool = False) -> None:
    """Draw the strip; for one unchanged run nothing, or with `always` one that says so, as high as with changes."""
    choice, made, other = screen.choice, screen.made, screen.other
    if not (screen.has_bar or always):
        return
    with st.container(border=True, horizontal=True, vertical_alignment="center", key="changes"):
        if not screen.has_bar:
            st.markdown(f":gray-badge[{plain('change.not_yet')}]", width="content")
        if choice.learning is not None:
            learned_bar(choice.learning)
        changes_bar(choice, made, screen.waiting)
        if other and choice.beside_twin:
            twin_bar()
        elif other:
            as_typed = pipelines.run(choice.pipeline, choice.other_subject)
            compare_bar(choice, screen.own, as_typed, pipelines.read(choice)[1].tokens)
        if made.edits or other:
            this_run = "changed" if other is None else "trained" if choice.beside_twin else "this"
            shown_switch(screen.ways, screen.shows, this=this_run)
        if other and choice.beside_twin:
            st.caption(t("compare.twin_says"))
