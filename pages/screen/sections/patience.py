"""Before many runs of a large network: a button that says how long they take."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

import streamlit as st

from model import deadline
from model.config import EncoderConfig
from model.measures.cost import multiply_adds, total
from pages.drawing.text import plain
from pages.server import in_flight
from pages.server.streamlit_private import give_way

MOST_PRODUCTS = 60_000_000_000  # multiply-adds done unasked: a few seconds
PER_SECOND = 20_000_000_000  # multiply-adds of one core
ASKED_FOR = "what_if.asked_for"  # in the session: long computations that the reader asked for


@contextmanager
def patience(config: EncoderConfig, tokens: int, runs: int) -> Iterator[Callable[[float], None]]:
    """A block with the time for so many runs; yields a function that shows which share of them is done.

    A click, another page or leaving ends the block after the present runs; the reader must then ask again.
    """
    bar, long = st.empty(), takes_long(config, tokens, runs)

    def progress(share: float) -> None:
        give_way()
        if long:
            bar.progress(share, plain("what_if.progress", done=round(share * runs), n=runs))

    try:
        with deadline.within(seconds_for(config, tokens, runs)):
            yield progress
    except BaseException:  # Streamlit ends runs by a BaseException
        st.session_state.get(ASKED_FOR, set()).clear()
        raise
    bar.empty()


def seconds_for(config: EncoderConfig, tokens: int, runs: int) -> float:
    """Seconds that so many runs may take: those of any page, plus three times the runs' time on an idle machine."""
    return in_flight.MOST_SECONDS + 3 * _products(config, tokens, runs) / PER_SECOND


def _products(config: EncoderConfig, tokens: int, runs: int) -> int:
    return runs * total(multiply_adds(config, tokens)).number


def takes_long(config: EncoderConfig, tokens: int, runs: int) -> bool:
    """Whether so many runs of an input need asking for."""
    return _products(config, tokens, runs) > MOST_PRODUCTS


def waits(config: EncoderConfig, tokens: int, runs: int, wanted: Hashable) -> bool:
    """Whether so many runs of an input would take long and were not asked for; if so, draw the button that asks.

    wanted: identifies the computation.
    """
    asked_for = st.session_state.setdefault(ASKED_FOR, set())
    if hash(wanted) in asked_for or not takes_long(config, tokens, runs):
        return False
    seconds = f"{max(10, round(_products(config, tokens, runs) / PER_SECOND, -1)):,.0f}"
    label = plain("what_if.work_out", n=runs, seconds=seconds)
    # A callback gets the click even if another part of the page restarts the run.
    st.button(
        label, icon=":material/hourglass_top:", key="what_if.work_out", on_click=asked_for.add, args=(hash(wanted),)
    )
    return True
