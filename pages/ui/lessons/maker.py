"""A teacher makes a lesson of her own: views of the pages and questions; she keeps it as a file, or as the link."""

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.ui.lessons.asking import called
from pages.ui.lessons.rows import QUESTIONS, Lesson, Own, Question
from pages.ui.lessons.written import (
    MOST_MINUTES,
    MOST_TEXT,
    MOST_TITLE,
    MOST_WORDS,
    OWN,
    OWN_GESTURES,
    VIEWS,
    LessonError,
    lesson_from_text,
    lesson_to_code,
    lesson_to_text,
    own_lesson,
    place_of,
)
from pages.ui.state.link import chosen, select
from pages.ui.text import literal, plain, texts_of

#: In the session: why what was wanted cannot be done, until it is said.
REFUSED = "lesson.refused"
MINE = "mine"  # in the list of questions: one in her own words
USUAL_MINUTES = 3
text, word = texts_of("lesson")


def make_a_lesson(lesson: Lesson) -> None:
    """Draw, closed at first, what a lesson is made with. A change of it is chosen, and so stands in the link."""
    look = {"icon": ":material/edit_note:", "key": "lesson.maker", "on_change": "rerun"}
    with st.expander(word("make"), **look) as box:
        if not box.open:
            return
        st.markdown(text("make_how"))
        if refused := st.session_state.pop(REFUSED, None):
            st.warning(text(f"error_{refused.reason}", **refused.values), icon=":material/error:")
        if lesson.name == OWN:
            _held(lesson)
        _add(lesson)
        _files(lesson)


def _held(lesson: Lesson) -> None:
    """The title, and each question with its place and a button that takes it out."""
    st.text_input(word("make_title"), lesson.title, MOST_TITLE, key="lesson.title", on_change=_entitle, args=(lesson,))
    for number, question in enumerate(lesson.questions):
        with st.container(horizontal=True, vertical_alignment="center"):
            place = f" · {literal(question.place)}" if question.place else ""
            minutes = text("minutes_short", minutes=question.minutes)
            st.markdown(f"{number + 1}. {literal(called(question))} · {minutes}{place}", width="stretch")
            look: dict[str, Any] = {"icon": ":material/close:", "type": "tertiary"}
            st.button(
                word("make_remove"), key=f"lesson.remove.{number}", on_click=_remove, args=(lesson, number), **look
            )


def _add(lesson: Lesson) -> None:
    """What a question needs: where the class looks, what is asked, and how it is answered."""
    st.markdown(f"**{word('make_add')}**")
    now, titles = chosen(), {"": word("make_nowhere"), **{name: plain(f"{name}.title") for name in VIEWS}}
    here = {"layer": now.layer + 1, "head": now.head + 1}
    look: dict[str, Any] = {"format_func": titles.__getitem__, "help": text("make_place_help", **here)}
    page = st.selectbox(word("make_place"), list(titles), key="lesson.new.place", **look)
    names = {MINE: word("make_mine"), **{key: word(f"{key}.short") for key in QUESTIONS}}
    which = st.selectbox(word("make_which"), list(names), format_func=names.__getitem__, key="lesson.new.which")
    own = _own() if which == MINE else None
    minutes = st.number_input(word("make_minutes"), 1, MOST_MINUTES, USUAL_MINUTES, key="lesson.new.minutes", width=160)
    question = own or QUESTIONS.get(which)
    look = {"type": "primary", "key": "lesson.new.add", "disabled": question is None}
    st.button(word("make_put"), on_click=_append, args=(lesson, question, page, int(minutes)), **look)


def _own() -> Question | None:
    """A question in her own words; None as long as something is missing."""
    ask = st.text_area(word("make_ask"), max_chars=MOST_WORDS, height=68, key="lesson.new.ask").strip()
    ways = {name: word(f"make_by_{name}") for name in OWN_GESTURES}
    look: dict[str, Any] = {"default": "tap", "required": True, "key": "lesson.new.gesture"}
    gesture = st.segmented_control(word("make_by"), list(ways), format_func=ways.__getitem__, **look)
    own = Own(ask)
    if gesture == "tap":
        lines = st.text_area(word("make_options"), height=110, key="lesson.new.options").splitlines()
        options = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
        answer = st.selectbox(word("make_answer"), options, None, key="lesson.new.answer") if options else None
        own = replace(own, options=options, answer=answer)
    else:
        with st.container(horizontal=True):
            step = 1 if gesture == "number" else 0.1

            def box(name: str, value: float | None) -> Any:
                look: dict[str, Any] = {"step": step, "key": f"lesson.new.{gesture}.{name}", "width": 150}
                return st.number_input(word(f"make_{name}"), value=value, **look)

            low, high = box("from", 0 * step), box("to", 10 * step)
            answer, near = box("answer", None), box("near", 0 * step)
        own = replace(own, span=(low, high), answer=answer, near=near)
    why = st.text_area(word("make_why"), max_chars=MOST_WORDS, height=68, key="lesson.new.why").strip()
    return Question(OWN, None, str(gesture), 0.0, USUAL_MINUTES, own=replace(own, why=why)) if ask else None


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


def _keep(lesson: Lesson) -> None:
    """Choose this lesson; or say why not."""
    try:
        code = lesson_to_code(lesson_from_text(lesson_to_text(lesson)))
    except LessonError as error:
        st.session_state[REFUSED] = error
    else:
        select(lesson=code, question=None)


def _entitle(lesson: Lesson) -> None:
    _keep(replace(lesson, title=st.session_state["lesson.title"].strip()))


def _remove(lesson: Lesson, number: int) -> None:
    left = [question for place, question in enumerate(lesson.questions) if place != number]
    if left:
        _keep(own_lesson(left, lesson.title))
    else:
        select(lesson=None, question=None)


def _append(lesson: Lesson, question: Question, page: str, minutes: int) -> None:
    """A question more; the first one begins a lesson."""
    held = list(lesson.questions) if lesson.name == OWN else []
    place = place_of(page, chosen()) if page else ""
    if question.own:  # there is room for the next
        st.session_state.update(dict.fromkeys(("lesson.new.ask", "lesson.new.options", "lesson.new.why"), ""))
    _keep(own_lesson([*held, replace(question, place=place, minutes=minutes)], lesson.title))


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
