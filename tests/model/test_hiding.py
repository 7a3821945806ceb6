"""Words worth hiding: the network can guess them, and is least sure of them."""

from collections import Counter

import numpy as np
import pytest

from model import examples, load
from model.analysis import rank, softmax, whole_words
from model.measures.hiding import worth_hiding
from tests.networks import pipeline, trace_of

LONG = "the small dog and the old cat sat near a big house . " * 5


@pytest.mark.parametrize("sentence", [one for ready in examples.READY.values() for one in ready][::3])
def test_words_offered_are_the_least_sure_among_the_known(sentence: str) -> None:
    text = load("text")
    trace = text(sentence)
    known: dict[str, tuple[float, int]] = {}
    for place, *more in whole_words(trace.tokens):
        if more or trace.tokens[place] == "[MASK]" or not any(map(str.isalnum, trace.tokens[place])):
            continue
        p = softmax(text(text.reader.hide(trace.ids, [place]))["logits"][place].astype(np.float64))
        if rank(p, trace.ids[place]) <= 5:
            known[trace.tokens[place]] = min(known.get(trace.tokens[place], (2, 0)), (round(float(p.max()), 5), place))
    offered = worth_hiding(text, trace)
    unsure = [one for number, one in enumerate(sorted(known.values())) if one[0] <= 0.5 or not number]
    assert offered == sorted(place for _, place in unsure[:3])
    assert max(Counter(trace.tokens[place] for place in offered).values(), default=1) == 1


def test_no_word_is_offered_that_its_neighbours_give_away() -> None:
    """No certain articles, full stops, or pieces of words are offered."""
    text = load("text")
    for sentence, words in (
        ("the cat sat on the table .", ["sat", "table"]),
        ("paris is the capital of france .", ["capital"]),
        ("我 喜欢 喝 茶 。", ["喝", "茶"]),
    ):
        trace = text(sentence)
        assert [trace.tokens[place] for place in worth_hiding(text, trace)] == words


def test_of_a_short_sentence_as_many_are_offered_as_there_are() -> None:
    text = load("text")
    for sentence, most in (("a", 1), (". .", 0), ("我", 1), ("[UNK] we", 1)):
        offered = worth_hiding(text, text(sentence))
        assert len(offered) <= most and all(any(map(str.isalnum, text(sentence).tokens[i])) for i in offered)


def test_in_a_long_sentence_only_those_least_sure_while_seen_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    text = load("text")
    trace, tried = text(LONG), []
    network = text.network.forward
    monkeypatch.setattr(text.network, "forward", lambda ids, *more: (tried.append(len(ids)), network(ids, *more))[1])
    worth_hiding(text, trace)
    assert 3 <= tried[0] < 20
    monkeypatch.setattr("model.measures.hiding.MOST_PRODUCTS", 1000)
    assert worth_hiding(text, trace) == []


@pytest.mark.parametrize("name", ["trained digits", "narrow words", "004"])
def test_who_guesses_no_hidden_words_is_offered_none(name: str) -> None:
    assert worth_hiding(pipeline(name), trace_of(name)) == []
