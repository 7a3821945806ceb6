"""DeBERTa: scores are sums of up to three products, two of them with relative embeddings  (disentangled.py).

Source: He et al. 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention".
"""

from collections.abc import Mapping
from dataclasses import replace
from math import inf
from typing import Any

from model.checkpoints.errors import setting_error
from model.checkpoints.families.bert import BERT, GUESSES
from model.checkpoints.families.family import (
    ACTS,
    OF_TOKENS,
    WORDS,
    Head,
    classifier,
    in_layers,
    masked_word,
    stacked,
)  # fmt: skip
from model.checkpoints.settings import whole

TERMS = {"c2p": "content_to_position", "p2c": "position_to_content"}


def settings_of(folder: str, theirs: Mapping[str, Any], _layers: int) -> dict[str, Any]:
    """Fields of EncoderConfig that no single setting gives. Raises CheckpointError."""
    for setting, usual in (("embedding_size", "hidden_size"), ("pooler_hidden_size", "hidden_size")):
        if theirs.get(setting, theirs.get(usual)) != theirs.get(usual):
            raise setting_error("setting", folder, setting, theirs[setting])
    size = theirs.get("attention_head_size")
    if size is not None and size != theirs["hidden_size"] / theirs["num_attention_heads"]:
        raise setting_error("setting", folder, "attention_head_size", size)
    positions = "learned" if theirs.get("position_biased_input", True) else "none"
    terms = _terms(folder, theirs)
    if not terms and positions == "none":  # word order would have no effect
        raise setting_error("setting", folder, "position_biased_input", "False")
    if not terms:
        return {"positions": positions}
    farthest = whole(folder, theirs, "max_relative_positions", -1, least=-inf)
    if farthest < 1:
        farthest = whole(folder, theirs, "max_position_embeddings", 512, least=-inf)
    buckets = max(0, whole(folder, theirs, "position_buckets", -1, least=-inf))
    if buckets and (buckets < 2 or farthest - 1 <= buckets // 2):
        raise setting_error("size", folder, "position_buckets", buckets)
    return {
        "positions": positions,
        "distance_terms": terms,
        "span": buckets or farthest,
        "near": buckets // 2,
        "farthest": farthest,
        "distance_norm": "layer_norm" in _listed(theirs.get("norm_rel_ebd", "none")),
        "distance_matrices": not theirs.get("share_att_key", False),
    }


def settings_of_first(folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """`settings_of` for DeBERTa v1, which has no buckets, no LayerNorm of distances and no shared matrices."""
    later = {"position_buckets": -1, "norm_rel_ebd": "none", "share_att_key": False}
    found = settings_of(folder, {**theirs, **later}, layers)
    if "distance_terms" not in found:
        raise setting_error("setting", folder, "pos_att_type", theirs.get("pos_att_type"))
    return {**found, "unbiased": ("keys",)}


def _terms(folder: str, theirs: Mapping[str, Any]) -> tuple[str, ...]:
    """Terms added to Q Kᵀ, in our order."""
    said = _listed(theirs.get("pos_att_type"))
    on = bool(theirs.get("relative_attention", False))
    if said - TERMS.keys() or (said and not on):  # transformers divides by √(3 d_k) even if no term is added
        setting = "pos_att_type" if on else "relative_attention"
        raise setting_error("setting", folder, setting, theirs.get(setting))
    return tuple(ours for name, ours in TERMS.items() if name in said)


def _listed(said: object) -> set[str]:
    """Parse "p2c|c2p", or a list."""
    parts = said.lower().split("|") if isinstance(said, str) else said if isinstance(said, list) else []
    return {str(part).strip() for part in parts} - {""}


#: `legacy`: the head of transformers; otherwise the head that was trained.
OLD_OR_NEW = replace(
    GUESSES,
    only={"legacy": (True,)},
    otherwise=masked_word(
        "lm_predictions.lm_head.dense",
        "lm_predictions.lm_head.LayerNorm",
        "lm_predictions.lm_head.bias",
        own_activation=True,
    ),
)

DEBERTA_V2 = replace(
    BERT,
    prefix="deberta",
    fixed={name: value for name, value in WORDS.items() if name != "positions"},
    defaults={"hidden_act": "gelu", "layer_norm_eps": 1e-7, "type_vocab_size": 0, "max_position_embeddings": 512},
    only={"hidden_act": tuple(ACTS), "conv_kernel_size": (0,)},
    more=settings_of,
    names={
        **BERT.names,
        **in_layers(
            "encoder.layer.{l}.attention.self.",
            {
                "W_Q": "query_proj",
                "W_K": "key_proj",
                "W_V": "value_proj",
                "W_Q_distance": "pos_query_proj",
                "W_K_distance": "pos_key_proj",
            },
            "layers.{l}.attention.",
        ),
        "layers.{l}.attention.distances": "encoder.rel_embeddings",
        "layers.{l}.attention.distance_norm": "encoder.LayerNorm",
    },
    heads={
        "Model": Head("none"),
        "ForMaskedLM": OLD_OR_NEW,
        "ForSequenceClassification": classifier(
            "pooler.dense",
            "classifier",
            bent_by="pooler_hidden_act",
            only={"pooler_hidden_act": ("gelu", "tanh", *ACTS)},
        ),
        **OF_TOKENS,
    },
    unread=(
        "*position_ids", "*position_embeddings.*", "*rel_embeddings.*", "*encoder.LayerNorm.*", "mask_predictions.*",
    ),
)  # fmt: skip

#: DeBERTa v1: a row for each distance, keys without bias, Q, K and V in one matrix, head by head.
DEBERTA = replace(
    DEBERTA_V2,
    only={"hidden_act": tuple(ACTS), "talking_head": (False,)},
    more=settings_of_first,
    names={
        **DEBERTA_V2.names,
        **in_layers(
            "encoder.layer.{l}.attention.self.",
            {
                **{f"W_{role}.weight": "in_proj.weight" for role in "QKV"},
                "W_Q.bias": "q_bias",
                "W_V.bias": "v_bias",
                "W_Q_distance": "pos_q_proj",
                "W_K_distance": "pos_proj",
            },
            "layers.{l}.attention.",
        ),
    },
    laid_out=stacked(*(f"layers.{{l}}.attention.W_{role}.weight" for role in "QKV"), by_head=True),
)

FAMILIES = {"deberta": DEBERTA, "deberta-v2": DEBERTA_V2}
