"""What the class answered, and what the network does: the phases in which there is a picture, and the talk."""

from math import ceil
from textwrap import wrap

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.drawing.figures.base import text_width
from pages.drawing.figures.theme import font_size, letters
from pages.drawing.picture import Picture
from pages.drawing.text import joined, language, literal, plain, t, texts_of
from pages.school.classroom.phases import Phase
from pages.school.classroom.questions import Shown
from pages.school.lessons.wording import heading_and_rest, hints, otherwise, seen_at
from pages.school.lessons.written import width
from pages.school.questions.pictures import Look, answer_bars
from pages.school.teaching import pictures
from pages.school.teaching.cases import hidden_in
from pages.school.teaching.desk import INPUT
from pages.school.teaching.lecture import Lecture
from pages.screen.components.chart import chart
from pages.screen.frame.navigation import open_with

#: In the session: how many hints were shown, and whether the words, of which question.
HINTS, WORDS = "class.hints_of", "class.words_of"
A_ROW, MARGIN = 21, 16  # in a presentation, in pixels: the least of a row of a picture, and what stays free below it
ROOM_TO_ASK, ROOM_TO_SAY = 140, 220  # letters of a question, and of what is said after it, that fit beside a picture
ROOM_TO_TALK = 40  # of the former, that the call to talk takes
MORE = 1.6  # times as many, from which on they are smaller, as the style sheet has it
A_NAME = 21  # letters of a line beside a bar
SMALLER = 4  # pixels that letters beside bars are smaller: bars make them larger
text, word = texts_of("class")


def ask(lecture: Lecture, *, small: bool = False) -> None:
    """The question, and the input as the network reads it; of what has its answer, only the sentence that asks."""
    assert lecture.now is not None
    shown = lecture.now.shown
    with st.container(key="class_ask_small" if small else "class_ask"):
        said_to_read = f"  \n{_read(shown)}" if "reads" in shown and not lecture.picture else ""  # else above it
        said = shown["ask"][language()]
        said = heading_and_rest(said)[0] if lecture.phase is Phase.EXPLAINED else said
        room = ROOM_TO_ASK - ROOM_TO_TALK * (lecture.phase is Phase.DISCUSS)
        with _in_room("ask", said if lecture.is_own else "", room):
            st.markdown(literal(said) + said_to_read)


def _in_room(name: str, words: str, room: int) -> DeltaGenerator:
    """Where words take no more room than so many letters do: of more, they are smaller."""
    return st.container(key=f"class_fits_{name}_{(width(words) > room) + (width(words) > room * MORE)}")


def reads(lecture: Lecture) -> None:
    """The input as the network reads it, in one line above a picture."""
    if lecture.now and "reads" in lecture.now.shown:
        with st.container(key="class_reads"):
            st.markdown(_read(lecture.now.shown))


def _read(shown: Shown) -> str:
    return f":gray[{t('lesson.reads')}] {literal(shown['reads'])}"


def closed(lecture: Lecture) -> None:
    """What was answered. Who of them was wrong is not said before the talk: it would tell what is right."""
    ask(lecture, small=True)
    _last_hint(lecture)
    if lecture.last is None:
        st.info(text("nobody"), icon=":material/info:")
    elif lecture.lesson.twice:
        st.markdown(t("study.closed", all=lecture.last.answers))
    else:
        _answers(lecture)


def _words_are_hidden(lecture: Lecture) -> bool:
    """Free words are shown when the teacher lets them."""
    by_word = lecture.now is not None and lecture.now.shown["gesture"] == "word"
    return by_word and st.session_state.get(WORDS) != lecture.desk.room.number


def _answers(lecture: Lecture, *, revealed: bool = False) -> None:
    """How the answers are spread over what could be answered; free words once she lets them."""
    assert lecture.now is not None
    if lecture.last and _words_are_hidden(lecture):
        with st.container(key="class_hidden"):
            st.markdown(text("words_hidden", count=len(lecture.bars), all=lecture.last.answers))
        words = {WORDS: lecture.desk.room.number}
        st.button(word("show_words"), key="class.words", on_click=st.session_state.update, args=(words,))
    else:
        st.html(pictures.as_table(lecture.now, revealed=revealed))


def discuss(lecture: Lecture) -> None:
    """The talk, with what was answered still in sight."""
    ask(lecture, small=True)
    with st.container(key="class_discuss"):
        st.markdown(text("talk"))
    _last_hint(lecture)
    if lecture.last is not None:
        _answers(lecture)


def _last_hint(lecture: Lecture) -> None:
    so_far = hints_so_far(lecture)
    if lecture.question and lecture.truth and so_far:
        said = hints(lecture.question, lecture.truth)[so_far - 1]
        with st.container(key="class_said"):
            st.markdown(f":material/lightbulb: **{text('a_hint')}** {said}")


def revealed(lecture: Lecture) -> None:
    """How many were right, what the class said with the right answers marked, and beside it what the network does; of
    chips, its weights lie among those of the class.
    """
    ask(lecture, small=True)
    assert lecture.now is not None
    beside = lecture.picture is not None  # which leaves little room: rows say the rest
    sure = pictures.said_of_sure(lecture.now, named=not (beside or _words_are_hidden(lecture)))
    with st.container(key="class_said"):
        rights = pictures.said_of_right(lecture.tallies) if lecture.last else text("nobody")
        st.markdown(joined(f"{rights} {sure}"))
    if beside and "options" not in lecture.now.shown:
        with st.container(key="class_network"):
            _network(lecture)
    if beside or _are_chips(lecture):
        _answers(lecture, revealed=True)
        return
    left, right = st.columns(2)
    if lecture.last:
        with left, st.container(key="class_you"):
            st.markdown(text("you_said"))
            _answers(lecture, revealed=True)
    with right, st.container(key="class_network"):
        _network(lecture)


def explained(lecture: Lecture) -> None:
    """Why, beside what the network does."""
    ask(lecture, small=True)
    left, right = st.columns(2)
    with left, st.container(key="class_network"):
        _answers(lecture, revealed=True) if _are_chips(lecture) else _network(lecture)
    with right, st.container(key="class_why"):
        why = lecture.now.truth.get("why", {}).get(language(), "") if lecture.now else ""
        with _in_room("why", why if lecture.is_own else "", ROOM_TO_SAY):
            st.markdown(literal(why))
        if lecture.truth and lecture.question and (idea := otherwise(lecture.question, lecture.truth)):
            st.markdown(idea)


def _are_chips(lecture: Lecture) -> bool:
    """Whether the network's weights lie among the chips of the class."""
    return lecture.now is not None and lecture.now.shown["gesture"] == "chips"


def _network(lecture: Lecture) -> None:
    """The network's own numbers; where there are none, the answer."""
    here, now = lecture.here, lecture.now
    assert now is not None
    if here is None or not here[2].bars:
        st.markdown(text(pictures.answer_is(now.truth), answer=pictures.answer_of(now.shown, now.truth)))
        return
    question, case, truth = here
    with letters(font_size() + SMALLER):
        truth = pictures.with_room(truth, now)
        drawn = answer_bars(Look(question.row, question.gesture, case, truth, shown=True))
    figure = drawn.drawn()
    side = figure.layout["yaxis"]
    names = [wrap(name, A_NAME, break_long_words=False) for name in side["ticktext"]]
    widest = max(text_width(line) for name in names for line in name) * side["tickfont"]["size"]
    side["ticktext"] = ["<br>".join(name) for name in names]
    figure.layout["margin"]["l"] = ceil(0.85 * widest)  # at least; bold letters are that wide
    st.markdown(f"{text('network_does')} :gray[{literal(drawn.title or '')}]")
    picture(lecture, drawn)


def picture(lecture: Lecture, drawn: Picture) -> None:
    """A picture that, in a presentation, takes the height that is left; its rows stay high enough to be read."""
    figure = drawn.drawn()
    if lecture.screen.choice.big:
        names = len(figure.layout["yaxis"].get("ticktext", ())[: pictures.MOST_ROWS])
        meta = {"numbers": figure.layout.get("meta", {}).get("numbers"), "below": MARGIN, "first": True}
        figure.layout |= {"height": A_ROW * names, "meta": meta}
    chart(figure, "class.network", alt=drawn.title or "")


def offer_page(lecture: Lecture) -> None:
    """A button that opens the page on which the answer can be seen, with the input that it is about."""
    question, truth = lecture.question, lecture.truth
    if question is None or truth is None:
        return
    page, at = seen_at(question, truth)
    about = {name: getattr(lecture.screen.choice, name) for name in INPUT} | {"hidden": hidden_in(lecture.screen)}
    values = {"tab": None, "stage": None, **(at | about if question.measure else about | at), "edits": ()}
    look = {"icon": ":material/arrow_forward:", "key": "class.see"}
    st.button(plain("lesson.see"), on_click=open_with, args=(page,), kwargs=values, **look)


def hints_so_far(lecture: Lecture) -> int:
    number, shown = st.session_state.get(HINTS, (0, 0))
    return shown if number == lecture.desk.room.number else 0


def show_hints(question: int, count: int) -> None:
    st.session_state[HINTS] = question, count
