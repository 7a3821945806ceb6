"""Stories that ask, in a browser: every gesture by keyboard, and on a phone by touch; then the picture."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from pages.ui.text import catalogue
from tests.browser.conftest import watch
from tests.browser.test_accessibility import FAINT, NAMELESS, serious
from tests.browser.test_journeys import asked, settle

SENTENCE = "she [MASK] to the shop to buy some bread ."
CHART = ".js-plotly-plot"
#: A tap on a token that is looked at, as Plotly tells it, wherever on the screen that is by now.
TAP = """(chart, place) => {
    chart.moved = -Infinity
    chart.emit('plotly_click', { points: [{ x: 1.12, y: place, customdata: [-1, place] }] })
}"""


@pytest.fixture
def phone(browser: Browser, requests: list[str]) -> Iterator[Page]:
    size = {"width": 390, "height": 844}
    with browser.new_context(viewport=size, has_touch=True, is_mobile=True, color_scheme="dark") as context:
        watch(context, requests)
        yield context.new_page()


def press(what: Locator, *keys: str) -> None:
    """Press keys where the focus is set to an element of the page, and wait for the answer."""
    what.focus()
    for key in keys:
        what.page.keyboard.press(key)
    settle(what.page)


def button(page: Page, key: str) -> Locator:
    return page.locator(f"[class*='st-key-{key}'] button").first


def send(page: Page, name: str) -> None:
    """Send the guess, as soon as the server knows it: before that the button takes no focus, and a key is lost."""
    expect(button(page, f"{name}-send")).to_be_enabled()
    press(button(page, f"{name}-send"), "Enter")


def test_a_word_beans_an_option_and_a_number_are_given_by_keyboard(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/attention?lang=en&s={SENTENCE.replace(' ', '+')}&layer=3&head=7")
    expect(button(page, "attention-send")).to_be_disabled()
    shop = page.locator("[class*='st-key-attention-beans']").get_by_role("button", name="shop")
    settle(page)
    page.locator(CHART).evaluate(TAP, 5)  # in the picture behind its curtain
    expect(shop).to_contain_text("10")
    for count in range(20, 101, 10):
        press(shop, "Enter")
        expect(shop).to_contain_text(str(count))
    send(page, "attention")
    expect(page.get_by_text("Not yet")).to_be_visible()
    press(button(page, "attention-show"), "Enter")
    expect(page.locator(CHART)).to_have_count(2)
    assert asked(page.url)["seen"] == "attention"

    page.goto(f"{app_url}/add_and_norm?lang=en&s={SENTENCE.replace(' ', '+')}")
    slider = page.get_by_test_id("stMain").get_by_role("slider")
    expect(slider).to_be_visible()
    settle(page)
    press(slider, "ArrowRight", "ArrowRight")
    send(page, "add_and_norm")
    expect(page.get_by_text(re.compile("Not yet|Yes"))).to_be_visible()

    page.goto(f"{app_url}/tokens?lang=en&s={SENTENCE.replace(' ', '+')}")
    option = page.locator("[class*='st-key-tokens-places']").get_by_role("radio").first
    expect(option).to_be_visible()
    settle(page)
    press(option, "Space")
    send(page, "tokens")
    expect(page.locator(CHART).first).to_be_visible()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_on_a_phone_home_asks_for_a_word_and_shows_it_among_those_of_the_network(
    phone: Page, app_url: str, lang: str
) -> None:
    words, mine = catalogue(lang), {"en": "ran", "zh": "看"}[lang]
    sentence = {"en": SENTENCE, "zh": "我们[MASK]公园玩吧。"}[lang]
    phone.goto(f"{app_url}/?lang={lang}&s={sentence.replace(' ', '+')}")
    expect(phone.get_by_text(words["lesson.word.ask"])).to_be_visible()
    settle(phone)
    box = phone.locator("[class*='st-key-home-word'] input")
    box.tap()
    phone.keyboard.type(mine)
    phone.keyboard.press("Enter")  # sends it, as the button does
    expect(phone.get_by_text(re.sub(r"\*\*", "", words["lesson.not_yet"]))).to_be_visible()
    button(phone, "home-show").tap()
    expect(phone.locator(f"{CHART} .ytick").get_by_text(words["lesson.yours"])).to_be_visible()
    assert asked(phone.url)["seen"] == "home"
    assert phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


@pytest.mark.parametrize(("lang", "scheme"), [("en", "light"), ("zh", "dark")])
def test_a_question_and_its_answer_can_be_read_by_everybody(page: Page, app_url: str, lang: str, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)
    wrong = {}
    for name in ("home", "tokens", "queries_keys_values", "attention", "add_and_norm"):
        page.goto(f"{app_url}/{'' if name == 'home' else name}?lang={lang}")
        expect(button(page, f"{name}-show")).to_be_visible()
        settle(page)
        wrong[name] = serious(page) + page.evaluate(FAINT) + page.evaluate(NAMELESS)
        button(page, f"{name}-show").click()
        expect(page.locator(CHART).first).to_be_visible()
        settle(page)
        wrong[name] += serious(page) + page.evaluate(FAINT) + page.evaluate(NAMELESS)
    assert not any(wrong.values()), wrong
