"""The Feed-forward page: its pictures are the trace, one neuron adds up as displayed, and positions stay apart."""

import numpy as np
import pytest
import torch

from model import Edit
from model.analysis import softmax
from model.pipeline import SPECIAL_TOKENS
from model.tables import neuron_contexts
from model.without import answers, ffn_off
from pages.ui.runs import pipelines
from pages.ui.state.link_values import edit_code
from pages.ui.text import LANGUAGES, catalogue, literal
from tests.pages.opening import assert_fine, charts, figure, numbers, open_page, pre_norm, steps, texts, with_network

SENTENCE = "the dog chased the cat ."
LONG = "the small dog and the old cat sat near a big house and saw many people on their way home . " * 4
PANELS = ("maps", "curve", "neuron", "writes", "output", "alone", "without")


def open_part(panel: str, **link: str):
    return open_page("feed_forward", **{"s": SENTENCE, "layer": "2", "panel": panel, **link})


@pytest.mark.parametrize("order", ["most", "all", "sorted"])
def test_the_maps_are_the_recorded_values_in_the_order_asked_for(order: str) -> None:
    app, trace = open_part("maps", order=order), pipelines.run("text", SENTENCE)
    busiest = np.argsort(-trace["layers.1.ffn.activation"].mean(0), kind="stable")
    neurons = {"most": busiest[:128], "all": np.arange(1024), "sorted": busiest}[order]
    for which, key in enumerate(("hidden", "activation")):
        picture = figure(app, which)
        np.testing.assert_array_equal(numbers(picture["data"][0]["z"]), trace[f"layers.1.ffn.{key}"][:, neurons])
        named = picture["layout"]["xaxis"]
        assert [str(neurons[place] + 1) for place in named["tickvals"]] == named["ticktext"]


@pytest.mark.parametrize(("stage", "key"), [("hidden", "hidden"), ("activation", "activation")])
def test_the_arithmetic_of_the_chosen_neuron_ends_with_what_was_recorded(stage: str, key: str) -> None:
    app, trace = open_part("maps", token="5", neuron="700", stage=stage), pipelines.run("text", SENTENCE)
    value = trace[f"layers.1.ffn.{key}"][4, 699]
    assert f"{value:.4f}".replace("-", "−") in texts(app).replace("\\", "")
    assert float(steps(app)[-1].rsplit("=", 1)[-1]) == pytest.approx(value, abs=2e-5)


def test_relu_is_worked_out_as_relu() -> None:
    app = open_part("maps", input="flat", layer="1")
    assert any(r"\max" in line for line in steps(app))


def test_the_curve_holds_every_neuron_of_the_selected_token() -> None:
    app, trace = open_part("curve", token="4", neuron="3"), pipelines.run("text", SENTENCE)
    curve, points, chosen, bars = figure(app)["data"]
    np.testing.assert_array_equal(numbers(points["x"]), trace["layers.1.ffn.hidden"][3])
    np.testing.assert_array_equal(numbers(points["y"]), trace["layers.1.ffn.activation"][3])
    assert numbers(bars["y"]).sum() == 1024
    drawn = np.interp(numbers(points["x"]), numbers(curve["x"]), numbers(curve["y"]))
    np.testing.assert_allclose(drawn, numbers(points["y"]), atol=2e-3)
    assert numbers(chosen["customdata"])[0] == 3


def test_the_shares_of_open_leaking_and_silent_neurons_add_up_to_1() -> None:
    for link in ({}, {"input": "flat", "layer": "1"}):
        bars = figure(open_part("curve", **link), 1)["data"]
        np.testing.assert_allclose(sum(numbers(bar["y"]) for bar in bars), 1, atol=1e-6)


def test_the_most_active_neurons_lead_and_the_first_of_them_is_chosen() -> None:
    app, activation = open_part("neuron"), pipelines.run("text", SENTENCE)["layers.1.ffn.activation"]
    np.testing.assert_array_equal(numbers(figure(app)["data"][0]["x"]), -np.sort(-activation[1])[:15])
    best = int(activation[1].argmax())
    np.testing.assert_array_equal(numbers(figure(app, 1)["data"][0]["x"]), activation[:, best])
    assert app.number_input(key="pick.neuron").value == best + 1
    app.number_input(key="pick.neuron").set_value(17).run()
    np.testing.assert_array_equal(numbers(figure(app, 1)["data"][0]["x"]), activation[:, 16])


def test_what_fires_a_neuron_over_the_corpus_is_shown_by_strength_with_what_it_writes() -> None:
    contexts = neuron_contexts("text", 1, 99)
    app = open_part("neuron", neuron="100")
    said = texts(app)
    for context in (*contexts.top, *contexts.middle, *contexts.low):
        assert f":blue[**{literal(context.tokens[context.place])}**]" in said
        assert f" | {context.activation:.2f} |" in said
    assert f"{contexts.active:.1%}" in said.replace("\\", "")
    text = pipelines.pipeline("text")
    scores = text.network.embedding.E.weight.numpy() @ text.network.layers[1].ffn.W_2.weight.numpy()[:, 99]
    ranked = [text.reader.vocabulary[i] for i in np.argsort(-scores)]
    best = [word for word in ranked if word not in SPECIAL_TOKENS][:5]
    assert "towards " + ", ".join(best) in said.replace("\\", "")


def test_where_nothing_was_measured_of_neurons_it_says_so() -> None:
    for link in ({"input": "digit"}, {"model": "paper"}):
        assert catalogue("en")["neuron.not_measured"] in texts(open_part("neuron", **link))


@pytest.mark.parametrize("panel", ["curve", "neuron", "writes", "alone"])
def test_two_pictures_side_by_side_stand_level(panel: str) -> None:
    above = []
    for column in open_part(panel).columns[-2:]:
        kinds = [[part.type, *(inner.type for inner in getattr(part, "children", {}).values())]
                 for part in column.children.values()]  # fmt: skip
        above.append(kinds[: kinds.index(["bidi_component"])])
    assert above[0] == above[1] == [["markdown"]]  # a title, and nothing else


def test_the_words_pushed_are_the_extremes_of_all_words_but_no_special_tokens() -> None:
    text = pipelines.pipeline("text")
    vocabulary = text.reader.vocabulary
    specials = [vocabulary.index(token) for token in SPECIAL_TOKENS]
    pushed = text.network.embedding.E.weight.numpy() @ text.network.layers[1].ffn.W_2.weight.numpy()
    neuron = int(pushed[specials].max(axis=0).argmax())  # the neuron that a special token would most likely lead
    scores = dict(zip(vocabulary, pushed[:, neuron], strict=True))
    ranked = sorted((score for word, score in scores.items() if word not in SPECIAL_TOKENS), reverse=True)

    app = open_part("writes", neuron=str(neuron + 1))
    np.testing.assert_allclose(numbers(figure(app)["data"][0]["x"]), ranked[:10], atol=1e-5)
    np.testing.assert_allclose(numbers(figure(app, 1)["data"][0]["x"]), ranked[:-11:-1], atol=1e-5)
    words = figure(app)["layout"]["yaxis"]["ticktext"]
    assert [scores[word] for word in words] == pytest.approx(ranked[:10], abs=1e-5)


@pytest.mark.parametrize(("link", "classes"), [({"input": "digit"}, 10), ({"input": "flat", "layer": "1"}, 2)])
def test_a_picture_s_neurons_push_classes(link: dict[str, str], classes: int) -> None:
    assert len(numbers(figure(open_part("writes", **link))["data"][0]["x"])) == classes


def test_shuffled_tokens_come_out_shuffled_and_again_makes_another_order() -> None:
    sentence = "the old dog chased one small cat ."
    app, trace = open_part("alone", s=sentence), pipelines.run("text", sentence)
    orders = []
    for _ in range(2):
        picture = figure(app)
        order = [trace.tokens.index(token) for token in picture["layout"]["yaxis"]["ticktext"]]
        rows = numbers(picture["data"][0]["z"])
        np.testing.assert_allclose(rows, trace["layers.1.ffn.output"][order], atol=1e-5)
        orders.append(order)
        app.button(key="feed_forward.again").click().run()
    assert orders[0] != orders[1]
    ffn, attention = (numbers(bar["y"]) for bar in figure(app, 1)["data"])
    assert ffn.max() < 1e-4 < attention.min()


@pytest.mark.parametrize("kind", ["text", "digits"])
def test_pre_norm_reads_the_normalised_stream_and_the_arithmetic_still_adds_up(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipeline = pre_norm(kind)
    with_network(monkeypatch, pipeline)
    link = {"input": "digit"} if kind == "digits" else {}
    for panel in PANELS:
        app = open_part(panel, **link, stage="hidden", token="2", neuron="9")
        if panel == "maps":
            value = float(steps(app)[-1].rsplit("=", 1)[-1])
            run = pipeline(SENTENCE) if kind == "text" else None
            if run is not None:
                assert value == pytest.approx(run["layers.1.ffn.hidden"][1, 8], abs=2e-4)


@pytest.mark.parametrize("panel", PANELS)
@pytest.mark.parametrize(
    "link",
    [{"s": "cat"}, {"s": LONG, "lang": "zh"}, {"input": "digit", "layer": "5"}, {"input": "flat"}, {"model": "paper"}],
)
def test_every_kind_of_input_opens(link: dict[str, str], panel: str) -> None:
    open_part(panel, **link)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_story_has_one_picture_and_few_words(lang: str) -> None:
    app = open_page("feed_forward", s=SENTENCE, depth="story", lang=lang, layer="3", neuron="749")
    assert len(charts(app)) == 1
    assert "W_" not in texts(app)
    contexts = neuron_contexts("text", 2, 748)
    assert contexts is not None
    fired = {context.tokens[context.place] for context in contexts.top}
    said = [text.value for text in app.markdown if "749" in text.value]
    assert any(all(f"“{piece}”" in line for piece in fired) for line in said), said


def test_a_neuron_s_number_is_taken_back_where_the_network_has_fewer() -> None:
    app = open_part("neuron", neuron="1024")
    app.session_state["input"] = "flat"
    app.run()
    assert_fine(app)
    assert app.number_input(key="pick.neuron").value <= 256


HIDDEN = "the animal [MASK] not cross the street because it was too tired ."


@pytest.mark.parametrize(("sentence", "token"), [(SENTENCE, 2), (HIDDEN, 4)])
def test_without_ffn_the_first_guesses_are_those_of_the_changed_runs(sentence: str, token: int) -> None:
    app = open_part("without", s=sentence, token=str(token), layer="3")
    pipeline = pipelines.pipeline("text")
    rows = [pipeline(sentence, row)["logits"][token - 1] for row in ffn_off(pipeline.graph, 2)]
    words = pipeline.reader.vocabulary
    drawn = figure(app)
    names = drawn["layout"]["xaxis"]["ticktext"]
    for trace, row in zip(drawn["data"], rows, strict=True):
        best = words[int(row.argmax())]
        assert best in names and f"“{best}”" in texts(app).replace("\\", "")
        p = numbers(trace["y"])
        assert names[int(p.argmax())] == best and p.max() == pytest.approx(softmax(row).max(), abs=1e-3)


def test_what_stays_the_first_guess_without_ffn_is_not_said_to_change() -> None:
    said, pipeline = {}, pipelines.pipeline("text")
    for layer in range(1, 7):
        whole, one, _ = answers(pipeline, HIDDEN, ffn_off(pipeline.graph, layer - 1), 3).best
        said[layer] = "stays" in texts(open_part("without", s=HIDDEN, token="4", layer=str(layer)))
        assert said[layer] == (whole == one)
    assert len(set(said.values())) == 2


def test_a_reader_s_own_change_is_part_of_the_run_without_ffn() -> None:
    edit = Edit("layers.{l}.ffn.output", "zero")
    app = open_part("without", s=HIDDEN, token="4", edits=edit_code(edit))
    bars = [numbers(trace["y"]) for trace in figure(app)["data"]]
    np.testing.assert_allclose(bars[0], bars[2], atol=1e-5)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_the_storys_bend_has_each_neuron_of_the_token_and_says_how_low_it_goes(lang: str) -> None:
    app = open_page("feed_forward", depth="story", lang=lang)
    if lang == "zh":  # of its sentence it is not asked, but can be tried
        app.session_state["feed_forward.try.thinks"] = True
        app.run()
    else:
        app.button(key="feed_forward.ask_besides").click().run().button(key="feed_forward.show").click().run()
    assert_fine(app)
    (drawn,) = [chart["figure"] for chart in charts(app) if chart["key"] == "feed_forward.bend"]
    u, h = (numbers(drawn["data"][1][axis]) for axis in "xy")
    np.testing.assert_allclose(h, torch.nn.functional.gelu(torch.tensor(u)), atol=1e-4)
    said = texts(app).replace("\\", "")
    assert "1024" in said.replace(",", "") and f"{(u < 0).sum()}" in said and "−0.17" in said
