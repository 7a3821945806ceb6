"""A station of the tour: question and answer widgets on the left, the page's picture on the right, with the answer
covered. After the guess, both show the network's numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import streamlit as st

from model.analysis import as_read
from model.config import PRESETS
from model.translator import TranslationTrace
from pages.drawing.figures.theme import big, scaled
from pages.drawing.picture import Picture, kind_of
from pages.drawing.screen import Screen
from pages.drawing.state import sketch
from pages.drawing.state.choice import CostSettings
from pages.drawing.text import joined, literal, plain, texts_of, unmarked
from pages.school.lessons.wording import (
    answer_in_words,
    asked,
    guess_in_words,
    heading_and_rest,
    options,
    otherwise,
    seen_at,
    why,
)
from pages.school.questions.case import Case, Guess, Truth, is_right, short
from pages.school.questions.pictures import Look, of_place, offered, pictures
from pages.school.questions.question import Question
from pages.school.tour.gestures import GESTURES, Give, chips_so_far, give_chip, give_option
from pages.screen.components.chart import chart
from pages.screen.frame.navigation import open_with
from pages.screen.frame.pen import Pen

EXAMPLE = 3  # the digit for stations about a drawing, if the reader has typed a sentence
#: Session state: whether such a station has interrupted a tour of a sentence, which continues afterwards.
AWAY = "lesson.away"
BELOW, LEAST, MOST = 62, 280, 2000  # pixels: below a picture that ends with the screen; of its height
LOW, A_BAR = 28, 120  # of a bar: on a phone, and at most
MASK = literal("[MASK]")
text, word = texts_of("lesson")


@dataclass(frozen=True)
class Station:
    """A question on the page, with the guess. shown: whether the answer is shown. give: submits a guess (None: no
    guess) without keeping a run in memory. turn: number of restarts of the tour.
    """

    screen: Screen
    pen: Pen
    question: Question
    case: Case
    truth: Truth
    guess: Guess | None
    shown: bool
    give: Give
    turn: int

    @property
    def key(self) -> str:
        """Key of its widgets, different after each restart."""
        return f"lesson.{self.question.key}" + (f".{self.turn}" if self.turn else "")

    # -- at the left -------------------------------------------------------------------------------

    def ask(self) -> None:
        """The question as a heading, what it is about, and the input as the network reads it."""
        ask, rest = heading_and_rest(asked(self.question, self.truth))
        with st.container(key="tour_ask"):
            st.markdown(f"## {ask}")
            if rest:
                st.markdown(rest)
            if self.question.run == "drawing" and kind_of(self.screen.run) == "words":
                st.markdown(f":gray[{text('about_drawing')}]")
            elif words := self._sentence():
                st.markdown(words)

    def _sentence(self) -> str:
        """The sentence that the network reads, as a quotation, with a translation's target; "" for a drawing, and in a
        presentation, where the line on top says it, without a target.
        """
        trace = self.case.trace
        if trace.picture is not None or not trace.ids or (big() and not isinstance(trace, TranslationTrace)):
            return ""
        line = literal(as_read(self.case.tokens)).replace(MASK, f":red[**{MASK}**]")
        if isinstance(trace, TranslationTrace) and trace.beams:
            line += f"  \n> :gray[→ {literal(trace.beams[0].text)}]"
        return f"> {line}"

    def answer(self) -> None:
        """Instructions and widgets for the answer."""
        taps = any(drawn.picks for drawn in self._pictures)
        with st.container(key="tour_gesture"):
            how = f"do_{self.question.gesture}" + "_picture" * taps
            st.markdown(f":material/touch_app: {text(how)}")
            reader, words = self.case.pipeline.reader, options(self.truth)
            GESTURES[self.question.gesture](self.truth, words, reader, self.key, self.give)

    def give_up(self) -> None:
        """A button that shows the answer without a guess."""
        look = {"type": "tertiary", "key": "lesson.show"}
        st.button(word("show"), on_click=self.give, args=(None,), **look)

    def verdict(self) -> None:
        """The answer, the guess, and the explanation."""
        with st.container(key="tour_answer"):
            if said := self._judged():
                st.markdown(f"### {said}")
            if reason := why(self.question, self.truth):
                st.markdown(reason)
            if self.guess is not None and not self._right and (reason := otherwise(self.question, self.truth)):
                st.markdown(f":gray[{reason}]")

    @property
    def _right(self) -> bool:
        return self.guess is not None and is_right(self.question.gesture, self.guess, self.truth)

    def _judged(self) -> str:
        """Such as "You said 0.80. It is 0.99"; "" for a teacher's question without an answer."""
        truth, guess = self.truth, self.guess
        if truth.answer is None:
            return text("own_open")
        answer = answer_in_words(truth)
        if guess is None:
            return text("answer_is", answer=answer)
        said = guess_in_words(guess, truth)
        if self._right:
            exact = self.question.gesture not in ("slide", "number") or short(float(guess)) == answer  # type: ignore[arg-type]
            return text("right" if exact else "near", guess=said, answer=answer)
        number = not isinstance(truth.answer, str | list)
        how = "wrong" if not number else "low" if float(guess) < truth.answer else "high"  # type: ignore[arg-type]
        return text(how, guess=said, answer=answer)

    def open_page(self) -> None:
        """A button that opens the question's page at the same place, with the same word masked."""
        if not (self.question.place or self.question.page):
            return
        page, at = seen_at(self.question, self.truth)
        read = self.screen.typed.tokens
        same = self.case.trace is self.screen.run and len(read) == len(self.case.tokens)
        hidden = tuple(i for i, name in enumerate(self.case.tokens) if same and name == "[MASK]" and read[i] != name)
        of = (
            self._pictures[0].of_head or () if self._pictures and page != "translation" else ()
        )  # a decoder has layers of its own
        seen = {name: place for name, place in zip(("layer", "head"), of, strict=False) if place >= 0}
        values = {"tab": None, "stage": None, **seen, **at} | ({"hidden": hidden} if hidden else {})
        if away := self.question.run == "drawing" and kind_of(self.screen.run) == "words":
            values |= {"input": "digit", "drawing": sketch.example(EXAMPLE)}
        if page == "shapes_and_cost" and not self.question.place:
            base = (name for name, config in PRESETS.items() if config == self.case.trace.config)
            values |= {"cost": CostSettings(next(base, None))}
        look = {"icon": ":material/open_in_new:", "key": "lesson.see"}
        st.button(word("see"), on_click=lead_away if away else open_with, args=(page,), kwargs=values, **look)

    # -- at the right ------------------------------------------------------------------------------

    @cached_property
    def _pictures(self) -> list[Picture]:
        question, guess = self.question, self.guess
        if question.measure is None:
            look = Look(question.row, question.gesture, self.case, self.truth, guess, self.shown)
            return of_place(question.place, look)
        if not self.shown and question.gesture == "chips":
            guess = chips_so_far(self.key, len(self.truth.options))
        look = Look(question.row, question.gesture, self.case, self.truth, guess, self.shown)
        return pictures(question.picture, question.bars, look)

    def draw(self) -> None:
        """The pictures, one below the other."""
        screen, big = self.screen, self.screen.choice.big
        drawn = self._pictures
        for number, one in enumerate(drawn):
            figure, title, where = one.drawn(), one.title or "", screen.at.where(one.of_head or (-1, -1))
            st.markdown(f"**{literal(title)}**" + (f" :gray[· {literal(where)}]" if where else ""))
            if number == 0:
                below = sum(60 + other.drawn().layout["height"] for other in drawn[1:])
                bars, square = bars_of(one), "scaleanchor" in figure.layout["yaxis"]  # squares end with the column
                grown = {"grows": LEAST, "below": BELOW + below} | ({} if square else {"most": A_BAR * bars or MOST})
                figure.tell(**({"first": True, "fills": not (bars or square)} if big else grown))
                if not (self.shown or big):  # on a phone the boxes to answer stand below it
                    figure.layout["height"] = scaled(LOW * bars) + 40 if bars else min(figure.layout["height"], LEAST)
            ends = unmarked(why(self.question, self.truth)) if self.shown else word("covered")
            alt = joined(f"{title}{plain('common.full_stop')} {ends}")
            caption = " · ".join(filter(None, (title, where, screen.about())))
            file = self.pen.file_name(title, where)
            chart(figure, f"lesson.picture_{number}", alt, file, caption, on_pick=self._pick() if one.picks else None)

    def _pick(self) -> Callable[..., None]:
        """Callback for a click on a mark; it keeps no run in memory."""
        if self.question.gesture == "chips":
            return partial(give_chip, self.key, len(self.truth.options), self.give)
        return partial(give_option, self.truth.options or offered(self.case), self.give)


def bars_of(picture: Picture) -> int:
    """How many bars a picture has, one for each number; 0 for another picture."""
    return len(numbers) if picture.parts and (numbers := picture.parts[0].drawn.array).ndim == 1 else 0


def lead_away(page: str, **values: Any) -> None:
    st.session_state[AWAY] = True
    open_with(page, **values)
