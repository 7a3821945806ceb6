"""What the browser draws before the server answers equals what the server then draws, to the last number."""

import re
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.painted import LONG
from tests.browser.steps import MIDDLE, settle, title, wait_for

pytestmark = pytest.mark.usefixtures("goes_on")
SENTENCE = "the animal did not cross the street because it was too tired ."
LINK = {"lang": "en", "input": "sentence", "s": SENTENCE, "layer": "2", "head": "3"}
LINES = LINK | {"as": "lines"}
DIGIT = {"lang": "en", "input": "digit", "layer": "2", "head": "3"}
#: What is painted until the server answers, or the same parts of the server's picture, as JSON.
SKETCH = """(which) => {
    const flat = value => {
        if (ArrayBuffer.isView(value) || Array.isArray(value)) return [...value].map(flat)
        if (typeof value === 'number') return Number.isNaN(value) ? null : Math.fround(value)
        if (value === null || typeof value !== 'object') return value ?? null
        return Object.fromEntries(Object.entries(value).sort().map(([name, part]) => [name, flat(part)]))
    }
    const { wanted: { once, figure: { data, layout } }, sketched } = document.querySelector('.chart.once')
    const { cells = [], lines = [], frames = [] } = which === 'sketched' ? sketched : {
        cells: data.filter(({ type }) => type === 'heatmap' && once.draws !== 'frame'),
        lines: data.filter(({ mode }) => mode === 'lines').map(({ y, line, opacity }) => {
            const ends = [...y].filter(Number.isFinite)
            return { pairs: ends.flatMap((row, i) => i % 2 ? [] : [[row, ends[i + 1]]]), ...line, opacity }
        }),
        frames: layout.shapes?.filter(({ layer }) => layer !== 'below') ?? [],
    }
    const colours = cells.map(({ z, zmin, zmax, colorscale }) => ({ z, zmin, zmax, colorscale }))
    return JSON.stringify(flat([colours, lines, frames]))
}"""
#: Press a key; return what is painted at once.
PRESS = f"""key => {{
    const pressed = {{ key: key.replace('Shift+', ''), shiftKey: key.startsWith('Shift+') }}
    document.body.dispatchEvent(new KeyboardEvent('keydown', {{ ...pressed, bubbles: true, composed: true }}))
    return ({SKETCH})('sketched')
}}"""
BEHIND = "() => Boolean(document.querySelector('.behind'))"


def visit(page: Page, url: str, name: str, **link: str) -> None:
    steps.visit(page, f"{url}/{name}?{urlencode(link)}")
    title(page, name)
    page.wait_for_function("() => Boolean(document.listening)")
    page.locator(".chart.once .main-svg").first.wait_for(state="attached")
    page.wait_for_function("() => Boolean(document.atOnce)")
    settle(page)


#: Page, link, and keys to press.
PRESSED = (
    ("attention", LINK | {"s": LONG, "big": "true"}, "ArrowUp Shift+ArrowRight Shift+ArrowDown"),
    ("attention", LINES | {"s": LONG}, "ArrowDown Shift+ArrowDown"),
    ("attention", LINK | {"edits": "layers.1.attention.masked~zero~~4", "token": "6", "key": "3"}, "ArrowRight"),
    ("attention", LINK | {"edits": "layers.{l}.attention.masked~causal"}, "ArrowUp"),
    ("attention", DIGIT | {"big": "true"}, "ArrowRight Shift+ArrowDown"),
    ("heads", DIGIT, "ArrowDown"),
)


#: A colour for each number, from what is painted or from Plotly's image of the last heatmap.
COLOURS = """async which => {
    const chart = document.querySelector('.chart.once'), images = chart.querySelectorAll('.heatmaplayer image')
    const { z } = chart.wanted.figure.data.findLast(({ type }) => type === 'heatmap')
    const sheet = Object.assign(document.createElement('canvas'), { width: 10 * z[0].length, height: 10 * z.length })
    const pen = sheet.getContext('2d'), picture = which === 'painted' ? chart.querySelector('.sketch') : new Image()
    if (which !== 'painted') {
        picture.src = [...images].at(-1).getAttribute('href')
        await picture.decode()
    }
    pen.drawImage(picture, 0, 0, sheet.width, sheet.height)
    return [...z].flatMap((row, i) => [...row].map((_, j) => [...pen.getImageData(10 * j + 2, 10 * i + 2, 1, 1).data]))
}"""


def test_what_a_key_draws_at_once_is_what_the_server_draws(page: Page, app_url: str) -> None:
    for name, link, keys in PRESSED:
        visit(page, app_url, name, **link)
        for key in keys.split():
            before = page.evaluate(SKETCH, "wanted")
            painted = page.evaluate(PRESS, key)
            changed = painted != before  # a boolean, since pytest would compare the long texts
            assert changed, (link, key)
            page.wait_for_function(f"() => !({BEHIND})()")
            settle(page)
            same = page.evaluate(SKETCH, "wanted") == painted
            assert same, (link, key)
            expect(page.locator(".sketch, [data-sketch]")).to_have_count(0)


def test_the_painted_colours_are_those_of_plotly(page: Page, app_url: str) -> None:
    visit(page, app_url, "attention", **LINK)
    painted = page.evaluate(f"async () => {{ ({PRESS})('ArrowRight'); return await ({COLOURS})('painted') }}")
    page.wait_for_function(f"() => !({BEHIND})()")
    settle(page)
    drawn = page.evaluate(COLOURS, "drawn")
    assert np.abs(np.array(painted) - drawn).max() <= 4 and len({*map(str, drawn)}) > 50


def test_a_clicked_layer_is_drawn_at_once_and_what_is_chosen_faster_than_the_server_answers_never_goes_back(
    page: Page, app_url: str
) -> None:
    visit(page, app_url, "attention", **LINK)
    page.locator(".st-key-either-layer button").nth(3).wait_for()
    click = "() => document.querySelectorAll('.st-key-either-layer button')[3].click()"
    painted = page.evaluate(f"() => {{ ({click})(); return ({SKETCH})('sketched') }}")
    wait_for(page, layer="4")
    page.wait_for_function(f"() => !({BEHIND})()")
    same = page.evaluate(SKETCH, "wanted") == painted
    assert same

    page.evaluate("""() => {
        window.seen = []
        const react = Plotly.react
        const see = z => { if (z[0][0] !== window.seen.at(-1)) window.seen.push(z[0][0]) }
        const { paint } = document.atOnce
        window.restore = () => { Object.assign(Plotly, { react }); Object.assign(document.atOnce, { paint }) }
        document.atOnce.paint = (place, sketch) => { see(sketch.cells[0].z); return paint(place, sketch) }
        Plotly.react = (place, data, layout) => {
            if (place.matches('.once')) see(data[0].z)
            return react(place, data, layout)
        }
    }""")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_function(f"() => !({BEHIND})()")
    wait_for(page, layer="2", head="5")
    assert len(page.evaluate("window.seen")) == 6  # once per key, and not again when the server answers
    expect(page.locator(".sketch, [data-sketch]")).to_have_count(0)
    page.evaluate("restore()")


def test_lines_answer_a_finger_with_their_shares(page: Page, app_url: str) -> None:
    visit(page, app_url, "attention", **LINES | {"layer": "6", "head": "1"})  # a head that attends to many words
    chart, lit = page.locator(".chart.once").first, page.locator(".chart .lit text")
    expect(lit).to_have_count(0)
    for word in (4, 9):
        page.mouse.move(*chart.evaluate(MIDDLE, [word, -0.12]))
        expect(chart).to_have_class(re.compile("lighting"))
        said = [int(share.rstrip("%")) for share in lit.all_text_contents()]
        assert len(said) > 1 and 85 <= sum(said) <= 103  # very small shares have no number
    page.mouse.move(1, 1)
    expect(lit).to_have_count(0)
    pair = "chart => chart.drawn.data.find(trace => trace.customdata).customdata[0]"
    row, column = chart.evaluate(pair)
    page.mouse.click(*chart.evaluate(MIDDLE, [row + 0.52 * (column - row), 0.52]))
    wait_for(page, token=str(row + 1), key=str(column + 1))
    page.mouse.move(1, 1)
    expect(lit).to_have_count(1)


def test_a_symbol_lights_the_picture_in_its_colour_and_a_picture_its_symbols(page: Page, app_url: str) -> None:
    steps.visit(page, f"{app_url}/queries_keys_values?{urlencode(LINK)}&tab=maps")
    charts = page.locator(".js-plotly-plot")
    charts.nth(2).locator(".main-svg").first.wait_for(state="attached")
    settle(page)
    for place, role in enumerate("QKV"):
        symbol = page.locator(".katex [style*='color:']").filter(has_text=re.compile(f"^{role}$")).first
        symbol.hover()
        expect(page.locator(".chart.meant")).to_have_count(1)
        expect(charts.nth(place)).to_have_class(re.compile("meant"))
        charts.nth(place).hover()
        expect(symbol).to_have_class(re.compile("meant"))
        expect(page.locator(".chart.meant")).to_have_count(0)
