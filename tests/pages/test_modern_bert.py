"""Every page with a ModernBERT: no positions in the sum, queries and keys that turn, windows, and gates."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from model import load
from pages.ui.text import catalogue
from pages.ui.text.numbers import written
from tests.model.test_checkpoint_answers import network_in
from tests.model.test_modern_bert import odd_settings
from tests.pages.opening import charts, figure, numbers, open_page, result
from tests.pages.test_checkpoints import maps, offer, said_on

SENTENCE = "the cat sat on a [MASK] and it slept by the door"


@cache
def folder_of(head: str = "ForMaskedLM") -> Path:
    """Four layers: everywhere, in a window, in a window, everywhere."""
    settings = odd_settings(head, 1) | {
        "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 4, "intermediate_size": 40,
        "layer_types": None, "rope_parameters": None, "local_attention": 4, "hidden_activation": "gelu",
        "norm_bias": False,
    }  # fmt: skip
    folder = Path(mkdtemp(prefix="modern-"))
    network_in(folder, "ModernBert", head, settings)
    return folder


def test_a_place_is_said_to_be_a_turn_and_nothing_that_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    english = catalogue("en")
    said = said_on(open_page("tokens", model=name, s=SENTENCE))
    assert english["tokens.purpose_unplaced"] in said and english["tokens.purpose"] not in said
    turned = load(str(folder_of()))(SENTENCE)["layers.1.attention.Q_rotated"][2]
    app = open_page("queries_keys_values", model=name, s=SENTENCE, layer="2", head="3", panel="maps")
    assert any(shown.shape == turned.shape and np.allclose(shown, turned, atol=1e-6) for shown in maps(app))


def test_a_turn_is_worked_out_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    place = {"layer": "2", "head": "3", "token": "6", "part": "2", "panel": "maps", "stage": "K_rotated"}
    app = open_page("queries_keys_values", model=name, s=SENTENCE, **place)
    value = load(str(folder_of()))(SENTENCE)["layers.1.attention.K_rotated"][2, 5, 1]
    assert result(app) == pytest.approx(float(value), abs=1e-4)


def test_the_loudest_neurons_are_those_whose_product_is_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    app = open_page("feed_forward", model=name, s=SENTENCE, panel="maps", layer="2", token="6")
    fed = load(str(folder_of()))(SENTENCE)["layers.1.ffn.product"]
    order = np.argsort(-np.abs(fed[5]), kind="stable")
    np.testing.assert_allclose(numbers(figure(app, 1)["data"][0]["x"]), fed[5, order[:6]], rtol=1e-5)
    english = catalogue("en")
    assert figure(app, 1)["layout"]["xaxis"]["title"]["text"] == english["feed_forward.axis_product"]
    said = {"token": load(str(folder_of()))(SENTENCE).tokens[5], "neuron": order[0] + 1}
    said["value"] = written(f"{fed[5, order[0]]:.2f}")
    assert english["feed_forward.read_best"].format(**said) in said_on(app)
    np.testing.assert_allclose(numbers(figure(app, 3)["data"][0]["x"]), fed[:, order[0]], rtol=1e-5)


@pytest.mark.parametrize("panel", ["maps", "values"])
def test_no_beta_is_named_where_none_is_added(panel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    said = said_on(open_page("add_and_norm", model=name, s=SENTENCE, layer="2", panel=panel))
    assert "γ" in said and "β" not in said


@pytest.mark.parametrize(("layer", "window"), [("1", False), ("2", True)])
def test_a_layer_with_a_window_says_how_far_it_looks(layer: str, window: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    app = open_page("attention", model=name, s=SENTENCE, layer=layer, head="1", panel="steps", stage="masked")
    assert ("no further than 2 positions to either side: 132 of 196 pairs" in said_on(app)) == window


def test_the_laboratory_takes_turns_and_windows_away(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    edits = "layers.{l}.attention.Q_rotated~bypass~~layers.{l}.attention.K_rotated~bypass"
    app = open_page("what_if", model=name, s=SENTENCE, panel="places", edits=edits)
    assert len(app.session_state["choice"].edits) == 2 and not app.warning
    assert catalogue("en")["what_if.positions_masked"] in str(charts(app)) + said_on(app)
