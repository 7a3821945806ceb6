"""The Layers page: the residual stream as it was recorded, what the head would say on the way, where it came from."""

from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from model import Pipeline
from model.analysis import cosine_similarity, rollout, whole_words
from model.config import PRESETS
from model.heads import network_for
from model.loading import load_tokenizer
from model.pipeline import TextReader
from pages.ui.runs import pipelines
from pages.ui.text import literal
from tests.pages.opening import charts, figure, numbers, open_page, pre_norm, steps, texts, with_network

SENTENCE = "the dog chased the cat ."
PANELS = ("lens", "path", "alike", "origin")


def open_part(panel: str, **link: str):
    return open_page("layers", **{"s": SENTENCE, "layer": "2", "panel": panel, **link})


def chart(app: AppTest, name: str) -> dict:
    """The figure of this name."""
    (found,) = (one["figure"] for one in charts(app) if one["key"] == f"layers.{name}")
    return found


def test_the_path_ends_where_the_last_layer_ends() -> None:
    app, trace = open_part("path", token="3"), pipelines.run("text", SENTENCE)
    _, chosen, dots, every, *_ = (numbers(drawn["x"]) for drawn in figure(app)["data"])
    x = every.reshape(7, len(trace.tokens))
    assert (chosen == x[:, 2]).all() and (dots == [*x[0], *x[-1], *chosen]).all()
    states = trace.states()
    apart = np.linalg.norm(states[0] - states[-1], axis=-1)
    assert np.abs(x[0] - x[-1]).max() > 0
    assert (np.abs(x[0] - x[-1]) <= apart + 1e-3).all()  # a projection shortens


def test_the_lens_ends_with_the_network_s_own_answer() -> None:
    sentence = "the cat sat on the [MASK] ."
    app, trace = open_part("lens", s=sentence), pipelines.run("text", sentence)
    table = figure(app)["data"][0]
    (guess,) = trace.answer
    assert table["text"][-1][0] == guess.best
    assert numbers(table["z"])[-1, 0] == pytest.approx(max(guess.probabilities), abs=1e-5)


def test_similarities_are_the_cosines_of_the_stream_and_the_chosen_pair_is_worked_out() -> None:
    app, trace = open_part("alike", token="3", key="6"), pipelines.run("text", SENTENCE)
    alike = cosine_similarity(trace.states())
    np.testing.assert_allclose(numbers(figure(app)["data"][0]["z"]), alike[2], atol=1e-6)
    dot, a, b, cosine = (float(line.rsplit("= ", 1)[1]) for line in steps(app))
    assert cosine == pytest.approx(alike[2][2, 5], abs=6e-5)
    assert dot / (a * b) == pytest.approx(cosine, abs=6e-5)


def test_lengths_are_those_of_the_stream_and_of_what_was_written() -> None:
    app, trace = open_part("lengths", token="4"), pipelines.run("text", SENTENCE)
    state, attention, ffn = (numbers(line["y"]) for line in chart(app, "norms")["data"])
    np.testing.assert_allclose(state, np.linalg.norm(trace.states()[:, 3], axis=-1), rtol=1e-5)
    for line, key in ((attention, "attention.output"), (ffn, "ffn.output")):
        np.testing.assert_allclose(line[1:], np.linalg.norm(trace.over_layers(key)[:, 3], axis=-1), rtol=1e-5)


@pytest.mark.parametrize(("part", "name"), [("attention", "Attention"), ("ffn", "The FFN")])
def test_of_a_sublayer_that_adds_nothing_no_layer_adds_most(part: str, name: str) -> None:
    said = texts(open_part("lengths", edits=f"layers.{{l}}.{part}.output~zero"))
    assert f"{name} adds nothing." in said and said.count(" adds most in layer ") == 1


@pytest.mark.parametrize("layer", [1, 2])
def test_the_rollout_and_the_mean_of_the_heads_are_those_of_the_layer(layer: int) -> None:
    app = open_part("origin", layer=str(layer), token="3", key="5")
    weights = pipelines.run("text", SENTENCE).over_layers("attention.weights")
    assert literal(f"{rollout(weights)[layer - 1, 2, 4]:.4f}") in texts(app), "by hand as in the picture"
    np.testing.assert_allclose(numbers(chart(app, "rollout")["data"][0]["z"]), rollout(weights)[layer - 1], atol=1e-6)
    np.testing.assert_allclose(numbers(chart(app, "raw")["data"][0]["z"]), weights[layer - 1].mean(0), atol=1e-6)
    assert ("which are mixtures already" in texts(app)) == (layer > 1), "the first layer reads the tokens themselves"


def test_of_words_that_stand_twice_it_says_which() -> None:
    sentence = "the dog saw the cat and the cat saw the dog ."
    trace = pipelines.run("text", sentence)
    weights, names = trace.over_layers("attention.weights"), trace.tokens
    for place in (place for place, name in enumerate(names) if name == "the"):
        said = texts(open_part("origin", s=sentence, token=str(place + 1))).replace("\\", "")
        assert said.count(f"“the ({place + 1})”") >= 3, "of the rollout, of the layer alone, and by hand"
        most = int(weights[1].mean(axis=0)[place].argmax())
        named = f"{names[most]} ({most + 1})" if names.count(names[most]) > 1 else names[most]
        assert f"“the ({place + 1})” looks most at “{named}”" in said


@pytest.mark.parametrize(
    ("sentence", "hidden", "answer", "said"),
    [
        ("the cat sat on the mat .", 2, "girl", "from layer 6 on; it was so before (after layer 4), and lost the lead"),
        ("the old man was very tired .", 5, "very", "before (after layer 2, after layer 3, after layer 4), and lost"),
        ("the cat sat on the mat .", 5, "the", "is the first guess from layer 2 on. The"),
    ],
)
def test_where_the_answer_led_before_and_lost_the_lead_both_are_said(
    sentence: str, hidden: int, answer: str, said: str
) -> None:
    app = open_part("lens", s=sentence, hidden=str(hidden + 1))
    first = [row[0] for row in chart(app, "guess")["data"][0]["text"]]
    assert first[-1] == answer
    found = texts(app).replace("\\", "")
    assert f"“{answer}”" in found and said in found, found


def test_the_word_that_is_followed_can_be_hidden_whole() -> None:
    app = open_part("lens", s="the zebroid sat", token="3")
    app.button(key="layers.hide").click().run()
    tokens = pipelines.run("text", "the zebroid sat").tokens
    choice = app.session_state["choice"]
    assert [places for places in whole_words(tokens) if 2 in places] == [list(choice.hidden)]
    assert choice.token == choice.hidden[0] and "layers.hide" not in [button.key for button in app.button]


@pytest.mark.parametrize(("former", "now"), [("lengths", "path"), ("out", "origin"), ("nowhere", "lens")])
def test_links_to_former_parts_open_the_nearest_one_without_a_remark(former: str, now: str) -> None:
    app = open_part(former, seen="layers")
    assert not app.warning and [one["key"] for one in charts(app)] == [one["key"] for one in charts(open_part(now))]
    assert ("either.layer" in [one.key for one in app.button_group]) == (now == "origin"), "where a layer matters"


def test_what_is_handed_on_is_what_the_next_layer_reads() -> None:
    app, trace = open_part("origin"), pipelines.run("text", SENTENCE)
    np.testing.assert_array_equal(numbers(chart(app, "norm_2")["data"][0]["z"]), trace.stream(2)[0])


@pytest.mark.parametrize("kind", ["text", "digits"])
def test_a_pre_norm_network_hands_on_its_sum_and_has_a_last_norm(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pipeline = pre_norm(kind)
    with_network(monkeypatch, pipeline)
    link = {"input": "digit"} if kind == "digits" else {}
    for panel in PANELS:
        app = open_part(panel, **link)
        if panel == "origin" and kind == "text":
            run = pipeline(SENTENCE)
            np.testing.assert_allclose(numbers(chart(app, "add_2")["data"][0]["z"]), run["layers.1.add_2"], atol=1e-5)
            np.testing.assert_allclose(numbers(chart(app, "norm")["data"][0]["z"]), run["norm"], atol=1e-5)


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize(
    "link", [{"s": "cat", "lang": "zh"}, {"input": "digit", "layer": "5"}, {"input": "flat"}, {"model": "paper"}]
)
def test_every_kind_of_input_opens(link: dict[str, str], panel: str) -> None:
    open_part(panel, **link)


@pytest.mark.parametrize(
    ("link", "first", "second"),
    [
        (
            {},
            r"X^{(l+1)} = \operatorname{LayerNorm}(X' + \text{FFN}(X'))",
            r"X' = \operatorname{LayerNorm}(X + \text{MHA}(X))",
        ),
        (
            {"symbols": "000"},
            r"Z_{l} = \operatorname{LayerNorm}(Z'_l + \text{FFN}(Z'_l))",
            r"Z'_l = \operatorname{LayerNorm}(Z_{l-1} + \text{MHA}(Z_{l-1}))",
        ),
    ],
)
def test_the_equation_of_the_layer_stands_above_in_a_notes_symbols_too(link: dict, first: str, second: str) -> None:
    said = "".join(shown.value for shown in open_part("path", **link).latex)
    assert 0 <= said.index(first) < said.index(second)


def test_the_equation_of_the_layer_knows_where_its_norms_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    with_network(monkeypatch, pre_norm("text"))
    said = "".join(shown.value for shown in open_part("path").latex)
    assert r"X^{(l+1)} = X' + \text{FFN}(\operatorname{LayerNorm}(X'))" in said


def test_the_equation_of_the_layer_scales_what_is_found_where_the_network_does(monkeypatch: pytest.MonkeyPatch) -> None:
    config = replace(PRESETS["text"], layers=2, d_ff=128, norm_first=True, layer_scale=True)
    with_network(
        monkeypatch, Pipeline("scaled", network_for(config).eval(), TextReader(load_tokenizer(), config.max_len))
    )
    said = "".join(shown.value for shown in open_part("path").latex)
    assert r"X^{(l+1)} = X' + \lambda' \odot \text{FFN}(\operatorname{LayerNorm}(X'))" in said
    assert r"X' = X + \lambda \odot \text{MHA}(\operatorname{LayerNorm}(X))" in said
