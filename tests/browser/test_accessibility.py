"""What screen readers, keyboards and weak eyes need, on every page, in both languages and themes."""

import re
from urllib.parse import quote, urlencode, urlsplit

import pytest
from playwright.sync_api import Page, expect

from pages.drawing.text import catalogue
from pages.screen.frame.contents import NAMES, path_of
from tests.browser.steps import (
    DESK,
    FAINT,
    NAMELESS,
    OWN_QUESTION,
    PHONE,
    SENTENCE,
    asked,
    expect_sentence,
    link_to,
    misplaced,
    open_settings,
    serious,
    settle,
    title,
    visit,
    wait_for,
)

pytestmark = pytest.mark.usefixtures("goes_on")
TOP = "() => document.querySelector('.js-plotly-plot, .overview')?.getBoundingClientRect().top ?? 0"
HIGH = 350  # px of 900, lowest start of the first picture
GROUND = "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor"


@pytest.mark.parametrize(
    ("language", "sentence", "names"),
    [("en", SENTENCE, NAMES[1::2]), ("zh", "今天天气很好，我们[MASK]公园玩吧。", NAMES[::2])],
    ids=["en", "zh"],
)
def test_every_page_can_be_read_by_everybody(
    page: Page, app_url: str, language: str, sentence: str, names: list[str]
) -> None:
    """Languages and themes alternate from page to page. The choice goes along.

    At a desk and on a phone; the tour with a teacher's own question.
    """
    page.emulate_media(color_scheme="light")
    link = {"lang": language, "s": sentence, "layer": "3", "head": "2", "lesson": OWN_QUESTION}
    visit(page, f"{app_url}/?{urlencode(link)}")
    wrong, tops = {}, {}
    for number, name in enumerate(names):
        page.set_viewport_size(DESK)
        if name != "home":
            link_to(page, name).click()
        title(page, name, language)
        assert urlsplit(page.url).path == f"/{path_of(name)}"
        if name != "flat":  # it reads a drawing
            expect_sentence(page, sentence)
        kept = {"s"} if name == "translation" else {"s", "layer", "head"}  # it has layers of its own
        page.wait_for_url(lambda url, kept=kept: {one: link[one] for one in kept}.items() <= asked(url).items())
        heading, home = (catalogue(language)[f"{which}.title"] for which in (name, "home"))
        expect(page).to_have_title(heading if name == "home" else f"{heading} · {home}")
        expect(page.locator("html")).to_have_attribute("lang", language)
        wrong[name] = serious(page) + page.evaluate(NAMELESS)
        expect(page.get_by_text("BidiComponent Error")).to_have_count(0)
        tops[name] = page.evaluate(TOP)
        for size in (DESK, PHONE):
            page.set_viewport_size(size)
            settle(page)
            wrong[name] += misplaced(page, cut=(name == "lesson") != (size is PHONE)) + page.evaluate(FAINT)
        ground = page.evaluate(GROUND)
        page.emulate_media(color_scheme="light" if number % 2 else "dark")
        page.wait_for_function(f"before => ({GROUND})() !== before", arg=ground)
    assert not any(wrong.values()), wrong
    assert all(top <= HIGH for top in tops.values()), tops


def test_an_address_that_leads_nowhere_is_answered_by_a_page_with_a_way_back(page: Page, app_url: str) -> None:
    language, address = "zh", "no/wh%2Fere"
    page.goto(f"{app_url}/{address}?lang={language}&s=hello")
    heading = page.get_by_test_id("stMain").get_by_role("heading").first
    expect(heading).to_have_text(catalogue(language)["frame.lost_title"])
    expect(page.get_by_test_id("stMain")).to_contain_text(re.sub("/|%2F", "∕", address))
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name=catalogue(language)["frame.lost_home"]).click()
    title(page, "home", language)
    expect_sentence(page, "hello")


def test_a_digit_can_be_drawn_and_taken_back_with_the_keyboard(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/answer?input=digit&lang=en")
    title(page, "answer")
    page.locator(".st-key-draw button").press("Enter")
    pad = page.get_by_role("application", name=catalogue("en")["sidebar.pad"])
    undo, clear = (page.get_by_role("button", name=catalogue("en")[f"sidebar.{name}"]) for name in ("undo", "clear"))
    expect(undo).to_be_disabled()
    clear.press("Enter")
    expect(page.get_by_text(catalogue("en")["error.digit_blank"])).to_be_visible()
    pad.focus()
    for key in (" ", *["ArrowDown"] * 14, " "):
        pad.press(key)
    expect(page.locator(".st-key-line").get_by_text("1", exact=True).last).to_be_visible()
    undo.press("Enter")
    expect(page.get_by_text(catalogue("en")["error.digit_blank"])).to_be_visible()
    undo.press("Enter")  # back to what was there before clearing
    expect(page.get_by_text(catalogue("en")["error.digit_blank"])).not_to_be_visible()
    expect(undo).to_be_disabled()


#: Translate a page as browsers do: replace each text by an element.
TRANSLATE = """() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT, text =>
        text.nodeValue.trim() && text.parentElement.translate && !text.parentElement.closest('script, style, font')
            ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT)
    const found = []
    while (texts.nextNode()) found.push(texts.currentNode)
    for (const text of found) {
        const outer = document.createElement('font'), inner = document.createElement('font')
        inner.textContent = `¡${text.nodeValue}!`
        outer.append(inner)
        text.replaceWith(outer)
    }
}"""


UNTRANSLATED = ".sentence .chip, .ytick text, .katex, .formula, [class*=st-key-working] td"


def test_a_translated_page_goes_on_and_its_tokens_numbers_and_symbols_stay(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/attention?lang=en&s={quote(SENTENCE)}&layer=2&head=3")
    title(page, "attention")
    page.locator(".chart .ytick").first.wait_for()
    settle(page)
    names, page_title = page.locator(UNTRANSLATED), page.get_by_test_id("stMain").get_by_role("heading").first
    before = names.all_text_contents()
    page.evaluate(TRANSLATE)
    expect(page_title).to_have_text(f"¡{catalogue('en')['attention.title']}!")
    assert names.all_text_contents() == before and len(before) > 20
    page.locator(".st-key-either-layer button").nth(3).click()
    wait_for(page, layer="4")
    expect(page.get_by_test_id("stMain").get_by_text("layer 4, head 3").first).to_be_visible()
    link_to(page, "heads").click()
    page.wait_for_url(lambda url: urlsplit(url).path == "/heads")
    settle(page)
    expect(page_title).to_contain_text(catalogue("en")["heads.title"])
    link_to(page, "tokens").click()
    page.wait_for_url(lambda url: urlsplit(url).path == "/tokens")
    settle(page)
    expect(page_title).to_contain_text(catalogue("en")["tokens.title"])
    page.goto("about:blank")  # where nothing is translated


LOOK = """part => {
    const { backgroundColor, fill, outlineStyle } = getComputedStyle(part)
    return [part instanceof SVGElement ? fill : backgroundColor, outlineStyle]
}"""


def test_in_forced_colours_what_is_chosen_on_or_hidden_looks_otherwise(page: Page, app_url: str) -> None:
    page.emulate_media(forced_colors="active")
    visit(page, f"{app_url}/?lang=en&s={quote(SENTENCE)}&hidden=3&layer=2&head=3")
    title(page, "home")
    page.locator(".overview .thumb[aria-pressed=true]").wait_for()
    ground, bars = page.evaluate(GROUND), [".bar i"]
    for role, bar in (("w", ".shares path"), ("a", ".part i")):
        page.locator(f".overview .pic[data-role={role}]").focus()
        page.keyboard.press("Enter")
        expect(page.locator(f".overview {bar}").first).to_be_attached()
        assert ground not in [page.locator(f".overview {one}").first.evaluate(LOOK)[0] for one in [*bars, bar]]
    page.keyboard.press("Escape")
    open_settings(page)
    track = "[data-testid=stCheckbox] label > div:first-of-type"
    pairs = {
        "a word": ".sentence .chip[aria-pressed={}]",
        "a head of the overview": ".overview .thumb[aria-pressed={}]",
        "a button": ".st-key-lang [aria-checked={}]",
    }
    seen = {
        name: [page.locator(part.format(on)).first.evaluate(LOOK) for on in ("true", "false")]
        for name, part in pairs.items()
    }
    assert all(on != off for on, off in seen.values()), seen
    switch = page.locator(f".st-key-big {track}")
    off = switch.evaluate(LOOK)
    assert off[1] != "none", "it has an outline"
    page.locator(".st-key-big label").first.click()
    wait_for(page, big="true")
    open_settings(page)
    assert switch.evaluate(LOOK) != off
    page.keyboard.press("Escape")
    link_to(page, "tokens").click()
    title(page, "tokens")
    tabs = [page.locator(f"[class*=-tabs] [aria-checked={on}]").first.evaluate(LOOK) for on in ("true", "false")]
    assert tabs[0] != tabs[1]
