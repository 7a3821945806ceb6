"""GTE: BERT with rotary positions, a gated FFN, and Q, K and V in one matrix.

Source: Zhang et al. 2024, "mGTE: Generalized Long-Context Text Representation and Reranking Models"; NTK-aware scaling,
for texts longer than in training: bloc97 2023, with the extra factor of GTE's own code.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from model.checkpoints.families.bert import BERT, heads
from model.checkpoints.families.family import ACTS, THREE_IN_ONE, WORDS, in_layers, masked_word, stacked
from model.checkpoints.families.nomic import settings_of

NTK = "ntk"


def older(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """`rope_parameters` from the former settings `rope_theta` and `rope_scaling`; {} without `rope_theta`."""
    if "rope_theta" not in theirs:
        return {}
    base, said = theirs["rope_theta"], theirs.get("rope_scaling")
    if said is None:
        return {"rope_parameters": {"rope_theta": base}}
    by = _factor(theirs)
    known = by is not None and isinstance(base, float | int)
    return {"rope_parameters": {"rope_theta": base * by} if known else {"rope_type": str(said)}}


def slower(theirs: Mapping[str, Any], d_k: int) -> float:
    """A divisor of all rotation frequencies, in addition to the larger base."""
    return (_factor(theirs) or 1.0) ** (2 / d_k)


def _factor(theirs: Mapping[str, Any]) -> float | None:
    """NTK scaling factor; None without scaling, or with another kind."""
    said = theirs.get("rope_scaling")
    if not isinstance(said, dict) or said.get("type") != NTK or said.get("mixed_b"):
        return None
    factor = said.get("factor")
    return float(factor) if isinstance(factor, float | int) and 1 <= factor < 1000 else None


GTE = replace(
    BERT,
    prefix="gte",
    fixed={**WORDS, "positions": "rotary", "ffn": "gated", "unbiased": ("gates",)},
    only={
        "hidden_act": tuple(ACTS), "position_embedding_type": ("rope",), "layer_norm_type": ("layer_norm",),
        "logn_attention_scale": (False,), "pack_qkv": (True,),
    },
    older=older,
    more=settings_of,
    slower=slower,
    names={
        **BERT.names,
        **in_layers(
            "encoder.layer.{l}.",
            {
                **{f"attention.W_{role}": "attention.qkv_proj" for role in "QKV"},
                "attention.W_O": "attention.o_proj",
                "norm_1": "attn_ln",
                "ffn.W_1": "mlp.up_gate_proj",
                "ffn.W_3": "mlp.up_gate_proj",
                "ffn.W_2": "mlp.down_proj",
                "norm_2": "mlp_ln",
            },
        ),
    },
    heads={
        **heads("gte"),
        "ForMaskedLM": masked_word("lm_head.dense", "lm_head.norm", "lm_head.decoder.bias", E="lm_head.decoder.weight"),
    },
    unread=("*position_ids", "*pooler.dense.*"),
    laid_out=stacked(*THREE_IN_ONE) | stacked("layers.{l}.ffn.W_3", "layers.{l}.ffn.W_1"),
)  # fmt: skip

FAMILIES = {"new": GTE, "gte": GTE}
