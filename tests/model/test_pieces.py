"""Pieces of every family are shown with the same marks, and what is looked up by name is found."""

import random
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from model import Pipeline, load
from model.analysis import cut_words, piece_kinds, whole_words
from model.hugging_face.pieces import bytes_of, marked
from model.training import relations
from model.training.observe import activations, attention
from tests.model.test_checkpoints import ROUND, write_tokenizer

CORPUS = ["the cats sat on a mat , happy under .", "été, 我爱你。 it's 12 cats , happily."] * 3
SENTENCE = "the unhappy cats sat , happily, on 12 mats. 我爱你。"


def byte_level() -> Tokenizer:
    """As RoBERTa cuts: bytes, and a space belongs to the word behind it."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=330, special_tokens=list(ROUND), initial_alphabet=alphabet)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def sentence_pieces() -> Tokenizer:
    """As XLM-RoBERTa cuts: ▁ for each space, and one in front of the sentence."""
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=90, special_tokens=list(ROUND), unk_token="<unk>")
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


@cache
def folder_of(make: Callable[[], Tokenizer]) -> Path:
    """A network of random numbers that guesses words and has this tokenizer."""
    tokenizer, folder = make(), Path(mkdtemp(prefix="checkpoint-"))
    config = transformers.RobertaConfig(
        hidden_size=24, num_attention_heads=3, num_hidden_layers=2, intermediate_size=40, max_position_embeddings=66,
        vocab_size=tokenizer.get_vocab_size(), type_vocab_size=1,
    )  # fmt: skip
    transformers.RobertaForMaskedLM(config).save_pretrained(folder)
    write_tokenizer(folder, rounded=True)  # for the names of the special tokens
    ends = [(name, tokenizer.token_to_id(name)) for name in ("<s>", "</s>")]
    tokenizer.post_processor = processors.TemplateProcessing("<s> $A </s>", "<s> $A </s> </s> $B </s>", ends)
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def masked_words(make: Callable[[], Tokenizer]) -> Pipeline:
    return load(str(folder_of(make)))


kinds = pytest.mark.parametrize("make", [byte_level, sentence_pieces])


@kinds
def test_pieces_are_written_as_word_piece_writes_them(make: Callable[[], Tokenizer]) -> None:
    tokens = masked_words(make).reader.read(SENTENCE).tokens
    assert (tokens[0], tokens[-1]) == ("[CLS]", "[SEP]")
    words = ["".join(tokens[i].removeprefix("##") for i in places) for places in whole_words(tokens)]
    expected = ["the", "unhappy", "cats", "sat", ",", "happily", ",", "on", "12", "mats", "."]
    assert [word.removeprefix("␣") for word in words if word != "␣"][: len(expected)] == expected
    assert all(parts[0][:2] != "##" and all(part[:2] == "##" for part in parts[1:]) for parts in cut_words(tokens))
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
def test_no_two_pieces_look_the_same(make: Callable[[], Tokenizer]) -> None:
    vocabulary = masked_words(make).reader.vocabulary
    assert len(set(vocabulary)) == len(vocabulary)
    assert all(piece.isprintable() for piece in vocabulary)


@kinds
def test_a_sentence_begins_with_a_plain_word(make: Callable[[], Tokenizer]) -> None:
    for sentence in ("sat the cats", "the cats [SEP] sat it"):
        tokens = masked_words(make).reader.read(sentence).tokens
        for before, token in pairwise(tokens):
            assert before not in ("[CLS]", "[SEP]", "␣") or token == "␣" or not token.startswith(("##", "␣"))


@kinds
@pytest.mark.parametrize("mask", ["[MASK]", "<mask>"])
def test_what_the_reader_hides_is_hidden(make: Callable[[], Tokenizer], mask: str) -> None:
    pipeline = masked_words(make)
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
    reader = masked_words(byte_level).reader
    ids = reader.read("a 龘").ids
    assert reader.read(tuple(ids)).tokens[3:-1] == ["龘 1/3", "##龘 2/3", "##龘 3/3"]
    cut = reader.read((*ids[:-2], ids[-1]))  # the last of three bytes is missing
    assert cut.tokens[3:-1] == [r"\xe9", r"\xbe"]
    assert piece_kinds(cut.tokens)[3:-1] == ["sign", "sign"]


@kinds
def test_words_of_a_treebank_find_their_pieces(make: Callable[[], Tokenizer]) -> None:
    words = ["the", "unhappy", "cats", ",", "12", "mats"]
    sentence = relations.Sentence(words, [-1, 0, 0, 0, 0, 0], ["root", *"abcde"])
    (one,) = relations.read(masked_words(make), [sentence])
    spelled = ["".join(one.attended.keys[i] for i in places).replace("##", "").strip("␣") for places in one.places]
    assert spelled == words
    chinese = relations.Sentence(["我", "爱你"], [-1, 0], ["root", "obj"])
    for read in relations.read(masked_words(make), [chinese], ""):
        assert sum(map(len, read.places)) <= len(read.attended.keys) - 2


@kinds
def test_a_batch_shows_what_each_sentence_shows_alone(make: Callable[[], Tokenizer]) -> None:
    """Although <s> has the id 0 here, which is our padding's."""
    pipeline, start = masked_words(make), 0
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
    """XLM-RoBERTa has such; then it is not so that each character is a piece of its own."""
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


@kinds
def test_only_of_wordpiece_it_is_said_how_it_cuts(make: Callable[[], Tokenizer]) -> None:
    reader = masked_words(make).reader
    word = "unhappy"
    found = reader.looked_up(word)
    assert bool(found) == isinstance(make().model, models.WordPiece)
    assert not found or len(found) == len(reader.pieces(word))
