"""Boxes in which a place is chosen: the same choice as a click on a picture makes, for keyboards and for large maps."""

from collections.abc import Hashable, Iterable, Sequence
from typing import TypeVar

import streamlit as st

from pages.ui.link import select
from pages.ui.memory import hold
from pages.ui.text import literal

Option = TypeVar("Option", bound=Hashable)


def told_apart(names: Iterable[str]) -> list[str]:
    """Names as pills may show them. The browser knows those by their wording only, so the second ‘the’ gets an
    invisible sign more.
    """
    shown = [literal(name) for name in names]
    return [name + "\u200b" * shown[:i].count(name) for i, name in enumerate(shown)]


def pick(place: str, label: str, options: Sequence[str], chosen: int, *, key: str = "") -> int:
    """A select box over places that have names (tokens, classes, …); returns the index.

    place: the field of Choice that it sets. The numbers keep options apart that read alike.
    """
    widget = f"pick.{key or place}"
    # Said anew in each run: the browser knows only the wording, and would go on sending that of another sentence.
    st.session_state[widget] = chosen
    return st.selectbox(
        label,
        range(len(options)),
        format_func=lambda i: f"{i + 1} · {options[i]}",
        key=widget,
        on_change=lambda: select(**{place: st.session_state[widget]}),
    )


def pick_number(place: str, label: str, count: int, chosen: int) -> None:
    """A number box over `count` places that have no names (dimensions, neurons); shown from 1, `chosen` from 0."""
    widget = f"pick.{place}"
    hold(widget, chosen + 1)

    def changed() -> None:
        if st.session_state[widget] is not None:
            select(**{place: st.session_state[widget] - 1})

    st.number_input(label, 1, count, key=widget, on_change=changed)


def either(
    field: str,
    label: str,
    options: Sequence[Option],
    words: Sequence[str],
    chosen: object,
    *,
    key: str = "",
    **look: object,
) -> Option:
    """Buttons, one of which is always down; they take two rows where one is too long for a phone.

    field: of Choice; words: what stands on each button. chosen: where it is none of the options, the first is.
    """
    chosen = next((option for option in options if option == chosen), options[0])
    widget = f"either.{key or field}"
    hold(widget, chosen)
    named = dict(zip(options, words, strict=True))

    def changed() -> None:
        if st.session_state[widget] is not None:
            select(**{field: st.session_state[widget]})

    look |= {"format_func": named.__getitem__, "key": widget, "required": True, "wrap": True}
    st.segmented_control(label, list(options), on_change=changed, **look)
    return chosen
