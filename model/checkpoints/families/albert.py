"""ALBERT: all layers share one set of weights, and the embedding is narrow  (Lan et al. 2020, section 3.1)."""

from dataclasses import replace

from model.checkpoints.families.bert import BERT
from model.checkpoints.families.family import OF_TOKENS, Head, classifier, in_layers, masked_word

GUESSES = masked_word(
    "predictions.dense",
    "predictions.LayerNorm",
    "predictions.bias",
    E="predictions.decoder.weight",
    c="predictions.decoder.bias",
    own_activation=True,
)

ALBERT = replace(
    BERT,
    prefix="albert",
    settings={**BERT.settings, "d_embedding": "embedding_size", "groups": "num_hidden_groups"},
    only={**BERT.only, "inner_group_num": (1,)},
    more=lambda folder, theirs, layers: {"d_embedding": theirs["embedding_size"]},  # even if equal to d_model
    names={
        **BERT.names,
        "embedding.W_E": "encoder.embedding_hidden_mapping_in",
        **in_layers(
            "encoder.albert_layer_groups.{g}.albert_layers.0.",
            {
                "attention.W_Q": "attention.query",
                "attention.W_K": "attention.key",
                "attention.W_V": "attention.value",
                "attention.W_O": "attention.dense",
                "norm_1": "attention.LayerNorm",
                "ffn.W_1": "ffn",
                "ffn.W_2": "ffn_output",
                "norm_2": "full_layer_layer_norm",
            },
        ),
    },
    heads={
        "Model": Head("none"),
        "ForMaskedLM": GUESSES,
        "ForPreTraining": GUESSES,
        "ForSequenceClassification": classifier("albert.pooler", "classifier", pooler="tanh"),
        **OF_TOKENS,
    },
    unread=("*position_ids", "*pooler.*", "sop_classifier.*"),
)

FAMILIES = {"albert": ALBERT}
