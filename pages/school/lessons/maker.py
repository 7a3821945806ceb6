"""A teacher makes a lesson of her own: views of the pages and questions; the link holds it."""

from dataclasses import replace
from typing import Any

import streamlit as st

from pages.school.lessons.lesson import LESSONS, Lesson
from pages.school.lessons.wording import called, local, title_of
from pages.school.lessons.written import (
    MOST_MINUTES,
    MOST_TITLE,
    MOST_WORDS,
    OWN,
    OWN_GESTURES,
    VIEWS,
    LessonError,
    lesson_from_code,
    lesson_to_code,
    opened_at,
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
EDITED = "lesson.edited"  # in the session: the place of the question that stands in the boxes
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
        else:
            look: dict[str, Any] = {"icon": ":material/content_copy:", "key": "lesson.copy", "on_click": _keep}
            st.button(word("make_copy", title=title_of(lesson)), args=(_copy(lesson),), **look)
        _add(lesson)


def _held(lesson: Lesson) -> None:
    """The title, and each question with its place and buttons: move it up, edit it, take it out."""
    st.text_input(word("make_title"), lesson.title, MOST_TITLE, key="lesson.title", on_change=_entitle)
    for number, question in enumerate(lesson.questions):
        with st.container(horizontal=True, vertical_alignment="center"):
            place = f" · {_view(question.place)}" if question.place else ""
            minutes = text("minutes_short", minutes=question.minutes)
            st.markdown(f"{number + 1}. {literal(called(question))} · {minutes}{place}", width="stretch")
            acts = {"up": ("arrow_upward", _raise), "edit": ("edit", _edit), "remove": ("close", _remove)}
            for name, (icon, act) in acts.items():
                look: dict[str, Any] = {"icon": f":material/{icon}:", "type": "tertiary", "help": word(f"make_{name}")}
                look["disabled"] = name == "up" and not number
                st.button("", key=f"lesson.{name}.{number}", on_click=act, args=(number,), **look)


def _view(place: str) -> str:
    """What a place is called: its page, with layer and head where it names them."""
    page, values = opened_at(place)
    at = [str(values[name] + 1) for name in ("layer", "head") if name in values]
    return " ".join([plain(f"{page}.title"), "·".join(at)]).strip()


def _add(lesson: Lesson) -> None:
    """What a question needs: where the class looks, what is asked, and how it is answered."""
    edited = st.session_state.get(EDITED)
    if edited is not None and (lesson.name != OWN or edited >= len(lesson.questions)):
        edited = st.session_state[EDITED] = None
    st.markdown(f"**{word('make_add') if edited is None else word('make_edited', number=edited + 1)}**")
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
    st.button(word("make_put" if edited is None else "make_replace"), on_click=_put, type="primary", key=NEW + "add")


def _own() -> None:
    """The boxes of a question in her own words."""
    st.text_area(word("make_ask"), max_chars=MOST_WORDS, height=68, **lasting(NEW + "ask", ""))
    ways = {name: word(f"make_by_{name}") for name in OWN_GESTURES}
    by = lasting(NEW + "gesture", "tap")
    gesture = st.segmented_control(word("make_by"), list(ways), format_func=ways.__getitem__, required=True, **by)
    if gesture == "tap":
        st.text_area(word("make_options"), height=110, **lasting(NEW + "options", ""))
        if options := _options():
            look: dict[str, Any] = {"format_func": local, **lasting(NEW + "answer", None, among=options)}
            answer = st.selectbox(word("make_answer"), options, **look)
            st.caption(text("make_unmarked") if answer is None else "")
    else:
        whole = gesture == "number"
        with st.container(horizontal=True):
            for name, usual in (("from", 0), ("to", 10), ("answer", None), ("near", 0)):
                value = usual if whole or usual is None else float(usual)
                box = lasting(f"{NEW}{gesture}.{name}", value)
                st.number_input(word(f"make_{name}"), step=1 if whole else 0.1, width=150, **box)
    st.text_area(word("make_why"), max_chars=MOST_WORDS, height=68, **lasting(NEW + "why", ""))


# -- what a click does ---------------------------------------------------------------------------------------------


def _keep(lesson: Lesson) -> bool:
    """Choose this lesson; or say why not. Returns whether it is chosen."""
    try:
        code = lesson_to_code(lesson)
        lesson_from_code(code)
    except LessonError as error:
        st.session_state[REFUSED] = error
        return False
    select(lesson=code, question=None)
    return True


def _mine() -> Lesson:
    """Her lesson as it is by now: a title that was typed just before a click reaches us together with it. Of ours, a
    copy.
    """
    held = chosen().lesson or ""
    if held in LESSONS:
        return _copy(LESSONS[held])
    try:
        return lesson_from_code(held)
    except LessonError:
        return own_lesson([])


def _copy(lesson: Lesson) -> Lesson:
    return own_lesson(list(lesson.questions), title_of(lesson))


def _entitle() -> None:
    _keep(replace(_mine(), title=st.session_state["lesson.title"].strip()))


def _remove(number: int) -> None:
    mine = _mine()
    left = [question for place, question in enumerate(mine.questions) if place != number]
    st.session_state[EDITED] = None
    if left:
        _keep(own_lesson(left, mine.title))
    else:
        select(lesson=None, question=None)


def _raise(number: int) -> None:
    """Let a question change places with the one before it."""
    mine = _mine()
    questions = list(mine.questions)
    questions[number - 1 : number + 1] = questions[number], questions[number - 1]
    st.session_state[EDITED] = None
    _keep(own_lesson(questions, mine.title))


def _edit(number: int) -> None:
    """Open a question in the boxes; close it again, as it was, if it is there already."""
    if st.session_state.get(EDITED) == number:
        st.session_state[EDITED] = None
        return
    question = _mine().questions[number]
    st.session_state[EDITED] = number
    own, gesture = question.own or Own(""), question.gesture
    boxes: dict[str, Any] = {"place": question.place.partition("?")[0], "minutes": question.minutes}
    boxes |= {"which": question.row if question.measure else MINE}
    if not question.measure:
        boxes |= {"ask": own.ask, "why": own.why, "gesture": gesture}
        if gesture == "tap":
            boxes |= {"options": "\n".join(own.options), "answer": own.answer}
        else:
            values = {"from": own.span[0], "to": own.span[1], "answer": own.answer, "near": own.near}
            number_of = int if gesture == "number" else float
            boxes |= {f"{gesture}.{name}": None if v is None else number_of(v) for name, v in values.items()}  # type: ignore[arg-type]
    set_lasting({NEW + name: value for name, value in boxes.items()})


def _put() -> None:
    """A question more, or in the place of the one that is edited; the first one begins a lesson. What she wrote stands
    there until it is kept.
    """
    page, which, minutes = (st.session_state[NEW + name] for name in ("place", "which", "minutes"))
    question = _written() if which == MINE else QUESTIONS[which]
    if question is None:
        st.session_state[REFUSED] = LessonError("empty")
        return
    mine, edited = _mine(), st.session_state.get(EDITED)
    place = place_of(page, chosen(), of_input=question.measure is None) if page else ""
    questions, at = list(mine.questions), len(mine.questions) if edited is None else edited
    if at < len(questions):
        before = questions[at]
        place = before.place if before.place.partition("?")[0] == page else place
        question = replace(question, own=before.own) if question.measure and before.row == question.row else question
    questions[at : at + 1] = [replace(question, place=place, minutes=int(minutes))]
    if _keep(own_lesson(questions, mine.title)):
        st.session_state[EDITED] = None
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
