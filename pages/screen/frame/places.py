"""Layer and head, chosen above the pictures that show them."""

import streamlit as st

from model.config import DECODER
from pages.drawing.state.offered import sizes_of_decoder
from pages.drawing.text import plain
from pages.screen import link
from pages.screen.frame.pickers import bound, either
from pages.screen.runs import pipelines

#: In the session, for layer and head: the one that was chosen, and the one that stands in for it while a network has
#: fewer.
KEPT = "places.kept"
MOST_BUTTONS = 12  # of more layers or heads one is chosen from a list


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
    """Keep a number within what this network has; with a network that has more, the one that was chosen comes back."""
    kept = st.session_state.setdefault(KEPT, {})
    chosen, instead = kept.get(name, (None, None))
    now = st.session_state[name]
    if now != instead:  # another one was chosen since
        chosen = now
    st.session_state[name] = min(chosen, most)
    kept[name] = chosen, st.session_state[name]


def choose(name: str, most: int, *, brief: bool = False) -> None:
    """Buttons for the "layer" or the "head", of `most`; nothing where there is only one. brief: a list instead."""
    now = min(st.session_state[name], most) - 1
    if most == 1:
        return
    label, numbers = plain(f"sidebar.{name}"), [str(place + 1) for place in range(most)]
    if most <= MOST_BUTTONS and not brief:
        either(name, label, range(most), numbers, now)
    else:
        look = bound(f"pick.{name}", now, lambda place: link.select(**{name: place}), anew=True, among=range(most))
        st.selectbox(label, range(most), format_func=numbers.__getitem__, width=150, **look)
