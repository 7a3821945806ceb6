"""Pickers for layer and head, above the pictures that show them."""

import streamlit as st

from model.config import DECODER
from pages.drawing.page import Page
from pages.drawing.state.offered import sizes_of_decoder
from pages.drawing.text import plain
from pages.screen import link
from pages.screen.frame.pickers import bound, either
from pages.screen.runs import pipelines

#: In the session, for layer and head: the chosen one, and its stand-in while a network has fewer.
KEPT = "places.kept"
#: In the session: the page whose places were fitted last.
LAST = "places.last"
MOST_BUTTONS = 12  # more layers or heads become a list


def fit_places(page: Page) -> None:
    """Keep layer and head within what the network has; a page that opens at a place of its own does so for a reader who
    comes without one.
    """
    choice = link.chosen()
    config, decoder = pipelines.config(choice.pipeline), sizes_of_decoder(choice.model) or DECODER
    before, kept = st.session_state.get(LAST), st.session_state.setdefault(KEPT, {})
    names = ("layer", "head")
    brought = {*names} & (st.query_params.keys() if before is None else _chosen_since(kept))
    for name in names:
        most = getattr(config, f"{name}s")
        _fit(name, max(most, getattr(decoder, f"{name}s")) if writes(page.name) else most)
    if page.opens and before != page.name and not brought and (place := page.opens(choice)):
        for name, number in zip(names, place, strict=True):
            st.session_state[name] = number + 1
            kept[name] = kept[name][0], number + 1
    st.session_state[LAST] = page.name


def _chosen_since(kept: dict[str, tuple[int, int]]) -> set[str]:
    """Which of layer and head were chosen since places were fitted last."""
    return {name for name, (_, instead) in kept.items() if st.session_state[name] != instead}


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
