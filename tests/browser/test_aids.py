"""What the drawer and the bar offer on every page: a second input, the glossary, sharing, presentation."""

from pathlib import Path
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Page, expect

from model.examples import READY
from pages.drawing.state.choice import HIDEABLE
from pages.drawing.text import catalogue
from tests.browser.steps import (
    CUT,
    DESK,
    ENDS,
    MIDDLE,
    PAGE,
    PROJECTOR,
    TOUCHING,
    asked,
    ends_with_the_screen,
    link_to,
    open_settings,
    opened,
    place,
    sentence_field,
    serious,
    settle,
    title,
    visit,
    wait_for,
)
from tests.links import TABS

pytestmark = pytest.mark.usefixtures("goes_on")
LONG = "the animal did not cross the street because it was too tired ."


def test_a_press_that_closes_the_drawer_chooses_nothing(page: Page, app_url: str) -> None:
    """Even if a cell, a word, a head or a link is under it."""
    visit(page, f"{app_url}/attention?lang=en&token=3&key=4&hidden=none&{urlencode({'s': LONG})}")
    opened(page, "attention")
    chart = page.locator(".chart").first
    chart.locator(".ytick").first.wait_for()
    settle(page)
    link, cell, place_of = page.url, chart.evaluate(MIDDLE, [9, 12]), chart.bounding_box()
    for part in (cell, page.locator(".sentence .chip").last, place(page, "head", 7), link_to(page, "answer")):
        open_settings(page)
        assert chart.bounding_box() == place_of, "it does not push the page"
        if part is cell:
            page.mouse.click(*cell)
        else:
            part.click(force=True, no_wait_after=True)
        expect(page.get_by_test_id("stSidebar")).to_be_hidden()
    page.wait_for_timeout(500)
    settle(page)
    assert page.url == link


def test_the_glossary_is_found_behind_more(page: Page, phone: Page, app_url: str) -> None:
    for one in (page, phone):
        visit(one, f"{app_url}/{PAGE}")
        opened(one, "attention")
        one.locator(".navbar .menu:visible").last.click()
        one.locator(".navbar .glossary").click()
        expect(one.get_by_role("dialog")).to_contain_text(catalogue("en")["glossary.purpose"][:30])
        expect(one.locator(".navbar .glossary")).to_be_hidden()


def test_the_drawer_is_reached_by_keys_and_gives_the_focus_back(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/{PAGE}")
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


@pytest.mark.usefixtures("own_tab")
def test_a_link_is_copied_where_browsers_have_no_clipboard_for_a_page(page: Page, app_url: str) -> None:
    """Over plain http, as in a class."""
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


def test_no_word_of_the_code_is_taken_for_one_of_streamlits(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/translation?lang=zh")
    page.get_by_text(catalogue("zh")["common.code"]).click()
    code = page.get_by_test_id("stCode").filter(has_text="def beam_search(")
    expect(code).to_be_visible()
    settle(page)
    expect(code).to_contain_text("-> Search:")


def test_the_last_line_by_hand_keeps_off_the_border_below_it(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/shapes_and_cost?lang=en&tab=walk")
    last = page.get_by_text(catalogue("en")["shapes_and_cost.hand_times"].partition("{")[0])
    expect(last).to_be_visible()
    settle(page)
    ends = [
        box.evaluate("one => one.getBoundingClientRect().bottom")
        for box in (last, page.locator(".st-key-working-cost"))
    ]
    assert ends[1] - ends[0] >= 6


def test_a_table_grows_with_a_presentation_and_shrinks_behind_it(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/shapes_and_cost?lang=en&tab=parameters&base=004")
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


def test_in_a_presentation_a_page_ends_with_the_screen(page: Page, app_url: str) -> None:
    """And a picture takes so much of its height."""
    page.set_viewport_size(PROJECTOR)
    words, digit = f"lang=en&s={LONG.replace(' ', '+')}", "lang=zh&input=digit"
    least = {f"{name}?{digit}": 0.5 for name in ("queries_keys_values", "heads", "feed_forward")}
    least |= {f"{name}&{digit}": 0.5 for name in ("feed_forward?tab=neuron", "tokens?tab=positions", "answer?tau=20")}
    least |= {f"what_if?{digit}": 0.44, f"tokens?tab=positions&{words}": 0.5}  # Laboratory has a row more above
    least |= {f"heads?tab=contribution&{words}": 0.5, f"queries_keys_values?tab=plane&{words}": 0.5}
    least |= {f"attention?tab=steps&stage={stage}&{words}": 0.5 for stage in ("scores", "weights")}
    least |= {f"feed_forward?tab=neuron&{words}": 0.5, f"shapes_and_cost?tab=parameters&{words}": 0.5}
    least |= {f"translation?tab={tab}&{words}": 0.5 for tab in ("search", "alignment", "inside")}
    least |= {f"{tab}&input=digit": 0.4 for tab in ("tokens?tab=positions&lang=en", "attention?tab=layers&lang=zh")}
    inside = f"translation?tab=inside&{words}&block"
    least |= {f"{inside}=embedding": 0.5, f"{inside}=ffn": 0.5, f"{inside}=attention&stage=masked": 0.5}
    least |= {f"{inside}={block}&stage={stage}": 0.5 for block, stage in (("cross", "scaled"), ("attention", "heads"))}
    for link, share in least.items():
        visit(page, f"{app_url}/{link}&big=true")
        title(page, link.partition("?")[0], asked(link)["lang"])
        page.locator(".js-plotly-plot .main-svg").first.wait_for()
        assert ends_with_the_screen(page, share), link
        cells = page.locator(".js-plotly-plot .heatmaplayer").first
        assert (
            "stage" not in link
            or "block" not in link
            or cells.evaluate("map => map.getBoundingClientRect().width") > 700
        ), link
    page.locator(".navbar").evaluate("bar => { bar.style.marginBottom = '2px' }")  # like a font that loads late
    page.wait_for_function(ENDS)
    page.locator(".navbar").evaluate("bar => { bar.style.marginBottom = '' }")
    visit(page, f"{app_url}/shapes_and_cost?tab=notes&{words}&big=true")
    expect(page.locator(".st-key-notes")).to_be_visible()
    page.wait_for_function(ENDS)


#: Equations beside the headings of pictures that lie on a picture.
COVERED = """() => [...document.querySelectorAll('[class*=st-key-heading] .katex-html')].filter(one => {
    const { left, right, top, bottom } = one.getBoundingClientRect()
    return [...document.querySelectorAll('.chart')].map(chart => chart.getBoundingClientRect()).some(chart =>
        bottom > chart.top + 1 && top < chart.bottom && right > chart.left && left < chart.right)
}).map(one => one.textContent)"""


def test_a_page_ends_with_the_screen_of_a_desk(page: Page, app_url: str) -> None:
    """Its picture begins at 255 pixels at most; the link to the next page, code and downloads stand in its last row."""
    page.set_viewport_size(DESK)
    links = (
        "attention?",
        *(f"attention?tab=steps&stage={stage}" for stage in ("scores", "scaled", "masked", "weights")),
        *(f"{tab}&input=digit" for tab in ("attention?tab=steps", "attention?tab=steps&stage=weights", "attention?")),
        *(f"{tab}&input=digit" for tab in ("add_and_norm?tab=maps", "tokens?", "attention?tab=layers")),
        "tokens?tab=order",
        "feed_forward?tab=neuron",
        "translation?tab=search",
        "queries_keys_values?",
        "tokens?",
        "tokens?tab=positions",
        "answer?",
        "answer?stage=heads",
        "answer?tab=places",
        "flat?",
        "layers?",
        "add_and_norm?",
        *(f"layers?tab={tab}&layer=6" for tab in ("path", "alike", "origin", "out")),
        *(f"heads?tab={tab}&layer=3" for tab in ("contribution", "origins")),
        *(f"add_and_norm?tab={tab}&layer=6" for tab in ("maps", "ablation")),
    )
    for number, link in enumerate(links):
        visit(page, f"{app_url}/{link}&lang={('en', 'zh')[number % 2]}&s={LONG.replace(' ', '+')}")
        chart = page.locator(".js-plotly-plot").first
        chart.locator(".main-svg").first.wait_for()
        page.wait_for_function(
            f"() => ({ENDS})() && document.querySelector('.chart').getBoundingClientRect().top <= 255"
        )
        assert page.evaluate(COVERED) == [], link
        if link == "answer?":
            slider = page.locator("[data-testid=stSlider]").bounding_box()
            assert slider and slider["width"] >= 340, "a step of τ is 4 pixels"
    page.locator(".st-key-page_end summary").first.click()
    expect(page.locator(".st-key-page_end details[open]")).to_be_visible()
    wide = page.locator(".st-key-page_end details[open]").bounding_box()
    assert wide and wide["width"] > 1200, "an open box is as wide as the page"


#: Equations that lie on a control.
CROWDED = """() => [...document.querySelectorAll('[data-testid=stMain] .katex-html .base')].filter(one => {
    const { left, right, top, bottom } = one.getBoundingClientRect()
    const controls = [...document.querySelectorAll('[data-testid=stMain] :is(button, input, [data-testid=stSlider])')]
    return controls.some(control => {
        const box = control.getBoundingClientRect()
        return !control.contains(one) && bottom > box.top && top < box.bottom && right > box.left && left < box.right
    })
}).map(one => one.textContent)"""


def test_no_equation_lies_on_a_control_of_any_tab(page: Page, app_url: str) -> None:
    page.set_viewport_size(DESK)
    for number, (name, tab) in enumerate((name, tab) for name, tabs in TABS.items() for tab in tabs):
        visit(page, f"{app_url}/{name}?lang={('en', 'zh')[number % 2]}&tab={tab}&s={LONG.replace(' ', '+')}")
        settle(page)
        assert page.evaluate(CROWDED) == [], (name, tab)


#: Whether the words that offer to hide a word stand on the line that is seen.
OFFERED = """offer => { const { top } = offer.getBoundingClientRect(), words = document.createRange()
    words.selectNodeContents(offer)
    return offer.textContent && words.getBoundingClientRect().bottom < top + offer.offsetHeight + 4 }"""


def test_home_ends_with_the_screen_of_a_desk_and_names_every_column(page: Page, app_url: str) -> None:
    page.set_viewport_size(DESK)
    many = "the old man told us that he had never seen so many people in the village ."
    for link in ("lang=zh", "lang=en", f"lang=en&hidden=none&s={many.replace(' ', '+')}", "lang=en&input=digit"):
        visit(page, f"{app_url}/?{link}")
        expect(page.locator(".st-key-page_end")).to_be_visible()
        page.locator(".overview .pic").first.wait_for()
        page.wait_for_function(ENDS)
        assert not page.locator(".overview .under-cell").filter(visible=False).count(), link
        if many[:5] in link.replace("+", " "):
            assert page.locator(".sentence .offer").evaluate(OFFERED)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_no_step_of_attention_moves_what_is_below(page: Page, app_url: str, lang: str) -> None:
    page.set_viewport_size(DESK)
    heights = set()
    for stage in ("scores", "masked", "weights", "heads"):
        visit(page, f"{app_url}/attention?tab=steps&stage={stage}&lang={lang}")
        page.locator(".chart .main-svg").first.wait_for()
        page.wait_for_function(ENDS)
        heights.add(page.locator(".chart").first.evaluate("chart => Math.round(chart.offsetHeight)"))
    assert len(heights) == 1


#: Words outside pictures and equations that are written in less than 20 pixels.
SMALL = """() => [...document.querySelectorAll('[data-testid=stMain] *')].filter(it => it.checkVisibility()
    && !it.closest('svg, .katex, .formula, option')
    && [...it.childNodes].some(one => one.nodeType === 3 && one.data.trim())
    && it.getBoundingClientRect().width > 2 && parseFloat(getComputedStyle(it).fontSize) * it.currentCSSZoom < 19.9)
    .map(it => `${getComputedStyle(it).fontSize} ${it.textContent}`)"""


#: Names of columns that share a place, or lean.
UNDER = """() => {
    const names = [...document.querySelectorAll('.chart .xtick text')].map(it => [it, it.getBoundingClientRect()])
    const meet = (one, two) => one.right > two.left + 1 && two.right > one.left + 1
        && Math.abs(one.top + one.bottom - two.top - two.bottom) < one.height
    return names.filter(([it, one], i) => it.getAttribute('transform').includes('rotate')
        || names.some(([, two], j) => j > i && meet(one, two))).map(([it]) => it.textContent)
}"""


#: Lines of words in a picture, above each other, that stand closer than their letters are high.
CLOSE = """() => {
    const lines = [...document.querySelectorAll('.chart :is(.heatmap-label tspan, .annotation-text)')].map(it => {
        const { x, y, width, height } = it.getBoundingClientRect()
        return [it.textContent, x, x + width, y + height / 2, parseFloat(getComputedStyle(it).fontSize)]
    })
    return lines.flatMap(([name, left, right, middle, size], i) => lines.slice(i + 1).filter(other =>
        other[1] < right && left < other[2] && Math.abs(other[3] - middle) < (size + other[4]) / 2)
        .map(other => [name, other[0]]))
}"""


def test_a_presentation_of_a_long_sentence_names_every_row_and_column_in_letters_for_the_last_row(
    page: Page, app_url: str
) -> None:
    page.set_viewport_size(PROJECTOR)
    sentence = "昨天晚上我和爸爸妈妈一起去电影院看了一部很有意思的[MASK]影，大家都非常喜欢。"
    link = {"lang": "zh", "s": sentence, "big": "true"}
    edits = {"edits": "layers.3.attention.heads~zero~head.2"}
    short = {"s": READY["zh"][0], "hidden": "2"}
    for name, more in {"attention": {}, "what_if": edits, "layers": short}.items():
        visit(page, f"{app_url}/{name}?{urlencode(link | more)}")
        title(page, name, "zh")
        settle(page)
        page.wait_for_function(ENDS)
        assert page.evaluate(SMALL) == []
        if name == "attention":
            names = page.locator(".chart .xtick text, .chart .ytick text")
            shown = names.evaluate_all("all => all.filter(name => name.style.visibility !== 'hidden').length")
            assert shown == names.count() == 2 * 38 and page.evaluate(CUT) == []
            assert page.evaluate(UNDER) == [], "no name leans over another"
        elif name == "layers":
            assert page.evaluate(CLOSE) == []


def test_a_presentation_fills_the_screen_names_every_row_and_has_a_way_back(page: Page, app_url: str) -> None:
    large = {"width": 1920, "height": 1080}
    chart, names, bar = (page.locator(where) for where in (".chart", ".chart .ytick text", ".navbar"))
    sentence = "the animal did not cross the street because it was too tired of them ."
    link = {"lang": "en", "s": sentence, "token": 4, "key": 6, "big": "true", "hidden": "none"}
    page.set_viewport_size(PROJECTOR)
    visit(page, f"{app_url}/attention?{urlencode(link)}")
    title(page, "attention")
    for size in (PROJECTOR, large):
        fills(page, size, ".chart", 0.7)  # below one sentence
        shown = names.evaluate_all("all => all.filter(name => name.style.visibility !== 'hidden').length")
        assert shown == names.count() == 17 and chart.first.evaluate(TOUCHING) == []
        expect(page.locator(".formula")).to_have_count(0)
        expect(page.get_by_test_id("stSidebar")).to_be_hidden()
        assert bar.bounding_box()["height"] < 50 and bar.evaluate("bar => bar.scrollWidth <= bar.clientWidth")
    link_to(page, "heads").click()
    opened(page, "heads")
    for size in (large, PROJECTOR):
        fills(page, size, ".nsewdrag", 0.4)
    page.get_by_role("button", name="Leave").click()
    wait_for(page, big=None)


def fills(page: Page, size: dict, part: str, least: float) -> None:
    """The first picture, or a part of it, takes that share of a screen of this size, and the page ends with it."""
    page.set_viewport_size(size)
    page.locator(".chart .ytick text").first.wait_for()
    settle(page)
    page.wait_for_function(ENDS)
    outside, inside = (page.locator(one).first.bounding_box() for one in (".chart", part))
    assert outside["y"] + outside["height"] <= size["height"] and inside["height"] >= least * size["height"]


def test_a_handout_is_one_small_file_that_opens_anywhere_and_is_printed(
    page: Page, app_url: str, tmp_path: Path
) -> None:
    visit(page, f"{app_url}/{PAGE}")
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
    visit(page, f"{app_url}/lesson?lang=en&lesson=heads&s=he+[MASK]+to+the+shop+to+buy+some+milk+.")
    opened(page, "lesson")
    page.get_by_text("For teachers").click()
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
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (
        "its address is broken where a line ends"
    )
    page.emulate_media(media="print")
    expect(answers.first).to_be_hidden()
    answers.nth(1).evaluate("fold => { fold.open = true }")
    expect(answers.nth(1).locator("img")).to_be_visible()
    expect(answers.first).to_be_hidden()


def test_a_link_leaves_out_what_distracts_on_every_page_and_says_so_to_others(page: Page, app_url: str) -> None:
    visit(page, f"{app_url}/{PAGE}&hide=chips,next,downloads")
    opened(page, "attention")
    chips, ways = page.locator(".st-key-pick-token"), page.get_by_test_id("stPageLink")
    for gone in (chips, ways.first, page.get_by_text("Downloads", exact=True)):
        expect(gone).to_be_hidden()
    link_to(page, "heads").click()
    opened(page, "heads")
    wait_for(page, hide="chips,next,downloads")
    expect(chips).to_be_hidden()
    visit(page, f"{app_url}/{PAGE}&hide=bare")
    page.locator(".chart .main-svg").first.wait_for()
    for gone in (page.locator(".navbar"), page.locator(".sentence"), chips):
        expect(gone).to_be_hidden()
    expect(page.get_by_text("BidiComponent Error")).to_have_count(0)
    visit(page, f"{app_url}/{PAGE.replace('attention', 'heads')}")  # this page has everything that can be left out
    opened(page, "heads")

    def seen_without(name: str) -> int:
        page.evaluate("name => { document.documentElement.dataset.hide = name }", name)
        return page.locator(":is([data-testid], .navbar button):visible").count()

    for name in HIDEABLE:
        assert seen_without(name) < seen_without("") or name == "depth", name  # no longer exists
