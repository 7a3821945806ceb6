"""Tasks for homework: what reaches each, what only seems to, and by which numbers."""

from dataclasses import replace

import numpy as np
import pytest

from model import Edit, Trace
from pages.school.lessons.goals import SILENT, Standing, heads_off, inside, mark_of
from pages.school.lessons.task import judged
from pages.ui.runs import pipelines
from pages.ui.state import sketch
from pages.ui.state.choice import Choice
from pages.ui.state.goal import Goal

SENTENCE = "我们[MASK]公园玩吧。"
#: Three heads of layer 2 without which the network guesses otherwise.
OFF = tuple(Edit("layers.1.attention.heads", "zero", head=head) for head in range(3))


def run(sentence: str, *edits: Edit) -> Trace:
    return pipelines.run("text", sentence, edits)


def guess(sentence: str, *edits: Edit) -> str:
    return run(sentence, *edits).answer[0].best


def first(word: str, most: int = 3, sentence: str = SENTENCE) -> Goal:
    return Goal("first", (most, mark_of("text", run(sentence).ids), word))


def of(goal: Goal, **values: object) -> Standing:
    return judged(Choice(**{"sentence": SENTENCE, "goal": goal} | values), goal)


def test_a_word_becomes_the_first_guess_with_few_heads_off() -> None:
    now, then = guess(SENTENCE), guess(SENTENCE, *OFF)
    assert now != then  # or there would be no task
    reached = of(first(then), edits=OFF)
    assert reached.reached and reached.said["best"] == then and reached.tokens == len(inside(run(SENTENCE)))
    assert not of(first(then)).reached and of(first(then)).said["best"] == now  # it only claims so
    assert of(first(then, most=2), edits=OFF).far == "first_many"
    assert not of(first(now), edits=OFF).reached


@pytest.mark.parametrize(
    "edit",
    [
        Edit("layers.1.attention.heads", "zero", head=1, token=3),
        Edit("layers.1.attention.heads", "scale", 0.5, head=1),
        Edit("logits", "set", 100.0, token=3),
        Edit("decoder.layers.0.attention.heads", "zero", head=1),
    ],
)
def test_nothing_but_whole_heads_may_be_switched_off(edit: Edit) -> None:
    then = guess(SENTENCE, *OFF)
    assert not of(first(then), edits=(*OFF, edit)).reached and not of(first(then), edits=(edit,)).reached


def test_heads_are_counted_one_by_one_however_they_are_switched_off() -> None:
    trace = run(SENTENCE)
    assert heads_off((), trace) == set()
    assert heads_off((Edit("layers.1.attention.heads", "zero", head=2),) * 2, trace) == {(1, 2)}
    assert len(heads_off((Edit("layers.1.attention.heads", "zero"),), trace)) == trace.config.heads
    assert len(heads_off((Edit("layers.{l}.attention.heads", "zero", head=2),), trace)) == trace.config.layers
    assert heads_off((Edit("layers.{l}.attention.heads", "even"),), trace) is None


@pytest.mark.parametrize("changed", [{"sentence": "我们[MASK]公园玩。"}, {"hidden": (1,)}, {"model": "paper"}])
def test_another_sentence_or_another_hidden_word_is_another_task(changed: dict) -> None:
    found = of(first(guess(SENTENCE, *OFF)), edits=OFF, **changed)
    assert not found.reached and found.far in ("elsewhere", "no_guess")


def test_a_word_that_no_vocabulary_has_is_never_guessed() -> None:
    assert of(first("qwertyish")).far == "no_word"


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


def test_a_neuron_is_silent_where_it_is_so_at_every_token() -> None:
    sentence, goal = "i love you .", Goal("silent", (2,))
    active = np.abs(run(sentence)["layers.1.ffn.activation"])
    mute, loud = int(active.max(axis=0).argmin()), int(active.max(axis=0).argmax())
    assert active[:, mute].max() < SILENT
    found = of(goal, sentence=sentence, layer=1, neuron=mute)
    assert found.reached and found.said["quiet"] == found.said["all"] == len(active)
    assert not of(goal, sentence=sentence, layer=1, neuron=loud).reached
    assert of(goal, sentence=sentence, layer=1).far == "no_neuron"
    assert of(Goal("silent", (5,)), sentence=sentence, layer=1, neuron=mute).far == "too_short"


@pytest.mark.parametrize("goal", [Goal("oneway", (90, 5)), Goal("silent", (1,))])
def test_tasks_about_a_sentence_are_about_the_network_as_it_is(goal: Goal) -> None:
    even = Edit("layers.{l}.attention.weights", "even")
    assert of(goal, edits=(even,), neuron=1) == Standing(False, "changed")


@pytest.mark.parametrize("goal", [first("在"), Goal("oneway", (90, 5)), Goal("silent", (1,))])
def test_a_drawing_or_what_cannot_be_read_reaches_nothing(goal: Goal) -> None:
    assert of(goal, input="digit", drawing=sketch.example(3)) == Standing(False, "drawing")
    assert of(goal, sentence="") == of(goal, sentence="😀") == Standing(False, "unread")


def test_changes_that_do_not_fit_are_said_to() -> None:
    beyond = replace(OFF[0], head=40)
    assert of(first("在"), edits=(beyond,)) == Standing(False, "misfit")
