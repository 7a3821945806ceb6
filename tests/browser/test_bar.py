"""The bar leads to every page with the current choice, and each step is one step in the history."""

import pytest
from playwright.sync_api import Page, expect

from pages.drawing.text import LANGUAGES
from pages.screen.frame.contents import pages
from tests.browser.steps import PAGE, asked, link_to, one_head_on, opened, settle, title, visit, wait_for

pytestmark = pytest.mark.usefixtures("goes_on")


def test_another_tab_has_what_is_chosen_a_step_back_too_and_the_first_leaves_no_page_that_nobody_opened(
    page: Page, app_url: str
) -> None:
    one_head_on(page, app_url)
    with page.context.expect_page() as other:
        link_to(page, "layers").click(modifiers=["ControlOrMeta"])
    tab = other.value
    title(tab, "layers")
    assert (asked(tab.url)["head"], asked(tab.url)["s"]) == ("4", asked(page.url)["s"])
    tab.close()
    title(page, "attention")
    page.locator(".sentence .type").focus()
    heads = link_to(page, "heads")
    for _ in range(60):
        page.keyboard.press("Shift+Tab")
        if heads.evaluate("link => link === document.activeElement"):
            break
    page.keyboard.press("Enter")
    opened(page, "heads")
    expect(link_to(page, "heads")).to_be_focused()
    wait_for(page, head="4")
    page.go_back()
    title(page, "attention")
    assert asked(page.url)["head"] == "4"
    page.go_forward()
    title(page, "heads")
    assert asked(page.url)["head"] == "4"
    tab = page.context.new_page()
    tab.goto(f"{app_url}/")
    title(tab, "home")
    tab.wait_for_url(lambda url: "layer" in asked(url))
    link_to(tab, "tokens").click()
    title(tab, "tokens")
    tab.go_back()
    title(tab, "home")
    tab.go_back()
    assert tab.url == "about:blank"
    tab.close()


def test_a_menu_opens_by_key_closes_by_key_and_leads_on(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1200, "height": 768})
    visit(page, f"{app_url}/{PAGE}")
    opened(page, "attention")
    menu = page.locator(".navbar .menu:visible")
    menu.focus()
    page.keyboard.press("Enter")
    first = page.locator(".navbar .more a").first
    expect(first).to_be_visible()
    page.keyboard.press("Escape")
    expect(first).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    title(page, "translation")


#: A button that its first press replaces; counts its clicks.
REPLACED = """() => { window.clicks = 0
    const put = () => { document.querySelector('.replaced')?.remove()
        const box = Object.assign(document.createElement('div'), { className: 'replaced', onclick: () => clicks++ })
        box.dataset.testid = 'stButton'
        box.innerHTML = '<button style="position: fixed; inset: 9px; z-index: 999"></button>'
        document.body.append(box) }
    put()
    addEventListener('mousedown', put, { once: true }) }"""


def test_two_impatient_clicks_lead_to_the_last_and_nobody_is_called_back_by_a_link_that_led_nowhere(
    page: Page, app_url: str
) -> None:
    visit(page, f"{app_url}/{PAGE}")
    opened(page, "attention")
    link_to(page, "layers").click(no_wait_after=True)
    link_to(page, "heads").click(no_wait_after=True)
    opened(page, "heads")
    page.wait_for_timeout(500)
    title(page, "heads")
    link_to(page, "attention").dblclick(delay=300)  # the second click falls on the new page
    opened(page, "attention")
    link_to(page, "attention").click()
    settle(page)
    page.go_back()
    opened(page, "heads")
    page.wait_for_timeout(1000)
    title(page, "heads")
    page.evaluate(REPLACED)
    page.mouse.move(50, 50)
    for count in (1, 2):
        page.mouse.down(click_count=count)
        page.mouse.up(click_count=count)
    assert page.evaluate("clicks") == 1
    page.locator(".replaced").evaluate("box => box.remove()")


def test_the_bar_and_a_long_equation_are_whole_and_on_a_desk_the_pages_stand_in_one_row(
    page: Page, app_url: str
) -> None:
    for language in LANGUAGES:
        page.set_viewport_size({"width": 1440, "height": 768})
        visit(page, f"{app_url}/{PAGE.replace('lang=en', f'lang={language}')}")
        title(page, "attention", language)
        expect(page.locator(".navbar a:visible")).to_have_count(sum(row.group != "more" for row in pages()))
        boxes = [link.bounding_box() for link in page.locator(".navbar a:visible").all()]
        assert max(box["y"] for box in boxes) - min(box["y"] for box in boxes) < 8
        for width in (1440, 911) if language == "en" else (1440,):
            page.set_viewport_size({"width": width, "height": 768})
            for part in (page.locator(".navbar"), page.locator(".katex-display").first):
                page.wait_for_function("part => part.scrollWidth <= part.clientWidth", arg=part.element_handle())


COMPUTING = """header => {
    const sign = Object.assign(document.createElement('div'), { innerHTML: 'icon <button>Stop</button>' })
    sign.dataset.testid = 'stStatusWidget'
    header.querySelector('[data-testid=stToolbar]').append(sign)
    const seen = [sign.getBoundingClientRect().top, sign.querySelector('button').offsetHeight]
    sign.remove()
    return seen }"""


def test_what_tells_that_a_page_is_computed_lies_on_no_word_of_the_bar(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/attention?lang=en")
    opened(page, "attention")
    top, button = page.get_by_test_id("stHeader").evaluate(COMPUTING)
    assert top > 0.9 * page.viewport_size["height"] and button == 0
