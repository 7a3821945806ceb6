"""The stage strip leads to every page with all that is chosen by then, and one step back is one step."""

import pytest
from playwright.sync_api import Page, expect

from pages.ui.frame.contents import PAGES
from tests.browser.test_accessibility import serious
from tests.browser.test_journeys import FORMULA, asked, link_to, settle, title
from tests.browser.test_keys import PAGE, one_head_on, opened, wait_for


def test_a_step_back_from_a_page_is_one_step_with_what_was_chosen(page: Page, app_url: str) -> None:
    one_head_on(page, app_url)
    link_to(page, "heads").click()
    opened(page, "heads")
    wait_for(page, head="4")
    page.go_back()
    title(page, "attention")
    assert asked(page.url)["head"] == "4"
    page.go_forward()
    title(page, "heads")
    assert asked(page.url)["head"] == "4"


def test_the_first_step_back_leaves_no_page_that_nobody_opened(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/")
    title(page, "home")
    page.wait_for_url(lambda url: "layer" in asked(url))
    link_to(page, "tokens").click()
    title(page, "tokens")
    page.go_back()
    title(page, "home")
    page.go_back()
    assert page.url == "about:blank"


def test_a_link_opened_in_another_tab_shows_what_is_chosen_by_now(page: Page, app_url: str) -> None:
    one_head_on(page, app_url)
    with page.context.expect_page() as other:
        link_to(page, "layers").click(modifiers=["ControlOrMeta"])
    tab = other.value
    title(tab, "layers")
    assert (asked(tab.url)["head"], asked(tab.url)["s"]) == ("4", asked(page.url)["s"])
    tab.close()
    title(page, "attention")


def test_a_menu_opens_by_key_closes_by_key_and_leads_on(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1200, "height": 768})
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    menu = page.locator(".strip .menu:visible")
    menu.focus()
    page.keyboard.press("Enter")
    first = page.locator(".strip .apart a").first
    expect(first).to_be_visible()
    page.keyboard.press("Escape")
    expect(first).to_be_hidden()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    expect(first).to_be_focused()
    page.keyboard.press("Enter")
    title(page, "what_if")


def test_two_impatient_clicks_on_the_strip_lead_to_the_last(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    link_to(page, "heads").click(no_wait_after=True)
    link_to(page, "layers").click(no_wait_after=True)
    opened(page, "layers")
    page.wait_for_timeout(500)
    title(page, "layers")


def test_nobody_is_called_back_by_a_link_that_led_nowhere(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE.replace('attention', 'heads', 1)}")
    opened(page, "heads")
    link_to(page, "attention").dblclick(delay=300)  # the second click falls on the page that has just come
    opened(page, "attention")
    link_to(page, "attention").click()
    settle(page)
    page.go_back()
    opened(page, "heads")
    page.wait_for_timeout(1000)
    title(page, "heads")


def test_a_key_on_the_strip_keeps_its_place_there(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    link_to(page, "heads").focus()
    page.keyboard.press("Enter")
    opened(page, "heads")
    expect(link_to(page, "heads")).to_be_focused()


@pytest.mark.parametrize("width", [1024, 911])
def test_on_a_projector_the_strip_and_a_long_equation_are_whole(page: Page, app_url: str, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 768})
    page.goto(f"{app_url}/attention?{FORMULA}")
    title(page, "attention")
    for part in (page.locator(".strip"), page.locator(".katex-display").first):
        assert part.evaluate("part => part.scrollWidth <= part.clientWidth")
    page.goto(f"{app_url}/shapes_and_cost?lang=en")
    settle(page)
    any_length = page.get_by_role("radio", name="any")
    any_length.click()
    expect(any_length).to_be_checked()


def test_what_comes_in_and_goes_out_opens_at_the_pages_name_and_closes_by_key(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    tell, box = page.locator(".strip .tell"), page.locator(".strip .passing")
    expect(box).to_be_hidden()
    tell.focus()
    page.keyboard.press("Enter")
    expect(box).to_contain_text("8 × 9 × 32")
    assert serious(page) == []
    page.keyboard.press("Escape")
    expect(box).to_be_hidden()
    expect(tell).to_be_focused()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_on_a_desk_every_page_stands_in_the_one_row_of_the_map(page: Page, app_url: str, language: str) -> None:
    page.goto(f"{app_url}/{PAGE.replace('lang=en', f'lang={language}')}")
    title(page, "attention", language)
    links = page.locator(".strip a:visible")
    expect(links).to_have_count(len(PAGES))
    assert page.locator(".strip").bounding_box()["height"] < 42
    filled = page.locator(".strip .storeys i").evaluate_all("all => all.map(one => one.className)")
    assert filled == ["", "on", "", "", "", ""]


@pytest.mark.parametrize("name", ["queries_keys_values", "attention", "heads", "add_and_norm", "feed_forward"])
def test_in_a_presentation_name_equation_and_way_on_cost_no_height(page: Page, app_url: str, name: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app_url}/{name}?lang=en&big=true")
    opened(page, name)
    row = page.locator(".st-key-top_big")
    expect(row.locator(".katex").first).to_be_in_viewport(ratio=1)
    assert row.bounding_box()["height"] <= 42
    right = max(
        part["x"] + part["width"] for part in (p.bounding_box() for p in row.get_by_role("button").all()) if part
    )
    assert right <= 1280
