"""How a question is answered by hand. Each gesture draws its widgets and returns the guess so far, or None."""

from collections.abc import Callable, Sequence

import streamlit as st

from model.pipeline import Pipeline, TextReader
from pages.ui.frame.pickers import told_apart
from pages.ui.lessons.case import Guess, Truth
from pages.ui.text import plain, t

ALL_BEANS, HANDFUL = 100, 10
#: What draws a gesture: (truth, what its options are called, the pipeline that reads the input, the widget's key).
Gesture = Callable[[Truth, Sequence[str], Pipeline, str], Guess | None]


def word(truth: Truth, _: Sequence[str], pipeline: Pipeline, key: str) -> Guess | None:
    """A word to be written, as the network's vocabulary has it; a sentence where it has no such word."""
    typed = st.text_input(plain("lesson.your_word"), key=key, max_chars=40, width=320).strip()
    reader = pipeline.reader
    if not typed or not isinstance(reader, TextReader):
        return None
    pieces = reader.pieces(typed)
    if len(pieces) != 1 or pieces == ["[UNK]"]:
        st.caption(t("lesson.not_a_word", size=f"{len(reader.vocabulary):,}"))
        return None
    return pieces[0]


def tap(truth: Truth, words: Sequence[str], _: Pipeline, key: str) -> Guess | None:
    """One of the options to be tapped."""
    names = told_apart(words)
    chosen = st.pills(plain("lesson.your_choice"), range(len(words)), format_func=names.__getitem__, key=key)
    return None if chosen is None else truth.options[chosen]


def slide(truth: Truth, _: Sequence[str], __: Pipeline, key: str) -> Guess | None:
    """A number to slide to; it begins in the middle."""
    low, high = map(float, truth.span)
    step = 0.01 if high - low <= 1 else 0.1
    return st.slider(plain("lesson.your_value"), low, high, (low + high) / 2, step, key=key)


def number(truth: Truth, _: Sequence[str], __: Pipeline, key: str) -> Guess | None:
    """A whole number to be typed."""
    low, high = map(int, truth.span)
    return st.number_input(plain("lesson.your_number"), low, high, None, key=key, width=200)


def beans(truth: Truth, words: Sequence[str], _: Pipeline, key: str) -> Guess | None:
    """A hundred beans to be shared out in tens: each tap on a token gives it ten more."""
    kept = f"{key}.shared"
    shared: list[int] = st.session_state.get(kept, [])
    if len(shared) != len(words):  # they were given to another sentence
        shared = [0] * len(words)
    left = ALL_BEANS - sum(shared)

    def give(place: int) -> None:
        st.session_state[kept] = [count + HANDFUL * (i == place) for i, count in enumerate(shared)]

    st.caption(t("lesson.beans_left", left=left) if left else t("lesson.beans_all"))
    with st.container(horizontal=True, gap="small"):
        for place, (name, count) in enumerate(zip(told_apart(words), shared, strict=True)):
            label = f"{name} :orange[**{count}**]" if count else name
            st.button(label, key=f"{key}.{place}", on_click=give, args=(place,), disabled=not left, width="content")
    if any(shared):
        take_back = {"on_click": st.session_state.pop, "args": (kept, None)}
        st.button(plain("lesson.beans_again"), key=f"{key}.back", type="tertiary", icon=":material/undo:", **take_back)
    return None if left else shared


GESTURES: dict[str, Gesture] = {
    "word": word, "tap": tap, "same": tap, "slide": slide, "number": number, "beans": beans,
}  # fmt: skip
