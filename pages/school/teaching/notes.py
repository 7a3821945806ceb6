"""Teacher's notes, in a second window: what to say, the usual misconception, what comes next, how long it takes."""

import time

import streamlit as st

from pages.drawing.text import joined, language, literal, plain, texts_of
from pages.school.classroom.door import MOST_OF_ADDRESS
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import store
from pages.school.lessons.wording import answer_in_words, asked, called, hints, otherwise
from pages.school.questions.case import Case, Truth, short
from pages.school.questions.question import Question
from pages.school.teaching import report
from pages.school.teaching.asked import not_the_runs, why
from pages.school.teaching.lecture import Lecture
from pages.school.teaching.pictures import answer_told, said_of_right, said_of_sure
from pages.school.teaching.projector import WANTED, afterwards, controls, count
from pages.school.teaching.results import chosen_since
from pages.school.teaching.start import not_asked
from pages.screen.frame.pickers import lasting

ANSWERS = ("word", "digit")  # questions about what the network answers at the end, with its probabilities
MOST_PACE = 2  # largest factor by which the rest may be expected to take longer or shorter than planned
CLEARLY = 2  # times the margin needed for asking
text, word = texts_of("class")


def draw(lecture: Lecture) -> None:
    """The whole window."""
    controls(lecture)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _present(lecture)
    with right:
        _time(lecture)
        count(lecture, "answered" if lecture.phase is Phase.OPEN else "there")
        _addresses(lecture)
        _coming(lecture)
        with st.expander(word("your_key"), icon=":material/key:"):
            st.markdown(text("key_help"))
            st.code(lecture.desk.pass_, language=None, wrap_lines=True)
        if lecture.phase is Phase.ENDED:
            afterwards(lecture)
        elif not lecture.lesson.twice:
            report.offer(lecture)


def _present(lecture: Lecture) -> None:
    """The current question, its answer, the votes, and what to say."""
    if lecture.now is None or lecture.phase is Phase.ENDED:
        st.markdown(text("notes_lobby" if lecture.now is None else "ended_help"))
        return
    shown, truth = lecture.now.shown, lecture.now.truth
    st.markdown(f"##### {literal(shown['ask'][language()])}")
    st.markdown(answer_told(shown, truth))
    if lecture.here:
        st.markdown(how_clear(*lecture.here))
    if lecture.lesson.twice:  # a teacher in between should not know them either
        return
    if lecture.tallies:
        st.markdown(said_of_right(lecture.tallies))
    if said := said_of_sure(lecture.now):
        st.markdown(said)
    if lecture.proposal:
        st.info(text(f"propose_{lecture.proposal}"), icon=":material/tips_and_updates:")
    if shown["gesture"] == "word" and lecture.last:
        more = [(bar.guess, str(sum(bar.counts.values()))) for bar in lecture.bars]
        counted = [plain("common.and_more", name=name, more=count) for name, count in more]
        st.caption(text("words_were", words=plain("common.comma").join(counted)))
    if lecture.truth and lecture.question:
        question = lecture.question
        if says := why(question, lecture.truth):
            st.markdown(f"**{text('say')}** {literal(says)}")
        if question.measure is None:
            return
        st.markdown(otherwise(question, lecture.truth))
        with st.expander(word("hints"), icon=":material/lightbulb:"):
            for hint in hints(question, lecture.truth):
                st.markdown(f"- {hint}")


def _foretold(question: Question, case: Case, truth: Truth, before: str = "") -> None:
    """A possible next question, its answer, and how clear it is: for the teacher alone."""
    st.markdown(f"**{before}** {asked(question, truth)}" if before else asked(question, truth))
    told = f":gray[{text('foretold', answer=answer_in_words(truth))}] " if question.measure else ""
    st.markdown(told + how_clear(question, case, truth))


def how_clear(question: Question, case: Case, truth: Truth) -> str:
    """The network's probability of its answer, if any, and whether it is clear; for an answer set by a teacher, whether
    the run contradicts it.
    """
    if question.measure is None:
        return not_the_runs(question, case)
    said = []
    if question.row in ANSWERS:
        best = sorted(truth.bars, key=lambda bar: -bar[1])[:3]
        named = plain("common.comma").join(f"{name} {short(share)}" for name, share in best)
        said.append(text("foretold_shares", words=named))
    said.append(text("foretold_clear" if truth.margin >= CLEARLY * question.least else "foretold_close"))
    return joined(" ".join(said))


def _time(lecture: Lecture) -> None:
    """Time since the first question, and the rest at this pace; nothing once the class has ended."""
    if lecture.phase is Phase.ENDED:
        return
    begun, now = lecture.desk.room.begun, time.time()
    gone = (now - (begun or now)) / 60
    minutes = {place: question.minutes for place, question in enumerate(lecture.lesson.questions)}
    over = (one for one in lecture.asked if one is not lecture.now or lecture.is_told)
    planned = sum(minutes.get(one.place, 0) for one in over)
    pace = min(MOST_PACE, max(gone / planned, 1 / MOST_PACE)) if planned else 1.0
    needed = max(1, round(pace * sum(minutes[place] for place in lecture.coming)))
    st.markdown(text("minutes" if lecture.coming else "minutes_last", gone=round(gone), needed=needed))


def _addresses(lecture: Lecture) -> None:
    """How many answers come from one address; the teacher knows how many phones there are."""
    most = store().most_of_address(lecture.desk.code, lecture.desk.key)
    if most > 1:
        st.caption(text("of_address_full" if most >= MOST_OF_ADDRESS else "of_address", most=most))


def _coming(lecture: Lecture) -> None:
    """The next question, and a way to choose another."""
    if lecture.phase is Phase.ENDED:
        return
    coming, version = lecture.coming, lecture.desk.room.version
    if coming:
        _foretold(*lecture.clear[coming[0]], text("next"))
    places = list(lecture.clear)
    names = {place: called(question) for place, (question, *_) in lecture.clear.items()}
    if places and lecture.phase in (Phase.LOBBY, Phase.REVEALED, Phase.EXPLAINED):
        first = places.index(coming[0]) if coming else 0
        look = lasting(f"class.another.{lecture.desk.code}.{lecture.desk.room.number}", places[first], among=places)
        wanted = st.selectbox(word("another"), places, format_func=names.__getitem__, **look)
        if coming and wanted != coming[0]:
            _foretold(*lecture.clear[wanted])
        note = {WANTED: (wanted, version)}
        again = any(one.place == wanted for one in lecture.asked)
        st.button(
            word("ask_again" if again else "ask_this"),
            key="class.ask_this",
            on_click=st.session_state.update,
            args=(note,),
        )
    chosen_since(lecture)
    not_asked(lecture.screen, lecture.left_out)
