"""Tokenizers of every kind, trained on a few sentences, and folders that hold them."""

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import torch
import transformers
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

from tests.model.making import ROUND, SQUARE

CORPUS = [
    "the cats sat on a mat , happy under the ball .",
    "été , 我爱你。 it's 12 cats , happily .",
    "the dog slept by the door while it rained .",
] * 3


def trained(model: object, trainer: object, cut: object) -> dict:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = cut
    tokenizer.train_from_iterator(CORPUS, trainer)
    return json.loads(tokenizer.to_str())["model"]


@cache
def byte_pairs() -> dict:
    """Vocabulary and merges of a byte-level BPE."""
    more = {"special_tokens": [*ROUND], "initial_alphabet": pre_tokenizers.ByteLevel.alphabet()}
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
    tokenizer = Tokenizer(models.BPE(**byte_pairs()))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    names = {f"{name[1:-1].lower()}_token": name for name in SQUARE}
    tokenizer.add_special_tokens([*SQUARE])
    ends = [(name, tokenizer.token_to_id(name)) for name in ("[CLS]", "[SEP]")]
    tokenizer.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", "[CLS] $A [SEP] $B [SEP]", ends)
    return transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, **names)


#: Each family's kind of network and its tokenizer.
FAMILIES: dict[str, tuple[str, Callable[[], transformers.PreTrainedTokenizerBase]]] = {
    "roberta": ("Roberta", lambda: transformers.RobertaTokenizer(**byte_pairs())),
    "roberta with a space": ("Roberta", lambda: transformers.RobertaTokenizer(**byte_pairs(), add_prefix_space=True)),
    "xlm-roberta": ("XLMRoberta", lambda: transformers.XLMRobertaTokenizer(**unigram_of(*ROUND))),
    "camembert": ("Camembert", lambda: transformers.CamembertTokenizer(**unigram_of(*ROUND))),
    "bert": ("Bert", lambda: transformers.BertTokenizer(**words_of(*SQUARE))),
    "bert as xlm-roberta": ("Bert", lambda: transformers.XLMRobertaTokenizer(**unigram_of(*ROUND))),
    "mpnet": ("MPNet", lambda: transformers.MPNetTokenizer(**words_of(*ROUND, "[UNK]"))),
    "albert": ("Albert", lambda: transformers.AlbertTokenizer(**unigram_of("<pad>", "<unk>", *SQUARE[2:]))),
    "deberta": ("Deberta", lambda: transformers.DebertaTokenizer(**byte_pairs())),
    "deberta-v2": ("DebertaV2", lambda: transformers.DebertaV2Tokenizer(**unigram_of(*SQUARE))),
    "modernbert": ("ModernBert", modern),
    "t5": ("T5", lambda: transformers.T5Tokenizer(**unigram_of("<pad>", "</s>", "<unk>"), extra_ids=0)),
}


SIZES = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40,
    "max_position_embeddings": 130,
}  # fmt: skip


OTHER_SIZES = {
    "Albert": SIZES | {"embedding_size": 16},
    "T5": {"d_model": 24, "d_kv": 8, "num_heads": 3, "num_layers": 2, "d_ff": 40},
    "Deberta": SIZES | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "type_vocab_size": 2},
    "DebertaV2": SIZES | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "type_vocab_size": 2},
}


#: Families whose networks predict masked words here.
byte_level, sentence_pieces = "roberta", "xlm-roberta"


@cache
def tokenizer_of(family: str) -> transformers.PreTrainedTokenizerBase:
    return FAMILIES[family][1]()


@cache
def folder_of(family: str) -> Path:
    """A folder with the family's tokenizer and random weights."""
    kind, tokenizer, folder = FAMILIES[family][0], tokenizer_of(family), Path(mkdtemp(prefix="checkpoint-"))
    config = getattr(transformers, f"{kind}Config")(
        **OTHER_SIZES.get(kind, SIZES), vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id
    )
    torch.manual_seed(0)
    head = "EncoderModel" if kind == "T5" else "ForMaskedLM" if family in (byte_level, sentence_pieces) else "Model"
    network = getattr(transformers, kind + head)(config)
    for parameter in network.parameters():
        torch.nn.init.normal_(parameter, 1.0 if parameter.ndim == 1 else 0.0, 0.3)
    network.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
