"""Other people's image encoders: tokens before the patches, positions, and preparation of files."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

from model import InputError, load
from model.by_hand import by_hand
from model.checkpoints import load_folder
from model.variants.patch_waves import are_waves
from tests.model.families import DINO, picture_settings, saved_picture
from tests.model.making import close, network_in, rewritten, saved, theirs
from tests.refusals import refused

# Tokens in front, and positions.


def test_registers_have_names_and_no_place(tmp_path: Path) -> None:
    network_in(tmp_path, "Dinov2WithRegisters", "Model", picture_settings("Dinov2", 0) | {"num_register_tokens": 2})
    pipeline = load_folder(tmp_path)
    side = pipeline.config.image_size
    trace = pipeline(np.zeros((side, side, 3), np.float32))
    assert trace.tokens[:3] == ["[CLS]", "[REG1]", "[REG2]"] and trace.rows[:4] == [0, None, None, 1]
    assert not trace["embedding.positions"][1:3].any() and trace["embedding.positions"][3].any()
    assert np.isnan(trace.places[:3]).all() and trace.places[3].tolist() == [0, 0]


@pytest.mark.parametrize("family", DINO)
def test_positions_of_larger_pictures_shrink_as_each_family_does_it(family: str, tmp_path: Path) -> None:
    network = saved_picture(
        tmp_path, family, "Model", picture_settings(family, 0) | {"patch_size": 4, "image_size": 28}
    )
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"size": {"height": 12, "width": 12}}))
    pipeline = load_folder(tmp_path)
    table = pipeline.network.embedding.positions.table
    assert pipeline.config.learned_side == 7 and pipeline.config.patches_per_side == 3
    with torch.no_grad():
        expected = network.embeddings.interpolate_pos_encoding(torch.zeros(1, 1 + 9, table.shape[1]), 12, 12)
    close(table, expected[0])


def test_its_positions_are_waves_in_two_directions_and_worked_out_by_hand(tmp_path: Path) -> None:
    saved_picture(tmp_path, "ViTMAE", "Model", picture_settings("ViTMAE", 0))
    pipeline = load_folder(tmp_path)
    assert pipeline.config.hidden_in_training == 0.75
    table, side = pipeline.network.embedding.positions.table, pipeline.config.patches_per_side
    assert are_waves(table, side) and not are_waves(table + 0.01, side) and not are_waves(table[1:], side)
    assert side > 1
    quarter, rows = pipeline.config.d_model // 4, table[1:].reshape(side, side, -1)
    assert torch.equal(rows[0, :, : 2 * quarter], rows[1, :, : 2 * quarter])  # depends on the column alone
    assert torch.equal(rows[:, 0, 2 * quarter :], rows[:, 1, 2 * quarter :])  # depends on the row alone
    trace = pipeline(np.zeros((pipeline.config.image_size,) * 2 + (3,), np.float32))
    for cell in ((2, 0), (2, quarter), (1 + side, 2 * quarter), (len(table) - 1, len(table[0]) - 1)):
        worked = by_hand(pipeline.network, trace, "embedding.positions", cell)
        assert worked.steps[-1].value == pytest.approx(float(table[cell]), abs=1e-5)
        assert r"\sin" in worked.equation or r"\cos" in worked.equation
    assert by_hand(pipeline.network, trace, "embedding.positions", (0, 1)).value == 0


def test_what_no_whole_patch_covers_is_cut_off_at_the_right_and_below(tmp_path: Path) -> None:
    sizes = {"patch_size": 7, "image_size": 30, "num_channels": 3}
    network = saved_picture(tmp_path, "Siglip", "VisionModel", picture_settings("Siglip", 0) | sizes)
    x = np.random.default_rng(0).random((30, 30, 3), np.float32)
    with torch.no_grad():
        whole = network(torch.tensor(x * 2 - 1).permute(2, 0, 1)[None]).last_hidden_state[0]
    close(load_folder(tmp_path)(x).Z, whole)


# Files.

SETTINGS = {
    "both sides": {"size": {"height": 32, "width": 32}, "resample": 3},
    "the middle of both sides": {
        "size": {"height": 41, "width": 40}, "do_center_crop": True, "crop_size": {"height": 32, "width": 32},
    },
    "the middle by the shorter side": {
        "size": {"shortest_edge": 36}, "do_center_crop": True, "crop_size": {"height": 32, "width": 32},
    },
    "one number for both sides": {"size": 41, "do_center_crop": True, "crop_size": 32},
    "a mean of zero": {"size": 32, "image_mean": [0.0, 0.0, 0.4]},
    "one mean for all channels": {"size": 32, "image_mean": 0.3, "image_std": 0.2},
    "numbers up to 255": {"size": 32, "do_rescale": False, "image_mean": [120.0, 110.0, 99.0], "image_std": [60.0] * 3},
    "numbers up to 2": {"size": 32, "rescale_factor": 2 / 255},
    "not normalised": {"size": 32, "rescale_factor": 2 / 255, "do_normalize": False},
}  # fmt: skip


def picture(width: int, height: int) -> tuple[Image.Image, bytes]:
    """Noise, and a file that holds it."""
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8))
    return noise, saved(noise)


def with_settings(folder: Path, **settings: object) -> Path:
    """A small DeiT with these settings in preprocessor_config.json."""
    shutil.copytree(theirs("DeiTModel")[1], folder, dirs_exist_ok=True)
    usual = {"do_center_crop": False, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4]}
    transformers.DeiTImageProcessorPil(**usual | settings).save_pretrained(folder)
    written = json.loads((folder / "preprocessor_config.json").read_text()) | settings  # as if edited by hand
    (folder / "preprocessor_config.json").write_text(json.dumps(written))
    return folder


@pytest.mark.parametrize("what", SETTINGS)
def test_a_file_is_read_as_their_library_reads_it(what: str, tmp_path: Path) -> None:
    folder = with_settings(tmp_path, **SETTINGS[what])
    seen, file = picture(*((50, 41), (33, 90))[[*SETTINGS].index(what) % 2])
    expected = transformers.DeiTImageProcessorPil.from_pretrained(folder)(seen, return_tensors="pt")["pixel_values"]
    pipeline = load(str(folder))
    close(pipeline(file).picture, expected[0])
    if SETTINGS[what]["size"] == 32:
        looks = np.asarray(seen.resize((32, 32), 3), np.float32) / 255
        close(pipeline.reader.shown(pipeline(file).picture), looks)
    for broken in (b"", b"GIF89a", file[:200]):
        with pytest.raises(InputError):
            pipeline(broken)


@pytest.mark.parametrize(
    ("what", "size"),
    [("both sides", (33, 90)), ("the middle by the shorter side", (50, 41)), ("numbers up to 255", (32, 32))],
)
def test_a_picture_is_read_alike_however_it_is_brought(what: str, size: tuple[int, int], tmp_path: Path) -> None:
    folder, (seen, file) = with_settings(tmp_path, **SETTINGS[what]), picture(*size)
    prepare, pipeline = transformers.DeiTImageProcessorPil.from_pretrained(folder), load(str(folder))
    prepared, Z = prepare(seen, return_tensors="pt"), pipeline(file).Z
    close(pipeline(file).picture, prepared["pixel_values"][0])
    as_others_have_it = {
        "Pillow's": seen,
        "Pillow's, with a mask": seen.convert("RGBA"),
        "whole numbers": np.asarray(seen),
        "whole numbers of torch": torch.from_numpy(np.array(seen)),
        "a batch of one": np.asarray(seen)[None],
        "what their processor makes": prepared,
        "as NumPy has it": prepare(seen, return_tensors="np"),
        "as a tensor": prepared["pixel_values"],
        "as one picture": prepared["pixel_values"][0],
    }
    for name, brought in as_others_have_it.items():
        np.testing.assert_allclose(pipeline(brought).Z, Z, atol=1e-5, err_msg=name)


@pytest.mark.parametrize(
    "strange",
    [
        np.random.default_rng(0).uniform(0, 255, (32, 32, 3)),
        np.full((32, 32, 3), 128, np.int64),
        np.full((32, 32, 3), -1.0),
        np.zeros((32, 32, 3), complex),
        np.array([["a"]]),
        {"pixel_values": torch.zeros(2, 3, 32, 32)},
        {"input_ids": torch.zeros(1, 3, 32, 32)},
        None,
        3,
        [[1, 2], [3]],
    ],
    ids=lambda strange: type(strange).__name__,
)
def test_what_is_no_picture_or_no_share_of_light_is_refused_in_a_sentence(strange: object, tmp_path: Path) -> None:
    for pipeline in (load(str(with_settings(tmp_path, size=32))), load("digits")):
        with pytest.raises(InputError, match="picture"):
            pipeline(strange)


def test_a_drawing_of_whole_numbers_is_read_as_its_shares() -> None:
    grey = np.random.default_rng(0).integers(0, 256, (28, 28), np.uint8)
    digits = load("digits")
    for brought in (grey, Image.fromarray(grey), grey.tobytes()):
        np.testing.assert_array_equal(digits(brought).Z, digits(grey / 255).Z)


def test_pictures_are_prepared_as_either_file_says_and_processor_config_first(tmp_path: Path) -> None:
    saved_picture(tmp_path, "CLIP", "VisionModel", picture_settings("CLIP", 0) | {"patch_size": 8, "image_size": 32})
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


def test_a_photo_that_says_how_it_was_held_is_read_upright(tmp_path: Path) -> None:
    pipeline, (seen, upright) = load(str(with_settings(tmp_path, size=32))), picture(50, 41)
    exif = Image.Exif()
    exif[0x0112] = 6  # rotate to the right
    lying = saved(seen.transpose(Image.Transpose.ROTATE_90), exif=exif)
    np.testing.assert_array_equal(pipeline(lying).picture, pipeline(upright).picture)


def test_a_thread_of_a_picture_is_not_spread_out(tmp_path: Path) -> None:
    folder = with_settings(tmp_path, size={"shortest_edge": 256})
    with pytest.raises(InputError):
        load(str(folder))(picture(1, 3000)[1])


def test_what_a_link_packs_into_next_to_nothing_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = saved(Image.new("RGB", (6000, 4000)))
    assert len(file) < 100_000
    pipeline = load(str(with_settings(tmp_path, size=32)))
    monkeypatch.setattr(Image.Image, "convert", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(InputError):
        pipeline(file)


@pytest.mark.parametrize("size", [None, -5, 10**9, [32], {"height": "a"}, {"shortest_edge": True}])
def test_settings_that_say_no_size_leave_the_networks_own(size: object, tmp_path: Path) -> None:
    folder = with_settings(tmp_path)
    settings = json.loads((folder / "preprocessor_config.json").read_text())
    settings |= {"size": size, "do_center_crop": True, "crop_size": size, "resample": "a"}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    assert load(str(folder))(picture(50, 41)[1]).picture.shape == (3, 32, 32)


def test_the_picture_of_a_trace_is_read_again_as_it_is(tmp_path: Path) -> None:
    pipeline = load(str(theirs("ViTModel")[1]))
    processor = transformers.ViTImageProcessorPil.from_pretrained(theirs("ViTModel")[1])
    for seen, file in (picture(50, 41), picture(32, 32)):
        trace = pipeline(file)
        close(trace.picture, processor(seen, return_tensors="pt")["pixel_values"][0])
    np.testing.assert_array_equal(pipeline(trace.picture).Z, trace.Z)
    seen = np.asarray(picture(32, 32)[0], np.float32) / 255
    close(pipeline.reader.shown(trace.picture), seen)
    with pytest.raises(InputError):
        pipeline(np.full((3, 32, 32), np.nan))


def test_pictures_of_other_channels_are_refused(tmp_path: Path) -> None:
    shutil.copytree(theirs("ViTModel")[1], tmp_path / "vit")
    rewritten(tmp_path / "vit", num_channels=4)
    with refused("setting") as raised:
        load(str(tmp_path / "vit"))
    assert "num_channels" in str(raised.value)
