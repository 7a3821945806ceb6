"""Small copies of encoders on the hub whose config.json differs from what transformers would write."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import load_file, save_file

from tests.model.making import network_in

BODY = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40, "vocab_size": 31,
    "max_position_embeddings": 40, "layer_norm_eps": 1e-12, "hidden_act": "gelu", "type_vocab_size": 2,
    "pad_token_id": 0,
}  # fmt: skip


BERT = BODY | {"model_type": "bert", "position_embedding_type": "absolute"}


ROBERTA = BODY | {"model_type": "roberta", "type_vocab_size": 1, "pad_token_id": 1, "layer_norm_eps": 1e-5}


XLM = ROBERTA | {"model_type": "xlm-roberta", "position_embedding_type": "absolute"}


_NOT_MODERN = ("layer_norm_eps", "type_vocab_size", "hidden_act")
MODERN = {name: value for name, value in BODY.items() if name not in _NOT_MODERN} | {
    "model_type": "modernbert", "hidden_activation": "gelu", "norm_eps": 1e-5, "global_attn_every_n_layers": 3,
    "global_rope_theta": 160_000.0, "local_attention": 4, "local_rope_theta": 10_000.0, "norm_bias": False,
    "position_embedding_type": "absolute", "classifier_pooling": "mean", "bos_token_id": 2, "cls_token_id": 2,
    "eos_token_id": 3, "sep_token_id": 3,
}  # fmt: skip
DEEPER = MODERN | {"num_hidden_layers": 4}
DEBERTA = BODY | {
    "model_type": "deberta-v2", "attention_head_size": 8, "layer_norm_eps": 1e-7, "max_relative_positions": -1,
    "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True, "pos_att_type": "p2c|c2p",
    "relative_attention": True, "position_biased_input": False, "type_vocab_size": 0,
}  # fmt: skip


NOMIC = {
    "model_type": "nomic_bert", "activation_function": "swiglu", "n_embd": 24, "n_head": 3, "n_inner": 40, "n_layer": 2,
    "n_positions": 40, "layer_norm_epsilon": 1e-12, "vocab_size": 31, "type_vocab_size": 2, "rotary_emb_base": 500,
    "rotary_emb_fraction": 1.0, "rotary_emb_interleaved": False, "rotary_scaling_factor": None, "prenorm": False,
    "qkv_proj_bias": False, "mlp_fc1_bias": False, "mlp_fc2_bias": False, "use_rms_norm": False,
}  # fmt: skip


OF_NOMIC = BODY | {"hidden_act": "silu", "rope_parameters": {"rope_type": "default", "rope_theta": 500.0}}


GTE = BODY | {
    "model_type": "new", "position_embedding_type": "rope", "pack_qkv": True, "layer_norm_type": "layer_norm",
    "logn_attention_scale": False, "rope_theta": 160_000, "rope_scaling": {"type": "ntk", "factor": 2.0},
}  # fmt: skip


TWO = {str(i): f"LABEL_{i}" for i in range(2)}


Tensors = dict[str, torch.Tensor]


@dataclass(frozen=True)
class Row:
    """A class of the library, the architecture in config.json, and its other settings.

    library: settings as the library takes them, if different; unanswered: why the answer is not computed; refused: why
    nothing is. file: the hub's names of tensors. network: changes of the library's network.
    """

    of: tuple[str, str]
    said: str | None
    settings: Mapping[str, Any]
    library: Mapping[str, Any] = field(default_factory=dict)
    unanswered: str = ""
    refused: str = ""
    file: Callable[[Tensors], Tensors] | None = None
    network: Callable[[Any], None] | None = None
    mask: torch.Tensor | None = None


def first_names(tensors: Tensors) -> Tensors:
    """TensorFlow's names, and further tensors from training."""
    old = {".LayerNorm.weight": ".LayerNorm.gamma", ".LayerNorm.bias": ".LayerNorm.beta"}
    for new, name in old.items():
        tensors = {key.replace(new, name): tensor for key, tensor in tensors.items()}
    return tensors | {"cls.seq_relationship.weight": torch.ones(2, 24), "cls.seq_relationship.bias": torch.ones(2)}


def as_jina(tensors: Tensors) -> Tensors:
    """The tensors of a GTE by the names of jina-embeddings-v2, which stores the gates first."""
    names = {
        "attention.o_proj": "attention.output.dense", "attn_ln": "attention.output.LayerNorm",
        "mlp.down_proj": "mlp.wo", "mlp_ln": "mlp.layernorm", "mlp.up_gate_proj": "mlp.gated_layers",
    }  # fmt: skip
    for theirs, jinas in names.items():
        tensors = {key.replace(theirs, jinas): tensor for key, tensor in tensors.items()}
    found: Tensors = {}
    for key, tensor in tensors.items():
        if "qkv_proj" in key:
            parts = zip(("query", "key", "value"), tensor.chunk(3), strict=True)
            found |= {key.replace("qkv_proj", f"self.{name}"): part.clone() for name, part in parts}
        else:
            found[key] = torch.cat(tensor.chunk(2)[::-1]) if "gated_layers" in key else tensor
    return found


def by_ntk(network: Any, base: float = 160_000, factor: float = 2.0) -> None:
    """Rotation frequencies of rope_scaling "ntk": a base times the factor, then divided by factor^(2/d_k)."""
    d_k = 2 * len(network.rotary_emb.inv_freq)
    speeds = (base * factor) ** -(torch.arange(0, d_k, 2) / d_k) / factor ** (2 / d_k)
    network.rotary_emb.inv_freq.copy_(speeds)


def standing(network: Any) -> None:
    """Stop all rotation."""
    network.rotary_emb.inv_freq.zero_()


def slopes(heads: int) -> list[float]:
    """Slopes by Press et al.: powers of 2^(−8/h); otherwise also every other slope of twice as many heads."""
    if heads & (heads - 1) == 0:
        return [2 ** (-8 * (i + 1) / heads) for i in range(heads)]
    power = 2 ** (len(f"{heads:b}") - 1)
    return slopes(power) + slopes(2 * power)[::2][: heads - power]


def alibi(n: int, heads: int) -> torch.Tensor:
    """ALiBi's bias of the scores."""
    away = (torch.arange(n) - torch.arange(n)[:, None]).abs()
    return -torch.tensor(slopes(heads))[None, :, None, None] * away


ROWS: dict[str, Row] = {
    "google-bert/bert-base-uncased": Row(("Bert", "ForMaskedLM"), "BertForMaskedLM", BERT, file=first_names),
    "sentence-transformers/all-mpnet-base-v2": Row(
        ("MPNet", "Model"),
        "MPNetForMaskedLM",
        {name: value for name, value in ROBERTA.items() if name != "type_vocab_size"}
        | {"model_type": "mpnet", "relative_attention_num_buckets": 32},
        unanswered="answer_missing",
    ),
    "BAAI/bge-m3": Row(("XLMRoberta", "Model"), "XLMRobertaModel", XLM, refused="pickle"),
    "MoritzLaurer/deberta-v3-base-zeroshot-v1.1-all-33": Row(
        ("DebertaV2", "ForSequenceClassification"),
        "DebertaV2ForSequenceClassification",
        DEBERTA | {"pooler_hidden_act": "gelu", "pooler_hidden_size": 24, "id2label": TWO},
    ),
    "answerdotai/ModernBERT-base": Row(("ModernBert", "ForMaskedLM"), "ModernBertForMaskedLM", MODERN),
    **{
        f"ModernBERT whose local turns are {said}": Row(
            ("ModernBert", "ForMaskedLM"),
            "ModernBertForMaskedLM",
            DEEPER | {"local_rope_theta": said},
            DEEPER | {"local_rope_theta": meant},
        )
        for said, meant in ((77.0, 77.0), (None, 160_000.0))
    },
    "nomic-ai/nomic-embed-text-v1.5": Row(("NomicBert", "Model"), "NomicBertModel", NOMIC, OF_NOMIC),
    "jinaai/jina-embeddings-v2-base-en": Row(
        ("Gte", "Model"),
        "JinaBertForMaskedLM",
        BERT | {"position_embedding_type": "alibi", "feed_forward_type": "geglu", "emb_pooler": "mean"},
        BODY,
        unanswered="answer_missing",
        file=as_jina,
        network=standing,
        mask=alibi(10, 3),
    ),
    "Alibaba-NLP/gte-large-en-v1.5": Row(("Gte", "Model"), "NewModel", GTE, BODY, network=by_ntk),
    "facebook/esm2_t33_650M_UR50D": Row(
        ("Esm", "ForMaskedLM"),
        "EsmForMaskedLM",
        BODY | {"model_type": "esm", "vocab_size": 33, "mask_token_id": 32, "position_embedding_type": "rotary",
                "token_dropout": True, "emb_layer_norm_before": False, "layer_norm_eps": 1e-5,
                "is_folding_model": False, "pad_token_id": 1, "max_position_embeddings": 100},
    ),
}  # fmt: skip


def put(row: Row, folder: Path) -> transformers.PreTrainedModel:
    """A network of the library with random weights, and its folder as on the hub."""
    settings = {name: value for name, value in (row.library or row.settings).items() if name != "model_type"}
    network = network_in(folder, *row.of, settings)
    if row.network:
        row.network(network)
    if row.file:
        save_file(row.file(load_file(folder / "model.safetensors")), folder / "model.safetensors")
    said = {"architectures": [row.said]} if row.said else {}
    (folder / "config.json").write_text(json.dumps({**row.settings, **said}))
    return network
