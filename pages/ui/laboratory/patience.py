"""Before many runs of a large network: a button, and how long it will take."""

import streamlit as st

from model.config import EncoderConfig
from model.cost import multiply_adds, total
from pages.ui.text import plain

MOST_PRODUCTS = 60_000_000_000  # multiply-adds that are done without being asked for: a few seconds
PER_SECOND = 20_000_000_000  # of one core


def waits(config: EncoderConfig, tokens: int, runs: int, name: str) -> bool:
    """Whether so many runs of an input would take long and nobody has asked for them; then draws the button that does.

    name: of the button's widget.
    """
    products = runs * total(multiply_adds(config, tokens)).number
    if products <= MOST_PRODUCTS:
        return False
    seconds = f"{max(10, round(products / PER_SECOND, -1)):,.0f}"
    label = plain("what_if.work_out", n=runs, seconds=seconds)
    return not st.button(label, icon=":material/hourglass_top:", key=f"what_if.work_out.{name}")
