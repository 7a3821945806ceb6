"""Without a mouse: arrows choose heads and layers, with Shift the cell; digits choose the step, and steps can be
played.
"""

import re
from itertools import groupby

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import PAGE, SENTENCE, asked, opened, place, sentence_field, visit, wait_for

pytestmark = pytest.mark.usefixtures("goes_on")


def test_arrows_choose_head_layer_and_cell_digits_the_step_and_what_is_typed_moves_nothing(
    page: Page, app_url: str
) -> None:
    visit(page, f"{app_url}/{PAGE}&token=3&key=4")
    opened(page, "attention")
    keyboard = page.keyboard
    keyboard.press("ArrowRight")
    wait_for(page, head="4")
    keyboard.press("ArrowDown")
    wait_for(page, layer="3", head="4")
    keyboard.press("ArrowUp")
    wait_for(page, layer="2", head="4")
    keyboard.press("ArrowLeft")
    wait_for(page, layer="2", head="3")
    for key in ("ArrowRight", "ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft"):  # faster than any page
        keyboard.press(key)
    wait_for(page, layer="4", head="4")
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        keyboard.press(key)
    wait_for(page, layer="2", head="3")
    keyboard.press("Shift+ArrowDown")
    wait_for(page, token="4", key="4")
    keyboard.press("Shift+ArrowRight")
    wait_for(page, token="4", key="5")
    expect(page.locator("[class*=st-key-working]")).to_contain_text("“the” → “dog”")
    keyboard.press("1")
    wait_for(page, stage="scores")
    expect(page.get_by_role("radio", name="q · k")).to_be_checked()
    field = sentence_field(page)
    for key in ("ArrowLeft", "ArrowUp", "Home", "1", "ArrowRight"):
        keyboard.press(key)
    expect(field).to_have_value(f"1{SENTENCE}")
    keyboard.press("Enter")
    wait_for(page, s=f"1{SENTENCE}", layer="2", head="3")
    expect(place(page, "head", 3)).to_be_checked()


def test_arrows_go_on_choosing_the_head_after_a_click_on_a_word(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE}&tab=steps")  # where nothing has been said yet
    opened(page, "attention")
    page.locator(".sentence .chip").nth(3).click()
    expect(page.locator("#said")).to_be_empty()
    page.keyboard.press("ArrowRight")
    wait_for(page, hidden="5", head="4")
    expect(page.locator("#said")).to_have_text(re.compile("^layer 2, head 4 · ", re.IGNORECASE))
    closed = "[...document.querySelectorAll('[data-testid=stSidebar] :is(button, input, a, [tabindex])')]"
    assert page.evaluate(f"{closed}.every(one => getComputedStyle(one).visibility === 'hidden')"), "no Tab stop"
    page.get_by_role("radio", name="mask").click()
    page.keyboard.press("ArrowDown")
    wait_for(page, stage="masked", layer="3", head="4")
    place(page, "layer", 3).focus()  # as with Tab: then the row uses the arrows
    page.keyboard.press("ArrowRight")
    expect(place(page, "layer", 4)).to_be_focused()
    page.keyboard.press("Enter")
    wait_for(page, layer="4", head="4")


def test_play_goes_through_all_steps_and_stops(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/{PAGE}&tab=steps")
    opened(page, "attention")
    play = page.get_by_role("button", name=re.compile("Play"))
    seen = []
    page.on("framenavigated", lambda frame: seen.append(asked(frame.url).get("stage")))
    play.dblclick(delay=150)  # some people double-click everything
    wait_for(page, stage="heads")
    expect(play).to_be_visible()  # no longer Stop
    page.wait_for_timeout(2500)
    assert [step for step, _ in groupby(seen)] == ["scores", "scaled", "masked", "weights", "heads"]


def test_a_presenters_remote_goes_on_and_back_with_all_that_is_chosen_and_then_one_press_is_one_step(
    page: Page, app_url: str
) -> None:
    visit(page, f"{app_url}/{PAGE}&big=true")
    opened(page, "attention")
    page.keyboard.press("ArrowRight")
    wait_for(page, head="4")
    page.keyboard.press("PageDown")
    opened(page, "heads")
    wait_for(page, head="4", big="true")
    page.keyboard.press("PageDown")
    opened(page, "add_and_norm")
    page.keyboard.press("PageUp")
    opened(page, "heads")
    page.keyboard.press("ArrowRight")
    wait_for(page, head="5")
    page.wait_for_timeout(500)
    assert asked(page.url)["head"] == "5"


def test_points_are_drawn_in_a_presentation_and_arrows_scroll_a_long_equation(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 700, "height": 720})
    visit(page, f"{app_url}/{PAGE.replace('attention', 'queries_keys_values')}&tab=plane&big=true")
    page.locator(".chart .scatterlayer .point").first.wait_for()
    page.set_viewport_size({"width": 320, "height": 720})
    visit(page, f"{app_url}/{PAGE.replace('attention', 'feed_forward')}")
    opened(page, "feed_forward")
    page.locator(".katex-display[tabindex]").first.focus()
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => document.activeElement.scrollLeft > 0")
    assert asked(page.url).get("head") == "3"
