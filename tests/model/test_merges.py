"""Byte-pair encoding: each merge is the most frequent pair, and words are merged as by the tokenizers library."""

from collections import Counter
from itertools import pairwise

from tokenizers import Tokenizer
from tokenizers.models import BPE

from model.measures.merges import learned_merges, merge_steps

WORDS = ["low", "lower", "lowest", "new", "newer", "newest", "wide", "wider", "widest", "banana", "aaaa"]


def test_each_merge_is_the_most_frequent_pair_of_what_those_before_it_left() -> None:
    merges = learned_merges(WORDS, 12)
    for place, pair in enumerate(merges):
        parts = [steps[-1][1] if (steps := merge_steps(word, merges[:place])) else [*word] for word in WORDS]
        counts = Counter(one for word in parts for one in pairwise(word))
        assert counts[pair] >= max(counts.values()) - ("aa" in "".join(pair)), "of “aaa” the pairs lie on each other"


def test_a_word_is_merged_as_the_library_merges_it() -> None:
    learned, ordered = learned_merges(WORDS, 12), [("b", "c"), ("a", "b")]  # "ab" in "abc" must wait
    words = [(word, learned) for word in (*WORDS, "slowness", "bananas", "w")]
    for word, merges in [*words, *((word, ordered) for word in ("abc", "cabcab"))]:
        vocabulary = {*"".join(WORDS), *"abc", *map("".join, merges)}
        bpe = Tokenizer(BPE({piece: number for number, piece in enumerate(sorted(vocabulary))}, merges))
        steps = merge_steps(word, merges)
        parts = steps[-1][1] if steps else [*word]
        assert [part for part in parts if part in vocabulary] == bpe.encode(word).tokens and "".join(parts) == word
        before = [*word]
        for (left, right), after in steps:
            assert left + right in after and len(after) < len(before)
            before = after
