"""What is worth showing first: the word whose hiding tells most, and the head that the answer hangs on."""

import numpy as np
import pytest

from model import Edit, load
from model.analysis import softmax
from model.telling import MOST_HEADS, answering, near_and_far, place_to_show, telling_head, telling_word
from tests.networks import pipeline, trace_of

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


@pytest.mark.parametrize("name", ["trained text", "trained digits", "trained flat", "pre-norm patches"])
def test_the_telling_head_moves_the_answer_furthest_of_those_that_read_most_from_elsewhere(name: str) -> None:
    trace, token = trace_of(name, 1), 6 if name == "trained text" else 0
    weights = trace.over_layers("attention.weights")[:, :, token]
    special = [i for i, one in enumerate(trace.tokens) if one in ("[CLS]", "[SEP]", "[MASK]")]
    near = np.abs(np.arange(len(trace.tokens)) - token) <= 1
    weights = np.where(near, 0, weights)
    weights[..., special] = 0
    subject = tuple(trace.ids) or trace.subject

    def moved(layer: int, head: int) -> float:
        edit = Edit(f"layers.{layer}.attention.heads", "zero", head=head)
        before, after = (np.atleast_2d(run["logits"])[token] for run in (trace, pipeline(name)(subject, (edit,))))
        return float(np.abs(softmax(after.astype(float)) - softmax(before.astype(float))).sum())

    layer, head = telling_head(pipeline(name), trace, token)
    strongest = np.argsort(-weights.sum(-1), axis=None, kind="stable")[:MOST_HEADS]
    candidates = [divmod(int(place), weights.shape[1]) for place in strongest]
    if weights.any():
        assert (layer, head) in candidates
        assert moved(layer, head) == pytest.approx(max(moved(*place) for place in candidates), rel=1e-4)
    else:
        assert moved(layer, head) == pytest.approx(max(moved(0, i) for i in range(4)), rel=1e-4)


def test_a_network_without_an_answer_still_has_a_head_to_watch() -> None:
    trace = trace_of("004")
    layer, head = telling_head(pipeline("004"), trace, 2)
    assert 0 <= layer < 6 and 0 <= head < 8
    weights = trace.over_layers("attention.weights")[:, :, 2]
    far = np.abs(np.arange(len(trace.tokens)) - 2) > 1
    share = weights[..., far].sum(-1)
    assert share[layer, head] == pytest.approx(share.max(), rel=1e-4)


def test_of_a_mean_of_patches_all_places_count_and_not_the_first() -> None:
    trace = trace_of("mean of patches")
    weights = trace.over_layers("attention.weights")
    assert answering(trace, 0) == [*range(1, 17)], "all patches, and not [CLS]"
    afar = np.array([near_and_far(trace, place)[1] for place in range(len(trace.tokens))])
    layer, head = telling_head(pipeline("mean of patches"), trace, 0)
    place = place_to_show(trace, layer, head, 0)
    reads = np.where(afar, weights[layer, head], 0).sum(-1)[1:]
    assert reads[place - 1] == pytest.approx(reads.max())
    assert answering(trace_of("trained digits"), 0) == [0], "[CLS] alone"


def test_of_patches_those_around_are_near_and_of_cls_all_are_far() -> None:
    trace = trace_of("trained digits")
    near, far = near_and_far(trace, trace.tokens.index("r3c4"))
    around = {f"r{row}c{column}" for row in (2, 3, 4) for column in (3, 4, 5)} - {"r3c4"}
    assert {trace.tokens[i] for i in np.flatnonzero(near)} == around
    assert not (near & far).any() and near.sum() + far.sum() == len(trace.tokens) - 2  # but itself and [CLS]
    near, far = near_and_far(trace, 0)
    assert not near.any() and far[1:].all()
    distilled = trace_of("distilled patches")
    assert not any(places[distilled.tokens.index("[DIST]")] for places in near_and_far(distilled, 5))


def test_of_words_the_two_neighbours_are_near() -> None:
    near, far = near_and_far(load("text")("i love you ."), 2)
    assert np.flatnonzero(near).tolist() == [1, 3] and np.flatnonzero(far).tolist() == [4]
