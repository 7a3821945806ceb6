"""RoBERTa and variants: XLM-RoBERTa, CamemBERT, data2vec, RoBERTa-PreLayerNorm, MPNet."""

from dataclasses import replace

from model.checkpoints.families.bert import BERT
from model.checkpoints.families.family import OF_TOKENS, WORDS, Head, classifier, in_layers, masked_word

ROBERTA = replace(
    BERT,
    prefix="roberta",
    positions_from_pad=True,
    heads={
        "Model": Head("none"),
        "ForMaskedLM": masked_word(
            "lm_head.dense", "lm_head.layer_norm", "lm_head.bias", E="lm_head.decoder.weight", c="lm_head.decoder.bias"
        ),
        "ForSequenceClassification": classifier("classifier.dense", "classifier.out_proj", pooler="tanh"),
        **OF_TOKENS,
    },
    unread=("*position_ids", "*pooler.dense.*"),
)

ROBERTA_PRELAYERNORM = replace(
    ROBERTA,
    prefix="roberta_prelayernorm",
    fixed={**WORDS, "norm_first": True, "final_norm": True},
    names={
        **ROBERTA.names,
        "layers.{l}.norm_1": "encoder.layer.{l}.attention.LayerNorm",
        "layers.{l}.norm_2": "encoder.layer.{l}.intermediate.LayerNorm",
        "norm": "LayerNorm",
    },
)

#: All layers add the same learned number for each distance to their scores  (Song et al. 2020). MPNet's code always
#: uses 32 rows for distances and pad_token_id 1, whatever the settings say.
MPNET = replace(
    ROBERTA,
    prefix="mpnet",
    settings={**ROBERTA.settings, "buckets": "relative_attention_num_buckets"},
    fixed={**WORDS, "segments": 0},
    only={**ROBERTA.only, "relative_attention_num_buckets": (32,), "pad_token_id": (1,)},
    names={
        **ROBERTA.names,
        **in_layers(
            "encoder.layer.{l}.attention.",
            {
                "attention.W_Q": "attn.q",
                "attention.W_K": "attn.k",
                "attention.W_V": "attn.v",
                "attention.W_O": "attn.o",
                "norm_1": "LayerNorm",
            },
        ),
        "layers.{l}.attention.distances": "encoder.relative_attention_bias",
    },
)

FAMILIES = {
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "data2vec-text": replace(ROBERTA, prefix="data2vec_text"),
    "roberta-prelayernorm": ROBERTA_PRELAYERNORM,
    "mpnet": MPNET,
}
