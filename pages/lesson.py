"""A lesson, alone: guess first, then see what the network does with one's own input."""

from collections.abc import Callable, Hashable, Mapping, Sequence

import streamlit as st
from cachetools.keys import hashkey

from model.pipeline import SPECIAL_TOKENS, Reading
from pages.school.lessons import truths
from pages.school.lessons.asking import Asking, called, new_record
from pages.school.lessons.case import Case, Truth
from pages.school.lessons.maker import make_a_lesson
from pages.school.lessons.rows import ENCODER, END, LESSONS, following
from pages.school.teaching.cases import lesson_of, truth_here, usual_case, with_a_gap
from pages.school.teaching.homework import homework
from pages.school.teaching.paper import on_paper, title_of
from pages.ui.frame.pickers import bound
from pages.ui.page import Page
from pages.ui.server.cache import digest
from pages.ui.state.choice import OTHER, Choice
from pages.ui.state.link import select
from pages.ui.text import joined, listed, literal, texts_of

#: In the session: how far the visitor has come in the lesson, with this input.
STATE = "lesson"
#: What is chosen where a lesson is about another kind of input.
WANTED = {kind: {"input": kind, "output": None, "against": None, "question": None} for kind in ("digit", "sentence")}
text, word = texts_of("lesson")


class Lesson(Page):
    chips = False

    def __init__(self, choice: Choice) -> None:
        #: Whether the visitor has changed the network, which the lesson leaves as it is.
        self.changed_elsewhere = bool(choice.edits)
        #: Which lesson, and why not the one that the link holds, if so.
        self.lesson, self.unread = lesson_of(choice)
        super().__init__(choice.with_(edits=(), shown="changed", **dict.fromkeys(OTHER.values())))

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {"walk": self.walk}

    def reads(self, choice: Choice, typed: Reading) -> Hashable | None:
        return with_a_gap(choice, typed)

    def fill(self) -> None:
        self.walk()
        if not self.choice.big:
            make_a_lesson(self.lesson)
            homework(self)
            on_paper(self, self.lesson)

    def code(self) -> Sequence[object]:
        return (Case, *truths.TRUTHS.values())

    # -- what is asked, and how far one is ---------------------------------------------------------

    def _next(self, state: dict) -> tuple[str, Case | None, Truth | None]:
        """The question to ask now, its run, and its true answer: that of the link, or the next that is clear here."""
        key, keys = self.choice.question, self.lesson.keys
        if key == END:
            return END, None, None
        key = key if key in keys else following(keys, state["done"], left_out=self._passed_over(state))
        while key != END:
            if here := truth_here(self, self.lesson[key]):
                return key, *here
            state["left_out"] = list(dict.fromkeys([*state["left_out"], key]))
            key = following(keys, state["done"], key, self._passed_over(state))
        return END, None, None

    def _passed_over(self, state: dict) -> list[str]:
        """What is not asked: what cannot be, and what was found on its page."""
        return [key for key in self.lesson.keys if key in state["left_out"]]

    def _state(self) -> dict:
        """How far the visitor has come; with another input, or in another lesson, he begins anew."""
        run = hashkey(self.choice.pipeline, digest(self.subject), usual_case(self).token, self.choice.lesson)
        state = st.session_state.get(STATE)
        if state is None or state["run"] != run:
            state = {"run": run, "done": [], "left_out": [], "now": None}
        return state

    # -- what is drawn -----------------------------------------------------------------------------

    def walk(self) -> None:
        """One question: the gesture, or, once it is guessed or asked for, what the network does."""
        state = self._state()
        key, case, truth = self._next(state)
        if state["now"] != key:
            state |= {"now": key, "record": new_record(len(state["done"]))}
        st.session_state[STATE] = state
        if self.changed_elsewhere:
            st.info(text("as_it_is"), icon=":material/restart_alt:")
        if self.unread:
            st.warning(text(f"error_{self.unread.reason}", **self.unread.values), icon=":material/broken_image:")
        self._which(key, state)
        if self.lesson.input not in (None, self.choice.input):
            st.info(text(f"wants_{self.lesson.input}"), icon=":material/swap_horiz:")
            look = {"key": "lesson.wanted", "on_click": select, "kwargs": WANTED[self.lesson.input]}
            st.button(word(f"take_{self.lesson.input}"), **look)
        if case is None or truth is None:
            self._end(state)
            return
        asking = Asking(self, self.lesson[key], case, truth, state["record"])
        self._heading()
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

    def _which(self, key: str, state: dict) -> None:
        """A list of lessons, one of which is taught; what that is about, and which question this is."""
        now, said = self.lesson.name, []
        if not state["done"]:
            said += [text(f"abouts.{now}"), text("minutes", minutes=self.lesson.minutes)]
        asked = [one for one in self.lesson.keys if one == key or one not in self._passed_over(state)]
        if any(key == done for done, _ in state["done"]):
            said.append(text("about_again"))
        elif key != END:
            said.append(text("about", number=asked.index(key) + 1, all=len(asked)))
        titles = {name: title_of(one) for name, one in (LESSONS | {now: self.lesson}).items()}

        def choose(name: str) -> None:
            if name in LESSONS:
                st.session_state.pop(STATE, None)
                select(lesson=None if name == ENCODER.name else name, question=None)

        with st.container(horizontal=True, vertical_alignment="center"):
            look = bound("lesson.which", now, choose, anew=True, among=titles)
            look |= {"label_visibility": "collapsed", "width": 340}
            st.selectbox(word("which"), list(titles), format_func=titles.__getitem__, **look)
            st.caption(joined(" ".join(said)), width="content")

    def _heading(self) -> None:
        """The input as the network reads it."""
        if self.kind == "words":
            pieces = [name for name in self.tokens if name == "[MASK]" or name not in SPECIAL_TOKENS]
            shown = [f"**{literal(name)}**" if name == "[MASK]" else literal(name) for name in pieces]
            st.markdown(f":gray[{text('reads')}] {' '.join(shown)}")
        else:
            st.caption(text("reads_picture", n=len(self.tokens)))

    def _onwards(self, key: str, right: bool, state: dict) -> None:
        done = [*state["done"], (key, right)]
        coming = following(self.lesson.keys, done, left_out=self._passed_over(state))
        label = word("onwards" if coming != END else "to_end")
        look = {"type": "primary", "icon": ":material/arrow_forward:", "key": "lesson.next"}
        st.button(label, on_click=go_on, args=(done, coming), **look)

    def _left_out(self, state: dict) -> None:
        if keys := state["left_out"]:
            st.caption(text("left_out", names=listed(called(self.lesson[key]) for key in keys)))

    def _end(self, state: dict) -> None:
        """What is behind the last question: all that was asked, to be asked once more."""
        asked = [key for key in self.lesson.keys if any(key == done for done, _ in state["done"])]
        st.markdown(f"##### {text('end_title')}")
        nothing = len(state["left_out"]) == len(self.lesson.questions)
        st.markdown(text("end_none" if nothing else "end"))
        if asked:
            st.caption(text("again"))
            with st.container(horizontal=True, gap="small"):
                for key in asked:
                    look = {"key": f"lesson.{key}", "on_click": ask_again, "args": (key,)}
                    st.button(literal(called(self.lesson[key])), **look)
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
