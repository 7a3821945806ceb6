"""Every page with T5's encoder: distances alone tell of order, no score is divided, and the norm takes no mean off."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from model import load
from pages.ui.text import catalogue
from tests.model.test_t5 import saved
from tests.pages.opening import charts, figure, numbers, open_page, result, steps
from tests.pages.test_checkpoints import maps, offer, said_on

SENTENCE = "the cat sat on a mat"


@cache
def folder(head: str = "EncoderModel") -> Path:
    return saved(Path(mkdtemp(prefix="t5-")), head)


def test_attention_has_no_step_that_divides_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder())
    place = {"layer": "2", "head": "3", "token": "2", "key": "5", "panel": "steps", "stage": "biased"}
    app = open_page("attention", model=name, s=SENTENCE, **place)
    said = said_on(app)
    assert catalogue("en")["attention.by_distance_undivided"] in said
    assert "÷ √d_k" not in said and r"\sqrt{d_k}" not in said
    values = load(str(folder()))(SENTENCE)["layers.1.attention.biased"][2]
    assert any(shown.shape == values.shape and np.allclose(shown, values, atol=1e-6) for shown in maps(app))
    assert float(steps(app)[-1].rsplit("=", 1)[-1]) == pytest.approx(float(values[1, 4]), abs=2e-5)
    app = open_page("attention", model=name, s=SENTENCE, **place, why="true")
    shown = str([figure(app, i) for i in range(len(charts(app)))])
    assert catalogue("en")["why.axis_distance_undivided"] in shown


def test_what_distances_add_is_drawn_from_far_before_to_far_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder())
    english = catalogue("en")
    table = load(str(folder())).network.layers[0].attention.distances.weight.numpy()
    app = open_page("tokens", model=name, s=SENTENCE, head="2", panel="positions")
    drawn = next(one["figure"]["data"] for one in charts(app) if one["key"].endswith("distances"))
    (line,) = (numbers(trace["y"]) for trace in drawn if trace["name"] == "head 2")
    middle = len(line) // 2
    np.testing.assert_allclose(line[[middle, middle - 1, middle + 1]], table[[0, 1, 17], 1])
    said = said_on(open_page("tokens", model=name, s=SENTENCE))
    assert english["tokens.purpose_unplaced"] in said and english["tokens.purpose"] not in said


def test_the_norm_is_said_to_be_simpler_and_worked_out_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder())
    place = {"layer": "2", "token": "3", "component": "4", "panel": "maps", "stage": "norm_1"}
    app = open_page("add_and_norm", model=name, s=SENTENCE, **place)
    said = said_on(app)
    assert catalogue("en")["add_and_norm.simpler"] in said and "mean 0" not in said and "RMSNorm" in said
    value = load(str(folder()))(SENTENCE)["layers.1.norm_1"][2, 3]
    assert result(app) == pytest.approx(float(value), abs=1e-4)
    said = said_on(open_page("add_and_norm", model=name, s=SENTENCE, panel="values"))
    assert "BatchNorm" not in said and "root mean square" in said


def test_the_answer_is_left_to_a_decoder_and_no_row_of_cls_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder())
    said = said_on(open_page("answer", model=name, s=SENTENCE))
    assert catalogue("en")["sentence_vector.no_head_no_cls"] in said and "[CLS] alone" not in said


def test_the_laboratory_takes_distances_away(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder("ForTokenClassification"))
    app = open_page("what_if", model=name, s=SENTENCE, panel="places")
    assert catalogue("en")["what_if.positions_relative"] in str(charts(app))
