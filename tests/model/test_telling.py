"""The word that is worth hiding first."""

import numpy as np
import pytest

from model import load
from model.analysis import softmax
from model.measures.telling import telling_word

SENTENCE = "the dog chased the cat near a river ."


def guess(sentence: str, place: int) -> tuple[bool, float]:
    """Whether the masked word is guessed and leads by 0.1, and the best guess's probability."""
    text = load("text")
    trace = text(text.reader.hide(text(sentence).ids, [place]))
    shares = softmax(trace["logits"][place])
    second, first = np.sort(shares)[-2:]
    return bool(shares.argmax() == text(sentence).ids[place] and first - second >= 0.1), float(first)


@pytest.mark.parametrize("sentence", [SENTENCE, "my little brother lost his key in the park ."])
def test_the_telling_word_is_guessed_nearest_to_even_odds_of_those_that_stand_there_once(sentence: str) -> None:
    text = load("text")
    trace = text(sentence)
    once = [i for i, token in enumerate(trace.tokens) if token.isalpha() and trace.tokens.count(token) == 1]
    guesses = {place: guess(sentence, place) for place in once}
    asked = [place for place in once if guesses[place][0]] or once
    place = telling_word(text, trace)
    assert place == min(asked, key=lambda place: abs(guesses[place][1] - 0.5))
    assert telling_word(text, trace, [place]) != place


@pytest.mark.parametrize(("sentence", "word"), [("the the the", "the"), (". !", None), ("zebroid", None), ("我", "我")])
def test_without_a_better_word_one_that_repeats_and_without_any_none(sentence: str, word: str | None) -> None:
    trace = load("text")(sentence)
    place = telling_word(load("text"), trace)
    assert (None if place is None else trace.tokens[place]) == word
