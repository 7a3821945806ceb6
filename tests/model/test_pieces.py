"""Sentences are tokenized as by transformers' own tokenizers, in every family, and shown with the same marks."""

import random
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import transformers
from tokenizers import decoders, pre_tokenizers

from model import load
from model.analysis import cut_words, piece_kinds, spelled, units, whole_words
from model.checkpoints.pieces import bytes_of, marked
from model.pipeline import TextReader
from model.training.observe import activations, attention
from tests.model.families import saved_t5
from tests.model.making import ROUND
from tests.model.pieces import FAMILIES, byte_level, folder_of, sentence_pieces, tokenizer_of

SENTENCES = ["the cats sat .", "happily , it's 12", "  a mat", "été 我爱你。", "the [MASK] sat", "[MASK] [MASK] ball ."]


families = pytest.mark.parametrize("family", FAMILIES)


def reader_of(family: str) -> TextReader:
    reader = load(str(folder_of(family))).reader
    assert isinstance(reader, TextReader)
    return reader


def as_they_type_it(tokenizer: transformers.PreTrainedTokenizerBase, text: str) -> str:
    return text.replace("[MASK]", tokenizer.mask_token or "[MASK]")


@families
def test_a_sentence_or_a_pair_is_cut_and_told_apart_as_theirs(family: str) -> None:
    theirs, reader = tokenizer_of(family), reader_of(family)
    segments = load(str(folder_of(family))).config.segments
    for one, other, typed in (
        *((one, other, f"{one}{space}[SEP]{space}{other}")
          for one, other, space in zip(SENTENCES, SENTENCES[::-1], ["", " ", "  ", "\t", "\n ", " "], strict=True)),
        *((one, None, one) for one in SENTENCES),
        *((SENTENCES[0], None, f"{SENTENCES[0]}{behind}") for behind in (" [SEP]", "[SEP]", " \n [SEP] ")),
    ):  # fmt: skip
        given = [as_they_type_it(theirs, text) for text in (one, other or "")]
        found = theirs(given[0], given[1].lstrip() if other else None, return_token_type_ids=True)
        reading = reader.read(typed)
        assert reading.ids == found["input_ids"]
        assert list(reading.segments) == (found["token_type_ids"] if segments else [])
        assert reader.read(tuple(reading.ids)).segments == reading.segments


MIXED = [
    "my café 👍🏽 sat , أحب 龘 été 🇩🇪 नमस्ते cats",
    "é 👩‍👩‍👧 e\u0301t e\u0301 ! [SEP] 👍🏽 é",
    "🏳️‍🌈🏳️‍🌈 1️⃣2️⃣ ñ-ü привет, 한국어 mat",
    "12,34 it's happily [MASK] أ",
]


def names_of(tokens: list[str], groups: list[list[int]]) -> list[str]:
    return [spelled([tokens[place] for place in places]) for places in groups]


@pytest.mark.parametrize(
    ("family", "sentence"), list(zip(["roberta", "roberta with a space", "deberta", "modernbert"], MIXED, strict=True))
)
def test_words_are_spelled_as_they_were_typed_and_a_character_is_one_unit(family: str, sentence: str) -> None:
    reading = reader_of(family).read(sentence)
    tokens = [token for token in reading.tokens if token not in ("[CLS]", "[SEP]", "[MASK]")]
    typed = sentence.replace("[SEP]", "").replace("[MASK]", "").split()
    assert "".join(names_of(tokens, whole_words(tokens))).replace("␣", "") == "".join(typed)
    names = names_of(reading.tokens, units(reading.tokens))
    for character in ("é", "👍🏽", "أ", "龘", "🇩🇪", "👩‍👩‍👧", "e\u0301", "🏳️‍🌈", "1️⃣", "ñ", "й", "п"):
        assert sum(name.count(character) for name in names) == sentence.count(character)
    assert not any(re.search(r"\\x|/", name) for name in names)
    kinds = dict(zip(names, piece_kinds(names), strict=True))
    assert all(kinds[name] != "whole" for name in kinds if name.lstrip("␣") in ("👍🏽", "🇩🇪", "👩‍👩‍👧", "🏳️‍🌈"))


@pytest.mark.parametrize("family", [family for family in FAMILIES if family != "t5"])  # it has no [MASK]
def test_what_is_left_of_a_sentence_is_written_as_it_was_when_a_word_is_hidden(family: str) -> None:
    reader = reader_of(family)
    reading = reader.read(MIXED[[*FAMILIES].index(family) % len(MIXED)])
    for places in whole_words(reading.tokens):
        hidden = reader.read(reader.hide(reading.ids, places)).tokens
        expected = ["[MASK]" if place in places else token for place, token in enumerate(reading.tokens)]
        assert hidden == expected
        assert not hidden[places[-1] + 1].startswith("##")


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["[CLS]", "␣", "my", "cat", "[SEP]"], ["my", "cat"]),
        (["[CLS]", "␣", "[MASK]", "␣", "é 1/2", "##é 2/2 t", "[SEP]"], ["␣", "[MASK]", "ét"]),
        (["[CLS]", "␣ب 1/2", "##ب 2/2 ا 1/2", "##ا 2/2", "##لا", "␣", "[SEP]"], ["␣بالا", "␣"]),
    ],
)
def test_a_space_belongs_to_the_word_behind_it(tokens: list[str], words: list[str]) -> None:
    assert names_of(tokens, whole_words(tokens)) == words


#: How pieces are shown.
kinds = pytest.mark.parametrize("family", [byte_level, sentence_pieces])
SENTENCE = "the unhappy cats sat , happily, on 12 mats. 我爱你。"


@kinds
def test_pieces_are_written_as_word_piece_writes_them(family: str) -> None:
    tokens = reader_of(family).read(SENTENCE).tokens
    assert (tokens[0], tokens[-1]) == ("[CLS]", "[SEP]")
    words = ["".join(tokens[i].removeprefix("##") for i in places) for places in whole_words(tokens)]
    expected = ["the", "unhappy", "cats", "sat", ",", "happily", ",", "on", "12", "mats", "."]
    assert [word.removeprefix("␣") for word in words if word != "␣"][: len(expected)] == expected
    assert all(parts[0][:2] != "##" and all(part[:2] == "##" for part in parts[1:]) for parts in cut_words(tokens))
    assert not reader_of(family).looked_up("unhappy"), "only of WordPiece it is said how it cuts"
    assert "unhappy" in ["".join(part.removeprefix("##") for part in parts) for parts in cut_words(tokens)]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (" cat", "cat"),
        ("cat", "##cat"),
        ("12", "##12"),
        (" ,", "␣,"),
        (",", ","),
        (" 我", "␣我"),
        ("我", "我"),
        ("  ", "␣␣"),
    ],
)
def test_what_goes_on_a_word_is_marked_and_a_space_before_a_sign(text: str, shown: str) -> None:
    assert marked(text) == shown


@kinds
def test_no_two_pieces_look_the_same(family: str) -> None:
    vocabulary = reader_of(family).vocabulary
    assert len(set(vocabulary)) == len(vocabulary)
    assert all(piece.isprintable() for piece in vocabulary)


@kinds
def test_a_sentence_begins_with_a_plain_word(family: str) -> None:
    for sentence in ("sat the cats", "the cats [SEP] sat it"):
        tokens = reader_of(family).read(sentence).tokens
        for before, token in pairwise(tokens):
            assert before not in ("[CLS]", "[SEP]", "␣") or token == "␣" or not token.startswith(("##", "␣"))


@pytest.mark.parametrize(("family", "mask"), [(byte_level, "[MASK]"), (sentence_pieces, "<mask>")])
def test_what_the_reader_hides_is_hidden(family: str, mask: str) -> None:
    pipeline = load(str(folder_of(family)))
    trace = pipeline(f"the {mask} sat")
    (place,) = (place for place, token in enumerate(trace.tokens) if token == "[MASK]")
    assert trace.ids[place] == ROUND.index("<mask>")
    assert [guess.token for guess in trace.answer] == [place]
    assert set(trace.answer[0].labels) <= set(pipeline.reader.vocabulary)
    hidden = pipeline(pipeline.reader.hide(trace.ids, [1]))
    assert hidden.tokens[1] == "[MASK]" and [guess.token for guess in hidden.answer] == [1, place]


def test_bytes_are_read_as_their_librarys_decoder_reads_them() -> None:
    decoder, alphabet = decoders.ByteLevel(), sorted(pre_tokenizers.ByteLevel.alphabet())
    dice = random.Random(0)
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    for text in ("été", " 我爱你", "\n\u00a0\t", "".join(map(chr, range(1, 700)))):
        ((piece, _),) = whole.pre_tokenize_str(text)
        assert bytes_of(piece, "Ġ").decode() == text
    for _ in range(200):
        piece = "".join(dice.choices(alphabet, k=3))
        assert bytes_of(piece, "Ġ").decode("utf-8", "replace") == decoder.decode([piece])


def test_bytes_that_are_no_character_are_shown_as_bytes() -> None:
    reader = reader_of(byte_level)
    ids = reader.read("a 龘").ids
    assert reader.read(tuple(ids)).tokens[3:-1] == ["龘 1/3", "##龘 2/3", "##龘 3/3"]
    cut = reader.read((*ids[:-2], ids[-1]))  # without the last of three bytes
    assert cut.tokens[3:-1] == [r"\xe9", r"\xbe"]
    assert piece_kinds(cut.tokens)[3:-1] == ["sign", "sign"]


@kinds
def test_a_batch_shows_what_each_sentence_shows_alone(family: str) -> None:
    """Although <s> has id 0 here, which is our padding's."""
    pipeline, start = load(str(folder_of(family))), 0
    ids = [pipeline.reader.read(text).ids for text in ("the cats sat on a mat .", "a mat", "12 cats , happily")]
    neurons = activations(pipeline.network, ids)
    for row, seen in zip(ids, attention(pipeline, ids), strict=True):
        trace = pipeline(tuple(row))
        assert seen.keys == trace.tokens
        np.testing.assert_allclose(seen.weights, trace.over_layers("attention.weights"), atol=1e-5)
        alone = trace["layers.1.ffn.activation"]
        np.testing.assert_allclose(neurons[start : start + len(row), 1], alone, rtol=1e-2, atol=1e-3)
        start += len(row)


def test_a_piece_of_two_chinese_characters_is_no_character() -> None:
    """XLM-RoBERTa has such pieces; then not every character is a piece of its own."""
    assert piece_kinds(["我", "中国", "##人"]) == ["character", "first", "later"]
    assert piece_kinds(["中国", "人"]) == ["whole", "character"]


def test_what_wordpiece_looked_up_is_how_the_word_was_cut() -> None:
    reader = load("text").reader
    known = set(reader.vocabulary)
    words = ["unbelievable", "cat", "sleepless", "playing", "zzzz", "internationalisation", "我"]
    for word in words:
        looked_up = reader.looked_up(word)
        assert [tried[-1] for tried in looked_up] == reader.pieces(word)
        assert not known & {piece for tried in looked_up for piece in tried[:-1]}
        assert all(piece.startswith(later) for tried in looked_up for piece, later in pairwise(tried))
        assert looked_up[0][0] == word


def test_pieces_of_t5_end_with_sep_and_no_cls_stands_in_front(tmp_path: Path) -> None:
    assert load(str(saved_t5(tmp_path)))("the cats").tokens == ["the", "cat", "##s", "[SEP]"]
