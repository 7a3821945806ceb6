"""Flat: one token, so a weight of exactly 1 whatever the score, and every number of the lecture note's nine stages."""

import re

import numpy as np
import pandas as pd
import pytest

from model.trace import Edit
from pages.ui import digits, session
from tests.pages.opening import assert_fine, figure, numbers, open_page, texts

INK = [digits.ink(digits.example(which)) for which in range(10)]
ATTENTION = "layers.0.attention."


TABLES = ("stages", "heads", "disturbed", "beside", "products", "softmax")


def table(app, name: str) -> pd.DataFrame:
    """One of the tables of the page, which stand in the order of TABLES."""
    return app.dataframe[TABLES.index(name)].value


@pytest.mark.parametrize("which", range(10))
def test_the_weight_of_the_only_token_is_exactly_1_and_V_passes_as_it_is(which: int) -> None:
    trace = session.pipeline("flat")(INK[which])
    assert (trace[ATTENTION + "weights"] == 1).all()
    np.testing.assert_array_equal(trace[ATTENTION + "heads"], trace[ATTENTION + "V"])
    np.testing.assert_array_equal(trace[ATTENTION + "concat"].ravel(), trace[ATTENTION + "V"].ravel())


@pytest.mark.parametrize("place", ["Q", "K", "scores", "scaled"])
@pytest.mark.parametrize("strength", [0.1, 100.0])
def test_noise_on_what_makes_the_scores_changes_nothing_at_all(place: str, strength: float) -> None:
    pipeline = session.pipeline("flat")
    plain = pipeline(INK[4])
    noisy = pipeline(INK[4], [Edit(ATTENTION + place, "noise", strength)])
    assert not np.array_equal(noisy[ATTENTION + place], plain[ATTENTION + place])
    np.testing.assert_array_equal(noisy["logits"], plain["logits"])


def test_noise_on_V_does_change_the_answer() -> None:
    pipeline = session.pipeline("flat")
    noisy = pipeline(INK[4], [Edit(ATTENTION + "V", "noise", 1.0)])
    assert np.abs(noisy["logits"] - pipeline(INK[4])["logits"]).max() > 1e-4


def test_the_page_shows_these_numbers() -> None:
    app = open_page("flat", input="flat", ink=digits.to_code(digits.example(7)))
    trace = session.pipeline("flat")(INK[7])
    heads = table(app, "heads")
    np.testing.assert_array_equal(heads["softmax"], 1.0)
    np.testing.assert_array_equal(heads["max |A V − V|"], 0.0)
    np.testing.assert_allclose(heads["÷ √d_k"], heads["q · k"] / trace.config.d_k**0.5, rtol=1e-6)
    disturbed = table(app, "disturbed")
    np.testing.assert_array_equal(disturbed.iloc[:4, 2], 0.0)
    assert disturbed.iloc[4, 2] > 0
    np.testing.assert_allclose(disturbed.iloc[:, :2].sum(axis=1), 1, rtol=1e-5)


def test_the_nine_stages_follow_on_each_other() -> None:
    stages = table(open_page("flat", input="flat"), "stages")
    assert list(dict.fromkeys(stages.iloc[:, 0])) == [str(i + 1) for i in range(9)]
    assert stages["shape out"].tolist() == [
        *("784", "1 × 784", "1 × 64", "1 × 64"),
        *("4 × 1 × 16", "4 × 1 × 1", "4 × 1 × 1", "4 × 1 × 16", "1 × 64"),
        *("1 × 64", "1 × 256", "1 × 256", "1 × 64", "1 × 64"),
        *("2", "2"),
    ]
    assert stages["shape in"].tolist()[1:] == stages["shape out"].tolist()[:-1]
    assert stages.loc[stages["operation"] == "softmax", "smallest … largest"].tolist() == ["1.00 … 1.00"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_by_hand_adds_up_to_what_is_shown(language: str) -> None:
    app = open_page("flat", input="flat", lang=language)
    for head in range(4):
        app.selectbox(key="flat.head").set_value(head).run()
        assert_fine(app)
        products = table(app, "products")
        q, k, qk = (products.loc[name].to_numpy() for name in ("q", "k", "q · k"))
        np.testing.assert_allclose(q * k, qk, atol=0.6e-5)
        assert qk.sum() == pytest.approx(table(app, "heads")["q · k"].iloc[head], abs=2e-4)
        said = np.array(re.findall(r"-?\d+\.\d{5}", texts(app).replace("\\", "")), float)
        for shown in (qk.sum(), qk.sum() / 4):  # to the displayed precision, whichever way the last digit was rounded
            assert np.abs(said - shown).min() < 1.5e-5
    answer = table(app, "softmax")
    np.testing.assert_allclose(np.exp(answer["y − max"]), answer["exp(y − max)"], atol=1e-6)
    np.testing.assert_allclose(answer["exp(y − max)"] / answer["exp(y − max)"].sum(), answer["p"], rtol=1e-6)


def test_the_patch_version_stands_beside_it_with_its_own_numbers() -> None:
    app = open_page("flat", input="digit", ink=digits.to_code(digits.example(2)))
    cut = session.pipeline("digits")(INK[2])
    beside = table(app, "beside")
    assert beside.iloc[4, 1] == cut.answer[0].best
    assert float(beside.iloc[5, 1]) == pytest.approx(sum(cut.answer[0].probabilities[::2]), abs=1e-4)
    row = cut["layers.4.attention.weights"][:, 0].mean(axis=0)
    specs = [figure(app, i) for i in range(len(app.get("plotly_chart")))]
    overlay = next(spec for spec in specs if len(spec["data"]) == 3 and spec["data"][1]["type"] == "heatmap")
    np.testing.assert_allclose(numbers(overlay["data"][1]["z"])[:, 2:].ravel(), row[1:], rtol=1e-6)


def test_with_a_sentence_the_page_takes_the_last_drawing_or_an_example_and_says_so() -> None:
    app = open_page("flat", s="i love you .")
    assert any("sentence" in info.value for info in app.info)
    np.testing.assert_array_equal(shown_pixels(app), np.frombuffer(INK[5], np.uint8))
    app.session_state["input"] = "digit"
    app.session_state["drawing"], app.session_state["drawing_epoch"] = digits.example(3), 1
    app.run()
    app.session_state["input"] = "sentence"
    app.run()
    assert_fine(app)
    assert any("sentence" in info.value for info in app.info)
    np.testing.assert_array_equal(shown_pixels(app), np.frombuffer(INK[3], np.uint8))


def shown_pixels(app) -> np.ndarray:
    """The 784 grey values of the page's first picture."""
    return numbers(figure(app, 0)["data"][0]["z"]).ravel()
