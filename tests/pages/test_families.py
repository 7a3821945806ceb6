"""What the pages say of families of encoders that differ from the paper."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from model import judged, load
from model.edits import head_off
from model.sentence import moved_by_heads
from pages.ui.text import catalogue
from tests.model.test_checkpoint_answers import network_in, odd_settings, sentence_encoder
from tests.pages.opening import charts, figure, open_page, steps
from tests.pages.test_checkpoints import maps, offer, said_on

SENTENCE = "the cat sat on a [MASK]"
#: A family, its head, and settings that show what it does otherwise.
FAMILIES = {
    "Albert": ("ForMaskedLM", {"num_hidden_layers": 4, "num_hidden_groups": 2, "embedding_size": 16}),
    "MPNet": ("ForMaskedLM", {"num_hidden_layers": 2}),
}


@cache
def folder_of(family: str) -> Path:
    head, settings = FAMILIES[family]
    whole = odd_settings(family, head, 0) | {"hidden_size": 24, "num_attention_heads": 3, "intermediate_size": 40}
    folder = Path(mkdtemp(prefix=family))
    network_in(folder, family, head, whole | settings)
    return folder


def test_that_layers_share_their_weights_is_said_where_they_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("Albert"))
    said = catalogue("en")["shared.some"].format(N=4, sets=2, each=2)
    places = {
        "layers": {"panel": "path"}, "what_if": {"panel": "heads"},
        "queries_keys_values": {"panel": "weights"}, "answer": {},
    }  # fmt: skip
    for page, link in places.items():
        app = open_page(page, model=name, s=SENTENCE, **link)
        assert said in said_on(app) and charts(app), page
    counted = sum(weight.numel() for weight in load(str(folder_of("Albert"))).network.parameters())
    assert f"{counted:,}" in said_on(app)


@pytest.mark.parametrize("stage", ["relative", "biased"])
def test_what_the_distance_adds_is_a_step_with_its_arithmetic(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("MPNet"))
    place = {"layer": "2", "head": "3", "token": "2", "key": "5", "panel": "steps"}
    app = open_page("attention", model=name, s=SENTENCE, stage=stage, **place)
    values = load(str(folder_of("MPNet")))(SENTENCE)[f"layers.1.attention.{stage}"][2]
    assert any(shown.shape == values.shape and np.allclose(shown, values, atol=1e-6) for shown in maps(app))
    assert float(steps(app)[-1].rsplit("=", 1)[-1]) == pytest.approx(float(values[1, 4]), abs=2e-5)
    if stage == "relative":
        assert "r(3) = 16 + 3 = 19" in str(steps(app))


def test_why_a_token_looks_there_names_the_distance(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("MPNet"))
    place = {"layer": "2", "head": "3", "token": "2", "key": "5", "panel": "steps", "stage": "biased", "why": "true"}
    app = open_page("attention", model=name, s=SENTENCE, **place)
    shown = str([figure(app, i) for i in range(len(charts(app)))])
    assert catalogue("en")["source.distance"] in shown and catalogue("en")["why.axis_distance"] in shown


def test_the_laboratory_takes_places_and_distances_away(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of("MPNet"))
    runs = [
        open_page(
            "what_if", model=name, s=sentence, panel="places",
            edits="embedding.positions~zero!layers.{l}.attention.relative~zero",
        )
        for sentence in ("the cat sat on a [MASK]", "sat cat on the a [MASK]")
    ]  # fmt: skip
    assert all(catalogue("en")["what_if.positions_relative"] in str(charts(app)) for app in runs)


def test_a_sentence_vector_and_its_cosine_are_shown_as_its_makers_make_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence_encoder(tmp_path)
    (name,) = offer(monkeypatch, tmp_path)
    one, two = "the cat sat on a mat", "the dog slept"
    app = open_page("answer", model=name, s=one, other=two)
    pipeline = load(str(tmp_path))
    u, v = (pipeline.pooled.steps(pipeline(sentence).Z)[-1][1] for sentence in (one, two))
    assert any(shown.shape == (1, 10) and np.allclose(shown[0], u, atol=1e-6) for shown in maps(app))
    said = said_on(app)
    assert f"**{u @ v:.4f}**" in said and "24 → 10" in said
    changed = open_page("what_if", model=name, s=one, stage="makers")
    moved = 1 - moved_by_heads(pipeline, pipeline(one), "makers")
    assert any(shown.shape == moved.shape and np.allclose(1 - shown, moved, atol=1e-5) for shown in maps(changed))


@pytest.mark.parametrize("head", ["ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"])
def test_the_laboratory_measures_and_the_answer_names_who_wrote_one_number_of_any_answer(
    head: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = odd_settings("MPNet", head, 1) | {"hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2}
    more = {} if head == "ForQuestionAnswering" else {"num_labels": 3, "problem_type": "multi_label_classification"}
    network_in(tmp_path, "MPNet", head, settings | more)
    (name,) = offer(monkeypatch, tmp_path)
    sentence, pipeline = "the cat sat on a mat", load(str(tmp_path))
    place = {"ForSequenceClassification": (1,), "ForTokenClassification": (2, 1), "ForQuestionAnswering": (1, 2)}[head]
    chosen = {"output": str(place[0] if head == "ForQuestionAnswering" else place[-1]), "token": "3"}
    app = open_page("what_if", model=name, s=sentence, panel="heads", **chosen)
    off = [[head_off(layer, one)] for layer in range(2) for one in range(3)]
    effect = judged.effects(pipeline, sentence, off, place)
    expected = (effect.after - effect.before).reshape(2, 3)
    assert any(shown.shape == (2, 3) and np.allclose(shown, expected, atol=1e-5) for shown in maps(app))
    assert f"{effect.before:.2f}" in app.metric[0].value
    for panel in ("neurons", "inside", "residuals", "tokens", "places", "patching"):
        assert not open_page("what_if", model=name, s=sentence, panel=panel, **chosen).error
    said = said_on(open_page("answer", model=name, s=sentence, **chosen))
    lead = judged.written(pipeline(sentence), place)
    if head == "ForSequenceClassification":  # tanh stands in between
        assert lead is None and catalogue("en")["judged.bent"][:40] in said
    else:
        assert f"is {lead.value:.2f}".replace("-", "−") in said


def test_our_own_layers_have_weights_of_their_own() -> None:
    said = said_on(open_page("layers", panel="path"))
    assert "sets of weights" not in said and "the same set" not in said and "its own weights" in said
