"""Image classifiers of others: offered, named in the link, with pictures of one's own."""

import io
from pathlib import Path

import numpy as np
import pytest
import transformers
from PIL import Image
from streamlit.testing.v1 import AppTest

from model import load
from pages.drawing.figures import block_of, tiles
from pages.drawing.figures.base import Axis
from pages.drawing.state import images, sketch
from pages.screen import link
from tests.model.making import saved, theirs
from tests.pages.inputs import folder, offer
from tests.pages.opening import assert_fine, at_page, figure, maps, open_page, run_fine, said, turn_to

VIT, DEIT = "ViTForImageClassification", "DeiTForImageClassification"
NOISE = np.random.default_rng(3)


def noise(width: int, height: int) -> Image.Image:
    return Image.fromarray(NOISE.integers(0, 256, (height, width, 3), np.uint8))


@pytest.fixture
def vit(monkeypatch: pytest.MonkeyPatch) -> str:
    """Name of a small ViT, offered in the drawer."""
    (name,) = offer(monkeypatch, folder(VIT))
    return name


def arrive(**link: str) -> AppTest:
    """Home after opening a link, with its remarks about the link."""
    app = at_page("home", lang="en", **link)
    return app.run()


def test_a_link_that_names_the_model_alone_means_a_picture(vit: str) -> None:
    app = open_page("attention", model=vit)
    assert app.session_state["choice"].input == "picture"
    assert app.query_params["model"] == vit
    run_fine(app.button_group(key="input").set_value("sentence"))
    assert app.session_state["choice"].pipeline == "text"


def test_the_sidebar_offers_pictures_only_where_somebody_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch)
    app = arrive(input="picture", model="vit")
    assert len(app.warning) == 2
    assert app.session_state["choice"].pipeline == "text"
    assert "Picture" not in app.button_group(key="input").options


def test_the_names_of_the_classes_are_the_checkpoints(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    network, _ = theirs(VIT)
    network.save_pretrained(tmp_path)
    names = {i: f"a <b>{'xyz' * i} cat" for i in range(5)}
    config = transformers.ViTConfig.from_pretrained(tmp_path, id2label=names, label2id={v: k for k, v in names.items()})
    config.architectures = [VIT]
    config.save_pretrained(tmp_path)
    (name,) = offer(monkeypatch, tmp_path)
    app = open_page("answer", input="picture", model=name, picture="scene")
    best = load(str(tmp_path))(images.ready("scene")).answer[0].best
    assert best in said(app) and best in names.values()


def test_attention_lies_over_the_picture_as_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder(DEIT))
    app = open_page("attention", model=name, picture="card", layer="2", head="3", token="8")
    row = load(str(folder(DEIT)))(images.ready("card"))["layers.1.attention.weights"][2, 7]
    sheet = next(shown for shown in maps(app) if shown.shape == (4, 6))
    np.testing.assert_allclose(sheet[:, 2:].ravel(), row[2:], atol=1e-6)
    np.testing.assert_allclose(sheet[:2, 0], row[:2], atol=1e-6)  # [CLS], and the distillation token below it
    assert figure(app)["layout"]["images"][0]["source"].startswith("data:image/webp")


@pytest.mark.parametrize("what", ["turned", "transparent", "grey", "palette", "16 bits"])
def test_a_picture_of_ones_own_is_read_as_it_looks(what: str) -> None:
    whole = noise(40, 24)
    if what == "turned":  # it lies on its side, with an EXIF orientation
        exif = Image.Exif()
        exif[0x0112] = 6
        given = saved(whole.transpose(Image.Transpose.ROTATE_90), exif=exif)
    elif what == "transparent":
        clear = whole.convert("RGBA")
        clear.putalpha(Image.fromarray(np.tile(np.array([0, 255], np.uint8), (24, 20))))
        given, whole = saved(clear), Image.alpha_composite(Image.new("RGBA", whole.size, "white"), clear).convert("RGB")
    elif what == "16 bits":
        deep = NOISE.integers(0, 2**16, (24, 40), np.uint16)
        given, whole = saved(Image.fromarray(deep)), Image.fromarray((deep >> 8).astype(np.uint8)).convert("RGB")
    else:
        other = whole.convert({"grey": "L", "palette": "P"}[what])
        given, whole = saved(other), other.convert("RGB")
    with Image.open(io.BytesIO(images.from_file(given))) as kept:
        np.testing.assert_array_equal(np.asarray(kept), np.asarray(whole))


def test_a_picture_of_ones_own_is_kept_for_the_visit_and_in_no_link(vit: str) -> None:
    app = open_page("attention", model=vit, picture="card")
    run_fine(app.file_uploader(key="upload_picture").upload("mine.png", saved(noise(50, 30)), "image/png"))
    choice = app.session_state["choice"]
    with Image.open(io.BytesIO(choice.subject)) as kept:
        assert kept.size == (50, 30)
    assert app.query_params["picture"] == "own" and len(str(app.query_params)) < 500
    turn_to(app, "answer").run()
    assert app.session_state["choice"].subject == choice.subject


def test_a_link_without_its_picture_opens_with_a_ready_one_and_says_so(vit: str) -> None:
    app = arrive(model=vit, picture="own")
    assert len(app.warning) == 1 and "picture" in app.warning[0].value
    assert app.session_state["choice"].subject == images.ready("scene")
    assert_fine(app)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (saved(noise(64, 64))[:900], "file"),
        (b"<svg onload=alert(1)>", "file"),
        (saved(Image.new("1", (8000, 8000))), "large"),
    ],
)  # fmt: skip
def test_what_is_no_picture_gets_one_sentence(content: bytes, reason: str, vit: str) -> None:
    app = arrive(model=vit, picture="card")
    run_fine(app.file_uploader(key="upload_picture").upload("hostile.png", content, "image/png"))
    said = {"file": "damaged", "large": "too large"}[reason]
    assert [warning.value for warning in app.warning if said in warning.value] and len(app.warning) == 1
    assert app.session_state["choice"].subject == images.ready("card")
    assert link.PHOTO not in app.session_state


def test_what_is_on_the_pad_is_a_picture_black_on_white(vit: str) -> None:
    app = open_page("tokens", model=vit, picture="drawing", ink=sketch.to_code(sketch.example(3)))
    with Image.open(io.BytesIO(app.session_state["choice"].subject)) as drawn:
        np.testing.assert_array_equal(np.asarray(drawn), 255 - sketch.grey(sketch.example(3)) * 255)


def test_very_many_weights_are_drawn_in_blocks_that_show_the_largest() -> None:
    values = np.random.default_rng(2).random((12, 12, 197, 197), np.float32) / 2
    values[3, 4, 100, 150] = 1.0
    block = block_of(values.shape)
    assert block > 1 and block_of((6, 8, 64, 64)) == 1
    sheet = tiles(values, Axis("layer"), Axis("head")).checked().data[0].z
    assert sheet.size < 1_000_000
    assert (sheet == 255).sum() == 1
