"""How a question is answered by hand. Each gesture draws its widgets and returns the guess so far, or None.

Where the picture of its page stands behind its curtain, a tap there does what one on the widget does: `TAPS`.
"""

from collections.abc import Callable, Sequence

import streamlit as st

from model.pipeline import Pipeline, Reader, TextReader
from pages.school.lessons.case import Guess, Truth
from pages.ui.frame.pickers import told_apart
from pages.ui.text import plain, t

ALL_BEANS, HANDFUL = 100, 10
FEW = 12  # numbers that stand beside each other
#: What draws a gesture: (truth, what its options are called, the pipeline that reads the input, the widget's key).
Gesture = Callable[[Truth, Sequence[str], Pipeline, str], Guess | None]


def word(truth: Truth, _: Sequence[str], pipeline: Pipeline, key: str) -> Guess | None:
    """A word to be written, as the network's vocabulary has it; a sentence where it has no such word."""
    typed = st.text_input(plain("lesson.your_word"), key=key, max_chars=40, width=320).strip()
    reader = pipeline.reader
    found = typed_word(reader, key)
    if typed and found is None and isinstance(reader, TextReader):
        st.caption(t("lesson.not_a_word", size=f"{len(reader.vocabulary):,}"))
    return found


def typed_word(reader: Reader, key: str) -> str | None:
    """What stands in that box by now: a click may bring what was typed right before it. None: no word of the network's.

    key: of the box.
    """
    typed = st.session_state.get(key, "").strip()
    if not typed or not isinstance(reader, TextReader):
        return None
    pieces = reader.pieces(typed)
    return pieces[0] if len(pieces) == 1 and pieces != ["[UNK]"] else None


def tap(truth: Truth, words: Sequence[str], _: Pipeline, key: str) -> Guess | None:
    """One of the options to be tapped."""
    names = told_apart(words)
    chosen = st.pills(plain("lesson.your_choice"), range(len(words)), format_func=names.__getitem__, key=key)
    return None if chosen is None else truth.options[chosen]


def slide(truth: Truth, _: Sequence[str], __: Pipeline, key: str) -> Guess | None:
    """A number to slide to; it begins in the middle, which is no guess before it was moved."""
    low, high = map(float, truth.span)
    step, middle = 0.01 if high - low <= 1 else 0.1, (low + high) / 2
    value = st.slider(plain("lesson.your_value"), low, high, middle, step, key=key)
    return None if value == middle else value


def number(truth: Truth, _: Sequence[str], __: Pipeline, key: str) -> Guess | None:
    """A whole number to be typed, or, of a few, to be tapped."""
    low, high = map(int, truth.span)
    if high - low < FEW:
        return st.pills(plain("lesson.your_number"), range(low, high + 1), key=key)
    return st.number_input(plain("lesson.your_number"), low, high, None, key=key, width=200)


def beans(truth: Truth, words: Sequence[str], _: Pipeline, key: str) -> Guess | None:
    """A hundred beans to be shared out in tens: each tap on a token gives it ten more."""
    shared = shared_so_far(key, len(words))
    left = ALL_BEANS - sum(shared)
    st.caption(t("lesson.beans_left", left=left) if left else t("lesson.beans_all"))
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        for place, (name, count) in enumerate(zip(told_apart(words), shared, strict=True)):
            label = f"{name} :orange[**{count}**]" if count else name
            look = {"disabled": not left, "width": "content", "key": f"{key}.{place}"}
            st.button(label, on_click=_give, args=(key, len(words), place), **look)
        if any(shared):
            take_back = {"on_click": st.session_state.pop, "args": (f"{key}.shared", None), "width": "content"}
            st.button(
                plain("lesson.beans_again"), key=f"{key}.back", type="tertiary", icon=":material/undo:", **take_back
            )
    return None if left else shared


def shared_so_far(key: str, count: int) -> list[int]:
    """The beans that were given to each of so many tokens; none where they were given to another sentence."""
    shared: list[int] = st.session_state.get(f"{key}.shared", [])
    return shared if len(shared) == count else [0] * count


def _give(key: str, count: int, place: int) -> None:
    """Give a token ten beans more, as long as there are some."""
    shared = shared_so_far(key, count)
    if sum(shared) < ALL_BEANS:
        st.session_state[f"{key}.shared"] = [beans + HANDFUL * (i == place) for i, beans in enumerate(shared)]


def _choose(key: str, _: int, place: int) -> None:
    st.session_state[key] = place


#: What a tap on a picture does, by the gesture: (the widget's key, how many options there are, which was tapped).
TAPS: dict[str, Callable[[str, int, int], None]] = {"tap": _choose, "same": _choose, "beans": _give}
GESTURES: dict[str, Gesture] = {
    "word": word, "tap": tap, "same": tap, "slide": slide, "number": number, "beans": beans,
}  # fmt: skip
