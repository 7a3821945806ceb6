"""A slider for the snapshot of training that reads a digit, and a badge on every page for early snapshots."""

import streamlit as st

from model import WeightsError
from model.measures import learning
from pages.drawing.text import texts_of
from pages.drawing.text.numbers import in_percent
from pages.screen.frame.pickers import bound
from pages.screen.link import select

_, word = texts_of("learned")


def steps() -> list[str]:
    """The numbers of training steps of the snapshots: "0", "10", …"""
    return [f"{snapshot.step:,}" for snapshot in learning.snapshots()]


def snapshot(number: int) -> dict[str, object]:
    """The values of Choice that show the network of this snapshot."""
    return {"learned": None if number == learning.SNAPSHOTS - 1 else number + 1}


def step_slider(learned: int | None) -> None:
    """In the drawer: a slider for the number of training steps; nothing if the snapshots cannot be read."""
    try:
        names = steps()
    except WeightsError:
        return
    numbers = range(len(names))
    look = bound(
        "learned", len(names) - 1 if learned is None else learned - 1, lambda number: select(**snapshot(number))
    )
    st.select_slider(word("slider"), numbers, format_func=names.__getitem__, help=word("help"), **look)


def learned_bar(number: int) -> None:
    """A badge that the network is an early one, and a button back to the finished one."""
    shown = learning.snapshots()[number]
    said = {"step": f"{shown.step:,}", "accuracy": in_percent(100 * shown.accuracy, 1)}
    st.markdown(f":blue-badge[{word('badge', **said)}]", width="content")
    look = {"icon": ":material/close:", "help": word("finish")}
    st.button(word("finish"), key="learned.finish", on_click=select, kwargs={"learned": None}, **look)
