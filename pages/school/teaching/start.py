"""Before a class: choose its lesson and input; or return to a class."""

from collections.abc import Iterable, Sequence

import streamlit as st

from pages.drawing.screen import Screen
from pages.drawing.text import listed, literal, t, texts_of
from pages.school.classroom.door import BusyError
from pages.school.classroom.store import UnavailableError, UnknownClassError, store
from pages.school.lessons.lesson import LESSONS, Lesson
from pages.school.lessons.wording import called, title_of
from pages.school.questions.case import OWN
from pages.school.questions.question import Question
from pages.school.study.lesson import STUDY
from pages.school.teaching import cases, desk, follow
from pages.school.teaching.homework import chosen_task
from pages.screen.frame.navigation import open_with
from pages.screen.frame.pickers import bound, set_lasting
from pages.screen.link import select

text, word = texts_of("class")


def _which_lesson(screen: Screen, now: Lesson) -> None:
    """A list of lessons for this input, with a teacher's own if her link holds one."""
    ours = [*LESSONS.values(), STUDY]
    lessons = {one.name: one for one in ours if one.input in (None, screen.choice.input)} | {now.name: now}
    titles = {name: title_of(one) for name, one in lessons.items()}

    def choose(name: str) -> None:
        if name in lessons and name != OWN:
            select(lesson=name)

    look = bound("class.lesson", now.name, choose, anew=True, among=titles)
    st.selectbox(word("lesson"), list(titles), format_func=titles.__getitem__, width=420, **look)
    st.caption(t(f"lesson.abouts.{now.name}"))
    look = {"icon": ":material/edit_note:", "type": "tertiary", "key": "class.make"}
    st.button(word("make_lessons"), on_click=_make, **look)


def _make() -> None:
    """Open what the Tour has for teachers, which a presentation leaves out."""
    set_lasting({"lesson.teachers": True, "lesson.maker": True})
    open_with("lesson", big=False)


def draw(screen: Screen, lesson: Lesson, reads: str, clear: Sequence[Question], left_out: Sequence[Question]) -> None:
    """What a teacher decides, and needs to know, before the class joins. reads: what the first question reads."""
    _which_lesson(screen, lesson)
    if reads:
        st.markdown(f":gray[{t('lesson.reads')}] **{literal(reads)}**")
    if clear:
        st.markdown(text("will_ask", names=shorts_of(clear)))
    elif any(question.measure for question in left_out):  # another input may do
        st.markdown(t("lesson.end_none"))
    not_asked(screen, left_out)
    if clear:
        look = {"type": "primary", "icon": ":material/groups:", "key": "class.start"}
        st.button(word("start"), on_click=desk.begin, args=(screen.choice, chosen_task(screen.choice)), **look)
    _way_back()


def not_asked(screen: Screen, left_out: Sequence[Question]) -> None:
    """Names of the questions that the class is not asked, and why."""
    for why in ("", "no_answer_marked", "too_long"):
        if those := [one for one in left_out if cases.unasked(one) == why]:
            st.markdown(text(why, names=shorts_of(those)) if why else cases.not_asked(screen, those))


def shorts_of(questions: Iterable[Question]) -> str:
    """Questions by their names."""
    return listed(map(called, questions))


def _way_back() -> None:
    """Return to a class started here, or elsewhere with its key."""
    for code in desk.own():
        look = {"icon": ":material/login:", "key": f"class.back.{code}"}
        st.button(word("back", code=code), on_click=select, kwargs={"of_class": code}, **look)
    with st.expander(word("elsewhere"), icon=":material/key:"):
        st.text_input(word("key"), key="class.pass", type="password", max_chars=80)
        st.button(
            word("come_back"), key="class.come_back", on_click=lambda: desk.come_back(st.session_state["class.pass"])
        )


def member(code: str) -> None:
    """For a reader with the code of a class but not its key."""
    try:
        follow.room_of(store(), code)
    except (BusyError, UnavailableError, UnknownClassError):
        st.markdown(text("not_there"))
    else:
        st.markdown(text("member", code=code))
        st.link_button(word("to_join"), f"join?c={code}", icon=":material/how_to_vote:")
    st.button(
        word("leave"), type="tertiary", on_click=select, kwargs={"of_class": None, "role": None}, key="class.leave"
    )
    _way_back()
