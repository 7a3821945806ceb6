"""Other people's encoders of pictures equal their own library's in odd settings, whatever stands before the patches."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from model import Pipeline, Trace
from model.by_hand import by_hand
from model.hugging_face import CheckpointError, load_folder
from model.patch_waves import are_waves
from tests.model.test_checkpoint_answers import BENDS, network_in
from tests.model.test_checkpoint_pictures import picture
from tests.model.test_checkpoints import close, rewritten

DINO = ("Dinov2", "Dinov2WithRegisters")
HEADS = {
    **dict.fromkeys(DINO, ("Model", "ForImageClassification")),
    "CLIP": ("VisionModel", "VisionModelWithProjection", "Model", "ForImageClassification"),
    "Siglip": ("VisionModel", "Model", "ForImageClassification"),
}
#: What stands beside the encoder of pictures, and is not read.
OTHER = {
    "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 1, "intermediate_size": 20, "vocab_size": 50,
    "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2,
}  # fmt: skip
#: Family, head and seed of its settings. With more seeds, as many as are wanted.
FEW = [
    (family, head, seed)
    for family, heads in HEADS.items()
    for place, head in enumerate(heads)
    for seed in (place, place + 2)
]


def odd_settings(family: str, seed: int) -> dict:
    """Sizes that nobody uses, and an activation, each by its seed."""
    dice = np.random.default_rng(seed)
    patch, heads = int(dice.integers(2, 9)), int(dice.integers(1, 5))
    settings = {
        "hidden_size": heads * int(dice.integers(1, 9)), "num_attention_heads": heads, "patch_size": patch,
        "num_hidden_layers": int(dice.integers(1, 4)), "image_size": patch * int(dice.integers(1, 6)),
        "hidden_act": BENDS[seed % len(BENDS)], "num_labels": int(dice.integers(2, 7)),
        "layer_norm_eps": float(10.0 ** -dice.integers(3, 13)), "num_channels": (3, 1)[seed % 5 == 4],
    }  # fmt: skip
    if family not in DINO:
        bend = ("quick_gelu", *BENDS)[seed % (1 + len(BENDS))]
        settings |= {"intermediate_size": int(dice.integers(1, 60)), "hidden_act": bend}
    if family == "CLIP":
        settings["projection_dim"] = int(dice.integers(1, 30))
    if family in DINO:
        settings["mlp_ratio"] = int(dice.integers(1, 5))
    if family == "Dinov2WithRegisters":
        settings["num_register_tokens"] = int(dice.integers(0, 12))
    return settings


def a_run(folder: Path, family: str, head: str, seed: int) -> tuple[Pipeline, Trace, transformers.PreTrainedModel]:
    """A network of theirs, and a run of ours; with an odd seed DINOv2's positions were learned for another size."""
    settings = odd_settings(family, seed)
    network, dice = saved(folder, family, head, settings), np.random.default_rng(seed)
    side = settings["image_size"]
    if family in DINO and seed % 2:
        side = settings["patch_size"] * int(dice.integers(1, 6))
        (folder / "preprocessor_config.json").write_text(json.dumps({"size": {"height": side, "width": side}}))
    pipeline = load_folder(folder)
    return pipeline, pipeline(dice.random((side, side, settings["num_channels"]), np.float32)), network


def saved(folder: Path, family: str, head: str, settings: dict) -> transformers.PreTrainedModel:
    """A network of theirs; of two encoders that were trained together, with the other or without."""
    if family in DINO:
        return network_in(folder, family, head, settings)
    if head.startswith("VisionModel"):
        return network_in(folder, f"{family}Vision", head.removeprefix("Vision"), settings)
    both = {"vision_config": settings, "text_config": OTHER, "num_labels": settings["num_labels"]}
    both |= {name: settings[name] for name in ("projection_dim",) if name in settings}
    return network_in(folder, family, head, both | {"image_size": settings["image_size"]})


def of_picture(network: transformers.PreTrainedModel, head: str, given: torch.Tensor) -> torch.Tensor:
    """Their vector of a whole picture."""
    if head == "Model":
        found = network.get_image_features(pixel_values=given)
        return found if isinstance(found, torch.Tensor) else found.pooler_output
    found = network(pixel_values=given)
    return found.image_embeds if "image_embeds" in found else found.pooler_output


def differs(folder: Path, family: str, head: str, seed: int) -> float:
    """The largest difference of hidden states, attention and answer from their library's."""
    pipeline, trace, network = a_run(folder, family, head, seed)
    with torch.no_grad():
        given = torch.tensor(trace.picture)[None]
        encoder = getattr(network, "vision_model", network)
        found = encoder(pixel_values=given, output_hidden_states=True, output_attentions=True)
        answer = network(pixel_values=given).logits[0] if head == "ForImageClassification" else None
        vector = of_picture(network, head, given)[0] if trace.graph.vector else None
    layers = trace.graph.layers()
    pairs = [
        (trace.states()[:layers], torch.cat(found.hidden_states[:layers])),  # the last may be before a final norm
        (trace.over_layers("attention.weights"), torch.cat(found.attentions)),
    ]
    assert pipeline.unanswered is None
    if "last_hidden_state" in found:
        pairs.append((trace.Z, found.last_hidden_state[0]))
    if answer is not None:
        pairs.append((trace["logits"], answer))
    if vector is not None:
        pairs.append((trace[trace.graph.vector].reshape(-1), vector))
    return max(float(np.abs(np.asarray(ours) - theirs.numpy()).max()) for ours, theirs in pairs)


@pytest.mark.parametrize(("family", "head", "seed"), FEW)
def test_answers_and_stages_are_theirs_in_odd_settings(family: str, head: str, seed: int, tmp_path: Path) -> None:
    assert differs(tmp_path, family, head, seed) < 1e-4


def test_positions_that_were_learned_for_larger_pictures_are_stretched_and_that_is_known(tmp_path: Path) -> None:
    pipeline, trace, _ = a_run(tmp_path, "Dinov2", "Model", 1)
    learned = odd_settings("Dinov2", 1)["image_size"] // pipeline.config.patch_size
    assert pipeline.config.learned_side == learned != pipeline.config.patches_per_side
    assert len(pipeline.network.embedding.positions.table) == len(trace.tokens)


def test_registers_have_names_and_no_place(tmp_path: Path) -> None:
    network_in(tmp_path, "Dinov2WithRegisters", "Model", odd_settings("Dinov2", 0) | {"num_register_tokens": 2})
    pipeline = load_folder(tmp_path)
    side = pipeline.config.image_size
    trace = pipeline(np.zeros((side, side, 3), np.float32))
    assert trace.tokens[:3] == ["[CLS]", "[REG1]", "[REG2]"] and trace.rows[:4] == [0, None, None, 1]
    assert not trace["embedding.positions"][1:3].any() and trace["embedding.positions"][3].any()
    assert np.isnan(trace.places[:3]).all() and trace.places[3].tolist() == [0, 0]


def test_pictures_are_brought_to_dinov2_as_its_library_does_it(tmp_path: Path) -> None:
    network_in(tmp_path, "Dinov2", "Model", odd_settings("Dinov2", 0) | {"patch_size": 8, "image_size": 48})
    theirs = transformers.BitImageProcessorPil(
        size={"shortest_edge": 37}, crop_size={"height": 32, "width": 32}, resample=3,
        image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225],
    )  # fmt: skip
    theirs.save_pretrained(tmp_path)
    seen, file = picture(50, 41)
    trace = load_folder(tmp_path)(file)
    close(trace.picture, theirs(seen, return_tensors="pt")["pixel_values"][0])
    assert trace.config.image_size == 32 and trace.config.learned_side == 6


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"use_swiglu_ffn": True}, "use_swiglu_ffn = True"),
        ({"qkv_bias": False}, "qkv_bias = False"),
        ({"mlp_ratio": "4"}, "mlp_ratio = 4"),
        ({"mlp_ratio": 10**9}, "mlp_ratio = 1000000000"),
        ({"num_register_tokens": 1000}, "num_register_tokens = 1000"),
        ({"num_register_tokens": 3}, "register_tokens"),
    ],
)
def test_what_is_not_computed_is_refused_by_its_own_name(settings: dict, said: str, tmp_path: Path) -> None:
    network_in(tmp_path, "Dinov2WithRegisters", "Model", odd_settings("Dinov2", 0) | {"num_register_tokens": 2})
    rewritten(tmp_path, **settings)
    with pytest.raises(CheckpointError) as raised:
        load_folder(tmp_path)
    assert said in str(raised.value)


def test_a_classifier_of_one_class_has_its_stages_and_says_which_setting_it_is(tmp_path: Path) -> None:
    network_in(tmp_path, "Dinov2", "ForImageClassification", odd_settings("Dinov2", 0) | {"num_labels": 1})
    assert "num_labels = 1" in str(load_folder(tmp_path).unanswered)


def test_of_two_encoders_that_of_pictures_is_read_with_what_its_settings_leave_out(tmp_path: Path) -> None:
    saved(tmp_path, "CLIP", "Model", odd_settings("CLIP", 0) | {"hidden_act": "quick_gelu", "layer_norm_eps": 1e-5})
    expected = load_folder(tmp_path).config
    theirs = json.loads((tmp_path / "config.json").read_text())["vision_config"]
    for name in ("hidden_act", "layer_norm_eps", "num_channels"):  # as on the hub, where they are the usual ones
        del theirs[name]
    rewritten(tmp_path, vision_config=theirs)
    assert load_folder(tmp_path).config == expected
    rewritten(tmp_path, vision_config=None)
    with pytest.raises(CheckpointError, match="vision_config"):
        load_folder(tmp_path)


def test_pictures_are_brought_to_clip_as_its_library_does_it(tmp_path: Path) -> None:
    saved(tmp_path, "CLIP", "VisionModel", odd_settings("CLIP", 0) | {"patch_size": 8, "image_size": 32})
    theirs = transformers.CLIPImageProcessorPil(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    seen, file = picture(50, 41)
    expected = theirs(seen, return_tensors="pt")["pixel_values"][0]
    said = {"size": {"shortest_edge": 32}, "crop_size": {"height": 32, "width": 32}, "do_center_crop": True}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(said))  # mean and deviation are the family's own
    close(load_folder(tmp_path)(file).picture, expected)


def test_pictures_are_prepared_as_either_file_says_and_processor_config_first(tmp_path: Path) -> None:
    saved(tmp_path, "CLIP", "VisionModel", odd_settings("CLIP", 0) | {"patch_size": 8, "image_size": 32})
    seen, file = picture(50, 41)
    for name, mean in (("preprocessor_config.json", 0.2), ("processor_config.json", 0.4)):
        theirs = transformers.CLIPImageProcessorPil(
            size={"height": 32, "width": 32}, do_center_crop=False, image_mean=[mean, 0.1, 0.3], image_std=[0.5] * 3
        )
        said = json.loads(theirs.to_json_string())
        (tmp_path / name).write_text(json.dumps({"image_processor": said} if name[:4] == "proc" else said))
        found = transformers.CLIPImageProcessorPil.from_pretrained(tmp_path)
        expected = found(seen, return_tensors="pt")["pixel_values"][0]
        close(load_folder(tmp_path)(file).picture, expected)
    (tmp_path / "preprocessor_config.json").unlink()
    close(load_folder(tmp_path)(file).picture, expected)


def test_a_siglip_without_its_probe_has_its_stages_and_says_why_no_answer(tmp_path: Path) -> None:
    saved(tmp_path, "Siglip", "VisionModel", odd_settings("Siglip", 0) | {"vision_use_head": False})
    pipeline = load_folder(tmp_path)
    assert "vision_use_head = False" in str(pipeline.unanswered) and pipeline.config.front == ()


# An encoder that was trained with most patches hidden.


DECODER = {
    "decoder_num_attention_heads": 2, "decoder_hidden_size": 8, "decoder_num_hidden_layers": 1,
    "decoder_intermediate_size": 12,
}  # fmt: skip


def masked_settings(seed: int) -> dict:
    """Odd ones, as wide as waves in two directions need it."""
    settings = odd_settings("ViT", seed)
    wide = 4 * settings["num_attention_heads"] * (1 + seed % 3)
    return settings | {"hidden_size": wide, "mask_ratio": (0.75, 0.5, 0.0)[seed % 3]}


def masked(folder: Path, head: str, settings: dict) -> transformers.PreTrainedModel:
    """A ViTMAE of theirs, with its own waves for positions, and its decoder where the head has one."""
    network = network_in(folder, "ViTMAE", head, settings | DECODER)
    drawn = {name: value.clone() for name, value in network.state_dict().items()}
    embeddings = getattr(network, "vit", network).embeddings
    embeddings.patch_embeddings.projection._is_hf_initialized = False
    embeddings.initialize_weights()  # theirs, of which the positions are kept
    kept = {name: value for name, value in drawn.items() if not name.endswith("embeddings.position_embeddings")}
    network.load_state_dict(kept, strict=False)
    network.save_pretrained(folder)
    return network


@pytest.mark.parametrize(("head", "seed"), [("Model", 0), ("ForPreTraining", 1), ("Model", 2), ("ForPreTraining", 4)])
def test_stages_of_a_masked_autoencoder_are_theirs_where_nothing_is_hidden(
    head: str, seed: int, tmp_path: Path
) -> None:
    assert masked_differs(tmp_path, head, seed) < 1e-4


def masked_differs(folder: Path, head: str, seed: int) -> float:
    """The largest difference of hidden states and attention from their library's; patches keep their order there."""
    network = masked(folder, head, masked_settings(seed))
    encoder, config = getattr(network, "vit", network), network.config
    pipeline = load_folder(folder)
    side, channels = config.image_size, config.num_channels
    trace = pipeline(np.random.default_rng(seed).random((side, side, channels), np.float32))
    assert pipeline.unanswered is None and pipeline.config.hidden_in_training == config.mask_ratio
    encoder.embeddings.config.mask_ratio = 0.0
    patches = torch.arange(len(trace.tokens) - 1)[None].float()
    with torch.no_grad():
        given = {"pixel_values": torch.tensor(trace.picture)[None], "noise": patches}
        found = encoder(**given, output_hidden_states=True, output_attentions=True)
    layers = trace.graph.layers()
    pairs = [
        (trace.states()[:layers], torch.cat(found.hidden_states[:layers])),
        (trace.over_layers("attention.weights"), torch.cat(found.attentions)),
        (trace.Z, found.last_hidden_state[0]),
    ]
    return max(float(np.abs(np.asarray(ours) - theirs.numpy()).max()) for ours, theirs in pairs)


def test_its_positions_are_waves_in_two_directions_and_worked_out_by_hand(tmp_path: Path) -> None:
    masked(tmp_path, "Model", masked_settings(0))
    pipeline = load_folder(tmp_path)
    table, side = pipeline.network.embedding.positions.table, pipeline.config.patches_per_side
    assert are_waves(table, side) and not are_waves(table + 0.01, side) and not are_waves(table[1:], side)
    assert side > 1
    quarter, rows = pipeline.config.d_model // 4, table[1:].reshape(side, side, -1)
    assert torch.equal(rows[0, :, : 2 * quarter], rows[1, :, : 2 * quarter])  # the column alone
    assert torch.equal(rows[:, 0, 2 * quarter :], rows[:, 1, 2 * quarter :])  # the row alone
    trace = pipeline(np.zeros((pipeline.config.image_size,) * 2 + (3,), np.float32))
    for cell in ((2, 0), (2, quarter), (1 + side, 2 * quarter), (len(table) - 1, len(table[0]) - 1)):
        worked = by_hand(pipeline.network, trace, "embedding.positions", cell)
        assert worked.steps[-1].value == pytest.approx(float(table[cell]), abs=1e-5)
        assert r"\sin" in worked.equation or r"\cos" in worked.equation
    assert by_hand(pipeline.network, trace, "embedding.positions", (0, 1)).value == 0


@pytest.mark.parametrize("ratio", [1, -0.1, "most"])
def test_a_share_of_hidden_patches_that_is_none_is_named(ratio: object, tmp_path: Path) -> None:
    masked(tmp_path, "Model", masked_settings(0))
    rewritten(tmp_path, mask_ratio=ratio)
    with pytest.raises(CheckpointError, match="mask_ratio"):
        load_folder(tmp_path)


@pytest.mark.parametrize("family", DINO)
def test_positions_of_larger_pictures_shrink_as_each_family_does_it(family: str, tmp_path: Path) -> None:
    network = saved(tmp_path, family, "Model", odd_settings(family, 0) | {"patch_size": 4, "image_size": 28})
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"size": {"height": 12, "width": 12}}))
    table = load_folder(tmp_path).network.embedding.positions.table
    with torch.no_grad():
        expected = network.embeddings.interpolate_pos_encoding(torch.zeros(1, 1 + 9, table.shape[1]), 12, 12)
    close(table, expected[0])
