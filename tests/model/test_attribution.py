"""Gradients are slopes of the answer, and attributions of tokens and heads agree with changed runs."""

import random
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from model import Pipeline, load
from model.measures.alike import cosine, vector_of
from model.measures.gradients import cosine_with, gradients, head_importance, input_x_gradient, integrated_gradients
from model.trace import record, recorded
from model.variants.pooled import POOLINGS, Dense, Pooled
from tests.model.making import MINILM
from tests.networks import example, pipeline

#: Networks with each kind of answer and input -> the token asked about.
NETWORKS = {
    "narrow words": 3, "pre-norm patches": None, "two sentences": None, "several labels": None, "numbers": None,
    "tags": 1, "two classifiers": None, "translation": 1, "span": 2,
}  # fmt: skip
networks = pytest.mark.parametrize("name", NETWORKS)
SENTENCE = "the cat sat on the [MASK] ."


def exact(name: str) -> Pipeline:
    """In float64, for small differences."""
    return pipeline(name).to(torch.float64)


def asked(run: Pipeline, output: Tensor, token: int | None, against: int | None) -> float:
    """The quantity to differentiate, computed independently."""
    if run.config.head == "span":  # for the start
        logits = output[0, 0]
        return float(logits[token] - logits[against] if against is not None else logits.softmax(-1)[token])
    logits = (output if token is None else output[:, token])[0]
    if against is not None:
        return float(logits[0] - logits[against])
    if run.config.head in ("labels", "numbers"):
        return float(logits[0].sigmoid() if run.config.head == "labels" else logits[0])
    return float(logits.softmax(-1)[0])


@networks
def test_along_its_gradient_the_answer_grows_by_its_length(name: str) -> None:
    """In turn of a probability, and of the lead over another answer."""
    run, token = exact(name), NETWORKS[name]
    against = 1 if [*NETWORKS].index(name) % 2 == 0 and run.config.classes != 1 else None
    x = run(example(name))
    found = gradients(run, x, recorded(run.network), 0, against, token)
    _, inputs = run.inputs(x)
    for key in random.Random(0).sample([*found], 10):
        gradient = found[key]
        assert gradient.shape == x[key].shape, key
        slope = torch.tensor(gradient)
        step = 1e-6 * slope / max(slope.norm(), 1e-12)
        ends = [record(run.network, *inputs, edits=[(key, lambda v, _, d=d: v + d)])[0] for d in (step, -step)]
        up, down = (asked(run, end, token, against) for end in ends)
        moved = (up - down) / 2e-6
        assert moved == pytest.approx(float(slope.norm()), rel=1e-3, abs=1e-8), key


@networks
def test_what_the_tokens_are_owed_adds_up_to_the_whole_answer(name: str) -> None:
    run, token = exact(name), NETWORKS[name]
    x, baseline = run(example(name)), None
    if run.config.input == "words" and not hasattr(run.reader, "hide"):
        baseline = [6] * len(x.tokens)
    found = integrated_gradients(run, x, 0, None, token, baseline)
    assert found.shape == (len(x.tokens),)
    blank = baseline or (run.reader.hide(x.ids, range(1, len(x.ids) - 1)) if x.ids else 0 * x.picture)
    start = run.run_of(blank)["embedding.tokens"]
    _, inputs = run.inputs(x)
    first, _ = record(run.network, *inputs)
    other, _ = record(run.network, *inputs, edits=[("embedding.tokens", lambda *_: start)])
    assert found.sum() == pytest.approx(asked(run, first, token, None) - asked(run, other, token, None), abs=5e-3)


@networks
def test_as_a_head_or_a_token_begins_to_fade_the_answer_falls_by_its_importance(name: str) -> None:
    run, token, small = exact(name), NETWORKS[name], 1e-5
    x = run(example(name))
    _, inputs = run.inputs(x)
    before = asked(run, record(run.network, *inputs)[0], token, None)

    def fall(key: str, place: int) -> float:
        def faded(value: Tensor, _: object) -> Tensor:
            value[:, place] *= 1 - small
            return value

        return (before - asked(run, record(run.network, *inputs, edits=[(key, faded)])[0], token, None)) / small

    heads, tokens = head_importance(run, x, 0, None, token), input_x_gradient(run, x, 0, None, token)
    assert heads.shape == (run.config.layers, run.config.heads) and tokens.shape == (len(x.tokens),)
    for layer, head in list(np.ndindex(heads.shape))[::5]:
        fallen = fall(f"layers.{layer}.attention.heads", head)
        assert fallen == pytest.approx(heads[layer, head], rel=1e-2, abs=1e-5)
    for place in range(0, len(tokens), 4):
        assert fall("embedding.tokens", place) == pytest.approx(tokens[place], rel=1e-2, abs=1e-5)


def test_a_token_that_is_the_same_in_the_baseline_is_owed_nothing() -> None:
    text, trace = load("text"), load("text")(SENTENCE)
    place = trace.answer[0].token
    found = integrated_gradients(text, trace, 7, None, place)
    same = [0, place, len(trace.tokens) - 1]
    assert not found[same].any() and np.delete(found, same).all()


def test_what_there_is_no_answer_of_is_said() -> None:
    with pytest.raises(ValueError, match="say of which"):
        input_x_gradient(load("text"), SENTENCE, 0)
    with pytest.raises(ValueError, match="no answer"):
        input_x_gradient(pipeline("002"), [1, 2, 3], 0)


def test_who_takes_a_gradient_leaves_the_network_as_it_was() -> None:
    text = load("text")
    before = text(SENTENCE)
    input_x_gradient(text, SENTENCE, 0, token=1)
    after = text(SENTENCE)
    assert all(np.array_equal(before[key], after[key]) for key in before)
    assert not any(parameter.requires_grad or parameter.grad is not None for parameter in text.network.parameters())


def test_a_similarity_of_two_sentences_has_gradients_too_and_its_parts_add_up() -> None:
    run = load(str(MINILM)).to(torch.float64)
    one, other, nothing = (run(text) for text in ("the cat sleeps", "a kitten is asleep", "[MASK] [MASK] [MASK]"))
    vector = torch.tensor(other.vector)

    def of(Z: Tensor) -> Tensor:
        return torch.cosine_similarity(Z.mean(1), vector, dim=-1)

    cosine, before = (float(of(torch.tensor(trace.Z)[None])) for trace in (one, nothing))
    assert integrated_gradients(run, one, of).sum() == pytest.approx(cosine - before, abs=1e-3)
    slope = torch.tensor(gradients(run, one, ["embedding.tokens"], of)["embedding.tokens"])
    ends = [
        of(record(run.network, *run.inputs(one)[1], edits=[("embedding.tokens", lambda v, _, d=d: v + d * slope)])[0])
        for d in (1e-4, -1e-4)
    ]
    assert float(ends[0] - ends[1]) / 2e-4 == pytest.approx(float(slope.square().sum()), rel=1e-3)


@pytest.mark.parametrize("way", [None, *(Pooled(pooling, ("Normalize", "Dense")) for pooling in POOLINGS)])
def test_along_its_gradient_the_cosine_with_another_text_grows_by_its_length(way: Pooled | None) -> None:
    run, dice = load(str(MINILM)).to(torch.float64), np.random.default_rng(0)
    if way is not None:
        way = replace(way, dense=(Dense(dice.normal(size=(384, 12)), dice.normal(size=12), "tanh"),))
    one, other = run("the cat sleeps"), run("a kitten is asleep")
    slope = gradients(run, one, [one.graph.Z], cosine_with(run, other, way))[one.graph.Z]
    size = np.linalg.norm(slope)  # a small step, because some components of this Z hardly vary among tokens
    v = vector_of(other, way or run.pooled)
    up, down = (cosine((way or run.pooled).steps(one.Z + d * slope)[-1][1], v).value for d in (1e-9, -1e-9))
    assert (up - down) / 2e-9 == pytest.approx(size**2, rel=1e-3) and size > 0
    with pytest.raises(ValueError, match="not vectors"):
        cosine_with(load("text"), "i love you")
