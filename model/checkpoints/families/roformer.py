"""RoFormer: BERT with rotary positions  (Su et al. 2021)."""

from dataclasses import replace

from torch import Tensor

from model.checkpoints.families.bert import BERT, heads
from model.checkpoints.families.family import ACTS, WORDS, classifier
from model.config import EncoderConfig


def half_a_head_apart(tensor: Tensor, config: EncoderConfig) -> Tensor:
    """Reorder each head's components: first members of all rotated pairs, then the second; in the file, pairs are
    adjacent.
    """
    return tensor.unflatten(0, (config.heads, -1, 2)).transpose(1, 2).flatten(0, 2)


ROFORMER = replace(
    BERT,
    prefix="roformer",
    settings={**BERT.settings, "d_embedding": "embedding_size"},
    fixed={**WORDS, "positions": "rotary"},
    only={"hidden_act": tuple(ACTS), "is_decoder": (False,), "rotary_value": (False,)},
    names={**BERT.names, "embedding.W_E": "embeddings_project"},
    heads={
        **heads("roformer"),
        "ForSequenceClassification": classifier("classifier.dense", "classifier.out_proj", bent_by="hidden_act"),
    },
    unread=("*position_ids", "*embed_positions.weight"),
    laid_out={f"layers.{{l}}.attention.W_{role}": half_a_head_apart for role in "QK"},
)

FAMILIES = {"roformer": ROFORMER}
