"""T5's encoder: its pieces, which no [CLS] begins."""

import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

from model import load
from tests.model.test_checkpoints import network_in

SMALL = {
    "d_model": 24, "d_kv": 5, "num_heads": 3, "num_layers": 2, "d_ff": 40, "feed_forward_proj": "gated-gelu",
    "vocab_size": 40,
}  # fmt: skip
WORDS = ["the", "cat", "sat", "on", "a", "mat", "and", "it", "dog", "slept", "by", "door", "rained", "chased"]


def saved(folder: Path, head: str = "EncoderModel", **more: object) -> Path:
    """A small one, with pieces as SentencePiece has them: ▁ for a space, and </s> at the end."""
    network_in(folder, "T5", head, SMALL | more)
    pieces = ["<pad>", "</s>", "<unk>", *(f"▁{word}" for word in WORDS), "▁", *"sedthatic"]
    pieces = list(dict.fromkeys(pieces))
    tokenizer = Tokenizer(models.Unigram([(piece, -float(i)) for i, piece in enumerate(pieces)], unk_id=2))
    tokenizer.add_special_tokens(pieces[:3])
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "</s>", "unk_token": "<unk>"}))
    return folder


def test_pieces_end_with_sep_and_no_cls_stands_in_front(tmp_path: Path) -> None:
    assert load(str(saved(tmp_path)))("the cats").tokens == ["the", "cat", "##s", "[SEP]"]
