"""The guided tour: questions about the reader's own input, each beside the page's picture."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import streamlit as st
from cachetools.keys import hashkey

from model.analysis import spelled
from model.edits import head_off
from model.measures.hiding import worth_hiding
from pages.drawing.cache import digest
from pages.drawing.page import Draw, Page
from pages.drawing.screen import Screen
from pages.drawing.state import sketch
from pages.drawing.state.choice import OTHER, Choice
from pages.drawing.text import joined, literal, plain, texts_of
from pages.school.lessons.lesson import END, LESSONS, TOUR, Lesson
from pages.school.lessons.wording import (
    answer_in_words,
    asked,
    called,
    guess_in_words,
    heading_and_rest,
    seen_at,
    title_of,
)
from pages.school.lessons.written import LessonError
from pages.school.questions.case import Case, Guess, Truth, first_answer, is_right
from pages.school.questions.question import Question
from pages.school.teaching import desk
from pages.school.teaching.cases import (
    as_asked,
    hidden_in,
    lesson_of,
    not_asked,
    read_by,
    truth_here,
    usual_case,
    with_a_gap,
)
from pages.school.teaching.homework import homework
from pages.school.teaching.maker import in_the_boxes, is_open, make_a_lesson
from pages.school.teaching.paper import on_paper
from pages.school.tour.station import AWAY, EXAMPLE, Station
from pages.screen.frame.contents import NAMES
from pages.screen.frame.navigation import open_with
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound, lasting
from pages.screen.link import rerun_with, select
from pages.screen.runs import pipelines

#: Session state: answers of the visitor, their input and lesson, number of restarts, answers seen ("seen"), and those
#: of earlier tours ("met").
STATE = "lesson"
FIT = "fit"  # question after which a head is known
#: The choice for a lesson about another kind of input.
WANTED = {kind: {"input": kind, "output": None, "against": None, "question": None} for kind in ("digit", "sentence")}
#: Parts of the run at the end of the tour: before the layers, inside each, after them, and other pages.
STRETCHES = "before", "layer", "behind", "beside"
IN_LAYER = "queries_keys_values", "attention", "heads", "add_and_norm", "feed_forward"
text, word = texts_of("lesson")


def place_in_run(question: Question, truth: Truth) -> str:
    """The page for the part of the run that a question is about."""
    return "tokens" if question.equation.startswith("embedding") else seen_at(question, truth)[0]


def stretch(name: str) -> str:
    """The part of the run (of STRETCHES) to which a page belongs."""
    if name in IN_LAYER:
        return "layer"
    return {"tokens": "before", "layers": "behind", "answer": "behind"}.get(name, "beside")


def begins(page: Page, choice: Choice) -> tuple[Page, Choice]:
    """Start the tour on the unchanged network, without comparison."""
    if st.session_state.pop(AWAY, False) and (choice.input, choice.drawing) == ("digit", sketch.example(EXAMPLE)):
        rerun_with(input="sentence")
    drawn: Draw = partial(tour, *lesson_of(choice, TOUR), bool(choice.edits))
    begun = choice.with_(edits=(), shown="changed", **dict.fromkeys(OTHER.values()))
    return replace(page, tabs=lambda screen: {"": drawn}), begun


def tour(lesson: Lesson, unread: LessonError | None, changed_elsewhere: bool, screen: Screen, pen: Pen) -> None:
    """The whole lesson.

    unread: why the lesson of the link was not read. changed_elsewhere: whether the visitor has changed the network.
    """
    if changed_elsewhere:
        st.info(text("as_it_is"), icon=":material/restart_alt:")
    if unread:
        st.warning(text(f"error.{unread.reason}", **unread.values), icon=":material/broken_image:")
    if lesson.input not in (None, screen.choice.input):
        st.info(text(f"wants_{lesson.input}"), icon=":material/swap_horiz:")
        st.button(word(f"take_{lesson.input}"), key="lesson.wanted", on_click=select, kwargs=WANTED[lesson.input])
    state = answered(screen)
    here = {one.key: here for one in lesson.questions if (here := truth_here(screen, one))}
    state["seen"] |= {key: here[key][1].seen for key in state["guesses"] if key in here}
    known, stations = asked_anew(lesson, here, state["met"])
    pen.station = screen.choice.question or lesson.keys[0]
    Walk(screen, pen, lesson, here, stations, state["guesses"], state["turn"], known).draw()
    if shows_teachers(screen.choice):
        for_teachers(screen, pen, lesson)


def asked_anew(
    lesson: Lesson, here: Mapping[str, tuple[Case, Truth]], met: Mapping[str, str]
) -> tuple[list[str], list[str]]:
    """(questions answered the same in an earlier tour, questions to ask in order).

    The second leaves out the first, unless nothing else is left. Of two alternatives, it has the one that no earlier
    tour asked. met: answers of earlier tours.
    """
    unclear = [key for key in lesson.keys if key not in here]
    known = [key for key, (_, truth) in here.items() if met.get(key) == truth.seen] if lesson is TOUR else []
    swapped = [first for first, other in lesson.instead if first in met and other in here and other not in met]
    stations = lesson.stations([*unclear, *known, *swapped])
    return (known, stations) if stations else ([], lesson.stations(unclear))


def answered(screen: Screen) -> dict:
    """The visitor's answers. They start anew for another input or lesson; then another input also starts at the first
    question, if there were answers.
    """
    run = hashkey(screen.choice.pipeline, digest(screen.subject), usual_case(screen).token), screen.choice.lesson
    before = st.session_state.get(STATE)
    if before is None or before["run"] != run:
        _begin_anew(run, before["met"] | before["seen"] if before else {})
        if before and before["guesses"] and before["run"][0] != run[0] and screen.choice.question:
            rerun_with(question=None)
    return st.session_state[STATE]


@dataclass(frozen=True)
class Walk:
    """A walk through a lesson.

    here: the questions for this input, with run and answer. stations: keys of those asked, in order. guesses: by key,
    of those answered. turn: number of restarts. known: keys of questions not asked again.
    """

    screen: Screen
    pen: Pen
    lesson: Lesson
    here: Mapping[str, tuple[Case, Truth]]
    stations: Sequence[str]
    guesses: Mapping[str, Guess | None]
    turn: int
    known: Sequence[str] = ()

    def draw(self) -> None:
        """Draw a station: that of the link, or the next one to ask."""
        wanted, keys = self.screen.choice.question, self.lesson.keys
        start = keys.index(wanted) if wanted in keys else 0
        key = next((key for key in self.stations if keys.index(key) >= start), END)
        if END in (wanted, key):
            self._end()
        else:
            self._draw(key, *self.here[key])

    def _draw(self, key: str, case: Case, truth: Truth) -> None:
        """Draw a station: question and answer widgets on the left, the picture on the right."""
        guesses, stations = self.guesses, self.stations
        place = stations.index(key)
        give = partial(hand_in, key)
        of = self.lesson[key], case, truth, guesses.get(key), key in guesses
        if key in guesses:
            self.pen.station += " answered"
        station = Station(self.screen, self.pen, *of, give, self.turn)
        left, right = st.columns([2, 3], gap="large")
        with left, st.container(key="tour_side"):
            self._progress(place)
            station.ask()
            last = place + 1 == len(stations)
            onwards = partial(go_to, END if last else stations[place + 1])
            if station.shown:
                station.verdict()
                with st.container(horizontal=True):
                    station.open_page()
                    look = {"icon": ":material/arrow_forward:", "key": "lesson.next"}
                    st.button(word("recap" if last else "onwards"), on_click=onwards, type="primary", **look)
            else:
                station.answer()
            with st.container(horizontal=True, key="tour_ways"):
                if place:
                    back = {"on_click": go_to, "args": (stations[place - 1],), "type": "tertiary"}
                    st.button(word("previous"), icon=":material/chevron_left:", key="lesson.previous", **back)
                if not station.shown:
                    station.give_up()
                st.button(word("leave"), type="tertiary", on_click=open_with, args=("home",), key="lesson.leave")
            self._found(stations[:place])
            if not place:
                self._not_again()
            before = self.lesson.keys.index(stations[place - 1]) + 1 if place else 0
            self._left_out(self.lesson.keys[before : self.lesson.keys.index(key)])
        with right:
            station.draw()
        if self.screen.choice.big:
            self.pen.on_key("PageDown", onwards if station.shown else partial(give, None))
            self.pen.on_key("PageUp", partial(go_to, stations[max(place - 1, 0)]))

    def _progress(self, place: int) -> None:
        """One dot per station, the current one long, and "3 of 12"."""
        kinds = ("now" if i == place else "done" if key in self.guesses else "" for i, key in enumerate(self.stations))
        dots = "".join(f'<i class="{kind}"></i>' for kind in kinds)
        of = word("of", number=place + 1, all=len(self.stations))
        st.html(f'<p class="tour_dots"><span aria-hidden="true">{dots}</span> {of}</p>')

    def _found(self, keys: list[str]) -> None:
        """List the answers of the stations before this one."""
        if found := [self._finding(key) for key in keys if key in self.guesses]:
            st.caption(" · ".join(found))

    def _finding(self, key: str) -> str:
        """Name of a station, with its answer if answered."""
        name, (_, truth) = called(self.lesson[key]), self.here[key]
        if truth.answer is None:
            return literal(name)
        return text("found", name=name.rstrip("?？"), answer=answer_in_words(truth))

    def _recap(self) -> None:
        """The run from left to right, with each station at its part: the answer, and the reader's guess or a tick. A
        click leads back to the station.
        """
        places: dict[str, list[int]] = {}
        for place, key in enumerate(self.stations):
            places.setdefault(place_in_run(self.lesson[key], self.here[key][1]), []).append(place)
        known = [[name for name in NAMES if name in places and stretch(name) == one] for one in STRETCHES]
        known = [names for names in known if names]
        widths = [len(names) if stretch(names[0]) == "layer" else 1.2 for names in known]
        with st.container(key="tour_recap"):
            for names, column in zip(known, st.columns(widths) if widths else (), strict=True):
                in_layer = stretch(names[0]) == "layer"
                with column, st.container(border=in_layer):
                    if in_layer:
                        st.caption(text("in_layers"))
                    boxes = st.columns(len(names)) if in_layer else [st.container() for _ in names]
                    for name, box in zip(names, boxes, strict=True):
                        with box, st.container(gap="xsmall"):
                            onwards = " :gray[→]" * (name in ("tokens", *IN_LAYER, "layers"))
                            st.markdown(f"**{literal(plain(f'{name}.short'))}**{onwards}")
                            for place in places[name]:
                                self._guessed(place)

    def _guessed(self, place: int) -> None:
        """A button back to a station, with its question as tooltip."""
        key = self.stations[place]
        (_, truth), question = self.here[key], self.lesson[key]
        said = literal(called(question))
        if key in self.guesses:
            said, guess = self._finding(key), self.guesses[key]
            if guess is not None and truth.answer is not None:
                right = is_right(question.gesture, guess, truth)
                said += " ✓" if right else f" :gray[({text('you', guess=guess_in_words(guess, truth))})]"
        ask, _ = heading_and_rest(asked(question, truth))
        look = {"key": f"lesson.{key}", "on_click": go_to, "args": (key,), "type": "tertiary"}
        st.button(f":blue[**{place + 1}**] {said}", help=ask, **look)

    def _another_word(self) -> None:
        """Offer other words of the sentence, each of which gives another tour."""
        screen = self.screen
        if "[MASK]" in screen.typed.tokens or not (now := hidden_in(screen)):
            return
        run = pipelines.run(screen.choice.pipeline, screen.given)
        if words := [place for place in worth_hiding(screen.pipeline, run) if place not in now]:
            st.markdown(word("another"), width="content")
            for place in words:
                values = {"hidden": (place,), "token": None, "output": None, "question": None}
                st.button(
                    literal(spelled([run.tokens[place]])), kwargs=values, key=f"lesson.hide.{place}", on_click=select
                )

    def _not_again(self) -> None:
        """List the questions with the same answer as in an earlier tour."""
        if self.known:
            st.caption(text("known", names=" · ".join(called(self.lesson[key]) for key in self.known)))

    def _left_out(self, keys: list[str]) -> None:
        """List the questions of `keys` that are not asked, with what they need; of two alternatives, the first."""
        spare = dict(self.lesson.instead).values()
        left = [self.lesson[key] for key in keys if key not in self.here and key not in spare]
        if said := not_asked(self.screen, left):
            st.caption(said)

    def _end(self) -> None:
        """The end: why the network answers as it does, the run with guesses and answers, what to try next, and which
        questions were not asked, and why.
        """
        st.subheader(word("end_title"), anchor=False)
        off = self._why()
        self._recap()
        st.markdown(text("end" if self.stations else "end_none"))
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            look = {"icon": ":material/open_in_new:", "key": "lesson.why", "on_click": open_with}
            label = word("why_off") if off else plain("what_if.short")
            st.button(label, args=("home" if off else "what_if",), kwargs=off, **look)
            self._another_word()
            kind = "digit" if self.screen.choice.input == "sentence" else "sentence"
            st.button(word(f"take_{kind}"), key="lesson.other", on_click=select, kwargs=WANTED[kind])
        self._not_again()
        self._left_out(self.lesson.keys)
        with st.container(horizontal=True):
            st.button(word("begin"), key="lesson.begin", type="primary", on_click=begin)
            st.button(word("leave"), key="lesson.leave", on_click=open_with, args=("home",))

    def _why(self) -> dict[str, Any]:
        """Say how the first answer changes without the head of question "fit", and without any head.

        Returns values of a Choice for opening Home without that head; {} if nothing is said.
        """
        if FIT not in self.guesses or FIT not in self.here:
            return {}
        case, fit = self.here[FIT]
        off = head_off(fit.place["layer"], fit.place["head"])
        without = first_answer(case, [off])
        bare = first_answer(case, [head_off(*head) for head in case.every_head])
        if without is None or bare is None:
            return {}
        said = fit.in_words | without.in_words | {"heads": len(case.every_head), "none": bare.in_words["after"]}
        (_, before), (_, after) = without.bars
        names = ["why_lost" if after < before / 2 else "why_shared", *without.told * bool(without.margin), "why_none"]
        st.markdown(joined(" ".join(text(name, **said) for name in names)))
        return {"edits": (off,), **fit.place, "hidden": hidden_in(self.screen)}


def shows_teachers(choice: Choice) -> bool:
    """Whether what is for teachers stands at the foot: in a presentation only for the teacher of a class."""
    return not choice.big or choice.of_class in desk.own()


def on_top(choice: Choice) -> Choice:
    """The choice whose input and hidden words the current question reads, or the one that is being made."""
    return read_by(in_the_boxes(), choice) if shows_teachers(choice) and is_open() else as_asked(choice)


def for_teachers(screen: Screen, pen: Pen, lesson: Lesson) -> None:
    """At the foot of the tour, out of a learner's way: other lessons, a teacher's own, homework, and the sheet."""
    if not st.toggle(word("teachers"), **lasting("lesson.teachers", screen.choice.of_class in desk.own())):
        return
    with st.expander(word("others"), icon=":material/school:", **lasting("lesson.others", False)) as box:
        if box.open:
            other_lessons(lesson)
    make_a_lesson(screen, lesson)
    homework(screen)
    on_paper(screen, pen, lesson)


def other_lessons(lesson: Lesson) -> None:
    """A list to select a lesson from, with what it is about."""
    now = lesson.name
    titles = {name: title_of(one) for name, one in ({TOUR.name: TOUR} | LESSONS | {now: lesson}).items()}

    def choose(name: str) -> None:
        if name == TOUR.name or name in LESSONS:
            select(lesson=None if name == TOUR.name else name, question=None)

    look = bound("lesson.which", now, choose, anew=True, among=titles)
    st.selectbox(word("which"), list(titles), format_func=titles.__getitem__, width=340, **look)
    st.caption(f"{text(f'abouts.{now}')} {text('minutes', minutes=lesson.minutes)}")


# -- what a click does ---------------------------------------------------------------------------------------------


def hand_in(key: str, guess: Guess | None) -> None:
    """Keep a guess (None: no guess) and show the answer from now on."""
    st.session_state[STATE]["guesses"].setdefault(key, guess)


def go_to(key: str) -> None:
    select(question=key)


def begin() -> None:
    _begin_anew(st.session_state[STATE]["run"], {})
    select(question=None)


def _begin_anew(run: Hashable, met: Mapping[str, str]) -> None:
    """Delete all answers. Widgets get new keys, so half-given answers disappear too."""
    turn = st.session_state[STATE]["turn"] + 1 if STATE in st.session_state else 0
    st.session_state[STATE] = {"run": run, "guesses": {}, "turn": turn, "seen": {}, "met": met}


PAGE = Page(
    name="lesson",
    group="beside",
    tabs=lambda screen: {},
    alone=False,
    asks=on_top,
    reads=with_a_gap,
    begins=begins,
    title=lambda screen: None,  # the question is the title
    ends=False,  # code and files are on the pages of the stations
)
