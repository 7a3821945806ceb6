"""BERT and close variants: ERNIE, Megatron-BERT, jina-embeddings-v2."""

from dataclasses import replace

from model.checkpoints.families.family import (
    ACTS,
    LAYERS,
    OF_TOKENS,
    SENTENCES,
    WORDS,
    Family,
    Head,
    classifier,
    in_layers,
    masked_word,
    stacked,
)  # fmt: skip

GUESSES = masked_word(
    "cls.predictions.transform.dense",
    "cls.predictions.transform.LayerNorm",
    "cls.predictions.bias",
    E="cls.predictions.decoder.weight",
    c="cls.predictions.decoder.bias",
    own_activation=True,
)


def heads(prefix: str) -> dict[str, Head]:
    """Heads of BERT and of families whose pooler also belongs to the encoder."""
    return {
        "Model": Head("none"),
        "ForMaskedLM": GUESSES,
        "ForPreTraining": GUESSES,
        "ForSequenceClassification": classifier(f"{prefix}.pooler.dense", "classifier", pooler="tanh"),
        **OF_TOKENS,
    }


BERT = Family(
    prefix="bert",
    settings={**LAYERS, **SENTENCES, "segments": "type_vocab_size"},
    fixed=WORDS,
    only={
        "hidden_act": tuple(ACTS),
        "position_embedding_type": ("absolute",),
        "is_decoder": (False,),
        "add_cross_attention": (False,),
    },
    names={
        "embedding.E.weight": "embeddings.word_embeddings.weight",
        "embedding.segments.weight": "embeddings.token_type_embeddings.weight",
        "embedding.positions.table": "embeddings.position_embeddings.weight",
        "embedding.norm": "embeddings.LayerNorm",
        **in_layers(
            "encoder.layer.{l}.",
            {
                "attention.W_Q": "attention.self.query",
                "attention.W_K": "attention.self.key",
                "attention.W_V": "attention.self.value",
                "attention.W_O": "attention.output.dense",
                "norm_1": "attention.output.LayerNorm",
                "ffn.W_1": "intermediate.dense",
                "ffn.W_2": "output.dense",
                "norm_2": "output.LayerNorm",
            },
        ),
    },
    heads=heads("bert"),
    unread=("*position_ids", "*pooler.dense.*", "cls.seq_relationship.*"),
)

#: jina-embeddings-v2: ALiBi and a gated FFN  (Günther et al. 2023).
JINA = replace(
    BERT,
    called="jinabert",
    fixed={
        **WORDS, "positions": "none", "sloped": True, "ffn": "gated", "activation": "gelu", "unbiased": ("gates",),
    },
    only={"feed_forward_type": ("geglu",), "is_decoder": (False,), "add_cross_attention": (False,)},
    names={
        **BERT.names,
        "layers.{l}.ffn.W_1": "encoder.layer.{l}.mlp.gated_layers",
        "layers.{l}.ffn.W_3": "encoder.layer.{l}.mlp.gated_layers",
        "layers.{l}.ffn.W_2": "encoder.layer.{l}.mlp.wo",
        "layers.{l}.norm_2": "encoder.layer.{l}.mlp.layernorm",
    },
    laid_out=stacked("layers.{l}.ffn.W_1", "layers.{l}.ffn.W_3"),
)  # fmt: skip

ERNIE = replace(BERT, prefix="ernie", only={**BERT.only, "use_task_id": (False,)}, heads=heads("ernie"))

#: LayerNorm before each sub-layer and at the end, none after the embedding  (Shoeybi et al. 2019, section 3).
MEGATRON_BERT = replace(
    BERT,
    fixed={**WORDS, "embedding_norm": False, "norm_first": True, "final_norm": True},
    names={
        **BERT.names,
        "layers.{l}.norm_1": "encoder.layer.{l}.attention.ln",
        "layers.{l}.norm_2": "encoder.layer.{l}.ln",
        "norm": "encoder.ln",
    },
)

FAMILIES = {
    "bert": replace(BERT, where={("position_embedding_type", "alibi"): JINA}),
    "ernie": ERNIE,
    "megatron-bert": MEGATRON_BERT,
}
