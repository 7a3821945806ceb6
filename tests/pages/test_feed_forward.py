"""The Feed-forward page: its pictures are the trace, one neuron adds up as displayed, and positions stay apart."""

import html
from dataclasses import replace

import numpy as np
import pytest
import torch

from model import Edit, Pipeline
from model.analysis import softmax
from model.config import PRESETS
from model.heads import network_for
from model.loading import load_tokenizer
from model.measures.tables import neuron_contexts
from model.measures.without import answers, ffn_off
from model.neurons import pushes
from model.pipeline import SPECIAL_TOKENS, TextReader
from pages.feed_forward.pictures import curve
from pages.ui.place import Place
from pages.ui.runs import pipelines
from pages.ui.state.link_values import edit_code
from pages.ui.text import literal
from pages.ui.text.numbers import four_decimals
from tests.networks import trace_of
from tests.pages.opening import (
    assert_fine,
    chart,
    drawn_in,
    figure,
    numbers,
    open_page,
    said,
    texts,
    with_network,
)

SENTENCE = "the dog chased the cat ."
LONG = "the small dog and the old cat sat near a big house and saw many people on their way home . " * 4


def open_part(panel: str, **link: str):
    return open_page("feed_forward", **{"s": SENTENCE, "layer": "2", "panel": panel, **link})


@pytest.mark.parametrize("link", [{"neuron": "1000"}, {"s": LONG}])
def test_the_band_holds_what_comes_in_the_neurons_and_what_is_added(link: dict) -> None:
    app, trace = open_part("maps", **link), pipelines.run("text", link.get("s", SENTENCE))
    drawn = chart(app, "flow")
    entering, fed, output = (numbers(one["z"]) for one in drawn["data"] if one["type"] == "heatmap")
    np.testing.assert_array_equal(entering, trace["layers.1.norm_1"])
    np.testing.assert_array_equal(output, trace["layers.1.ffn.output"])
    activation = trace["layers.1.ffn.activation"]
    pairs = activation.reshape(len(activation), -1, 2)  # two neurons share a column: the one further from 0
    further = np.take_along_axis(pairs, np.abs(pairs).argmax(axis=2, keepdims=True), axis=2)[..., 0]
    np.testing.assert_array_equal(fed, further)
    clicks = numbers(drawn["data"][3]["customdata"])  # of the neurons: matrix, row, column
    assert (clicks[:, 0] == 1).all() and set(clicks[:, 1]) == set(range(len(activation)))
    assert drawn["data"][3]["text"] == four_decimals(activation[clicks[:, 1], clicks[:, 2]])
    assert {*activation.argmax(axis=1), int(link.get("neuron", 1 + activation[1].argmax())) - 1} <= {*clicks[:, 2]}


@pytest.mark.parametrize("link", [{}, {"input": "digit", "layer": "3", "token": "9"}])
def test_it_counts_the_neurons_that_fire_at_the_token(link: dict[str, str]) -> None:
    app = open_part("maps", **link)
    choice = app.session_state["choice"]
    trace = pipelines.run(choice.pipeline, choice.subject)
    token = choice.token or (0 if trace.picture is not None else 1)
    loud = (trace[f"layers.{choice.layer}.ffn.activation"][token] > 0.1).sum()
    read = said(app)
    assert f", {loud} of the " in read


def test_the_curve_holds_every_neuron_of_the_selected_token() -> None:
    app, trace = open_part("curve", token="4", neuron="3"), pipelines.run("text", SENTENCE)
    curve, points, chosen = chart(app, "curve")["data"]
    np.testing.assert_array_equal(numbers(points["x"]), trace["layers.1.ffn.hidden"][3])
    np.testing.assert_array_equal(numbers(points["y"]), trace["layers.1.ffn.activation"][3])
    drawn = np.interp(numbers(points["x"]), numbers(curve["x"]), numbers(curve["y"]))
    np.testing.assert_allclose(drawn, numbers(points["y"]), atol=2e-3)
    assert numbers(chosen["customdata"])[0] == 3


def test_the_most_active_neurons_lead_with_the_words_that_each_points_towards() -> None:
    app, activation = open_part("maps"), pipelines.run("text", SENTENCE)["layers.1.ffn.activation"]
    best, pipeline = chart(app, "best"), pipelines.pipeline("text")
    np.testing.assert_array_equal(numbers(best["data"][0]["x"]), -np.sort(-activation[1])[:6])
    order = np.argsort(-activation[1], kind="stable")[:6]
    for name, neuron in zip(best["layout"]["yaxis"]["ticktext"], order, strict=True):
        words, number = html.unescape(name).rsplit(" · ", 1)
        score = dict(zip(pipeline.reader.vocabulary, pushes(pipeline.network, 1, int(neuron)), strict=True))
        ranked = sorted((word for word in score if word.isascii() and word[:2] != "##"), key=lambda word: -score[word])
        assert int(number) == neuron + 1
        assert words.split(", ") == [word for word in ranked[:9] if word not in SPECIAL_TOKENS][:3]
    assert app.number_input(key="pick.neuron").value == order[0] + 1
    app.number_input(key="pick.neuron").set_value(17).run()
    np.testing.assert_array_equal(drawn_in(app, "fires"), activation[:, 16])


@pytest.mark.parametrize(("name", "told"), [("trained text", True), ("gated words", False)])
def test_two_matrices_are_said_to_be_one_only_where_no_gate_multiplies_them(name: str, told: bool) -> None:
    run = trace_of(name)
    one = f"would be one {run.config.d_model} × {run.config.d_model} matrix"
    assert (one in curve(run, Place(layer=0, head=0, token=1)).says()) == told


def test_what_fires_a_neuron_over_the_corpus_is_shown_by_strength() -> None:
    contexts = neuron_contexts("text", 1, 99)
    app = open_part("neuron", neuron="100")
    said = texts(app)
    for context in (*contexts.top, *contexts.middle, *contexts.low):
        assert f":blue[**{literal(context.tokens[context.place])}**]" in said
        assert f" | {context.activation:.2f} |" in said
    assert f"{contexts.active:.1%}" in said.replace("\\", "")


def test_the_words_pushed_are_the_extremes_of_all_words_but_no_special_tokens() -> None:
    text = pipelines.pipeline("text")
    vocabulary = text.reader.vocabulary
    specials = [vocabulary.index(token) for token in SPECIAL_TOKENS]
    pushed = text.network.embedding.E.weight.numpy() @ text.network.layers[1].ffn.W_2.weight.numpy()
    neuron = int(pushed[specials].max(axis=0).argmax())  # the neuron that a special token would most likely lead
    scores = dict(zip(vocabulary, pushed[:, neuron], strict=True))
    ranked = sorted((score for word, score in scores.items() if word not in SPECIAL_TOKENS), reverse=True)

    app = open_part("writes", neuron=str(neuron + 1))
    np.testing.assert_allclose(drawn_in(app, "up"), ranked[:10], atol=1e-5)
    np.testing.assert_allclose(drawn_in(app, "down"), ranked[:-11:-1], atol=1e-5)
    words = chart(app, "up")["layout"]["yaxis"]["ticktext"]
    assert [scores[word] for word in words] == pytest.approx(ranked[:10], abs=1e-5)


def test_a_neuron_s_number_is_taken_back_where_the_network_has_fewer() -> None:
    app = open_part("neuron", neuron="1024")
    app.session_state["input"] = "flat"
    app.run()
    assert_fine(app)
    assert app.number_input(key="pick.neuron").value <= 256


HIDDEN = "the animal [MASK] not cross the street because it was too tired ."


@pytest.mark.parametrize(("sentence", "token"), [(HIDDEN, 4)])
def test_without_ffn_the_first_guesses_are_those_of_the_changed_runs(sentence: str, token: int) -> None:
    app = open_part("without", s=sentence, token=str(token), layer="3")
    pipeline = pipelines.pipeline("text")
    rows = [pipeline(sentence, row)["logits"][token - 1] for row in ffn_off(pipeline.graph, 2)]
    words = pipeline.reader.vocabulary
    drawn = figure(app)
    names = drawn["layout"]["xaxis"]["ticktext"]
    for trace, row in zip(drawn["data"], rows, strict=True):
        best = words[int(row.argmax())]
        assert best in names and f"“{best}”" in said(app)
        p = numbers(trace["y"])
        assert names[int(p.argmax())] == best and p.max() == pytest.approx(softmax(row).max(), abs=1e-3)


def test_what_stays_the_first_guess_without_ffn_is_not_said_to_change() -> None:
    said, pipeline = {}, pipelines.pipeline("text")
    for layer in (5, 6):
        whole, one, _ = answers(pipeline, HIDDEN, ffn_off(pipeline.graph, layer - 1), 3).best
        said[layer] = "stays" in texts(open_part("without", s=HIDDEN, token="4", layer=str(layer)))
        assert said[layer] == (whole == one)
    assert len(set(said.values())) == 2


def test_a_reader_s_own_change_is_part_of_the_run_without_ffn() -> None:
    edit = Edit("layers.{l}.ffn.output", "zero")
    app = open_part("without", s=HIDDEN, token="4", edits=edit_code(edit))
    bars = [numbers(trace["y"]) for trace in figure(app)["data"]]
    np.testing.assert_allclose(bars[0], bars[2], atol=1e-5)


@pytest.mark.parametrize(("activation", "least"), [("relu", "0.00"), ("silu", "-0.28")])
def test_it_says_how_low_the_activation_function_goes(
    activation: str, least: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = replace(PRESETS["text"], layers=2, d_ff=128, activation=activation)
    with_network(monkeypatch, Pipeline("x", network_for(config).eval(), TextReader(load_tokenizer(), config.max_len)))
    app = open_part("maps")
    u, h = (numbers(chart(app, "curve")["data"][1][axis]) for axis in "xy")
    act = {"gelu": torch.nn.functional.gelu, "relu": torch.relu, "silu": torch.nn.functional.silu}[activation]
    np.testing.assert_allclose(h, act(torch.tensor(u)), atol=1e-4)
    read = said(app)
    assert f"{(u < 0).sum()} of the 128 neurons lie below 0" in read and f"never goes under {least}" in read
