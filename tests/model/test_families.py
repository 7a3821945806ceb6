"""Every family of checkpoints in odd settings: stages and answers are its library's, and what is not computed is named.

Numbers that nobody would choose, each by its seed; with more seeds, as many cases as are wanted.
"""

import shutil
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
import torch
import transformers

from model import Pipeline
from model.checkpoints import CheckpointError, load_folder
from tests.model import test_disentangled, test_esm, test_modern_bert, test_picture_families, test_t5
from tests.model.test_checkpoint_answers import BENDS, HEADS, SENTENCES, TURNED, labels, odd_settings, sizes
from tests.model.test_checkpoints import BERT, answer_of, given_to, network_in, rewritten

KIN = (
    "Bert", "Ernie", "MegatronBert", "Electra", "DistilBert", "Roberta", "RobertaPreLayerNorm", "Data2VecText",
    "Albert", "MPNet",
)  # fmt: skip
#: Family, head and seed: each family with two of its heads or more, and each kind of head in four families or more.
CASES = [(family, HEADS[(i + 2 * j) % 5], i + 10 * j) for j in (0, 1) for i, family in enumerate(KIN)]
CASES += [("XLMRoberta", HEADS[1], 1), ("Camembert", HEADS[2], 2), ("Bert", "ForPreTraining", 2)]
CASES += [("NomicBert", HEADS[seed % 4], seed) for seed in range(4)]
CASES += [("ModernBert", HEADS[seed % 5], seed) for seed in (0, 1, 2, 3, 4)]
CASES += [("Deberta", HEADS[seed % 5], seed) for seed in range(0, 10, 2)]
CASES += [("DebertaV2", HEADS[seed % 5], seed) for seed in range(8)]
CASES += [(("T5", "MT5")[seed == 4], ("EncoderModel", "ForTokenClassification")[seed % 3 == 2], seed)
          for seed in range(5)]  # fmt: skip
CASES += [("Esm", HEADS[seed % 4], seed) for seed in (*range(5), 8, 9)]
CASES += [("RoFormer", HEADS[seed % 5], seed) for seed in range(6)]
CASES += [("Gte", HEADS[seed % 4], seed) for seed in range(6)]
CASES += [
    (family, head, place + 2 * (place % 2))
    for family, heads in test_picture_families.HEADS.items()
    for place, head in enumerate(heads)
]
CASES += [("Dinov2", "Model", 2), ("Siglip", "Model", 4), ("ViTMAE", "Model", 2)]


def t5(head: str, seed: int) -> dict:
    """Sizes, buckets and farthest distances that nobody uses, with a gate or none."""
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
    """With token dropout and a first norm, or without."""
    dice = np.random.default_rng(seed)
    odd = sizes(dice, seed, step=2) | labels(dice, seed, head)
    return odd | {
        "max_position_embeddings": 100, "vocab_size": 33 + int(dice.integers(0, 5)), "token_dropout": bool(seed % 3),
        "emb_layer_norm_before": (True, False, None)[seed % 5 % 3], "rope_theta": float(10 ** dice.uniform(0.5, 6)),
        "position_embedding_type": ("rotary", "absolute")[seed // 8],
    }  # fmt: skip


def first_deberta(head: str, seed: int) -> dict:
    settings = test_disentangled.odd_settings(head, seed)
    return settings | {"pos_att_type": settings["pos_att_type"] or ["c2p", "p2c"]}


ODD: dict[str, Callable[[str, int], dict]] = {
    family: partial(odd_settings, family) for family in (*KIN, *TURNED, "XLMRoberta", "Camembert")
} | {
    "ModernBert": test_modern_bert.odd_settings, "Deberta": first_deberta, "DebertaV2": test_disentangled.odd_settings,
    "T5": t5, "MT5": t5,
}  # fmt: skip


def made(
    folder: Path, family: str, head: str, seed: int, **more: object
) -> tuple[transformers.PreTrainedModel, object]:
    """A network of theirs, saved in the folder, and an input for it. more: settings that are none of the odd ones."""
    if family in test_picture_families.HEADS:
        return test_picture_families.made(folder, family, head, seed, **more)
    if family == "Esm":
        return test_esm.saved(folder, head, **esm(head, seed) | more), test_esm.TEXTS[(seed // 4 + seed) % 4]
    network = network_in(folder, family, head, ODD[family](head, seed) | more)
    if family == "RoFormer":  # whose sines were drawn, too
        table = next(module for name, module in network.named_modules() if name.endswith("embed_positions"))
        table.weight.data = table.create_weight()
        network.save_pretrained(folder)
    return network, SENTENCES[(seed + seed // 4) % 2]


def of_picture(network: transformers.PreTrainedModel, given: dict[str, torch.Tensor]) -> torch.Tensor:
    """Their vector of a whole picture."""
    with torch.no_grad():
        if hasattr(network, "get_image_features"):
            found = network.get_image_features(**given)
            return found if isinstance(found, torch.Tensor) else found.pooler_output
        found = network(**given)
    return found.image_embeds if "image_embeds" in found else found.pooler_output


@pytest.mark.parametrize(("family", "head", "seed"), CASES)
def test_stages_and_answers_are_those_of_its_library(family: str, head: str, seed: int, tmp_path: Path) -> None:
    network, x = made(tmp_path, family, head, seed)
    pipeline, more = load_folder(tmp_path), {}
    if family == "ViTMAE":  # where nothing is hidden, and patches keep their order
        network = getattr(network, "vit", network)
        network.embeddings.config.mask_ratio = 0.0
        more = {"noise": torch.arange(pipeline.config.patches_per_side**2)[None].float()}
    assert pipeline.unanswered is None
    agrees(network, pipeline, x, head, **more)


def agrees(
    network: transformers.PreTrainedModel, pipeline: Pipeline, x: object, head: str, **more: torch.Tensor
) -> None:
    """States, weights of attention and answer are those of their network; more: what it is given beside the input."""
    trace = pipeline(x)
    encoder = getattr(network, "vision_model", network)
    found = answer_of(encoder, trace, **more)
    # With a final norm, the last is before or behind it, as the library likes.
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
    if trace.ids:  # beside a longer one it is as if it were alone
        pairs.append((pipeline.batch([x, f"{x} the cat sat on"])[0].Z, trace.Z))
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours, theirs, atol=1e-4, rtol=0)


# What is computed nowhere.

#: Family and head -> settings that make it no encoder of ours, and why.
REFUSED: dict[tuple[str, str], list[tuple[dict, str]]] = {
    ("Bert", "ForMaskedLM"): [
        *(({"model_type": kind}, "family") for kind in ("gpt2", "data2vec-vision")),
        ({"model_type": None}, "no_family"),
        ({"architecture": "vit", "pretrained_cfg": {}, "model_type": None}, "timm_no_family"),
        ({"position_embedding_type": "relative_key"}, "setting"),
        ({"hidden_act": "mish"}, "setting"),
        ({"num_attention_heads": 7}, "not_divided"),
        ({"hidden_size": None}, "no_setting"),
        ({"hidden_size": 10**18}, "size"),
        ({"hidden_size": "24"}, "size"),
        ({"layer_norm_eps": float("nan")}, "size"),
        ({"num_hidden_layers": 1}, "tensor_left_over"),
        ({"hidden_size": 48}, "tensor_shape"),
    ],
    ("Roberta", "Model"): [
        ({"max_position_embeddings": 2, "pad_token_id": 1}, "size"),
        ({"pad_token_id": "<pad>"}, "size"),
    ],
    ("Albert", "Model"): [
        ({"inner_group_num": 2}, "setting"),
        ({"num_hidden_groups": 2, "num_hidden_layers": 3}, "not_divided"),
    ],
    ("NomicBert", "Model"): [
        ({"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10.0, "factor": 2.0}}, "setting"),
        ({"rope_parameters": {"rope_theta": "fast"}}, "size"),
        ({"head_dim": 3}, "setting"),
    ],
    ("Gte", "Model"): [
        ({"rope_parameters": None, "rope_theta": 10.0, "rope_scaling": {"type": "linear"}}, "setting"),
        ({"rope_parameters": None, "rope_theta": 10.0, "rope_scaling": {"type": "ntk", "mixed_b": 0.5}}, "setting"),
        ({"layer_norm_type": "rms_norm"}, "setting"),
        ({"logn_attention_scale": True}, "setting"),
        ({"position_embedding_type": "absolute"}, "setting"),
        ({"hidden_size": 9, "num_attention_heads": 3}, "not_divided"),
    ],
    ("RoFormer", "Model"): [
        ({"rotary_value": True}, "setting"),
    ],
    ("Bert", "Model"): [
        ({"feed_forward_type": "original", "position_embedding_type": "alibi"}, "setting"),
        ({"position_embedding_type": "alibi"}, "tensor_missing"),
    ],
    ("ModernBert", "ForMaskedLM"): [
        ({"layer_types": ["full_attention"]}, "setting"),
        ({"rope_parameters": {"full_attention": {"rope_type": "yarn", "rope_theta": 10.0}}}, "setting"),
        ({"rope_parameters": {"sliding_attention": {"rope_theta": "fast"}}}, "size"),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, "setting"),
        ({"local_attention": 0}, "size"),
        ({"global_attn_every_n_layers": 0, "layer_types": None}, "size"),
    ],
    ("DebertaV2", "ForMaskedLM"): [
        ({"conv_kernel_size": 3}, "setting"),
        ({"pos_att_type": ["c2p", "p2p"]}, "setting"),
        ({"relative_attention": False}, "setting"),
        ({"position_biased_input": False, "pos_att_type": []}, "setting"),
        ({"embedding_size": 3}, "setting"),
        ({"attention_head_size": 3}, "setting"),
        ({"pooler_hidden_size": 3}, "setting"),
        ({"position_buckets": 1}, "size"),
        ({"max_relative_positions": "far"}, "size"),
        ({"position_buckets": None, "max_relative_positions": None, "max_position_embeddings": None}, "tensor_shape"),
        ({"norm_rel_ebd": "layer_norm"}, "tensor_missing"),
    ],
    ("Deberta", "Model"): [
        ({"talking_head": True}, "setting"),
    ],
    ("T5", "EncoderModel"): [
        ({"feed_forward_proj": "gated-mish"}, "setting"),
        ({"relative_attention_num_buckets": 3}, "size"),
        ({"relative_attention_max_distance": 8}, "size"),
        ({"feed_forward_proj": "relu"}, "tensor_missing"),
    ],
    ("Esm", "ForMaskedLM"): [
        ({"position_embedding_type": "absolute"}, "tensor_missing"),
        ({"is_folding_model": True}, "setting"),
        ({"is_decoder": True}, "setting"),
        ({"rope_theta": "fast"}, "size"),
        ({"mask_token_id": 33}, "size"),
    ],
    ("Dinov2WithRegisters", "Model"): [
        ({"use_swiglu_ffn": True}, "tensor_missing"),
        ({"qkv_bias": False}, "setting"),
        ({"num_register_tokens": 1000}, "size"),
    ],
    ("ViTMAE", "Model"): [({"mask_ratio": 1}, "size")],
    ("CLIP", "Model"): [({"vision_config": None}, "no_setting")],
}
#: Of the odd settings, those that the rows above count with.
USUAL: dict[str, dict] = {
    "Bert": BERT,
    "ModernBert": {"num_hidden_layers": 4, "layer_types": None, "rope_parameters": None},
    "DebertaV2": {"pos_att_type": ["c2p", "p2c"], "position_buckets": 6},
    "Deberta": {"position_biased_input": True},
    "T5": test_t5.SMALL | {"relative_attention_num_buckets": 32, "relative_attention_max_distance": 128},
    "Esm": test_esm.SMALL,
    "Dinov2WithRegisters": {"num_register_tokens": 2},
}


@cache
def folder_of(family: str, head: str) -> Path:
    folder = Path(mkdtemp(prefix="checkpoint-"))
    made(folder, family, head, 1, **USUAL.get(family, {}))
    return folder


@pytest.mark.parametrize(
    ("kind", "said", "reason"), [(kind, *row) for kind, rows in REFUSED.items() for row in rows], ids=str
)
def test_settings_that_nobody_computes_are_named(
    kind: tuple[str, str], said: dict, reason: str, tmp_path: Path
) -> None:
    shutil.copytree(folder_of(*kind), tmp_path, dirs_exist_ok=True)
    rewritten(tmp_path, **said)
    with pytest.raises(CheckpointError) as raised:
        load_folder(tmp_path)
    sentence, (name, value) = str(raised.value), next(iter(said.items()))
    assert raised.value.reason == reason and "\n" not in sentence and len(sentence) < 1000
    assert name in sentence or str(value) in sentence or reason.startswith(("tensor", "timm"))


@pytest.mark.parametrize(
    ("family", "head", "more", "named"),
    [
        ("ModernBert", "ForMaskedLM", {"classifier_activation": "mish"}, "classifier_activation"),
        ("DebertaV2", "ForSequenceClassification", {"pooler_hidden_act": "mish"}, "pooler_hidden_act"),
        ("T5", "ForConditionalGeneration", {}, "T5ForConditionalGeneration"),
        ("T5", "ForSequenceClassification", {}, "T5ForSequenceClassification"),
        ("Dinov2", "ForImageClassification", {"num_labels": 1}, "num_labels = 1"),
        ("Siglip", "VisionModel", {"vision_use_head": False}, "vision_use_head = False"),
    ],
)
def test_of_an_answer_that_nobody_computes_the_stages_are_there_and_it_is_said_why(
    family: str, head: str, more: dict, named: str, tmp_path: Path
) -> None:
    _, x = made(tmp_path, family, head, 2, **more)
    pipeline = load_folder(tmp_path)
    trace = pipeline(x)
    assert named in str(pipeline.unanswered) and np.isfinite(trace.Z).all() and trace.answer == ()
