"""What each attention head does, measured over a corpus.

A candidate for a head's role says which keys are the right ones for a query: the next piece, the verb that a subject
belongs to, … It *holds* at a place if the key looked at most is one of them; nothing is left out, so a head that rests
on [CLS] holds nothing else. Its *margin* is how far it stands above its baseline:

- of a relation, an alignment, the same word elsewhere and the rest of a word: the best fixed offset ("always two on");
- of the others: the share of right keys among all, which is what a head gets that looks anywhere.

The role of a head is

1. broad, if it spreads so in half of its places or more: whom it looks at most then says little;
2. else what holds most often, of what is asked of every token (EVERYWHERE) and holds in half of its places or more,
   and of the other candidates that stand at least CLEAR above their baselines (AIMLESS ones left out);
3. else what stands furthest above its baseline.

It is chosen on one half of the sentences; its figures are those of the other half.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from model.training.observe import Attended, kinds
from model.training.relations import FARTHEST, Parsed, word_weights

CLEAR = 0.1
SPREAD = 0.75  # "broad": 2^entropy is at least this share of the tokens that may be looked at
AIMLESS = ("delimiter", "punctuation", "broad")
EVERYWHERE = ("next", "previous", "itself", *AIMLESS)
BY_OFFSET = ("relation", "same", "word", "aligned", "aligned_next")  # whose baseline is the best fixed offset
OFFSETS = np.arange(-FARTHEST, FARTHEST + 1)


@dataclass(frozen=True)
class Candidate:
    """A role that a head may have; of a relation, `direction` says who looks: "to_head" or "to_dependent"."""

    name: str
    relation: str | None = None
    direction: str | None = None


@dataclass(frozen=True)
class Run:
    """A run, and for each candidate which keys would be right: (query, key) of booleans.

    Where `groups` are given (words in pieces), they are the queries and the keys, not the single tokens.
    """

    attended: Attended
    right: dict[Candidate, np.ndarray]
    groups: list[list[int]] | None = None
    text: str = ""  # what a person would type to get these tokens; empty where nothing does

    def tokens(self, unit: int) -> list[int]:
        """The places of a query's or a key's tokens."""
        return self.groups[unit] if self.groups else [unit]


@dataclass(frozen=True)
class Evidence:
    """All places where a candidate was asked for: arrays with one row for each."""

    where: np.ndarray  # (place, 2): number of the run, query
    holds: np.ndarray  # (place, layer, head) of booleans
    strength: np.ndarray  # (place, layer, head): largest weight on a right key; of "broad", 2^entropy / tokens
    chance: np.ndarray  # (place,): share of right keys
    offsets: np.ndarray  # (place, offset) of booleans: whether the key so far on is a right one

    @classmethod
    def join(cls, parts: Sequence["Evidence"]) -> "Evidence":
        columns = ([vars(part)[name] for part in parts] for name in cls.__dataclass_fields__)
        return cls(*map(np.concatenate, columns))

    def shifted(self, by: int) -> "Evidence":
        """The same, its runs numbered so much higher."""
        return replace(self, where=self.where + np.array([by, 0]))


@dataclass(frozen=True)
class Measured:
    """A candidate's figures for one head."""

    candidate: Candidate
    share: float
    margin: float
    count: int


# -- what is asked ---------------------------------------------------------------------------------------------


def piece_run(attended: Attended, text: str = "", more: dict[Candidate, np.ndarray] | None = None) -> Run:
    """What can be asked of any sentence; `more` has what only this one can answer, such as an alignment."""
    queries, keys, visible = attended.queries, attended.keys, attended.visible
    kind, looks = kinds(keys), (kinds(queries) != "special")[:, None]
    own, word = np.zeros(visible.shape, dtype=bool), kind != "special"
    right = {
        "delimiter": np.broadcast_to(kind == "special", visible.shape),
        "punctuation": np.broadcast_to(kind == "punctuation", visible.shape),
        "broad": visible,
    }
    if queries is keys:  # self-attention
        own = np.eye(len(keys), dtype=bool)
        right |= {"itself": own, "next": np.roll(own, 1, axis=1) & word, "previous": np.roll(own, -1, axis=1) & word}
    right["same"] = np.array([[query == key for key in keys] for query in queries]) & ~own
    asked = {Candidate(name): table & looks & visible for name, table in right.items()}
    return Run(attended, asked | (more or {}), text=text)


def treebank_runs(parsed: Parsed, text: str = "") -> tuple[Run, Run]:
    """What only a parsed sentence can answer: its words' relations, both ways, and the rest of a word in pieces."""
    n = len(parsed.places) + 2
    right: dict[Candidate, np.ndarray] = {}
    for dependent, governor, relation in parsed.sentence.arcs:
        for direction, query, key in (("to_head", dependent, governor), ("to_dependent", governor, dependent)):
            candidate = Candidate("relation", relation, direction)
            right.setdefault(candidate, np.zeros((n, n), dtype=bool))[query + 1, key + 1] = True
    rest = np.zeros((len(parsed.attended.keys),) * 2, dtype=bool)
    for place in parsed.places:
        rest[np.ix_(place, place)] = ~np.eye(len(place), dtype=bool)
    groups = [[0], *parsed.places, [len(rest) - 1]]
    return Run(parsed.attended, right, groups, text), Run(parsed.attended, {Candidate("word"): rest}, text=text)


# -- what is found ---------------------------------------------------------------------------------------------


def gather(runs: Sequence[Run]) -> dict[Candidate, Evidence]:
    """The evidence for each candidate that the runs ask for."""
    found: dict[Candidate, list[Evidence]] = {}
    for number, run in enumerate(runs):
        weights, visible = run.attended.weights, run.attended.visible
        if run.groups:
            weights, visible = word_weights(weights, run.groups), np.ones((len(run.groups),) * 2, dtype=bool)
        looked_at = weights.argmax(-1)  # (layer, head, query)
        for candidate, right in run.right.items():
            if len(asked := np.flatnonzero(right.any(1))):
                evidence = _evidence(number, candidate, asked, weights[:, :, asked], looked_at, right, visible)
                found.setdefault(candidate, []).append(evidence)
    return {candidate: Evidence.join(parts) for candidate, parts in found.items()}


def _evidence(
    number: int,
    candidate: Candidate,
    asked: np.ndarray,
    weights: np.ndarray,
    looked_at: np.ndarray,
    right: np.ndarray,
    visible: np.ndarray,
) -> Evidence:
    """One run's evidence: `weights` are the rows (layer, head, asked, key) of the queries that are asked."""
    if candidate.name == "broad":
        logarithms = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)
        strength = 2 ** -(weights * logarithms).sum(-1) / visible[asked].sum(1)
        holds, chance = strength > SPREAD - 1e-4, np.zeros(len(asked))
    else:
        strength = np.where(right[asked], weights, 0).max(-1)
        holds = right[asked, looked_at[:, :, asked]]
        chance = right[asked].sum(1) / visible[asked].sum(1)
    key = asked[:, None] + OFFSETS
    inside = (key >= 0) & (key < right.shape[1])
    offsets = right[asked[:, None], key.clip(0, right.shape[1] - 1)] & inside
    where = np.stack([np.full(len(asked), number), asked], axis=1)
    return Evidence(where, np.moveaxis(holds, -1, 0), np.moveaxis(strength, -1, 0).astype(np.float32), chance, offsets)


def measure(evidence: dict[Candidate, Evidence], fewest: int) -> list[list[list[Measured]]]:
    """For each layer and head, every candidate that was asked for often enough: its role first, then by margin."""
    rows = []
    for candidate, found in evidence.items():
        if len(found.holds) >= fewest:
            baseline = found.offsets.mean(0).max() if candidate.name in BY_OFFSET else found.chance.mean()
            rows.append((candidate, found.holds.mean(0), float(baseline), len(found.holds)))
    layers, heads = rows[0][1].shape
    return [
        [
            _ranked([Measured(c, float(s[layer, head]), float(s[layer, head]) - b, n) for c, s, b, n in rows])
            for head in range(heads)
        ]
        for layer in range(layers)
    ]


def measure_apart(
    chosen_on: dict[Candidate, Evidence], apart: dict[Candidate, Evidence], fewest: int
) -> list[list[list[Measured]]]:
    """What `measure` finds on some sentences, in that order, with the figures of others, on which nothing was chosen.

    fewest: how often a candidate must be asked for in both together.
    """
    asked = [
        candidate
        for candidate, found in chosen_on.items()
        if candidate in apart and len(found.holds) + len(apart[candidate].holds) >= fewest
    ]
    ranked, figures = (measure({one: half[one] for one in asked}, 1) for half in (chosen_on, apart))
    return [[_in_order(*head) for head in zip(*layer, strict=True)] for layer in zip(ranked, figures, strict=True)]


def _in_order(ranked: list[Measured], figures: list[Measured]) -> list[Measured]:
    """The figures in the order of the candidates that are ranked."""
    of_each = {one.candidate: one for one in figures}
    return [of_each[one.candidate] for one in ranked]


def _ranked(measured: list[Measured]) -> list[Measured]:
    """By the rule at the top of this file: the role first, and the others by their margin."""
    mostly = [one for one in measured if one.candidate.name in EVERYWHERE and one.share >= 0.5]
    special = [one for one in measured if one.candidate.name not in AIMLESS and one.margin >= CLEAR]
    if mostly or special:
        role = max(mostly + special, key=lambda one: (one.candidate.name == "broad", one.share))
    else:
        role = max(measured, key=lambda one: one.margin)
    rest = [one for one in measured if one is not role]
    return [role, *sorted(rest, key=lambda one: -one.margin)]
