"""Widgets to answer a question, and clicks in its picture. The guess goes into the session state."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from model.pipeline import Reader, TextReader
from pages.drawing.text import plain, t
from pages.school.questions.case import Guess, Truth, step_of
from pages.school.questions.pictures import CHIPS
from pages.screen.frame.pickers import told_apart

FEW = 12  # numbers that fit side by side
#: Handles a guess.
Give = Callable[[Guess | None], None]


def by_word(truth: Truth, _: Sequence[str], reader: Reader, key: str, give: Give) -> None:
    """A word in the network's vocabulary, typed; a message if it is not there."""
    with st.form(f"{key}.typed", border=False):  # Enter sends it, too
        typed = st.text_input(plain("lesson.your_word"), key=key, max_chars=40).strip()
        if typed and isinstance(reader, TextReader) and typed_word(reader, key) is None:
            st.caption(t("lesson.not_a_word", size=f"{len(reader.vocabulary):,}"))
        look: dict[str, Any] = {"type": "primary", "key": f"{key}.send"}
        look |= {"on_click": _if_any, "args": (partial(typed_word, reader, key), give)}
        if st.form_submit_button(plain("lesson.send"), **look) and not typed:
            st.caption(t("join.lacks_guess"))


def typed_word(reader: Reader, key: str) -> str | None:
    """The word in that box, as in the vocabulary; None if it is not there. key: of the box."""
    typed = st.session_state.get(key, "").strip()
    if not typed or not isinstance(reader, TextReader):
        return None
    pieces = reader.pieces(typed)
    return pieces[0] if len(pieces) == 1 and pieces != ["[UNK]"] else None


def by_tap(truth: Truth, words: Sequence[str], _: Reader, key: str, give: Give) -> None:
    """One of the options: a click is the guess."""
    names = told_apart(words)
    look: dict[str, Any] = {"on_change": _option_of, "args": (key, truth.options, give), "wrap": True}
    st.pills(plain("lesson.your_choice"), range(len(words)), format_func=names.__getitem__, key=key, **look)


def by_slider(truth: Truth, _: Sequence[str], __: Reader, key: str, give: Give) -> None:
    """A slider, which starts in the middle; there is no guess before it is moved."""
    low, high = map(float, truth.span)
    step, middle = step_of(truth.span), round((low + high) / 2, 2)
    value = st.slider(plain("lesson.your_value"), low, high, middle, step, "%g", key=key)
    _send(key, give, ready=value != middle)


def by_number(truth: Truth, _: Sequence[str], __: Reader, key: str, give: Give) -> None:
    """A whole number: a click for few numbers, otherwise typed."""
    low, high = map(int, truth.span)
    if high - low < FEW:
        numbers = range(low, high + 1)
        st.pills(plain("lesson.your_number"), numbers, key=key, on_change=_if_any, args=(partial(_held, key), give))
        return
    typed = st.number_input(plain("lesson.your_number"), low, high, None, key=key, width=200)
    _send(key, give, ready=typed is not None)


def by_chips(truth: Truth, words: Sequence[str], _: Reader, key: str, give: Give) -> None:
    """CHIPS equal chips: each click gives a token one, and the last completes the guess."""
    given = chips_so_far(key, len(words))
    st.caption(t("lesson.chips_left", left=CHIPS - sum(given)))
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center", key=f"{key}.tokens"):
        for place, (name, count) in enumerate(zip(told_apart(words), given, strict=True)):
            shown = f"{name} :orange[{'●' * count}]" if count else name
            st.button(
                shown, on_click=give_chip, args=(key, len(words), give, place), width="content", key=f"{key}.{place}"
            )
        if any(given):
            back = {"icon": ":material/undo:", "type": "tertiary", "key": f"{key}.back"}
            st.button(plain("lesson.chips_back"), on_click=_drop, args=(key,), **back)


def chips_so_far(key: str, count: int) -> list[int]:
    """The chips given to each of `count` tokens; none if they were for another sentence."""
    given: list[int] = st.session_state.get(f"{key}.given", [])
    return given if len(given) == count else [0] * count


def give_chip(key: str, count: int, give: Give, place: int) -> None:
    """Give a token a chip; the last one submits the guess."""
    given = [chips + (i == place) for i, chips in enumerate(chips_so_far(key, count))]
    if sum(given) < CHIPS:
        st.session_state[f"{key}.given"] = given
    else:
        _drop(key)
        give(given)


def give_option(options: Sequence[str], give: Give, place: int) -> None:
    """Submit an option by its index."""
    give(options[place])


def _drop(key: str) -> None:
    st.session_state.pop(f"{key}.given", None)


def _send(key: str, give: Give, *, ready: bool) -> None:
    """The button that submits the guess."""
    look = {"type": "primary", "key": f"{key}.send", "disabled": not ready}
    st.button(plain("lesson.send"), on_click=_if_any, args=(partial(_held, key), give), **look)


def _held(key: str) -> Guess | None:
    return st.session_state.get(key)


def _option_of(key: str, options: Sequence[str], give: Give) -> None:
    place = st.session_state.get(key)
    if place is not None and place < len(options):
        give(options[place])


def _if_any(read: Callable[[], Guess | None], give: Give) -> None:
    """Submit a guess if there is one; a click may arrive together with text typed just before."""
    if (guess := read()) is not None:
        give(guess)


GESTURES: dict[str, Callable[[Truth, Sequence[str], Reader, str, Give], None]] = {
    "word": by_word, "tap": by_tap, "same": by_tap, "slide": by_slider, "number": by_number, "chips": by_chips,
}  # fmt: skip
