"""What the class answered, and what the network does: the phases in which there is a picture, and the talk."""

import numpy as np
import streamlit as st

from pages.school.classroom.phases import Phase
from pages.school.classroom.tally import Tally
from pages.school.lessons.wording import hints, otherwise, seen_at
from pages.school.questions.case import short
from pages.school.teaching import pictures
from pages.school.teaching.asked import why
from pages.school.teaching.desk import INPUT
from pages.school.teaching.lecture import Lecture
from pages.ui.components.chart import chart
from pages.ui.figures import BLUE, ORANGE, Figure, bars_with_numbers
from pages.ui.frame.navigation import open_with
from pages.ui.text import catalogue, joined, language, literal, plain, t, texts_of
from pages.ui.text.numbers import percent

#: In the session: how many hints were shown, and whether the words, of which question.
HINTS, WORDS = "class.hints_of", "class.words_of"
#: In a presentation, in pixels: the least height of a picture, and what stays free below it.
LEAST, MARGIN = 220, 40
A_ROW, BESIDE_ROWS = 22, 80  # pixels of a picture in which each name has a row, and for all that stands beside them
LONG = 16  # letters of a name, from which on all in its picture are smaller
text, word = texts_of("class")


def ask(lecture: Lecture, *, small: bool = False) -> None:
    """The question, and the input as the network reads it."""
    assert lecture.now is not None
    shown = lecture.now.shown
    with st.container(key="class_ask_small" if small else "class_ask"):
        stands = "reads" in shown and not (small and shown["gesture"] == "chips")  # or in the picture, a row for each
        reads = f"  \n:gray[{t('lesson.reads')}] {literal(shown['reads'])}" if stands else ""
        st.markdown(literal(shown["ask"][language()]) + reads)


def closed(lecture: Lecture) -> None:
    """What was answered. Who of them was wrong is not said before the talk: it would tell what is right."""
    ask(lecture, small=True)
    if lecture.last is None:
        st.info(text("nobody"), icon=":material/info:")
        return
    with st.container(key="class_said"):
        _hints_given(lecture)
        if _words_are_hidden(lecture):
            st.markdown(text("words_hidden", count=len(lecture.bars), all=lecture.last.answers))
    if _words_are_hidden(lecture):
        shown = lecture.desk.room.number
        st.button(word("show_words"), key="class.words", on_click=lambda: st.session_state.update({WORDS: shown}))
        return
    _answers(lecture, revealed=False)


def _words_are_hidden(lecture: Lecture) -> bool:
    """Free words are shown when the teacher lets them."""
    word = lecture.now is not None and lecture.now.shown["gesture"] == "word"
    return word and st.session_state.get(WORDS) != lecture.desk.room.number


def _answers(lecture: Lecture, *, revealed: bool) -> None:
    """How the answers are spread over what could be answered."""
    assert lecture.now is not None and lecture.last is not None
    shown = lecture.now.shown
    if shown["gesture"] == "chips":
        before = lecture.tallies[1].mean if len(lecture.tallies) > 1 else None
        own = np.array(lecture.now.truth["answer"], dtype=np.float32) if revealed else None
        names = shown["names"][language()]
        figure = pictures.chips_over_each_other(lecture.last.rows, names, before=before, own=own)
    else:
        rounds = sorted(lecture.tallies)
        figure = pictures.distribution(shown, lecture.bars, rounds, revealed=revealed)
    _picture(lecture, "said", figure, text("said_alt", all=lecture.last.answers))


def _picture(lecture: Lecture, name: str, figure: Figure, alt: str) -> None:
    """A picture that, in a presentation, ends with the screen, if its names can be read then."""
    if lecture.page.choice.big:
        names = len(figure.layout["yaxis"].get("ticktext", ()))
        figure.layout |= {
            "height": max(LEAST, A_ROW * names + BESIDE_ROWS),
            "meta": {"below": MARGIN, "first": True},
        }
    chart(figure, f"class.{name}", alt=alt)


def discuss(lecture: Lecture) -> None:
    """The talk, with what was answered still in sight."""
    ask(lecture, small=True)
    with st.container(key="class_discuss"):
        st.markdown(text("talk"))
    _hints_given(lecture)
    if lecture.last is not None and not _words_are_hidden(lecture):
        _answers(lecture, revealed=False)


def _hints_given(lecture: Lecture) -> None:
    if lecture.question and lecture.truth:
        given = hints(lecture.question, lecture.truth)[: hints_so_far(lecture)]
        for said in given if lecture.phase is Phase.DISCUSS else given[-1:]:
            st.markdown(f":material/lightbulb: **{text('a_hint')}** {said}")


def revealed(lecture: Lecture) -> None:
    ask(lecture, small=True)
    _right(lecture)
    if lecture.now and lecture.now.shown["gesture"] == "chips" and lecture.last is not None:
        _network(lecture)
        return
    left, right = st.columns(2)
    with left, st.container(key="class_you"):
        st.markdown(text("you_said"))
        if lecture.last is None:
            st.markdown(text("nobody"))
        elif _words_are_hidden(lecture):
            st.markdown(text("words_hidden", count=len(lecture.bars), all=lecture.last.answers))
        else:
            _answers(lecture, revealed=True)
    with right:
        _network(lecture)


def _right(lecture: Lecture) -> None:
    """How many were right, in the first vote and in the second; and how many sure, and wrong."""
    votes = [word("share", **of_right(one)) for one in lecture.tallies.values()]
    parts = [text("right", shares=" → ".join(votes))] if votes else []
    if lecture.now and lecture.last:
        worst = None if _words_are_hidden(lecture) else lecture.sure_and_wrong
        parts += [pictures.said_of_sure(lecture.now.shown, lecture.last, worst)]
    with st.container(key="class_said"):
        st.markdown(joined(" ".join(filter(None, parts))))


def of_right(one: Tally) -> dict[str, object]:
    """What a text says of how many were right: of all, and as a share."""
    return {"right": one.rights, "all": one.answers, "share": percent(one.right)}


def _network(lecture: Lecture) -> None:
    """The network's own numbers, with the class's over them."""
    with st.container(key="class_network"):
        _what_the_network_does(lecture)


def _what_the_network_does(lecture: Lecture) -> None:
    truth, question = lecture.truth, lecture.question
    if lecture.last is not None and lecture.now and lecture.now.shown["gesture"] == "chips":
        _answers(lecture, revealed=True)  # the network's own row lies under the chips
        return
    beside = question is not None and question.gesture == "word" and _said(lecture) is not None
    if truth is None or question is None or not truth.bars:
        assert lecture.now is not None
        shown, told = lecture.now.shown, lecture.now.truth
        st.markdown(text(pictures.answer_is(told), answer=pictures.answer_of(shown, told)))
        if question is not None and (own := lecture.page.shown_at(question)) is not None:  # type: ignore[attr-defined]
            _picture(lecture, "place", own.figure, own.title)
        return
    st.markdown(text("network_beside" if beside else "network_does"))
    if f"lesson.{question.row}.axis" in catalogue(language()):
        st.caption(t(f"lesson.{question.row}.axis"))
    _picture(lecture, "network", _own_bars(lecture), why(question, truth))


def _own_bars(lecture: Lecture) -> Figure:
    """The figures of the truth; with a bar for the middle of the class, or how many of the class said each."""
    assert lecture.truth is not None and lecture.question is not None
    truth, question, last = lecture.truth, lecture.question, lecture.last
    names, values = map(list, zip(*truth.bars, strict=True))
    if not truth.literal:
        names = [plain(f"lesson.{question.row}.bar_{name}", **truth.in_words) for name in names]
    colours, there = [BLUE] * len(names), None
    if last is not None and question.gesture == "slide" and last.numbers:
        middle = float(np.median(last.numbers))
        names, values, colours = [*names, word("class_middle")], [*values, middle], [*colours, ORANGE]
    elif question.gesture == "word" and (said := _said(lecture)) is not None:
        there = np.array([said.get(name.casefold(), 0.0) for name in names], dtype=np.float32)
    elif str(truth.answer) in names:
        colours[names.index(str(truth.answer))] = ORANGE
    numbers = [short(float(value)) for value in values]
    room = None if there is None else np.maximum(values, there)  # for what is drawn beyond a bar
    long = 6 * (max(map(len, names)) > LONG)
    with pictures.for_the_last_row(less=3 + long):  # they are larger beside bars
        figure = bars_with_numbers(np.array(values), names, numbers, colours=colours, there=there, room=room)
    with pictures.for_the_last_row(less=long):
        return pictures.without_title(figure)


def _said(lecture: Lecture) -> dict[str, float] | None:
    """The share of the class that wrote each word, once the words are shown."""
    if lecture.last is None or _words_are_hidden(lecture):
        return None
    return {str(bar.guess): bar.counts.get(max(lecture.tallies), 0) / lecture.last.answers for bar in lecture.bars}


def explained(lecture: Lecture) -> None:
    ask(lecture, small=True)
    _right(lecture)
    truth, question = lecture.truth, lecture.question
    left, right = st.columns(2)
    with left:
        _network(lecture)
    with right, st.container(key="class_why"):
        st.markdown(literal(lecture.now.truth.get("why", {}).get(language(), "")) if lecture.now else "")
        if truth is not None and question is not None:
            if question.measure:
                st.markdown(otherwise(question, truth))
            _to(lecture, *seen_at(question, truth))


def _to(lecture: Lecture, page: str, values: dict[str, object]) -> None:
    """A button that opens the page on which it can be seen."""
    values = {"panel": None, "stage": None, **values} | input_of(lecture)
    look = {"icon": ":material/arrow_forward:", "key": "class.see"}
    st.button(plain("lesson.see"), on_click=open_with, args=(page,), kwargs=values, **look)


def input_of(lecture: Lecture) -> dict[str, object]:
    """The input of the class, as values of a Choice."""
    return {name: getattr(lecture.page.choice, name) for name in INPUT} | {"hidden": lecture.page.hidden, "edits": ()}  # type: ignore[attr-defined]


def hints_so_far(lecture: Lecture) -> int:
    number, shown = st.session_state.get(HINTS, (0, 0))
    return shown if number == lecture.desk.room.number else 0


def more_hints(lecture: Lecture) -> None:
    st.session_state[HINTS] = lecture.desk.room.number, hints_so_far(lecture) + 1
