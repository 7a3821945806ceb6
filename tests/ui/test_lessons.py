"""Lessons: every true answer against a computation of another kind, and no question where its claim would be false."""

import json
from collections.abc import Callable
from copy import deepcopy
from functools import cache

import numpy as np
import pytest
import torch
from torch import nn

from model import Edit, Pipeline
from model.analysis import softmax
from pages.ui.lessons.rows import BETWEEN, ENCODER, END, MOST_TIMES, following
from pages.ui.lessons.truths import TRUTHS, Case, Truth, is_right, truth_of
from pages.ui.runs import pipelines
from pages.ui.state import sketch
from pages.ui.text import LANGUAGES, catalogue

SENTENCE = "she [MASK] to the shop to buy some bread ."


def case(pipeline: Pipeline) -> Case:
    if pipeline.config.input == "words":
        trace = pipeline(SENTENCE)
        return Case(pipeline, trace, trace.tokens.index("[MASK]"), pipeline.reader.vocabulary)
    return Case(pipeline, pipeline(sketch.ink(sketch.example(3))), 0, pipeline.reader.labels)


@cache
def told(key: str, kind: str = "text") -> tuple[Case, Truth]:
    """A question that is asked of the trained network."""
    here, question = case(pipelines.pipeline(kind)), ENCODER[key]
    truth = truth_of(question.measure, here)
    assert truth is not None and truth.margin >= question.least
    return here, truth


def row(here: Case, truth: Truth, *, back: bool = False, scaled: bool = True) -> np.ndarray:
    """A row of weights, from Q and K."""
    layer, head, query, key = (truth.place[name] for name in ("layer", "head", "token", "key"))
    Q, K = (here.trace[f"layers.{layer}.attention.{name}"][head] for name in "QK")
    scores = Q[key if back else query] @ K.T
    return softmax(scores / (Q.shape[-1] ** 0.5 if scaled else 1))


def test_the_hidden_word_is_the_one_that_the_run_answers() -> None:
    here, truth = told("word")
    (guess,) = here.trace.answer
    assert truth.answer == guess.best and guess.best != "[MASK]"
    assert truth.margin == pytest.approx(guess.probabilities[0] - guess.probabilities[1], abs=1e-5)


def test_without_positions_two_words_change_places_unseen() -> None:
    here, truth = told("places")
    swap = Edit("embedding.tokens", "swap", token=truth.place["token"], from_token=truth.place["key"])
    none = Edit("embedding.positions", "zero")
    output = list(here.names).index(str(truth.said["answer"]))
    for name, edits in {"before": [], "after": [swap], "bare_before": [none], "bare_after": [none, swap]}.items():
        shares = here.shares(here.pipeline(SENTENCE, edits)["logits"])
        assert truth.said[name] == pytest.approx(float(shares[output]), abs=1e-4)
    assert truth.said["bare_before"] == pytest.approx(truth.said["bare_after"], abs=1e-4)


def test_shares_and_both_directions_come_of_q_and_k_and_the_root_of_d_k() -> None:
    here, beans = told("beans")
    np.testing.assert_allclose(np.array(beans.answer) / 100, row(here, beans), atol=1e-5)
    assert np.argmax(beans.answer) == beans.place["key"]
    here, back = told("back")
    assert back.answer == pytest.approx(row(here, back, back=True)[back.place["token"]], abs=1e-5)
    here, root = told("root")
    layer, head, query, key = (root.place[name] for name in ("layer", "head", "token", "key"))
    name = f"layers.{layer}.attention."
    run = here.pipeline(SENTENCE, [Edit(name + "scaled", "unscaled", head=head)])
    assert root.answer == pytest.approx(float(run[name + "weights"][head, query, key]), abs=1e-5)
    assert root.answer == pytest.approx(row(here, root, scaled=False)[key], abs=1e-5)


def test_heads_are_counted_one_run_each() -> None:
    here, truth = told("heads", "digits")
    ink = sketch.ink(sketch.example(3))
    runs = [
        here.pipeline(ink, [Edit(f"layers.{layer}.attention.heads", "zero", head=head)]).answer[0].best
        for layer in here.layers
        for head in range(here.trace.config.heads)
    ]
    assert truth.answer == sum(best != truth.said["best"] for best in runs) and truth.said["heads"] == len(runs)


def test_the_length_of_a_sum_is_that_of_the_law_of_cosines() -> None:
    _, truth = told("sum")
    x, o, angle = (float(str(truth.said[name])) for name in ("x", "o", "angle"))
    assert truth.answer == pytest.approx((x**2 + o**2 + 2 * x * o * np.cos(np.radians(angle))) ** 0.5, rel=5e-3)
    assert truth.answer < x + o - truth.near  # who adds the lengths is wrong


@pytest.mark.parametrize("kind", ["text", "digits"])
def test_the_deviation_after_layernorm_is_that_of_gamma_and_beta(kind: str) -> None:
    here, truth = told("norm", kind)
    layer = here.pipeline.network.layers[truth.place["layer"]]
    states = here.trace[f"layers.{truth.place['layer']}.add_1"][here.token], layer.norm_1
    if truth.said["before"] != pytest.approx(float(states[0].std())):
        states = here.trace[f"layers.{truth.place['layer']}.add_2"][here.token], layer.norm_2
    x, norm = states
    after = (x - x.mean()) / x.std() * norm.weight.numpy() + norm.bias.numpy()
    assert truth.said["after"] == pytest.approx(float(after.std()), abs=1e-4)


@pytest.mark.parametrize("kind", ["text", "digits"])
def test_from_its_layer_on_the_answer_stays_the_first_and_was_not_before(kind: str) -> None:
    here, truth = told("layer", kind)
    states = torch.from_numpy(here.trace.states())
    with torch.inference_mode():
        logits = here.pipeline.network.read_out(here.pipeline.network.norm(states)).numpy()
    best = [here.names[int(row.argmax())] for row in (logits[:, here.token] if logits.ndim == 3 else logits)]
    known = int(truth.answer)
    assert set(best[known:]) == {truth.said["answer"]} and best[known - 1] == truth.said["before"] != best[known]


@pytest.mark.parametrize("kind", ["text", "digits", "flat"])
def test_who_looks_at_itself_only_takes_all(kind: str) -> None:
    here, truth = told("alone", kind)
    layer, head, i = (truth.place[name] for name in ("layer", "head", "token"))
    run = here.pipeline(here.trace.subject, [Edit("layers.{l}.attention.masked", "window", 0)])
    assert truth.answer == run[f"layers.{layer}.attention.weights"][head, i, i] == 1
    scaled = run.over_layers("attention.scaled")[:, :, i, i]
    assert truth.said["score"] == pytest.approx(float(scaled.min()), abs=1e-5) and scaled.min() < 0


def _off(*layers: nn.Linear) -> None:
    for layer in layers:
        layer.weight.zero_()
        if layer.bias is not None:
            layer.bias.zero_()


def _no_favourite(network: nn.Module) -> None:
    _off(*(layer.attention.W_Q for layer in network.layers))


def _no_order(network: nn.Module) -> None:
    network.embedding.positions.table.zero_()


def _plain_norm(network: nn.Module) -> None:
    for layer in network.layers:
        for norm in (layer.norm_1, layer.norm_2):
            norm.weight.fill_(1)
            norm.bias.zero_()


def _nothing_found(network: nn.Module) -> None:
    _off(*(layer.attention.W_O for layer in network.layers))


def _no_answer(network: nn.Module) -> None:
    """All words are as likely as each other."""
    network.transform[2].weight.zero_()
    network.transform[2].bias.zero_()
    network.logits.bias.zero_()


@torch.no_grad()
def doctored(*changes: Callable[[nn.Module], None]) -> Pipeline:
    whole = pipelines.pipeline("text")
    network = deepcopy(whole.network)
    for change in changes:
        change(network)
    return Pipeline("text", network, whole.reader)


@pytest.mark.parametrize(
    ("key", "change"),
    [
        ("word", _no_answer), ("places", _no_order), ("beans", _no_favourite), ("root", _no_favourite),
        ("back", _no_favourite), ("heads", _no_answer), ("sum", _nothing_found), ("norm", _plain_norm),
        ("layer", _no_answer), ("alone", _no_favourite),
    ],
)  # fmt: skip
def test_what_would_be_false_in_a_run_is_not_asked(key: str, change: Callable[[nn.Module], None]) -> None:
    told(key)  # of the trained network it is
    question = ENCODER[key]
    truth = truth_of(question.measure, case(doctored(change)))
    assert truth is None or truth.margin < question.least


@pytest.mark.parametrize("question", ENCODER.questions, ids=lambda question: question.key)
def test_guess_and_truth_can_be_sent_and_the_common_mistake_is_not_right(question) -> None:
    _, truth = told(question.key)
    assert json.loads(json.dumps(truth.answer)) == truth.answer and json.dumps(truth.said)
    assert is_right(question.gesture, truth.answer, truth)
    mistakes = {
        "word": truth.said.get("second"), "places": "different", "beans": [10] * len(truth.options), "norm": "1",
        "root": truth.said.get("share"), "back": truth.said.get("share"), "heads": 24, "alone": 0.0, "layer": "0",
        "sum": float(truth.said.get("x", 0)) + float(truth.said.get("o", 0)),
    }  # fmt: skip
    assert not is_right(question.gesture, mistakes[question.key], truth)


def test_a_question_names_a_measure_and_has_all_its_words() -> None:
    words = [f"{question.key}.{name}" for question in ENCODER.questions for name in ("ask", "why", "otherwise")]
    words += [f"{question.key}.hint_{i + 1}" for question in ENCODER.questions for i in range(len(question.hints))]
    for language in LANGUAGES:
        assert all(f"lesson.{word}" in catalogue(language) for word in words)
    assert {question.measure for question in ENCODER.questions} == TRUTHS.keys()


def test_what_was_missed_comes_back_after_two_others_and_once_only() -> None:
    keys = [*"abcdef"]
    done: list[tuple[str, bool]] = []
    while (key := following(keys, done)) != END:
        done.append((key, key != "b"))
    assert [key for key, _ in done] == [*"abcdbef"]
    places = [place for place, (key, _) in enumerate(done) if key == "b"]
    assert len(places) == MOST_TIMES and places[1] - places[0] == BETWEEN + 1
    assert following(keys, [], start="d") == "d" and following(keys, [("d", True)], start="d") == "e"
    assert following(keys, [("f", False)]) == END  # nothing is left to stand between
    assert following(keys, [], start="d", left_out="de") == "f"
