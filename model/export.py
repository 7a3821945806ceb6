"""Our translator for others: as the folder of a MarianMTModel of the transformers library.

    python -m model.export FOLDER

What is written computes the same. The language to write is the first token that the decoder reads:
model.generate(**read, decoder_start_token_id=tokenizer.convert_tokens_to_ids("[EN]")); without that it is Chinese.
"""

import json
import sys
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor

from model.decoder import TARGET_LANGUAGES, TranslationNetwork
from model.hugging_face.marian import in_their_order
from model.loading import load
from model.translator import Translator

#: Ours -> theirs, of the parts of a layer; theirs has no number for the norms.
NAMES = {
    "attention.W_Q": "self_attn.q_proj", "attention.W_K": "self_attn.k_proj", "attention.W_V": "self_attn.v_proj",
    "attention.W_O": "self_attn.out_proj", "cross.W_Q": "encoder_attn.q_proj", "cross.W_K": "encoder_attn.k_proj",
    "cross.W_V": "encoder_attn.v_proj", "cross.W_O": "encoder_attn.out_proj", "ffn.W_1": "fc1", "ffn.W_2": "fc2",
}  # fmt: skip
NORMS = {"": ("self_attn", "final"), "decoder.": ("self_attn", "encoder_attn", "final")}
NEVER = -1e4  # the logit of a language: it is read, and never written


def as_marian(translator: Translator, folder: Path) -> None:
    """Write config.json, model.safetensors and the tokenizer into a folder, which is made."""
    network, reader = translator.network, translator.reader
    folder.mkdir(parents=True, exist_ok=True)
    save_file(_weights(network), folder / "model.safetensors", {"format": "pt"})
    ids = {name: reader.vocabulary.index(f"[{name}]") for name in ("PAD", "CLS", "SEP", "UNK", "MASK")}
    config = translator.config
    sides = {"encoder": config, "decoder": network.decoder_config}
    settings: dict[str, object] = {}
    for side, of in sides.items():
        settings |= {f"{side}_layers": of.layers, f"{side}_attention_heads": of.heads, f"{side}_ffn_dim": of.d_ff}
    settings |= {
        "model_type": "marian", "architectures": ["MarianMTModel"], "d_model": config.d_model, "dropout": 0.0,
        "vocab_size": config.vocab_size + len(TARGET_LANGUAGES), "max_position_embeddings": config.max_len,
        "activation_function": config.activation, "scale_embedding": True, "share_encoder_decoder_embeddings": True,
        "tie_word_embeddings": True, "pad_token_id": ids["PAD"], "bos_token_id": ids["CLS"], "eos_token_id": ids["SEP"],
        "decoder_start_token_id": config.vocab_size + list(TARGET_LANGUAGES).index("zh"), "forced_eos_token_id": None,
    }  # fmt: skip
    (folder / "config.json").write_text(json.dumps(settings, indent=2))
    tokenizer = type(reader.tokenizer).from_str(reader.tokenizer.to_str())
    tokenizer.add_special_tokens(list(TARGET_LANGUAGES.values()))
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {f"{name.lower()}_token": f"[{name}]" for name in ids}
    more = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": config.max_len, "eos_token": "[SEP]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(names | more, indent=2))


def _weights(network: TranslationNetwork) -> dict[str, Tensor]:
    """Ours by their names, with the numbers of d_model in their order."""
    found: dict[str, Tensor] = {}
    for key, value in network.named_parameters():
        side, inside, rest = key.partition("layers.")
        if not inside:
            continue
        layer, _, part = rest.partition(".")
        module, _, last = part.rpartition(".")
        name = NAMES.get(module) or f"{NORMS[side][int(module[-1]) - 1]}_layer_norm"
        found[f"model.{side or 'encoder.'}layers.{layer}.{name}.{last}"] = in_their_order(key, value)
    assert network.decoder.embedding.language is not None  # ours has one
    E, languages = network.embedding.E.weight, network.decoder.embedding.language.weight
    found["model.shared.weight"] = in_their_order("embedding.E.weight", torch.cat([E, languages]))
    never = torch.full((len(languages),), NEVER)
    found["final_logits_bias"] = torch.cat([network.logits.bias, never])[None]
    return found


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python -m model.export FOLDER")
    translator = load("translation")
    assert isinstance(translator, Translator)
    as_marian(translator, Path(sys.argv[1]))
