"""Which head follows which grammatical relation, by the method of Clark et al. 2019 ("What Does BERT Look At?", 4.2).

A head "finds" a relation for a word if the word that it looks at most is the right one; [CLS], [SEP] and the word
itself are left out. Both directions are tried, from the dependent to its head and back. What it must beat is a fixed
offset: "always the next word" is already right for most determiners.
"""

import lzma
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain, pairwise
from pathlib import Path

import numpy as np

from model.pipeline import Pipeline
from model.trace import Trace

FEWEST = 200  # times that a relation must occur to be listed
FARTHEST = 6  # words; offsets tried for the baseline


@dataclass(frozen=True)
class Sentence:
    """Words with the place of each one's head (-1 for the root) and the relation to it."""

    words: list[str]
    heads: list[int]
    relations: list[str]


@dataclass(frozen=True)
class Found:
    """How well one attention head finds one relation, and what the best fixed offset does. Layer and head from 0."""

    relation: str
    layer: int
    head: int
    from_dependent: bool
    accuracy: float
    baseline: float
    offset: int
    count: int


def treebank(path: Path) -> list[Sentence]:
    """The sentences of a CoNLL-U file."""
    sentences = []
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for block in file.read().strip().split("\n\n"):
            rows = [line.split("\t") for line in block.splitlines() if not line.startswith("#")]
            rows = [row for row in rows if row[0].isdigit()]  # no multi-word tokens, no empty nodes
            sentences.append(Sentence([r[1] for r in rows], [int(r[6]) - 1 for r in rows], [r[7] for r in rows]))
    return sentences


def read(pipeline: Pipeline, sentence: Sentence) -> tuple[Trace, list[list[int]]] | None:
    """The run on a sentence, and the places of each word's pieces; None where it does not fit."""
    tokenizer = pipeline.reader.tokenizer
    pieces = [tokenizer.encode(word, add_special_tokens=False).ids for word in sentence.words]
    ids = [tokenizer.token_to_id("[CLS]"), *chain.from_iterable(pieces), tokenizer.token_to_id("[SEP]")]
    if len(ids) > pipeline.config.max_len or not all(pieces) or len(pieces) < 2:
        return None
    ends = np.cumsum([1, *map(len, pieces)])
    places = [list(range(*pair)) for pair in pairwise(ends.tolist())]
    return pipeline(tuple(ids)), places


def word_weights(trace: Trace, layer: int, places: list[list[int]]) -> np.ndarray:
    """Attention among words (head, word, word): to a word is the sum over its pieces, from a word their mean."""
    A = trace[f"layers.{layer}.attention.weights"]
    to_words = np.stack([A[:, :, place].sum(-1) for place in places], axis=-1)
    return np.stack([to_words[:, place].mean(1) for place in places], axis=1)


def relation_table(pipeline: Pipeline, sentences: list[Sentence]) -> list[Found]:
    """For each frequent relation, the head that finds it best, most frequent first."""
    layers, heads = pipeline.config.layers, pipeline.config.heads
    hits: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((2, layers, heads)))
    offsets: dict[str, Counter[int]] = defaultdict(Counter)
    for sentence in sentences:
        if (run := read(pipeline, sentence)) is None:
            continue
        arcs = [(d, h, r) for d, (h, r) in enumerate(zip(sentence.heads, sentence.relations, strict=True)) if h >= 0]
        for _, _, relation in arcs:
            _ = hits[relation]
        dependents, governors = np.array([a[0] for a in arcs], int), np.array([a[1] for a in arcs], int)
        for layer in range(layers):
            weights = word_weights(run[0], layer, run[1])
            weights[:, range(len(run[1])), range(len(run[1]))] = -1
            looked_at = weights.argmax(-1)  # (head, word)
            right = np.stack([looked_at[:, dependents] == governors, looked_at[:, governors] == dependents])
            for arc, (_, _, relation) in enumerate(arcs):
                hits[relation][:, layer] += right[:, :, arc]
        for dependent, governor, relation in arcs:
            offsets[relation][governor - dependent] += 1
    table = []
    for relation, counts in sorted(offsets.items(), key=lambda item: -item[1].total()):
        if counts.total() < FEWEST:
            break
        way, layer, head = np.unravel_index(hits[relation].argmax(), hits[relation].shape)
        near = {offset: count for offset, count in counts.items() if abs(offset) <= FARTHEST}
        offset = max(near, key=near.__getitem__)
        accuracy, baseline = hits[relation].max() / counts.total(), near[offset] / counts.total()
        table.append(Found(relation, int(layer), int(head), way == 0, accuracy, baseline, offset, counts.total()))
    return table


def neighbour_table(pipeline: Pipeline, sentences: list[Sentence]) -> dict[int, tuple[int, int, float, float]]:
    """For the previous (-1) and the next (+1) piece: the head (layer, head) that looks at it most.

    Also the share of places where it is the piece looked at most, and the mean weight on it.
    """
    layers, heads = pipeline.config.layers, pipeline.config.heads
    hits, weight = {s: np.zeros((layers, heads)) for s in (-1, 1)}, {s: np.zeros((layers, heads)) for s in (-1, 1)}
    count = 0
    for sentence in sentences:
        if (run := read(pipeline, sentence)) is None:
            continue
        inner = np.arange(1, len(run[0].tokens) - 1)
        count += len(inner)
        for layer in range(layers):
            A = run[0][f"layers.{layer}.attention.weights"]
            for step in (-1, 1):
                hits[step][layer] += (A[:, inner].argmax(-1) == inner + step).sum(-1)
                weight[step][layer] += A[:, inner, inner + step].sum(-1)
    best = {}
    for step in (-1, 1):
        layer, head = np.unravel_index(hits[step].argmax(), hits[step].shape)
        best[step] = (int(layer), int(head), hits[step].max() / count, weight[step][layer, head] / count)
    return best
