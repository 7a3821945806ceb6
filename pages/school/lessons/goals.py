"""Homework goals: what to reach, and how far a run is from it. Independent of Streamlit.

The words of a task are the texts "goal.{name}", what to do, and "goal.far.{far}", how far one is.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256

import numpy as np

from model import Edit, Trace
from model.analysis import placed, softmax
from pages.drawing.state.choice import Choice
from pages.drawing.state.goal import Goal
from pages.drawing.text.numbers import decimal, first, three

OUTSIDE = ("[CLS]", "[SEP]", "[PAD]")  # tokens that stand for no part of a sentence
EVERY = "layers.{l}.attention.heads"  # key of an edit that changes all layers at once


@dataclass(frozen=True)
class Standing:
    """How far a run is from a goal. far: name of the text that says so; said: the values in it."""

    reached: bool
    far: str
    said: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A kind of task.

    measure: computes how far a run is, from goal, choice, run and vocabulary. page: the one that a task's link opens.
    hides: whether it is about a masked word, in a run in which heads may be off; other
    tasks are about the unchanged network.
    """

    measure: Callable[[Goal, Choice, Trace, Sequence[str]], Standing]
    page: str
    hides: bool = False


def mark_of(pipeline: str, ids: Sequence[int]) -> str:
    """Mark of a sentence (with its masks) as the network reads it, for a link: six characters."""
    return sha256(f"{pipeline} {' '.join(map(str, ids))}".encode()).hexdigest()[:6]


def heads_off(edits: Sequence[Edit], trace: Trace) -> set[tuple[int, int]] | None:
    """The (layer, head) that these edits switch off, from 0; None if they change anything else."""
    off: set[tuple[int, int]] = set()
    for edit in edits:
        layers = [n for n in range(trace.config.layers) if edit.key in (EVERY, EVERY.replace("{l}", str(n)))]
        heads = range(trace.config.heads) if edit.head is None else [edit.head]
        if not layers or edit != Edit(edit.key, "zero", head=edit.head):
            return None
        off |= {(layer, head) for layer in layers for head in heads}
    return off


def standing(goal: Goal, choice: Choice, trace: Trace, vocabulary: Sequence[str]) -> Standing:
    """How far a run is from a goal. choice: whose place counts, and whose changes were made in the run."""
    choice = choice.fitted(trace.config, len(trace.tokens))
    return TASKS[goal.name].measure(goal, choice, trace, vocabulary)


def inside(trace: Trace) -> list[int]:
    """The places of a sentence's own tokens."""
    return [place for place, token in enumerate(trace.tokens) if token not in OUTSIDE]


# -- one for each kind of task ------------------------------------------------------------------------------------


def first_guess(goal: Goal, choice: Choice, trace: Trace, vocabulary: Sequence[str]) -> Standing:
    """With at most so many heads off, a word is the first guess for the first hidden word of the task's sentence."""
    most, mark, word = goal.values
    hidden = [place for place, token in enumerate(trace.tokens) if token == "[MASK]"]
    if "logits" not in trace or "word" not in trace.axes("logits") or not hidden:
        return Standing(False, "no_guess")
    off = heads_off(choice.edits, trace)
    if off is None:
        return Standing(False, "only_heads")
    shares = softmax(trace["logits"][hidden[0]].astype(np.float64))
    best, own = first(shares, decimal), vocabulary.index(word) if word in vocabulary else None
    if own is None:
        return Standing(False, "no_word", {"word": word})
    if mark_of(choice.pipeline, trace.ids) != mark:
        return Standing(False, "elsewhere")
    said = {"off": len(off), "most": most, "best": vocabulary[best.place], "share": best}
    said |= {"word": word, "own": decimal(float(shares[own]))}
    if not best.ahead:
        return Standing(False, "first_tied", said | {"best": vocabulary[int(shares.argmax())], "share": best.value})
    if best.place != own:
        return Standing(False, "first", said)
    return Standing(True, "first_reached", said) if len(off) <= int(most) else Standing(False, "first_many", said)


def one_way(goal: Goal, choice: Choice, trace: Trace, _: Sequence[str]) -> Standing:
    """In the chosen head, the weight of the chosen cell is above one bound, and the reverse weight below another."""
    least, most = (int(value) / 100 for value in goal.values)
    query, key, places = choice.token, choice.key, inside(trace)
    if query not in places or key not in places or query == key:
        return Standing(False, "no_cell")
    weights = trace[f"layers.{choice.layer}.attention.weights"][choice.head]
    there, back = (round(float(weights[cell]), 3) for cell in ((query, key), (key, query)))  # as displayed
    said: dict[str, object] = {"layer": choice.layer + 1, "head": choice.head + 1}
    names = placed(trace.tokens)
    said |= {"query": names[query], "key": names[key], "there": three(there), "back": three(back)}
    return Standing(there > least and back < most, "oneway", said)


def not_yet(goal: Goal, trace: Trace) -> tuple[int, int]:
    """(layer, head): the first head in which no cell reaches a task of one way; the very first if there is none."""
    least, most = (int(value) / 100 for value in goal.values)
    at = np.ix_(inside(trace), inside(trace))
    for layer in range(trace.config.layers):
        for head, weights in enumerate(trace[f"layers.{layer}.attention.weights"]):
            there = weights[at].astype(np.float64).round(3)
            if not ((there > least) & (most > there.T)).any():
                return layer, head
    return 0, 0


TASKS: dict[str, Task] = {
    "first": Task(first_guess, "what_if", hides=True),
    "oneway": Task(one_way, "attention"),
}
