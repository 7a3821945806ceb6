"""A chart stays in place and shows each new figure; its scripts come from this server, compressed, once."""

import gzip
import urllib.request
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page

from pages.server import assets
from tests.browser.steps import (
    MIDDLE,
    PAGE,
    PROJECTOR,
    SlowLine,
    expect_sentence,
    one_head_on,
    opened,
    settle,
    visit,
    wait_for,
)

pytestmark = pytest.mark.usefixtures("goes_on")
TWENTY_TWO = "the old farmer gave the red beans to all of the small children because they [MASK] very hungry ."
DRAWN = "chart => JSON.stringify([...chart._fullData[0].z].map(row => [...row]))"


def test_a_chart_stays_with_the_new_figure_the_themes_colours_and_its_width_and_every_script_comes_packed_and_once(
    page: Page, app_url: str, requests: list[str]
) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    chart = page.locator(".js-plotly-plot").first
    before, drawn = chart.element_handle(), chart.evaluate(DRAWN)
    page.keyboard.press("ArrowRight")
    wait_for(page, head="4")
    settle(page)
    assert page.evaluate("chart => chart === document.querySelector('.js-plotly-plot')", before)
    page.wait_for_function(f"([chart, drawn]) => ({DRAWN})(chart) !== drawn", arg=[before, drawn])
    page.keyboard.press("ArrowLeft")
    wait_for(page, head="3")
    page.wait_for_function(f"([chart, drawn]) => ({DRAWN})(chart) === drawn", arg=[before, drawn])
    ink = "() => getComputedStyle(document.querySelector('.js-plotly-plot .xtick text')).fill"
    light = page.evaluate(ink)
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(f"light => ({ink})() !== light", arg=light)
    page.emulate_media(color_scheme="light")
    page.wait_for_function(f"light => ({ink})() === light", arg=light)
    chart = page.locator(".chart").first
    for width in (1000, 700):
        page.set_viewport_size({"width": width, "height": 900})
        page.wait_for_function(
            "chart => Math.abs(chart.clientWidth - chart.querySelector('.main-svg').clientWidth) < 2",
            arg=chart.element_handle(),
        )
    assert not any("PlotlyChart" in url for url in requests), "Streamlit's own chart is never fetched"
    for source in assets.ALL:
        address = assets.address(source)
        assert [url for url in requests if address in url] == [f"{app_url}/{address}"]
        with urllib.request.urlopen(f"{app_url}/{address}") as answer:
            headers, packed = answer.headers, answer.read()
        assert headers["Content-Encoding"] == "gzip" and gzip.decompress(packed) == assets.content(source)
        kind = "text/css" if source in assets.STYLES else "text/javascript"
        assert "immutable" in headers["Cache-Control"] and headers["Content-Type"].startswith(kind)


def test_a_saved_picture_is_for_white_paper_and_no_larger_than_what_is_drawn(page: Page, app_url: str) -> None:
    page.emulate_media(color_scheme="dark")
    long = "the+extraordinarily+internationalization+happened+before+the+misunderstanding+occurred+."
    visit(page, f"{app_url}/attention?lang=en&s={long}&layer=2&head=3")
    opened(page, "attention")
    chart = page.locator(".chart").first
    chart.hover()
    (bar, whole) = (page.locator(one).first.bounding_box() for one in (".chart .modebar", ".chart"))
    assert bar and whole and bar["y"] + bar["height"] <= whole["y"], "it lies over nothing that is drawn"
    with page.expect_download() as saved:
        chart.locator(".modebar-btn").last.click()
    page.mouse.move(1, 1)
    page.wait_for_function("getComputedStyle(document.querySelector('.chart .modebar-group')).opacity === '0'")
    drawn = np.asarray(Image.open(saved.value.path()).convert("RGB")).min(axis=2) < 255
    columns, rows = drawn.any(axis=0), drawn.any(axis=1)
    edges = [side.argmax() for side in (columns, columns[::-1], rows, rows[::-1])]
    assert "head-3" in saved.value.suggested_filename and saved.value.suggested_filename.endswith(".png")
    assert all(30 <= edge <= 45 for edge in edges), "three dots for each of twelve pixels"
    below = rows[::-1][edges[3] :]
    title = below.argmin()  # of the keys' axis
    assert 20 < title < 80 and not below[title : title + 3].any(), "no name reaches into it"
    page.emulate_media(color_scheme="light")


def test_each_download_is_the_file_that_it_says(page: Page, app_url: str) -> None:
    one_head_on(page, app_url)
    page.get_by_text("Downloads").click()
    for kind, holds in {"CSV": b"# Attention", "HTML": b"Plotly.newPlot", "NPZ": b"PK"}.items():
        with page.expect_download() as saved:
            page.get_by_test_id("stDownloadButton").get_by_text(kind).click()
        name, content = saved.value.suggested_filename, Path(saved.value.path()).read_bytes()
        assert name.endswith(f".{kind.lower()}") and ("head-4" in name or kind == "NPZ") and holds in content


@pytest.mark.usefixtures("own_tab")
def test_clicks_choose_one_after_another_at_once_and_on_a_slow_line_and_a_double_click_moves_no_axis(
    page: Page, app_url: str
) -> None:
    line = SlowLine(page)
    page.goto(f"{app_url}/{PAGE}&as=lines")
    opened(page, "attention")
    chart = page.locator(".js-plotly-plot").first
    ranges = "chart => [chart._fullLayout.xaxis.range, chart._fullLayout.yaxis.range]"
    before, (query, key) = chart.evaluate(ranges), [chart.evaluate(MIDDLE, at) for at in ([3, -0.12], [5, 1.12])]
    page.mouse.click(*query)
    wait_for(page, token="4")
    settle(page)
    page.mouse.click(*key)
    wait_for(page, token="4", key="6")
    page.mouse.dblclick(*key)
    settle(page)
    assert chart.evaluate(ranges) == before

    chart.evaluate("""chart => {
      const click = place => chart.emit('plotly_click', { points: [{ x: 0, y: 0, customdata: place }] })
      chart.moved = -Infinity  // the mouse has long been there
      click([1, -1])
      click([-1, 2])
    }""")
    wait_for(page, token="2", key="3")

    line.slow = True
    for place in (query, key):
        page.mouse.click(*place)
        page.wait_for_timeout(500)
        line.let_the_server_hear()
        page.wait_for_timeout(1000)  # by then the server has answered
    line.be_quick()
    wait_for(page, token="4", key="6")
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    chart.evaluate("chart => { chart.parentElement.remove(); return new Promise(done => setTimeout(done, 200)) }")


def test_letters_that_come_before_the_chart_library_are_no_error(page: Page, app_url: str) -> None:
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    waiting = []
    page.route("**/plotly*.js", lambda route: waiting.append(route))
    page.goto(f"{app_url}/{PAGE}", wait_until="commit")
    page.locator(".chart").first.wait_for(state="attached")
    page.evaluate("document.fonts.dispatchEvent(new Event('loadingdone'))")
    for route in waiting:
        route.continue_()
    page.unroute("**/plotly*.js")
    page.locator(".js-plotly-plot .xtick").first.wait_for()
    assert not errors


#: In the maps of a presentation: visible token names on the axes, and their smallest font size.
NAMES = """() => [...document.querySelectorAll('.js-plotly-plot :is(.yaxislayer-above, .xaxislayer-above)')]
  .map(side => [...side.querySelectorAll('text')].filter(name => getComputedStyle(name).visibility !== 'hidden'))
  .filter(names => names.some(name => name.textContent === '[SEP]'))
  .map(names => [names.length, Math.min(...names.map(name => parseFloat(getComputedStyle(name).fontSize)))])"""


def test_on_a_projector_all_tokens_have_their_names(page: Page, app_url: str) -> None:
    page.set_viewport_size(PROJECTOR)
    for sentence, tokens, letters in ((TWENTY_TWO, 22, 12.5), ("她把书放在桌上，然后回家[MASK]饭。", 17, 16)):
        visit(page, f"{app_url}/heads?lang=en&big=true&s={sentence}")
        opened(page, "heads")
        expect_sentence(page, sentence)
        settle(page)
        found = page.evaluate(NAMES)
        assert [count for count, _ in found] == [tokens] * 2
        assert min(size for _, size in found) >= letters
