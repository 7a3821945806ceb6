"""The lesson, alone: guess first, then see what the network does with one's own input."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st
from cachetools.keys import hashkey

from model.pipeline import SPECIAL_TOKENS
from pages.ui.lessons import truths
from pages.ui.lessons.asking import Asking, new_record, truth_for
from pages.ui.lessons.case import Case, Truth
from pages.ui.lessons.rows import ENCODER, END, following
from pages.ui.page import Page
from pages.ui.server.cache import digest
from pages.ui.state.choice import OTHER, Choice
from pages.ui.state.link import select
from pages.ui.text import literal, plain, texts_of

#: In the session: how far the visitor has come in the lesson, with this input.
STATE = "lesson"
text, word = texts_of("lesson")


class Lesson(Page):
    chips = False
    hides_words = True

    def __init__(self, choice: Choice) -> None:
        #: Whether the visitor has changed the network, which the lesson leaves as it is.
        self.changed_elsewhere = bool(choice.edits)
        super().__init__(choice.with_(edits=(), shown="changed", **dict.fromkeys(OTHER.values())))

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {"walk": self.walk}

    def tell(self) -> Sequence[str]:
        self.walk()
        return ()

    def fill(self) -> None:
        self.walk()
        if self.story and not self.choice.big:
            self._way_on(self._question)

    def at_its_end(self) -> bool:
        return self.choice.question == END

    def code(self) -> Sequence[object]:
        return (Case, *truths.TRUTHS.values())

    # -- what is asked, and how far one is ---------------------------------------------------------

    def _next(self, state: dict) -> tuple[str, Truth | None]:
        """The question to ask now, and its true answer: that of the link, or the next one that is clear here."""
        key, keys = self.choice.question, ENCODER.keys
        if key == END:
            return END, None
        key = key if key in keys else following(keys, state["done"])
        while key != END:
            if (truth := truth_for(self, ENCODER[key], self.case)) is not None:
                return key, truth
            state["left_out"] = list(dict.fromkeys([*state["left_out"], key]))
            key = following(keys, state["done"], key, state["left_out"])
        return END, None

    def _state(self) -> dict:
        """How far the visitor has come; with another input he begins anew."""
        run = hashkey(self.choice.pipeline, digest(self.subject), self.case.token)
        state = st.session_state.get(STATE)
        if state is None or state["run"] != run:
            state = {"run": run, "done": [], "left_out": [], "now": None}
        return state

    # -- what is drawn -----------------------------------------------------------------------------

    def walk(self) -> None:
        """One question: the gesture, or, once it is guessed or asked for, what the network does."""
        state = self._state()
        key, truth = self._next(state)
        if state["now"] != key:
            state |= {"now": key, "record": new_record(len(state["done"]))}
        st.session_state[STATE] = state
        if self.changed_elsewhere:
            st.info(text("as_it_is"), icon=":material/restart_alt:")
        if truth is None:
            self._end(state)
            return
        asking = Asking(self, ENCODER[key], self.case, truth, state["record"])
        self._heading(key, state)
        with st.container(border=True):
            if asking.record["over"]:
                asking.question_line()
                asking.verdict()
                asking.numbers()
                asking.see_it()
                self._onwards(key, asking.record["right"], state)
            else:
                asking.ask()
        self._left_out(state)

    def _heading(self, key: str, state: dict) -> None:
        """Which question this is, and the input as the network reads it."""
        again = any(key == done for done, _ in state["done"])
        number = ENCODER.keys.index(key) + 1
        line = text("about_again") if again else text("about", number=number, all=len(ENCODER.questions))
        st.caption(f"{text('titles.encoder')} · {line}")
        if self.kind == "words":
            pieces = [name for name in self.tokens if name == "[MASK]" or name not in SPECIAL_TOKENS]
            shown = [f"**{literal(name)}**" if name == "[MASK]" else literal(name) for name in pieces]
            st.markdown(f":gray[{text('reads')}] {' '.join(shown)}")
        else:
            st.caption(text("reads_picture", n=len(self.tokens)))

    def _onwards(self, key: str, right: bool, state: dict) -> None:
        done = [*state["done"], (key, right)]
        coming = following(ENCODER.keys, done, left_out=state["left_out"])
        label = word("onwards" if coming != END else "to_end")
        look = {"type": "primary", "icon": ":material/arrow_forward:", "key": "lesson.next"}
        st.button(label, on_click=go_on, args=(done, coming), **look)

    def _left_out(self, state: dict) -> None:
        if state["left_out"]:
            between = plain("common.comma")
            names = between.join(plain("common.quoted", token=word(f"{key}.short")) for key in state["left_out"])
            st.caption(text("left_out", names=names))

    def _end(self, state: dict) -> None:
        """What is behind the last question: all that was asked, to be asked once more."""
        asked = [key for key in ENCODER.keys if any(key == done for done, _ in state["done"])]
        st.markdown(f"##### {text('end_title')}")
        nothing = len(state["left_out"]) == len(ENCODER.questions)
        st.markdown(text("end_none" if nothing else "end"))
        if asked:
            st.caption(text("again"))
            with st.container(horizontal=True, gap="small"):
                for key in asked:
                    st.button(word(f"{key}.short"), key=f"lesson.{key}", on_click=ask_again, args=(key,))
        st.button(word("begin"), key="lesson.begin", type="primary", on_click=begin)
        self._left_out(state)


# -- what a click does ---------------------------------------------------------------------------------------------


def go_on(done: list[tuple[str, bool]], coming: str) -> None:
    st.session_state[STATE] |= {"done": done, "now": None}
    select(question=coming)


def ask_again(key: str) -> None:
    st.session_state[STATE]["now"] = None
    select(question=key)


def begin() -> None:
    st.session_state.pop(STATE, None)
    select(question=None)
