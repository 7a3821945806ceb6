"""Adjacent maps name their rows once; each pixel shows the strongest of the cells that share it."""

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from pages.screen.runs import pipelines
from tests.browser.steps import DESK, PHONE, SENTENCE, settle, title, visit

pytestmark = pytest.mark.usefixtures("goes_on")
NAMED = "charts => charts.map(chart => chart.querySelectorAll('.yaxislayer-above text, .ytick text').length > 0)"
DRAWN = "chart => [[...chart._fullData[0].z].map(row => [...row]), chart._fullLayout._size.w]"
ROWS = ("tokens", "positions", "sum")


def test_maps_side_by_side_name_their_rows_once_and_hide_no_large_number(page: Page, app_url: str) -> None:
    link = f"lang=en&input=sentence&hidden=&token=3&s={SENTENCE.replace(' ', '+')}"
    page.set_viewport_size({"width": 900, "height": 900})
    visit(page, f"{app_url}/queries_keys_values?tab=maps&{link}")
    title(page, "queries_keys_values")
    maps = page.locator(".js-plotly-plot")
    maps.nth(2).wait_for()
    settle(page)
    assert maps.evaluate_all(NAMED)[:3] == [True, False, False]
    page.set_viewport_size(PHONE)
    page.wait_for_function(f"({NAMED})([...document.querySelectorAll('.js-plotly-plot')].slice(0, 3)).every(Boolean)")
    visit(page, f"{app_url}/tokens?{link}")
    title(page, "tokens")
    shown, room = maps.first.evaluate(DRAWN)
    trace = pipelines.run("text", SENTENCE)
    rows = np.stack([trace[f"embedding.{name}"][2] for name in ROWS])
    values = np.hstack([rows[:, ::2], rows[:, 1::2]])  # sines first
    each = -(-values.shape[1] // len(shown[0]))
    assert each > 1 and len(shown[0]) <= 1.1 * room
    blocks = np.pad(values, ((0, 0), (0, -values.shape[1] % each))).reshape(len(values), -1, each)
    np.testing.assert_allclose(np.abs(shown), np.abs(blocks).max(axis=2), rtol=1e-5)


def test_the_terms_of_a_sum_stand_beside_its_equations(page: Page, app_url: str) -> None:
    page.set_viewport_size(DESK)
    for lang, tab in (("en", "steps"), ("zh", "steps&stage=heads")):
        visit(page, f"{app_url}/attention?lang={lang}&tab={tab}")
        title(page, "attention", lang)
        terms, last = page.locator(".arithmetic table"), page.locator(".arithmetic .formula").last
        expect(terms).to_be_visible()
        table, line = terms.bounding_box(), last.bounding_box()
        assert table and line and table["y"] < line["y"], lang
        assert table["x"] >= line["x"] + line["width"], lang
