"""The Layers page: its pictures follow from the trace, the lens ends in the answer, and the arithmetic adds up."""

import json
import re

import numpy as np
import pytest

from model.analysis import rollout
from pages.ui import session
from tests.pages.opening import assert_fine, figure, numbers, open_page, texts

SENTENCE = "the dog chased the [MASK] ."
PATH, GUESS, SIMILARITY, TILES, NORMS, ROLLOUT, RAW, OUT = range(8)


def shown(app, which: int, trace: int = 0) -> np.ndarray:
    return numbers(figure(app, which)["data"][trace]["z"])


def states_of(trace) -> np.ndarray:
    return np.stack([trace.layer_input(layer) for layer in range(trace.config.layers + 1)])


@pytest.mark.parametrize("layer", [1, 4, 6])
def test_similarity_is_the_cosine_of_what_the_layer_hands_on(layer: int) -> None:
    app = open_page("layers", s=SENTENCE, layer=str(layer))
    out = session.run("text", SENTENCE)[f"layers.{layer - 1}.norm_2"]
    lengths = np.linalg.norm(out, axis=1)
    np.testing.assert_allclose(shown(app, SIMILARITY), out @ out.T / np.outer(lengths, lengths), atol=1e-5)
    np.testing.assert_array_equal(shown(app, OUT), out)


def test_distances_in_the_plane_never_exceed_the_true_ones() -> None:
    app = open_page("layers", s=SENTENCE)
    states = states_of(session.run("text", SENTENCE)).reshape(-1, 256)
    dots = figure(app, PATH)["data"][1]
    points = np.stack([numbers(dots["x"]), numbers(dots["y"])], axis=1)
    true = np.linalg.norm(states[:, None] - states, axis=-1)
    assert (np.linalg.norm(points[:, None] - points, axis=-1) <= true + 1e-3).all()
    share = float(re.search(r"The plane holds (\d+)%", texts(app).replace("\\", ""))[1]) / 100
    assert points.var(0).sum() / states.var(0).sum() == pytest.approx(share, abs=0.0051)


def test_the_guess_after_the_last_layer_is_the_answer_of_the_network() -> None:
    app = open_page("layers", s=SENTENCE)
    trace = session.run("text", SENTENCE)
    guess = trace.answer[0]
    assert app.selectbox(key="token").value == trace.tokens.index("[MASK]") == guess.token
    cells = figure(app, GUESS)["data"][0]
    assert tuple(cells["text"][-1]) == guess.labels[:5]
    np.testing.assert_allclose(numbers(cells["z"])[-1], guess.probabilities[:5], atol=1e-6)
    assert len(cells["text"]) == 7


def test_which_layer_first_knew_is_read_off_the_guesses() -> None:
    for sentence in (SENTENCE, "我[MASK]你。", "the cat sat on the [MASK] ."):
        app = open_page("layers", s=sentence)
        best = [row[0] for row in figure(app, GUESS)["data"][0]["text"]]
        knew = next(layer for layer in range(7) if len(set(best[layer:])) == 1)
        text = texts(app).replace("\\", "")
        expected = {0: "from the very start", 6: "Only the last layer, 6"}.get(
            knew, f"first guess from layer {knew} on"
        )
        assert expected in text


def test_a_classifier_is_read_after_each_layer_too() -> None:
    app = open_page("layers", input="digit")
    probabilities = shown(app, GUESS)
    assert probabilities.shape == (6, 10)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-4)
    app.selectbox(key="token").set_value(40).run()
    np.testing.assert_array_equal(shown(app, GUESS), probabilities)  # it reads [CLS], whoever is followed


def test_rollout_and_raw_attention_are_of_the_chosen_layer() -> None:
    app = open_page("layers", s=SENTENCE, layer="3")
    trace = session.run("text", SENTENCE)
    weights = np.stack([trace[f"layers.{layer}.attention.weights"] for layer in range(6)])
    np.testing.assert_allclose(shown(app, ROLLOUT), rollout(weights)[2], atol=1e-6)
    np.testing.assert_allclose(shown(app, RAW), weights[2].mean(0), atol=1e-6)


def test_lengths_are_those_of_the_followed_token() -> None:
    app = open_page("layers", s=SENTENCE)
    app.selectbox(key="token").set_value(3).run()
    trace = session.run("text", SENTENCE)
    state, attention, ffn = (numbers(line["y"]) for line in figure(app, NORMS)["data"])
    np.testing.assert_allclose(state, np.linalg.norm(states_of(trace)[:, 3], axis=1), rtol=1e-5)
    for layer in range(6):
        assert attention[layer + 1] == pytest.approx(
            np.linalg.norm(trace[f"layers.{layer}.attention.output"][3]), rel=1e-5
        )
        assert ffn[layer + 1] == pytest.approx(np.linalg.norm(trace[f"layers.{layer}.ffn.output"][3]), rel=1e-5)


@pytest.mark.parametrize(("token", "other"), [(2, 5), (0, 7), (4, 4)])
def test_the_cosine_by_hand_re_adds_from_the_numbers_that_it_displays(token: int, other: int) -> None:
    app = open_page("layers", s=SENTENCE, layer="2")
    app.selectbox(key="token").set_value(token)
    app.selectbox(key="other").set_value(other).run()
    assert_fine(app)
    table = app.dataframe[0].value.round(4)
    np.testing.assert_allclose(table["a"] * table["b"], table["a · b"], atol=1e-3)
    np.testing.assert_allclose(table["a"] ** 2, table["a²"], atol=1e-3)
    text = texts(app).replace("\\", "")
    said = re.search(r"The columns add up to (.*?)\*\*(-?\d\.\d+)\*\*", text)
    dot, aa, bb, a, b, *again = (float(number) for number in re.findall(r"-?\d+\.\d{4}", said[1]))
    cosine = float(said[2])
    rounding = 256 * 5e-5 + 1e-4
    assert table["a · b"].sum() == pytest.approx(dot, abs=rounding)
    assert table["a²"].sum() == pytest.approx(aa, abs=rounding)
    assert table["b²"].sum() == pytest.approx(bb, abs=rounding)
    assert (a**2, b**2) == (pytest.approx(aa, abs=1e-2), pytest.approx(bb, abs=1e-2))
    assert again == [dot, a, b]
    assert dot / (a * b) == pytest.approx(cosine, abs=1e-4)
    assert cosine == pytest.approx(shown(app, SIMILARITY)[token, other], abs=1e-4)


@pytest.mark.parametrize(("layer", "query", "key"), [(1, 2, 2), (1, 0, 3), (5, 4, 1)])
def test_the_rollout_by_hand_re_adds_from_the_numbers_that_it_displays(layer: int, query: int, key: int) -> None:
    app = open_page("layers", s=SENTENCE, layer=str(layer))
    app.selectbox(key="query").set_value(query)
    app.selectbox(key="key").set_value(key).run()
    assert_fine(app)
    average, mixed, before, product = (
        app.dataframe[1].value.iloc[:, column].round(4).to_numpy() for column in range(1, 5)
    )
    own = np.arange(len(average)) == query
    np.testing.assert_allclose(average / 2 + own / 2, mixed, atol=1e-4)
    np.testing.assert_allclose(mixed * before, product, atol=2e-4)
    said = float(re.search(r"after layer \d+: \*\*(\d\.\d+)\*\*", texts(app).replace("\\", ""))[1])
    assert product.sum() == pytest.approx(said, abs=len(product) * 5e-5 + 1e-4)
    assert said == pytest.approx(shown(app, ROLLOUT)[query, key], abs=1e-4)


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("link", [{"s": "a"}, {"s": "word " * 70}, {"input": "digit"}, {"input": "flat"}])
def test_every_kind_of_input_fills_the_page(language: str, link: dict[str, str]) -> None:
    app = open_page("layers", **({"lang": language} | link))
    assert len(app.get("plotly_chart")) == 8
    for chart in app.get("plotly_chart"):
        assert json.loads(chart.proto.spec)["data"]


def test_choosing_another_layer_or_token_runs_no_encoder() -> None:
    app = open_page("layers", s=SENTENCE)
    network = session.pipeline("text").network
    runs = []
    handles = [module.register_forward_hook(lambda *_: runs.append(1)) for module in (network, network.layers[0])]
    try:
        for layer, token in ((2, 3), (6, 1)):
            app.session_state["layer"], app.session_state["token"] = layer, token
            app.run()
            assert_fine(app)
    finally:
        for handle in handles:
            handle.remove()
    assert not runs


def test_guesses_of_one_sentence_are_not_shown_for_another() -> None:
    first = open_page("layers", s=SENTENCE)
    second = open_page("layers", s="我[MASK]你。")
    second.text_input(key="s").set_value(SENTENCE).run()
    second.selectbox(key="token").set_value(first.selectbox(key="token").value).run()
    assert figure(first, GUESS)["data"][0]["text"] == figure(second, GUESS)["data"][0]["text"]


def test_pictures_are_light_enough_for_a_classroom() -> None:
    app = open_page("layers", s="word " * 30)
    assert sum(len(chart.proto.spec) for chart in app.get("plotly_chart")) < 500_000


def test_a_new_sentence_is_followed_at_its_hidden_word() -> None:
    app = open_page("layers", s="the dog chased the cat .")
    app.selectbox(key="token").set_value(2).run()
    app.sidebar.text_input(key="s").set_value("the cat sat on the [MASK] .").run()
    assert app.selectbox(key="token").value == 6
    app.selectbox(key="token").set_value(3).run()
    app.sidebar.slider(key="layer").set_value(4).run()
    assert app.selectbox(key="token").value == 3, "what the reader chose stays"
