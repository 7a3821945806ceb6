"""DistilBERT: BERT with half of the layers and no segments  (Sanh et al. 2019)."""

from model.checkpoints.families.family import (
    ACTS,
    OF_TOKENS,
    SENTENCES,
    WORDS,
    Family,
    Head,
    classifier,
    in_layers,
    masked_word,
)  # fmt: skip

DISTILBERT = Family(
    prefix="distilbert",
    settings={
        **SENTENCES,
        "d_model": "dim",
        "heads": "n_heads",
        "layers": "n_layers",
        "d_ff": "hidden_dim",
        "activation": "activation",
    },
    fixed={**WORDS, "norm_eps": 1e-12},
    only={"activation": tuple(ACTS)},
    names={
        "embedding.E.weight": "embeddings.word_embeddings.weight",
        "embedding.positions.table": "embeddings.position_embeddings.weight",
        "embedding.norm": "embeddings.LayerNorm",
        **in_layers(
            "transformer.layer.{l}.",
            {
                "attention.W_Q": "attention.q_lin",
                "attention.W_K": "attention.k_lin",
                "attention.W_V": "attention.v_lin",
                "attention.W_O": "attention.out_lin",
                "norm_1": "sa_layer_norm",
                "ffn.W_1": "ffn.lin1",
                "ffn.W_2": "ffn.lin2",
                "norm_2": "output_layer_norm",
            },
        ),
    },
    heads={
        "Model": Head("none"),
        "ForMaskedLM": masked_word(
            "vocab_transform", "vocab_layer_norm", "vocab_projector.bias", E="vocab_projector.weight",
            own_activation=True,
        ),
        "ForSequenceClassification": classifier("pre_classifier", "classifier", pooler="relu"),
        **OF_TOKENS,
    },
)  # fmt: skip

FAMILIES = {"distilbert": DISTILBERT}
