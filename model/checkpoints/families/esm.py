"""ESM: proteins, one amino acid per token. Its contact prediction is not computed.

Source: Lin et al. 2023, "Evolutionary-scale prediction of atomic-level protein structure with a language model".
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from model.checkpoints.errors import setting_error
from model.checkpoints.families.bert import BERT
from model.checkpoints.families.family import Family
from model.checkpoints.families.roberta import ROBERTA
from model.checkpoints.settings import base_of


def settings_of(folder: str, theirs: Mapping[str, Any], layers: int) -> dict[str, Any]:
    """Fields of EncoderConfig that no single setting gives. Raises CheckpointError."""
    base = base_of(folder, "rope_theta", theirs.get("rope_theta") or 10_000.0)
    found = {"rotary_base": base, "embedding_norm": bool(theirs.get("emb_layer_norm_before"))}
    if theirs.get("token_dropout"):
        hidden, size = theirs.get("mask_token_id"), theirs.get("vocab_size")
        if type(hidden) is not int or type(size) is not int or not 0 <= hidden < size:
            raise setting_error("size", folder, "mask_token_id", hidden)
        found["dropped"] = hidden
    return found


#: Rotary positions; the embedding of a hidden token is 0  (token_dropout.py).
ESM_2 = Family(
    prefix="esm",
    settings=BERT.settings,
    fixed={
        "input": "words", "positions": "rotary", "scale_embedding": False, "norm_first": True, "final_norm": True,
        "activation": "gelu", "segments": 0,
    },
    defaults={"position_embedding_type": "absolute"},
    only={
        "is_decoder": (False,), "add_cross_attention": (False,), "is_folding_model": (False,),
        "position_embedding_type": ("absolute", "rotary"),
    },
    more=settings_of,
    names={
        **BERT.names,
        "embedding.norm": "embeddings.layer_norm",
        "layers.{l}.norm_1": "encoder.layer.{l}.attention.LayerNorm",
        "layers.{l}.norm_2": "encoder.layer.{l}.LayerNorm",
        "norm": "encoder.emb_layer_norm_after",
    },
    heads=ROBERTA.heads,
    speeds=(
        "rotary_embeddings.inv_freq",
        *(f"encoder.layer.{one}.attention.self.rotary_embeddings.inv_freq" for one in ("{l}", "*")),  # "*" is literal
    ),
    unread=("*position_ids", "*pooler.dense.*", "*contact_head.*", "*position_embeddings.weight"),
    letters=True,
)  # fmt: skip

#: ESM-1b and ESM-1v: learned positions.
ESM_1 = replace(ESM_2, fixed={**ESM_2.fixed, "positions": "learned"}, positions_from_pad=True)

FAMILIES = {"esm": replace(ESM_2, where={("position_embedding_type", "absolute"): ESM_1})}
