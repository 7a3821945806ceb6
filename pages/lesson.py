"""The lesson, alone: guess first, then see what the network does with one's own input."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from threading import Lock

import numpy as np
import streamlit as st
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from model.pipeline import SPECIAL_TOKENS
from pages.ui.figures import Figure
from pages.ui.frame.navigation import open_with
from pages.ui.lessons import truths
from pages.ui.lessons.case import Case, Guess, Truth, is_right
from pages.ui.lessons.gestures import GESTURES
from pages.ui.lessons.rows import ENCODER, END, Hint, Question, following
from pages.ui.lessons.truths import clear_truth
from pages.ui.page import Page
from pages.ui.sections.answers import BLUE, ORANGE, bars_with_numbers, decimal
from pages.ui.server.cache import digest, of_networks
from pages.ui.state.choice import OTHER, Choice
from pages.ui.state.link import select
from pages.ui.text import catalogue, class_label, joined, language, literal, plain, texts_of

#: In the session: how far the visitor has come in the lesson, with this input.
STATE = "lesson"
HINTS = 3
WRONG_FOR_A_HINT = 2
text, word = texts_of("lesson")


@of_networks
@cached(LRUCache(1000), key=lambda question, _, known: hashkey(question.measure, question.least, known), lock=Lock())
def truth_for(question: Question, case: Case, known: Hashable) -> Truth | None:
    """The true answer where it is clear, once for all visitors. known: what decides it."""
    return clear_truth(question, case)


class Lesson(Page):
    chips = False
    hides_words = True

    def __init__(self, choice: Choice) -> None:
        #: Whether the visitor has changed the network, which the lesson leaves as it is.
        self.changed_elsewhere = bool(choice.edits)
        super().__init__(choice.with_(edits=(), shown="changed", **dict.fromkeys(OTHER.values())))

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {"walk": self.walk}

    def tell(self) -> Sequence[str]:
        self.walk()
        return ()

    def fill(self) -> None:
        self.walk()
        if self.story and not self.choice.big:
            self._way_on(self._question)

    def at_its_end(self) -> bool:
        return self.choice.question == END

    def code(self) -> Sequence[object]:
        return (Case, *truths.TRUTHS.values())

    # -- what is asked, and how far one is ---------------------------------------------------------

    def _case(self) -> Case:
        """The run, and the token that is asked about: the hidden one; of classes the first, where they are read."""
        answers = "logits" in self.trace
        words = answers and "word" in self.trace.axes("logits")
        if self.trace.picture is not None or (answers and not words):
            token = 0
        else:
            hidden = [i for i, name in enumerate(self.tokens) if name == "[MASK]"]
            token = hidden[0] if hidden and self.token not in hidden else self.token
        reader = self.pipeline.reader
        names = reader.vocabulary if words else [class_label(label) for label in reader.labels]
        return Case(self.pipeline, self.trace, token, names)

    def _asked(self, state: dict) -> tuple[str, Truth | None]:
        """The question to ask now, and its true answer: that of the link, or the next one that is clear here."""
        case = self._case()
        known = hashkey(self.pipeline, digest(self.subject), case.token, language())
        key, keys = self.choice.question, ENCODER.keys
        if key == END:
            return END, None
        key = key if key in keys else following(keys, state["done"])
        while key != END:
            if (truth := truth_for(ENCODER[key], case, known)) is not None:
                return key, truth
            state["left_out"] = list(dict.fromkeys([*state["left_out"], key]))
            key = following(keys, state["done"], key, state["left_out"])
        return END, None

    def _state(self) -> dict:
        """How far the visitor has come; with another input he begins anew."""
        run = hashkey(self.choice.pipeline, digest(self.subject), self._case().token)
        state = st.session_state.get(STATE)
        if state is None or state["run"] != run:
            state = {"run": run, "done": [], "left_out": [], "now": None}
        return state

    # -- what is drawn -----------------------------------------------------------------------------

    def walk(self) -> None:
        """One question: the gesture, or, once it is guessed or asked for, what the network does."""
        state = self._state()
        key, truth = self._asked(state)
        if state["now"] != key:
            state |= {"now": key, "guesses": [], "shown": False}
        st.session_state[STATE] = state
        if self.changed_elsewhere:
            st.info(text("as_it_is"), icon=":material/restart_alt:")
        if truth is None:
            self._end(state)
            return
        question, guesses = ENCODER[key], state["guesses"]
        guessed = bool(guesses) and is_right(question.gesture, guesses[-1], truth)
        used_up = len(guesses) >= WRONG_FOR_A_HINT + HINTS or (bool(guesses) and len(truth.options) == 2)
        self._heading(key, state)
        with st.container(border=True):
            st.markdown(f"##### {text(f'{key}.ask', **told(truth))}")
            if state["shown"] or guessed or used_up:
                self._reveal(question, truth, guesses, guessed)
                right = guessed and len(guesses) <= WRONG_FOR_A_HINT
                self._onwards(key, right, state)
            else:
                self._gesture(question, truth, state)
        self._left_out(state)

    def _heading(self, key: str, state: dict) -> None:
        """Which question this is, and the input as the network reads it."""
        again = any(key == done for done, _ in state["done"])
        number = ENCODER.keys.index(key) + 1
        line = text("about_again") if again else text("about", number=number, all=len(ENCODER.questions))
        st.caption(f"{text(ENCODER.name)} · {line}")
        if self.kind == "words":
            pieces = [name for name in self.tokens if name == "[MASK]" or name not in SPECIAL_TOKENS]
            shown = [f"**{literal(name)}**" if name == "[MASK]" else literal(name) for name in pieces]
            st.markdown(f":gray[{text('reads')}] {' '.join(shown)}")
        else:
            st.caption(text("reads_picture", n=len(self.tokens)))

    def _gesture(self, question: Question, truth: Truth, state: dict) -> None:
        guesses, key = state["guesses"], question.key
        if guesses:
            st.markdown(text("not_yet"))
        for number in range(1, min(len(guesses) - WRONG_FOR_A_HINT + 1, HINTS) + 1):
            self._hint(question, number, truth)
        turn = len(state["done"])
        guess = GESTURES[question.gesture](truth, options(truth), self.pipeline, f"lesson.{key}.{turn}")
        with st.container(horizontal=True):
            send = {"type": "primary", "disabled": guess is None, "on_click": note, "args": (guess,)}
            st.button(word("send"), key="lesson.send", **send)
            st.button(word("show"), key="lesson.show", on_click=show, type="tertiary")

    def _hint(self, question: Question, number: int, truth: Truth) -> None:
        hint: Hint = question.hints[number - 1]
        st.info(
            f"**{text('hint', number=number)}** {text(f'{question.key}.hint_{number}', **told(truth))}",
            icon=":material/lightbulb:",
        )
        if hint.page:
            place = dict(truth.place)
            if hint.turned:
                place |= {"token": truth.place["key"], "key": truth.place["token"]}
            self._to(hint.page, word("try_it"), f"hint_{number}", place | dict(hint.values))

    def _to(self, page: str, label: str, name: str, values: Mapping[str, object]) -> None:
        """A button that opens another page there, with the same word hidden."""
        hidden = tuple(i for i, token in enumerate(self.tokens) if token == "[MASK]" and self.typed.tokens[i] != token)
        values = {"panel": None, "stage": None, **values} | ({"hidden": hidden} if hidden else {})
        look = {"icon": ":material/arrow_forward:", "type": "tertiary", "key": f"lesson.{name}"}
        st.button(label, on_click=open_with, args=(page,), kwargs=values, **look)

    def _reveal(self, question: Question, truth: Truth, guesses: Sequence[Guess], guessed: bool) -> None:
        """The network's own numbers with the guess beside them, why, and what it would mean to think otherwise."""
        key, guess = question.key, guesses[-1] if guesses else None
        if guess is None:
            st.markdown(text("no_guess"))
        elif question.gesture == "beans":
            match = round(sum(map(min, guess, truth.answer)))  # type: ignore[arg-type]
            st.markdown(text("right_beans" if guessed else "wrong_beans", match=match))
        else:
            named = dict(zip(truth.options, options(truth), strict=True))
            shown = named.get(str(guess)) or (guess if isinstance(guess, str) else figure_of(guess))
            st.markdown(text("right") if guessed else text("wrong", guess=shown))
        if f"lesson.{key}.axis" in catalogue(language()):
            st.caption(text(f"{key}.axis"))
        self.picture(key, self._figure(question, truth, guess), why(key, truth), title=word(f"{key}.short"), still=True)
        st.markdown(f":gray[{text(f'{key}.otherwise', **told(truth))}]")
        last = question.hints[-1]
        assert last.page is not None  # the last hint leads to where the answer is seen
        self._to(last.page, word("see"), "see", truth.place | dict(last.values))

    def _figure(self, question: Question, truth: Truth, guess: Guess | None) -> Figure:
        names, values = map(list, zip(*truth.bars, strict=True))
        if not truth.literal:
            names = [word(f"{question.key}.bar_{name}") for name in names]
        colours, there = [BLUE] * len(names), None
        if question.gesture == "beans":
            there = None if guess is None else np.array(guess, dtype=np.float32)
        elif question.gesture == "slide" and guess is not None:
            names, values, colours = [*names, word("yours")], [*values, guess], [*colours, ORANGE]
        elif guess in names:
            colours[names.index(guess)] = ORANGE
        elif question.gesture == "word" and guess is not None:
            case = self._case()
            share = float(case.shares(self.trace["logits"])[list(case.names).index(str(guess))])
            names, values, colours = [*names, guess], [*values, share], [*colours, ORANGE]
        numbers = [f"{value:.0f}" if question.gesture == "beans" else figure_of(float(value)) for value in values]
        return bars_with_numbers(self, np.array(values), names, numbers, colours=colours, there=there)

    def _onwards(self, key: str, right: bool, state: dict) -> None:
        done = [*state["done"], (key, right)]
        coming = following(ENCODER.keys, done, left_out=state["left_out"])
        label = word("onwards" if coming != END else "to_end")
        look = {"type": "primary", "icon": ":material/arrow_forward:", "key": "lesson.next"}
        st.button(label, on_click=go_on, args=(done, coming), **look)

    def _left_out(self, state: dict) -> None:
        if state["left_out"]:
            between = plain("common.comma")
            names = between.join(plain("common.quoted", token=word(f"{key}.short")) for key in state["left_out"])
            st.caption(text("left_out", names=names))

    def _end(self, state: dict) -> None:
        """What is behind the last question: all that was asked, to be asked once more."""
        asked = [key for key in ENCODER.keys if any(key == done for done, _ in state["done"])]
        st.markdown(f"##### {text('end_title')}")
        nothing = len(state["left_out"]) == len(ENCODER.questions)
        st.markdown(text("end_none" if nothing else "end"))
        if asked:
            st.caption(text("again"))
            with st.container(horizontal=True, gap="small"):
                for key in asked:
                    st.button(word(f"{key}.short"), key=f"lesson.{key}", on_click=ask_again, args=(key,))
        st.button(word("begin"), key="lesson.begin", type="primary", on_click=begin)
        self._left_out(state)


# -- what a click does ---------------------------------------------------------------------------------------------


def note(guess: Guess) -> None:
    """A guess was made."""
    st.session_state[STATE]["guesses"].append(guess)


def show() -> None:
    st.session_state[STATE]["shown"] = True


def go_on(done: list[tuple[str, bool]], coming: str) -> None:
    st.session_state[STATE] |= {"done": done, "now": None}
    select(question=coming)


def ask_again(key: str) -> None:
    st.session_state[STATE]["now"] = None
    select(question=key)


def begin() -> None:
    st.session_state.pop(STATE, None)
    select(question=None)


# -- in words ------------------------------------------------------------------------------------------------------


def told(truth: Truth) -> dict[str, object]:
    """What is filled into the texts of a question, numbers as people write them."""
    return {name: value if isinstance(value, str) else figure_of(value) for name, value in truth.said.items()}  # type: ignore[arg-type]


def figure_of(value: float) -> str:
    """A number as short as it stays true: 12,000, 18.8, 5.66, 0.41, −2.8."""
    if isinstance(value, int):
        return f"{value:,}"
    if 0 <= value < 1:
        return decimal(value)
    return f"{value:.1f}" if abs(value) >= 10 or value < 0 else f"{value:.2f}"


def options(truth: Truth) -> list[str]:
    """What can be tapped, in the reader's language where it is no token and no number."""
    words = {"same": "same", "different": "different", "other": "other"}
    return [option if truth.literal or option not in words else word(words[option]) for option in truth.options]


def why(key: str, truth: Truth) -> str:
    """What is said after the guess: as much as is true of this run."""
    return joined(" ".join(text(f"{key}.{name}", **told(truth)) for name in truth.told))
