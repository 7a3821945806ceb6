"""Every page with a DeBERTa: no positions in the sum, and scores of three products, two of them with distances."""

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest

from model import load
from model.analysis import cosine_similarity
from pages.school.questions.attention import best_fit, without_root
from pages.school.questions.case import Case
from pages.ui.text import catalogue
from tests.model.test_checkpoint_answers import network_in
from tests.model.test_disentangled import TERMS, odd_settings
from tests.pages.opening import assert_fine, charts, figure, open_page, result, steps
from tests.pages.test_checkpoints import maps, offer, said_on

SENTENCE = "the cat sat on a [MASK] and it slept by the door"
PLACE = {"layer": "2", "head": "3", "token": "2", "key": "5"}


@cache
def folder_of(head: str = "ForMaskedLM") -> Path:
    settings = odd_settings(head, 1) | {
        "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 3, "intermediate_size": 40,
        "pos_att_type": ["c2p", "p2c"], "position_buckets": 6, "max_relative_positions": -1, "share_att_key": True,
        "norm_rel_ebd": "layer_norm", "position_biased_input": False, "type_vocab_size": 0, "hidden_act": "gelu",
    }  # fmt: skip
    folder = Path(mkdtemp(prefix="deberta-"))
    network_in(folder, "DebertaV2", head, settings)
    return folder


@pytest.mark.parametrize("stage", TERMS)
def test_each_product_of_a_score_is_a_step_with_its_arithmetic(stage: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    app = open_page("attention", model=name, s=SENTENCE, stage=stage, panel="steps", **PLACE)
    values = load(str(folder_of()))(SENTENCE)[f"layers.1.attention.{stage}"][2]
    assert any(shown.shape == values.shape and np.allclose(shown, values, atol=1e-6) for shown in maps(app))
    assert result(app) == pytest.approx(float(values[1, 4]), abs=1e-4)


def test_the_products_add_up_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    app = open_page("attention", model=name, s=SENTENCE, stage="scores", panel="steps", **PLACE)
    trace = load(str(folder_of()))(SENTENCE)
    shown = [float(step.rsplit("=", 1)[-1]) for step in steps(app) if not step.endswith("}")]
    expected = [trace[f"layers.1.attention.{name}"][2, 1, 4] for name in (*TERMS, "scores")]
    np.testing.assert_allclose(shown[-4:], expected, atol=1e-4)
    assert sum(shown[-4:-1]) == pytest.approx(shown[-1], abs=1e-9)
    *parts, whole = maps(app)[:4]  # and so do the first maps of the band
    np.testing.assert_allclose(sum(parts), whole, atol=1e-4)


def test_why_a_token_looks_there_tells_the_products_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    app = open_page("attention", model=name, s=SENTENCE, panel="steps", stage="scaled", why="true", **PLACE)
    shown = str([figure(app, i) for i in range(len(charts(app)))])
    assert catalogue("en")["source.distance"] in shown and "√(3 d_k)" in shown
    trace = load(str(folder_of()))(SENTENCE)
    for term in TERMS:
        part = trace[f"layers.1.attention.{term}"][2, 1, 4] / np.sqrt(24)
        assert f"{part:+.2f}".replace("-", "−") in said_on(app)


def test_distances_have_queries_and_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    chosen = {"layer": "2", "head": "3", "distance": "6", "part": "2", "panel": "maps", "stage": "K_distance"}
    app = open_page("queries_keys_values", model=name, s=SENTENCE, **chosen)
    values = load(str(folder_of()))(SENTENCE)["layers.1.attention.K_distance"][2]
    assert any(shown.shape == values.shape and np.allclose(shown, values, atol=1e-6) for shown in maps(app))
    assert result(app) == pytest.approx(float(values[5, 1]), abs=1e-4)


def test_the_glossary_opens_where_nothing_is_added_to_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    app = open_page("attention", model=name, s=SENTENCE)
    app.button(key="glossary").click().run()
    assert_fine(app)
    said = said_on(app)
    assert catalogue("en")["glossary.scores_told_apart"] in said
    assert catalogue("en")["glossary.embedding_norm_alone"] in said
    assert "√(3 · 8) = 4.899" in said


def test_no_place_is_said_to_be_added(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    english = catalogue("en")
    R = load(str(folder_of())).network.layers[0].attention.vectors(14)[0].numpy()
    (drawn,) = (shown for shown in maps(open_page("tokens", model=name, s=SENTENCE, panel="waves")))
    np.testing.assert_allclose(drawn, cosine_similarity(R), atol=1e-5)
    assert english["tokens.purpose_unplaced"] in said_on(open_page("tokens", model=name, s=SENTENCE, panel="vectors"))


def test_the_laboratory_takes_both_products_of_distances_away(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    edits = "~~".join(f"layers.{{l}}.attention.{term}~zero" for term in TERMS[1:])
    app = open_page("what_if", model=name, s=SENTENCE, panel="places", edits=edits)
    assert len(app.session_state["choice"].edits) == 2 and not app.warning
    assert catalogue("en")["what_if.positions_content_to_position"] in str(charts(app))


def test_what_holds_of_q_k_alone_is_not_said_of_the_score(monkeypatch: pytest.MonkeyPatch) -> None:
    (name,) = offer(monkeypatch, folder_of())
    english = catalogue("en")
    steps_page = open_page("attention", model=name, s=SENTENCE, stage="scaled", **PLACE, **{"as": "why"})
    assert "√(3 · 8) = 4.899" in said_on(steps_page)
    assert english["attention.panel_root"] not in str([pills.options for pills in steps_page.pills])
    pipeline = load(str(folder_of()))
    case = Case(pipeline, pipeline(SENTENCE), 2, pipeline.reader.vocabulary)
    assert without_root(case) is None and best_fit(case) is None
