"""The tour in a browser: every gesture by keyboard, in the picture and on a phone; then the answer in the picture."""

import re
from itertools import pairwise
from urllib.parse import quote

import pytest
from playwright.sync_api import Locator, Page, expect

from pages.drawing.state.choice import Choice
from pages.drawing.text import catalogue
from pages.school.lessons.written import OWN, lesson_to_code, own_lesson, place_of
from pages.school.questions import QUESTIONS
from pages.school.questions.pictures import CHIPS
from pages.school.questions.question import Own, Question
from tests.browser.steps import BROKEN, FAINT, MIDDLE, NAMELESS, asked, serious, settle, visit

SENTENCE = "she [MASK] to the shop to buy some bread ."
CHART = ".js-plotly-plot"
ANSWER = ".st-key-tour_answer h3"


def station(page: Page, url: str, key: str, lang: str = "en") -> None:
    visit(page, f"{url}/lesson?lang={lang}&s={SENTENCE.replace(' ', '+')}&question={key}")
    expect(page.locator(CHART).first).to_be_visible()
    settle(page)


def press(what: Locator, *keys: str) -> None:
    """Focus an element, press keys, and wait for the answer."""
    what.focus()
    for key in keys:
        what.page.keyboard.press(key)
    settle(what.page)


def button(page: Page, key: str) -> Locator:
    return page.locator(f"[class*='st-key-lesson-{key}'] button").first


def test_every_gesture_by_keyboard(page: Page, app_url: str) -> None:
    station(page, app_url, "word")
    page.locator("[class*='st-key-lesson-word'] input").first.fill("went")
    page.keyboard.press("Enter")  # sends it, like the button
    expect(page.locator(ANSWER)).to_be_visible()
    press(button(page, "next"), "Enter")
    option = page.locator("[class*='st-key-lesson-places']").get_by_role("radio").first
    press(option, "Space")
    expect(page.locator(ANSWER)).to_contain_text("Yes")
    station(page, app_url, "root")
    slider = page.locator("[class*='st-key-lesson-root']").get_by_role("slider")
    press(slider, "ArrowRight", "ArrowRight")
    expect(button(page, "root-send")).to_be_enabled()
    press(button(page, "root-send"), "Enter")
    expect(page.locator(ANSWER)).to_contain_text("0.52")
    station(page, app_url, "weights")
    for left in range(CHIPS, 0, -1):
        expect(page.get_by_text(f"Chips left: {left}")).to_be_visible()  # Streamlit merges two fast ones
        press(page.locator("[class*='st-key-lesson-weights-tokens']").get_by_role("button", name="shop"), "Enter")
    expect(page.locator(ANSWER)).to_be_visible()
    assert asked(page.url)["question"] == "weights"


def test_a_click_on_a_covered_cell_is_the_guess_and_the_page_opens_at_its_place(page: Page, app_url: str) -> None:
    station(page, app_url, "fit")
    chart = page.locator(CHART).first
    row = chart.evaluate("chart => chart.data.find(trace => trace.customdata).y[0]")
    page.mouse.click(*chart.evaluate(MIDDLE, [row, 1]))
    expect(page.locator(ANSWER)).to_contain_text(re.compile("You said “she”|Yes: “she”"))
    page.locator(".sentence .chip").nth(3).click()  # it hides nothing: one types
    expect(page.locator(".sentence input")).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.locator(ANSWER)).to_be_visible()
    head = page.get_by_text(re.compile(r"layer \d+, head \d+")).first.text_content() or ""
    layer, number = re.findall(r"\d+", head)
    press(button(page, "see"), "Enter")
    page.wait_for_url(re.compile("/attention"))
    assert (asked(page.url)["layer"], asked(page.url)["head"]) == (layer, number)


def test_on_a_phone_a_station_is_read_from_above_and_nothing_is_cut(phone: Page, app_url: str) -> None:
    lang = "zh"
    phone.emulate_media(color_scheme="dark")
    station(phone, app_url, "weights", lang)
    question, picture = phone.locator(".st-key-tour_ask h2").bounding_box(), phone.locator(CHART).first.bounding_box()
    assert question and picture and question["y"] < picture["y"] < 0.6 * 844
    assert phone.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0
    button(phone, "show").tap()
    expect(phone.locator(ANSWER)).to_contain_text(catalogue(lang)["lesson.answer_is"].partition("{")[0].strip())
    for key in ("word", "residual"):
        station(phone, app_url, key, lang)
        assert phone.evaluate(BROKEN) == []
    station(phone, app_url, "causal", lang)
    phone.evaluate("document.documentElement.classList.add('big')")
    phone.set_viewport_size({"width": 1280, "height": 720})
    settle(phone)
    assert phone.evaluate(BROKEN) == []
    phone.set_viewport_size({"width": 390, "height": 844})
    for key in ("fit", "weights"):  # numbers with five characters, and with three
        station(phone, app_url, key)
        numbers = "[...document.querySelectorAll('.heatmap-label')].map(one => one.getBoundingClientRect())"
        boxes = sorted(phone.evaluate(f"{numbers}.map(({{x, y, right}}) => [Math.round(y), x, right])"))
        assert boxes or key == "fit"
        assert all(one[0] != other[0] or one[2] <= other[1] + 1 for one, other in pairwise(boxes)), "numbers overlap"


def test_on_a_phone_the_first_station_is_one_screen_and_a_tap_on_a_word_is_the_guess(phone: Page, app_url: str) -> None:
    phone.goto(f"{app_url}/lesson?lang=en")
    chart = phone.locator(CHART).first
    chart.locator(".scatterlayer .point").first.wait_for(state="attached")
    settle(phone)
    for part in (phone.locator(".st-key-tour_ask h2"), chart, button(phone, "word-send")):
        expect(part).to_be_in_viewport(ratio=1)
    chart.locator(".ytick text").nth(2).tap()  # the name of a bar, as the bar itself
    expect(phone.locator(ANSWER)).to_be_in_viewport(ratio=1)
    expect(phone.locator(".plugin-editable")).to_have_count(0)


def test_on_a_phone_the_verdict_is_seen_after_a_tap_in_the_picture(phone: Page, app_url: str) -> None:
    for sentence in ("hello", "the animal did not cross the street because it was too tired ."):
        visit(phone, f"{app_url}/lesson?lang=en&s={sentence.replace(' ', '+')}&question=fit")
        chart = phone.locator(CHART).first
        chart.locator(".scatterlayer .point").first.wait_for(state="attached")
        settle(phone)
        row = chart.evaluate("chart => chart.data.find(trace => trace.customdata).y[0]")
        phone.touchscreen.tap(*chart.evaluate(MIDDLE, [row, 1]))
        for part in (phone.locator(ANSWER), button(phone, "next")):  # between them stands why
            expect(part).to_be_in_viewport(ratio=1)
        settle(phone)
        for part in (phone.locator(ANSWER), button(phone, "next")):
            expect(part).to_be_in_viewport(ratio=1)


def test_question_and_picture_fill_one_screen(page: Page, app_url: str) -> None:
    for key, width, height in (("word", 1440, 900), *((key, 1280, 720) for key in ("places", "weights", "residual"))):
        page.set_viewport_size({"width": width, "height": height})
        station(page, app_url, key)
        ends = [box["y"] + box["height"] for part in (page.locator(CHART).last, button(page, "show"))
                if (box := part.bounding_box())]  # fmt: skip
        assert len(ends) == 2 and max(ends) <= height + 8, key
        assert key == "residual" or ends[0] > 0.8 * height, "of squares as many as fit side by side"
        assert page.locator("[data-testid=stMain]").evaluate("main => main.scrollHeight") <= height
    main = page.locator("[data-testid=stMain]")
    press(button(page, "show"), "Enter")
    main.evaluate("main => main.scrollTop = main.scrollHeight")
    press(button(page, "next"), "Enter")
    expect(page.locator(".tour_dots")).to_contain_text("10 of")
    expect(main).to_have_js_property("scrollTop", 0)  # the next question starts at the top


@pytest.mark.parametrize(
    ("lang", "scheme", "keys"),
    [("en", "light", ("word", "weights", "residual")), ("zh", "dark", ("fit", "root", "gathered"))],
)
def test_a_question_and_its_answer_can_be_read_by_everybody(
    page: Page, app_url: str, lang: str, scheme: str, keys: tuple[str, ...]
) -> None:
    page.emulate_media(color_scheme=scheme)
    wrong = {}
    for key in keys:
        station(page, app_url, key, lang)
        faint = page.evaluate(FAINT)
        button(page, "show").click()
        expect(page.locator(ANSWER)).to_be_visible()
        settle(page)
        wrong[key] = faint + serious(page) + page.evaluate(FAINT) + page.evaluate(NAMELESS)
    assert not any(wrong.values()), wrong


def test_the_line_on_top_goes_along_with_the_question_and_with_the_one_that_is_edited(page: Page, app_url: str) -> None:
    """Each of them is about a sentence of its own."""
    sentences = "i love you .", "we like green tea ."
    wrote = [place_of("attention", Choice(sentence=one), of_input=True) for one in sentences]
    own = Own("Which?", options=("one", "two"), answer="two")
    every = [Question(OWN, None, "tap", 0.0, 3, place=place, own=own) for place in wrote]
    visit(page, f"{app_url}/lesson?lang=en&s={SENTENCE}&lesson={lesson_to_code(own_lesson(every))}")
    words = page.locator(".sentence .words")
    expect(words).to_contain_text("you")
    page.locator("[class*='st-key-lesson-own']").get_by_role("radio").first.click()
    button(page, "next").click()
    expect(words).to_contain_text("tea")
    page.get_by_text("For teachers").click()
    page.get_by_test_id("stExpander").get_by_text("Make a lesson").click()
    expect(words).to_contain_text("shop")
    page.locator(".st-key-icon-edit-0 button").first.click()
    expect(words).to_contain_text("you")


def test_a_question_of_a_lesson_being_made_has_its_buttons_at_the_end_of_its_line(page: Page, app_url: str) -> None:
    long = Own("现在请盯住“课”这一行，不看数字，只凭你对汉语的了解和刚才学到的东西来判断：" * 2, "", ("a", "b"))
    rows = [Question(OWN, None, "tap", 0, 3, own=long, place="attention?layer=3&head=2"), QUESTIONS["fit"]]
    visit(
        page,
        f"{app_url}/lesson?lang=zh&s={quote('老师说今天下午要去操场上课。')}&lesson={lesson_to_code(own_lesson(rows))}",
    )
    page.get_by_text(catalogue("zh")["lesson.teachers"]).click()
    page.get_by_test_id("stExpander").get_by_text(catalogue("zh")["lesson.make"]).click()
    expect(page.locator(".st-key-lesson-new-add")).to_be_visible()
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 720})
        settle(page)
        ends = set()
        for row in page.locator("[class*='st-key-lesson_row']").all():
            text, *buttons = (one.bounding_box() for one in (row.locator("li"), *row.locator("button:visible").all()))
            ends.add(round(buttons[-1]["x"] + buttons[-1]["width"]))
            assert text["height"] < 1.5 * buttons[0]["height"] and len(buttons) == 3
            for before, after in pairwise((text, *buttons)):
                assert before["x"] + before["width"] <= after["x"] + 1
                assert abs(before["y"] + before["height"] / 2 - after["y"] - after["height"] / 2) < 8, "on one line"
        assert len(ends) == 1
        cut = "it => it.scrollWidth > it.clientWidth && getComputedStyle(it).textOverflow"
        assert page.locator("[class*='st-key-lesson_row'] li").first.evaluate(cut) == "ellipsis"
