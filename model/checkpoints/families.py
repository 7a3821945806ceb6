"""How each family of Hugging Face checkpoints writes down what we call an Encoder: one table for each.

Left stand our names, right theirs; {l} is the number of a layer, {g} that of its group. A name of a module stands for
its weight and its bias.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from torch import Tensor

from model.checkpoints import deberta, esm, gte, marian, modern, nomic, t5

#: Their names of activations -> ours.
ACTIVATIONS = {
    "gelu": "gelu", "gelu_python": "gelu", "relu": "relu", "silu": "silu", "swish": "silu",
    **dict.fromkeys(("gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_accurate"), "gelu-tanh"),
    "quick_gelu": "gelu-quick",
}  # fmt: skip
WORDS = {"input": "words", "positions": "learned", "scale_embedding": False, "embedding_norm": True}
IMAGES = {"input": "patches", "positions": "learned", "norm_first": True, "final_norm": True}


@dataclass(frozen=True)
class Head:
    """What a checkpoint says of its input, and where the weights of that stand.

    `copies` are tensors that some checkpoints store a second time: theirs -> our key, whose numbers they repeat. only:
    settings of theirs, with the values for which our head computes what theirs does.
    """

    kind: Literal["none", "masked-word", "classifier", "tags", "span", "vector"]
    names: Mapping[str, str] = field(default_factory=dict)
    pooler: Literal["none", "tanh", "relu", "gelu"] = "none"
    distillation: bool = False  # a second classifier reads the distillation token
    pooling: str = ""  # the setting that says whether the first token is read or the mean of all
    dense: str = ""  # the setting that names the activation of a Linear before the last, with LayerNorm behind it
    bent_by: str = ""  # the setting that names the activation of a Linear before the last, with nothing behind it
    own_activation: bool = False  # masked-word: bent by the layers' activation, in others by GELU
    #: The classifier reads the mean of the patches: with half of its matrix, or alone.
    patches: Literal["", "alone", "beside"] = ""
    projected: str = ""  # vector: the setting that says to how many numbers it is brought
    copies: Mapping[str, str] = field(default_factory=dict)
    only: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    otherwise: "Head | None" = None  # the head that it is where a setting is not as `only` says


@dataclass(frozen=True)
class Family:
    """All that tells one family from another.

    prefix: before `names` where a head stands beside the encoder; of a name that an encoder has no parameter for nobody
    asks. settings: a field of EncoderConfig -> its name in their config.json, unless it is among the `fixed`, which are
    the same in each checkpoint. only: settings of theirs, with the values
    that this Encoder computes. heads: the end of the architecture's name -> its head. unread: what may stand in a file
    and is no part of the encoder or its head. laid_out: how a tensor of theirs becomes ours. apart:
    patterns of tensors that hold so many of ours, one below the other: part 2 of a.weight is a[2].weight. more: what
    else config.json says, of a folder, its settings and so many layers, as fields of EncoderConfig. defaults: what
    their library takes for a setting that a file leaves out. worked_out: what a field is, of all their settings, where
    it is not the one that `settings` names. pictures: the same as defaults, for how pictures are brought to a network.
    """

    prefix: str
    settings: Mapping[str, str]
    fixed: Mapping[str, Any]
    names: Mapping[str, str]
    heads: Mapping[str, Head]
    only: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    unread: tuple[str, ...] = ()
    laid_out: Mapping[str, Callable[[Tensor], Tensor]] = field(default_factory=dict)
    always_widened: bool = False  # there is a W_E even where d_E = d_model
    apart: Mapping[str, int] = field(default_factory=dict)
    apart_by_head: bool = False  # of each head those that are `apart` stand together
    more: Callable[[str, Mapping[str, Any], int], dict[str, Any]] | None = None
    defaults: Mapping[str, Any] = field(default_factory=dict)
    worked_out: Mapping[str, Callable[[Mapping[str, Any]], int]] = field(default_factory=dict)
    pictures: Mapping[str, Any] = field(default_factory=dict)
    inside: str = ""  # the setting that holds those of the encoder of pictures, where another stands beside it
    decoder: "Family | None" = None  # where one writes what the encoder reads: its settings, fixed and not
    #: Of families that order the numbers of d_model otherwise: what of theirs, by our key, is in our order.
    reordered: Callable[[str, Tensor], Tensor] | None = None
    where: Mapping[tuple[str, object], "Family"] = field(default_factory=dict)  # a setting and its value -> that family
    older: Callable[[Mapping[str, Any]], dict[str, Any]] | None = (
        None  # settings by the names that others once gave them
    )
    called: str = ""  # how its architectures' names begin, where that is not model_type
    interpolated: Literal["", "plain", "antialias"] = ""  # positions, where pictures are of another size than learned
    gated: Mapping[str, str] = field(default_factory=dict)  # names where a gate stands in the feed-forward network
    speeds: tuple[str, ...] = ()  # how fast queries and keys turn, where a file holds that; else it is worked out
    side_by_side: bool = False  # the two numbers of a query or key that turn together, and not half a head apart
    slower: Callable[[Mapping[str, Any], int], float] | None = (
        None  # by what all speeds are divided, by settings and d_k
    )
    letters: bool = False  # vocab.txt holds signs, and a text is cut into them
    positions_from_pad: bool = False  # row pad_token_id of the table of positions is [PAD]'s; then come the places


OF_TOKENS = {
    "ForTokenClassification": Head("tags", names={"tags": "classifier"}),
    "ForQuestionAnswering": Head("span", names={"of_bounds": "qa_outputs"}),
}

BERT_GUESSES = Head(
    "masked-word",
    names={
        "transform.0": "cls.predictions.transform.dense",
        "transform.2": "cls.predictions.transform.LayerNorm",
        "logits.bias": "cls.predictions.bias",
    },
    copies={
        "cls.predictions.decoder.weight": "embedding.E.weight",
        "cls.predictions.decoder.bias": "logits.bias",
    },
    own_activation=True,
)


def bert_heads(prefix: str) -> dict[str, Head]:
    """What BERT and its nearest kin say, whose pooler is part of the encoder."""
    pooled = {"pooler.0": f"{prefix}.pooler.dense", "logits": "classifier"}
    return {
        "Model": Head("none"),
        "ForMaskedLM": BERT_GUESSES,
        "ForPreTraining": BERT_GUESSES,
        "ForSequenceClassification": Head("classifier", names=pooled, pooler="tanh"),
        **OF_TOKENS,
    }


#: What most of them call the sizes of a layer, and those of sentences.
LAYERS = {
    "d_model": "hidden_size",
    "heads": "num_attention_heads",
    "layers": "num_hidden_layers",
    "d_ff": "intermediate_size",
    "activation": "hidden_act",
    "norm_eps": "layer_norm_eps",
}
SENTENCES = {"vocab_size": "vocab_size", "max_len": "max_position_embeddings"}

BERT = Family(
    prefix="bert",
    settings={**LAYERS, **SENTENCES, "segments": "type_vocab_size"},
    fixed=WORDS,
    only={
        "hidden_act": tuple(ACTIVATIONS),
        "position_embedding_type": ("absolute",),
        "is_decoder": (False,),
        "add_cross_attention": (False,),
    },
    names={
        "embedding.E.weight": "embeddings.word_embeddings.weight",
        "embedding.segments.weight": "embeddings.token_type_embeddings.weight",
        "embedding.positions.table": "embeddings.position_embeddings.weight",
        "embedding.norm": "embeddings.LayerNorm",
        "layers.{l}.attention.W_Q": "encoder.layer.{l}.attention.self.query",
        "layers.{l}.attention.W_K": "encoder.layer.{l}.attention.self.key",
        "layers.{l}.attention.W_V": "encoder.layer.{l}.attention.self.value",
        "layers.{l}.attention.W_O": "encoder.layer.{l}.attention.output.dense",
        "layers.{l}.norm_1": "encoder.layer.{l}.attention.output.LayerNorm",
        "layers.{l}.ffn.W_1": "encoder.layer.{l}.intermediate.dense",
        "layers.{l}.ffn.W_2": "encoder.layer.{l}.output.dense",
        "layers.{l}.norm_2": "encoder.layer.{l}.output.LayerNorm",
    },
    heads=bert_heads("bert"),
    unread=("*position_ids", "*pooler.dense.*", "cls.seq_relationship.*"),
)

#: Scores fall with the distance, and each neuron has a gate: jina-embeddings-v2  (Günther et al. 2023).
JINA = replace(
    BERT,
    called="jinabert",
    fixed={
        **WORDS, "positions": "none", "sloped": True, "ffn": "gated", "activation": "gelu", "unbiased": ("gates",),
    },
    only={"feed_forward_type": ("geglu",), "is_decoder": (False,), "add_cross_attention": (False,)},
    names={
        **BERT.names,
        "layers.{l}.ffn.W_1": "encoder.layer.{l}.mlp.gated_layers[0]",
        "layers.{l}.ffn.W_3": "encoder.layer.{l}.mlp.gated_layers[1]",
        "layers.{l}.ffn.W_2": "encoder.layer.{l}.mlp.wo",
        "layers.{l}.norm_2": "encoder.layer.{l}.mlp.layernorm",
    },
    apart={"*.mlp.gated_layers.*": 2},
)  # fmt: skip

ERNIE = replace(BERT, prefix="ernie", only={**BERT.only, "use_task_id": (False,)}, heads=bert_heads("ernie"))

#: LayerNorm stands before each part and at the end, and none after the embedding  (Shoeybi et al. 2019, section 3).
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

ROBERTA = replace(
    BERT,
    prefix="roberta",
    positions_from_pad=True,
    heads={
        "Model": Head("none"),
        "ForMaskedLM": Head(
            "masked-word",
            names={"transform.0": "lm_head.dense", "transform.2": "lm_head.layer_norm", "logits.bias": "lm_head.bias"},
            copies={"lm_head.decoder.weight": "embedding.E.weight", "lm_head.decoder.bias": "logits.bias"},
        ),
        "ForSequenceClassification": Head(
            "classifier", names={"pooler.0": "classifier.dense", "logits": "classifier.out_proj"}, pooler="tanh"
        ),
        **OF_TOKENS,
    },
    unread=("*position_ids", "*pooler.dense.*"),
)

DATA2VEC_TEXT = replace(ROBERTA, prefix="data2vec_text")

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

ELECTRA = replace(
    BERT,
    prefix="electra",
    settings={**BERT.settings, "d_embedding": "embedding_size"},
    names={**BERT.names, "embedding.W_E": "embeddings_project"},
    heads={
        "Model": Head("none"),
        "ForMaskedLM": Head(
            "masked-word",
            names={
                "transform.0": "generator_predictions.dense",
                "transform.2": "generator_predictions.LayerNorm",
                "logits.bias": "generator_lm_head.bias",
            },
            copies={"generator_lm_head.weight": "embedding.E.weight"},
        ),
        "ForSequenceClassification": Head(
            "classifier", names={"pooler.0": "classifier.dense", "logits": "classifier.out_proj"}, pooler="gelu"
        ),
        **OF_TOKENS,
    },
    unread=("*position_ids", "discriminator_predictions.*"),
)

#: A learned number for each distance, which all layers add to their scores  (Song et al. 2020). Their code takes 32
#: rows of that table and counts from the filler 1, whatever the settings say.
MPNET = replace(
    ROBERTA,
    prefix="mpnet",
    settings={**ROBERTA.settings, "buckets": "relative_attention_num_buckets"},
    fixed={**WORDS, "segments": 0},
    only={**ROBERTA.only, "relative_attention_num_buckets": (32,), "pad_token_id": (1,)},
    names={
        **ROBERTA.names,
        "layers.{l}.attention.W_Q": "encoder.layer.{l}.attention.attn.q",
        "layers.{l}.attention.W_K": "encoder.layer.{l}.attention.attn.k",
        "layers.{l}.attention.W_V": "encoder.layer.{l}.attention.attn.v",
        "layers.{l}.attention.W_O": "encoder.layer.{l}.attention.attn.o",
        "layers.{l}.attention.distances": "encoder.relative_attention_bias",
        "layers.{l}.norm_1": "encoder.layer.{l}.attention.LayerNorm",
    },
)

_T5_LAYER = "encoder.block.{l}.layer."

#: Only the distance of two tokens is known, scores are not divided, and LayerNorm takes no mean off  (Raffel et al.
#: 2020, section 2.1). Its decoder is not read.
T5 = Family(
    prefix="transformer",
    settings={
        "d_model": "d_model",
        "heads": "num_heads",
        "layers": "num_layers",
        "d_ff": "d_ff",
        "norm_eps": "layer_norm_epsilon",
        "vocab_size": "vocab_size",
        "max_len": "n_positions",
        "buckets": "relative_attention_num_buckets",
        "farthest": "relative_attention_max_distance",
    },
    defaults={
        "d_model": 512, "num_heads": 8, "num_layers": 6, "d_ff": 2048, "layer_norm_epsilon": 1e-6, "vocab_size": 32128,
        "n_positions": 512, "relative_attention_num_buckets": 32, "relative_attention_max_distance": 128,
    },
    fixed={
        "input": "words", "positions": "none", "scale_embedding": False, "norm": "rms", "norm_first": True,
        "final_norm": True, "divided": False, "unbiased": ("attention", "ffn", "norm"),
    },
    only={"feed_forward_proj": ("relu", *ACTIVATIONS, *(f"{t5.GATE}{name}" for name in ACTIVATIONS))},
    more=partial(t5.settings_of, ACTIVATIONS),
    names={
        "embedding.E.weight": "shared.weight",
        "layers.{l}.norm_1": f"{_T5_LAYER}0.layer_norm",
        "layers.{l}.attention.W_Q": f"{_T5_LAYER}0.SelfAttention.q",
        "layers.{l}.attention.W_K": f"{_T5_LAYER}0.SelfAttention.k",
        "layers.{l}.attention.W_V": f"{_T5_LAYER}0.SelfAttention.v",
        "layers.{l}.attention.W_O": f"{_T5_LAYER}0.SelfAttention.o",
        "layers.{l}.attention.distances": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
        "layers.{l}.norm_2": f"{_T5_LAYER}1.layer_norm",
        "layers.{l}.ffn.W_1": f"{_T5_LAYER}1.DenseReluDense.wi",
        "layers.{l}.ffn.W_2": f"{_T5_LAYER}1.DenseReluDense.wo",
        "norm": "encoder.final_layer_norm",
    },
    gated={
        "layers.{l}.ffn.W_1": f"{_T5_LAYER}1.DenseReluDense.wi_0",
        "layers.{l}.ffn.W_3": f"{_T5_LAYER}1.DenseReluDense.wi_1",
    },
    heads={
        "EncoderModel": Head("none", copies={"encoder.embed_tokens.weight": "embedding.E.weight"}),
        "Model": Head("none"),
        "ForTokenClassification": Head("tags", names={"tags": "classifier"}),
    },
    unread=("*encoder.embed_tokens.weight", "*decoder.*", "lm_head.*", "classification_head.*", "qa_outputs.*"),
)  # fmt: skip

#: Of the older head and of that with which it was trained: `legacy` says which.
DEBERTA_GUESSES = replace(
    BERT_GUESSES,
    only={"legacy": (True,)},
    otherwise=Head(
        "masked-word",
        names={
            "transform.0": "lm_predictions.lm_head.dense",
            "transform.2": "lm_predictions.lm_head.LayerNorm",
            "logits.bias": "lm_predictions.lm_head.bias",
        },
        own_activation=True,
    ),
)

#: Scores of three products, two of them with learned vectors of distances  (He et al. 2021; disentangled.py).
DEBERTA_V2 = replace(
    BERT,
    prefix="deberta",
    fixed={name: value for name, value in WORDS.items() if name != "positions"},
    defaults={"hidden_act": "gelu", "layer_norm_eps": 1e-7, "type_vocab_size": 0, "max_position_embeddings": 512},
    only={"hidden_act": tuple(ACTIVATIONS), "conv_kernel_size": (0,)},
    more=deberta.settings_of,
    names={
        **BERT.names,
        "layers.{l}.attention.W_Q": "encoder.layer.{l}.attention.self.query_proj",
        "layers.{l}.attention.W_K": "encoder.layer.{l}.attention.self.key_proj",
        "layers.{l}.attention.W_V": "encoder.layer.{l}.attention.self.value_proj",
        "layers.{l}.attention.W_Q_distance": "encoder.layer.{l}.attention.self.pos_query_proj",
        "layers.{l}.attention.W_K_distance": "encoder.layer.{l}.attention.self.pos_key_proj",
        "layers.{l}.attention.distances": "encoder.rel_embeddings",
        "layers.{l}.attention.distance_norm": "encoder.LayerNorm",
    },
    heads={
        "Model": Head("none"),
        "ForMaskedLM": DEBERTA_GUESSES,
        "ForSequenceClassification": Head(
            "classifier",
            names={"pooler.0": "pooler.dense", "logits": "classifier"},
            bent_by="pooler_hidden_act",
            only={"pooler_hidden_act": ("gelu", "tanh", *ACTIVATIONS)},
        ),
        **OF_TOKENS,
    },
    unread=(
        "*position_ids",
        "*position_embeddings.*",
        "*rel_embeddings.*",
        "*encoder.LayerNorm.*",
        "mask_predictions.*",
    ),
)

_SELF = "encoder.layer.{l}.attention.self"

#: The first of them: each distance has a row, keys have no bias, and one matrix holds three, head by head.
DEBERTA = replace(
    DEBERTA_V2,
    only={"hidden_act": tuple(ACTIVATIONS), "talking_head": (False,)},
    more=deberta.settings_of_first,
    names={
        **DEBERTA_V2.names,
        "layers.{l}.attention.W_Q.weight": f"{_SELF}.in_proj[0].weight",
        "layers.{l}.attention.W_Q.bias": f"{_SELF}.q_bias",
        "layers.{l}.attention.W_K": f"{_SELF}.in_proj[1]",
        "layers.{l}.attention.W_V.weight": f"{_SELF}.in_proj[2].weight",
        "layers.{l}.attention.W_V.bias": f"{_SELF}.v_bias",
        "layers.{l}.attention.W_Q_distance": f"{_SELF}.pos_q_proj",
        "layers.{l}.attention.W_K_distance": f"{_SELF}.pos_proj",
    },
    apart={"*.attention.self.in_proj.*": 3},
    apart_by_head=True,
)

#: Proteins, an amino acid for each token: queries and keys turn, and a hidden one counts as nothing  (Lin et al. 2023;
#: token_dropout.py). Which places touch each other is not read off here.
ESM = Family(
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
    more=esm.settings_of,
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
        *(f"encoder.layer.{one}.attention.self.rotary_embeddings.inv_freq" for one in ("{l}", "*")),  # as saved since 5
    ),
    unread=("*position_ids", "*pooler.dense.*", "*contact_head.*", "*position_embeddings.weight"),
    letters=True,
)  # fmt: skip

#: ESM-1b and ESM-1v: a vector for each place.
ESM = replace(
    ESM,
    where={
        ("position_embedding_type", "absolute"): replace(
            ESM,
            fixed={**ESM.fixed, "positions": "learned"},
            positions_from_pad=True,
        )
    },
)

ALBERT_GUESSES = Head(
    "masked-word",
    names={
        "transform.0": "predictions.dense",
        "transform.2": "predictions.LayerNorm",
        "logits.bias": "predictions.bias",
    },
    copies={"predictions.decoder.weight": "embedding.E.weight", "predictions.decoder.bias": "logits.bias"},
    own_activation=True,
)

#: One set of weights for all layers, and a narrow embedding  (Lan et al. 2020, section 3.1).
ALBERT = replace(
    BERT,
    prefix="albert",
    settings={**BERT.settings, "d_embedding": "embedding_size", "groups": "num_hidden_groups"},
    only={**BERT.only, "inner_group_num": (1,)},
    names={
        **BERT.names,
        "embedding.W_E": "encoder.embedding_hidden_mapping_in",
        **{
            f"layers.{{l}}.{ours}": f"encoder.albert_layer_groups.{{g}}.albert_layers.0.{theirs}"
            for ours, theirs in {
                "attention.W_Q": "attention.query",
                "attention.W_K": "attention.key",
                "attention.W_V": "attention.value",
                "attention.W_O": "attention.dense",
                "norm_1": "attention.LayerNorm",
                "ffn.W_1": "ffn",
                "ffn.W_2": "ffn_output",
                "norm_2": "full_layer_layer_norm",
            }.items()
        },
    },
    heads={
        "Model": Head("none"),
        "ForMaskedLM": ALBERT_GUESSES,
        "ForPreTraining": ALBERT_GUESSES,
        "ForSequenceClassification": Head(
            "classifier", names={"pooler.0": "albert.pooler", "logits": "classifier"}, pooler="tanh"
        ),
        **OF_TOKENS,
    },
    unread=("*position_ids", "*pooler.*", "sop_classifier.*"),
    always_widened=True,
)

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
    only={"activation": tuple(ACTIVATIONS)},
    names={
        "embedding.E.weight": "embeddings.word_embeddings.weight",
        "embedding.positions.table": "embeddings.position_embeddings.weight",
        "embedding.norm": "embeddings.LayerNorm",
        "layers.{l}.attention.W_Q": "transformer.layer.{l}.attention.q_lin",
        "layers.{l}.attention.W_K": "transformer.layer.{l}.attention.k_lin",
        "layers.{l}.attention.W_V": "transformer.layer.{l}.attention.v_lin",
        "layers.{l}.attention.W_O": "transformer.layer.{l}.attention.out_lin",
        "layers.{l}.norm_1": "transformer.layer.{l}.sa_layer_norm",
        "layers.{l}.ffn.W_1": "transformer.layer.{l}.ffn.lin1",
        "layers.{l}.ffn.W_2": "transformer.layer.{l}.ffn.lin2",
        "layers.{l}.norm_2": "transformer.layer.{l}.output_layer_norm",
    },
    heads={
        "Model": Head("none"),
        "ForMaskedLM": Head(
            "masked-word",
            names={
                "transform.0": "vocab_transform",
                "transform.2": "vocab_layer_norm",
                "logits.bias": "vocab_projector.bias",
            },
            copies={"vocab_projector.weight": "embedding.E.weight"},
            own_activation=True,
        ),
        "ForSequenceClassification": Head(
            "classifier", names={"pooler.0": "pre_classifier", "logits": "classifier"}, pooler="relu"
        ),
        **OF_TOKENS,
    },
)

VIT = Family(
    prefix="vit",
    settings={**LAYERS, "image_size": "image_size", "patch_size": "patch_size", "channels": "num_channels"},
    fixed=IMAGES,
    only={"hidden_act": tuple(ACTIVATIONS), "qkv_bias": (True,), "num_channels": (3, 1)},
    names={
        "embedding.cls": "embeddings.cls_token",
        "embedding.W_E": "embeddings.patch_embeddings.projection",
        "embedding.positions.table": "embeddings.position_embeddings",
        "layers.{l}.norm_1": "encoder.layer.{l}.layernorm_before",
        "layers.{l}.attention.W_Q": "encoder.layer.{l}.attention.attention.query",
        "layers.{l}.attention.W_K": "encoder.layer.{l}.attention.attention.key",
        "layers.{l}.attention.W_V": "encoder.layer.{l}.attention.attention.value",
        "layers.{l}.attention.W_O": "encoder.layer.{l}.attention.output.dense",
        "layers.{l}.norm_2": "encoder.layer.{l}.layernorm_after",
        "layers.{l}.ffn.W_1": "encoder.layer.{l}.intermediate.dense",
        "layers.{l}.ffn.W_2": "encoder.layer.{l}.output.dense",
        "norm": "layernorm",
    },
    heads={
        "Model": Head("none"),
        "ForImageClassification": Head("classifier", names={"logits": "classifier"}),
    },
    unread=("*pooler.dense.*", "*embeddings.mask_token"),
    laid_out={
        "embedding.cls": lambda token: token[0, 0],
        "embedding.distillation": lambda token: token[0, 0],
        "embedding.positions.table": lambda table: table[0],
        "embedding.W_E.weight": lambda kernel: kernel.flatten(start_dim=1),
    },
)

DEIT = replace(
    VIT,
    prefix="deit",
    fixed={**IMAGES, "distillation_token": True},
    names={**VIT.names, "embedding.distillation": "embeddings.distillation_token"},
    heads={
        **VIT.heads,
        "ForImageClassificationWithTeacher": Head(
            "classifier",
            names={"cls_logits": "cls_classifier", "distillation_logits": "distillation_classifier"},
            distillation=True,
        ),
    },
)

#: Trained with most patches hidden, which a decoder painted; that is not read  (He et al. 2022; patch_waves.py).
VIT_MAE = replace(
    VIT,
    settings={**VIT.settings, "hidden_in_training": "mask_ratio"},
    defaults={"mask_ratio": 0.75},
    heads={"Model": Head("none"), "ForPreTraining": Head("none")},
    unread=(*VIT.unread, "decoder.*"),
)

#: Number by number, what a sub-layer finds is made smaller or larger  (Oquab et al. 2024; layer_scale.py).
DINOV2 = replace(
    VIT,
    prefix="dinov2",
    settings={**VIT.settings, "d_ff": "mlp_ratio"},
    worked_out={"d_ff": lambda theirs: int(theirs["hidden_size"] * theirs["mlp_ratio"])},
    defaults={
        "hidden_act": "gelu", "layer_norm_eps": 1e-6, "image_size": 224, "patch_size": 14, "num_channels": 3,
        "mlp_ratio": 4,
    },
    pictures={"image_mean": [0.485, 0.456, 0.406], "image_std": [0.229, 0.224, 0.225], "resample": 3},
    interpolated="plain",
    fixed={**IMAGES, "layer_scale": True},
    names={
        **VIT.names,
        "layers.{l}.norm_1": "encoder.layer.{l}.norm1",
        "layers.{l}.scale_1.scale": "encoder.layer.{l}.layer_scale1.lambda1",
        "layers.{l}.norm_2": "encoder.layer.{l}.norm2",
        "layers.{l}.ffn.W_1": "encoder.layer.{l}.mlp.fc1",
        "layers.{l}.ffn.W_2": "encoder.layer.{l}.mlp.fc2",
        "layers.{l}.scale_2.scale": "encoder.layer.{l}.layer_scale2.lambda1",
    },
    heads={
        "Model": Head("none"),
        "ForImageClassification": Head(
            "classifier", names={"cls_logits": "classifier", "patch_logits": "classifier"}, patches="beside"
        ),
    },
    laid_out={
        **VIT.laid_out,
        "embedding.registers": lambda tokens: tokens[0],
        "cls_logits.weight": lambda matrix: matrix[:, : matrix.shape[1] // 2],
        "patch_logits.weight": lambda matrix: matrix[:, matrix.shape[1] // 2 :],
    },
)  # fmt: skip

_DINOV2_REGISTERS = replace(
    DINOV2,
    prefix="dinov2_with_registers",
    settings={**DINOV2.settings, "registers": "num_register_tokens"},
    defaults={**DINOV2.defaults, "num_register_tokens": 4},
    interpolated="antialias",
    names={**DINOV2.names, "embedding.registers": "embeddings.register_tokens"},
    unread=(*DINOV2.unread, "*embeddings.register_tokens"),  # of which there may be none
)


def _with_gates(family: Family) -> Family:
    """With a gate at each neuron where the settings say so, of which there are two thirds then, in eights."""
    gates = replace(
        family,
        fixed={**family.fixed, "ffn": "gated", "activation": "silu"},
        worked_out={"d_ff": lambda theirs: -(int(int(theirs["hidden_size"] * theirs["mlp_ratio"]) * 2 / 3) // -8) * 8},
        gated={
            "layers.{l}.ffn.W_1": "encoder.layer.{l}.mlp.weights_in[0]",
            "layers.{l}.ffn.W_3": "encoder.layer.{l}.mlp.weights_in[1]",
            "layers.{l}.ffn.W_2": "encoder.layer.{l}.mlp.weights_out",
        },
        apart={"*.mlp.weights_in.*": 2},
    )
    return replace(family, where={("use_swiglu_ffn", True): gates})


DINOV2, DINOV2_REGISTERS = _with_gates(DINOV2), _with_gates(_DINOV2_REGISTERS)

#: BERT, but queries and keys turn, and each neuron has a gate  (Nussbaum et al. 2024).
NOMIC_BERT = replace(
    BERT,
    prefix="nomic_bert",
    fixed={**WORDS, "positions": "rotary", "ffn": "gated", "unbiased": ("attention", "ffn")},
    only={
        "hidden_act": tuple(ACTIVATIONS),
        "prenorm": (False,),
        "use_rms_norm": (False,),
        "parallel_block": (False,),
        "rotary_emb_fraction": (1.0,),
        "rotary_emb_interleaved": (False,),
        "rotary_scaling_factor": (None,),
        "qkv_proj_bias": (False,),
        "mlp_fc1_bias": (False,),
        "mlp_fc2_bias": (False,),
        "num_experts": (0,),
    },
    older=nomic.older,
    more=nomic.settings_of,
    names={
        "embedding.E.weight": "embeddings.word_embeddings.weight",
        "embedding.segments.weight": "embeddings.token_type_embeddings.weight",
        "embedding.norm": "emb_ln",
        "layers.{l}.attention.W_Q": "encoder.layers.{l}.attn.Wqkv[0]",
        "layers.{l}.attention.W_K": "encoder.layers.{l}.attn.Wqkv[1]",
        "layers.{l}.attention.W_V": "encoder.layers.{l}.attn.Wqkv[2]",
        "layers.{l}.attention.W_O": "encoder.layers.{l}.attn.out_proj",
        "layers.{l}.norm_1": "encoder.layers.{l}.norm1",
        "layers.{l}.ffn.W_1": "encoder.layers.{l}.mlp.fc12",
        "layers.{l}.ffn.W_3": "encoder.layers.{l}.mlp.fc11",
        "layers.{l}.ffn.W_2": "encoder.layers.{l}.mlp.fc2",
        "layers.{l}.norm_2": "encoder.layers.{l}.norm2",
    },
    heads={
        **bert_heads("nomic_bert"),
        "ForMaskedLM": replace(
            BERT_GUESSES, names={**BERT_GUESSES.names, "transform.2": "cls.predictions.transform.layer_norm"}
        ),
    },
    unread=("*position_ids", "*pooler.dense.*", "*inv_freq"),
    apart={"*.attn.Wqkv.*": 3},
)

#: The same with a row for each of three in one matrix, and biases but at the gates  (Zhang et al. 2024).
GTE = replace(
    BERT,
    prefix="gte",
    fixed={**WORDS, "positions": "rotary", "ffn": "gated", "unbiased": ("gates",)},
    only={
        "hidden_act": tuple(ACTIVATIONS), "position_embedding_type": ("rope",), "layer_norm_type": ("layer_norm",),
        "logn_attention_scale": (False,), "pack_qkv": (True,),
    },
    older=gte.older,
    more=nomic.settings_of,
    slower=gte.slower,
    names={
        **BERT.names,
        "layers.{l}.attention.W_Q": "encoder.layer.{l}.attention.qkv_proj[0]",
        "layers.{l}.attention.W_K": "encoder.layer.{l}.attention.qkv_proj[1]",
        "layers.{l}.attention.W_V": "encoder.layer.{l}.attention.qkv_proj[2]",
        "layers.{l}.attention.W_O": "encoder.layer.{l}.attention.o_proj",
        "layers.{l}.norm_1": "encoder.layer.{l}.attn_ln",
        "layers.{l}.ffn.W_1": "encoder.layer.{l}.mlp.up_gate_proj[1]",
        "layers.{l}.ffn.W_3": "encoder.layer.{l}.mlp.up_gate_proj[0]",
        "layers.{l}.ffn.W_2": "encoder.layer.{l}.mlp.down_proj",
        "layers.{l}.norm_2": "encoder.layer.{l}.mlp_ln",
    },
    heads={
        **bert_heads("gte"),
        "ForMaskedLM": Head(
            "masked-word",
            names={
                "transform.0": "lm_head.dense", "transform.2": "lm_head.norm", "logits.bias": "lm_head.decoder.bias"
            },
            copies={"lm_head.decoder.weight": "embedding.E.weight"},
        ),
    },
    unread=("*position_ids", "*pooler.dense.*"),
    apart={"*.attention.qkv_proj.*": 3, "*.mlp.up_gate_proj.*": 2},
)  # fmt: skip

#: BERT, but queries and keys turn  (Su et al. 2021).
ROFORMER = replace(
    BERT,
    prefix="roformer",
    settings={**BERT.settings, "d_embedding": "embedding_size"},
    fixed={**WORDS, "positions": "rotary"},
    only={"hidden_act": tuple(ACTIVATIONS), "is_decoder": (False,), "rotary_value": (False,)},
    names={**BERT.names, "embedding.W_E": "embeddings_project"},
    heads={
        **bert_heads("roformer"),
        "ForSequenceClassification": Head(
            "classifier", names={"pooler.0": "classifier.dense", "logits": "classifier.out_proj"}, bent_by="hidden_act"
        ),
    },
    unread=("*position_ids", "*embed_positions.weight"),
    side_by_side=True,
)

BEHIND_A_NORM = {"pooler.0": "head.dense", "pooler.2": "head.norm"}
OF_MODERN: dict[str, Any] = {"dense": "classifier_activation", "only": {"classifier_activation": tuple(ACTIVATIONS)}}

MODERN_BERT = Family(
    prefix="model",
    settings={**LAYERS, **SENTENCES, "activation": "hidden_activation", "norm_eps": "norm_eps"},
    fixed={
        **WORDS,
        "positions": "rotary",
        "norm_first": True,
        "first_norm": False,
        "final_norm": True,
        "ffn": "gated",
    },
    only={"hidden_activation": tuple(ACTIVATIONS)},
    names={
        "embedding.E.weight": "embeddings.tok_embeddings.weight",
        "embedding.norm": "embeddings.norm",
        "layers.{l}.norm_1": "layers.{l}.attn_norm",
        "layers.{l}.attention.W_Q": "layers.{l}.attn.Wqkv[0]",
        "layers.{l}.attention.W_K": "layers.{l}.attn.Wqkv[1]",
        "layers.{l}.attention.W_V": "layers.{l}.attn.Wqkv[2]",
        "layers.{l}.attention.W_O": "layers.{l}.attn.Wo",
        "layers.{l}.norm_2": "layers.{l}.mlp_norm",
        "layers.{l}.ffn.W_1": "layers.{l}.mlp.Wi[0]",
        "layers.{l}.ffn.W_3": "layers.{l}.mlp.Wi[1]",
        "layers.{l}.ffn.W_2": "layers.{l}.mlp.Wo",
        "norm": "final_norm",
    },
    heads={
        "Model": Head("none"),
        "ForMaskedLM": Head(
            "masked-word",
            names={"transform.0": "head.dense", "transform.2": "head.norm", "logits.bias": "decoder.bias"},
            copies={"decoder.weight": "embedding.E.weight"},
            **OF_MODERN,
        ),
        "ForSequenceClassification": Head(
            "classifier",
            {**BEHIND_A_NORM, "logits": "classifier"},
            pooling="classifier_pooling",
            dense="classifier_activation",
            only={**OF_MODERN["only"], "classifier_pooling": ("cls", "mean")},
        ),
        "ForTokenClassification": Head("tags", {**BEHIND_A_NORM, "tags": "classifier"}, **OF_MODERN),
        "ForQuestionAnswering": Head("span", {**BEHIND_A_NORM, "of_bounds": "classifier"}, **OF_MODERN),
    },
    apart={"*.attn.Wqkv.*": 3, "*.mlp.Wi.*": 2},
    more=modern.settings_of,
)

#: The encoder of pictures of two that were trained together  (Radford et al. 2021, section 2.4).
CLIP = Family(
    prefix="vision_model",
    called="clip",
    settings=VIT.settings,
    defaults={
        "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
        "num_channels": 3, "image_size": 224, "patch_size": 32, "hidden_act": "quick_gelu", "layer_norm_eps": 1e-5,
        "projection_dim": 512,
    },
    pictures={
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711],
        "resample": 3,
    },
    fixed={**IMAGES, "final_norm": False, "embedding_norm": True, "unbiased": ("patches",)},
    only={"hidden_act": ("quick_gelu", *ACTIVATIONS), "num_channels": (3, 1)},
    names={
        "embedding.cls": "embeddings.class_embedding",
        "embedding.W_E": "embeddings.patch_embedding",
        "embedding.positions.table": "embeddings.position_embedding.weight",
        "embedding.norm": "pre_layrnorm",
        "layers.{l}.norm_1": "encoder.layers.{l}.layer_norm1",
        "layers.{l}.attention.W_Q": "encoder.layers.{l}.self_attn.q_proj",
        "layers.{l}.attention.W_K": "encoder.layers.{l}.self_attn.k_proj",
        "layers.{l}.attention.W_V": "encoder.layers.{l}.self_attn.v_proj",
        "layers.{l}.attention.W_O": "encoder.layers.{l}.self_attn.out_proj",
        "layers.{l}.norm_2": "encoder.layers.{l}.layer_norm2",
        "layers.{l}.ffn.W_1": "encoder.layers.{l}.mlp.fc1",
        "layers.{l}.ffn.W_2": "encoder.layers.{l}.mlp.fc2",
        "cls_norm": "post_layernorm",
    },
    heads={
        "VisionModel": Head("vector"),
        "VisionModelWithProjection": Head("vector", {"vector": "visual_projection"}, projected="projection_dim"),
        "Model": Head("vector", {"vector": "visual_projection"}, projected="projection_dim"),
        "ForImageClassification": Head("classifier", {"logits": "classifier"}, patches="alone"),
    },
    unread=("*position_ids", "*post_layernorm.*", "text_model.*", "text_projection.*", "logit_scale"),
    laid_out={"embedding.W_E.weight": VIT.laid_out["embedding.W_E.weight"]},
)  # fmt: skip

#: The same without [CLS]: one probe asks all patches at the end  (Zhai et al. 2023).
SIGLIP = replace(
    CLIP,
    called="siglip",
    defaults={
        **{name: value for name, value in CLIP.defaults.items() if name != "projection_dim"},
        "patch_size": 16, "hidden_act": "gelu_pytorch_tanh", "layer_norm_eps": 1e-6,
    },
    pictures={"resample": 3},
    fixed={**IMAGES, "cls_token": False},
    only={"hidden_act": ("gelu_pytorch_tanh", *ACTIVATIONS), "num_channels": (3, 1)},
    names={
        **CLIP.names,
        "norm": "post_layernorm",
        "pool.probe.vector": "head.probe",
        "pool.cross.W_Q": "head.attention.in_proj[0]",
        "pool.cross.W_K": "head.attention.in_proj[1]",
        "pool.cross.W_V": "head.attention.in_proj[2]",
        "pool.cross.W_O": "head.attention.out_proj",
        "pool.norm": "head.layernorm",
        "pool.ffn.W_1": "head.mlp.fc1",
        "pool.ffn.W_2": "head.mlp.fc2",
    },
    heads={
        "VisionModel": Head("vector", only={"vision_use_head": (True,)}),
        "Model": Head("vector", only={"vision_use_head": (True,)}),
        "ForImageClassification": Head("classifier", {"logits": "classifier"}, patches="alone"),
    },
    unread=("*position_ids", "head.*", "vision_model.head.*", "text_model.*", "logit_scale", "logit_bias"),
    laid_out={**CLIP.laid_out, "pool.probe.vector": lambda probe: probe[0]},
    apart={"*head.attention.in_proj.*": 3},
)  # fmt: skip

MARIAN_LAYER = {
    "attention.W_Q": "self_attn.q_proj",
    "attention.W_K": "self_attn.k_proj",
    "attention.W_V": "self_attn.v_proj",
    "attention.W_O": "self_attn.out_proj",
    "norm_1": "self_attn_layer_norm",
    "ffn.W_1": "fc1",
    "ffn.W_2": "fc2",
}

#: Pieces of a sentence that a translator reads or writes at most: each step of the writing is recorded.
MOST_TRANSLATED = 64

#: A translator, as the paper has it but for the order of the numbers of d_model  (Junczys-Dowmunt et al. 2018).
MARIAN_ENCODER = Family(
    prefix="model",
    settings={
        "d_model": "d_model",
        "heads": "encoder_attention_heads",
        "layers": "encoder_layers",
        "d_ff": "encoder_ffn_dim",
        "activation": "activation_function",
        "vocab_size": "vocab_size",
        "max_len": "max_position_embeddings",
        "scale_embedding": "scale_embedding",
    },
    defaults={
        "vocab_size": 58101,
        "max_position_embeddings": 1024,
        "activation_function": "gelu",
        "d_model": 1024,
        **{f"{side}_layers": 12 for side in ("encoder", "decoder")},
        **{f"{side}_ffn_dim": 4096 for side in ("encoder", "decoder")},
        **{f"{side}_attention_heads": 16 for side in ("encoder", "decoder")},
        "scale_embedding": False,
    },
    fixed={"input": "words", "positions": "sinusoidal", "norm_eps": 1e-5},
    only={"activation_function": tuple(ACTIVATIONS)},
    worked_out={"max_len": lambda theirs: min(theirs["max_position_embeddings"], MOST_TRANSLATED)},
    names={
        "embedding.E.weight": "shared.weight",
        **{f"layers.{{l}}.{ours}": f"encoder.layers.{{l}}.{theirs}" for ours, theirs in MARIAN_LAYER.items()},
        "layers.{l}.norm_2": "encoder.layers.{l}.final_layer_norm",
        "decoder.embedding.E.weight": "decoder.embed_tokens.weight",
        **{f"decoder.layers.{{l}}.{ours}": f"decoder.layers.{{l}}.{theirs}" for ours, theirs in MARIAN_LAYER.items()},
        **{
            f"decoder.layers.{{l}}.cross.W_{letter}": f"decoder.layers.{{l}}.encoder_attn.{name}_proj"
            for letter, name in {"Q": "q", "K": "k", "V": "v", "O": "out"}.items()
        },
        "decoder.layers.{l}.norm_2": "decoder.layers.{l}.encoder_attn_layer_norm",
        "decoder.layers.{l}.norm_3": "decoder.layers.{l}.final_layer_norm",
    },
    heads={
        "MTModel": Head(
            "none",
            names={"logits.bias": "final_logits_bias"},
            copies={
                "model.encoder.embed_tokens.weight": "embedding.E.weight",
                "model.decoder.embed_tokens.weight": "embedding.E.weight",
                "lm_head.weight": "embedding.E.weight",
            },
            only={"tie_word_embeddings": (True,), "forced_bos_token_id": (None,)},
        ),
    },
    unread=("*embed_positions.weight",),
    reordered=marian.in_our_order,
)
MARIAN_DECODER = replace(
    MARIAN_ENCODER,
    settings={
        **MARIAN_ENCODER.settings,
        "heads": "decoder_attention_heads",
        "layers": "decoder_layers",
        "d_ff": "decoder_ffn_dim",
    },
    fixed={**MARIAN_ENCODER.fixed, "language_first": False},
)

#: With a list of words, and an E, for each of the two languages.
MARIAN_APART = replace(
    MARIAN_ENCODER,
    names={**MARIAN_ENCODER.names, "embedding.E.weight": "encoder.embed_tokens.weight"},
    heads={
        "MTModel": replace(MARIAN_ENCODER.heads["MTModel"], copies={"lm_head.weight": "decoder.embedding.E.weight"})
    },
    decoder=replace(
        MARIAN_DECODER,
        settings={**MARIAN_DECODER.settings, "vocab_size": "decoder_vocab_size"},
        fixed={**MARIAN_DECODER.fixed, "own_words": True},
    ),
)
MARIAN = replace(
    MARIAN_ENCODER, decoder=MARIAN_DECODER, where={("share_encoder_decoder_embeddings", False): MARIAN_APART}
)


#: By the `model_type` in config.json.
FAMILIES: dict[str, Family] = {
    "bert": replace(BERT, where={("position_embedding_type", "alibi"): JINA}),
    "roberta": ROBERTA,
    "xlm-roberta": ROBERTA,
    "camembert": ROBERTA,
    "distilbert": DISTILBERT,
    "electra": ELECTRA,
    "albert": ALBERT,
    "mpnet": MPNET,
    "esm": ESM,
    "t5": T5,
    "mt5": T5,
    "deberta": DEBERTA,
    "deberta-v2": DEBERTA_V2,
    "vit": VIT,
    "deit": DEIT,
    "ernie": ERNIE,
    "data2vec-text": DATA2VEC_TEXT,
    "megatron-bert": MEGATRON_BERT,
    "roberta-prelayernorm": ROBERTA_PRELAYERNORM,
    "vit_msn": VIT,
    "vit_mae": VIT_MAE,
    "modernbert": MODERN_BERT,
    "nomic_bert": NOMIC_BERT,
    "new": GTE,
    "gte": GTE,
    "roformer": ROFORMER,
    "clip_vision_model": CLIP,
    "clip": replace(CLIP, inside="vision_config"),
    "siglip_vision_model": SIGLIP,
    "siglip": replace(SIGLIP, inside="vision_config"),
    "dinov2": DINOV2,
    "dinov2_with_registers": DINOV2_REGISTERS,
    "marian": MARIAN,
}
