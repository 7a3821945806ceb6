"""Numbers are rounded alike by Python, by the painter of Home, and in the cells of a map."""

import re
from pathlib import Path

import numpy as np
from playwright.sync_api import Page

from model.analysis import fixed
from model.overview import NUMBERS
from model.overview.packing import quantised
from pages.drawing.figures import Axis, heatmap
from pages.drawing.text.numbers import decimal, percent, written
from pages.server.assets import SCRIPTS, address
from tests.browser.blank import draw

EIGHTHS = [part / 8 for part in range(-11, 12)]
CASES = [
    *EIGHTHS, 0.145, 0.155, 0.165, 0.285, 0.295, 0.335, 1.005, 0.9989, 0.99495, 0.995, 0.99994, 0.99995,
    0.99997, 0.9999986, 0.9999, 1 - 1e-9, 0.0149, 0.00996, 0.0096, 0.004, 9.96e-5, 8e-5, 1.2e-12, -0.004, -0.005,
    0.0045409840531647205, 12.5, 1234.567,
    *np.random.default_rng(0).random(200),
    *np.random.default_rng(1).random(200).astype(np.float32).astype(float), *np.random.default_rng(2).random(99) ** 9,
    *np.arange(-99, 100) / 2**5, *np.arange(0, 9.9, 0.005), *np.arange(41) / 40, *np.arange(1, 200) / 200,
]  # fmt: skip
#: A number, its decimals, and how a reader rounds it: halves go away from 0.
HALVES = [
    (22.5, 0, "23"), (17.5, 0, "18"), (100 * 9 / 40, 0, "23"), (100 * (57 / 200), 0, "29"), (-22.5, 0, "-23"),
    (0.5, 0, "1"), (0.125, 2, "0.13"), (0.375, 2, "0.38"), (-0.125, 2, "-0.13"), (0.145, 2, "0.15"),
    (1.005, 2, "1.01"), (0.0625, 3, "0.063"), (0.1249, 2, "0.12"), (22.4999, 0, "22"), (np.float32(0.125), 2, "0.13"),
]  # fmt: skip
ROUNDED = """async ([address, values]) => {
    const { two, decimal } = await import(address)
    return values.map(value => [two(value), decimal(value)]) }"""

WRITTEN = """async ([source, values]) => {
    const { fixed, percent } = await import(`data:text/javascript,${encodeURIComponent(source)}`)
    return values.map(value => [...[0, 1, 2, 3, 4].map(places => fixed(value, places)), percent(value)]) }"""


def test_python_and_the_painter_write_a_number_alike(page: Page, app_url: str) -> None:
    script, values = f"{app_url}/{address(SCRIPTS['painter'])}", [float(value) for value in CASES]
    page.goto(script)  # so that the page may import from this server
    found = page.evaluate(ROUNDED, [script, values])
    for value, (two, short) in zip(values, found, strict=True):
        assert two == written(fixed(value)), value
        assert value < 0 or short == decimal(value), value


def test_python_and_the_cells_of_a_map_write_a_number_alike(page: Page) -> None:
    cells = np.array(CASES[: len(CASES) // 20 * 20], np.float32).reshape(-1, 20)  # float32, as in figures
    look = {"square": False, "scale": "signed", "height": 60 * len(cells) + 100}
    figure = heatmap(cells, Axis.counted("i", len(cells)), Axis.counted("j", 20), **look)
    figure.layout["meta"] = {"numbers": True}
    texts = draw(page, figure, width=1600).evaluate("chart => chart.data[0].text.flat()")
    for value, text in zip(map(float, cells.ravel()), texts, strict=True):
        wanted = "" if abs(value) < 0.005 else written(fixed(value))
        assert text == re.sub("^(−?)0[.]", r"\1.", wanted), value


def test_halves_are_rounded_as_readers_do_by_one_rule(page: Page) -> None:
    assert [fixed(value, places) for value, places, _ in HALVES] == [wanted for *_, wanted in HALVES]
    for path in Path("pages").glob("**/*.py"):
        assert not re.search(r":[+,]?\.\d%\}|\bround\(100 \*", path.read_text("utf-8")), path
    source = NUMBERS.read_text("utf-8")
    for path in Path().glob("[mp]*/**/*.js"):
        assert path.name == NUMBERS.name or not re.search(
            "toFixed|toPrecision|NumberFormat|toLocaleString", path.read_text("utf-8")
        )
    cases = [float(value) for value in map(abs, [*CASES, *(value for value, *_ in HALVES)])]
    page.goto("about:blank")
    wanted = [[*(fixed(value, places) for places in range(5)), percent(value)] for value in cases]
    assert page.evaluate(WRITTEN, [source, cases]) == wanted


def test_two_digits_of_a_weight_survive_the_way_to_the_painter() -> None:
    weights = np.array([value for value in CASES if 0 <= value <= 1], np.float32)
    _, (scale,), halves = quantised(weights[None, None], share=True)
    assert [*map(fixed, (halves.ravel() + 0.5) * scale)] == [*map(fixed, weights)]
