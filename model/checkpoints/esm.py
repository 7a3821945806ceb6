"""What config.json says of an ESM-2 that is no single field of ours.

Source: Lin et al. 2023, "Evolutionary-scale prediction of atomic-level protein structure with a language model".
"""

from collections.abc import Mapping
from typing import Any

from model.checkpoints.errors import setting_error
from model.checkpoints.settings import base_of


def settings_of(folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """The fields of EncoderConfig that are no single setting of theirs. Raises CheckpointError."""
    base = base_of(folder, "rope_theta", theirs.get("rope_theta") or 10_000.0)
    found = {"rotary_base": base, "embedding_norm": bool(theirs.get("emb_layer_norm_before"))}
    if theirs.get("token_dropout"):
        hidden, size = theirs.get("mask_token_id"), theirs.get("vocab_size")
        if type(hidden) is not int or type(size) is not int or not 0 <= hidden < size:
            raise setting_error("size", folder, "mask_token_id", hidden)
        found["dropped"] = hidden
    return found
