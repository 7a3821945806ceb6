"""Two lists of tokens are aligned: shared tokens together, differing ones side by side as far as they go."""

from model.measures.comparison import Pair, align


def test_words_are_aligned_and_differences_marked() -> None:
    one = ["[CLS]", "i", "sat", "by", "the", "river", "bank", "[SEP]"]
    other = ["[CLS]", "i", "put", "money", "in", "the", "bank", "[SEP]"]
    pairs = align(one, other)
    assert [p.one for p in pairs if p.one is not None] == list(range(len(one)))
    assert [p.other for p in pairs if p.other is not None] == list(range(len(other)))
    assert all(p.same == (None not in p[:2] and one[p.one] == other[p.other]) for p in pairs)
    assert Pair(6, 6, True) in pairs and Pair(5, None, False) in pairs
    assert align(["a", "b"], ["a", "c"]) == [Pair(0, 0, True), Pair(1, 1, False)]


def test_sentences_of_one_length_stay_place_by_place_unless_one_is_shifted() -> None:
    assert [pair.same for pair in align("我爱你。", "你爱我。")] == [False, True, False, True]
    assert [(pair.one, pair.other) for pair in align("我爱你。", "你爱我。")] == [(place, place) for place in range(4)]
    assert [pair[:2] for pair in align("abcd", "bcde")] == [(0, None), (1, 0), (2, 1), (3, 2), (None, 3)]
