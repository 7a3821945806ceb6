"""A page with one chart drawn by chart.js, without a server."""

import json
from functools import partial

from playwright.sync_api import Locator, Page, Route

from pages.drawing.figures import Figure, on_white
from pages.server.assets import PLOTLY, SCRIPTS, STYLE, content

AT = "http://127.0.0.1/"
PAGE = """<!doctype html><meta charset="utf-8"><link rel="stylesheet" href="style.css"><script src="plotly.js"></script>
<style>:root { --st-text-color: #172033; --st-font: sans-serif; --st-border-color: #ccc; --st-background-color: #fff }
</style><div></div>"""
DRAW = """async ([data, width, again]) => {
    const { default: chart } = await import('/chart.js'), parentElement = document.querySelector('div')
    parentElement.style.width = `${width}px`
    if (!again) parentElement.innerHTML = '<div class="chart"></div>'
    const setTriggerValue = (_, clicks) => { window.picked = clicks.map(([, point]) => point) }
    window.picked = []
    chart({ data: new TextEncoder().encode(data), parentElement, setTriggerValue })
}"""


def draw(page: Page, figure: Figure, *, width: int = 700, picks: bool = True, again: bool = False) -> Locator:
    """Replace the figure. picks: whether it takes clicks, which are then in window.picked. again: as the next state of
    the same picture.
    """
    about = {"mode": "light", "alt": "a", "file": "a", "caption": "a", "white": on_white(), "save": "a", "picks": picks}
    data = f'{json.dumps(about | {"key": "a", "heard": {"keys": 0, "a": 0}})[:-1]}, "figure": {figure.as_json()}}}'
    if page.url != AT:
        page.route(AT, lambda route: route.fulfill(content_type="text/html", body=PAGE))
        for name, file in {"chart.js": SCRIPTS["chart"], "plotly.js": PLOTLY, "style.css": STYLE}.items():
            kind = {".js": "text/javascript", ".css": "text/css"}[file.suffix]
            page.route(f"{AT}{name}", partial(Route.fulfill, content_type=kind, body=content(file)))
        page.goto(AT)
    page.evaluate(DRAW, [data, width, again])
    page.locator(".js-plotly-plot .xtick").first.wait_for(state="attached")
    return page.locator(".js-plotly-plot")
