"""Translation in a real browser: step through the decoding, continue from another word."""

from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Page

from model import load
from model.analysis import softmax
from model.translator import Task
from tests.browser.steps import MIDDLE, SENTENCE, main_text, opened, visit, wait_for

pytestmark = pytest.mark.usefixtures("goes_on")
LAYER, HEAD, STEP = 2, 7, 3  # from 0; in the address from 1
LINK = {"lang": "en", "s": SENTENCE, "layer": LAYER + 1, "head": HEAD + 1, "step": STEP}


def test_a_reader_steps_and_writes_another_word(page: Page, app_url: str) -> None:
    translator = load("translation")
    plain = translator(Task(SENTENCE))
    visit(page, f"{app_url}/translation?{urlencode(LINK)}")
    opened(page, "translation")
    assert plain.translation in main_text(page)

    page.keyboard.press("ArrowRight")
    wait_for(page, step=str(STEP + 1))
    assert f"the decoder writes “{plain.written[STEP]}”" in main_text(page)

    p = softmax(plain["logits"][STEP])
    other = int(np.argsort(-p)[1])
    chart = page.locator(".st-key-translation-next .js-plotly-plot")
    place = chart.evaluate(MIDDLE, [1, float(p[other]) / 2])
    page.mouse.move(*place)
    page.wait_for_function("chart => chart._hoverdata?.length", arg=chart.element_handle())
    page.mouse.click(*place)
    beginning = (*plain.written_ids[:STEP], other)
    wait_for(page, forced=".".join(map(str, beginning)), step=str(STEP + 2))
    forced = translator(Task(SENTENCE, forced=beginning))
    assert tuple(forced.written_ids[: STEP + 1]) == beginning and forced.translation != plain.translation
    assert forced.translation in main_text(page)
    assert f"the decoder writes “{forced.written[STEP + 1]}”" in main_text(page)


WORDS = """chart => [...chart.querySelectorAll('.textpoint text')].map(word => {
    const { x, y, width, height } = word.getBoundingClientRect()
    return [word.textContent.trim(), x + width / 2, y + height / 2] })"""


def test_a_word_of_the_translation_is_pointed_at_where_it_stands(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/translation?{urlencode(LINK)}")
    opened(page, "translation")
    chart = page.locator(".st-key-translation-writing .js-plotly-plot")
    written = load("translation")(Task(SENTENCE)).written
    places = [(word.partition(" ")[0], *at) for word, *at in chart.evaluate(WORDS)]
    places = [place for place in places if place[0] in written]
    assert len(places) >= len(set(written))
    for word, x, y in places:
        page.mouse.move(x, y)
        page.wait_for_function(
            "([chart, word]) => chart._hoverdata?.[0].text.startsWith(word)",
            arg=[chart.element_handle(), word],
            timeout=3000,
        )
