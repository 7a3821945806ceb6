"""What the browser draws before the server has answered is what the server then draws, to the last number."""

from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page

from tests.browser.painted import LONG
from tests.browser.test_journeys import settle

SENTENCE = "the animal did not cross the street because it was too tired ."
NUMBERS = {"lang": "en", "input": "sentence", "s": SENTENCE, "layer": "2", "head": "3", "depth": "numbers"}
STORY = NUMBERS | {"depth": "story", "seen": "attention~heads"}
DIGIT = {"lang": "en", "input": "digit", "layer": "2", "head": "3", "depth": "story", "seen": "attention"}
#: The figure that is drawn, or that the server wants drawn, as plain numbers: without what is not there.
FIGURE = """(which) => {
    const flat = value => {
        if (ArrayBuffer.isView(value) || Array.isArray(value)) return [...value].map(flat)
        if (typeof value === 'number') return Number.isNaN(value) ? null : Math.fround(value)
        if (value === null || typeof value !== 'object') return value ?? null
        return Object.fromEntries(Object.entries(value).filter(([, part]) => (part ?? null) !== null).sort()
            .map(([name, part]) => [name, flat(part)]))
    }
    const chart = document.querySelector('.chart.once')
    return flat(which === 'drawn' ? chart.drawn : chart.wanted.figure)
}"""
#: Press a key; returns what is drawn at once, without the server.
PRESS = f"""key => {{
    const pressed = {{ key: key.replace('Shift+', ''), shiftKey: key.startsWith('Shift+') }}
    document.body.dispatchEvent(new KeyboardEvent('keydown', {{ ...pressed, bubbles: true, composed: true }}))
    return ({FIGURE})('drawn')
}}"""
BEHIND = "() => document.documentElement.matches('.behind')"


def visit(page: Page, url: str, name: str, **link: str) -> None:
    page.goto(f"{url}/{name}?{urlencode(link)}")
    page.wait_for_function("() => Boolean(document.listening)")
    page.locator(".chart.once .main-svg").first.wait_for(state="attached")
    page.wait_for_function("() => Boolean(document.atOnce)")
    settle(page)


@pytest.mark.parametrize(
    ("name", "link", "keys"),
    [
        ("attention", STORY, "ArrowRight ArrowDown Shift+ArrowDown"),
        ("attention", STORY | {"s": LONG}, "ArrowRight Shift+ArrowUp"),
        ("attention", NUMBERS, "ArrowRight ArrowUp Shift+ArrowRight Shift+ArrowDown ArrowLeft"),
        ("attention", NUMBERS | {"s": LONG}, "ArrowRight Shift+ArrowRight Shift+ArrowDown"),
        ("attention", NUMBERS | {"hide": "true", "range": "layer"}, "ArrowDown ArrowRight"),
        ("attention", NUMBERS | {"stage": "scores", "range": "all"}, "ArrowDown Shift+ArrowLeft"),
        ("attention", NUMBERS | {"stage": "scaled", "token": "6", "key": "3"}, "ArrowRight ArrowDown"),
        ("attention", NUMBERS | {"stage": "masked", "edits": "layers.1.attention.masked~zero~~4"}, "ArrowRight"),
        ("attention", NUMBERS | {"as": "row"}, "ArrowRight Shift+ArrowDown"),
        ("attention", NUMBERS | {"as": "lines", "least": "10", "hide": "true"}, "ArrowRight Shift+ArrowDown"),
        ("attention", DIGIT, "ArrowRight ArrowDown Shift+ArrowRight Shift+ArrowDown"),
        ("attention", DIGIT | {"depth": "numbers", "as": "map"}, "ArrowRight Shift+ArrowDown"),
        ("attention", NUMBERS | {"big": "true"}, "ArrowRight"),
        ("heads", STORY, "ArrowRight ArrowDown"),
        ("heads", NUMBERS | {"s": LONG}, "ArrowRight ArrowUp"),
    ],
    ids=lambda value: value if isinstance(value, str) else "-".join(f"{v}"[:8] for v in list(value.values())[4:]),
)
def test_what_a_key_draws_at_once_is_what_the_server_draws(
    page: Page, app_url: str, name: str, link: dict[str, str], keys: str
) -> None:
    visit(page, app_url, name, **link)
    for key in keys.split():
        before = page.evaluate(FIGURE, "wanted")
        assert page.evaluate(FIGURE, "drawn") == before
        drawn = page.evaluate(PRESS, key)
        assert drawn != before
        page.wait_for_function(f"() => !({BEHIND})()")
        settle(page)
        assert page.evaluate(FIGURE, "wanted") == drawn, key
