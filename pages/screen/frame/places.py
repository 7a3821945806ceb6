"""Pickers for layer and head, above the pictures that show them."""

import streamlit as st

from model.config import DECODER
from pages.drawing.state.offered import sizes_of_decoder
from pages.drawing.text import plain
from pages.screen import link
from pages.screen.frame.pickers import bound, either
from pages.screen.runs import pipelines

#: In the session, for layer and head: the chosen one, and its stand-in while a network has fewer.
KEPT = "places.kept"
MOST_BUTTONS = 12  # more layers or heads become a list


def fit_places(page: str) -> None:
    """Keep layer and head within what the network has. page: its name."""
    choice = link.chosen()
    config, decoder = pipelines.config(choice.pipeline), sizes_of_decoder(choice.model) or DECODER
    for name in ("layer", "head"):
        most = getattr(config, f"{name}s")
        _fit(name, max(most, getattr(decoder, f"{name}s")) if writes(page) else most)


def writes(page: str) -> bool:
    """Whether layers and heads are those of a decoder."""
    return page == "translation" and st.session_state["input"] == "sentence"


def _fit(name: str, most: int) -> None:
    """Limit a number to what this network has; the chosen one returns with a network that has it."""
    kept = st.session_state.setdefault(KEPT, {})
    chosen, instead = kept.get(name, (None, None))
    now = st.session_state[name]
    if now != instead:  # another one was chosen since
        chosen = now
    st.session_state[name] = min(chosen, most)
    kept[name] = chosen, st.session_state[name]


def choose(name: str, most: int, *, brief: bool = False) -> None:
    """Buttons for the "layer" or "head"; nothing if `most` is 1. brief: a list instead."""
    now = min(st.session_state[name], most) - 1
    if most == 1:
        return
    label, numbers = plain(f"sidebar.{name}"), [str(place + 1) for place in range(most)]
    if most <= MOST_BUTTONS and not brief:
        either(name, label, range(most), numbers, now)
    else:
        look = bound(f"pick.{name}", now, lambda place: link.select(**{name: place}), anew=True, among=range(most))
        st.selectbox(label, range(most), format_func=numbers.__getitem__, width=150, **look)
