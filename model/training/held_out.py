"""What the tables are measured on: treebanks, held-out sentences and held-out pairs, as the networks read them."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from model.decoder import TARGET_LANGUAGES
from model.pipeline import Pipeline
from model.training.alignment import Model1, align, anchors
from model.training.corpus import LANGUAGES, Pair, held_out, held_sentences, read_pairs, sentences
from model.training.observe import Attended, attention, pair_attention
from model.training.relations import BETWEEN, LONGEST, TREEBANKS, Parsed, read, treebank
from model.translator import Translator

SENTENCES = 800  # of each language
MOST_UNKNOWN = 0.05  # share of pieces, in a language that an encoder knows
WAYS = (LANGUAGES, LANGUAGES[::-1])  # source, and what it is translated into


@dataclass(frozen=True)
class Observed:
    """One language's sentences as an encoder read them."""

    parsed: list[Parsed]  # its treebank
    texts: list[str]  # held-out sentences
    ids: list[list[int]]
    seen: list[Attended]


@dataclass(frozen=True)
class ObservedPairs:
    """The held-out pairs as the translator writes them into one language, told at each step what it wrote before."""

    sources: list[str]
    own: list[Attended]
    cross: list[Attended]
    likely: list[np.ndarray]  # (target piece, source piece): the statistical alignment
    sure: list[np.ndarray]  # the pairs that leave no doubt


def observe_sentences(pipeline: Pipeline, data: Path) -> dict[str, Observed]:
    """Run the text encoder on each language's treebank, and on its first held-out sentences."""
    return {one: _observe(pipeline, data, one, held_sentences(data, one)[:SENTENCES]) for one in LANGUAGES}


def observe_others(pipeline: Pipeline, data: Path) -> dict[str, Observed]:
    """The same of an encoder that others trained, on what was held out from ours, in the languages that it knows.

    It knows a language whose held-out sentences it cuts into no more pieces than they have signs, and into hardly any
    that are unknown.
    """
    observed = {}
    for language in LANGUAGES:
        texts = [line for line in sentences(data, language) if held_out(line)][:SENTENCES]
        pieces = [piece for text in texts for piece in pipeline.reader.pieces(text)]
        if len(pieces) <= sum(map(len, texts)) and pieces.count("[UNK]") < MOST_UNKNOWN * len(pieces):
            observed[language] = _observe(pipeline, data, language, texts)
    return observed


def _observe(pipeline: Pipeline, data: Path, language: str, texts: list[str]) -> Observed:
    parsed = read(pipeline, treebank(data / "ud" / TREEBANKS[language][0]), BETWEEN[language])
    ids = [encoding.ids for encoding in pipeline.reader.tokenizer.encode_batch(texts)]
    short = [i for i, row in enumerate(ids) if len(row) <= min(pipeline.config.max_len, LONGEST)]
    texts, ids = [texts[i] for i in short], [ids[i] for i in short]
    return Observed(parsed, texts, ids, attention(pipeline, ids))


def observe_pairs(translator: Translator, data: Path) -> dict[str, ObservedPairs]:
    """Run the translator on the held-out pairs, into each language, and align their pieces."""
    tokenizer, vocabulary = translator.reader.tokenizer, translator.reader.vocabulary

    def cut(pairs: list[Pair]) -> dict[str, list[list[int]]]:
        return {one: [e.ids for e in tokenizer.encode_batch([pair[one] for pair in pairs])] for one in LANGUAGES}

    learned, held = read_pairs(data)
    known = {language: [ids[1:-1] for ids in rows] for language, rows in cut(learned).items()}
    lengths = [max(map(len, sides)) for sides in zip(*cut(held).values(), strict=True)]
    held = [pair for pair, length in zip(held, lengths, strict=True) if length <= translator.config.max_len]
    ids = cut(held)
    model = {into: Model1(known[source], known[into], len(vocabulary)) for source, into in WAYS}
    observed = {}
    for source, into in WAYS:
        start = len(vocabulary) + list(TARGET_LANGUAGES).index(into)
        targets = [[start, *row[1:-1]] for row in ids[into]]
        own, cross = pair_attention(translator.network, vocabulary, ids[source], targets)
        pairs = zip(ids[source], targets, strict=True)
        aligned = [align(model[into], model[source], x[1:-1], y[1:]) for x, y in pairs]
        sure = [anchors(one.keys[1:-1], one.queries[1:]) for one in cross]
        observed[into] = ObservedPairs([pair[source] for pair in held], own, cross, aligned, sure)
    return observed
