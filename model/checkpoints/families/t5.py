"""Encoders of T5 and mT5: positions only as distances, scores not divided by √d_k, RMSNorm.

Source: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer"; the
gated FFN is from version 1.1 of its code.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from model.checkpoints.errors import setting_error
from model.checkpoints.families.family import ACTS, Family, Head, in_layers

GATE = "gated-"
MOST = 1024  # d_k


def settings_of(folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """Fields of EncoderConfig that no single setting gives. Raises CheckpointError.

    "gated-gelu" means GELU's tanh approximation.
    """
    usual = {"d_model": 512, "num_heads": 8, "d_kv": 64}
    width, heads, each = (theirs.get(name) or value for name, value in usual.items())
    if type(each) is not int or not 0 < each <= MOST:
        raise setting_error("size", folder, "d_kv", each)
    said: str = theirs.get("feed_forward_proj") or "relu"
    bend = "gelu_new" if said == f"{GATE}gelu" else said.removeprefix(GATE)
    return {"activation": ACTS[bend]} | ({"d_head": each} if width != heads * each else {})


T5 = Family(
    prefix="transformer",
    settings={
        "d_model": "d_model",
        "heads": "num_heads",
        "layers": "num_layers",
        "d_ff": "d_ff",
        "norm_eps": "layer_norm_epsilon",
        "vocab_size": "vocab_size",
        "max_len": "n_positions",
        "buckets": "relative_attention_num_buckets",
        "farthest": "relative_attention_max_distance",
    },
    defaults={
        "d_model": 512, "num_heads": 8, "num_layers": 6, "d_ff": 2048, "layer_norm_epsilon": 1e-6, "vocab_size": 32128,
        "n_positions": 512, "relative_attention_num_buckets": 32, "relative_attention_max_distance": 128,
    },
    fixed={
        "input": "words", "positions": "none", "scale_embedding": False, "norm": "rms", "norm_first": True,
        "final_norm": True, "divided": False, "unbiased": ("attention", "ffn", "norm"),
    },
    only={"feed_forward_proj": ("relu", *ACTS)},
    more=settings_of,
    names={
        "embedding.E.weight": "shared.weight",
        **in_layers(
            "encoder.block.{l}.layer.",
            {
                "norm_1": "0.layer_norm",
                "attention.W_Q": "0.SelfAttention.q",
                "attention.W_K": "0.SelfAttention.k",
                "attention.W_V": "0.SelfAttention.v",
                "attention.W_O": "0.SelfAttention.o",
                "norm_2": "1.layer_norm",
                "ffn.W_1": "1.DenseReluDense.wi",
                "ffn.W_2": "1.DenseReluDense.wo",
            },
        ),
        "layers.{l}.attention.distances": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
        "norm": "encoder.final_layer_norm",
    },
    heads={
        "EncoderModel": Head("none", copies={"encoder.embed_tokens.weight": "embedding.E.weight"}),
        "Model": Head("none"),
        "ForTokenClassification": Head("tags", names={"tags": "classifier"}),
    },
    unread=("*encoder.embed_tokens.weight", "*decoder.*", "lm_head.*", "classification_head.*", "qa_outputs.*"),
)  # fmt: skip

GATED = replace(
    T5,
    fixed={**T5.fixed, "ffn": "gated"},
    only={},
    names={
        **T5.names,
        **in_layers(
            "encoder.block.{l}.layer.1.DenseReluDense.", {"ffn.W_1": "wi_0", "ffn.W_3": "wi_1", "ffn.W_2": "wo"}
        ),
    },
)

FAMILIES = dict.fromkeys(
    ("t5", "mt5"), replace(T5, where={("feed_forward_proj", f"{GATE}{name}"): GATED for name in ACTS})
)
