"""The digit pad in a real browser: ten digits drawn stroke by stroke, kept exactly, and drawn with a finger."""

from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from pages.drawing.state import sketch
from pages.drawing.text import catalogue
from pages.screen.runs import pipelines
from tests.browser.pad import draw, drawing_in, open_pad, pad, places, press, settle, verdict
from tests.browser.steps import SlowLine, link_to

# Resolves when the pad no longer moves.
AT_REST = """canvas => new Promise(done => {
    const place = () => JSON.stringify(canvas.getBoundingClientRect()), at = place()
    setTimeout(() => done(place() === at), 300)
})"""


@pytest.mark.usefixtures("own_tab")
def test_nine_of_ten_digits_are_recognised_thick_and_large_or_thin_and_small(page: Page, app_url: str) -> None:
    """Read from the pad while the server is not reached; for the last digit of each pen, also from the page."""
    line, right = SlowLine(page), 0
    open_pad(page, app_url)
    for pen, height, digits in (("thin", 0.3, range(0, 10, 2)), ("thick", 0.88, range(1, 10, 2))):
        page.locator(".st-key-pen button").filter(has_text=catalogue("en")[f"sidebar.pen_{pen}"]).click()
        settle(page)
        line.slow = True
        for digit in digits:
            press(page, "clear")
            draw(page, digit, height)
            (read,) = pipelines.run("digits", sketch.ink(places(page))).answer
            right += read.best == str(digit)
        line.be_quick()
        settle(page)
        assert verdict(page) == read.best
    assert right >= 9


def test_a_drawing_is_restored_exactly(page: Page, app_url: str) -> None:
    open_pad(page, app_url)
    press(page, "clear")
    draw(page, 3)
    settle(page)
    drawn, said = places(page), verdict(page)
    assert any(drawn)

    link_to(page, "tokens").click()
    page.wait_for_url(lambda url: urlsplit(url).path == "/tokens")
    settle(page)
    assert places(page) == drawn
    page.locator(".navbar .settings").click()
    kinds = page.locator(".st-key-input button")
    kinds.filter(has_text=catalogue("en")["sidebar.input_sentence"]).click()
    expect(page.locator(".sentence")).to_be_visible()
    kinds.filter(has_text=catalogue("en")["sidebar.input_digit"]).click()
    expect(page.locator(".st-key-draw")).to_be_visible()
    page.keyboard.press("Escape")
    settle(page)
    assert (places(page), verdict(page)) == (drawn, said)
    page.reload()
    settle(page)
    assert (places(page), verdict(page)) == (drawn, said)

    other = page.context.new_page()
    other.goto(page.url)
    settle(other)
    assert (places(other), verdict(other)) == (drawn, said)
    other.close()


def test_undo_clear_and_an_example_again_and_again(page: Page, app_url: str) -> None:
    open_pad(page, app_url, ink=sketch.to_code(sketch.example(6)))
    assert places(page) == sketch.example(6)
    draw(page, 1)
    settle(page)
    assert verdict(page) == "1", "the first stroke takes the place of an example"
    press(page, "undo")
    draw(page, 1)  # before the server has confirmed the example
    settle(page)
    assert verdict(page) == "1"
    press(page, "undo")
    settle(page)
    assert places(page) == sketch.example(6)
    for _ in range(2):  # the same picture twice: cleared, example, cleared
        press(page, "clear")
        settle(page)
        assert not any(places(page))
        expect(page.get_by_text(catalogue("en")["error.digit_blank"])).to_be_visible()
        page.locator(".st-key-example_digit button").filter(has_text="6").click()
        page.wait_for_url(lambda url: drawing_in(url) == sketch.example(6))
        settle(page)
        assert verdict(page) == "6"


@pytest.mark.usefixtures("own_tab")
def test_a_stroke_is_drawn_where_the_browser_keeps_no_moves_between_two_pictures(page: Page, app_url: str) -> None:
    page.add_init_script("PointerEvent.prototype.getCoalescedEvents = () => []")
    open_pad(page, app_url)
    press(page, "clear")
    draw(page, 7)
    settle(page)
    assert verdict(page) == "7"


def test_a_finger_draws_and_does_not_scroll(phone: Page, app_url: str) -> None:
    phone.goto(f"{app_url}/answer?lang=en&input=digit")
    expect(phone.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    settle(phone)
    pad(phone).scroll_into_view_if_needed()
    phone.wait_for_function(AT_REST, arg=pad(phone).element_handle())  # it moves in
    box, before = pad(phone).bounding_box(), places(phone)
    finger = phone.context.new_cdp_session(phone)

    def swipe(x: float, start: float, end: float) -> None:
        """Swipe with one finger, straight up or down."""
        for kind, y in [("touchStart", start), *(("touchMove", y) for y in np.linspace(start, end, 12))]:
            finger.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": x, "y": float(y)}]})
        finger.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    scrolled = """() => [...document.querySelectorAll('*')].map(part => part.scrollTop).reduce((a, b) => a + b, 0)
        + scrollY"""
    still = phone.evaluate(scrolled)
    swipe(box["x"] + box["width"] * 0.2, box["y"] + box["height"] * 0.9, box["y"] + box["height"] * 0.1)
    settle(phone)
    assert phone.evaluate(scrolled) == still
    assert places(phone) != before
