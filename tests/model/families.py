"""Every family of checkpoints with unusual settings, drawn by a seed."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
import transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from transformers.models.esm.configuration_esm import get_default_vocab_list
from transformers.models.esm.tokenization_esm import EsmTokenizer

from model import Pipeline
from tests.model.making import (
    BENDS,
    SENTENCES,
    TURNED,
    WORDS,
    answer_of,
    given_to,
    labels,
    network_in,
    odd_settings,
    sizes,
)

# -- words -------------------------------------------------------------------------------------------------------------


def modern(head: str, seed: int) -> dict:
    """Unusual sizes, windows, rotary bases, biases and activations."""
    dice = np.random.default_rng(seed)
    settings = sizes(dice, seed, step=2)
    kinds = ["sliding_attention" if local else "full_attention"
             for local in dice.integers(0, 2, settings["num_hidden_layers"])]  # fmt: skip
    biased = ("attention_bias", "mlp_bias", "norm_bias", "classifier_bias", "decoder_bias")
    turns = {kind: {"rope_type": "default", "rope_theta": float(10 ** dice.uniform(0.5, 6))} for kind in set(kinds)}
    settings |= dict(zip(biased, map(bool, dice.integers(0, 2, 5)), strict=True)) | labels(dice, seed, head) | {
        "hidden_activation": settings.pop("hidden_act"), "classifier_activation": BENDS[(seed + 3) % len(BENDS)],
        "norm_eps": settings.pop("layer_norm_eps"), "local_attention": int(dice.integers(1, 9)),
        "layer_types": kinds, "rope_parameters": turns, "pad_token_id": 0, "bos_token_id": 2,
        "cls_token_id": 2, "eos_token_id": 3, "sep_token_id": 3, "classifier_pooling": ("cls", "mean")[seed % 2],
    }  # fmt: skip
    if seed % 3 == 0:  # the usual kinds of layers and rotary bases
        settings |= {"layer_types": None, "rope_parameters": None}
    return settings


def deberta(head: str, seed: int) -> dict:
    """Unusual sizes, terms of the scores, distance tables and activations."""
    dice = np.random.default_rng(seed)
    products = (["c2p", "p2c"], ["p2c"], "p2c|c2p", ["c2p"], [])
    settings = sizes(dice, seed) | labels(dice, seed, head) | {
        "type_vocab_size": int(dice.integers(0, 3)), "relative_attention": True,
        "pos_att_type": products[int(dice.integers(0, 5))],
        "position_buckets": int(dice.choice([-1, 2, 3, 4, 6, 9])),
        "max_relative_positions": int(dice.choice([-1, 8, 12, 20])), "share_att_key": bool(dice.integers(0, 2)),
        "norm_rel_ebd": ("none", "layer_norm")[int(dice.integers(0, 2))],
        "position_biased_input": bool(dice.integers(0, 3) == 0), "legacy": bool(seed % 2),
        "pooler_hidden_act": ("gelu", "tanh", "relu", "silu")[seed % 4],
    }  # fmt: skip
    if not settings["pos_att_type"]:
        settings["position_biased_input"] = True
    return settings


def first_deberta(head: str, seed: int) -> dict:
    settings = deberta(head, seed)
    return settings | {"pos_att_type": settings["pos_att_type"] or ["c2p", "p2c"]}


def t5(head: str, seed: int) -> dict:
    """Unusual sizes, buckets and farthest distances, with or without a gated FFN."""
    dice = np.random.default_rng(seed)
    heads, d_k, buckets = (int(dice.integers(low, high)) for low, high in ((1, 6), (1, 9), (4, 40)))
    return labels(dice, seed, head) | {
        "d_model": heads * d_k + seed % 3, "d_kv": d_k, "num_heads": heads, "num_layers": int(dice.integers(1, 5)),
        "d_ff": int(dice.integers(1, 60)), "feed_forward_proj": "gated-" * (seed // 2 % 2) + BENDS[seed % len(BENDS)],
        "relative_attention_num_buckets": buckets,
        "relative_attention_max_distance": int(dice.integers(buckets // 4 + 1, 20)),
        "layer_norm_epsilon": float(10.0 ** -dice.integers(3, 13)), "vocab_size": 31, "pad_token_id": 0,
    }  # fmt: skip


def esm(head: str, seed: int) -> dict:
    """With or without token dropout and a first norm."""
    dice = np.random.default_rng(seed)
    odd = sizes(dice, seed, step=2) | labels(dice, seed, head)
    return odd | {
        "max_position_embeddings": 100, "vocab_size": 33 + int(dice.integers(0, 5)), "token_dropout": bool(seed % 3),
        "emb_layer_norm_before": (True, False, None)[seed % 5 % 3], "rope_theta": float(10 ** dice.uniform(0.5, 6)),
        "position_embedding_type": ("rotary", "absolute")[seed // 8],
    }  # fmt: skip


SMALL_T5 = {
    "d_model": 24, "d_kv": 5, "num_heads": 3, "num_layers": 2, "d_ff": 40, "feed_forward_proj": "gated-gelu",
    "vocab_size": 40,
}  # fmt: skip


def saved_t5(folder: Path, **more: object) -> Path:
    """A small T5 with SentencePiece's pieces: ▁ for a space, and </s> at the end."""
    network_in(folder, "T5", "EncoderModel", SMALL_T5 | more)
    pieces = ["<pad>", "</s>", "<unk>", *(f"▁{word}" for word in WORDS), "▁", *"sedthatic"]
    pieces = list(dict.fromkeys(pieces))
    tokenizer = Tokenizer(models.Unigram([(piece, -float(i)) for i, piece in enumerate(pieces)], unk_id=2))
    tokenizer.add_special_tokens(pieces[:3])
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "tokenizer_config.json").write_text(json.dumps({"eos_token": "</s>", "unk_token": "<unk>"}))
    return folder


SMALL_ESM = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "intermediate_size": 40, "vocab_size": 33,
    "mask_token_id": 32, "pad_token_id": 1, "position_embedding_type": "rotary", "token_dropout": True,
    "emb_layer_norm_before": False, "layer_norm_eps": 1e-5, "max_position_embeddings": 100,
}  # fmt: skip


PROTEINS = ("MKTVRQERLKSIVRIL", "MKT[MASK]RQ x ER[MASK]LKS IVR", "[MASK][MASK]Aéb.-", "FVNQHL [SEP] GIVEQ")


def saved_esm(folder: Path, head: str = "ForMaskedLM", **more: object) -> transformers.PreTrainedModel:
    """A network of the library with ESM's own tokenizer: a vocab.txt and no tokenizer.json."""
    network = network_in(folder, "Esm", head, SMALL_ESM | more)
    (folder / "tokenizer.json").unlink()
    (folder / "vocab.txt").write_text("\n".join(get_default_vocab_list()))
    EsmTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return network


TERMS = ("content_to_content", "content_to_position", "position_to_content")


# -- pictures ----------------------------------------------------------------------------------------------------------


DINO = ("Dinov2", "Dinov2WithRegisters")


TWO_HEADS = ("Model", "ForImageClassification")


PICTURE_HEADS = {
    **dict.fromkeys(("ViT", "ViTMSN", *DINO), TWO_HEADS),
    "DeiT": (*TWO_HEADS, "ForImageClassificationWithTeacher"),
    "CLIP": ("VisionModel", "VisionModelWithProjection", *TWO_HEADS),
    "Siglip": ("VisionModel", *TWO_HEADS),
    "ViTMAE": ("Model", "ForPreTraining"),
}


#: The text encoder, which is not read.
OTHER = {
    "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 20, "vocab_size": 50,
    "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2,
}  # fmt: skip


#: The decoder of ViTMAE's training.
DECODER = {
    "decoder_num_attention_heads": 2, "decoder_hidden_size": 8, "decoder_num_hidden_layers": 1,
    "decoder_intermediate_size": 12,
}  # fmt: skip


def picture_settings(family: str, seed: int) -> dict:
    """Unusual sizes and an activation."""
    dice = np.random.default_rng(seed)
    patch, heads = int(dice.integers(2, 9)), int(dice.integers(1, 5))
    settings = {
        "hidden_size": heads * int(dice.integers(3, 9)), "num_attention_heads": heads, "patch_size": patch,
        "num_hidden_layers": int(dice.integers(1, 4)), "image_size": patch * int(dice.integers(1, 6)),
        "hidden_act": BENDS[seed % len(BENDS)], "num_labels": int(dice.integers(2, 7)),
        "layer_norm_eps": float(10.0 ** -dice.integers(3, 13)), "num_channels": (3, 1)[seed % 5 == 4],
    }  # fmt: skip
    if family not in DINO:
        bend = ("quick_gelu", *BENDS)[seed % (1 + len(BENDS))]
        settings |= {"intermediate_size": int(dice.integers(1, 60)), "hidden_act": bend}
    if family == "ViTMAE":  # a width that two-dimensional sinusoids need
        settings |= {"hidden_size": 4 * heads * (1 + seed % 3), "mask_ratio": (0.75, 0.5, 0.0)[seed % 3]}
    if family == "Siglip":
        settings["image_size"] += seed % patch  # pixels that no patch reads
    if family == "CLIP":
        settings["projection_dim"] = int(dice.integers(1, 30))
    if family in DINO:
        settings |= {"mlp_ratio": int(dice.integers(1, 5)), "use_swiglu_ffn": seed % 4 == 3}
    if family == "Dinov2WithRegisters":
        settings["num_register_tokens"] = int(dice.integers(0, 12))
    return settings


def made_picture(
    folder: Path, family: str, head: str, seed: int, **more: object
) -> tuple[transformers.PreTrainedModel, np.ndarray]:
    """A network of the library, and an image; with odd seeds, DINOv2's positions were learned for another size."""
    settings, dice = picture_settings(family, seed) | more, np.random.default_rng(seed)
    side = settings["image_size"]
    network = saved_picture(folder, family, head, settings)
    if family in DINO and seed % 2:
        side = settings["patch_size"] * int(dice.integers(1, 6))
        (folder / "preprocessor_config.json").write_text(json.dumps({"size": {"height": side, "width": side}}))
    return network, dice.random((side, side, settings["num_channels"]), np.float32)


def saved_picture(folder: Path, family: str, head: str, settings: dict) -> transformers.PreTrainedModel:
    """A network of the library; CLIP and SigLIP with or without the text encoder."""
    if family == "ViTMAE":
        return masked(folder, head, settings)
    if family not in ("CLIP", "Siglip"):
        return network_in(folder, family, head, settings)
    if head.startswith("VisionModel"):
        return network_in(folder, f"{family}Vision", head.removeprefix("Vision"), settings)
    both = {"vision_config": settings, "text_config": OTHER, "num_labels": settings["num_labels"]}
    both |= {name: settings[name] for name in ("projection_dim",) if name in settings}
    return network_in(folder, family, head, both | {"image_size": settings["image_size"]})


def masked(folder: Path, head: str, settings: dict) -> transformers.PreTrainedModel:
    """A ViTMAE of the library with its own sinusoidal positions, and its decoder if the head has one."""
    network = network_in(folder, "ViTMAE", head, settings | DECODER)
    drawn = {name: value.clone() for name, value in network.state_dict().items()}
    embeddings = getattr(network, "vit", network).embeddings
    embeddings.patch_embeddings.projection._is_hf_initialized = False
    embeddings.initialize_weights()  # restores only the positions
    kept = {name: value for name, value in drawn.items() if not name.endswith("embeddings.position_embeddings")}
    network.load_state_dict(kept, strict=False)
    network.save_pretrained(folder)
    return network


# -- any ---------------------------------------------------------------------------------------------------------------


KIN = (
    "Bert", "Ernie", "MegatronBert", "Electra", "DistilBert", "Roberta", "RobertaPreLayerNorm", "Data2VecText",
    "Albert", "MPNet",
)  # fmt: skip


ODD: dict[str, Callable[[str, int], dict]] = {
    family: partial(odd_settings, family) for family in (*KIN, *TURNED, "XLMRoberta", "Camembert")
} | {
    "ModernBert": modern, "Deberta": first_deberta, "DebertaV2": deberta,
    "T5": t5, "MT5": t5,
}  # fmt: skip


def made(
    folder: Path, family: str, head: str, seed: int, **more: object
) -> tuple[transformers.PreTrainedModel, object]:
    """A network of the library, saved in the folder, and an input for it. more: settings to override."""
    if family in PICTURE_HEADS:
        return made_picture(folder, family, head, seed, **more)
    if family == "Esm":
        return saved_esm(folder, head, **esm(head, seed) | more), PROTEINS[(seed // 4 + seed) % 4]
    network = network_in(folder, family, head, ODD[family](head, seed) | more)
    if family == "RoFormer":  # its sines were overwritten with random numbers
        table = next(module for name, module in network.named_modules() if name.endswith("embed_positions"))
        table.weight.data = table.create_weight()
        network.save_pretrained(folder)
    return network, SENTENCES[(seed + seed // 4) % 2]


def of_picture(network: transformers.PreTrainedModel, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """The library's vector of an image."""
    with torch.no_grad():
        if hasattr(network, "get_image_features"):
            found = network.get_image_features(**given)
            return found if isinstance(found, torch.Tensor) else found.pooler_output
        found = network(**given)
    return found.image_embeds if "image_embeds" in found else found.pooler_output


def agrees(
    network: transformers.PreTrainedModel, pipeline: Pipeline, x: object, head: str, **more: torch.Tensor
) -> None:
    """Assert that states, attention weights and answer equal the network's; more: its further arguments."""
    trace = pipeline(x)
    encoder = getattr(network, "vision_model", network)
    found = answer_of(encoder, trace, **more)
    # The library gives the last state before or after a final norm.
    layers = trace.graph.layers() + (not trace.config.final_norm and encoder is network)
    pairs = [
        (trace.states()[:layers], torch.cat(found.hidden_states[:layers])),
        (trace.over_layers("attention.weights"), torch.cat(found.attentions)),
    ]
    if "last_hidden_state" in found:
        pairs.append((trace.Z, found.last_hidden_state[0]))
    match trace.config.head:
        case "none":
            assert "last_hidden_state" in found
        case "vector":
            vector = trace[trace.graph.vector].reshape(-1)
            pairs.append((vector, of_picture(network, given_to(trace))[0]))
        case "span":
            pairs.append((trace["bounds"], torch.cat([found.start_logits, found.end_logits])))
        case kind:
            found = found if encoder is network else answer_of(network, trace)
            theirs = found.prediction_logits if head == "ForPreTraining" else found.logits
            key = {"labels": "labels", "numbers": "labels", "tags": "tags"}.get(kind, "logits")
            pairs.append((trace[key], theirs[0]))
    if trace.ids:  # padded by a longer text, it computes as if alone
        pairs.append((pipeline.batch([x, f"{x} the cat sat on"])[0].Z, trace.Z))
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, atol=1e-4, rtol=0)
