"""Before many runs of a large network: a button, and how long it will take."""

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

import streamlit as st

from model import deadline
from model.config import EncoderConfig
from model.measures.cost import multiply_adds, total
from pages.drawing.text import plain
from pages.server import in_flight
from pages.server.streamlit_private import give_way

MOST_PRODUCTS = 60_000_000_000  # multiply-adds that are done without being asked for: a few seconds
PER_SECOND = 20_000_000_000  # of one core
ASKED_FOR = "what_if.asked_for"  # in the session: what shall be worked out though it takes long


@contextmanager
def patience(config: EncoderConfig, tokens: int, runs: int) -> Iterator[Callable[[float], None]]:
    """The time that so many runs of an input may take, and a bar that is told which share of them is done.

    Whoever opens another page, clicks, or goes away ends it after the runs that are being computed; what he asked for
    by a button he may then ask for again.
    """
    bar, long = st.empty(), takes_long(config, tokens, runs)

    def progress(share: float) -> None:
        give_way()
        if long:
            bar.progress(share, plain("what_if.progress", done=round(share * runs), n=runs))

    try:
        with deadline.within(seconds_for(config, tokens, runs)):
            yield progress
    except BaseException:  # Streamlit ends a run by one that is no Exception
        st.session_state.get(ASKED_FOR, set()).clear()
        raise
    bar.empty()


def seconds_for(config: EncoderConfig, tokens: int, runs: int) -> float:
    """How long so many runs may take: as long as any page, and three times what they take on a machine at leisure."""
    return in_flight.MOST_SECONDS + 3 * _products(config, tokens, runs) / PER_SECOND


def _products(config: EncoderConfig, tokens: int, runs: int) -> int:
    return runs * total(multiply_adds(config, tokens)).number


def takes_long(config: EncoderConfig, tokens: int, runs: int) -> bool:
    """Whether so many runs of an input are more than is done unasked."""
    return _products(config, tokens, runs) > MOST_PRODUCTS


def waits(config: EncoderConfig, tokens: int, runs: int, wanted: Hashable) -> bool:
    """Whether so many runs of an input would take long and nobody has asked for them; then draws the button that does.

    wanted: what is to be worked out.
    """
    asked_for = st.session_state.setdefault(ASKED_FOR, set())
    if hash(wanted) in asked_for or not takes_long(config, tokens, runs):
        return False
    seconds = f"{max(10, round(_products(config, tokens, runs) / PER_SECOND, -1)):,.0f}"
    label = plain("what_if.work_out", n=runs, seconds=seconds)
    # A callback hears of the click even where another part of the page begins the run anew.
    st.button(
        label, icon=":material/hourglass_top:", key="what_if.work_out", on_click=asked_for.add, args=(hash(wanted),)
    )
    return True
