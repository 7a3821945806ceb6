"""The sentence on top of every page: click its words, type, paste, cut, choose from a list."""

from urllib.parse import quote

import pytest
from playwright.sync_api import Page, expect

from model.pipeline import MOST_CHARACTERS
from pages.drawing.text import catalogue
from tests.browser.steps import (
    PAGE,
    PROJECTOR,
    SENTENCE,
    asked,
    expect_sentence,
    link_to,
    opened,
    sentence_field,
    settle,
    title,
    visit,
    wait_for,
)

pytestmark = pytest.mark.usefixtures("goes_on")
WORDS = catalogue("en")
#: Keys taken by an input method; Safari marks them by their code alone.
COMPOSED = ("{ isComposing: true }", "{ keyCode: 229 }")


def test_a_word_is_hidden_and_shown_again_by_a_click_or_by_keys(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/{PAGE}&hidden=none")
    opened(page, "attention")
    dog = page.locator(".sentence").get_by_role("button", name="dog")
    expect(dog).to_have_attribute("aria-pressed", "false")
    dog.dblclick()  # some people double-click everything
    expect(dog).to_have_attribute("title", WORDS["sentence_line.show"])
    wait_for(page, hidden="5")
    dog.focus()
    page.keyboard.press("Enter")
    expect(dog).to_have_attribute("title", WORDS["sentence_line.hide"])
    expect(dog).to_be_focused()
    wait_for(page, hidden="none")
    for taps, pressed in ((3, "true"), (2, "true"), (3, "false"), (4, "false")):
        for _ in range(taps):  # faster than the server answers
            page.keyboard.press("Enter")
            page.wait_for_timeout(30)
        page.wait_for_timeout(500)
        settle(page)
        expect(dog).to_have_attribute("aria-pressed", pressed)
        assert ("[MASK]" in page.locator(".chart").first.inner_text()) == (pressed == "true")


@pytest.mark.usefixtures("own_tab")
def test_by_keys_alone_a_sentence_is_typed_and_left_and_enter_that_an_input_method_takes_runs_nothing(
    page: Page, app_url: str
) -> None:
    page.goto(f"{app_url}/{PAGE}")
    opened(page, "attention")
    typing = page.locator(".sentence .type")
    typing.press("Enter")
    field = page.locator(".sentence input")
    expect(field).to_be_focused()
    page.keyboard.type("i love you .")
    page.keyboard.press("Escape")
    expect(typing).to_be_focused()
    expect_sentence(page, SENTENCE)
    typing.press("Enter")
    expect(field).to_have_value(SENTENCE)
    page.keyboard.type("i love you .")
    steps = page.evaluate("history.length")
    page.keyboard.press("Enter")
    page.keyboard.press("Enter")  # some people press again when nothing happens
    wait_for(page, s="i love you .")
    expect_sentence(page, "i love you .")
    expect(field).to_have_count(0)
    assert page.evaluate("history.length") == steps + 1
    settle(page)
    typing.press("Enter")
    field.fill("我爱ni")
    for key in COMPOSED:
        press = f"new KeyboardEvent('keydown', {{ key: 'Enter', bubbles: true, ...{key} }})"
        field.evaluate(f"field => field.dispatchEvent({press})")
        expect(field).to_be_focused()
        page.wait_for_timeout(300)
        assert asked(page.url)["s"] == "i love you ."
    field.fill("我爱你")
    field.press("Enter")
    wait_for(page, s="我爱你")


def test_run_sends_what_was_typed_an_example_is_one_choice_and_of_what_is_too_long_the_beginning_is_read(
    page: Page, app_url: str
) -> None:
    visit(page, f"{app_url}/{PAGE}")
    opened(page, "attention")
    long = "the dog saw a cat " * (MOST_CHARACTERS // 18 + 3)
    sentence_field(page).fill(long)
    sentence_field(page).press("Enter")
    page.wait_for_url(lambda url: asked(url)["s"].startswith("the dog saw"))
    settle(page)
    assert asked(page.url)["s"] == long[:MOST_CHARACTERS]
    too_long = page.get_by_text(WORDS["error.sentence_long"].format(most=MOST_CHARACTERS))
    expect(too_long).to_be_visible()
    sentence_field(page).fill("you love me .")
    page.get_by_role("button", name=WORDS["sentence_line.run"]).click()
    wait_for(page, s="you love me .")
    expect(too_long).to_have_count(0)
    page.locator(".sentence select").select_option("i love you .")
    wait_for(page, s="i love you .")
    link_to(page, "tokens").click()
    title(page, "tokens")
    expect_sentence(page, "i love you .")


#: Names in the line that are cut, while its words are taken away one after the other.
CUT_AT_ANY_LENGTH = """() => {
  const line = document.querySelector('.sentence'), found = []
  const cut = it => {
    const words = new Range(), clip = (it.closest('.beside') ?? it).getBoundingClientRect()
    words.selectNodeContents(it)
    const { left, right, top } = words.getBoundingClientRect()
    return top < clip.bottom - 1 && (right > clip.right + 1 || left < clip.left - 1)
  }
  for (let chips; (chips = line.querySelectorAll('.chip')).length; chips[chips.length - 1].remove()) {
    const names = [...line.querySelectorAll('.chip, .offer, .type, .beside > *')].filter(it => it.offsetHeight)
    found.push(...names.filter(it => it.textContent && cut(it)).map(it => `${chips.length}: ${it.textContent}`))
    if (line.querySelector('.type').clientWidth < 24) found.push(`${chips.length}: no room for a pencil`)
  }
  return found
}"""
LONG = {
    "en": "the old man who lived in the small house near the big river took his dog to the park every day .",
    "zh": "昨天晚上我和爸爸妈妈一起去电影院看了一部很有意思的电影，大家都非常喜欢，我们后来还去吃了饭。",
}


def test_no_name_in_the_line_is_cut_in_a_presentation_however_long_the_sentence_is(page: Page, app_url: str) -> None:
    page.set_viewport_size(PROJECTOR)
    for lang, sentence in LONG.items():
        for more in (
            "hidden=none",
            "hidden=3",
            f"hidden=3&other={quote(sentence.replace('很有', '没有').replace('old', 'young'))}",
        ):
            visit(page, f"{app_url}/answer?lang={lang}&big=true&s={quote(sentence)}&{more}")
            title(page, "answer", lang)
            settle(page)
            assert page.evaluate(CUT_AT_ANY_LENGTH) == [], (lang, more)


#: At the middle of the window's top: whether it is the slim line, its text.
TOP = """() => {
  const line = document.querySelector('.stays'), { top } = line.getBoundingClientRect()
  return [document.elementFromPoint(innerWidth / 2, 12).closest('.stays') === line && top === 0, line.innerText]
}"""
#: Whether the slim line lies on the whole of what has the focus (WCAG 2.2, 2.4.11).
COVERED = """() => {
  const one = document.activeElement, { left, width, bottom } = one.getBoundingClientRect()
  return one !== document.body && Boolean(document.elementFromPoint(left + width / 2, bottom - 2)?.closest('.stays'))
}"""


#: Screen, link, text of the slim line.
SLIM = (
    ((1280, 600), "attention?lang=en&hidden=5&layer=2&head=3", f"{SENTENCE}|layer 2, head 3 · [MASK]|→ book 0.31"),
    (
        (1280, 360),
        "heads?lang=zh&hidden=none&token=2&layer=4&head=2&big=true",
        f"{SENTENCE}|第 4 层第 2 头 · she|→ she 0.99",
    ),
    ((390, 844), "layers?lang=en&input=digit", "[CLS]|→ 5 0.96"),
    ((390, 844), "?lang=en&hidden=none&token=2&layer=2&head=3", f"{SENTENCE}|layer 2, head 3 · she|→ she 0.99"),
    ((390, 844), "tokens?lang=en&hidden=5&token=2", f"{SENTENCE}|she|[MASK] → book 0.31"),
    ((390, 700), "lesson?lang=en", SENTENCE.replace(" a ", " [MASK] ")),
    ((390, 700), "flat?lang=en", "→ odd 0.9999"),  # of the drawing
)


def test_scrolled_a_slim_line_keeps_sentence_place_and_answer_in_sight_and_covers_no_focus(
    page: Page, app_url: str
) -> None:
    for (width, height), link, said in SLIM:
        page.set_viewport_size({"width": width, "height": height})
        visit(page, f"{app_url}/{link}&s={SENTENCE}")
        page.locator(".stays").wait_for(state="attached")
        settle(page)
        page.wait_for_function(f"!({TOP})()[0]")  # the bar is there
        page.mouse.move(width / 2, height / 2)
        page.mouse.wheel(0, 4000)
        page.wait_for_function(f"({TOP})()[0]", timeout=10_000)
        _, text = page.evaluate(TOP)
        assert [part.strip() for part in text.split("\n")] == said.split("|"), text
        for _ in range(8):
            page.keyboard.press("Shift+Tab")
            page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
            page.wait_for_function(f"!({COVERED})()", timeout=10_000)


def test_the_list_of_examples_leads_to_the_pad_and_a_button_back_to_the_sentence(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/{PAGE}")
    opened(page, "attention")
    page.locator(".sentence select").select_option(label=WORDS["sentence_line.draw"])
    wait_for(page, input="digit")
    expect(page.get_by_role("button", name=WORDS["sidebar.draw"], exact=True)).to_be_visible()
    settle(page)
    page.get_by_role("button", name=WORDS["sidebar.input_sentence"], exact=True).click()
    wait_for(page, input="sentence")
    expect_sentence(page, SENTENCE)
