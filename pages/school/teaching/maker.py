"""Make a lesson: a teacher adds questions and views of pages; the link holds the lesson."""

from dataclasses import replace
from typing import Any

import streamlit as st

from model.analysis import placed
from pages.drawing.screen import Screen
from pages.drawing.text import joined, literal, plain, t, texts_of
from pages.school.lessons.lesson import LESSONS, Lesson
from pages.school.lessons.wording import called, local, shortened, title_of
from pages.school.lessons.written import (
    MOST_ASK,
    MOST_MINUTES,
    MOST_WHY,
    OPTIONS,
    OWN,
    OWN_GESTURES,
    VIEWS,
    LessonError,
    lesson_from_code,
    lesson_to_code,
    opened_at,
    own_lesson,
    place_of,
    width,
)
from pages.school.questions import QUESTIONS
from pages.school.questions.case import NEAR, Case
from pages.school.questions.pictures import has_picture
from pages.school.questions.question import Own, Question
from pages.school.teaching.asked import not_the_runs
from pages.school.teaching.cases import case_of, not_asked, truth_here, unasked
from pages.screen.frame.pickers import LASTING, lasted, lasting, set_lasting
from pages.screen.link import chosen, select

#: Session state: why the last action failed, until shown.
REFUSED = "lesson.refused"
MINE = "mine"  # entry for a question in her own words
USUAL_MINUTES = 3
USUAL = {"number": (0, 10, None, 0), "slide": (0.0, 1.0, None, NEAR)}  # least, largest, right number, tolerance
EDITED = "lesson.edited"  # session state: index of the question being edited
KEPT = "kept"  # entry for the place that it has
NEW = "lesson.new."  # key prefix of the boxes for a new question
#: Pages whose picture shows one head and one row for a question in her own words.
OF_A_HEAD = "queries_keys_values", "attention", "heads"
OF_A_ROW = "queries_keys_values", "attention", "layers", "answer"
text, word = texts_of("lesson")


def make_a_lesson(screen: Screen, lesson: Lesson) -> None:
    """Collapsed by default: the editor of a lesson. Each change goes into the choice, so into the link."""
    with st.expander(word("make"), icon=":material/edit_note:", **lasting("lesson.maker", False)) as box:
        if not box.open:
            return
        st.markdown(text("maker.how"))
        if refused := st.session_state.pop(REFUSED, None):
            st.warning(text(f"error.{refused.reason}", **refused.values), icon=":material/error:")
        if lesson.name == OWN:
            _held(screen, lesson)
        else:
            look = {"icon": ":material/content_copy:", "key": "lesson.copy", "on_click": _keep}
            st.button(word("maker.copy", title=title_of(lesson)), args=(_copy(lesson),), **look)
        _add(screen, lesson)


def _held(screen: Screen, lesson: Lesson) -> None:
    """The title, and each question with its place and buttons: move up, edit, remove."""
    st.text_input(word("maker.title"), lesson.title, key="lesson.title", on_change=_entitle)
    for number, question in enumerate(lesson.questions):
        with st.container(horizontal=True, vertical_alignment="center", key=f"lesson_row_{number}"):
            place = f" · {literal(_view(screen, question))}" if question.place else ""
            minutes = text("minutes_short", minutes=question.minutes)
            left_out = "" if truth_here(screen, question) else f"  \n:gray[{not_asked(screen, [question])}]"
            if lacks := unasked(question):
                left_out = f"  \n:orange[{t(f'class.{lacks}', names=literal(shortened(called(question))))}]"
            said = f"{number + 1}. {literal(called(question))} · {minutes}{place}{left_out}"
            st.markdown(said, width="stretch")
            acts = {"up": ("arrow_upward", _raise), "edit": ("edit", _edit), "remove": ("close", _remove)}
            for name, (icon, act) in acts.items():
                look: dict[str, Any] = {"icon": f":material/{icon}:", "type": "tertiary", "help": word(f"maker.{name}")}
                look["disabled"] = name == "up" and not number
                st.button(look["help"], key=f"icon.{name}.{number}", on_click=act, args=(number,), **look)


def _view(screen: Screen, question: Question) -> str:
    """What a question at a place is about: page, and layer, head and row if its picture shows one; for her own words
    also the sentence.
    """
    name, values = opened_at(question.place)
    ours, case = question.measure is not None, case_of(screen, question)
    layer, head = (values.get(one, -1) if ours or name in OF_A_HEAD else -1 for one in ("layer", "head"))
    said = [*filter(None, (plain(f"{name}.title"), screen.at.where((layer, head))))]
    if case and case.trace.ids:
        if ours or name in OF_A_ROW:
            said.append(word("maker.row", token=placed(case.tokens)[case.token]))
        if not ours:
            said.append(plain("common.quoted", token=shortened(" ".join(case.tokens[1:-1]))))
    return " · ".join(said)


def _add(screen: Screen, lesson: Lesson) -> None:
    """Boxes for a question: its place, its words, and how it is answered."""
    edited = st.session_state.get(EDITED)
    if edited is not None and (lesson.name != OWN or edited >= len(lesson.questions)):
        edited = st.session_state[EDITED] = None
    st.markdown(f"**{word('maker.add') if edited is None else word('maker.edited', number=edited + 1)}**")
    titles = {"": word("maker.nowhere"), **{name: plain(f"{name}.title") for name in VIEWS}}
    if edited is not None and (before := lesson.questions[edited]).place:
        titles = {KEPT: _view(screen, before), **titles}
    look = {"format_func": titles.__getitem__, **lasting(NEW + "place", "", among=titles)}
    st.selectbox(word("maker.place"), list(titles), **look)
    view = st.empty()
    names = {MINE: word("maker.mine"), **{key: word(f"{key}.short") for key in QUESTIONS}}
    which = lasting(NEW + "which", MINE)
    row = st.selectbox(word("maker.which"), list(names), format_func=names.__getitem__, **which)
    asked = in_the_boxes()
    case = case_of(screen, asked) if row == MINE else None
    if asked.place:
        bare = "" if case is None or has_picture(asked.place, case) else text("maker.bare")
        view.caption(joined(f"{text('maker.view', view=_view(screen, asked))} {bare}"))
    if row == MINE:
        _own(asked, case)
    minutes = lasting(NEW + "minutes", USUAL_MINUTES)
    st.number_input(word("maker.minutes"), 1, MOST_MINUTES, width=160, **minutes)
    with st.container(horizontal=True):
        st.button(
            word("maker.put" if edited is None else "maker.replace"), on_click=_put, type="primary", key=NEW + "add"
        )
        if edited is not None:
            st.button(plain("streamlit.cancel"), on_click=_close, key=NEW + "cancel")


def _own(asked: Question, case: Case | None) -> None:
    """Boxes for a question in her own words, about its place in this run."""
    tokens = placed(case.tokens) if case else []
    _box("ask", MOST_ASK)
    ways = {name: word(f"maker.by_{name}") for name in OWN_GESTURES}
    by = lasting(NEW + "gesture", "tap")
    gesture = st.segmented_control(word("maker.by"), list(ways), format_func=ways.__getitem__, required=True, **by)
    if gesture == "tap":
        st.text_area(word("maker.options"), height=110, **lasting(NEW + "options", ""))
        if OPTIONS[0] <= len(tokens) <= OPTIONS[1]:
            fill = {NEW + "options": "\n".join(tokens)}
            st.button(word("maker.tokens"), key=NEW + "tokens", on_click=set_lasting, args=(fill,))
        if options := _options():
            look = {"format_func": local, **lasting(NEW + "answer", None, among=options)}
            answer = st.selectbox(word("maker.answer"), options, **look)
            st.caption(text("maker.unmarked") if answer is None else "")
    else:
        with st.container(horizontal=True):
            for name, value in zip(("from", "to", "answer", "near"), USUAL[gesture], strict=True):
                box = lasting(f"{NEW}{gesture}.{name}", value)
                st.number_input(word(f"maker.{name}"), step=1 if gesture == "number" else 0.1, width=150, **box)
    boxed = _written()
    if case and boxed and (said := not_the_runs(replace(boxed, place=asked.place), case)):
        st.warning(said, icon=":material/compare_arrows:")
    _box("why", MOST_WHY)


def _box(name: str, most: int) -> None:
    """A box for her words, without a limit, which would silently cut pasted text."""
    said = st.text_area(word(f"maker.{name}"), height=68, **lasting(NEW + name, "")).strip()
    if width(said) > most:
        st.warning(text("maker.long", n=width(said), most=most), icon=":material/format_size:")


def is_open() -> bool:
    """Whether the editor stands open at the foot of the tour."""
    return bool(lasted("lesson.maker", False) and lasted("lesson.teachers", True))


def in_the_boxes() -> Question:
    """The question in the boxes at its place, without its words."""
    row = lasted(NEW + "which", MINE)
    return _at_place(Question(OWN, None, "tap", 0.0, 1) if row == MINE else QUESTIONS[row], _mine())


# -- what a click does ---------------------------------------------------------------------------------------------


def _keep(lesson: Lesson) -> bool:
    """Choose this lesson, or keep the reason why not. Returns whether it is chosen."""
    try:
        code = lesson_to_code(lesson)
        lesson_from_code(code)
    except LessonError as error:
        st.session_state[REFUSED] = error
        return False
    select(lesson=code, question=None)
    return True


def _mine() -> Lesson:
    """Her current lesson, with a title typed just before the click; of one of ours, a copy."""
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
    _close()
    if left:
        _keep(own_lesson(left, mine.title))
    else:
        select(lesson=None, question=None)


def _raise(number: int) -> None:
    """Move a question up by one."""
    mine = _mine()
    questions = list(mine.questions)
    questions[number - 1 : number + 1] = questions[number], questions[number - 1]
    _close()
    _keep(own_lesson(questions, mine.title))


def _edit(number: int) -> None:
    """Open a question in the boxes, or close it unchanged if it is open."""
    if st.session_state.get(EDITED) == number:
        _close()
        return
    question = _mine().questions[number]
    st.session_state[EDITED] = number
    own, gesture = question.own or Own(""), question.gesture
    boxes = {"place": KEPT if question.place else "", "minutes": question.minutes}
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
    """Add the question, or replace the edited one; the first starts a lesson. The boxes are cleared only once it is
    accepted.
    """
    which, minutes = (st.session_state[NEW + name] for name in ("which", "minutes"))
    question = _written() if which == MINE else QUESTIONS[which]
    if question is None:
        st.session_state[REFUSED] = LessonError("empty")
        return
    mine, edited = _mine(), st.session_state.get(EDITED)
    question = _at_place(question, mine)
    questions, at = list(mine.questions), len(mine.questions) if edited is None else edited
    if at < len(questions) and question.measure and questions[at].row == question.row:
        question = replace(question, own=questions[at].own)
    questions[at : at + 1] = [replace(question, minutes=int(minutes))]
    if _keep(own_lesson(questions, mine.title)):
        _empty()


def _at_place(question: Question, lesson: Lesson) -> Question:
    """The question with its chosen place: the current page, or the place of the question being edited."""
    page, of_input = lasted(NEW + "place", ""), question.measure is None
    if page == KEPT:
        edited = st.session_state.get(EDITED)
        before = next((one for number, one in enumerate(lesson.questions) if number == edited), question)
        if (before.measure is None) == of_input:
            return replace(question, place=before.place)
        page = before.place.partition("?")[0]
    return replace(question, place=place_of(page, chosen(), of_input=of_input) if page else "")


def _close() -> None:
    """Close the edited question; a new one in the boxes stays."""
    if st.session_state.get(EDITED) is not None:
        _empty()


def _empty() -> None:
    """Clear the boxes for a new question."""
    st.session_state[EDITED] = None
    for name in [name for name in st.session_state[LASTING] if name.startswith(NEW)]:
        del st.session_state[LASTING][name]
        st.session_state.pop(name, None)


def _options() -> list[str]:
    """The options in their box."""
    lines = [line.strip() for line in st.session_state[NEW + "options"].splitlines()]
    return list(dict.fromkeys(filter(None, lines)))


def _written() -> Question | None:
    """The question in her own words from the boxes; None if it asks nothing."""

    def box(name: str) -> Any:
        return st.session_state.get(NEW + name)

    gesture = box("gesture")
    own = Own((box("ask") or "").strip(), (box("why") or "").strip())  # no boxes yet where two clicks meet
    if gesture == "tap":
        options, answer = _options(), box("answer")
        own = replace(own, options=tuple(options), answer=answer if answer in options else None)
    else:
        low, high, answer, near = (box(f"{gesture}.{name}") for name in ("from", "to", "answer", "near"))
        own = replace(own, span=(low, high), answer=answer, near=near)
    return Question(OWN, None, gesture, 0.0, USUAL_MINUTES, own=own) if own.ask else None
