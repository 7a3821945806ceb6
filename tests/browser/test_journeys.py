"""What a visitor does in a real browser: type, navigate, click, switch, share, on a wide screen and on a phone."""

import re
from urllib.parse import quote, urlsplit

import pytest
from playwright.sync_api import Page, Route, expect

from pages.drawing.text import catalogue
from pages.screen.frame.contents import pages
from tests.browser import pad as drawing
from tests.browser.steps import (
    FIRST,
    OWN_QUESTION,
    PROJECTOR,
    SENTENCE,
    SlowLine,
    asked,
    choose,
    click_cell,
    ends_with_the_screen,
    expect_choice,
    expect_heatmap,
    expect_sentence,
    link_to,
    main_text,
    misplaced,
    open_settings,
    opened,
    path_and_sentence,
    place,
    press,
    sentence_field,
    settle,
    title,
    visit,
    wait_for,
    walk_to,
    write,
)

pytestmark = pytest.mark.usefixtures("goes_on")


@pytest.mark.usefixtures("own_tab")
def test_a_reload_and_the_back_button_show_the_same(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}?{FIRST}")
    title(page, "home")
    write(page, SENTENCE)
    walk_to(page, "add_and_norm")
    walk_to(page, "attention")
    choose(page, layer=2, head=2)
    steps = page.evaluate("history.length")
    walk_to(page, "tokens")
    walk_to(page, "heads")
    expect_choice(page)
    assert page.evaluate("history.length") == steps + 2, "each change of page is one step, no more"

    page.go_back()
    title(page, "tokens")
    page.go_back()
    title(page, "attention")
    expect_choice(page)
    place(page, "layer", 3).click()
    wait_for(page, layer="3")
    page.go_back()
    expect_choice(page)
    settle(page)
    shown = main_text(page)
    page.reload()
    title(page, "attention")
    expect_choice(page)
    expect_heatmap(page)
    expect(page.get_by_test_id("stMain")).to_have_text(shown, use_inner_text=True)


@pytest.mark.usefixtures("own_tab")
def test_a_sentence_typed_and_not_entered_goes_along_with_a_clicked_link(page: Page, app_url: str) -> None:
    page.goto(f"{app_url}/attention?s={quote('我爱你。')}&lang=zh")
    title(page, "attention", "zh")
    here = "attention"
    for turn, there in enumerate(["heads", "tokens"]):
        typed, steps, box = (
            f"天空是蓝色的{turn}。",
            page.evaluate("history.length"),
            link_to(page, there).bounding_box(),
        )
        sentence_field(page)  # its text is selected
        page.keyboard.type(typed)
        press(page, box, 100 * (turn % 2))
        page.wait_for_url(lambda url, there=there, typed=typed: path_and_sentence(url) == (there, typed))
        title(page, there, "zh")
        expect_sentence(page, typed)
        assert page.evaluate("history.length") == steps + 2, "one step for the sentence, one for the page"
        here, before = there, (here, typed)
    page.go_back()
    page.wait_for_url(lambda url: path_and_sentence(url) == before)
    title(page, before[0], "zh")
    page.go_forward()
    page.wait_for_url(lambda url: path_and_sentence(url) == (here, typed))
    title(page, here, "zh")
    page.reload()
    title(page, here, "zh")
    expect_sentence(page, typed)
    assert path_and_sentence(page.url) == (here, typed)


def heads_is_on_its_way(page: Page, app_url: str) -> SlowLine:
    """Attention is shown; Heads was requested and written by the server, but has not arrived."""
    line = SlowLine(page)
    page.goto(f"{app_url}/attention?s={quote(SENTENCE)}&{FIRST}")
    title(page, "attention")
    line.slow = True
    link_to(page, "heads").click()
    page.wait_for_timeout(500)
    line.let_the_server_hear()
    page.wait_for_timeout(1000)
    return line


@pytest.mark.usefixtures("own_tab")
def test_on_a_slow_line_a_layer_is_chosen_before_the_one_before_has_arrived(page: Page, app_url: str) -> None:
    line = SlowLine(page)
    page.goto(f"{app_url}/heads?s={quote(SENTENCE)}&{FIRST}")  # its large picture is sent once, then referred to
    title(page, "heads")
    place(page, "layer", 2).click()
    wait_for(page, layer="2")
    line.slow = True
    place(page, "layer", 3).click()
    page.wait_for_timeout(500)
    line.let_the_server_hear()
    page.wait_for_timeout(1000)  # by then the server has answered
    place(page, "layer", 1).click()
    page.wait_for_timeout(500)
    line.be_quick()
    wait_for(page, layer="1")
    expect_heatmap(page)
    expect(page.get_by_role("dialog")).to_have_count(0)


@pytest.mark.usefixtures("own_tab")
def test_on_a_slow_line_a_page_that_arrives_late_closes_no_menu(page: Page, app_url: str) -> None:
    line = heads_is_on_its_way(page, app_url)
    flat = link_to(page, "flat")
    expect(flat).to_be_visible()
    line.be_quick()
    title(page, "heads")
    expect(flat).to_be_visible()
    flat.click()
    title(page, "flat")


@pytest.mark.usefixtures("own_tab")
def test_on_a_slow_line_a_page_that_is_left_already_is_still_clicked(page: Page, app_url: str) -> None:
    line = heads_is_on_its_way(page, app_url)
    place(page, "layer", 3).click()
    page.wait_for_timeout(500)
    line.let_the_page_hear()
    expect(page.locator(".navbar [aria-current]")).to_have_text("Heads")
    page.wait_for_timeout(1500)  # then comes the answer to the click, which is the page before
    line.be_quick()
    page.wait_for_timeout(1500)
    opened(page, "heads")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(500)
    wait_for(page, head="3")  # no press is lost
    title(page, "heads")


@pytest.mark.parametrize("part", ["js/ButtonGroup|plotly", "chart-"], ids=["of the client", "of ours"])
def test_what_a_broken_line_did_not_bring_is_fetched_when_it_is_whole(page: Page, app_url: str, part: str) -> None:
    def health(route: Route) -> None:  # called by the client itself; for the app the line is broken
        route.abort() if route.request.resource_type == "fetch" else route.continue_()

    page.route(re.compile(f"/static/({part})"), lambda route: route.abort())
    page.route(re.compile("_stcore/health"), health)
    page.goto(f"{app_url}/attention?s={quote(SENTENCE)}&{FIRST}")
    page.locator(".incomplete").wait_for(state="attached")
    page.wait_for_timeout(2000)
    expect(page.get_by_text("Failed to fetch").filter(visible=True)).to_have_count(0)
    page.unroute_all()
    title(page, "attention")
    settle(page)
    expect_heatmap(page)
    expect(link_to(page, "heads")).to_be_visible()
    expect(page.locator(".st-key-lang button")).to_have_count(2)


def test_a_stroke_goes_along_with_a_clicked_link(page: Page, app_url: str) -> None:
    drawing.open_pad(page, app_url, "attention")
    for digit, there, pause in [(2, "tokens", 0), (7, "heads", 100)]:
        drawing.press(page, "clear")
        drawing.settle(page)
        box = link_to(page, there).bounding_box()
        drawing.draw(page, digit)
        press(page, box, pause)
        page.wait_for_url(lambda url, there=there: urlsplit(url).path == f"/{there}")
        drawing.settle(page)
        assert drawing.verdict(page) == str(digit)


#: The smallest letters of titles, legends and words in pictures, in pixels; 99 without any.
LEAST = """() => Math.min(99, ...[...document.querySelectorAll(
    '.chart :is(.g-xtitle, .g-ytitle, .annotation, .legend) text')]
    .map(it => parseFloat(getComputedStyle(it).fontSize)))"""


@pytest.mark.parametrize(("lang", "sentence"), [("en", SENTENCE), ("zh", "今天天气很[MASK]。")])
def test_in_a_presentation_names_in_pictures_lie_on_none_and_every_page_ends_with_the_screen(
    page: Page, app_url: str, lang: str, sentence: str
) -> None:
    """Half of the pages in each language; the other half at a desk and on a phone, as everybody reads them."""
    page.set_viewport_size(PROJECTOR)
    names = [row.name for row in pages() if row.name not in ("home", "class")]
    for name in names[lang == "en" :: 2]:
        visit(page, f"{app_url}/{name}?lang={lang}&s={quote(sentence)}&layer=3&head=2&big=true&lesson={OWN_QUESTION}")
        title(page, name, lang)
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_attached()
        settle(page)
        assert misplaced(page, cut=name == "lesson") == [], name
        assert name == "feed_forward" or page.evaluate(LEAST) >= 20, name  # there twelve rows stand below a strip
        assert name in ("answer", "lesson", "what_if") or ends_with_the_screen(page), name
    for station in ("word", "fit", "causal"):
        read = "the+animal+did+not+cross+the+street+because+it+[MASK]+too+tired+."
        visit(page, f"{app_url}/lesson?lang={lang}&question={station}&s={read}&big=true")
        expect(page.locator(".js-plotly-plot .main-svg").first).to_be_attached()
        settle(page)
        expect(page.locator(".st-key-lesson-leave button")).to_be_in_viewport(ratio=1)
        assert page.locator(".chart").first.evaluate("chart => chart.clientHeight") >= PROJECTOR["height"] / 2, station


def test_markup_in_a_sentence_is_shown_as_typed(page: Page, app_url: str) -> None:
    name = "answer"
    typed = "<b>x</b> $x$ `x` [MASK]"
    visit(page, f"{app_url}/{name}?s={quote(typed)}&tab={quote('<b>x</b>$x$`x`')}&{FIRST}")
    title(page, name)
    words = ["<", "b", ">", "x", "<", "/", "b", ">", "$", "x", "$", "`", "x", "`", "[MASK]"]
    expect(page.locator(".sentence .chip")).to_have_text(words)
    expect(sentence_field(page)).to_have_value(typed)
    assert "to “<b>x</b>$x$`x`”, which does not exist" in main_text(page)
    page.get_by_text(catalogue("en")["answer.tab_places"], exact=True).click()
    expect_heatmap(page)
    ticks = page.locator(".js-plotly-plot .ytick text").all_text_contents()
    assert {"<", "b", ">", "$", "`", "[MASK]"} <= set(ticks)
    markdown = page.get_by_test_id("stMain").get_by_test_id("stMarkdownContainer")
    expect(markdown.locator("b")).to_have_count(0)
    assert not {"x", "$", "`"} & set(markdown.locator(".katex .mathnormal, code").all_inner_texts())


def test_a_clicked_cell_survives_another_language_and_follows_another_sentence(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/attention?s={quote(SENTENCE)}&{FIRST}&as=map")
    title(page, "attention")
    chart = page.locator(".js-plotly-plot").first
    click_cell(page, chart, 4, 6)  # ‘dog’ attends to ‘book’
    wait_for(page, token="5", key="7")
    working = page.locator("[class*=st-key-working]").first
    expect(working).to_contain_text("book")
    open_settings(page)
    page.locator(".st-key-lang").get_by_text("中文").click()
    page.keyboard.press("Escape")
    title(page, "attention", "zh")
    expect(working).to_contain_text("book")
    assert (asked(page.url)["token"], asked(page.url)["key"]) == ("5", "7")
    write(page, "i love you .")  # six tokens: the seventh is gone
    expect(working).to_contain_text("“love” → “i”")
