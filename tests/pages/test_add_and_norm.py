"""The Add & Norm page: its pictures are the trace, and one LayerNorm adds up as displayed."""

import re

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from pages.ui import session
from tests.pages.opening import assert_fine, figure, numbers, open_page, texts

SENTENCE = "the dog chased the cat ."
LONG = "the small dog and the old cat sat near a big house and saw many people on their way home . " * 4


def at_place(place: int, **link: str) -> AppTest:
    app = open_page("add_and_norm", **link)
    app.session_state["add_and_norm.place"] = place
    app.run()
    assert_fine(app)
    return app


def said(app: AppTest, pattern: str) -> list[float]:
    """The numbers that a sentence of the page names, in order."""
    hit = re.search(pattern, texts(app).replace("\\", ""))
    assert hit, pattern
    return [float(number) for number in hit.groups()]


@pytest.mark.parametrize(("place", "layer"), [(1, 1), (1, 4), (2, 1), (2, 6)])
def test_the_four_pictures_are_the_recorded_values(place: int, layer: int) -> None:
    app, trace = at_place(place, s=SENTENCE, layer=str(layer)), session.run("text", SENTENCE)
    prefix = f"layers.{layer - 1}."
    read = trace.layer_input(layer - 1) if place == 1 else trace[prefix + "norm_1"]
    found = trace[prefix + ("attention.output" if place == 1 else "ffn.output")]
    shown = [numbers(figure(app, which)["data"][0]["z"]) for which in range(4)]
    for values, wanted in zip(
        shown, (read, found, trace[prefix + f"add_{place}"], trace[prefix + f"norm_{place}"]), strict=True
    ):
        np.testing.assert_array_equal(values, wanted)
    np.testing.assert_allclose(shown[0] + shown[1], shown[2], atol=1e-5)


def test_the_four_pictures_share_one_range_of_colours() -> None:
    app = open_page("add_and_norm", s=SENTENCE)
    assert len({figure(app, which)["data"][0]["zmax"] for which in range(4)}) == 1


@pytest.mark.parametrize(("place", "token", "component"), [(1, 0, 0), (1, 4, 17), (2, 7, 255), (2, 2, 100)])
def test_by_hand_re_adds_from_the_numbers_that_it_displays(place: int, token: int, component: int) -> None:
    app = at_place(place, s=SENTENCE, layer="3", depth="numbers")
    app.selectbox(key="token").set_value(token)
    app.selectbox(key="component").set_value(component).run()
    number, whole = r"(-?\d+\.\d+)", r"\*\*(-?\d+\.\d+)\*\*"
    cells = app.dataframe[1].value.round(6)
    x, o, row, centred, squares, standard, gamma, beta, result = (cells[name].to_numpy() for name in cells.columns)

    np.testing.assert_allclose(x + o, row, atol=2e-6)
    a, b, added = said(app, rf"{number} \+ {number} = {whole}")
    assert a + b == pytest.approx(added, abs=1e-4)
    total, mean = said(app, rf"adds up to {number}\. Divided by 256: μ = {whole}")
    assert row.sum() == pytest.approx(total, abs=2e-4)
    assert total / 256 == pytest.approx(mean, abs=2e-6)
    np.testing.assert_allclose(row - mean, centred, atol=3e-6)
    np.testing.assert_allclose(centred**2, squares, atol=3e-5)
    total, variance, sigma = said(app, rf"squares add up to {number}\. .* σ² = {whole}, so σ = {number}\.")
    assert squares.sum() == pytest.approx(total, abs=2e-4)
    assert total / 256 == pytest.approx(variance, abs=2e-6)
    assert np.sqrt(variance) == pytest.approx(sigma, abs=2e-6)
    value, subtracted, under, epsilon, divisor, divided = said(
        app, rf"\({number} − \(?{number}\)?\) ÷ √\({number} \+ (\S+)\) = .* ÷ {number} = {whole}"
    )
    assert np.sqrt(under + epsilon) == pytest.approx(divisor, abs=2e-6)
    assert (value - subtracted) / divisor == pytest.approx(divided, abs=1e-4)
    assert standard[component] == pytest.approx(divided, abs=1e-4)
    g, s, b, out = said(app, rf"β = {number} × {number} \+ {number} = {whole}")
    assert g * s + b == pytest.approx(out, abs=1e-4)
    np.testing.assert_allclose(gamma * standard + beta, result, atol=1e-5)
    trace = session.run("text", SENTENCE)
    np.testing.assert_allclose(result, trace[f"layers.2.norm_{place}"][token], atol=1e-4)


def test_the_notes_formula_is_told_apart_with_numbers() -> None:
    app = open_page("add_and_norm", s=SENTENCE, layer="2")
    epsilon, sigma, theirs, ours = said(app, r"With ε = (\S+) and σ = (\S+): σ \+ ε = (\S+), √\(σ² \+ ε\) = ([\d.]+)\.")
    assert sigma + epsilon == pytest.approx(theirs, abs=2e-6)
    assert np.sqrt(sigma**2 + epsilon) == pytest.approx(ours, abs=2e-6)
    mine, note, gap = said(app, r"cell is (\S+) before .* would make it (\S+), a difference of (\d\.\de[-+]\d+)\.")
    assert mine * ours / theirs == pytest.approx(note, abs=4e-6)
    assert abs(mine) * (1 - ours / theirs) == pytest.approx(gap, rel=0.2, abs=1e-7)


def test_the_table_shows_mean_0_and_deviation_1_in_the_middle_and_the_trace_around_it() -> None:
    app, trace = open_page("add_and_norm", s=SENTENCE, layer="4"), session.run("text", SENTENCE)
    table = app.dataframe[0].value.drop(columns="token").to_numpy()
    for columns, key in ((slice(0, 2), "add_1"), (slice(4, 6), "norm_1")):
        values = trace["layers.3." + key]
        np.testing.assert_allclose(table[:, columns], np.stack([values.mean(1), values.std(1)], 1), atol=1e-6)
    np.testing.assert_allclose(table[:, 2], 0, atol=1e-5)
    np.testing.assert_allclose(table[:, 3], 1, atol=1e-4)


def test_lengths_and_cosines_are_those_of_the_recorded_vectors() -> None:
    app, trace = at_place(2, s=SENTENCE, layer="2"), session.run("text", SENTENCE)
    read, found, after = (trace["layers.1." + key] for key in ("norm_1", "ffn.output", "norm_2"))
    lengths = [numbers(bar["y"]) for bar in figure(app, 4)["data"]]
    np.testing.assert_allclose(lengths[0], np.linalg.norm(read, axis=1), rtol=1e-5)
    np.testing.assert_allclose(lengths[1], np.linalg.norm(found, axis=1), rtol=1e-5)
    cosines = [numbers(bar["y"]) for bar in figure(app, 5)["data"]]
    for shown, values in zip(cosines, (found, after), strict=True):
        wanted = (read * values).sum(1) / np.linalg.norm(read, axis=1) / np.linalg.norm(values, axis=1)
        np.testing.assert_allclose(shown, wanted, atol=1e-5)


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    "link", [{"s": "cat"}, {"s": LONG}, {"input": "digit", "layer": "5"}, {"input": "flat"}, {"model": "paper"}]
)
@pytest.mark.parametrize("place", [1, 2])
def test_every_kind_of_input_opens(link: dict[str, str], lang: str, place: int) -> None:
    at_place(place, lang=lang, **link)


def test_the_pictures_of_32_tokens_stay_below_500_kb() -> None:
    app = open_page("add_and_norm", s=" ".join(LONG.split()[:30]))
    assert sum(len(chart.proto.spec) for chart in app.get("plotly_chart")) < 500_000
