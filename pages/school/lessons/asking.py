"""A question on a page: it is asked, answered by hand, and then shown, the guess beside what the network does."""

import re
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np
import streamlit as st
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from pages.school.lessons.case import Case, Guess, Truth, is_right
from pages.school.lessons.gestures import GESTURES, TAPS, typed_word
from pages.school.lessons.rows import NUMBERS, Question
from pages.school.lessons.truths import clear_truth
from pages.school.lessons.written import opened_at
from pages.ui.figures import Figure, bars_with_numbers, on_screen
from pages.ui.figures.theme import scaled
from pages.ui.frame.navigation import open_with
from pages.ui.server.cache import digest, of_networks
from pages.ui.text import catalogue, joined, language, texts_of, typed
from pages.ui.text.numbers import decimal, written
from pages.ui.view import View

WRONG_FOR_A_HINT = 2
MOST_SCORES = 16  # of more, the highest are drawn
MOST_SHARES, SEEN = 8, 0.005  # of more, those that can be seen
MOST_CALLED = 40  # characters of a teacher's question that stand for it
#: What a visitor has guessed of one question, as plain values that may stay in his session: "guesses", the last one
#: last; "over", whether the answer is shown; "right", whether he found it before there was a hint; "open", of what a
#: page asks besides, whether he looks at that; "turn", which counts the questions of the visit, so that widgets forget
#: what was set for another.
Record = dict[str, Any]
text, word = texts_of("lesson")


def new_record(turn: int) -> Record:
    return {"guesses": [], "over": False, "right": False, "open": False, "turn": turn}


@of_networks
@cached(LRUCache(1000), key=lambda question, _, known: hashkey(question.measure, question.least, known), lock=Lock())
def _truth_for(question: Question, case: Case, known: Hashable) -> Truth | None:
    return clear_truth(question, case)


def truth_for(view: View, question: Question, case: Case) -> Truth | None:
    """The true answer where it is clear, worked out once for all visitors; what a teacher set down is at hand."""
    if question.measure is None:
        return clear_truth(question, case)
    written = getattr(case.trace, "written_ids", None)  # of a translation
    where = (case.token, case.layer, case.head, case.step, written)
    return _truth_for(question, case, hashkey(case.pipeline, digest(view.subject), *where, language()))


@dataclass
class Asking:
    """One question on a page, and how far the visitor has come with it.

    after: called, with whether it was found, when the answer is shown; what it holds stays in the visitor's session, so
    it holds no run.
    """

    view: View
    question: Question
    case: Case
    truth: Truth
    record: Record
    after: Callable[[bool], None] | None = None

    @property
    def guess(self) -> Guess | None:
        """The last one."""
        return self.record["guesses"][-1] if self.record["guesses"] else None

    @property
    def of_head(self) -> tuple[int, int]:
        """The layer and the head that the question names, from 0; −1 where it names none."""
        ask = self.question.own.ask if self.question.own else catalogue(language())[f"lesson.{self.question.row}.ask"]
        named = {name: self.truth.said.get(name) for name in ("layer", "head") if f"{{{name}}}" in ask}
        layer, head = (place - 1 if isinstance(place := named.get(name), int) else -1 for name in ("layer", "head"))
        return layer, head

    # -- before the answer ---------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """Of its widgets."""
        return f"{self.view.name}.{self.question.key}.{self.record['turn']}"

    @property
    def tap(self) -> Callable[[int], None]:
        """What a tap on the place of an option in a picture does; it holds no run."""
        return partial(TAPS[self.question.gesture], self.name, len(self.truth.options))

    def ask(self) -> Guess | None:
        """Draw the question, what is tried to find its answer, and what it is answered with.

        Returns the guess so far.
        """
        guesses, question, truth = self.record["guesses"], self.question, self.truth
        if self.record["over"]:  # the browser's way back has taken the last one back
            guesses = guesses[:-1]
        self.question_line()
        if guesses:
            st.markdown(text("not_yet"))
        for number in range(1, min(len(guesses) - WRONG_FOR_A_HINT + 1, len(question.hints)) + 1):
            self._hint(number)
        types = question.gesture == "word"  # of what is being typed nothing is known yet
        read = partial(typed_word, self.view.pipeline.reader, self.name) if types else None
        button = st.form_submit_button if types else st.button
        with st.form(f"{self.name}.typed", border=False) if types else nullcontext():  # Enter sends it, too
            guess = GESTURES[question.gesture](truth, options(truth), self.view.pipeline, self.name)
            with st.container(horizontal=True):
                look: dict[str, Any] = {"type": "primary", "key": f"{self.view.name}.send"}
                look["disabled"] = guess is None and not types
                sent = self.record, question, truth, len(guesses), guess, read, self.after
                button(word("send"), on_click=hand_in, args=sent, **look)
                look = {"type": "tertiary", "key": f"{self.view.name}.show"}
                button(word("show"), on_click=show, args=(self.record, False, self.after), **look)
        return guess

    def question_line(self) -> None:
        st.markdown(f"##### {asked(self.question, self.truth)}")

    def _hint(self, number: int) -> None:
        hint, place = self.question.hints[number - 1], dict(self.truth.place)
        said = text(f"{self.question.row}.hint_{number}", **told(self.truth))
        st.info(f"**{text('hint', number=number)}** {said}", icon=":material/lightbulb:")
        if hint.page:
            if hint.turned:
                place |= {"token": self.truth.place["key"], "key": self.truth.place["token"]}
            self._to(hint.page, word("try_it"), f"hint_{number}", place | dict(hint.values))

    def _to(self, page: str, label: str, name: str, values: Mapping[str, object]) -> None:
        """A button that opens another page there, with the same word hidden."""
        typed = self.view.typed.tokens
        hidden = tuple(i for i, token in enumerate(self.case.tokens) if token == "[MASK]" and typed[i] != token)
        values = {"panel": None, "stage": None, **values} | ({"hidden": hidden} if hidden else {})
        look = {"icon": ":material/arrow_forward:", "type": "tertiary", "key": f"{self.view.name}.{name}"}
        st.button(label, on_click=open_with, args=(page,), kwargs=values, **look)

    # -- after it ------------------------------------------------------------------------------------

    def show(self) -> None:
        """Ask, or show the answer, if the visitor has come so far."""
        if self.record["over"]:
            self.verdict()
            self.numbers()
        else:
            self.ask()

    def verdict(self) -> None:
        """Say whether the last guess was right."""
        guess, truth = self.guess, self.truth
        right = guess is not None and is_right(self.question.gesture, guess, truth)
        if guess is None or truth.answer is None:
            st.markdown(text("no_guess" if self.question.measure else "own_open"))
        elif self.question.gesture == "beans":
            match = round(sum(map(min, guess, truth.answer)))  # type: ignore[arg-type]
            st.markdown(text("right_beans" if right else "wrong_beans", match=match))
        else:
            named = dict(zip(truth.options, options(truth), strict=True))
            shown = named.get(str(guess)) or (guess if isinstance(guess, str) else figure_of(guess))  # type: ignore[arg-type]
            own = "" if self.question.measure else "_own"
            if right and self.question.gesture == "number" and guess != truth.answer:
                st.markdown(text("near", answer=figure_of(truth.answer)))
            else:
                st.markdown(text(f"right{own}") if right else text("wrong", guess=shown))

    def numbers(self) -> int:
        """Draw the network's own numbers with the guess beside them; say why, and what it would mean otherwise.

        Returns how many pixels high their picture is.
        """
        if self.question.measure is None:
            self._set_down()
            return 0
        key, figure, drawn = self.question.row, self.figure(), len(self._drawn())
        about = [text(f"{key}.axis")] if f"lesson.{key}.axis" in catalogue(language()) else []
        if drawn < len(self.truth.bars):
            about.append(text("highest", drawn=drawn, all=len(self.truth.bars)))
        if about:
            st.caption(joined(" ".join(about)))
        said = why(self.question, self.truth)
        self.view.picture(f"asked_{key}", figure, said, title=word(f"{key}.short"), still=True)
        st.markdown(self.otherwise())
        return figure.layout["height"]

    def otherwise(self) -> str:
        """What it would mean if the common mistake were true."""
        return f":gray[{text(f'{self.question.row}.otherwise', **told(self.truth))}]"

    def see_it(self) -> None:
        """The way to where the answer is seen, if there is such a place."""
        if self.question.place or self.question.hints:
            page, values = seen_at(self.question, self.truth)
            self._to(page, word("see"), "see", values)

    def _set_down(self) -> None:
        """Say what a teacher set down as right, and why."""
        own, answer = self.question.own, self.truth.answer
        assert own is not None  # or there would be no question
        if answer is not None:
            st.markdown(text("own_answer", answer=answer if isinstance(answer, str) else figure_of(answer)))
        if own.why:
            st.markdown(typed(own.why))

    def _drawn(self) -> list[int]:
        """Which bars its picture shows: of many shares those that are seen, of many scores the highest; the guess."""
        names, values, guess = *zip(*self.truth.bars, strict=True), self.guess
        if self.question.gesture == "beans":  # without the tokens that get none
            given: Sequence[int] = guess if isinstance(guess, list) else [0] * len(values)
            return [place for place, count in enumerate(values) if round(count) or given[place]]
        least = -np.inf
        if min(values) >= 0 and len(values) > MOST_SHARES:
            least = SEEN
        elif len(values) > MOST_SCORES:
            least = sorted(values)[-MOST_SCORES]
        return [place for place, value in enumerate(values) if value >= least or names[place] == guess]

    def figure(self) -> Figure:
        """The network's own numbers, with the guess beside them if there is one."""
        question, truth, guess, bars = self.question, self.truth, self.guess, self._drawn()
        names, values = map(list, zip(*(truth.bars[place] for place in bars), strict=True))
        if not truth.literal:
            names = [word(f"{question.row}.bar_{name}", **told(truth)) for name in names]
        beans = question.gesture == "beans"
        numbers = [f"{value:.0f}" if beans else written(figure_of(value)) for value in values]
        guesses: list[tuple[int, float]] = []
        if beans and isinstance(guess, list):
            guesses = [(row, float(guess[place])) for row, place in enumerate(bars) if guess[place]]
        elif question.gesture == "slide" and guess is not None:  # in a row of its own, below what it was about
            row, value = 1 + max(i for i, value in enumerate(values) if value == truth.answer), float(guess)  # type: ignore[arg-type]
            names.insert(row, word("yours"))
            values.insert(row, np.nan)
            numbers.insert(row, written(figure_of(value)))
            guesses = [(row, value)]
        elif question.gesture in ("tap", "word") and guess is not None:
            if question.gesture == "word" and guess not in names:
                share = self.case.shares(self.case.trace["logits"])[list(self.case.names).index(str(guess))]
                names, values, numbers = [*names, guess], [*values, float(share)], [*numbers, figure_of(float(share))]
            if guess in names:
                place = names.index(guess)
                names[place], guesses = f"{guess} ({word('yours')})", [(place, max(values))]
        height = on_screen(scaled(26 * len(names) if len(names) > 4 else 40 * len(names)))
        return bars_with_numbers(np.array(values), names, numbers, guesses=guesses, height=height)


# -- what a click does ---------------------------------------------------------------------------------------------


def hand_in(
    record: Record,
    question: Question,
    truth: Truth,
    before: int,
    guess: Guess | None,
    read: Callable[[], Guess | None] | None,
    after: Callable[[bool], None] | None,
) -> None:
    """A guess is sent, after so many before. read: what it is by now, where it was typed; nothing is sent where that is
    none.
    """
    guess = read() if read else guess
    if guess is None:
        return
    right = is_right(question.gesture, guess, truth)
    record["guesses"].append(guess)
    if right or len(truth.options) == 2 or before + 1 >= WRONG_FOR_A_HINT + len(question.hints):
        show(record, right and before < WRONG_FOR_A_HINT, after)


def show(record: Record, found: bool, after: Callable[[bool], None] | None) -> None:
    record |= {"over": True, "right": found}
    if after:
        after(found)


# -- in words ------------------------------------------------------------------------------------------------------


def asked(question: Question, truth: Truth) -> str:
    """The question: in a teacher's words, or in ours."""
    if question.own:
        return typed(question.own.ask, **told(truth))
    return text(f"{question.row}.ask", **told(truth))


def why(question: Question, truth: Truth) -> str:
    """What is said after the answer: as much as is true of this run, or what the teacher wrote."""
    said, own = told(truth), question.own
    if own and own.why:
        return typed(own.why, **said)
    if question.measure is None:
        return ""
    sentences = joined(" ".join(text(f"{question.row}.{name}", **said) for name in truth.told))
    return re.sub(r"^(\d+)\.", r"\1\.", sentences)  # "4." at the beginning is no item of a list


def seen_at(question: Question, truth: Truth) -> tuple[str, dict[str, Any]]:
    """The page on which an answer is seen, and the values of a Choice to open it with: where a teacher shows it, or
    where the last hint leads.
    """
    if question.place:
        page, values = opened_at(question.place)
        return page, {**NUMBERS, **values}
    if not question.hints:
        return "lesson", {}
    last = question.hints[-1]
    return last.page or "lesson", {**truth.place, **last.values}


def called(question: Question) -> str:
    """What a question is called, in short."""
    if question.measure is None and question.own:
        own = question.own.ask
        return own if len(own) <= MOST_CALLED else f"{own[: MOST_CALLED - 1].rstrip()}…"
    return word(f"{question.row}.short")


def told(truth: Truth) -> dict[str, object]:
    """What is filled into the texts of a question, numbers as people write them."""
    return {name: value if isinstance(value, str) else figure_of(value) for name, value in truth.said.items()}  # type: ignore[arg-type]


def figure_of(value: float) -> str:
    """A number as short as it stays true: 12,000, 18.8, 5.66, 0.41, −2.8."""
    if isinstance(value, int) or abs(value) >= 100:
        return f"{value:,.0f}"
    if 0 <= value < 1:
        return decimal(value)
    return f"{value:.1f}" if abs(value) >= 10 or value < 0 else f"{value:.2f}"


def options(truth: Truth) -> Sequence[str]:
    """What can be tapped, in the reader's language where it is no token and no number."""
    words = ("same", "different", "other", "by_word", "by_place", "by_brought", "at_cls", "at_patch", "at_patches")
    return [option if truth.literal or option not in words else word(option) for option in truth.options]
