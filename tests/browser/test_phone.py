"""On a phone: a thumb scrolls and taps, and the sentence is at the top of the page."""

import re
from itertools import pairwise

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.screen.frame.contents import NAMES
from tests.browser.steps import (
    MIDDLE,
    PAGE,
    SENTENCE,
    TOUCHING,
    WIDEST,
    open_settings,
    opened,
    place,
    sentence_field,
    serious,
    settle,
    title,
    visit,
    wait_for,
    write,
)

pytestmark = pytest.mark.usefixtures("goes_on")
SCROLLED = "document.querySelector('[data-testid=stAppViewContainer]').scrollTop"
AT_REST = f"() => new Promise(done => {{ const at = {SCROLLED}; setTimeout(() => done(at === {SCROLLED}), 150) }})"
SIDEWAYS = r"""chart => [...chart.querySelectorAll('.xtick text')]
    .filter(label => /\p{Script=Han}/u.test(label.textContent))
    .filter(label => /rotate\((?!0)/.test(label.getAttribute('transform')))
    .map(label => label.textContent)"""

# Height of a chart below its colour bar.
BELOW = """chart => chart.closest('.chart').getBoundingClientRect().bottom
    - chart.querySelector('.colorbar').getBoundingClientRect().bottom"""


def swipe(page: Page, chart: Locator, by: int) -> None:
    """Swipe up on a chart and rest: a page still gliding would swallow the next tap."""
    box = chart.bounding_box()
    place = {"x": box["x"] + box["width"] / 2, "y": min(box["y"] + box["height"] / 2, 700)}
    thumb = page.context.new_cdp_session(page)
    thumb.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [place]})
    for y in range(20, by + 20, 20):
        finger = {"x": place["x"], "y": place["y"] - y}
        thumb.send("Input.dispatchTouchEvent", {"type": "touchMove", "touchPoints": [finger]})
    page.wait_for_timeout(200)
    thumb.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


def test_the_drawer_comes_over_the_page_and_a_tap_beside_it_does_nothing_but_put_it_away(
    phone: Page, app_url: str
) -> None:
    visit(phone, f"{app_url}/attention?lang=en&layer=3&head=7")
    chart = phone.locator(".chart").first
    chart.locator(".ytick").first.wait_for()
    settle(phone)
    drawer, before = phone.get_by_test_id("stSidebar"), chart.bounding_box()
    expect(drawer).to_be_hidden()
    phone.locator(".navbar .settings").tap()
    for part in ("Language", "Presentation (large)", "Share"):
        expect(phone.get_by_text(part, exact=True).first).to_be_in_viewport(ratio=1)
    assert chart.bounding_box() == before, "it pushes nothing"
    assert phone.evaluate(WIDEST) <= 0
    ground = drawer.evaluate("drawer => getComputedStyle(drawer).backgroundColor")
    assert ground.startswith("rgb("), "nothing shines through"
    width = phone.viewport_size["width"]
    assert drawer.bounding_box()["width"] < width - 20, "there is a place beside it"
    phone.keyboard.press("Escape")
    chart.scroll_into_view_if_needed()
    phone.wait_for_function(AT_REST)
    link, (x, y) = phone.url, chart.evaluate(MIDDLE, [3, 14])
    cell = x + 8, y  # next to the drawer
    assert cell[0] > drawer.bounding_box()["width"]
    open_settings(phone)
    phone.touchscreen.tap(*cell)
    expect(drawer).to_be_hidden()
    phone.wait_for_timeout(500)
    settle(phone)
    assert phone.url == link


def test_a_thumb_types_at_the_top_scrolls_over_charts_and_chooses_with_one_tap(phone: Page, app_url: str) -> None:
    visit(phone, f"{app_url}/attention?lang=en&layer=1&head=1")
    title(phone, "attention")
    expect(phone.locator(".sentence")).to_be_in_viewport(ratio=1)
    sentence_field(phone)
    assert phone.evaluate(WIDEST) <= 0
    write(phone, "she gave the dog a book .")
    expect(phone.get_by_test_id("InputInstructions")).not_to_be_visible()

    chart = phone.locator(".js-plotly-plot").first
    chart.locator(".ytick").first.wait_for()
    before = phone.evaluate(SCROLLED)
    swipe(phone, chart, by=200)
    phone.wait_for_function(f"{SCROLLED} > {before} + 100")
    expect(phone.locator(".modebar").first).not_to_be_visible()

    chart.scroll_into_view_if_needed()
    phone.wait_for_function(AT_REST)
    settle(phone)
    phone.touchscreen.tap(*chart.evaluate(MIDDLE, [3, 5]))
    wait_for(phone, token="4", key="6")

    phone.set_viewport_size({"width": 844, "height": 390})  # landscape
    expect(phone.locator(".navbar .settings")).to_be_visible()
    assert phone.evaluate(WIDEST) <= 0


#: Whether no number of a cell is seen over a picture.
NOTHING_TOLD = (
    "() => [...document.querySelectorAll('.hovertext')].every(each => getComputedStyle(each).opacity === '0')"
)


def test_the_number_of_a_cell_does_not_stay_over_the_picture_from_which_a_finger_has_chosen(
    phone: Page, app_url: str
) -> None:
    for link in ("heads?lang=en", "lesson?lang=en&question=fit"):  # the second is answered by the tap
        visit(phone, f"{app_url}/{link}")
        chart = phone.locator(".js-plotly-plot").first
        chart.locator(".ytick").first.wait_for()
        settle(phone)
        chart.scroll_into_view_if_needed()
        phone.wait_for_function(AT_REST)
        box = chart.bounding_box()
        phone.touchscreen.tap(box["x"] + 0.6 * box["width"], box["y"] + 0.5 * box["height"])
        phone.wait_for_timeout(500)
        phone.wait_for_function(NOTHING_TOLD, timeout=7000)


def test_no_word_in_the_cells_of_the_logit_lens_is_too_small_or_wider_than_its_cell(phone: Page, app_url: str) -> None:
    visit(phone, f"{app_url}/layers?lang=en&s=the+animal+did+not+cross+the+street+because+it+was+too+tired+.")
    title(phone, "layers")
    phone.locator(".js-plotly-plot .annotation").nth(24).wait_for()
    settle(phone)
    shown = """chart => [...chart.querySelectorAll('text')]
        .filter(one => one.textContent.trim() && one.checkVisibility())
        .map(one => [one.textContent, parseFloat(getComputedStyle(one.querySelector('tspan') ?? one).fontSize),
                     one.getBoundingClientRect().width, one.closest('.hm, .annotation') !== null])"""
    every = phone.locator(".js-plotly-plot").first.evaluate(shown)
    cells = [(text, width) for text, _, width, cell in every if cell and re.fullmatch("[a-z…]+", text)]
    assert [text for text, size, *_ in every if size < 11] == []
    *narrow, _, _, _, _ = sorted(width for _, width in cells)  # four are names at the paths' ends
    assert max(narrow) < 30
    assert phone.evaluate(WIDEST) <= 0


def test_no_number_below_the_stairs_of_a_product_lies_on_its_neighbour(phone: Page, app_url: str) -> None:
    visit(phone, f"{app_url}/queries_keys_values?lang=en")
    title(phone, "queries_keys_values")
    phone.locator(".js-plotly-plot .xtick").first.wait_for()
    settle(phone)
    phone.wait_for_function(AT_REST)
    shown = """labels => labels.filter(label => label.style.visibility !== 'hidden')
        .map(label => label.getBoundingClientRect()).map(({ left, right }) => [left, right])
        .sort((a, b) => a[0] - b[0])"""
    places = phone.locator(".js-plotly-plot").first.locator(".xtick text").evaluate_all(shown)
    assert len(places) > 5
    assert all(right + 2 < left for (_, right), (left, _) in pairwise(places))


def test_a_page_that_is_opened_from_the_end_of_another_begins_at_its_top(phone: Page, app_url: str) -> None:
    visit(phone, f"{app_url}/?lang=en")
    title(phone, "home")
    for there in ("tokens", "queries_keys_values"):
        phone.get_by_test_id("stPageLink").last.get_by_role("link").tap()
        title(phone, there)
        settle(phone)
        phone.wait_for_function(f"{SCROLLED} === 0")


def test_labels_of_a_long_sentence_and_of_patches_stand_apart_and_chinese_upright(phone: Page, app_url: str) -> None:
    visit(phone, f"{app_url}/{PAGE}&tab=steps")
    opened(phone, "attention")
    steps = phone.locator(".st-key-either-stage button")
    expect(steps.last).to_be_visible()
    assert len({step.bounding_box()["y"] for step in steps.all()}) == 1, "the steps stand in one row"
    sentence = "我们今天去公园玩，明天在家里看书，后天再去学校。"
    for link in (f"lang=zh&s={sentence}", f"lang=en&s={'the dog saw a cat ' * 8}", "lang=en&input=digit&as=map"):
        visit(phone, f"{app_url}/attention?{link}")
        chart = phone.locator(".js-plotly-plot").first
        expect(chart.locator(".xtick text").first).to_be_attached()
        settle(phone)
        expect(chart.locator(".xtick text[style*='visibility']").first).to_be_attached()
        assert chart.evaluate(TOUCHING) == []
        assert chart.evaluate(SIDEWAYS) == []
        assert chart.locator(".xtick text[style*='visibility: visible']").count() > 5
        assert chart.evaluate(BELOW) < 70  # a square map is no higher than wide


def test_who_compares_sees_what_came_of_it(phone: Page, app_url: str) -> None:
    """Behind the drawer, which a tap next to it closes, even before surroundings.js has loaded."""
    phone.route("**/surroundings*", lambda route: "never answered")
    phone.goto(f"{app_url}/attention?s=the+dog+chased+the+cat+.")
    title(phone, "attention")
    open_settings(phone)
    phone.get_by_label("Compare with a sentence").tap()
    phone.keyboard.type("the cat chased the dog .")
    phone.keyboard.press("Enter")
    wait_for(phone, other="the cat chased the dog .")
    phone.touchscreen.tap(phone.viewport_size["width"] - 10, phone.viewport_size["height"] - 10)
    expect(phone.locator(".st-key-changes")).to_be_in_viewport()
    phone.goto("about:blank")


def test_on_a_phone_the_pages_open_over_the_page_and_lead_on(phone: Page, app_url: str) -> None:
    visit(phone, f"{app_url}/{PAGE}")
    opened(phone, "attention")
    its_input_stands_at_the_top(phone)
    here = phone.locator(".navbar .menu:visible")
    expect(here).to_have_text("Attention")
    assert phone.locator(".navbar").bounding_box()["height"] < 50
    expect(phone.locator(".navbar a:visible")).to_have_count(0)
    here.tap()
    expect(phone.locator(".navbar a:visible")).to_have_count(len(NAMES))
    for end in ("first", "last"):
        expect(getattr(phone.locator(".navbar a"), end)).to_be_in_viewport(ratio=1)
    assert serious(phone) == []
    phone.locator(".navbar a", has_text="Heads").tap()
    opened(phone, "heads")
    expect(here).to_have_text("Heads")
    place(phone, "head", 4).tap()  # a head is chosen at its picture
    wait_for(phone, layer="2", head="4", s=SENTENCE)


def test_the_pad_opens_over_the_page(phone: Page, app_url: str) -> None:
    visit(phone, f"{app_url}/tokens?input=digit&lang=en")
    opened(phone, "tokens")
    its_input_stands_at_the_top(phone)
    heading = phone.get_by_test_id("stMain").get_by_role("heading").first
    before = heading.bounding_box()
    phone.locator(".st-key-draw button").tap()
    expect(phone.locator(".pad canvas")).to_be_in_viewport(ratio=1)
    assert heading.bounding_box() == before, "the page is not pushed away"
    assert phone.evaluate(WIDEST) <= 0


def its_input_stands_at_the_top(phone: Page) -> None:
    line = phone.locator(".st-key-line").bounding_box()
    assert line["y"] + line["height"] < 0.4 * phone.viewport_size["height"]
    assert phone.evaluate(WIDEST) <= 0


def test_how_far_a_task_is_stays_in_sight_while_one_taps_the_map(phone: Page, app_url: str) -> None:
    visit(phone, f"{app_url}/attention?lang=en&s=i+love+you+.&layer=2&head=3&goal=oneway.90.5")
    chart, task = phone.locator(".chart").first, phone.locator(".st-key-task")
    chart.locator(".ytick").first.wait_for()
    settle(phone)
    chart.evaluate("chart => chart.scrollIntoView({ block: 'end' })")
    phone.evaluate("document.querySelector('[data-testid=stAppViewContainer]').scrollBy(0, 150)")
    phone.wait_for_function(AT_REST)
    expect(task).not_to_contain_text("✓")
    phone.touchscreen.tap(*chart.evaluate(MIDDLE, [2, 3]))
    expect(task).to_contain_text("✓")
    expect(task).to_be_in_viewport(ratio=1)
