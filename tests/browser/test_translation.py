"""Translation in a real browser: step through the writing, make it go on from another word, switch a head off."""

from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import Page, expect

from model import Edit, load
from model.analysis import softmax
from model.translator import Task, Translation
from pages.ui.text import catalogue
from tests.browser.test_journeys import MIDDLE, SENTENCE, asked, main_text, settle
from tests.browser.test_keys import opened, wait_for

LAYER, HEAD, STEP = 2, 7, 3  # counted from 0; in the address from 1
LINK = {"lang": "en", "s": SENTENCE, "layer": LAYER + 1, "head": HEAD + 1, "step": STEP}
TEXT = catalogue("en")


def expect_written(page: Page, when: str, translation: Translation) -> None:
    """Under What if stands what is written, before or now."""
    expect(page.get_by_test_id("stMain")).to_contain_text(f"{TEXT[f'translation.{when}']}: {translation.text}")


def test_a_reader_steps_writes_another_word_and_switches_a_head_off(page: Page, app_url: str) -> None:
    translator = load("translation")
    plain = translator(Task(SENTENCE))
    page.goto(f"{app_url}/translation?{urlencode(LINK)}")
    opened(page, "translation")
    assert f"{SENTENCE} → {plain.translation}" in main_text(page)

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
    assert f"{SENTENCE} → {forced.translation}" in main_text(page)
    assert f"the decoder writes “{forced.written[STEP + 1]}”" in main_text(page)

    page.locator(".st-key-translation-panel").get_by_text(TEXT["translation.panel_inside"]).click()
    wait_for(page, panel="inside")
    page.locator(".st-key-either-block").get_by_text(TEXT["translation.block_changes"]).click()
    wait_for(page, block="changes")
    page.locator(".st-key-translation-do-0").get_by_role("button").click()
    page.wait_for_url(lambda url: "edits" in asked(url))
    settle(page)
    off = translator(Task(SENTENCE, forced=beginning), [Edit(f"decoder.layers.{LAYER}.cross.heads", "zero", head=HEAD)])
    chosen = asked(page.url)
    for _ in range(2):
        expect_written(page, "before", forced.beams[0])
        expect_written(page, "now", off.beams[0])
        assert asked(page.url) == chosen
        page.reload()
        opened(page, "translation")
