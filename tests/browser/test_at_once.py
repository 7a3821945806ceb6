"""What the browser draws before the server has answered is what the server then draws, to the last number."""

import re
from urllib.parse import urlencode

from playwright.sync_api import Page, expect

from tests.browser import steps
from tests.browser.painted import LONG
from tests.browser.steps import MIDDLE, asked, settle, title

SENTENCE = "the animal did not cross the street because it was too tired ."
LINK = {"lang": "en", "input": "sentence", "s": SENTENCE, "layer": "2", "head": "3"}
LINES = LINK | {"as": "lines"}
DIGIT = {"lang": "en", "input": "digit", "layer": "2", "head": "3"}
#: The figure that is drawn, or that the server wants drawn, as a text of plain numbers: without what is not there.
FIGURE = """(which) => {
    const flat = value => {
        if (ArrayBuffer.isView(value) || Array.isArray(value)) return [...value].map(flat)
        if (typeof value === 'number') return Number.isNaN(value) ? null : Math.fround(value)
        if (value === null || typeof value !== 'object') return value ?? null
        return Object.fromEntries(Object.entries(value).filter(([, part]) => (part ?? null) !== null).sort()
            .map(([name, part]) => [name, flat(part)]))
    }
    const chart = document.querySelector('.chart.once')
    return JSON.stringify(flat(which === 'drawn' ? chart.drawn : chart.wanted.figure))
}"""
#: Press a key; returns what is drawn at once, without the server.
PRESS = f"""key => {{
    const pressed = {{ key: key.replace('Shift+', ''), shiftKey: key.startsWith('Shift+') }}
    document.body.dispatchEvent(new KeyboardEvent('keydown', {{ ...pressed, bubbles: true, composed: true }}))
    return ({FIGURE})('drawn')
}}"""
BEHIND = "() => Boolean(document.querySelector('.behind'))"


def visit(page: Page, url: str, name: str, **link: str) -> None:
    steps.visit(page, f"{url}/{name}?{urlencode(link)}")
    title(page, name)
    page.wait_for_function("() => Boolean(document.listening)")
    page.locator(".chart.once .main-svg").first.wait_for(state="attached")
    page.wait_for_function("() => Boolean(document.atOnce)")
    settle(page)


#: Pages, links, and keys that are pressed there.
PRESSED = (
    ("attention", LINK, "ArrowUp Shift+ArrowRight Shift+ArrowDown"),
    ("attention", LINK | {"s": LONG, "big": "true"}, "ArrowRight"),
    ("attention", LINES | {"s": LONG}, "ArrowDown Shift+ArrowDown"),
    ("attention", LINK | {"edits": "layers.1.attention.masked~zero~~4", "token": "6", "key": "3"}, "ArrowRight"),
    ("attention", LINK | {"edits": "layers.{l}.attention.masked~causal"}, "ArrowUp"),
    ("attention", DIGIT, "ArrowRight Shift+ArrowDown"),
    ("attention", DIGIT | {"big": "true"}, "Shift+ArrowRight"),
    ("heads", DIGIT | {"big": "true"}, "ArrowDown"),
    ("heads", LINK | {"s": LONG}, "ArrowRight"),
)


def test_what_a_key_draws_at_once_is_what_the_server_draws(page: Page, app_url: str) -> None:
    for name, link, keys in PRESSED:
        visit(page, app_url, name, **link)
        for key in keys.split():
            before = page.evaluate(FIGURE, "wanted")
            drawn = page.evaluate(PRESS, key)
            changed = drawn != before  # texts so long that pytest should not lay them beside each other
            assert changed, (link, key)
            page.wait_for_function(f"() => !({BEHIND})()")
            settle(page)
            same = page.evaluate(FIGURE, "wanted") == drawn == page.evaluate(FIGURE, "drawn")
            assert same, (link, key)


def test_a_clicked_layer_is_drawn_at_once_and_what_is_chosen_faster_than_the_server_answers_never_goes_back(
    page: Page, app_url: str
) -> None:
    visit(page, app_url, "attention", **LINK)
    page.locator(".st-key-either-layer button").nth(3).wait_for()
    click = "() => document.querySelectorAll('.st-key-either-layer button')[3].click()"
    drawn = page.evaluate(f"() => {{ ({click})(); return ({FIGURE})('drawn') }}")
    at_once = drawn != page.evaluate(FIGURE, "wanted") or asked(page.url).get("layer") == "4"
    assert at_once
    page.wait_for_url(lambda url: asked(url).get("layer") == "4")
    page.wait_for_function(f"() => !({BEHIND})()")
    settle(page)
    same = page.evaluate(FIGURE, "wanted") == drawn
    assert same

    page.evaluate("""() => {
        window.seen = []
        const chart = document.querySelector('.chart.once'), draw = Plotly.react
        Plotly.react = (...given) => {
            const first = chart.drawn.data[0].z[0][0]
            if (first !== window.seen.at(-1)) window.seen.push(first)  // its numbers follow when the keys rest
            return draw(...given)
        }
    }""")
    for key in ("ArrowRight", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowUp", "ArrowRight"):
        page.keyboard.press(key)
    page.wait_for_function(f"() => !({BEHIND})()")
    page.wait_for_url(lambda url: (asked(url)["layer"], asked(url)["head"]) == ("2", "5"))
    settle(page)
    assert len(page.evaluate("window.seen")) == 6  # once for each key, and not again when the server has answered
    same = page.evaluate(FIGURE, "drawn") == page.evaluate(FIGURE, "wanted")
    assert same


def test_lines_answer_a_finger_with_their_shares(page: Page, app_url: str) -> None:
    visit(page, app_url, "attention", **LINES | {"layer": "6", "head": "1"})  # which looks at many words
    chart, lit = page.locator(".chart.once").first, page.locator(".chart .lit text")
    expect(lit).to_have_count(0)
    for word in (4, 9):
        page.mouse.move(*chart.evaluate(MIDDLE, [word, -0.12]))
        expect(chart).to_have_class(re.compile("lighting"))
        said = [int(share.rstrip("%")) for share in lit.all_text_contents()]
        assert len(said) > 1 and 85 <= sum(said) <= 103  # what gets very little has no number
    page.mouse.move(1, 1)
    expect(lit).to_have_count(0)
    pair = "chart => chart.drawn.data.find(trace => trace.customdata).customdata[0]"
    row, column = chart.evaluate(pair)
    page.mouse.click(*chart.evaluate(MIDDLE, [row + 0.52 * (column - row), 0.52]))
    page.wait_for_url(lambda url: (asked(url).get("token"), asked(url).get("key")) == (str(row + 1), str(column + 1)))
    settle(page)
    page.mouse.move(1, 1)
    expect(lit).to_have_count(1)


def test_a_symbol_lights_the_picture_in_its_colour_and_a_picture_its_symbols(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/queries_keys_values?{urlencode(LINK)}")
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
