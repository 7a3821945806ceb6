"""What the drawer offers on every page: an input to compare with, the glossary, a link to share, a presentation."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from pages.ui.state.choice import HIDEABLE
from tests.browser.test_accessibility import serious
from tests.browser.test_journeys import MIDDLE, asked, link_to, open_settings, place, sentence_field, settle
from tests.browser.test_keys import PAGE, opened, wait_for
from tests.browser.test_phone import TOUCHING

OTHER = "she gave the cat a book ."
LONG = "the animal did not cross the street because it was too tired ."


def test_a_press_that_closes_the_drawer_chooses_nothing(page: Page, app_url: str) -> None:
    """Where a cell, a word, a head or a link lies under it."""
    page.goto(f"{app_url}/attention?lang=en&token=3&key=4&hidden=none&{urlencode({'s': LONG})}")
    opened(page, "attention")
    chart = page.locator(".chart").first
    chart.locator(".ytick").first.wait_for()
    settle(page)
    link, cell = page.url, chart.evaluate(MIDDLE, [9, 12])
    for part in (cell, page.locator(".sentence .chip").last, place(page, "head", 7), link_to(page, "answer")):
        open_settings(page)
        if part is cell:
            page.mouse.click(*cell)
        else:
            part.click(force=True, no_wait_after=True)
        expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.wait_for_timeout(500)
    settle(page)
    assert page.url == link


def test_the_drawer_is_reached_by_keys_and_gives_the_focus_back(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    settings = page.locator(".navbar .settings")
    settings.press("Enter")
    expect(settings).to_have_attribute("aria-expanded", "true")
    page.keyboard.press("Tab")
    expect(page.locator(".st-key-lang").get_by_role("radio").first).to_be_focused()
    assert serious(page) == []
    page.keyboard.press("Escape")
    expect(settings).to_be_focused()
    expect(settings).to_have_attribute("aria-expanded", "false")


def test_a_comparison_can_be_taken_back_where_it_is_seen(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    open_settings(page)
    box = page.get_by_label("Compare with a sentence")
    box.fill(OTHER)
    box.press("Enter")
    wait_for(page, other=OTHER)
    settle(page)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Stop comparing").click()
    wait_for(page, other=None)
    link_to(page, "heads").click()
    opened(page, "heads")
    wait_for(page, other=None)
    open_settings(page)
    expect(box).to_have_value("")


def test_the_glossary_opens_on_the_page_that_one_is_on(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    open_settings(page)
    page.get_by_role("button", name="Glossary").click()
    expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("table").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(dialog).to_have_count(0)
    page.keyboard.press("ArrowRight")
    wait_for(page, head="4")
    expect(dialog).to_have_count(0)


def test_a_link_is_copied_where_browsers_have_no_clipboard_for_a_page(page: Page, app_url: str) -> None:
    """Over plain http, as a class opens it."""
    page.add_init_script("Object.defineProperty(Navigator.prototype, 'clipboard', { configurable: true })")
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    open_settings(page)
    page.get_by_role("button", name="Share").click()
    code = page.get_by_role("dialog").get_by_test_id("stCode")
    code.hover()
    code.get_by_role("button").click()
    copied = code.inner_text().strip()
    assert copied.startswith("http") and asked(copied)["head"] == "3"
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    field = sentence_field(page)
    field.press("ControlOrMeta+v")
    expect(field).to_have_value(copied)


LETTERS = """() => {
    const table = document.querySelector('[data-testid=stDataFrame] [style*=--gdg-base-font-style]')
    return table && parseFloat(getComputedStyle(table).getPropertyValue('--gdg-base-font-style').split(' ').at(-1))
}"""


def test_a_table_grows_with_a_presentation_and_shrinks_behind_it(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/shapes_and_cost?lang=en&panel=parameters")
    page.wait_for_function(f"() => ({LETTERS})()")
    small = page.evaluate(LETTERS)
    open_settings(page)
    page.locator(".st-key-big label").first.click()
    page.wait_for_function(f"small => ({LETTERS})() === 1.25 * small", arg=small)
    page.reload()
    page.wait_for_function(f"() => ({LETTERS})()")
    settle(page)
    assert page.evaluate(LETTERS) == 1.25 * small
    page.get_by_role("button", name="Leave").click()
    page.wait_for_function(f"small => ({LETTERS})() === small", arg=small)
    settle(page)
    page.go_back()
    page.wait_for_function(f"small => ({LETTERS})() === 1.25 * small", arg=small)
    settle(page)
    page.go_forward()
    page.wait_for_function(f"small => ({LETTERS})() === small", arg=small)


PROJECTORS = pytest.mark.parametrize(("width", "height"), [(1280, 720), (1920, 1080)], ids=["HD", "Full HD"])


@PROJECTORS
def test_a_presentation_fills_the_screen_with_a_map_and_names_what_is_chosen(
    page: Page, app_url: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    chosen = {"s": LONG, "token": 4, "key": 6, "big": "true", "hidden": "none"}
    page.goto(f"{app_url}/attention?{urlencode(chosen)}")
    chart = page.locator(".chart").first
    chart.locator(".ytick").first.wait_for()
    settle(page)
    outside = chart.bounding_box()
    assert outside["y"] + outside["height"] <= height and outside["height"] >= 0.75 * height
    expect(page.locator(".formula")).to_have_count(0)
    expect(chart.locator(".ytick text", has_text="did")).to_be_visible()
    expect(chart.locator(".xtick text", has_text="cross")).to_be_visible()


@pytest.mark.parametrize("more", ["", "of them "], ids=["15 tokens", "17 tokens"])
def test_a_presentation_names_every_row_of_a_map(page: Page, app_url: str, more: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    sentence = f"the animal did not cross the street because it was too tired {more}."
    page.goto(f"{app_url}/attention?{urlencode({'s': sentence, 'big': 'true'})}")
    page.locator(".chart .ytick").first.wait_for()
    settle(page)
    names = page.locator(".chart .ytick text")
    shown = names.evaluate_all("all => all.filter(name => name.style.visibility !== 'hidden').length")
    assert shown == names.count() == 15 + 2 * bool(more)
    assert page.locator(".chart").first.evaluate(TOUCHING) == []


@PROJECTORS
def test_a_presentation_fills_the_screen_with_the_tiles_of_all_heads(
    page: Page, app_url: str, width: int, height: int
) -> None:
    page.set_viewport_size({"width": width, "height": height})
    page.goto(f"{app_url}/heads?lang=en&big=true")
    chart = page.locator(".chart").first
    chart.locator(".ytick").first.wait_for()
    settle(page)
    outside, inside = chart.bounding_box(), chart.locator(".nsewdrag").bounding_box()
    assert outside["y"] + outside["height"] <= height and inside["height"] >= 0.4 * height


def test_the_drawer_lies_over_the_page_and_goes_when_it_is_done_with(page: Page, app_url: str) -> None:
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto(f"{app_url}/attention?lang=en&layer=3&head=7")
    chart = page.locator(".chart").first
    chart.locator(".ytick").first.wait_for()
    settle(page)
    width, drawer = chart.bounding_box()["width"], page.get_by_test_id("stSidebar")

    expect(drawer).to_be_hidden()
    open_settings(page)
    assert chart.bounding_box()["width"] == width  # it does not push the page
    page.get_by_label("Compare with a sentence").fill(OTHER)
    page.keyboard.press("Escape")
    expect(drawer).to_be_hidden()

    open_settings(page)
    page.locator(".st-key-big label").first.click()
    expect(drawer).to_be_hidden()
    wait_for(page, big="true")
    open_settings(page)
    page.locator(".st-key-big label").first.click()
    wait_for(page, big=None)
    expect(drawer).to_be_hidden()
    page.go_back()
    wait_for(page, big="true")
    settle(page)
    expect(drawer).to_be_hidden()


def test_a_handout_is_one_small_file_that_opens_anywhere_and_is_printed(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    page.locator(".chart .main-svg").first.wait_for()
    page.get_by_test_id("stExpander").get_by_text("Downloads").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Hand-out").click()
    file = tmp_path / saved.value.suggested_filename
    saved.value.save_as(file)
    assert file.suffix == ".html" and file.stat().st_size <= 1_000_000
    page.goto("about:blank")
    page.set_content(file.read_text(encoding="utf-8"))
    widths = page.locator("img").evaluate_all("all => all.map(one => one.naturalWidth)")
    assert widths and min(widths) > 300
    answer = page.locator("details p").first
    expect(answer).to_be_hidden()
    page.locator("summary").first.click()
    expect(answer).to_be_visible()
    assert page.pdf(format="A4").startswith(b"%PDF")


def test_a_lesson_on_paper_has_its_pictures_and_prints_the_answers_that_are_open(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    page.goto(f"{app_url}/lesson?lang=en&lesson=heads&s=he+[MASK]+to+the+shop+to+buy+some+milk+.")
    opened(page, "lesson")
    page.get_by_test_id("stExpander").get_by_text("On paper").click()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download the hand-out").click()
    file = tmp_path / "lesson.html"
    saved.value.save_as(file)
    assert file.stat().st_size <= 1_000_000
    page.goto("about:blank")
    wanted: list[str] = []
    page.on("request", lambda request: wanted.append(request.url))
    page.set_content(file.read_text(encoding="utf-8"))
    widths = page.locator("img").evaluate_all("all => all.map(one => one.naturalWidth)")
    answers = page.locator(".answers details")
    assert len(widths) == answers.count() >= 3 and min(widths) > 300
    assert all(url.startswith("data:") for url in wanted)
    page.emulate_media(media="print")
    expect(answers.first).to_be_hidden()
    answers.nth(1).evaluate("fold => { fold.open = true }")
    expect(answers.nth(1).locator("img")).to_be_visible()
    expect(answers.first).to_be_hidden()


def test_a_link_leaves_out_what_distracts_on_every_page_and_says_so_to_others(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE}&hide=chips,next,downloads")
    opened(page, "attention")
    chips, ways = page.locator(".st-key-pick-token"), page.get_by_test_id("stPageLink")
    for gone in (chips, ways.first, page.get_by_text("Downloads", exact=True)):
        expect(gone).to_be_hidden()
    link_to(page, "heads").click()
    opened(page, "heads")
    wait_for(page, hide="chips,next,downloads")
    expect(chips).to_be_hidden()
    page.goto(f"{app_url}/{PAGE}&hide=bare")
    page.locator(".chart .main-svg").first.wait_for()
    for gone in (page.locator(".navbar"), page.locator(".sentence"), chips):
        expect(gone).to_be_hidden()
    expect(page.get_by_text("BidiComponent Error")).to_have_count(0)


def test_each_name_leaves_out_something(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/{PAGE.replace('attention', 'heads')}")  # it has all that can be left out
    opened(page, "heads")
    settle(page)

    def seen_without(name: str) -> int:
        page.evaluate("name => { document.documentElement.dataset.hide = name }", name)
        return page.locator(":is([data-testid], .navbar button):visible").count()

    for name in HIDEABLE:
        assert seen_without(name) < seen_without("") or name == "depth", name  # which there is no more
