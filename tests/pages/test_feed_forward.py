"""The Feed-forward page: its pictures are the trace, one neuron adds up as displayed, and positions stay apart."""

import math
import re

import numpy as np
import pytest

from model.pipeline import SPECIAL_TOKENS
from pages.ui import session
from tests.pages.opening import assert_fine, figure, numbers, open_page, texts

SENTENCE = "the dog chased the cat ."
LONG = "the small dog and the old cat sat near a big house and saw many people on their way home . " * 4
HIDDEN, ACTIVATION, CURVE, SHARES, BEST, FIRES, UP, DOWN, OUTPUT, SHUFFLED, ALONE = range(11)


def displayed(cell: str) -> float:
    """A number as a table of terms writes it; a blank is no number."""
    return float(cell.replace("−", "-") or "nan")


@pytest.mark.parametrize("shown", ["most", "all", "sorted"])
def test_the_pictures_are_the_recorded_values(shown: str) -> None:
    app, trace = open_page("feed_forward", s=SENTENCE, layer="2"), session.run("text", SENTENCE)
    app.session_state["feed_forward.shown"] = shown
    app.run()
    assert_fine(app)
    for which, key in ((HIDDEN, "hidden"), (ACTIVATION, "activation")):
        picture, values = figure(app, which), trace[f"layers.1.ffn.{key}"]
        neurons = np.array(picture["layout"]["xaxis"]["ticktext"], dtype=int) - 1
        assert len(set(neurons)) == (128 if shown == "most" else 1024)
        cells = numbers(picture["data"][0]["z"])
        if shown == "most":
            np.testing.assert_array_equal(cells, values[:, neurons])
        else:
            limit = np.quantile(np.abs(values), 0.999)
            coloured = np.clip(values[:, neurons], -limit, limit)
            np.testing.assert_allclose((cells.astype(float) - 127) / 127 * limit, coloured, atol=limit / 253)
        if shown != "all":
            assert (np.diff(trace["layers.1.ffn.activation"].mean(0)[neurons]) <= 1e-6).all()
    np.testing.assert_array_equal(numbers(figure(app, OUTPUT)["data"][0]["z"]), trace["layers.1.ffn.output"])


@pytest.mark.parametrize(("token", "neuron", "component"), [(0, 1, 0), (4, 700, 17), (7, 1024, 255)])
def test_by_hand_re_adds_from_the_numbers_that_it_displays(token: int, neuron: int, component: int) -> None:
    app, trace = open_page("feed_forward", s=SENTENCE, layer="3"), session.run("text", SENTENCE)
    app.selectbox(key="token").set_value(token)
    app.number_input(key="neuron").set_value(neuron)
    app.selectbox(key="component").set_value(component).run()
    said = texts(app).replace("\\", "")
    for table, recorded in zip(
        app.dataframe,
        (trace["layers.2.ffn.hidden"][token, neuron - 1], trace["layers.2.ffn.output"][token, component]),
        strict=True,
    ):
        left, right, products = (table.value.iloc[:, column].map(displayed).to_numpy() for column in (1, 2, 3))
        np.testing.assert_allclose((left * right)[:10], products[:10], atol=6e-6)
        assert products[:-1].sum() == pytest.approx(products[-1], abs=1e-9)
        assert products[-1] == pytest.approx(recorded, abs=2e-5)
    u, phi, h = map(float, re.search(r"below u: (\S+) × (\S+) = \*\*(-?\d+\.\d+)\*\*", said).groups())
    assert u == displayed(app.dataframe[0].value.iloc[-1, 3])
    assert phi == pytest.approx(0.5 * (1 + math.erf(u / math.sqrt(2))), abs=1e-6)
    assert u * phi == pytest.approx(h, abs=6e-5)
    assert h == pytest.approx(trace["layers.2.ffn.activation"][token, neuron - 1], abs=1e-4)
    cell = float(re.search(r"Component \d+ of the output for .*: \*\*(\S+)\*\*", said)[1])
    assert cell == pytest.approx(displayed(app.dataframe[1].value.iloc[-1, 3]), abs=6e-5)


def test_by_hand_of_relu() -> None:
    app = open_page("feed_forward", input="flat")
    u, h = map(float, re.search(r"max\(0, (\S+)\) = \*\*(\S+)\*\*", texts(app).replace("\\", "")).groups())
    assert max(0, u) == pytest.approx(h, abs=6e-5)


def test_the_curve_holds_every_neuron_of_the_chosen_token() -> None:
    app, trace = open_page("feed_forward", s=SENTENCE, layer="2"), session.run("text", SENTENCE)
    app.selectbox(key="token").set_value(3).run()
    curve, points, chosen, bars = figure(app, CURVE)["data"]
    np.testing.assert_array_equal(numbers(points["x"]), trace["layers.1.ffn.hidden"][3])
    np.testing.assert_array_equal(numbers(points["y"]), trace["layers.1.ffn.activation"][3])
    assert numbers(bars["y"]).sum() == 1024
    drawn = np.interp(numbers(points["x"]), numbers(curve["x"]), numbers(curve["y"]))
    np.testing.assert_allclose(drawn, numbers(points["y"]), atol=2e-3)
    assert numbers(chosen["customdata"])[0] == app.number_input(key="neuron").value


def test_the_shares_of_open_leaking_and_silent_neurons_add_up_to_1() -> None:
    for link in ({"s": SENTENCE}, {"input": "flat"}):
        bars = figure(open_page("feed_forward", **link), SHARES)["data"]
        np.testing.assert_allclose(sum(numbers(bar["y"]) for bar in bars), 1, atol=1e-6)


def test_the_most_active_neurons_lead_and_a_neuron_stays_for_other_tokens_but_not_for_other_layers() -> None:
    app, trace = open_page("feed_forward", s=SENTENCE, layer="2"), session.run("text", SENTENCE)
    activation = trace["layers.1.ffn.activation"]
    np.testing.assert_array_equal(numbers(figure(app, BEST)["data"][0]["x"]), -np.sort(-activation[1])[:15])
    first = app.number_input(key="neuron").value
    assert first == activation[1].argmax() + 1
    np.testing.assert_array_equal(numbers(figure(app, FIRES)["data"][0]["y"]), activation[:, first - 1])
    app.selectbox(key="token").set_value(4).run()
    assert app.number_input(key="neuron").value == first
    app.sidebar.slider(key="layer").set_value(3).run()
    assert app.number_input(key="neuron").value == trace["layers.2.ffn.activation"][4].argmax() + 1


def test_the_words_pushed_are_the_extremes_of_all_words_but_no_special_tokens() -> None:
    text = session.pipeline("text")
    vocabulary = text.reader.vocabulary
    specials = [vocabulary.index(token) for token in SPECIAL_TOKENS]
    pushed = text.network.embedding.E.weight.numpy() @ text.network.layers[1].ffn.W_2.weight.numpy()
    neuron = int(pushed[specials].max(axis=0).argmax())  # the neuron that a special token would most likely lead
    scores = dict(zip(vocabulary, pushed[:, neuron], strict=True))
    ranked = sorted((score for word, score in scores.items() if word not in SPECIAL_TOKENS), reverse=True)

    app = open_page("feed_forward", s=SENTENCE, layer="2")
    app.number_input(key="neuron").set_value(neuron + 1).run()
    np.testing.assert_allclose(numbers(figure(app, UP)["data"][0]["x"]), ranked[:10], atol=1e-5)
    np.testing.assert_allclose(numbers(figure(app, DOWN)["data"][0]["x"]), ranked[:-11:-1], atol=1e-5)
    words = figure(app, UP)["layout"]["yaxis"]["ticktext"]
    assert [scores[word] for word in words] == pytest.approx(ranked[:10], abs=1e-5)


@pytest.mark.parametrize(("link", "classes"), [({"input": "digit"}, 10), ({"input": "flat"}, 2)])
def test_a_picture_s_neurons_push_classes(link: dict[str, str], classes: int) -> None:
    app = open_page("feed_forward", **link)
    assert len(numbers(figure(app, UP)["data"][0]["x"])) == classes


def test_shuffled_tokens_come_out_shuffled_and_again_makes_another_order() -> None:
    app = open_page("feed_forward", s="the old dog chased one small cat .", layer="2")
    trace = session.run("text", "the old dog chased one small cat .")
    orders = []
    for _ in range(2):
        picture = figure(app, SHUFFLED)
        order = [trace.tokens.index(token) for token in picture["layout"]["yaxis"]["ticktext"]]
        rows = numbers(picture["data"][0]["z"])
        np.testing.assert_allclose(rows, trace["layers.1.ffn.output"][order], atol=1e-5)
        orders.append(order)
        app.button(key="feed_forward.again").click().run()
    assert orders[0] != orders[1]
    ffn, attention = (numbers(bar["y"]) for bar in figure(app, ALONE)["data"])
    assert ffn.max() < 1e-4 < attention.min()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "link", [{"s": "cat"}, {"s": LONG}, {"input": "digit", "layer": "5"}, {"input": "flat"}, {"model": "paper"}]
)
def test_every_kind_of_input_opens(link: dict[str, str], lang: str) -> None:
    open_page("feed_forward", lang=lang, **link)


@pytest.mark.parametrize("shown", ["most", "all", "sorted"])
def test_the_pictures_of_32_tokens_stay_below_500_kb(shown: str) -> None:
    app = open_page("feed_forward", s=" ".join(LONG.split()[:30]))
    app.session_state["feed_forward.shown"] = shown
    app.run()
    assert sum(len(chart.proto.spec) for chart in app.get("plotly_chart")) < 500_000


def test_a_neuron_s_number_is_taken_back_where_the_network_has_fewer() -> None:
    app = open_page("feed_forward", s=SENTENCE)
    app.number_input(key="neuron").set_value(1024).run()
    app.session_state["input"] = "flat"
    app.run()
    assert_fine(app)
    assert app.number_input(key="neuron").value <= 256
