"""What config.json says of a DeBERTa: which products a score has, and how distances are counted."""

from collections.abc import Mapping
from math import inf
from typing import Any

from model.checkpoints.errors import setting_error
from model.checkpoints.settings import whole

TERMS = {"c2p": "content_to_position", "p2c": "position_to_content"}


def settings_of(folder: str, theirs: Mapping[str, Any], _layers: int) -> dict[str, Any]:
    """The fields of EncoderConfig that are no single setting of theirs. Raises CheckpointError."""
    for setting, usual in (("embedding_size", "hidden_size"), ("pooler_hidden_size", "hidden_size")):
        if theirs.get(setting, theirs.get(usual)) != theirs.get(usual):
            raise setting_error("setting", folder, setting, theirs[setting])
    size = theirs.get("attention_head_size")
    if size is not None and size != theirs["hidden_size"] / theirs["num_attention_heads"]:
        raise setting_error("setting", folder, "attention_head_size", size)
    positions = "learned" if theirs.get("position_biased_input", True) else "none"
    terms = _terms(folder, theirs)
    if not terms and positions == "none":  # nothing would tell the order of words
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
    """The same of the first DeBERTa, which knows no shared rows, no LayerNorm of distances and no shared matrices."""
    later = {"position_buckets": -1, "norm_rel_ebd": "none", "share_att_key": False}
    found = settings_of(folder, {**theirs, **later}, layers)
    if "distance_terms" not in found:
        raise setting_error("setting", folder, "pos_att_type", theirs.get("pos_att_type"))
    return {**found, "unbiased": ("keys",)}


def _terms(folder: str, theirs: Mapping[str, Any]) -> tuple[str, ...]:
    """The products of a score beside Q Kᵀ, in our order."""
    said = _listed(theirs.get("pos_att_type"))
    on = bool(theirs.get("relative_attention", False))
    if said - TERMS.keys() or (said and not on):  # their library divides by √(3 d_k) even where nothing is added
        setting = "pos_att_type" if on else "relative_attention"
        raise setting_error("setting", folder, setting, theirs.get(setting))
    return tuple(ours for name, ours in TERMS.items() if name in said)


def _listed(said: object) -> set[str]:
    """ "p2c|c2p", or a list of the same."""
    parts = said.lower().split("|") if isinstance(said, str) else said if isinstance(said, list) else []
    return {str(part).strip() for part in parts} - {""}
