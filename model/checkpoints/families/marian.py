"""Marian translators (opus-mt): the paper's Transformer, with the components of d_model in another order.

Their positions have all sines before all cosines; the paper's alternate. Nothing else depends on the order, so rows and
columns of the weights are put into the paper's order: component 2i here is i in the file, 2i + 1 is i + d_model/2.

Source: Junczys-Dowmunt et al. 2018, "Marian: Fast Neural Machine Translation in C++"; MarianMTModel of transformers.
"""

from dataclasses import replace
from functools import partial

import torch
from torch import Tensor

from model.checkpoints.families.family import ACTS, Family, Head, in_layers
from model.config import EncoderConfig

#: Most pieces that a translator reads or writes: each step of decoding is recorded.
MOST_TRANSLATED = 64
READS_D_MODEL = ("W_Q", "W_K", "W_V", "W_1", "E", "logits")  # one column per component of d_model, others one row
WRITES_ELSEWHERE = ("W_Q", "W_K", "W_V", "W_1", "logits")  # their biases are not indexed by d_model


def halves(d_model: int) -> Tensor:
    """Indices of the sines, then of the cosines: 0, 2, 4, …, 1, 3, 5, …"""
    return torch.arange(d_model).view(-1, 2).T.flatten()


def axis_of(key: str) -> int | None:
    """The axis of our parameter that runs over d_model; None if there is none."""
    module, _, last = key.rpartition(".")
    name = module.rpartition(".")[2]
    if last == "weight" and name in READS_D_MODEL:
        return 1
    return None if name in WRITES_ELSEWHERE else 0


def in_our_order(key: str, tensor: Tensor, _: EncoderConfig) -> Tensor:
    """Their tensor in the paper's order of d_model; `key` is ours."""
    if (axis := axis_of(key)) is None:
        return tensor
    return tensor.index_select(axis, halves(tensor.shape[axis]).argsort().to(tensor.device))


def in_their_order(key: str, tensor: Tensor) -> Tensor:
    """Our tensor in Marian's order of d_model."""
    return tensor if (axis := axis_of(key)) is None else tensor.index_select(axis, halves(tensor.shape[axis]))


LAYER = {
    "attention.W_Q": "self_attn.q_proj",
    "attention.W_K": "self_attn.k_proj",
    "attention.W_V": "self_attn.v_proj",
    "attention.W_O": "self_attn.out_proj",
    "norm_1": "self_attn_layer_norm",
    "ffn.W_1": "fc1",
    "ffn.W_2": "fc2",
}
NAMES = {
    "embedding.E.weight": "shared.weight",
    **in_layers("encoder.layers.{l}.", {**LAYER, "norm_2": "final_layer_norm"}),
    "decoder.embedding.E.weight": "decoder.embed_tokens.weight",
    **in_layers(
        "decoder.layers.{l}.",
        {
            **LAYER,
            "cross.W_Q": "encoder_attn.q_proj",
            "cross.W_K": "encoder_attn.k_proj",
            "cross.W_V": "encoder_attn.v_proj",
            "cross.W_O": "encoder_attn.out_proj",
            "norm_2": "encoder_attn_layer_norm",
            "norm_3": "final_layer_norm",
        },
        "decoder.layers.{l}.",
    ),
}


def of_one_side(side: str, **fixed: object) -> Family:
    """The family table of the encoder or the decoder."""
    return Family(
        prefix="model",
        settings={
            "d_model": "d_model",
            "heads": f"{side}_attention_heads",
            "layers": f"{side}_layers",
            "d_ff": f"{side}_ffn_dim",
            "activation": "activation_function",
            "vocab_size": "vocab_size",
            "max_len": "max_position_embeddings",
            "scale_embedding": "scale_embedding",
        },
        defaults={
            "vocab_size": 58101, "max_position_embeddings": 1024, "activation_function": "gelu", "d_model": 1024,
            f"{side}_layers": 12, f"{side}_ffn_dim": 4096, f"{side}_attention_heads": 16, "scale_embedding": False,
        },
        fixed={"input": "words", "positions": "sinusoidal", "norm_eps": 1e-5, **fixed},
        only={"activation_function": tuple(ACTS)},
        worked_out={"max_len": lambda theirs: min(theirs["max_position_embeddings"], MOST_TRANSLATED)},
        names=NAMES,
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
        laid_out={
            **{
                key: partial(in_our_order, key)
                for name in NAMES
                for key in (name, f"{name}.weight", f"{name}.bias")
                if key.endswith((".weight", ".bias"))
            },
            "logits.bias": lambda row, _: row[0],
        },
    )  # fmt: skip


ENCODER, DECODER = of_one_side("encoder"), of_one_side("decoder", language_first=False)

#: Separate vocabularies, and an E for each language.
APART = replace(
    ENCODER,
    names={**NAMES, "embedding.E.weight": "encoder.embed_tokens.weight"},
    heads={"MTModel": replace(ENCODER.heads["MTModel"], copies={"lm_head.weight": "decoder.embedding.E.weight"})},
    decoder=replace(
        DECODER,
        settings={**DECODER.settings, "vocab_size": "decoder_vocab_size"},
        fixed={**DECODER.fixed, "own_words": True},
    ),
)

FAMILIES = {"marian": replace(ENCODER, decoder=DECODER, where={("share_encoder_decoder_embeddings", False): APART})}
