"""What config.json says of a NomicBERT that is no single field of ours.

Source: Nussbaum et al. 2024, "Nomic Embed: Training a Reproducible Long Context Text Embedder".
"""

from collections.abc import Mapping
from typing import Any

from model.checkpoints.errors import setting_error
from model.checkpoints.settings import base_of

#: What the configuration says now, and what their makers' own code calls it.
NAMES = {
    "hidden_size": "n_embd", "num_attention_heads": "n_head", "num_hidden_layers": "n_layer",
    "intermediate_size": "n_inner", "max_position_embeddings": "n_positions", "layer_norm_eps": "layer_norm_epsilon",
    "hidden_act": "activation_function", "rotary_base": "rotary_emb_base",
}  # fmt: skip


def older(theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of a folder as its makers wrote it, under the names of today."""
    found = {name: theirs[own] for name, own in NAMES.items() if own in theirs}
    if found.get("hidden_act") in ("swiglu", "geglu"):
        found["hidden_act"] = {"swiglu": "silu", "geglu": "gelu"}[found["hidden_act"]]
    return found | {"rope_parameters": {"rope_theta": found.pop("rotary_base", 10_000.0)}} if found else {}


def settings_of(folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """How fast queries and keys turn. Raises CheckpointError for turns, or widths of heads, that are not computed."""
    said = theirs.get("rope_parameters") or {}
    if not isinstance(said, dict) or said.get("rope_type", "default") != "default":
        raise setting_error("setting", folder, "rope_parameters", said)
    width, heads = theirs["hidden_size"], theirs["num_attention_heads"]
    if (each := theirs.get("head_dim")) is not None and each != width / heads:
        raise setting_error("setting", folder, "head_dim", each)
    return {"rotary_base": base_of(folder, "rope_parameters", said.get("rope_theta") or 1000.0)}
