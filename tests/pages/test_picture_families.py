"""Every page with encoders of pictures that differ from ViT: what stands before the patches, and who reads it."""

import re
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from model import load
from pages.ui.figures import over_drawing, token_at
from pages.ui.text import catalogue
from tests.model.test_checkpoint_answers import network_in
from tests.model.test_picture_families import masked
from tests.pages.opening import charts, open_page, steps
from tests.pages.test_checkpoints import maps, offer, said_on

SIZES = {
    "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2, "image_size": 32, "patch_size": 8,
    "num_labels": 5,
}  # fmt: skip
KINDS = {
    "dinov2": ("Dinov2", "Model", {"mlp_ratio": 2}),
    "clip": ("CLIPVision", "ModelWithProjection", {"intermediate_size": 40, "projection_dim": 12}),
    "siglip": ("SiglipVision", "Model", {"intermediate_size": 40}),
    "mae": ("ViTMAE", "ForPreTraining", {"intermediate_size": 40}),
    "registers": ("Dinov2WithRegisters", "ForImageClassification", {"mlp_ratio": 2, "num_register_tokens": 4}),
}
PICTURE = {"input": "picture", "picture": "card", "layer": "2", "head": "3", "token": "3"}


@cache
def folder_of(kind: str) -> Path:
    family, head, more = KINDS[kind]
    folder = Path(mkdtemp(prefix="pictures-")) / kind
    (masked if kind == "mae" else partial(network_in, family=family))(folder, head=head, settings=SIZES | more)
    return folder


def test_registers_are_called_what_they_are_and_are_no_seat_of_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("registers"))
    said = said_on(open_page("tokens", model=name, panel="pieces", **PICTURE))
    english = catalogue("en")
    assert english["tokens.read_front"].format(front="[CLS] [REG1] [REG2] [REG3] [REG4]") in said
    weights = load(str(folder_of("registers")))  # the same run as the page's
    assert weights.config.front == ("[CLS]", "[REG1]", "[REG2]", "[REG3]", "[REG4]")
    row = re.search(r"The registers get (0\.\d+)", said_on(open_page("attention", model=name, **PICTURE)))
    assert row and 0 < float(row[1]) < 1


def test_the_vector_of_a_picture_is_the_answer_and_turns_where_a_head_is_off(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("clip"))
    english = catalogue("en")
    app = open_page("answer", model=name, **PICTURE)
    assert english["sentence_vector.one_projection"].split("W_P")[0] in said_on(app)
    trace = load(str(folder_of("clip")))(np.zeros((32, 32, 3), np.float32))
    assert trace["vector"].shape == (12,) and any(shown.shape == (1, 12) for shown in maps(app))
    off = "layers.1.attention.heads~zero~head.1"
    said = said_on(open_page("what_if", model=name, edits=off, **PICTURE))
    (cosine,) = re.findall(r"unchanged vector: \*\*(-?0\.\d+)", said)
    assert -1 < float(cosine) < 1


def test_without_a_cls_a_probe_is_what_asks_and_no_page_speaks_of_a_cls(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("siglip"))
    app = open_page("answer", model=name, **PICTURE)
    assert catalogue("en")["sentence_vector.one_probe"] in said_on(app)
    for page, panel in (("tokens", "vectors"), ("tokens", "pieces"), ("attention", "steps"), ("attention", "layers")):
        said = said_on(open_page(page, model=name, panel=panel, **PICTURE))
        assert "[CLS]" not in said, (page, panel)


def test_what_a_sub_layer_found_is_shown_scaled_and_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("dinov2"))
    place = {"panel": "maps", "stage": "scale_1", "component": "6"}
    app = open_page("add_and_norm", model=name, **PICTURE | place)
    assert "LayerScale" in said_on(app) and any(r"\lambda" in line for line in steps(app))
    assert charts(app)


def test_a_click_beside_the_picture_means_the_token_that_is_drawn_there() -> None:
    for side, front in ((4, 0), (4, 1), (4, 5), (2, 5), (3, 3)):
        tokens = [str(i) for i in range(front + side**2)]
        drawn = over_drawing(np.zeros((12, 12), np.float32), np.zeros(len(tokens)), tokens, 0, "", front=front)
        marks = drawn.data[-1]
        found = [token_at(int(y), int(x), side, front) for x, y in zip(marks["x"], marks["y"], strict=True)]
        assert found == [*range(len(tokens))]


def test_positions_that_nobody_trained_are_said_to_be_waves_and_what_was_hidden_in_training_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (name,) = offer(monkeypatch, folder_of("mae"))
    english = catalogue("en")
    said = said_on(open_page("tokens", model=name, panel="positions", **PICTURE))
    assert english["tokens.made_patch_waves"] in said and english["tokens.made_learned"] not in said
    said = said_on(open_page("answer", model=name, **PICTURE))
    assert english["sentence_vector.hidden_in_training"].format(share="75%") in said
    place = {**PICTURE, "panel": "vectors", "stage": "positions", "token": "7", "component": "5"}
    (value,) = (float(step.rsplit("=", 1)[-1]) for step in steps(open_page("tokens", model=name, **place))[-1:])
    table = load(str(folder_of("mae"))).network.embedding.positions.table
    assert value == pytest.approx(float(table[6, 4]), abs=1e-5)
