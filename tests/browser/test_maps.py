"""Maps side by side: their rows are named once, and each pixel shows the largest of the cells that share it."""

import numpy as np
from playwright.sync_api import Page

from model.translator import Task
from pages.screen.runs import pipelines
from tests.browser.steps import settle, title

NAMED = "charts => charts.map(chart => chart.querySelectorAll('.yaxislayer-above text, .ytick text').length > 0)"
DRAWN = "charts => charts.map(chart => [...chart._fullData[0].z].map(row => [...row]))"
ROOM = "charts => charts.map(chart => chart._fullLayout._size.w)"
KEYS = [f"decoder.embedding.{name}" for name in ("tokens", "positions", "sum")]


def test_maps_side_by_side_name_their_rows_once_and_hide_no_large_number(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 900, "height": 900})
    page.goto(f"{app_url}/translation?lang=en&panel=inside&block=embedding&s=i+love+you+.")
    title(page, "translation")
    maps = page.locator(".js-plotly-plot").filter(has=page.locator(".heatmaplayer image"))
    maps.nth(2).wait_for()
    settle(page)
    assert maps.evaluate_all(NAMED)[:3] == [True, False, False]
    trace = pipelines.run("translation", Task("i love you .", "zh"))
    for key, drawn, room in zip(KEYS, maps.evaluate_all(DRAWN), maps.evaluate_all(ROOM), strict=False):
        shown, values = np.array(drawn), trace[key]
        each = -(-values.shape[1] // shown.shape[1])
        assert each > 1 and shown.shape[1] <= 1.1 * room
        blocks = np.pad(values, ((0, 0), (0, -values.shape[1] % each))).reshape(len(values), -1, each)
        np.testing.assert_allclose(np.abs(shown), np.abs(blocks).max(axis=2), rtol=1e-5)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_function(f"({NAMED})([...document.querySelectorAll('.js-plotly-plot')].slice(0, 3)).every(Boolean)")
