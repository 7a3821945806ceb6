"""NomicBERT: BERT with rotary positions and a gated FFN.

Source: Nussbaum et al. 2024, "Nomic Embed: Training a Reproducible Long Context Text Embedder".
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from model.checkpoints.errors import setting_error
from model.checkpoints.families.bert import BERT, GUESSES, heads
from model.checkpoints.families.family import ACTS, THREE_IN_ONE, WORDS, in_layers, stacked
from model.checkpoints.settings import base_of

#: transformers' setting -> its name in the authors' own code.
NAMES = {
    "hidden_size": "n_embd", "num_attention_heads": "n_head", "num_hidden_layers": "n_layer",
    "intermediate_size": "n_inner", "max_position_embeddings": "n_positions", "layer_norm_eps": "layer_norm_epsilon",
    "hidden_act": "activation_function", "rotary_base": "rotary_emb_base",
}  # fmt: skip


def older(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Settings written by the authors' code, under transformers' names."""
    found = {name: theirs[own] for name, own in NAMES.items() if own in theirs}
    if found.get("hidden_act") in ("swiglu", "geglu"):
        found["hidden_act"] = {"swiglu": "silu", "geglu": "gelu"}[found["hidden_act"]]
    return found | {"rope_parameters": {"rope_theta": found.pop("rotary_base", 10_000.0)}} if found else {}


def settings_of(folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """The rotary base. Raises CheckpointError for scaled rotations, or a head width other than hidden_size / heads."""
    said = theirs.get("rope_parameters") or {}
    if not isinstance(said, dict) or said.get("rope_type", "default") != "default":
        raise setting_error("setting", folder, "rope_parameters", said)
    width, heads = theirs["hidden_size"], theirs["num_attention_heads"]
    if (each := theirs.get("head_dim")) is not None and each != width / heads:
        raise setting_error("setting", folder, "head_dim", each)
    return {"rotary_base": base_of(folder, "rope_parameters", said.get("rope_theta") or 1000.0)}


NOMIC_BERT = replace(
    BERT,
    prefix="nomic_bert",
    fixed={**WORDS, "positions": "rotary", "ffn": "gated", "unbiased": ("attention", "ffn")},
    only={
        "hidden_act": tuple(ACTS),
        "prenorm": (False,),
        "use_rms_norm": (False,),
        "parallel_block": (False,),
        "rotary_emb_fraction": (1.0,),
        "rotary_emb_interleaved": (False,),
        "rotary_scaling_factor": (None,),
        "qkv_proj_bias": (False,),
        "mlp_fc1_bias": (False,),
        "mlp_fc2_bias": (False,),
        "num_experts": (0,),
    },
    older=older,
    more=settings_of,
    names={
        "embedding.E.weight": "embeddings.word_embeddings.weight",
        "embedding.segments.weight": "embeddings.token_type_embeddings.weight",
        "embedding.norm": "emb_ln",
        **in_layers(
            "encoder.layers.{l}.",
            {
                **{f"attention.W_{role}": "attn.Wqkv" for role in "QKV"},
                "attention.W_O": "attn.out_proj",
                "norm_1": "norm1",
                "ffn.W_1": "mlp.fc12",
                "ffn.W_3": "mlp.fc11",
                "ffn.W_2": "mlp.fc2",
                "norm_2": "norm2",
            },
        ),
    },
    heads={
        **heads("nomic_bert"),
        "ForMaskedLM": replace(GUESSES, names={**GUESSES.names, "transform.2": "cls.predictions.transform.layer_norm"}),
    },
    unread=("*position_ids", "*pooler.dense.*", "*inv_freq"),
    laid_out=stacked(*THREE_IN_ONE),
)

FAMILIES = {"nomic_bert": NOMIC_BERT}
