"""Byte-pair encoding: merges learned from words, and a word merged by them  (Sennrich, Haddow and Birch 2016)."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise

from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

Pair = tuple[str, str]


def learned_merges(words: Iterable[str], most: int) -> list[Pair]:
    """The first merges, at most `most`: each the most frequent pair of neighbours after the earlier merges. words: each
    counts once.
    """
    words, bpe = list(words), Tokenizer(BPE())
    trainer = BpeTrainer(vocab_size=len({*"".join(words)}) + most, show_progress=False)
    bpe.train_from_iterator(words, trainer)
    return [(left, right) for left, right in json.loads(bpe.to_str())["model"]["merges"]]


def merge_steps(word: str, merges: Sequence[Pair]) -> list[tuple[Pair, list[str]]]:
    """Steps from the letters of a word to its pieces: (pair merged, all pieces then), in the order in which merges were
    learned.
    """
    rank, parts, steps = {pair: place for place, pair in enumerate(merges)}, [*word], []
    while pairs := [pair for pair in pairwise(parts) if pair in rank]:
        best = min(pairs, key=rank.__getitem__)
        left, parts = parts, []
        while left:
            size = 2 if tuple(left[:2]) == best else 1
            parts.append("".join(left[:size]))
            left = left[size:]
        steps.append((best, parts))
    return steps
