"""Case: the run, token, layer and head of a question. Truth: its answer.

Independent of Streamlit; guesses and answers are plain values for JSON.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from model import Edit, Pipeline, Trace
from model.analysis import HAIR, placed, softmax
from model.edits import head_off
from model.measures.cost import multiply_adds, total
from model.measures.sweep import sweep
from model.measures.without import without
from model.pipeline import SPECIAL_TOKENS
from pages.drawing.text.numbers import decimal, first, fixed, written

OWN = "own"  # row of a question in a teacher's own words
CLEAR = 0.01  # least lead of a first answer that is asked about
MOST_PRODUCTS = 24_000_000_000  # multiply-adds for all runs that one question needs
PLAINLY = 0.35  # least lead of a row's clearly largest weight
GIVEN_AWAY = 1 / 3  # of the other rows, that look as far or at the same token: a pair is asked about below this
MOST_WEIGHED = 8  # heads shown in a question about the weight of each head
NEAR = 0.1  # tolerance of a guessed share
RIVAL = 0.5  # of the right answer's share: any option with as much counts as right
PLAINLY_OFF = 1.5  # a number this many tolerances away is clearly another
Guess = str | float | list[int]


@dataclass(frozen=True)
class Truth:
    """What is true in one run.

    answer: a word, an option, a number, or for each token its weight in hundredths. margin: how clear it is, in the
    measure of its question. said: values for its texts. options: what can be tapped, or gets a chip. span: least and
    largest possible number. near: tolerance of a number. bars: values for a bar chart, by names of texts, or else
    tokens or words. literal: whether answer and options are tokens or words. place: values of a Choice. told: names of
    the texts that explain it. ask: a teacher's own words.
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
    ask: str = ""

    @property
    def in_words(self) -> dict[str, object]:
        """Values for the texts of a question, numbers formatted."""
        return {name: value if isinstance(value, str) else short(value) for name, value in self.said.items()}  # type: ignore[arg-type]

    @property
    def seen(self) -> str:
        """The answer in comparable form, for words and tokens with what was asked about them; "" for an open
        question.
        """
        if self.answer is None:
            return ""
        if isinstance(self.answer, str | list):
            return repr((self.answer, self.said)) if self.literal else str(self.answer)
        return short(self.answer)


class Pair(NamedTuple):
    """A token and the one to which it attends most, in one head."""

    layer: int
    head: int
    query: int
    key: int

    @property
    def place(self) -> dict[str, int]:
        """Its values in a Choice."""
        return {"layer": self.layer, "head": self.head, "token": self.query, "key": self.key}


@dataclass(frozen=True)
class Case:
    """One unchanged run, with the token of its questions, and a layer and head (or all those that may be asked about);
    for a translation, a step. If the page shows one head or one step, questions are about that.
    """

    pipeline: Pipeline
    trace: Trace
    token: int
    names: Sequence[str] = ()  # of the outputs: words or classes
    layer: int | None = None
    head: int | None = None
    step: int | None = None

    @property
    def tokens(self) -> list[str]:
        return self.trace.tokens

    @property
    def layers(self) -> Sequence[int]:
        """Layers that may be asked about."""
        return range(self.trace.graph.layers()) if self.layer is None else [self.layer]

    @property
    def heads(self) -> list[tuple[int, int]]:
        """(layer, head) that may be asked about."""
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
        """Whether a score is a sum of several products, not only q · k."""
        return bool(self.trace.config.distance_terms)

    @property
    def answers(self) -> bool:
        """Whether the network gives an answer to ask about: the masked word, or the class of the input."""
        if "logits" not in self.trace:
            return False
        return "word" not in self.trace.axes("logits") or self.tokens[self.token] == "[MASK]"

    def shares(self, logits: np.ndarray) -> np.ndarray:
        """The probabilities at the token: (word,) or (class,)."""
        return softmax(logits.astype(np.float64)[self.token] if logits.ndim == 2 else logits.astype(np.float64))

    @property
    def visible(self) -> list[int]:
        """The other visible words or patches."""
        return [i for i, name in enumerate(self.tokens) if i != self.token and name not in SPECIAL_TOKENS]

    def affords(self, runs: int) -> bool:
        """Whether so many runs of this input are quick enough."""
        return runs * total(multiply_adds(self.trace.config, len(self.tokens))).number <= MOST_PRODUCTS

    def changed(self, edits: list[list[Edit]]) -> np.ndarray:
        """Probabilities with each of these sets of edits: (row, word) or (row, class)."""
        logits = sweep(self.pipeline, self.trace, edits, token=self.token)["logits"]
        return softmax(logits.astype(np.float64))

    def without(self, part: str) -> np.ndarray:
        """States after each layer, with and without a part of `without`: (2, layer, token, d_model)."""
        graph = self.trace.graph
        keys = [graph.stream(layer)[-1] for layer in range(graph.layers())]
        run = sweep(self.pipeline, self.trace, [[], [*without(graph, part)]], keys, token=self.token)
        return np.stack([run[key] for key in keys], axis=1).astype(np.float64)

    @cached_property
    def without_each(self) -> np.ndarray:
        """Probabilities unchanged, and with each head of the encoder off: (1 + heads, output)."""
        off = [[head_off(*where)] for where in self.every_head]
        return self.changed([[], *off])

    @cached_property
    def pair(self) -> Pair | None:
        """The pair to ask about: of heads in which the token clearly attends most to another word, and whose other rows
        do not show which if any is such, the one whose removal lowers the first answer most. Without an answer, or a
        clear head, the clearest. For a given head, its strongest key.
        """
        found = self._pairs[:MOST_WEIGHED]
        plain = [pair for lead, pair in found if lead >= PLAINLY]
        if len(plain) > 1 and self.answers and self.affords(len(plain) + 1):
            now, *without = self.changed([[], *([head_off(pair.layer, pair.head)] for pair in plain)])
            left = [float(there[now.argmax()]) for there in without]
            return plain[left.index(min(left))]
        return found[0][1] if found else None

    @cached_property
    def next_pair(self) -> Pair | None:
        """The pair to ask about after `pair`, whose answer tells nothing of it: in the clearest head in which the token
        clearly attends most to a third one. `pair` itself if there is none.
        """
        others = (one for lead, one in self._pairs if lead >= PLAINLY and self.pair and one.key != self.pair.key)
        return next(others, self.pair)

    @cached_property
    def _pairs(self) -> list[tuple[float, Pair]]:
        """The token's pairs with another visible word, with the lead of each, largest first: of heads whose other rows
        do not show which, if any is clear. Of a given head the only one.
        """
        found: list[tuple[float, Pair]] = []
        for layer, head in self.heads:
            row = self.trace[f"layers.{layer}.attention.weights"][head][self.token]
            pair = Pair(layer, head, self.token, int(row.argmax()))
            if pair.key in self.visible or len(self.heads) == 1:
                found.append((lead_of(row), pair))
        untold = [one for one in found if one[0] >= PLAINLY and self._told_by_others(one[1]) < GIVEN_AWAY]
        return sorted(untold or found, reverse=True)

    def _told_by_others(self, pair: Pair) -> float:
        """Share of the head's other rows that attend most to the same token, or to one as far away."""
        most = self.trace[f"layers.{pair.layer}.attention.weights"][pair.head].argmax(axis=1)
        others = np.delete(np.arange(len(most)), pair.query)
        return float(np.mean((most[others] == pair.key) | (most[others] - others == pair.key - pair.query)))

    def of_pair(self, pair: Pair) -> dict[str, object]:
        """Values for texts about a pair."""
        names = placed(self.tokens)
        where = {"layer": pair.layer + 1, "head": pair.head + 1}
        return where | {"query": names[pair.query], "key": names[pair.key]}


def first_answer(case: Case, edits: list[Edit]) -> Truth | None:
    """Which answer is first with these edits: the previous or another. margin: change of probability; 0 if there
    is no clear first answer before, or none after.
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
    """The probability of the first answer with these edits. either: whether it may also grow. margin: how much they
    take, or how much it moves; 0 if no answer leads clearly. The tolerance is a tenth, but less if the unchanged
    probability would otherwise count as right.
    """
    if (truth := first_answer(case, edits)) is None:
        return None
    (_, before), (_, after) = truth.bars
    lost, clear = abs(before - after) if either else before - after, truth.said["lead"] >= CLEAR  # type: ignore[operator]
    near = min(NEAR, abs(lost) / PLAINLY_OFF)
    return Truth(after, lost if clear else 0.0, truth.said, truth.bars, truth.place, near=near)


def short(value: float) -> str:
    """A number with as few digits as are accurate: 12,000, 18.8, 5.66, 0.41, −0.06."""
    if isinstance(value, int) or abs(value) >= 100:
        return written(f"{float(fixed(value, 0)):,.0f}")
    if 0 <= value < 1:
        return decimal(value)
    return written(fixed(value, 1 if abs(value) >= 10 else 2))


def step_of(span: tuple[float, float]) -> float:
    """The step of a slider, as on phones."""
    return 0.01 if span[1] <= 1 else 0.1


def lead_of(values: np.ndarray) -> float:
    """Lead of the largest of several values."""
    second, first = np.partition(values, -2)[-2:]
    return float(first - second)


def leads(shares: np.ndarray) -> bool:
    """Whether one answer is first, as displayed."""
    return first(shares, decimal).ahead


def unscaled(trace: Trace, layer: int, head: int, query: int, by: float = 1.0) -> np.ndarray:
    """A row of weights without ÷ √d_k, divided by `by` instead; masked keys stay masked."""
    name = f"layers.{layer}.attention."
    scores, masked = trace[name + "scores"][head, query].astype(np.float64) / by, trace[name + "masked"]
    if name + "relative" in trace:
        scores = scores + trace[name + "relative"][head, query]
    masked = np.broadcast_to(masked, trace[name + "weights"].shape)[head, query]
    return softmax(np.where(np.isneginf(masked), -np.inf, scores))


def is_right(gesture: str, guess: Guess, truth: Truth) -> bool:
    """Whether a guess counts as right; for chips, if the right token gets most; a number if it is written alike.
    Without a right answer, every guess does.
    """
    if truth.answer is None:
        return True
    if gesture == "chips":
        chips = np.asarray(guess)
        return bool((chips == chips.max()).sum() == 1 and chips.argmax() == np.argmax(truth.answer))
    if gesture in ("slide", "number"):
        given, answer = float(guess), float(truth.answer)  # type: ignore[arg-type]
        return short(given) == short(answer) or abs(given - answer) <= truth.near + HAIR
    return guess == truth.answer
