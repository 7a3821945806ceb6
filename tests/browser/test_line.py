"""What a visitor does while the connection is cut is done once it is back, once, and on the page as it then is."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from pages.drawing.text import catalogue
from tests.browser.cut import Line, line_to
from tests.browser.pad import draw, show_pad
from tests.browser.steps import (
    asked,
    expect_sentence,
    link_to,
    main_text,
    open_settings,
    sentence_field,
    settle,
    visit,
    wait_for,
)
from tests.classroom.server import serve

PAGE = "attention?lang=en&layer=1&head=1&s=i+love+you+."
NEW = "she likes the dog ."
AWAY = 4000  # ms


@pytest.fixture(scope="module")
def way(app_url: str) -> Iterator[Line]:
    """One address for all tests, so that the browser keeps compiled scripts."""
    with line_to(app_url) as line:
        yield line


@pytest.fixture
def line(way: Line, app_url: str) -> Line:
    way.mend()
    way.lead_to(app_url)
    return way


def _types(page: Page) -> None:
    field = sentence_field(page)
    field.fill("she likes the")
    page.wait_for_timeout(AWAY)
    expect(field).to_be_focused()
    page.keyboard.press("End")
    page.keyboard.type(" dog .")
    page.keyboard.press("Enter")


def _draws(page: Page) -> None:
    draw(page, 7)


def _presses_a_key(page: Page) -> None:
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")


def _chooses_a_language(page: Page) -> None:
    page.get_by_test_id("stSidebar").get_by_role("radio", name="中文").click()


def _answers(page: Page) -> None:
    page.locator("[class*='st-key-lesson-word'] input").first.fill("went")
    page.keyboard.press("Enter")


def _walks_on(page: Page) -> None:
    link_to(page, "heads").click()


def _hides_a_word(page: Page) -> None:
    page.locator(".sentence .chip", has_text="you").click()


CONTROLS: dict[str, tuple[str, Callable[[Page], None], Callable[[str], bool], str]] = {
    # action -> link, function, condition on the address, text on the page
    "typed": (PAGE, _types, lambda url: asked(url).get("s") == NEW, "she"),
    "drawing": ("tokens?input=digit&lang=en", _draws, lambda url: "ink" in asked(url), ""),
    "keys": (PAGE, _presses_a_key, lambda url: asked(url).get("layer") == "3", "layer 3"),
    "settings": (PAGE, _chooses_a_language, lambda url: asked(url).get("lang") == "zh", "注意力"),
    "tour": (f"lesson?{PAGE.split('?')[1]}&question=word", _answers, lambda url: True, "went"),
    "chip": (f"{PAGE}&hidden=none", _hides_a_word, lambda url: asked(url).get("hidden") == "4", "[MASK]"),
    "page": (PAGE.replace("lang=en", "lang=zh"), _walks_on, lambda url: "/heads?" in url, "多头"),
}


def _open(page: Page, line: Line, link: str) -> None:
    visit(page, f"{line.url}/{link}")
    expect(page.locator(".js-plotly-plot, .tokens, .chart").first).to_be_visible()
    page.wait_for_function("() => Boolean(document.listening)")
    settle(page)


def _prepare(page: Page, control: str) -> None:
    """Open the drawer or box that holds the control, before the line is cut."""
    if control == "settings":
        open_settings(page)
    elif control == "drawing":
        show_pad(page)
    elif control == "typed":
        sentence_field(page)


@pytest.mark.parametrize("control", CONTROLS)
def test_what_is_done_while_the_line_is_cut_is_done_when_it_is_whole(page: Page, line: Line, control: str) -> None:
    link, act, said, shown = CONTROLS[control]
    _open(page, line, link)
    _prepare(page, control)
    line.cut()
    act(page)
    if control in ("typed", "page"):  # long enough for the message, in English and in Chinese
        words = catalogue(asked(page.url)["lang"])["frame.unheard"]
        expect(page.get_by_role("status").filter(has_text=words)).to_be_visible()
        expect(page.get_by_role("dialog").filter(has_text="onnect")).to_have_count(0)
    line.mend()
    page.wait_for_url(said)
    settle(page)
    expect(page.get_by_test_id("stMain")).to_contain_text(shown)
    expect(page.locator("#unheard")).to_be_empty()
    expect(page.locator(".sentence.waits")).to_have_count(0)
    if control == "keys":
        _same_as_its_address(page)


def _same_as_its_address(page: Page) -> None:
    """A reload changes neither the line on top, nor the arithmetic, nor the charts."""
    settle(page)
    heard, charts = main_text(page), page.locator(".chart").all_inner_texts()
    page.reload()
    expect(page.get_by_test_id("stMain")).to_have_text(heard, use_inner_text=True)
    expect(page.locator(".chart")).to_have_text(charts, use_inner_text=True)


@pytest.mark.parametrize("side", ["browser", "server"])
def test_a_step_whose_message_or_answer_was_swallowed_is_one_step(page: Page, line: Line, side: str) -> None:
    _open(page, line, PAGE)
    line.swallows = side
    page.keyboard.press("ArrowDown")
    page.wait_for_timeout(500)
    line.cut()
    page.wait_for_timeout(500)
    line.mend()
    wait_for(page, layer="2")
    page.wait_for_timeout(500)
    assert asked(page.url)["layer"] == "2"
    _same_as_its_address(page)


def test_a_server_that_was_begun_anew_hears_the_sentence(page: Page, line: Line) -> None:
    _open(page, line, PAGE)
    sentence_field(page).fill(NEW)
    line.cut()
    page.keyboard.press("Enter")
    with serve() as other:
        line.lead_to(other.url)
        line.mend()
        wait_for(page, s=NEW)
        expect_sentence(page, NEW)
        _same_as_its_address(page)
