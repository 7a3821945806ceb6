"""What config.json says of a T5 that is no single field of ours.

Source: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer"; gates
came with version 1.1 of its makers' code.
"""

from collections.abc import Mapping
from typing import Any

from model.checkpoints.errors import setting_error

GATE = "gated-"
MOST = 1024  # numbers of one head


def settings_of(activations: Mapping[str, str], folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """The fields of EncoderConfig that are no single setting of theirs. Raises CheckpointError.

    activations: their names -> ours. "gated-gelu" means the approximation by tanh.
    """
    usual = {"d_model": 512, "num_heads": 8, "d_kv": 64}
    width, heads, each = (theirs.get(name) or value for name, value in usual.items())
    if type(each) is not int or not 0 < each <= MOST:
        raise setting_error("size", folder, "d_kv", each)
    said: str = theirs.get("feed_forward_proj") or "relu"
    gated = said.startswith(GATE)
    bend = "gelu_new" if said == "gated-gelu" else said.removeprefix(GATE)
    ffn = {"ffn": "gated" if gated else "plain", "activation": activations[bend]}
    return ffn | ({"d_head": each} if width != heads * each else {})
