"""Every family of checkpoints with unusual settings computes what transformers computes, or says what it does not.

Settings are drawn by a seed; more seeds give as many cases as wanted.
"""

import shutil
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers.models.esm.tokenization_esm import EsmTokenizer

from model import load
from model.by_hand import by_hand
from model.checkpoints import CheckpointError, load_folder
from model.checkpoints.convert import convert
from model.config import EncoderConfig
from tests.model.families import KIN, PICTURE_HEADS, PROTEINS, SMALL_ESM, SMALL_T5, agrees, made, saved_esm
from tests.model.fetched import ROWS, Row, alibi, by_ntk, put
from tests.model.making import BERT, HEADS, answer_of, odd_settings, rewritten

#: (family, head, seed): at least two heads for each family, four families for each kind of head.
CASES = [(family, HEADS[(i + 2 * j) % 5], i + 10 * j) for j in (0, 1) for i, family in enumerate(KIN)]
CASES += [("XLMRoberta", HEADS[1], 1), ("Camembert", HEADS[2], 2), ("Bert", "ForPreTraining", 2)]
CASES += [("NomicBert", HEADS[seed % 4], seed) for seed in (0, 1)]
CASES += [("ModernBert", HEADS[seed % 5], seed) for seed in (1, 2, 3)]
CASES += [("Deberta", HEADS[seed % 5], seed) for seed in (0, 2, 6)]
CASES += [("DebertaV2", HEADS[seed % 5], seed) for seed in range(5)]
CASES += [(("T5", "MT5")[seed == 4], ("EncoderModel", "ForTokenClassification")[seed % 3 == 2], seed)
          for seed in (1, 2, 3, 4)]  # fmt: skip
CASES += [("Esm", HEADS[seed % 4], seed) for seed in (0, 1, 3, 8)]
CASES += [("RoFormer", HEADS[seed % 5], seed) for seed in (0, 1, 2)]
CASES += [("Gte", HEADS[seed % 4], seed) for seed in (0, 1, 3)]
CASES += [
    (family, head, place + 2 * (place % 2))
    for family, heads in PICTURE_HEADS.items()
    for place, head in enumerate(heads)
]
CASES += [("Dinov2", "Model", 2), ("Siglip", "Model", 4), ("ViTMAE", "Model", 2)]


@pytest.mark.parametrize(("family", "head", "seed"), CASES)
def test_stages_and_answers_are_those_of_its_library(family: str, head: str, seed: int, tmp_path: Path) -> None:
    network, x = made(tmp_path, family, head, seed)
    pipeline, more = load_folder(tmp_path), {}
    if family == "ViTMAE":  # so that nothing is masked and patches keep their order
        network = getattr(network, "vit", network)
        network.embeddings.config.mask_ratio = 0.0
        more = {"noise": torch.arange(pipeline.config.patches_per_side**2)[None].float()}
    assert pipeline.unanswered is None
    agrees(network, pipeline, x, head, **more)


# Not computed by us.

#: (family, head) -> settings that our encoder cannot have, and the reason.
REFUSED: dict[tuple[str, str], list[tuple[dict, str]]] = {
    ("Bert", "ForMaskedLM"): [
        *(({"model_type": kind}, "family") for kind in ("gpt2", "data2vec-vision")),
        ({"architecture": "vit", "pretrained_cfg": {}, "model_type": None}, "timm_no_family"),
        ({"position_embedding_type": "relative_key"}, "setting"),
        ({"num_attention_heads": 7}, "not_divided"),
        ({"hidden_size": None}, "no_setting"),
        ({"hidden_size": 10**18}, "size"),
        ({"layer_norm_eps": float("nan")}, "size"),
        ({"hidden_size": 48}, "tensor_shape"),
    ],
    ("Roberta", "Model"): [
        ({"max_position_embeddings": 2, "pad_token_id": 1}, "size"),
    ],
    ("Albert", "Model"): [
        ({"inner_group_num": 2}, "setting"),
        ({"num_hidden_groups": 2, "num_hidden_layers": 3}, "not_divided"),
    ],
    ("NomicBert", "Model"): [
        ({"rope_parameters": {"rope_type": "dynamic", "rope_theta": 10.0, "factor": 2.0}}, "setting"),
        ({"rope_parameters": {"rope_theta": "fast"}}, "size"),
    ],
    ("Gte", "Model"): [
        ({"rope_parameters": None, "rope_theta": 10.0, "rope_scaling": {"type": "linear"}}, "setting"),
        ({"rope_parameters": None, "rope_theta": 10.0, "rope_scaling": {"type": "ntk", "mixed_b": 0.5}}, "setting"),
        ({"logn_attention_scale": True}, "setting"),
    ],
    ("RoFormer", "Model"): [
        ({"rotary_value": True}, "setting"),
    ],
    ("Bert", "Model"): [
        ({"feed_forward_type": "original", "position_embedding_type": "alibi"}, "setting"),
        ({"position_embedding_type": "alibi"}, "tensor_missing"),
    ],
    ("ModernBert", "ForMaskedLM"): [
        ({"rope_parameters": {"full_attention": {"rope_type": "yarn", "rope_theta": 10.0}}}, "setting"),
        ({"rope_scaling": {"type": "linear", "factor": 2}}, "setting"),
        ({"global_attn_every_n_layers": 0, "layer_types": None}, "size"),
    ],
    ("DebertaV2", "ForMaskedLM"): [
        ({"conv_kernel_size": 3}, "setting"),
        ({"pos_att_type": ["c2p", "p2p"]}, "setting"),
        ({"relative_attention": False}, "setting"),
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
        ({"feed_forward_proj": "relu"}, "tensor_missing"),
    ],
    ("Esm", "ForMaskedLM"): [
        ({"position_embedding_type": "absolute"}, "tensor_missing"),
        ({"is_folding_model": True}, "setting"),
        ({"mask_token_id": 33}, "size"),
    ],
    ("Dinov2WithRegisters", "Model"): [
        ({"use_swiglu_ffn": True}, "tensor_missing"),
        ({"num_register_tokens": 1000}, "size"),
    ],
    ("ViTMAE", "Model"): [({"mask_ratio": 1}, "size")],
    ("CLIP", "Model"): [({"vision_config": None}, "no_setting")],
}
#: The small settings that the rows above change.
USUAL: dict[str, dict] = {
    "Bert": BERT,
    "ModernBert": {"num_hidden_layers": 4, "layer_types": None, "rope_parameters": None},
    "DebertaV2": {"pos_att_type": ["c2p", "p2c"], "position_buckets": 6},
    "Deberta": {"position_biased_input": True},
    "T5": SMALL_T5 | {"relative_attention_num_buckets": 32, "relative_attention_max_distance": 128},
    "Esm": SMALL_ESM,
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
    assert raised.value.reason == reason and "\n" not in sentence and len(sentence) < 300
    assert name in sentence or str(value) in sentence or reason.startswith(("tensor", "timm"))


@pytest.mark.parametrize(
    ("family", "head", "more", "named"),
    [
        ("ModernBert", "ForMaskedLM", {"classifier_activation": "mish"}, "classifier_activation"),
        ("DebertaV2", "ForSequenceClassification", {"pooler_hidden_act": "mish"}, "pooler_hidden_act"),
        ("T5", "ForConditionalGeneration", {}, "T5ForConditionalGeneration"),
        ("T5", "ForSequenceClassification", {}, "T5ForSequenceClassification"),
        ("Electra", "ForPreTraining", {}, "ElectraForPreTraining"),
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


# The most downloaded encoders of the hub.


def input_of(config: EncoderConfig) -> object:
    """An image or a sentence."""
    if config.input == "patches":
        return np.random.default_rng(0).random((config.image_size, config.image_size, 3), np.float32)
    return "the cat sat on a mat and it"


@pytest.mark.parametrize("name", ROWS)
def test_one_that_is_fetched_often_computes_as_its_library_does(name: str, tmp_path: Path) -> None:
    row, folder = ROWS[name], tmp_path / "model"
    network = put(row, folder)
    if row.refused:
        torch.save(network.state_dict(), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
        with pytest.raises(CheckpointError, match=f"convert {folder.name}") as raised:
            load_folder(folder)
        assert raised.value.reason == row.refused
        folder = convert(str(folder))
    agrees_with(row, network, folder)


def agrees_with(row: Row, network: Any, folder: Path) -> None:
    """Assert that the folder's pipeline computes what the network does, and reports on its answer as in the row."""
    pipeline = load_folder(folder)
    assert getattr(pipeline.unanswered, "reason", "") == row.unanswered
    more = {} if row.mask is None else {"attention_mask": row.mask}
    agrees(network, pipeline, input_of(pipeline.config), row.of[1], **more)


def odd(seed: int) -> dict[str, Any]:
    """Unusual settings of a GTE without scaled rotations; 1 + seed heads."""
    settings = odd_settings("Gte", "Model", seed)
    settings.pop("rope_parameters", None)
    return settings | {"num_attention_heads": 1 + seed, "hidden_size": 2 * (1 + seed) * (1 + seed % 3)}


@pytest.mark.parametrize("seed", range(3))
def test_scores_that_fall_with_the_distance_do_so_in_odd_settings(seed: int, tmp_path: Path) -> None:
    library = odd(seed) | {"hidden_act": "gelu"}
    said = library | {"model_type": "bert", "position_embedding_type": "alibi", "feed_forward_type": "geglu"}
    row = replace(ROWS["jinaai/jina-embeddings-v2-base-en"], said="JinaBertModel", settings=said, library=library)
    row = replace(row, unanswered="", mask=alibi(10, 1 + seed))
    agrees_with(row, put(row, tmp_path), tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_tokens_turn_in_odd_settings_as_the_hub_writes_them(seed: int, tmp_path: Path) -> None:
    library, base, factor = odd(seed), 10.0 ** (1 + seed % 5), (1.0, 1.5, 8.0)[seed % 3]
    scaling = {"type": "ntk", "factor": factor} if seed % 3 else None
    row = replace(
        ROWS["Alibaba-NLP/gte-large-en-v1.5"],
        settings=library | {"model_type": "new", "rope_theta": base, "rope_scaling": scaling},
        library=library,
        network=partial(by_ntk, base=base, factor=factor),
    )
    agrees_with(row, put(row, tmp_path), tmp_path)


# Proteins: split into letters, rotary positions, token dropout.


@pytest.mark.parametrize("text", PROTEINS)
def test_pieces_are_theirs(text: str, tmp_path: Path) -> None:
    saved_esm(tmp_path)
    theirs = EsmTokenizer(str(tmp_path / "vocab.txt"))
    assert load(str(tmp_path))(text).ids == theirs(*text.replace("[MASK]", "<mask>").split("[SEP]"))["input_ids"]


def test_turns_that_a_file_holds_in_fewer_digits_are_taken_as_they_are(tmp_path: Path) -> None:
    network = saved_esm(tmp_path)
    rounded = network.esm.rotary_embeddings.inv_freq.half()
    file = tmp_path / "model.safetensors"
    tensors = {name: tensor for name, tensor in load_file(file).items() if "inv_freq" not in name}
    older = {
        f"esm.encoder.layer.{layer}.attention.self.rotary_embeddings.inv_freq": rounded.clone() for layer in (0, 1)
    }
    save_file(tensors | older, file, {"format": "pt"})
    pipeline = load(str(tmp_path))
    trace = pipeline("MKTVRQERLKSIVRIL")
    network.esm.rotary_embeddings.inv_freq.data = rounded.float()
    np.testing.assert_allclose(trace["logits"], answer_of(network, trace).logits[0], atol=1e-4)
    for layer in pipeline.network.layers:
        assert torch.equal(layer.attention.speeds, rounded.float())
    cell = (1, 12, 2)
    worked = by_hand(pipeline.network, trace, "layers.1.attention.Q_rotated", cell)
    assert worked.steps[-1].value == pytest.approx(float(trace["layers.1.attention.Q_rotated"][cell]), abs=2e-4)
