"""What questions are about: one run, and the token, layer and head that they ask about; and what is true of it.

Nothing here knows Streamlit; guesses and truths are plain values that JSON can carry.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from model import Edit, Pipeline, Trace
from model.analysis import placed, softmax
from model.edits import head_off
from model.measures.cost import multiply_adds, total
from model.measures.sweep import sweep
from model.measures.without import without
from model.pipeline import SPECIAL_TOKENS
from pages.drawing.text.numbers import decimal, first, written

OWN = "own"  # the row of a question in a teacher's own words
CLEAR = 0.01  # by which a first answer must lead that is asked about
MOST_PRODUCTS = 24_000_000_000  # multiply-adds for all runs that one question needs
PLAINLY = 0.35  # by which the largest weight of a row leads where it is plain which it is
MOST_WEIGHED = 8  # heads of which it is asked how much the answer leans on each
NEAR = 0.1  # by which a guess of a share may be off: almost nothing is near nothing
RIVAL = 0.5  # of what the right answer has: one that has as much is as good a guess
PLAINLY_OFF = 1.5  # times as far as a guess may be from what is right: plainly another number
Guess = str | float | list[int]


@dataclass(frozen=True)
class Truth:
    """What is true in one run.

    answer: a word, an option, a number, or for each token its weight in hundredths. margin: how clear it is, in the
    measure of its question. said: figures and tokens for its texts. options: what can be tapped, or gets a chip. span:
    the least and the largest number that can be given. near: how far a right number may be from the true one. bars: the
    figures of its picture, by the names of texts or, where the question has no such text, of tokens or words. literal:
    whether answer and options are tokens or words. place: of a Choice. told: which texts say why, of those that the
    question has.
    """

    answer: Any
    margin: float
    said: dict[str, object]
    bars: tuple[tuple[str, float], ...]
    place: dict[str, int]
    options: tuple[str, ...] = ()
    span: tuple[float, float] = (0.0, 1.0)
    near: float = 0.0
    literal: bool = False
    told: tuple[str, ...] = ("why",)

    @property
    def in_words(self) -> dict[str, object]:
        """What is filled into the texts of a question, numbers as people write them."""
        return {name: value if isinstance(value, str) else short(value) for name, value in self.said.items()}  # type: ignore[arg-type]

    @property
    def seen(self) -> str:
        """The answer as one has seen it, of words and tokens with what was asked about them; "" of an open question."""
        if self.answer is None:
            return ""
        if isinstance(self.answer, str | list):
            return repr((self.answer, self.said)) if self.literal else str(self.answer)
        return short(self.answer)


class Pair(NamedTuple):
    """A token and the one that it takes most from, in one head."""

    layer: int
    head: int
    query: int
    key: int

    @property
    def place(self) -> dict[str, int]:
        """As a Choice has it."""
        return {"layer": self.layer, "head": self.head, "token": self.query, "key": self.key}


@dataclass(frozen=True)
class Case:
    """One unchanged run, and what its questions are about: a token; a layer and a head, or those in which an answer is
    clearest; of a translation, a step. A page whose picture shows one head, or one step, asks about that.
    """

    pipeline: Pipeline
    trace: Trace
    token: int
    names: Sequence[str] = ()  # of the outputs: words of the vocabulary, or classes
    layer: int | None = None
    head: int | None = None
    step: int | None = None

    @property
    def tokens(self) -> list[str]:
        return self.trace.tokens

    @property
    def layers(self) -> Sequence[int]:
        """Those that may be asked about."""
        return range(self.trace.graph.layers()) if self.layer is None else [self.layer]

    @property
    def heads(self) -> list[tuple[int, int]]:
        """Layers and heads that may be asked about."""
        heads = range(self.trace.config.heads) if self.head is None else [self.head]
        return [(layer, head) for layer in self.layers for head in heads]

    @cached_property
    def every_head(self) -> list[tuple[int, int]]:
        """All layers and heads of the encoder."""
        layers = range(self.trace.graph.layers())
        return [(layer, head) for layer in layers for head in range(self.trace.config.heads)]

    @property
    def divides(self) -> bool:
        """Whether scores are divided by √d_k."""
        return self.trace.config.divided and not self.adds_up

    @property
    def adds_up(self) -> bool:
        """Whether a score is more than q · k: a sum of several products."""
        return bool(self.trace.config.distance_terms)

    @property
    def answers(self) -> bool:
        """Whether the network answers something that can be told: the hidden word, or the class of the whole input."""
        if "logits" not in self.trace:
            return False
        return "word" not in self.trace.axes("logits") or self.tokens[self.token] == "[MASK]"

    def shares(self, logits: np.ndarray) -> np.ndarray:
        """The probabilities at the token: (word,) or (class,)."""
        return softmax(logits.astype(np.float64)[self.token] if logits.ndim == 2 else logits.astype(np.float64))

    @property
    def visible(self) -> list[int]:
        """The other words, or patches, that are there to be read."""
        return [i for i, name in enumerate(self.tokens) if i != self.token and name not in SPECIAL_TOKENS]

    def affords(self, runs: int) -> bool:
        """Whether so many runs of this input are soon done."""
        return runs * total(multiply_adds(self.trace.config, len(self.tokens))).number <= MOST_PRODUCTS

    def changed(self, edits: list[list[Edit]]) -> np.ndarray:
        """The probabilities with each of these sets of changes: (row, word) or (row, class)."""
        logits = sweep(self.pipeline, self.trace, edits, token=self.token)["logits"]
        return softmax(logits.astype(np.float64))

    def without(self, part: str) -> np.ndarray:
        """All tokens after each layer, as they are and without a part of `without`: (2, layer, token, d_model)."""
        graph = self.trace.graph
        keys = [graph.stream(layer)[-1] for layer in range(graph.layers())]
        run = sweep(self.pipeline, self.trace, [[], [*without(graph, part)]], keys, token=self.token)
        return np.stack([run[key] for key in keys], axis=1).astype(np.float64)

    @cached_property
    def without_each(self) -> np.ndarray:
        """The probabilities as they are, and with each head of the encoder switched off alone: (1 + heads, output)."""
        off = [[head_off(*where)] for where in self.every_head]
        return self.changed([[], *off])

    @cached_property
    def pair(self) -> Pair | None:
        """Of the heads in which the token plainly takes most from another word, the one without which the first answer
        loses most; where there is no answer, or none is plain, the plainest. Of a given head, its favourite.
        """
        found: list[tuple[float, Pair]] = []
        for layer, head in self.heads:
            row = self.trace[f"layers.{layer}.attention.weights"][head][self.token]
            pair = Pair(layer, head, self.token, int(row.argmax()))
            if len(self.heads) == 1:
                return pair
            if pair.key in self.visible:
                found.append((lead_of(row), pair))
        found = sorted(found, reverse=True)[:MOST_WEIGHED]
        plain = [pair for lead, pair in found if lead >= PLAINLY]
        if len(plain) > 1 and self.answers and self.affords(len(plain) + 1):
            now, *without = self.changed([[], *([head_off(pair.layer, pair.head)] for pair in plain)])
            left = [float(there[now.argmax()]) for there in without]
            return plain[left.index(min(left))]
        return found[0][1] if found else None

    def of_pair(self, pair: Pair) -> dict[str, object]:
        """What texts call a pair; and what is added to a product with their matrices."""
        names, bias = placed(self.tokens), "+ b" * ("attention" not in self.trace.config.unbiased)
        where = {"layer": pair.layer + 1, "head": pair.head + 1, "bias": bias}
        return where | {"query": names[pair.query], "key": names[pair.key]}


def first_answer(case: Case, edits: list[Edit]) -> Truth | None:
    """Which answer comes first with these changes, that of before or another. margin: how much of the probability
    moves; nothing where before none leads clearly, or after it none leads.
    """
    if not case.answers or not case.visible or not case.affords(1):
        return None
    now, there = case.changed([[], edits])
    best, then = int(now.argmax()), int(there.argmax())
    said: dict[str, object] = {"token": case.tokens[case.token], "answer": case.names[best]}
    said |= {"before": float(now[best]), "after": float(there[best])}
    said |= {"then": case.names[then], "then_share": float(there[then])}
    said["lead"] = lead = lead_of(now)
    clear, moved = lead >= CLEAR and leads(there), float(np.abs(there - now).sum() / 2)
    bars, place = (("with", float(now[best])), ("without", float(there[best]))), {"token": case.token}
    told = ("why_same" if best == then else "why_different",)
    return Truth(case.names[then], moved if clear else 0.0, said, bars, place, literal=True, told=told)


def share_left(case: Case, edits: list[Edit], *, either: bool = False) -> Truth | None:
    """The probability of the first answer with these changes. either: whether it may also grow. margin: how much of it
    they take, or by how much it moves; nothing where none leads clearly. A guess may be off by a tenth, but by so
    little that the probability as it was is plainly another.
    """
    if (truth := first_answer(case, edits)) is None:
        return None
    (_, before), (_, after) = truth.bars
    lost, clear = abs(before - after) if either else before - after, truth.said["lead"] >= CLEAR  # type: ignore[operator]
    near = min(NEAR, abs(lost) / PLAINLY_OFF)
    return Truth(after, lost if clear else 0.0, truth.said, truth.bars, truth.place, near=near)


def short(value: float) -> str:
    """A number as short as it stays true: 12,000, 18.8, 5.66, 0.41, −0.06."""
    if isinstance(value, int) or abs(value) >= 100:
        return written(f"{value:,.0f}")
    if 0 <= value < 1:
        return decimal(value)
    return written(f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}")


def lead_of(values: np.ndarray) -> float:
    """By how much the largest of several leads the second."""
    second, first = np.partition(values, -2)[-2:]
    return float(first - second)


def leads(shares: np.ndarray) -> bool:
    """Whether one answer comes first, as pages write the probabilities."""
    return first(shares, decimal).ahead


def unscaled(trace: Trace, layer: int, head: int, query: int, by: float = 1.0) -> np.ndarray:
    """A row of weights as it would be without ÷ √d_k, divided `by` another number; what the mask hides stays hidden."""
    name = f"layers.{layer}.attention."
    scores, masked = trace[name + "scores"][head, query].astype(np.float64) / by, trace[name + "masked"]
    if name + "relative" in trace:
        scores = scores + trace[name + "relative"][head, query]
    masked = np.broadcast_to(masked, trace[name + "weights"].shape)[head, query]
    return softmax(np.where(np.isneginf(masked), -np.inf, scores))


def is_right(gesture: str, guess: Guess, truth: Truth) -> bool:
    """Whether a guess is as good as can be asked: chips by the token that gets most. Where nobody set down what is
    right, each is.
    """
    if truth.answer is None:
        return True
    if gesture == "chips":
        chips = np.asarray(guess)
        return bool((chips == chips.max()).sum() == 1 and chips.argmax() == np.argmax(truth.answer))
    if gesture in ("slide", "number"):
        return abs(float(guess) - truth.answer) <= truth.near  # type: ignore[arg-type]
    return guess == truth.answer
