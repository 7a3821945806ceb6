"""ELECTRA: BERT with an embedding that may be narrower than the layers  (Clark et al. 2020)."""

from dataclasses import replace

from model.checkpoints.families.bert import BERT
from model.checkpoints.families.family import OF_TOKENS, Head, classifier, masked_word

ELECTRA = replace(
    BERT,
    prefix="electra",
    settings={**BERT.settings, "d_embedding": "embedding_size"},
    names={**BERT.names, "embedding.W_E": "embeddings_project"},
    heads={
        "Model": Head("none"),
        "ForMaskedLM": masked_word(
            "generator_predictions.dense",
            "generator_predictions.LayerNorm",
            "generator_lm_head.bias",
            E="generator_lm_head.weight",
        ),
        "ForSequenceClassification": classifier("classifier.dense", "classifier.out_proj", pooler="gelu"),
        **OF_TOKENS,
    },
    unread=("*position_ids", "discriminator_predictions.*"),
)

FAMILIES = {"electra": ELECTRA}
