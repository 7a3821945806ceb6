"""The laboratory in a real browser: what a click changes inside, and what becomes of the answer."""

from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from model import Edit, Pipeline, load
from model.analysis import softmax
from pages.ui.text import catalogue
from pages.what_if.page import PARTS
from tests.browser.conftest import watch
from tests.browser.test_journeys import MIDDLE, PHONE, WIDEST, asked, main_text, settle, walk_to
from tests.browser.test_journeys import title as wait_for_title

ANIMAL = "the animal did not cross the street because it was too tired ."
LINK = {"input": "sentence"}


@pytest.fixture(scope="module")
def text() -> Pipeline:
    return load("text")


def open_room(page: Page, app_url: str, room: str, language: str = "en", **link: str) -> None:
    tab = next(tab for tab, kinds in PARTS.items() if room in kinds)
    place = {"lang": language, "panel": tab, "block": room, "measure": "lead"}
    page.goto(f"{app_url}/what_if?{urlencode(LINK | place | link)}")
    wait_for_title(page, "what_if", language)


def cell(page: Page, room: str, row: int, column: int) -> tuple[float, float]:
    """Where a cell of the map of effects lies on the screen; scrolled there."""
    chart = page.locator(f".st-key-what_if-{room} .js-plotly-plot")
    chart.locator(".scatterlayer .point").first.wait_for(state="attached")
    chart.scroll_into_view_if_needed()
    return tuple(chart.evaluate(MIDDLE, [row, column]))


def change(page: Page, room: str, row: int, column: int) -> None:
    """Click a cell, and wait until its change is in the address and on the page."""
    before = asked(page.url).get("edits", "")
    place = cell(page, room, row, column)
    if page.evaluate("navigator.maxTouchPoints"):
        page.touchscreen.tap(*place)
    else:
        page.mouse.click(*place)
    page.wait_for_url(lambda url: asked(url).get("edits", "") != before)
    settle(page)


def changes(page: Page) -> Locator:
    """The changes of the run, each as a button that takes it back."""
    return page.locator(".st-key-changes").get_by_role("button", name=" · ")


def shares(page: Page) -> dict[str, tuple[str, str]]:
    """The words of the answer, each with its share before and now."""
    chart = page.locator(".st-key-what_if-guesses .js-plotly-plot")
    words = chart.locator(".yaxislayer-above text, .yaxislayer-below text").all_text_contents()
    numbers = chart.locator(".scatterlayer .textpoint").all_text_contents()
    return {word: tuple(part.strip() for part in pair.split("→")) for word, pair in zip(words, numbers, strict=True)}


def lead(trace, place: int, words: tuple[int, int]) -> float:
    return float(trace["logits"][place, words[0]] - trace["logits"][place, words[1]])


def likeliest(trace, place: int) -> tuple[int, int]:
    return tuple(int(i) for i in np.argsort(-trace["logits"][place])[:2])


def expect_lead(page: Page, before: float, now: float) -> None:
    """The number on the page is that of the changed run, and beside it by how much it changed."""
    expect(page.get_by_test_id("stMetricValue")).to_have_text(f"{now:+.2f}".replace("-", "−"))
    expect(page.get_by_test_id("stMetricDelta")).to_contain_text(f"{abs(now - before):.2f}")


def test_a_head_off_and_no_root_d_k_change_the_answer_and_the_link_holds_it(
    page: Page, app_url: str, browser: Browser, requests: list[str], text: Pipeline
) -> None:
    plain = text(ANIMAL)
    did, cross = (plain.tokens.index(word) for word in ("did", "cross"))
    hidden = text.reader.hide(plain.ids, [did])
    plain = text(hidden)
    looks = plain.over_layers("attention.weights")[:, :, did, cross]
    layer, head = (int(i) for i in np.unravel_index(looks.argmax(), looks.shape))
    words = likeliest(plain, did)
    before = lead(plain, did, words)

    open_room(page, app_url, "heads", s=ANIMAL, hidden=str(did + 1), token=str(did + 1))
    change(page, "heads", layer, head)
    edits = [Edit(f"layers.{layer}.attention.heads", "zero", head=head)]
    expect_lead(page, before, lead(text(hidden, edits), did, words))
    moved = softmax(plain["logits"][did].astype(float)), softmax(text(hidden, edits)["logits"][did].astype(float))
    most = int(np.abs(moved[1] - moved[0]).argmax())
    said = f"“{text.reader.vocabulary[most]}” moved most, from {moved[0][most]:.2f} to {moved[1][most]:.2f}"
    assert said in main_text(page)

    page.locator(".st-key-either-block-heads").get_by_text(catalogue("en")["what_if.kind_inside"]).click()
    change(page, "inside", 2, text.config.layers)
    edits.append(Edit("layers.{l}.attention.scaled", "unscaled"))
    without_root = lead(text(hidden, edits), did, words)
    expect_lead(page, before, without_root)
    change(page, "inside", 5, 0)
    edits.append(Edit("layers.0.attention.masked", "causal"))
    changed = lead(text(hidden, edits), did, words)
    expect_lead(page, before, changed)

    with browser.new_context(locale="zh-CN") as elsewhere:  # the link alone makes the same changed run
        watch(elsewhere, requests)
        other = elsewhere.new_page()
        other.goto(page.url)
        wait_for_title(other, "what_if")
        expect_lead(other, before, changed)
        expect(changes(other)).to_have_count(3)
    walk_to(page, "attention")
    expect(changes(page)).to_have_count(3)


def test_in_chinese_without_positions_two_sentences_are_one(page: Page, app_url: str) -> None:
    answers = []
    for sentence in ("我[MASK]你。", "你[MASK]我。"):
        open_room(page, app_url, "places", "zh", s=sentence)
        change(page, "positions", 0, 0)
        answers.append(shares(page))
    both = answers[0].keys() & answers[1].keys()
    assert len(both) >= 3
    before, now = ([[answer[word][when] for word in both] for answer in answers] for when in (0, 1))
    assert before[0] != before[1], "with positions they are two sentences"
    assert now[0] == now[1], "without positions they are the same words"


def test_on_a_phone_river_is_put_into_money_by_touch(
    app_url: str, browser: Browser, requests: list[str], text: Pipeline
) -> None:
    here, there = "the money is [MASK] .", "the river is [MASK] ."
    plain, other = text(here), text(there)
    place, money = plain.tokens.index("[MASK]"), plain.tokens.index("money")
    words = likeliest(plain, place)
    with browser.new_context(**PHONE) as phone:
        watch(phone, requests)
        page = phone.new_page()
        open_room(page, app_url, "patching", s=here, other=there)
        assert page.evaluate(WIDEST) <= 0, "wider than the screen"
        change(page, "patching", 0, money)
        # Before the first layer the two runs differ in this vector only: the run becomes the other one.
        expect_lead(page, lead(plain, place, words), lead(other, place, words))
        changes(page).tap()
        page.wait_for_url(lambda url: "edits" not in asked(url))
        settle(page)
        expect(page.get_by_test_id("stMetricDelta")).to_have_count(0)
        assert page.evaluate(WIDEST) <= 0, "wider than the screen"
