"""Fillers of a batch have no effect behind their mask, and take part without it."""

import numpy as np
import pytest

from model import load
from model.analysis import softmax
from model.measures.fillers import FILLER, FILLERS, can_fill_up, fill_up
from tests.model.making import inputs_of, ours

SENTENCES = ("the animal [MASK] not cross the street because it was too tired .", "我们[MASK]公园玩吧 。", "[MASK] you")


@pytest.mark.parametrize("sentence", SENTENCES)
def test_behind_the_mask_fillers_get_exactly_nothing_and_the_answer_stays(sentence: str) -> None:
    pipeline = load("text")
    trace = pipeline(sentence)
    token = trace.tokens.index("[MASK]")
    found = fill_up(pipeline, trace.ids, token)
    assert found.masked == 0
    alone, masked, _ = found.rows
    assert len(alone) == len(trace.ids) == len(masked) - FILLERS
    np.testing.assert_allclose(masked[: len(alone)], alone, atol=1e-5)
    np.testing.assert_allclose(found.answers.p[1], found.answers.p[0], atol=1e-4)
    own = softmax(trace["logits"][token].astype(np.float64))[list(found.answers.outputs)]
    np.testing.assert_allclose(found.answers.p[0], own, atol=1e-5)


@pytest.mark.parametrize("name", ["BertForSequenceClassification", "RobertaForMaskedLM", "NarrowElectraForMaskedLM"])
def test_so_it_is_in_every_family_that_reads_words_and_answers(name: str) -> None:
    of = ours(name)
    trace = of(inputs_of(name)[0])
    found = fill_up(of, trace.ids, 1)
    assert found.masked == 0 <= found.taken.min() and found.taken.max() > 0
    np.testing.assert_allclose(found.answers.p[1], found.answers.p[0], atol=1e-4)
    np.testing.assert_allclose(found.rows[1][: len(trace.ids)], found.rows[0], atol=1e-4)


def test_without_the_mask_they_are_looked_at_as_the_same_sentence_with_pad_typed_behind_it_is() -> None:
    pipeline = load("text")
    trace = pipeline(SENTENCES[0])
    token, n = trace.tokens.index("[MASK]"), len(trace.ids)
    found = fill_up(pipeline, trace.ids, token)
    typed = pipeline((*trace.ids, *[pipeline.reader.vocabulary.index(FILLER)] * FILLERS))
    weights = np.stack([typed[f"layers.{layer}.attention.weights"] for layer in range(pipeline.config.layers)])
    np.testing.assert_allclose(found.taken, weights[:, :, token, n:].sum(-1), atol=1e-6)
    layer, head = found.head
    assert found.taken[layer, head] == found.taken.max() > 0
    np.testing.assert_allclose(found.rows[2], weights[layer, head, token], atol=1e-6)
    np.testing.assert_allclose(found.answers.p[2].max(), softmax(typed["logits"][token]).max(), atol=1e-5)


def test_where_there_is_no_room_or_no_filler_nothing_is_filled_up() -> None:
    pipeline = load("text")
    most = pipeline.config.max_len
    assert can_fill_up(pipeline, [5] * (most - FILLERS)) and not can_fill_up(pipeline, [5] * (most - FILLERS + 1))
    assert not can_fill_up(load("digits"), [])
