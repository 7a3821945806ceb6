"""Picture files are brought to a checkpoint's size as its own library does it, whatever its settings say."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import transformers
from PIL import Image

from model import InputError, load
from model.hugging_face import CheckpointError
from tests.model.test_checkpoints import close, rewritten, theirs

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
    """Noise, and the file that holds it."""
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8))
    file = io.BytesIO()
    noise.save(file, "PNG")
    return noise, file.getvalue()


def with_settings(folder: Path, **settings: object) -> Path:
    """A small DeiT whose preprocessor_config.json says this."""
    shutil.copytree(theirs("DeiTModel")[1], folder, dirs_exist_ok=True)
    usual = {"do_center_crop": False, "image_mean": [0.5, 0.4, 0.3], "image_std": [0.2, 0.3, 0.4]}
    transformers.DeiTImageProcessorPil(**usual | settings).save_pretrained(folder)
    written = json.loads((folder / "preprocessor_config.json").read_text()) | settings  # as somebody may have put it
    (folder / "preprocessor_config.json").write_text(json.dumps(written))
    return folder


@pytest.mark.parametrize("size", [(50, 41), (33, 90)])
@pytest.mark.parametrize("what", SETTINGS)
def test_a_file_is_read_as_their_library_reads_it(what: str, size: tuple[int, int], tmp_path: Path) -> None:
    folder = with_settings(tmp_path, **SETTINGS[what])
    seen, file = picture(*size)
    expected = transformers.DeiTImageProcessorPil.from_pretrained(folder)(seen, return_tensors="pt")["pixel_values"]
    pipeline = load(str(folder))
    close(pipeline(file).picture, expected[0])
    if SETTINGS[what]["size"] == 32:
        looks = np.asarray(seen.resize((32, 32), 3), np.float32) / 255
        close(pipeline.reader.shown(pipeline(file).picture), looks)


def test_a_photo_that_says_how_it_was_held_is_read_upright(tmp_path: Path) -> None:
    pipeline, (seen, _) = load(str(with_settings(tmp_path, size=32))), picture(50, 41)
    lying, exif = io.BytesIO(), Image.Exif()
    exif[0x0112] = 6  # turn it to the right
    seen.transpose(Image.Transpose.ROTATE_90).save(lying, "PNG", exif=exif)
    upright = io.BytesIO()
    seen.save(upright, "PNG")
    np.testing.assert_array_equal(pipeline(lying.getvalue()).picture, pipeline(upright.getvalue()).picture)


def test_a_thread_of_a_picture_is_not_spread_out(tmp_path: Path) -> None:
    folder = with_settings(tmp_path, size={"shortest_edge": 256})
    with pytest.raises(InputError):
        load(str(folder))(picture(1, 3000)[1])


def test_what_a_link_packs_into_next_to_nothing_is_not_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = io.BytesIO()
    Image.new("RGB", (6000, 4000)).save(plain, "PNG")
    file = plain.getvalue()
    assert len(file) < 100_000
    pipeline = load(str(with_settings(tmp_path, size=32)))
    monkeypatch.setattr(Image.Image, "convert", lambda *_: pytest.fail("it was unpacked"))
    with pytest.raises(InputError):
        pipeline(file)


@pytest.mark.parametrize("size", [None, 32, -5, 10**9, [32], {"height": "a"}, {"height": 32}, {"shortest_edge": True}])
def test_settings_that_say_no_size_leave_the_networks_own(size: object, tmp_path: Path) -> None:
    folder = with_settings(tmp_path)
    settings = json.loads((folder / "preprocessor_config.json").read_text())
    settings |= {"size": size, "do_center_crop": True, "crop_size": size, "resample": "a"}
    (folder / "preprocessor_config.json").write_text(json.dumps(settings))
    assert load(str(folder))(picture(50, 41)[1]).picture.shape == (3, 32, 32)


def test_the_picture_of_a_trace_is_read_again_as_it_is(tmp_path: Path) -> None:
    pipeline = load(str(theirs("ViTModel")[1]))
    trace = pipeline(picture(32, 32)[1])
    np.testing.assert_array_equal(pipeline(trace.picture).Z, trace.Z)
    seen = np.asarray(picture(32, 32)[0], np.float32) / 255
    close(pipeline.reader.shown(trace.picture), seen)
    with pytest.raises(InputError):
        pipeline(np.full((3, 32, 32), np.nan))


def test_pictures_of_other_channels_are_refused(tmp_path: Path) -> None:
    shutil.copytree(theirs("ViTModel")[1], tmp_path / "vit")
    rewritten(tmp_path / "vit", num_channels=4)
    with pytest.raises(CheckpointError) as raised:
        load(str(tmp_path / "vit"))
    assert raised.value.reason == "setting" and "num_channels" in str(raised.value)
