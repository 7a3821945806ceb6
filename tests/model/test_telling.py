"""The word that is worth hiding first."""

import pytest

from model import load
from model.analysis import softmax
from model.measures.telling import telling_word

SENTENCE = "the dog chased the cat near a river ."


def guess(place: int) -> float:
    """The probability of the likeliest word where that place is hidden."""
    text = load("text")
    trace = text(text.reader.hide(text(SENTENCE).ids, [place]))
    return float(softmax(trace["logits"][place]).max())


def test_the_telling_word_comes_nearest_to_even_odds_of_the_words_that_stand_there_once() -> None:
    trace = load("text")(SENTENCE)
    once = [i for i, token in enumerate(trace.tokens) if token in ("dog", "cat", "near", "a", "river")]
    assert telling_word(load("text"), trace) == min(once, key=lambda place: abs(guess(place) - 0.5))


@pytest.mark.parametrize(("sentence", "word"), [("the the the", "the"), (". !", None), ("zebroid", None), ("我", "我")])
def test_without_a_better_word_one_that_repeats_and_without_any_none(sentence: str, word: str | None) -> None:
    trace = load("text")(sentence)
    place = telling_word(load("text"), trace)
    assert (None if place is None else trace.tokens[place]) == word
