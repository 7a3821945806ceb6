"""Homework goals: which edits reach them."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from model import Edit, Trace, examples
from model.analysis import softmax
from model.edits import head_off
from pages.drawing.state.choice import Choice
from pages.drawing.state.goal import Goal
from pages.drawing.text import LANGUAGES, plain, speaking
from pages.drawing.text.numbers import decimal
from pages.drawing.text.numbers import first as the_first
from pages.school.lessons.goals import Standing, heads_off, inside, mark_of, standing
from pages.school.lessons.task import judged
from pages.screen.runs import pipelines

SENTENCE = "我们[MASK]公园玩吧。"
#: Three heads of layer 2 whose ablation changes the guess.
OFF = tuple(Edit("layers.1.attention.heads", "zero", head=head) for head in range(3))


def run(sentence: str, *edits: Edit) -> Trace:
    return pipelines.run("text", sentence, edits)


def guess(sentence: str, *edits: Edit) -> str:
    return run(sentence, *edits).answer[0].best


def first(word: str, most: int = 3) -> Goal:
    return Goal("first", (most, mark_of("text", run(SENTENCE).ids), word))


def of(goal: Goal, **values: object) -> Standing:
    return judged(Choice(**{"sentence": SENTENCE, "goal": goal} | values), goal)


def test_a_word_becomes_the_first_guess_with_few_heads_off() -> None:
    now, then = guess(SENTENCE), guess(SENTENCE, *OFF)
    assert now != then  # or there would be no task
    reached = of(first(then), edits=OFF)
    assert reached.reached and reached.said["best"] == then
    assert not of(first(then)).reached and of(first(then)).said["best"] == now  # it only claims so
    assert of(first(then, most=2), edits=OFF).far == "first_many"
    assert not of(first(now), edits=OFF).reached


READY = [*examples.READY["en"], *examples.READY["zh"]]
MASKED = ["[MASK] " + text.partition(" ")[2] if " " in text else f"[MASK]{text[1:]}" for text in READY]


@pytest.mark.parametrize("sentence", MASKED[::3])
def test_a_task_calls_a_word_first_where_the_page_does(sentence: str) -> None:
    """Whichever heads are off, also if the two most likely words are nearly tied."""
    vocabulary, here = pipelines.pipeline("text").reader.vocabulary, {"sentence": sentence, "token": 1}
    run_of = partial(pipelines.run, "text", sentence)
    best, second = run_of(()).answer[0].best, int(run_of(())["logits"][1].argsort()[-2])
    at = float(run_of(())["logits"][1].max())
    nearly = [(Edit("logits", "set", at + off, token=1, neuron=second),) for off in (0, -1e-4, 1e-4, -0.02, 0.02, 0.3)]
    off = [tuple(head_off(layer, head) for head in range(heads)) for layer, heads in ((0, 3), (2, 8), (5, 2))]
    for edits, lang in product([*nearly, *off], LANGUAGES):
        run = run_of(edits)
        shares = softmax(run["logits"][1].astype(np.float64))
        said = {"best": vocabulary[int(shares.argmax())], "first": the_first(shares, decimal), "second": "", "then": ""}
        for word in {best, vocabulary[second], vocabulary[int(shares.argmax())]}:
            goal = Goal("first", (8, mark_of("text", run.ids), word))
            found = standing(goal, Choice(**here, edits=edits if edits in off else ()), run, vocabulary)
            with speaking(lang):
                page, task = plain("words.read.typed", **said), plain(f"goal.far.{found.far}", **found.said)
            assert found.reached == (f"“{word}”" in page), (page, task)
            assert (found.far == "first_tied") == (not said["first"].ahead), (page, task)
            assert said["best"] in task, "which word leads is said also where it ties"


def test_heads_are_counted_one_by_one_however_they_are_switched_off() -> None:
    trace = run(SENTENCE)
    assert heads_off((), trace) == set()
    assert heads_off((Edit("layers.1.attention.heads", "zero", head=2),) * 2, trace) == {(1, 2)}
    assert len(heads_off((Edit("layers.1.attention.heads", "zero"),), trace)) == trace.config.heads
    assert len(heads_off((Edit("layers.{l}.attention.heads", "zero", head=2),), trace)) == trace.config.layers
    heads = "layers.1.attention.heads"
    others = Edit("layers.{l}.attention.heads", "even"), Edit(heads, "zero", head=1, token=3), Edit(heads, "scale", 0.5)
    for edit in (*others, Edit("logits", "set", 100.0, token=3), Edit(f"decoder.{heads}", "zero", head=1)):
        assert heads_off((*OFF, edit), trace) is None, "nothing but whole heads may be switched off"


def test_one_token_gives_what_it_does_not_get_back() -> None:
    sentence, kinds = "i love you .", set()
    for layer, head, least, most in ((1, 2, 90, 5), (0, 0, 10, 20)):
        goal, here = Goal("oneway", (least, most)), {"sentence": sentence, "layer": layer, "head": head}
        weights, places = run(sentence)[f"layers.{layer}.attention.weights"][head], inside(run(sentence))
        for i in range(len(weights)):
            for j in range(len(weights)):
                found = of(goal, **here, token=i, key=j)
                if i == j or not {i, j} <= set(places):
                    assert found.far == "no_cell" and not found.reached
                    continue
                enough, little = bool(weights[i, j] > least / 100), bool(weights[j, i] < most / 100)
                assert found.reached == (enough and little)
                shown = float(found.said["there"]), float(found.said["back"])
                assert shown == pytest.approx((weights[i, j], weights[j, i]), abs=6e-4)
                kinds.add((enough, little))
        assert of(goal, **here).far == "no_cell"
    assert len(kinds) == 4
