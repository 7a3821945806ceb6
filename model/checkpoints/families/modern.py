"""ModernBERT: local attention in most layers, rotary positions, gated FFN, pre-norm.

`transformers` 5 writes `layer_types` and `rope_parameters`; older folders have `global_attn_every_n_layers`,
`global_rope_theta` and `local_rope_theta`. Both are read; missing settings get transformers' defaults.

Source: Warner et al. 2024, "Smarter, Better, Faster, Longer: A Modern Bidirectional Encoder".
"""

from collections.abc import Mapping
from typing import Any

from model.checkpoints.errors import setting_error
from model.checkpoints.families.family import (
    ACTS,
    LAYERS,
    SENTENCES,
    THREE_IN_ONE,
    WORDS,
    Family,
    Head,
    in_layers,
    masked_word,
    stacked,
)  # fmt: skip
from model.checkpoints.settings import base_of, whole

GLOBAL, LOCAL = "full_attention", "sliding_attention"
BASES = {GLOBAL: ("global_rope_theta", 160_000.0), LOCAL: ("local_rope_theta", 10_000.0)}
#: Setting -> the part without bias if it is false. All but `decoder_bias` default to false.
BIASES = {
    "attention_bias": "attention", "mlp_bias": "ffn", "norm_bias": "norm", "classifier_bias": "head",
    "decoder_bias": "logits",
}  # fmt: skip


def settings_of(folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """Fields of EncoderConfig that no single setting gives. Raises CheckpointError."""
    kinds = _kinds(folder, theirs, layers)
    unbiased = [part for name, part in BIASES.items() if not theirs.get(name, part == "logits")]
    return {
        "rotary_base": _base(folder, theirs, GLOBAL),
        "local": tuple(layer for layer, kind in enumerate(kinds) if kind == LOCAL),
        "local_base": _base(folder, theirs, LOCAL),
        "window": whole(folder, theirs, "local_attention", 128) // 2,
        "unbiased": tuple(unbiased),
    }


def _kinds(folder: str, theirs: Mapping[str, Any], layers: int) -> list[str]:
    """Kind of each layer's attention, GLOBAL or LOCAL. Raises CheckpointError."""
    if (kinds := theirs.get("layer_types")) is None:
        every = whole(folder, theirs, "global_attn_every_n_layers", 3)
        return [LOCAL if layer % every else GLOBAL for layer in range(layers)]
    if not isinstance(kinds, list) or len(kinds) != layers or not all(kind in BASES for kind in kinds):
        raise setting_error("setting", folder, "layer_types", kinds)
    return kinds


def _base(folder: str, theirs: Mapping[str, Any], kind: str) -> float:
    """Base of the rotation frequencies of one kind of layers. Raises CheckpointError."""
    said, setting = theirs.get("rope_parameters"), "rope_parameters"
    if scaling := theirs.get("rope_scaling"):
        raise setting_error("setting", folder, "rope_scaling", scaling)
    said = {} if said is None else said
    of_kind = said.get(kind, {}) if isinstance(said, dict) else said
    if not isinstance(of_kind, dict) or of_kind.get("rope_type", "default") != "default":
        raise setting_error("setting", folder, setting, of_kind)
    if (value := of_kind.get("rope_theta")) is None:
        setting, usual = BASES[kind]
        value = theirs.get(setting, usual)
        if value is None:  # null in the first checkpoints: local layers use the global base
            return _base(folder, theirs, GLOBAL) if kind == LOCAL else usual
    return base_of(folder, setting, value)


BEHIND_A_NORM = {"pooler.0": "head.dense", "pooler.2": "head.norm"}
BENT: dict[str, Any] = {"dense": "classifier_activation", "only": {"classifier_activation": tuple(ACTS)}}

MODERN_BERT = Family(
    prefix="model",
    settings={**LAYERS, **SENTENCES, "activation": "hidden_activation", "norm_eps": "norm_eps"},
    fixed={
        **WORDS, "positions": "rotary", "norm_first": True, "first_norm": False, "final_norm": True, "ffn": "gated",
    },
    only={"hidden_activation": tuple(ACTS)},
    names={
        "embedding.E.weight": "embeddings.tok_embeddings.weight",
        "embedding.norm": "embeddings.norm",
        **in_layers(
            "layers.{l}.",
            {
                "norm_1": "attn_norm",
                **{f"attention.W_{role}": "attn.Wqkv" for role in "QKV"},
                "attention.W_O": "attn.Wo",
                "norm_2": "mlp_norm",
                "ffn.W_1": "mlp.Wi",
                "ffn.W_3": "mlp.Wi",
                "ffn.W_2": "mlp.Wo",
            },
        ),
        "norm": "final_norm",
    },
    heads={
        "Model": Head("none"),
        "ForMaskedLM": masked_word("head.dense", "head.norm", "decoder.bias", E="decoder.weight", **BENT),
        "ForSequenceClassification": Head(
            "classifier",
            {**BEHIND_A_NORM, "logits": "classifier"},
            pooling="classifier_pooling",
            dense="classifier_activation",
            only={**BENT["only"], "classifier_pooling": ("cls", "mean")},
        ),
        "ForTokenClassification": Head("tags", {**BEHIND_A_NORM, "tags": "classifier"}, **BENT),
        "ForQuestionAnswering": Head("span", {**BEHIND_A_NORM, "of_bounds": "classifier"}, **BENT),
    },
    laid_out=stacked(*THREE_IN_ONE) | stacked("layers.{l}.ffn.W_1", "layers.{l}.ffn.W_3"),
    more=settings_of,
)  # fmt: skip

FAMILIES = {"modernbert": MODERN_BERT}
