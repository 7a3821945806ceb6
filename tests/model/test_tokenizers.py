"""A sentence, or two, is cut as transformers' own tokenizers cut it, whatever the family; and what is shown of it."""

import json
import re
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from model import load
from model.analysis import piece_kinds, spelled, units, whole_words
from model.pipeline import TextReader

CORPUS = [
    "the cats sat on a mat , happy under the ball .",
    "été , 我爱你。 it's 12 cats , happily .",
    "the dog slept by the door while it rained .",
] * 3
ROUND, SQUARE = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"], ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SENTENCES = ["the cats sat .", "happily , it's 12", "  a mat", "été 我爱你。", "the [MASK] sat", "[MASK] [MASK] ball ."]
SPACES = ["", " ", "  ", "\t", "\n "]


def trained(model: object, trainer: object, cut: object) -> dict:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = cut
    tokenizer.train_from_iterator(CORPUS, trainer)
    return json.loads(tokenizer.to_str())["model"]


@cache
def bytes_of() -> dict:
    """Byte-level BPE: vocab and merges."""
    more = {"special_tokens": ROUND + SQUARE, "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
    found = trained(models.BPE(), trainers.BpeTrainer(vocab_size=330, **more), pre_tokenizers.ByteLevel(False))
    return {"vocab": found["vocab"], "merges": [tuple(merge) for merge in found["merges"]]}


@cache
def unigram_of(*special: str) -> dict:
    unknown = next(name for name in special if "unk" in name.lower())
    trainer = trainers.UnigramTrainer(vocab_size=90, special_tokens=list(special), unk_token=unknown)
    found = trained(models.Unigram(), trainer, pre_tokenizers.Metaspace())
    return {"vocab": [tuple(piece) for piece in found["vocab"]]}


@cache
def words_of(*special: str) -> dict:
    trainer = trainers.WordPieceTrainer(vocab_size=130, special_tokens=list(special))
    found = trained(models.WordPiece(unk_token="[UNK]"), trainer, pre_tokenizers.BertPreTokenizer())
    return {"vocab": found["vocab"]}


def modern() -> transformers.PreTrainedTokenizerFast:
    """Byte-level BPE between [CLS] and [SEP]."""
    tokenizer = Tokenizer(models.BPE(**bytes_of()))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    names = {f"{name[1:-1].lower()}_token": name for name in SQUARE}
    tokenizer.add_special_tokens(SQUARE)
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", ends)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


#: A tokenizer of each family, and the network that it is for.
FAMILIES: dict[str, tuple[str, Callable[[], transformers.PreTrainedTokenizerBase]]] = {
    "roberta": ("Roberta", lambda: transformers.RobertaTokenizer(**bytes_of())),
    "roberta with a space": ("Roberta", lambda: transformers.RobertaTokenizer(**bytes_of(), add_prefix_space=True)),
    "xlm-roberta": ("XLMRoberta", lambda: transformers.XLMRobertaTokenizer(**unigram_of(*ROUND))),
    "camembert": ("Camembert", lambda: transformers.CamembertTokenizer(**unigram_of(*ROUND))),
    "bert": ("Bert", lambda: transformers.BertTokenizer(**words_of(*SQUARE))),
    "bert as xlm-roberta": ("Bert", lambda: transformers.XLMRobertaTokenizer(**unigram_of(*ROUND))),
    "electra": ("Electra", lambda: transformers.ElectraTokenizer(**words_of(*SQUARE))),
    "distilbert": ("DistilBert", lambda: transformers.DistilBertTokenizer(**words_of(*SQUARE))),
    "mpnet": ("MPNet", lambda: transformers.MPNetTokenizer(**words_of(*ROUND, "[UNK]"))),
    "albert": ("Albert", lambda: transformers.AlbertTokenizer(**unigram_of("<pad>", "<unk>", *SQUARE[2:]))),
    "deberta": ("Deberta", lambda: transformers.DebertaTokenizer(**bytes_of())),
    "deberta-v2": ("DebertaV2", lambda: transformers.DebertaV2Tokenizer(**unigram_of(*SQUARE))),
    "modernbert": ("ModernBert", modern),
    "t5": ("T5", lambda: transformers.T5Tokenizer(**unigram_of("<pad>", "</s>", "<unk>"), extra_ids=0)),
}
SIZES = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40,
    "max_position_embeddings": 130,
}  # fmt: skip
OTHER_SIZES = {
    "DistilBert": {"dim": 24, "n_heads": 3, "n_layers": 2, "hidden_dim": 40},
    "Albert": SIZES | {"embedding_size": 16},
    "T5": {"d_model": 24, "d_kv": 8, "num_heads": 3, "num_layers": 2, "d_ff": 40},
    "Deberta": SIZES | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "type_vocab_size": 2},
    "DebertaV2": SIZES | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "type_vocab_size": 2},
}
families = pytest.mark.parametrize("family", FAMILIES)


@cache
def folder_of(family: str) -> tuple[transformers.PreTrainedTokenizerBase, Path]:
    """Their tokenizer, and a folder with it and a network of random numbers."""
    (kind, make), folder = FAMILIES[family], Path(mkdtemp(prefix="checkpoint-"))
    tokenizer = make()
    config = getattr(transformers, f"{kind}Config")(
        **OTHER_SIZES.get(kind, SIZES), vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id
    )
    torch.manual_seed(0)
    network = getattr(transformers, f"{kind}{'EncoderModel' if kind == 'T5' else 'Model'}")(config)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, 1.0 if parameter.ndim == 1 else 0.0, 0.3)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return tokenizer, folder


def reader_of(family: str) -> TextReader:
    reader = load(str(folder_of(family)[1])).reader
    assert isinstance(reader, TextReader)
    return reader


def as_they_type_it(tokenizer: transformers.PreTrainedTokenizerBase, text: str) -> str:
    return text.replace("[MASK]", tokenizer.mask_token or "[MASK]")


@families
def test_a_sentence_or_a_pair_is_cut_and_told_apart_as_theirs(family: str) -> None:
    theirs, reader = folder_of(family)[0], reader_of(family)
    segments = load(str(folder_of(family)[1])).config.segments
    for one, other in product(SENTENCES, [None, *SENTENCES]):
        given = [as_they_type_it(theirs, text) for text in (one, other or "")]
        found = theirs(given[0], given[1].lstrip() if other else None, return_token_type_ids=True)
        for before, behind in zip(SPACES, SPACES[::-1], strict=True):
            reading = reader.read(f"{one}{before}[SEP]{behind}{other}" if other else one)
            assert reading.ids == found["input_ids"]
            assert list(reading.segments) == (found["token_type_ids"] if segments else [])
            assert reader.read(tuple(reading.ids)).segments == reading.segments


@pytest.mark.parametrize("family", ["roberta", "bert", "bert as xlm-roberta", "albert", "deberta", "electra"])
def test_a_pair_is_computed_as_theirs(family: str) -> None:
    tokenizer, folder = folder_of(family)
    network = transformers.AutoModel.from_pretrained(folder).eval()
    for one, other in (SENTENCES[:2], SENTENCES[2:0:-1]):
        with torch.no_grad():
            Z = network(**tokenizer(one, other, return_tensors="pt", return_token_type_ids=True)).last_hidden_state[0]
        np.testing.assert_allclose(load(str(folder))(f"{one} [SEP] {other}").Z, Z, atol=1e-4)


@families
@pytest.mark.parametrize("typed", ["the cats [SEP]", "the cats[SEP]", "the cats \n [SEP] "])
def test_one_sentence_in_front_of_sep_is_that_sentence(family: str, typed: str) -> None:
    assert reader_of(family).read(typed).ids == folder_of(family)[0]("the cats")["input_ids"]


MIXED = [
    "my café 👍🏽 sat , أحب 龘 été 🇩🇪 नमस्ते cats",
    "é 👩‍👩‍👧 e\u0301t e\u0301 ! [SEP] 👍🏽 é",
    "🏳️‍🌈🏳️‍🌈 1️⃣2️⃣ ñ-ü привет, 한국어 mat",
    "12,34 it's happily [MASK] أ",
]
byte_level = pytest.mark.parametrize("family", ["roberta", "roberta with a space", "deberta", "modernbert"])


def names_of(tokens: list[str], groups: list[list[int]]) -> list[str]:
    return [spelled([tokens[place] for place in places]) for places in groups]


@byte_level
@pytest.mark.parametrize("sentence", MIXED)
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


@families
@pytest.mark.parametrize("sentence", MIXED)
def test_what_is_left_of_a_sentence_is_written_as_it_was_when_a_word_is_hidden(family: str, sentence: str) -> None:
    reader = reader_of(family)
    if "[MASK]" not in reader.vocabulary:
        return
    reading = reader.read(sentence)
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
