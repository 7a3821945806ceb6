"""A click on a cell shows its arithmetic next to it, on the same screen, and highlights its row and column."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.steps import BAR, SENTENCE, click_cell, title, visit, wait_for

QUERY = "lang=en&input=sentence&layer=2&head=3&s=" + SENTENCE.replace(" ", "+")
pytestmark = pytest.mark.usefixtures("goes_on")
#: page, picture, cell (row and column as drawn), resulting link, symbol of the cell
CELLS = [
    ("attention", 0, (6, 2), {"token": "7", "key": "3"}, "A_{6,2}"),
    ("queries_keys_values", 2, (2, 32), {"token": "3", "part": "32", "stage": "V"}, "V_{2,32}"),
]
# Whether Plotly needed no more than the margins it was given.
SPARE = """chart => ['l', 't', 'b'].every(side => chart._fullLayout._size[side] === chart.layout.margin[side])"""


def test_a_click_on_a_cell_shows_its_arithmetic_in_the_same_screen(page: Page, app_url: str) -> None:
    for name, which, cell, wanted, symbol in CELLS:
        visit(page, f"{app_url}/{name}?{QUERY}" + "&tab=maps" * (name != "attention"))
        title(page, name)
        chart = page.locator(".js-plotly-plot").nth(which)
        click_cell(page, chart, *cell)
        wait_for(page, **wanted)
        working = page.locator("[class*=st-key-working]")
        line = working.locator(f'.formula[data-latex*="{symbol}"]').last
        expect(line).to_be_attached()
        assert 0 <= working.bounding_box()["y"] < 700  # of the screen
        lit = page.locator(".js-plotly-plot").nth(which).locator(".shapelayer path")
        expect(lit).to_have_count(3)  # the row, the column and the cell
        assert chart.evaluate(SPARE), "Plotly found too little room for names and drew the picture once more"


def test_a_row_of_scores_keeps_its_cells_above_long_words(page: Page, app_url: str) -> None:
    for sentence in ("his relationship with my grandmother was very difficult .", "i love you ."):
        visit(page, f"{app_url}/queries_keys_values?lang=en&s={sentence.replace(' ', '+')}")
        title(page, "queries_keys_values")
        row = page.locator(".js-plotly-plot").nth(2)
        row.locator(".scatterlayer .point").first.wait_for(state="attached")
        assert row.evaluate("chart => chart._fullLayout._size.h") >= 15, sentence
        expect(page.get_by_text("BidiComponent Error")).to_have_count(0)


def test_a_click_on_a_patch_or_a_band_chooses_its_token(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/attention?lang=en&input=digit")
    title(page, "attention")
    chart = page.locator(".js-plotly-plot").first
    click_cell(page, chart, 2, 3)
    wait_for(page, token="19")
    expect(page.locator("[class*=st-key-working]")).to_contain_text("r3c4")


def test_a_part_of_a_score_leads_to_where_it_was_computed(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/attention?{QUERY}&token=6&why=true")
    title(page, "attention")
    chart = page.locator(".js-plotly-plot").filter(has=page.locator(".barlayer path"))
    chart.locator(".barlayer path").first.wait_for(state="attached")
    chart.scroll_into_view_if_needed()
    page.mouse.click(*chart.evaluate(BAR, 1))  # behind the row's mean: FFN 1, found with the positions
    title(page, "feed_forward")
    wait_for(page, stage="output", layer="1")
