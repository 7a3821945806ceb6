"""What config.json says of a NomicBERT that is no single field of ours.

Source: Nussbaum et al. 2024, "Nomic Embed: Training a Reproducible Long Context Text Embedder".
"""

from collections.abc import Mapping
from typing import Any

from model.hugging_face.errors import CheckpointError


def settings_of(folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """How fast queries and keys turn. Raises CheckpointError for turns, or widths of heads, that are not computed."""
    said = theirs.get("rope_parameters") or {}
    if not isinstance(said, dict) or said.get("rope_type", "default") != "default":
        raise CheckpointError("setting", folder=folder, setting="rope_parameters", value=str(said)[:40])
    base = said.get("rope_theta") or 1000.0
    if isinstance(base, bool) or not isinstance(base, float | int) or not 1 < base < 1e12:
        raise CheckpointError("size", folder=folder, setting="rope_parameters", value=str(base)[:40])
    width, heads = theirs["hidden_size"], theirs["num_attention_heads"]
    if (each := theirs.get("head_dim")) is not None and each != width / heads:
        raise CheckpointError("setting", folder=folder, setting="head_dim", value=str(each)[:40])
    return {"rotary_base": float(base)}
