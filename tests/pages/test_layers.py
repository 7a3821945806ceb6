"""The Layers page: logit lens, trajectories, similarity, rollout."""

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Pipeline
from model.analysis import cosine_similarity, rollout
from model.config import PRESETS
from model.heads import network_for
from model.loading import load_tokenizer
from model.measures.lens import calibrated
from model.pipeline import TextReader
from pages.answer.who_wrote import lead_at
from pages.drawing.text import catalogue
from pages.layers.page import best_words
from pages.screen.runs import pipelines
from tests.pages.opening import (
    charts,
    numbers,
    open_page,
    pre_norm,
    steps,
    tables,
    texts,
    with_network,
)

SENTENCE = "the dog chased the cat ."


def open_part(tab: str, **link: str) -> AppTest:
    return open_page("layers", **{"s": SENTENCE, "layer": "2", "tab": tab, **link})


def test_the_cosine_of_the_chosen_pair_is_worked_out() -> None:
    app, trace = open_part("alike", token="3", key="6"), pipelines.run("text", SENTENCE)
    alike = cosine_similarity(trace.states())
    dot, a, b, cosine = (float(line.rsplit("= ", 1)[1]) for line in steps(app))
    assert cosine == pytest.approx(alike[2][2, 5], abs=6e-5)
    assert dot / (a * b) == pytest.approx(cosine, abs=6e-5)
    assert not steps(open_part("alike", big="true")), "in a presentation the picture stands alone"


def test_a_share_of_the_rollout_is_worked_out() -> None:
    layer = 2
    app = open_part("origin", layer=str(layer), token="3", key="5")
    expected = rollout(pipelines.run("text", SENTENCE).over_layers("attention.weights"))[layer - 1]
    table, each = tables(app)
    assert [row[1] for row in each[1:]][layer] == f"{expected[2, 4]:.2f}", "after each layer"
    shares = [float(row[-1]) for row in table[1:]]
    assert sum(shares[:-1]) == pytest.approx(shares[-1], abs=1e-9)
    assert shares[-1] == pytest.approx(expected[2, 4], abs=6e-6)


@pytest.mark.parametrize("norm_first", [False, True])
def test_the_output_of_the_encoder_has_a_tab_of_its_own(norm_first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = pre_norm("text") if norm_first else pipelines.pipeline("text")
    with_network(monkeypatch, pipeline)
    app = open_part("out")
    (drawn,) = (numbers(one["figure"]["data"][0]["z"]) for one in charts(app))
    np.testing.assert_allclose(drawn, pipeline(SENTENCE).Z, atol=1e-5)
    assert ("one more norm" in texts(app)) == norm_first


def scaled() -> Pipeline:
    """A network that scales the outputs of its sublayers before the residual sum."""
    config = replace(PRESETS["text"], layers=2, d_ff=128, norm_first=True, layer_scale=True)
    return Pipeline("scaled", network_for(config).eval(), TextReader(load_tokenizer(), config.max_len))


POST = r"X' = \operatorname{LayerNorm}(X + \text{MHA}(X))"
NOTE = r"Z'_l = \operatorname{LayerNorm}(Z_{l-1} + \text{MHA}(Z_{l-1}))"


def test_the_calibrated_lens_is_chosen_where_one_was_fitted_and_says_so() -> None:
    sentence, mapped = "she gave the dog a [MASK] .", catalogue("en")["layers.lens_mapped"]
    run, pipeline = pipelines.run("text", sentence), pipelines.pipeline("text")
    found = best_words("text", run, 6, None, True)
    np.testing.assert_array_equal(found.best[:, 0], pipeline.read_layers(run, 6, calibrated()).argmax(axis=1))
    assert (found.best[:, 0] != best_words("text", run, 6).best[:, 0]).any()
    link = {"s": sentence, "token": "6", "stage": "calibrated"}
    assert mapped in texts(open_part("lens", **link))
    raw = open_part("lens", **link | {"stage": "raw"})
    assert mapped not in texts(raw) and "either.stage" in [each.key for each in raw.button_group]


@pytest.mark.parametrize(
    ("network", "link", "second", "first"),
    [
        (None, {}, r"X^{(l+1)} = \operatorname{LayerNorm}(X' + \text{FFN}(X'))", POST),
        (None, {"symbols": "000"}, r"Z_{l} = \operatorname{LayerNorm}(Z'_l + \text{FFN}(Z'_l))", NOTE),
        (
            lambda: pre_norm("text"),
            {},
            r"X^{(l+1)} = X' + \text{FFN}(\operatorname{LayerNorm}(X'))",
            r"X' = X + \text{MHA}(\operatorname{LayerNorm}(X))",
        ),
        (
            scaled,
            {},
            r"X^{(l+1)} = X' + \lambda' \odot \text{FFN}(\operatorname{LayerNorm}(X'))",
            r"X' = X + \lambda \odot \text{MHA}(\operatorname{LayerNorm}(X))",
        ),
    ],
    ids=["post-norm", "in a note's symbols", "pre-norm", "scaled"],
)
def test_the_equation_of_the_layer_is_that_of_the_network(
    network, link: dict[str, str], second: str, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if network:
        with_network(monkeypatch, network())
    said = "".join(shown.value for shown in open_part("path", **link).latex)
    assert 0 <= said.index(first) < said.index(second)


@pytest.mark.parametrize("output", [None, 2000])
@pytest.mark.parametrize("sentence", ["the animal [MASK] not cross the street .", "the [MASK] sat on the mat ."])
def test_layers_and_answer_compare_a_word_with_the_same_other_one(sentence: str, output: int | None) -> None:
    run = pipelines.run("text", sentence)
    token = run.tokens.index("[MASK]")
    own, other, *more = best_words("text", run, token, output).followed
    assert lead_at(run, token, own).outputs == (own, other)
    led = [word for word in best_words("text", run, token, output).best[1:, 0].tolist() if word != own]
    assert led[-1] in (other, *more), "who led last is followed, too"
