"""A question as it is sent to phones, what is true of it, and which guesses it takes: plain values for JSON."""

import re
import unicodedata
from typing import Any, NotRequired, TypedDict

Guess = str | float | list[int]
#: A text in each language: {"en": "…", "zh": "…"}.
Words = dict[str, str]

CHIPS = 3  # each of which is a third of the attention that a token has to give
LONGEST_WORD = 24  # characters


class Shown(TypedDict):
    """What a phone may see before the answer: nothing here may tell it.

    key: the question's name in its lesson. gesture: "word", "tap", "same", "slide", "number" or "chips". ask: the
    question. about: of which picture of a page it is, with layer and head. reads: the input as the network reads it.
    options: what a guess of "tap" and "same" may be, and for "chips" what gets chips. names: how these are called, in
    each language. span: the least and the largest number. study: that answers are kept together by phone, to be
    evaluated.
    """

    key: str
    gesture: str
    ask: Words
    about: NotRequired[Words]
    reads: NotRequired[str]
    options: NotRequired[list[str]]
    names: NotRequired[dict[str, list[str]]]
    span: NotRequired[list[float]]
    study: NotRequired[bool]


class Told(TypedDict):
    """What is true, which leaves the server once it is revealed.

    answer: a word, an option, a number, or, in hundredths, a weight for each option. near: how far a right number may
    be from it. why: one sentence or two. see: where it can be tried, an address below the app's ("attention?s=…"). own:
    where it is what a teacher set down, not what the network does.
    """

    answer: Any
    near: NotRequired[float]
    why: NotRequired[Words]
    see: NotRequired[str]
    own: NotRequired[bool]


#: What a phone gets while a question may be read and not answered.
STEM = ("key", "gesture", "ask", "about", "reads")


def stem(shown: Shown) -> dict[str, Any]:
    """The question without what it could be answered with."""
    return {name: value for name, value in shown.items() if name in STEM}


def checked(shown: Shown, guess: object) -> Guess:
    """The guess, tidied, if this question can be answered so; ValueError if not."""
    match shown["gesture"], guess:
        case "word", str():
            return _word(guess)
        case "tap" | "same", str() if guess in shown["options"]:
            return guess
        case "slide", int() | float() if _within(shown, guess):
            return guess
        case "number", int() if _within(shown, guess):
            return guess
        case "chips", list() if len(guess) == len(shown["options"]):
            if all(type(chips) is int and chips >= 0 for chips in guess) and sum(guess) == CHIPS:
                return guess
    raise ValueError(f"no guess for {shown['gesture']}")


def tidy(word: str) -> str:
    """A word as it is counted: “Ｗent. ” is “went”, and “.” itself."""
    return re.sub(r"(?<=\w)[.,;:!?。、]+$", "", unicodedata.normalize("NFKC", word).strip().casefold())


def _word(guess: str) -> str:
    word = tidy(guess) if len(guess) <= 4 * LONGEST_WORD else ""
    if not 0 < len(word) <= LONGEST_WORD or any(unicodedata.category(sign)[0] in "ZC" for sign in word):
        raise ValueError("not one word")
    return word


def _within(shown: Shown, guess: float) -> bool:
    low, high = shown["span"]
    return type(guess) is not bool and low <= guess <= high
