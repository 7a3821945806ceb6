"""Home: the answer in words, the small pictures and the table of shapes say what was computed."""

import json
import re

import numpy as np
import pytest

from model import WeightsError, load
from pages.ui import session
from pages.ui.components import diagram
from pages.ui.text import LANGUAGES
from tests.pages.opening import assert_fine, figure, numbers, open_page, texts

MASKED = "the cat sat on the [MASK] ."
THIRTY_TWO = "the cat sat on the mat . " * 4 + "i love"  # 30 pieces between [CLS] and [SEP]


def shown(app) -> str:
    """All Markdown of the page without the backslashes that keep signs literal."""
    return texts(app).replace("\\", "")


def thumbnails(app) -> dict[str, np.ndarray]:
    """The small pictures by their symbol."""
    drawn = figure(app)
    titles = [re.sub(r"<[^>]+>", "", title["text"]).split()[0] for title in drawn["layout"]["annotations"]]
    return dict(zip(titles, (numbers(trace["z"]) for trace in drawn["data"]), strict=True))


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("kind", ["sentence", "digit", "flat"])
def test_opens_filled_for_every_input(kind: str, language: str) -> None:
    app = open_page("home", input=kind, lang=language)
    assert app.get("bidi_component") and app.get("plotly_chart")
    assert not app.warning


def test_the_answer_is_the_models_best_guess() -> None:
    (guess,) = load("text")(MASKED).answer
    page = shown(open_page("home", s=MASKED))
    assert f"place {guess.token + 1}, most likely: **{guess.best}** {max(guess.probabilities):.2f}" in page
    ranked = sorted(guess.probabilities, reverse=True)
    for probability in ranked[1:4]:
        assert f"{probability:.2f}" in page


def test_two_hidden_words_get_two_answers() -> None:
    page = shown(open_page("home", s="the [MASK] sat on the [MASK] ."))
    assert page.count("most likely") == 2


@pytest.mark.parametrize(
    "sentence", ["The Mother loves another thermos .", "a sunflower is a flower .", "今天天气很好。"]
)
def test_a_click_hides_one_whole_word_and_brings_an_answer(sentence: str) -> None:
    app = open_page("home", s=sentence)
    assert "most likely" not in shown(app)
    app.button(key="home.hide").click().run()
    assert_fine(app)
    after = app.session_state["s"]
    assert after.count("[MASK]") == 1
    before, behind = after.split("[MASK]")
    assert sentence.startswith(before) and sentence.endswith(behind)
    gone = sentence[len(before) : len(sentence) - len(behind)]
    assert gone.lower() in load("text")(sentence).tokens
    assert not re.search(r"[A-Za-z]\Z", before) and not re.match(r"[A-Za-z]", behind), "a part of a longer word"
    assert load("text")(after).tokens.count("[MASK]") == 1
    assert "most likely" in shown(app)


@pytest.mark.parametrize("kind", ["digit", "flat"])
def test_a_drawing_gets_its_class_and_probability(kind: str) -> None:
    app = open_page("home", input=kind)
    choice = app.session_state["choice"]
    (guess,) = load(choice.pipeline)(choice.ink).answer
    best = np.argmax(guess.probabilities)
    assert re.search(rf"most likely (a )?\*\*{guess.labels[best]}\*\*: {guess.probabilities[best]:.2f}", shown(app))


def test_the_small_pictures_hold_the_real_tensors() -> None:
    app = open_page("home", s=MASKED, layer="3", head="5")
    trace, here = load("text")(MASKED), "layers.2.attention."
    expected = {
        "X(0)": trace["embedding.sum"],
        **{role: trace[here + role][4] for role in "QKV"},
        "S": trace[here + "scores"][4],
        "A": trace[here + "weights"][4],
        "A·V": trace[here + "heads"][4],
        "X′": trace["layers.2.norm_1"],
        "H": trace["layers.2.ffn.activation"],
        "Z": trace["layers.5.norm_2"],
    }
    pictures = thumbnails(app)
    assert pictures.keys() == expected.keys()
    for symbol, values in expected.items():
        np.testing.assert_allclose(pictures[symbol], values, atol=1e-5, err_msg=symbol)
    for title, values in zip(figure(app)["layout"]["annotations"], pictures.values(), strict=True):
        assert " × ".join(map(str, values.shape)) in title["text"]


def test_the_reading_sentence_is_made_of_the_numbers_on_screen() -> None:
    app = open_page("home", s=MASKED, layer="2", head="3")
    pictures, tokens = thumbnails(app), load("text")(MASKED).tokens
    query, key = np.unravel_index(pictures["A"].argmax(), pictures["A"].shape)
    fired = (pictures["H"] > 0).mean()
    said = (
        f"In layer 2, head 3, the largest weight in A is {pictures['A'].max():.2f}: "
        f"‘{tokens[query]}’ looks at ‘{tokens[key]}’. Of the {pictures['H'].size:,} activations in H, {fired:.0%}"
    )
    assert said in shown(app)


def test_one_token_can_only_look_at_itself() -> None:
    app = open_page("home", input="flat")
    assert thumbnails(app)["A"].tolist() == [[1.0]]
    assert "its weight in A is 1.00" in shown(app)


def test_pictures_stay_small() -> None:
    app = open_page("home", s=THIRTY_TWO)
    assert len(load("text")(THIRTY_TWO).tokens) == 32
    charts = [chart.proto.spec for chart in app.get("plotly_chart")]
    assert sum(map(len, charts)) < 500_000
    for chart in charts:
        assert sum(name.startswith("xaxis") for name in json.loads(chart)["layout"]) <= 12


@pytest.mark.parametrize("kind", ["sentence", "digit"])
def test_letters_and_shapes_of_words_and_patches_agree(kind: str) -> None:
    app = open_page("home", input=kind)
    table = app.dataframe[0].value
    for column, name in ((2, "text"), (3, "digits")):
        config = load(name).config
        rows = {row.iloc[1]: row.iloc[column] for _, row in table.iterrows()}
        sizes = {"N": config.layers, "h": config.heads, "d_model": config.d_model, "d_k": config.d_k}
        sizes |= {"n": rows["n"], "d_ff": config.d_ff}
        for letters, shape in list(rows.items())[:-1]:
            assert " × ".join(str(sizes[letter]) for letter in letters.split(" × ")) == shape, letters
    assert table.iloc[-1, 3] == "10" and table.iloc[-1, 2].endswith(f" × {load('text').config.vocab_size}")


def test_the_sentence_on_screen_stands_beside_the_digit() -> None:
    app = open_page("home", s="我爱你。")
    tokens = load("text")("我爱你。").tokens
    assert " ".join(f":gray-background[{token}]" for token in tokens) in shown(app)
    assert app.dataframe[0].value.iloc[2, 2] == str(len(tokens))


def test_without_the_digit_weights_the_rest_of_the_page_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    run = session.run

    def broken(name: str, *rest):
        if name == "digits":
            raise WeightsError("missing", "digits.safetensors")
        return run(name, *rest)

    monkeypatch.setattr(session, "run", broken)
    app = open_page("home", s=MASKED)
    assert "most likely" in shown(app) and thumbnails(app)
    assert "digits.safetensors" in app.warning[0].value.replace("\\", "")


def test_a_box_opens_its_page_and_nothing_chosen_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    link = {"s": MASKED, "layer": "3", "head": "5", "lang": "zh", "depth": "numbers"}
    app = open_page("home", **link)
    before = app.session_state["choice"]
    with monkeypatch.context() as click:
        click.setattr(diagram, "show", lambda *_, **__: "attention")
        app.run()
    assert_fine(app)
    assert [header.value for header in app.header] == ["注意力"]
    assert app.session_state["choice"] == before
