"""Which head follows which grammatical relation, by the method of Clark et al. 2019 ("What Does BERT Look At?", 4.2).

A head "finds" a relation for a word if the word that it looks at most is the right one; [CLS], [SEP] and the word
itself are left out. Both directions are tried, from the dependent to its head and back. What it must beat is a fixed
offset: "always the next word" is already right for most determiners.

The best of many heads is partly the luckiest. So it is chosen on one half of the sentences and measured on the other.
"""

import hashlib
import lzma
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from model.pipeline import Pipeline, TextReader
from model.training.corpus import letters
from model.training.observe import Attended, attention

#: The treebank of each language, and how often a relation must occur in it to be listed. The Chinese one has 500
#: sentences against 2,001, longer ones; at half the count about as many relations are listed.
TREEBANKS = {"en": ("en_ewt-dev.conllu.xz", 200), "zh": ("zh_gsdsimp-dev.conllu.xz", 100)}
BETWEEN = {"en": " ", "zh": ""}  # what parts the words of a language
LONGEST = 64  # tokens: as much as our own encoder reads
FARTHEST = 6  # words; offsets tried for the baseline


@dataclass(frozen=True)
class Sentence:
    """Words with the place of each one's head (-1 for the root) and the relation to it."""

    words: list[str]
    heads: list[int]
    relations: list[str]

    @property
    def arcs(self) -> list[tuple[int, int, str]]:
        """(dependent, head, relation), the root's left out."""
        return [(d, h, r) for d, (h, r) in enumerate(zip(self.heads, self.relations, strict=True)) if h >= 0]


@dataclass(frozen=True)
class Parsed:
    """A sentence of a treebank as the network read it: `places` are each word's pieces among the tokens."""

    sentence: Sentence
    places: list[list[int]]
    attended: Attended


@dataclass(frozen=True)
class Found:
    """How well one attention head finds one relation, and what the best fixed offset does. Layer and head from 0.

    All figures are of the sentences that the head was not chosen on.
    """

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


def read(pipeline: Pipeline, sentences: list[Sentence], between: str = " ") -> list[Parsed]:
    """Run the network on the sentences that have two words or more and fit into it. between: what parts their words."""
    reader = pipeline.reader
    fitting, rows, places = [], [], []
    for sentence in sentences:
        words = sentence.words
        ids, pieces = _whole(reader, words, between) if reader.space else cut_words(reader.tokenizer, words)
        if len(ids) <= min(pipeline.config.max_len, LONGEST) and all(pieces) and len(pieces) > 1:
            fitting.append(sentence)
            rows.append(ids)
            places.append(pieces)
    seen = attention(pipeline, rows)
    return [Parsed(*one) for one in zip(fitting, places, seen, strict=True)]


def cut_words(tokenizer: Tokenizer, words: list[str]) -> tuple[list[int], list[list[int]]]:
    """A sentence's ids, and the places of each word's pieces."""
    pieces = [tokenizer.encode(word, add_special_tokens=False).ids for word in words]
    ends = np.cumsum([1, *map(len, pieces)]).tolist()
    cls, sep = map(tokenizer.token_to_id, ("[CLS]", "[SEP]"))
    return [cls, *chain.from_iterable(pieces), sep], [list(range(*pair)) for pair in pairwise(ends)]


def _whole(reader: TextReader, words: list[str], between: str) -> tuple[list[int], list[list[int]]]:
    """The same where the spaces belong to the pieces, so that no word can be cut by itself.

    A word without a piece of its own, since one reaches over two words, has no places.
    """
    text, starts = between.join(words), [0, *accumulate(len(word) + len(between) for word in words[:-1])]
    encoding = reader.encode(text)
    places: list[list[int]] = [[] for _ in words]
    for place, (start, end) in enumerate(encoding.offsets):
        if text[start:end].strip():
            first, last = (bisect_right(starts, at) - 1 for at in (end - len(text[start:end].lstrip()), end - 1))
            if first != last:
                return encoding.ids, [[]]
            places[last].append(place)
    return encoding.ids, places


def word_weights(weights: np.ndarray, places: list[list[int]]) -> np.ndarray:
    """Attention among words (…, word, word): to a word is the sum over its pieces, from a word their mean."""
    to_words = np.stack([weights[..., place].sum(-1) for place in places], axis=-1)
    return np.stack([to_words[..., place, :].mean(-2) for place in places], axis=-2)


def kept_apart(attended: Attended) -> bool:
    """Whether a sentence is of the half that is measured on; what is measured there was chosen on the other half.

    By the hash of its letters, so that the same sentence is never in both.
    """
    digest = hashlib.sha256(letters("".join(attended.keys)).encode()).digest()
    return digest[4] % 2 == 1  # of all that `held_out` keeps, the four bytes before are an even number


def relation_table(
    parsed: list[Parsed], apart: list[Parsed], fewest: int, without: Iterable[tuple[int, int]] = ()
) -> list[Found]:
    """For each relation, the head that finds it best in `parsed`, and how well it does `apart`; most frequent first.

    The fixed offset is the best one of those apart, so that the comparison favours it. Listed is what occurs `fewest`
    times or more in both together. without: heads (layer, head) that are not asked.
    """
    (hits, offsets), (hits_apart, offsets_apart) = _counted(parsed), _counted(apart)
    table = []
    for relation, counts in sorted(offsets_apart.items(), key=lambda item: -item[1].total()):
        if relation not in offsets or counts.total() + offsets[relation].total() < fewest:
            continue
        for place in without:
            hits[relation][:, *place] = 0
        way, layer, head = (int(i) for i in np.unravel_index(hits[relation].argmax(), hits[relation].shape))
        near = {offset: count for offset, count in counts.items() if abs(offset) <= FARTHEST}
        offset = max(near, key=near.__getitem__, default=1)
        accuracy = float(hits_apart[relation][way, layer, head]) / counts.total()
        baseline = near.get(offset, 0) / counts.total()
        table.append(Found(relation, layer, head, way == 0, accuracy, baseline, offset, counts.total()))
    return table


def _counted(parsed: list[Parsed]) -> tuple[dict[str, np.ndarray], dict[str, Counter[int]]]:
    """How often each head finds each relation, (way, layer, head), and how often the right word is so far on."""
    hits: dict[str, np.ndarray] = defaultdict(lambda: np.zeros((2, *parsed[0].attended.weights.shape[:2])))
    offsets: dict[str, Counter[int]] = defaultdict(Counter)
    for one in parsed:
        weights = word_weights(one.attended.weights, one.places)
        weights[..., range(len(one.places)), range(len(one.places))] = -1
        looked_at = weights.argmax(-1)  # (layer, head, word)
        for dependent, governor, relation in one.sentence.arcs:
            hits[relation][0] += looked_at[..., dependent] == governor
            hits[relation][1] += looked_at[..., governor] == dependent
            offsets[relation][governor - dependent] += 1
    return hits, offsets


def neighbour_table(seen: list[Attended]) -> dict[int, tuple[int, int, float, float]]:
    """For the previous (-1) and the next (+1) piece: the head (layer, head) that looks at it most.

    Also the share of places where it is the piece looked at most, and the mean weight on it.
    """
    shape = seen[0].weights.shape[:2]
    hits, weight = {s: np.zeros(shape) for s in (-1, 1)}, {s: np.zeros(shape) for s in (-1, 1)}
    count = 0
    for one in seen:
        inner = np.arange(1, len(one.keys) - 1)
        count += len(inner)
        looked_at = one.weights.argmax(-1)
        for step in (-1, 1):
            hits[step] += (looked_at[..., inner] == inner + step).sum(-1)
            weight[step] += one.weights[..., inner, inner + step].sum(-1)
    best = {}
    for step in (-1, 1):
        layer, head = (int(i) for i in np.unravel_index(hits[step].argmax(), shape))
        best[step] = (layer, head, float(hits[step].max() / count), float(weight[step][layer, head] / count))
    return best
