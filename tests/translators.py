"""Other people's translators, made here: MarianMTModel with random weights, and .spm files of our example sentences."""

import io
import json
from functools import cache
from pathlib import Path

import sentencepiece
import torch
import transformers

from model.examples import SENTENCES

SPECIAL = ("</s>", "<unk>")


@cache
def pieces_of(language: int) -> bytes:
    """A .spm file, trained on our example sentences in English (0) or Chinese (1)."""
    written = io.BytesIO()
    sentences = [pair[language] for pair in SENTENCES] * 3
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(sentences), model_writer=written, vocab_size=120, hard_vocab_limit=False,
        minloglevel=2,
    )  # fmt: skip
    return written.getvalue()


def names_in(spm: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=spm)
    return [processor.id_to_piece(i) for i in range(3, processor.get_piece_size())]


def listed(*sides: bytes, codes: tuple[str, ...] = ()) -> dict[str, int]:
    """A vocab.json: the pieces of both languages in an order of its own, [PAD] behind all of them."""
    pieces = sorted({piece for spm in sides for piece in names_in(spm)}, key=lambda piece: (hash_of(piece), piece))
    return {piece: i for i, piece in enumerate([*SPECIAL, *codes, *pieces, "<pad>"])}


def hash_of(piece: str) -> int:
    return sum(ord(sign) * 31**place for place, sign in enumerate(piece)) % 997


def written(
    folder: Path,
    seed: int = 0,
    apart: bool = False,
    codes: tuple[str, ...] = (),
    never: list[list[int]] | None = None,
    **settings: object,
) -> Path:
    """A folder with a MarianMTModel of random weights and two .spm files."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = pieces_of(0), pieces_of(1)
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    lists = (listed(source), listed(target)) if apart else (listed(source, target, codes=codes),)
    for name, words in zip(("vocab.json", "target_vocab.json"), lists, strict=False):
        (folder / name).write_text(json.dumps(words))
    said = {"source_lang": "en", "target_lang": "zh", "separate_vocabs": apart, "tokenizer_class": "MarianTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(said))
    pad, last = lists[0]["<pad>"], lists[-1]["<pad>"]
    usual = {
        "vocab_size": len(lists[0]), "decoder_vocab_size": len(lists[-1]) if apart else None, "d_model": 24,
        "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2, "decoder_attention_heads": 2,
        "encoder_ffn_dim": 40, "decoder_ffn_dim": 40, "max_position_embeddings": 24, "activation_function": "swish",
        "scale_embedding": True, "pad_token_id": pad if not apart else min(pad, last), "eos_token_id": 0,
        "forced_eos_token_id": None, "decoder_start_token_id": last,
        "share_encoder_decoder_embeddings": not apart, "init_std": 0.15,
    }  # fmt: skip
    torch.manual_seed(seed)
    network = transformers.MarianMTModel(transformers.MarianConfig(**usual | settings)).eval()
    with torch.no_grad():
        for name, weight in network.named_parameters():
            if "norm" in name:
                weight.add_(0.2 * torch.randn_like(weight))
            elif name.endswith("bias"):
                weight.normal_(std=0.2)
        network.final_logits_bias.normal_(std=0.5)
        network.final_logits_bias[0, [row[-1] for row in never or [[last]] if row != [0]]] += 4  # it would write them
    network.save_pretrained(folder)
    changed(folder, "generation_config.json", bad_words_ids=never or [[last]])
    return folder


def changed(folder: Path, name: str, **values: object) -> None:
    """Other values in a file of settings; None: it does not say that one."""
    said = json.loads((folder / name).read_text()) | values
    (folder / name).write_text(json.dumps({setting: value for setting, value in said.items() if value is not None}))


def theirs_of(folder: Path) -> transformers.MarianMTModel:
    network = transformers.MarianMTModel.from_pretrained(folder, attn_implementation="eager")
    return network.eval()
