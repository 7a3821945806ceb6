"""Boxes for choosing a place, as a click on a picture does, for keyboards and large maps."""

from collections.abc import Callable, Container, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import streamlit as st

from model.analysis import placed
from model.pipeline import MOST_CHARACTERS
from pages.drawing.text import literal, t
from pages.screen.link import select
from pages.server.memory import hold

#: In the session: key -> value of widgets that keep it while they are not drawn.
LASTING = "lasting"
Option = TypeVar("Option", bound=Hashable)


def told_apart(names: Iterable[str]) -> list[str]:
    """Names for pills. The browser identifies pills by wording, so a second ‘the’ gets an invisible sign."""
    shown = [literal(name) for name in names]
    return [name + "\u200b" * shown[:i].count(name) for i, name in enumerate(shown)]


def bound(
    widget: str,
    value: object,
    choose: Callable[[Any], object],
    *,
    anew: bool = False,
    among: Container | None = None,
) -> dict[str, Any]:
    """The key and the callback of a widget that shows `value` and passes what the reader sets to `choose`.

    An emptied box passes nothing. anew: whether to set the value in each run, for options that change with the input:
    the browser knows only their wording and would keep sending an old one. among: the options of a list; other values
    are ignored.
    """
    if anew:
        st.session_state[widget] = value
    else:
        hold(widget, value)

    def changed() -> None:
        wanted = st.session_state.get(widget)  # missing if another click removed the widget
        if wanted is not None and (among is None or wanted in among):
            choose(wanted)

    return {"key": widget, "on_change": changed}


def lasting(widget: str, value: object, *, among: Container | None = None) -> dict[str, Any]:
    """The key and the callback of a widget that begins with `value` and keeps what is set for the visit, even while it
    is not drawn. among: its options, if they change.
    """
    kept = st.session_state.setdefault(LASTING, {})
    if widget not in st.session_state or not (among is None or st.session_state[widget] in among):
        held = kept.get(widget, value)
        st.session_state[widget] = held if among is None or held in among else value

    def changed() -> None:
        if widget in st.session_state:
            st.session_state[LASTING][widget] = st.session_state[widget]

    return {"key": widget, "on_change": changed}


def lasted(widget: str, value: object) -> Any:
    """What a `lasting` widget is set to, also before it is drawn; `value` while nothing was set."""
    return st.session_state.get(widget, st.session_state.get(LASTING, {}).get(widget, value))


def set_lasting(values: dict[str, Any]) -> None:
    """Set `lasting` widgets, from a callback."""
    st.session_state.update(values)
    st.session_state.setdefault(LASTING, {}).update(values)


def sentence_box(label: str, widget: str, choose: Callable[[str], object], **look: Any) -> None:
    """A box for a sentence. If it is too long, its beginning is read, and a warning says so."""

    def typed() -> None:
        if len(st.session_state[widget]) > MOST_CHARACTERS:  # a limit in the box would cut silently
            st.session_state[widget] = st.session_state[widget][:MOST_CHARACTERS]
            st.session_state["cut"] = widget
        choose(st.session_state[widget])

    st.text_input(label, key=widget, on_change=typed, **look)
    if st.session_state.get("cut") == widget:
        del st.session_state["cut"]
        st.warning(t("error.sentence_long", most=MOST_CHARACTERS), icon=":material/content_cut:")


def pick(place: str, label: str, options: Sequence[str], chosen: int, *, width: Any = "stretch", **also: Any) -> int:
    """A select box over tokens; returns the index. A repeated token is named with its position.

    place: the field of Choice that it sets. also: further values that it sets.
    """
    places = range(len(options))
    look = bound(f"pick.{place}", chosen, lambda i: select(**{place: i, **also}), anew=True, among=places)
    return st.selectbox(label, places, format_func=placed(options).__getitem__, width=width, **look)


def pick_number(place: str, label: str, count: int, chosen: int, *, width: Any = "stretch", **also: Any) -> None:
    """A number box, as `pick`, over `count` places without names (dimensions, neurons), shown from 1."""
    look = bound(f"pick.{place}", chosen + 1, lambda number: select(**{place: number - 1, **also}))
    st.number_input(label, 1, count, width=width, **look)


def either(
    field: str,
    label: str,
    options: Sequence[Option],
    words: Sequence[str],
    chosen: object,
    *,
    key: str = "",
    brief: bool = False,
    **look: Any,
) -> Option:
    """Buttons, one of which is always pressed; they wrap on phones.

    field: of Choice. words: the labels. chosen: if it is no option, the first one is pressed. brief: a list instead.
    """
    chosen = next((option for option in options if option == chosen), options[0])
    named = dict(zip(options, words, strict=True))
    if brief:
        look |= bound(
            f"either.{key or field}", chosen, lambda option: select(**{field: option}), anew=True, among=options
        )
        return st.selectbox(label, list(options), format_func=named.__getitem__, **look)
    look |= {"format_func": named.__getitem__, "required": True, "wrap": True}
    look |= bound(f"either.{key or field}", chosen, lambda option: select(**{field: option}))
    st.segmented_control(label, list(options), **look)
    return chosen
