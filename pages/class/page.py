"""The class page: the teacher's projector, her notes, and what members see."""

from dataclasses import replace
from functools import partial
from urllib.parse import urlencode

import streamlit as st

from model.analysis import as_read
from pages.drawing.page import Draw, Page
from pages.drawing.picture import kind_of
from pages.drawing.screen import Screen, open_screen
from pages.drawing.state.choice import OTHER, Choice
from pages.drawing.text import t, texts_of
from pages.school.classroom.questions import Shown, Told
from pages.school.classroom.store import UnavailableError, store
from pages.school.lessons.lesson import ENCODER, Lesson
from pages.school.lessons.wording import seen_at
from pages.school.lessons.written import LessonError
from pages.school.questions.case import Case, Truth
from pages.school.questions.question import Question
from pages.school.study.lesson import ROW
from pages.school.teaching import desk, notes, projector, start
from pages.school.teaching.asked import about, for_phones
from pages.school.teaching.cases import gapped, hidden_in, lesson_of, read_by, truth_here, unasked, with_a_gap
from pages.school.teaching.desk import Desk
from pages.school.teaching.lecture import Lecture
from pages.screen.components.kept import kept
from pages.screen.frame.contents import path_of
from pages.screen.frame.pen import Pen
from pages.screen.runs import pipelines

text, word = texts_of("class")


def begins(page: Page, choice: Choice) -> tuple[Page, Choice]:
    """Open the page with the lesson and the input of the class, whatever the reader has chosen since."""
    hers, unavailable = None, False
    try:
        hers = desk.desk(choice.of_class)
    except UnavailableError:
        unavailable = True
    anew = hers is not None and st.session_state.pop(desk.ANEW, None) == hers.room.version
    hers = hers.anew(choice) if hers and anew else hers
    about = hers.about(choice) if hers else choice
    drawn: Draw = partial(unavailable_or_start, unavailable, *lesson_of(about, ENCODER))
    if hers:
        drawn = partial(teach, choice, hers, lesson_of(about, ENCODER)[0], anew)
        page = replace(page, title=lambda screen: None)
    begun = about.with_(edits=(), shown="changed", **dict.fromkeys(OTHER.values()))
    return replace(page, tabs=lambda screen: {"": partial(known, drawn)}), begun


def known(drawn: Draw, screen: Screen, pen: Pen) -> None:
    """Draw the page once the browser has said whether the reader teaches the class."""
    known = screen.choice.of_class is None or desk.KEYS in st.session_state
    kept(desk.own(), st.session_state.get(desk.FORGOTTEN, ()), desk.hear, known=known)
    if known:
        drawn(screen, pen)


def say_problem(usual: str | None = None) -> None:
    """Show why an action failed, or else the usual message."""
    if problem := st.session_state.pop(desk.PROBLEM, usual):
        st.warning(text(problem), icon=":material/warning:")


def unavailable_or_start(
    unavailable: bool, lesson: Lesson, unread: LessonError | None, screen: Screen, pen: Pen
) -> None:
    """Show the start of a class; to members, their page; without a database, a message."""
    say_problem("unavailable" if unavailable else None)
    if unavailable:
        return
    if screen.choice.of_class:
        start.member(screen.choice.of_class)
        return
    st.markdown(text("start_help"))
    if unread:
        st.warning(t(f"lesson.error.{unread.reason}", **unread.values), icon=":material/broken_image:")
    clear, left_out = clear_here(screen, lesson)
    said = next((reads(question, case) for question, case, _ in clear.values()), "")
    start.draw(screen, lesson, said, [question for question, *_ in clear.values()], left_out)


def teach(own_choice: Choice, hers: Desk, lesson: Lesson, anew: bool, screen: Screen, pen: Pen) -> None:
    """Draw the class for its teacher: the projector or her notes. own_choice: the reader's own choice. anew: ask the
    next question, about an input that is new.
    """
    say_problem()
    clear, left_out = clear_here(screen, lesson)
    asked = store().asked(hers.code, hers.key)
    lecture = Lecture(screen, pen, own_choice, hers, lesson, clear, left_out, asked)
    if anew:
        st.session_state[projector.WANTED] = next(iter(lecture.coming), None), hers.room.version
    place, version = st.session_state.pop(projector.WANTED, (None, None))
    if version == hers.room.version:
        if place is None:
            st.session_state[desk.PROBLEM] = "none_follows"
        else:
            hers.ask(place, *to_phones(screen, *clear[place]))
        st.rerun()
    (notes if screen.choice.role == "notes" else projector).draw(lecture)


# -- the questions -----------------------------------------------------------------------------------------------------


def clear_here(screen: Screen, lesson: Lesson) -> tuple[dict[int, tuple[Question, Case, Truth]], list[Question]]:
    """Questions with a clear answer for this input, with run and answer, by index in the lesson; and the other
    questions.
    """
    found = {place: (one, truth_here(screen, one)) for place, one in enumerate(lesson.questions)}
    clear = {place: (one, *here) for place, (one, here) in found.items() if here and not unasked(one)}
    return clear, [one for place, (one, _) in found.items() if place not in clear]


def first_asked(choice: Choice) -> Choice:
    """The choice whose input and hidden words the first question of a new class reads; in a class, with a gap."""
    asked = [one for one in lesson_of(choice, ENCODER)[0].questions if not unasked(one)]
    if not choice.of_class and any(one.measure is None for one in asked):  # ours before hers may not be clear here
        screen = open_screen(choice.with_(edits=()), with_a_gap, source=pipelines)
        asked = [one for one in asked if truth_here(screen, one)]
    return gapped(choice) if choice.of_class or not asked else read_by(asked[0], choice)


def to_phones(screen: Screen, question: Question, case: Case, truth: Truth) -> tuple[Shown, Told]:
    """A question for phones, and its answer."""

    def there() -> tuple[Truth, str]:
        return (truth_here(screen, question) or (case, truth))[1], about(screen, question, case, truth)

    return for_phones(question, truth, there, reads(question, case), see(screen, question, truth))


def reads(question: Question, case: Case) -> str:
    """The input as the network of the question reads it, a translator without masks; "" for a drawing, or in a study,
    which has no input.
    """
    if kind_of(case.trace) != "words" or question.row == ROW:
        return ""
    return as_read(case.trace.tokens)


def see(screen: Screen, question: Question, truth: Truth) -> str:
    """Link on which a member can try it: the page, with the input, layer, head and token."""
    page, values = seen_at(question, truth)
    link = screen.choice.with_(tab=None, stage=None, big=False, role=None, lesson=None, hidden=hidden_in(screen))
    held = link.with_(**values).to_link()
    return f"{path_of(page)}?{urlencode({name: value for name, value in held.items() if name != 'lang'})}"


PAGE = Page(
    name="class",
    group="more",
    tabs=lambda screen: {},
    alone=False,
    asks=first_asked,
    reads=with_a_gap,
    begins=begins,
    ends=False,  # a class offers only its report for download
)
