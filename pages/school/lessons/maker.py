"""A teacher makes a lesson of her own: views of the pages and questions; she keeps it as a file, or as the link."""

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.school.lessons.lesson import Lesson
from pages.school.lessons.wording import called
from pages.school.lessons.written import (
    MOST_MINUTES,
    MOST_TEXT,
    MOST_TITLE,
    MOST_WORDS,
    OWN,
    OWN_GESTURES,
    VIEWS,
    LessonError,
    lesson_from_code,
    lesson_from_text,
    lesson_to_code,
    lesson_to_text,
    own_lesson,
    place_of,
)
from pages.school.questions import QUESTIONS
from pages.school.questions.question import Own, Question
from pages.ui.frame.pickers import lasting, set_lasting
from pages.ui.state.link import chosen, select
from pages.ui.text import literal, plain, texts_of

#: In the session: why what was wanted cannot be done, until it is said.
REFUSED = "lesson.refused"
MINE = "mine"  # in the list of questions: one in her own words
USUAL_MINUTES = 3
NEW = "lesson.new."  # so the boxes of one more question are called
WRITTEN = ("ask", "options", "why")  # those of them in which she writes
text, word = texts_of("lesson")


def make_a_lesson(lesson: Lesson) -> None:
    """Draw, closed at first, what a lesson is made with. A change of it is chosen, and so stands in the link."""
    with st.expander(word("make"), icon=":material/edit_note:", **lasting("lesson.maker", False)) as box:
        if not box.open:
            return
        st.markdown(text("make_how"))
        if refused := st.session_state.pop(REFUSED, None):
            st.warning(text(f"error_{refused.reason}", **refused.values), icon=":material/error:")
        if lesson.name == OWN:
            _held(lesson)
        _add()
        _files(lesson)


def _held(lesson: Lesson) -> None:
    """The title, and each question with its place and a button that takes it out."""
    st.text_input(word("make_title"), lesson.title, MOST_TITLE, key="lesson.title", on_change=_entitle)
    for number, question in enumerate(lesson.questions):
        with st.container(horizontal=True, vertical_alignment="center"):
            place = f" · {literal(question.place)}" if question.place else ""
            minutes = text("minutes_short", minutes=question.minutes)
            st.markdown(f"{number + 1}. {literal(called(question))} · {minutes}{place}", width="stretch")
            look: dict[str, Any] = {"icon": ":material/close:", "type": "tertiary"}
            st.button(word("make_remove"), key=f"lesson.remove.{number}", on_click=_remove, args=(number,), **look)


def _add() -> None:
    """What a question needs: where the class looks, what is asked, and how it is answered."""
    st.markdown(f"**{word('make_add')}**")
    now, titles = chosen(), {"": word("make_nowhere"), **{name: plain(f"{name}.title") for name in VIEWS}}
    here = {"layer": now.layer + 1, "head": now.head + 1}
    look: dict[str, Any] = {"format_func": titles.__getitem__, "help": text("make_place_help", **here)}
    st.selectbox(word("make_place"), list(titles), **look, **lasting(NEW + "place", ""))
    names = {MINE: word("make_mine"), **{key: word(f"{key}.short") for key in QUESTIONS}}
    which = lasting(NEW + "which", MINE)
    if st.selectbox(word("make_which"), list(names), format_func=names.__getitem__, **which) == MINE:
        _own()
    minutes = lasting(NEW + "minutes", USUAL_MINUTES)
    st.number_input(word("make_minutes"), 1, MOST_MINUTES, width=160, **minutes)
    st.button(word("make_put"), on_click=_append, type="primary", key=NEW + "add")


def _own() -> None:
    """The boxes of a question in her own words."""
    st.text_area(word("make_ask"), max_chars=MOST_WORDS, height=68, **lasting(NEW + "ask", ""))
    ways = {name: word(f"make_by_{name}") for name in OWN_GESTURES}
    by = lasting(NEW + "gesture", "tap")
    gesture = st.segmented_control(word("make_by"), list(ways), format_func=ways.__getitem__, required=True, **by)
    if gesture == "tap":
        st.text_area(word("make_options"), height=110, **lasting(NEW + "options", ""))
        if options := _options():
            st.selectbox(word("make_answer"), options, **lasting(NEW + "answer", None, among=options))
    else:
        whole = gesture == "number"
        with st.container(horizontal=True):
            for name, usual in (("from", 0), ("to", 10), ("answer", None), ("near", 0)):
                value = usual if whole or usual is None else float(usual)
                box = lasting(f"{NEW}{gesture}.{name}", value)
                st.number_input(word(f"make_{name}"), step=1 if whole else 0.1, width=150, **box)
    st.text_area(word("make_why"), max_chars=MOST_WORDS, height=68, **lasting(NEW + "why", ""))


def _files(lesson: Lesson) -> None:
    """The way to a file and back."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = f"{lesson.title or plain('lesson.short')}.json"
        save: dict[str, Any] = {
            "mime": "application/json",
            "icon": ":material/download:",
            "key": "lesson.save",
            "on_click": "ignore",
        }
        st.download_button(word("make_save"), lesson_to_text(lesson), name, **save)
        look: dict[str, Any] = {"type": ["json"], "key": "lesson.open", "on_change": _opened, "max_upload_size": 1}
        st.file_uploader(word("make_open"), **look)


# -- what a click does ---------------------------------------------------------------------------------------------


def _keep(lesson: Lesson) -> bool:
    """Choose this lesson; or say why not. Returns whether it is chosen."""
    try:
        code = lesson_to_code(lesson_from_text(lesson_to_text(lesson)))
    except LessonError as error:
        st.session_state[REFUSED] = error
        return False
    select(lesson=code, question=None)
    return True


def _mine() -> Lesson:
    """Her lesson as it is by now: a title that was typed just before a click reaches us together with it."""
    try:
        return lesson_from_code(chosen().lesson or "")
    except LessonError:
        return own_lesson([])


def _entitle() -> None:
    _keep(replace(_mine(), title=st.session_state["lesson.title"].strip()))


def _remove(number: int) -> None:
    mine = _mine()
    left = [question for place, question in enumerate(mine.questions) if place != number]
    if left:
        _keep(own_lesson(left, mine.title))
    else:
        select(lesson=None, question=None)


def _append() -> None:
    """A question more; the first one begins a lesson. What she wrote stands there until it is kept."""
    page, which, minutes = (st.session_state[NEW + name] for name in ("place", "which", "minutes"))
    question = _written() if which == MINE else QUESTIONS[which]
    if question is None:
        st.session_state[REFUSED] = LessonError("empty")
        return
    mine, place = _mine(), place_of(page, chosen()) if page else ""
    if _keep(own_lesson([*mine.questions, replace(question, place=place, minutes=int(minutes))], mine.title)):
        set_lasting({NEW + name: "" for name in WRITTEN} if question.own else {})  # there is room for the next


def _options() -> list[str]:
    """The answers to choose from, as they stand in their box."""
    lines = [line.strip() for line in st.session_state[NEW + "options"].splitlines()]
    return list(dict.fromkeys(filter(None, lines)))


def _written() -> Question | None:
    """The question in her own words as it stands in the boxes by now; None where it asks nothing."""

    def box(name: str) -> Any:
        return st.session_state.get(NEW + name)

    gesture = box("gesture")
    own = Own(box("ask").strip(), box("why").strip())
    if gesture == "tap":
        options, answer = _options(), box("answer")
        own = replace(own, options=tuple(options), answer=answer if answer in options else None)
    else:
        low, high, answer, near = (box(f"{gesture}.{name}") for name in ("from", "to", "answer", "near"))
        own = replace(own, span=(low, high), answer=answer, near=near)
    return Question(OWN, None, gesture, 0.0, USUAL_MINUTES, own=own) if own.ask else None


def _opened() -> None:
    """A file was handed over."""
    if (file := st.session_state.get("lesson.open")) is None:
        return
    try:
        _keep(lesson_from_text(file.getvalue()[: 4 * MOST_TEXT + 1].decode("utf-8-sig")))
    except UnicodeDecodeError:
        st.session_state[REFUSED] = LessonError("file")
    except LessonError as error:
        st.session_state[REFUSED] = error
