"""Answers of the class and of the network: the phases with a picture, and the discussion."""

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
from pages.school.lessons.written import LessonError, width
from pages.school.questions.pictures import Look, answer_bars
from pages.school.teaching import pictures
from pages.school.teaching.cases import hidden_in, with_new
from pages.school.teaching.desk import INPUT
from pages.school.teaching.lecture import Lecture
from pages.school.teaching.start import not_asked
from pages.screen.components.chart import chart
from pages.screen.frame.navigation import open_with

#: Session state: number of hints shown, and whether words are shown, by question.
HINTS, WORDS = "class.hints_of", "class.words_of"
A_ROW = 21  # pixels: in a presentation, the least height of a picture's row
ROOM_TO_ASK, ROOM_TO_SAY = 140, 220  # letters of a question and of its explanation that fit beside a picture
ROOM_TO_TALK = 40  # letters taken by the call to discuss
MORE = 1.6  # times as many letters, from which they are smaller, as in the style sheet
A_NAME = 21  # letters of a line beside a bar
A_LINE = 30  # letters of a sentence in a button
SMALLER = 2  # pixels by which letters beside bars are smaller
text, word = texts_of("class")


def ask(lecture: Lecture, *, small: bool = False) -> None:
    """The question, and the input as the network reads it. small: only the sentence that asks, once answered."""
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
    """A container with room for so many letters; longer words get smaller letters."""
    return st.container(key=f"class_fits_{name}_{(width(words) > room) + (width(words) > room * MORE)}")


def reads(lecture: Lecture) -> None:
    """The input as the network reads it, on one line above a picture."""
    if lecture.now and "reads" in lecture.now.shown:
        with st.container(key="class_reads"):
            st.markdown(_read(lecture.now.shown))


def _read(shown: Shown) -> str:
    return f":gray[{t('lesson.reads')}] {literal(shown['reads'])}"


def closed(lecture: Lecture) -> None:
    """The answers. Before the discussion, nothing says which are wrong."""
    ask(lecture, small=True)
    _last_hint(lecture)
    if lecture.last is None:
        st.info(text("nobody"), icon=":material/info:")
    elif lecture.lesson.twice:
        st.markdown(t("study.closed", all=lecture.last.answers))
    else:
        _answers(lecture)


def _words_are_hidden(lecture: Lecture) -> bool:
    """Whether free words are still hidden: the teacher shows them."""
    by_word = lecture.now is not None and lecture.now.shown["gesture"] == "word"
    return by_word and st.session_state.get(WORDS) != lecture.desk.room.number


def _answers(lecture: Lecture, *, revealed: bool = False) -> None:
    """Distribution of the answers; free words once the teacher shows them."""
    assert lecture.now is not None
    if lecture.last and _words_are_hidden(lecture):
        with st.container(key="class_hidden"):
            st.markdown(text("words_hidden", count=len(lecture.bars), all=lecture.last.answers))
        words = {WORDS: lecture.desk.room.number}
        st.button(word("show_words"), key="class.words", on_click=st.session_state.update, args=(words,))
    else:
        st.html(pictures.as_table(lecture.now, revealed=revealed))


def discuss(lecture: Lecture) -> None:
    """The discussion, with the answers still visible."""
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
    """Share of right answers, the class's answers with the right ones marked, and the network's numbers; for chips, the
    network's weights are among the bars of the class.
    """
    ask(lecture, small=True)
    assert lecture.now is not None
    beside = lecture.picture is not None  # there is little room: the rows say the rest
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
        chosen_since(lecture)


def explained(lecture: Lecture) -> None:
    """The explanation, beside the network's numbers."""
    ask(lecture, small=True)
    left, right = st.columns(2)
    with left:
        with st.container(key="class_network"):
            _answers(lecture, revealed=True) if _are_chips(lecture) else _network(lecture)
        if lecture.picture is None:  # else below that
            chosen_since(lecture)
    with right, st.container(key="class_why"):
        why = lecture.now.truth.get("why", {}).get(language(), "") if lecture.now else ""
        with _in_room("why", why if lecture.is_own else "", ROOM_TO_SAY):
            st.markdown(literal(why))
        if lecture.truth and lecture.question and (idea := otherwise(lecture.question, lecture.truth)):
            st.markdown(idea)


def _are_chips(lecture: Lecture) -> bool:
    """Whether the network's weights are among the bars of the class."""
    return lecture.now is not None and lecture.now.shown["gesture"] == "chips"


def _network(lecture: Lecture) -> None:
    """The network's numbers; if there are none, the answer."""
    here, now = lecture.here, lecture.now
    assert now is not None
    if here is None or not here[2].bars:
        st.markdown(pictures.answer_told(now.shown, now.truth))
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
    """A picture that fills the remaining height in a presentation; rows stay legible."""
    figure = drawn.drawn()
    if lecture.screen.choice.big:
        names = len(figure.layout["yaxis"].get("ticktext", ())[: pictures.MOST_ROWS])
        least = A_ROW * names
        meta = {"numbers": figure.layout.get("meta", {}).get("numbers"), "ends": True, "grows": least, "first": True}
        figure.layout |= {"height": least, "meta": meta}
    chart(figure, "class.network", alt=drawn.title or "")


def chosen_since(lecture: Lecture) -> None:
    """Before a question, buttons that take over what the teacher has changed: questions that she added to her lesson,
    and the input.
    """
    if lecture.phase is Phase.LOBBY or lecture.is_told:
        try:
            code, count, left = with_new(lecture.screen, lecture.lesson, lecture.own_choice)
        except LessonError as error:
            st.warning(t(f"lesson.error.{error.reason}", **error.values), icon=":material/error:")
        else:
            look = {"icon": ":material/playlist_add:", "type": "tertiary", "key": "class.add"}
            if count:
                st.button(word("add", count=count), on_click=lecture.desk.add, args=(code,), **look)
            not_asked(lecture.screen, left)
    waits = lecture.phase is Phase.LOBBY or (lecture.is_told and bool(lecture.coming))
    if not (waits and lecture.desk.differs(lecture.own_choice)):
        return
    own = lecture.own_choice
    about = own.sentence if own.input == "sentence" else plain(f"sidebar.input_{own.input}")
    if width(about) > A_LINE:
        about = f"{next(about[:end] for end in range(len(about), 0, -1) if width(about[:end]) < A_LINE).rstrip()} …"
    look = {"icon": ":material/swap_horiz:", "type": "tertiary", "key": "class.replan"}
    st.button(word("replan", about=literal(about)), on_click=lecture.desk.go_on, args=(own,), **look)


def offer_page(lecture: Lecture) -> None:
    """A button that opens the page that shows the answer, with its input."""
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
