"""Before there is a class: which lesson, about which input, how long; and the way back into one."""

from collections.abc import Iterable, Sequence
from typing import Any

import streamlit as st

from pages.ui.lessons.rows import LESSONS, Lesson
from pages.ui.page import Page
from pages.ui.state.link import select
from pages.ui.teaching import desk
from pages.ui.teaching.desk import MINUTES, Plan
from pages.ui.text import plain, t, texts_of

text, word = texts_of("class")


def which_lesson(page: Page) -> Lesson:
    """The lesson that is to be taught, of those about such an input; drawn as a list to choose from."""
    kind = page.choice.input
    lessons = {name: lesson for name, lesson in LESSONS.items() if lesson.input in (None, kind)}
    named = {name: plain(f"lesson.titles.{name}") for name in lessons}
    look: dict[str, Any] = {"format_func": named.__getitem__, "key": f"class.lesson.{kind}", "width": 420}
    return lessons[st.selectbox(word("lesson"), list(lessons), **look)]


def draw(page: Page, lesson: Lesson, clear: Sequence[str], left_out: Sequence[str]) -> None:
    """What a teacher is told, and decides, before the class comes in."""
    if page.kind == "words":
        st.markdown(f":gray[{t('lesson.reads')}] **{' '.join(page.tokens[1:-1])}**")
    st.caption(t(f"lesson.abouts.{lesson.name}"))
    minutes = st.number_input(word("minutes"), 5, 180, MINUTES, 5, key="class.minutes", width=220)
    st.markdown(text("will_ask", names=names_of(clear)) if clear else t("lesson.end_none"))
    if left_out:
        st.caption(t("lesson.left_out", names=names_of(left_out)))
    plan = Plan.of(lesson.name, int(minutes), page.choice)
    look = {"type": "primary", "icon": ":material/groups:", "key": "class.start", "disabled": not clear}
    st.button(word("start"), on_click=desk.begin, args=(plan,), **look)
    _way_back()


def names_of(keys: Sequence[str]) -> str:
    """Questions by their names."""
    return quoted_names(plain(f"lesson.{key}.short") for key in keys)


def quoted_names(names: Iterable[str]) -> str:
    """“one”, “two”"""
    return plain("common.comma").join(plain("common.quoted", token=name) for name in names)


def _way_back() -> None:
    """Back to a class that was begun here, or, with its key, elsewhere."""
    for code in desk.own():
        look = {"icon": ":material/login:", "key": f"class.back.{code}"}
        st.button(word("back", code=code), on_click=select, kwargs={"of_class": code}, **look)
    with st.expander(word("elsewhere"), icon=":material/key:"):
        typed = st.text_input(word("key"), key="class.pass", type="password", max_chars=80)
        st.button(word("come_back"), key="class.come_back", disabled=not typed, on_click=desk.come_back, args=(typed,))


def member(code: str) -> None:
    """For whoever has the class's code and not its key."""
    st.markdown(text("member", code=code))
    st.link_button(word("to_join"), f"join?c={code}", icon=":material/how_to_vote:")
    leave = {"on_click": select, "kwargs": {"of_class": None, "role": None}, "key": "class.leave"}
    st.button(word("leave"), type="tertiary", **leave)
    _way_back()
