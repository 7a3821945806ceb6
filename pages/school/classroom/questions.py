"""A question as sent to phones, its answer, and the guesses that it accepts: plain values for JSON."""

import re
import unicodedata
from typing import Any, NotRequired, TypedDict

Guess = str | float | list[int]
#: A text in each language: {"en": "…", "zh": "…"}.
Words = dict[str, str]

CHIPS = 3  # each stands for a third of a token's attention
LONGEST_WORD = 24  # characters


class Shown(TypedDict):
    """A question as phones may see it before the answer.

    key: its name in the lesson. gesture: "word", "tap", "same", "slide", "number" or "chips". ask: the question. about:
    the page's picture, with layer and head. reads: the input as the network reads it. options: answers to choose from,
    for "chips" the tokens that get them. names: display names of the options in each language. span: least and largest
    number. study: whether each phone's answers are kept together for evaluation.
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
    """The answer, which leaves the server only after it is revealed.

    answer: a word, an option, a number, or a weight for each option in hundredths. near: tolerance of a number. why:
    one sentence or two. see: where it can be tried, an address below the app's ("attention?s=…"). own: whether a
    teacher set it, not the network.
    """

    answer: Any
    near: NotRequired[float]
    why: NotRequired[Words]
    see: NotRequired[str]
    own: NotRequired[bool]


#: Keys that a phone gets while the question is shown but not open.
STEM = ("key", "gesture", "ask", "about", "reads")


def stem(shown: Shown) -> dict[str, Any]:
    """The question without its options."""
    return {name: value for name, value in shown.items() if name in STEM}


def checked(shown: Shown, guess: object) -> Guess:
    """The guess in normal form. Raises ValueError if the question does not accept it."""
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
    """Normal form of a word for counting: “Ｗent. ” is “went”, “.” stays."""
    return re.sub(r"(?<=\w)[.,;:!?。、]+$", "", unicodedata.normalize("NFKC", word).strip().casefold())


def _word(guess: str) -> str:
    word = tidy(guess) if len(guess) <= 4 * LONGEST_WORD else ""
    if not 0 < len(word) <= LONGEST_WORD or any(unicodedata.category(sign)[0] in "ZC" for sign in word):
        raise ValueError("not one word")
    return word


def _within(shown: Shown, guess: float) -> bool:
    low, high = shown["span"]
    return type(guess) is not bool and low <= guess <= high
