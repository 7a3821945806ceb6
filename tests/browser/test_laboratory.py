"""The laboratory in a real browser: clicking a cell makes a change, which stays in the link and on every page."""

from itertools import product
from urllib.parse import urlencode, urlsplit

import pytest
from playwright.sync_api import Locator, Page, expect

from model import load
from pages.drawing.state import sketch
from pages.drawing.text import LANGUAGES, catalogue
from pages.school.lessons.goals import mark_of
from pages.what_if.page import PARTS
from tests.browser.steps import DESK, MIDDLE, PROJECTOR, WIDEST, asked, settle, title, visit, walk_to

pytestmark = pytest.mark.usefixtures("goes_on")
ANIMAL = "the animal did not cross the street because it was too tired ."
LONG = "老师给学生们讲了一个关于很久以前住在[MASK]里的一位老人和他的三只小羊的故事"


def change(page: Page, kind: str, row: int, column: int) -> None:
    """Click a cell of a map of effects, and wait until its change is in the address and on the page."""
    before, chart = asked(page.url).get("edits", ""), page.locator(f".st-key-what_if-{kind} .js-plotly-plot")
    chart.locator(".scatterlayer .point").first.wait_for(state="attached")
    chart.scroll_into_view_if_needed()
    touched = page.evaluate("navigator.maxTouchPoints")
    (page.touchscreen.tap if touched else page.mouse.click)(*chart.evaluate(MIDDLE, [row, column]))
    page.wait_for_url(lambda url: asked(url).get("edits", "") != before)
    settle(page)


def changes(page: Page) -> Locator:
    """Buttons of the run's changes, which take them back."""
    return page.locator(".st-key-changes").get_by_role("button", name=" · ")


def test_changes_are_clicked_and_the_link_alone_makes_the_same_run(page: Page, app_url: str) -> None:
    link = {"lang": "en", "tab": "heads", "block": "heads", "s": ANIMAL, "hidden": "4", "measure": "lead"}
    visit(page, f"{app_url}/what_if?{urlencode(link)}")
    title(page, "what_if")
    lead = page.get_by_test_id("stMetricValue")
    before = lead.inner_text()
    change(page, "heads", 2, 6)
    expect(lead).not_to_have_text(before)
    page.locator(".st-key-either-block-heads").get_by_text(catalogue("en")["what_if.kind_inside"]).click()
    change(page, "inside", 5, 0)
    edits = "layers.2.attention.heads~zero~head.7~~layers.0.attention.masked~causal"
    assert asked(page.url)["edits"] == edits
    other = page.context.new_page()
    other.goto(page.url)
    title(other, "what_if")
    expect(other.get_by_test_id("stMetricValue")).to_have_text(lead.inner_text())
    expect(changes(other)).to_have_count(2)
    other.close()
    walk_to(page, "attention")
    expect(changes(page)).to_have_count(2)


SIDES = (("x", "width"), ("y", "height"))


def lie_on(one: dict, other: dict) -> bool:
    """Whether two boxes overlap by more than an edge."""
    sides = ((max(one[at], other[at]), min(one[at] + one[far], other[at] + other[far])) for at, far in SIDES)
    return all(end - begin > 1 for begin, end in sides)


def test_in_a_presentation_a_click_scrolls_nothing_away_and_what_it_does_is_read(page: Page, app_url: str) -> None:
    page.set_viewport_size(PROJECTOR)
    for lang, given in zip(LANGUAGES, ({"s": ANIMAL}, {"input": "digit"}), strict=True):
        visit(page, f"{app_url}/what_if?{urlencode({'lang': lang, 'big': 'true'} | given)}")
        title(page, "what_if", lang)
        settle(page)
        assert page.get_by_test_id("stMain").evaluate("it => it.scrollHeight - it.clientHeight") == 0, lang
        says = page.locator("[data-testid=stMain] p", has_text=catalogue(lang)["what_if.click_heads"][-8:])
        for clicked in (False, True):
            if clicked:
                change(page, "heads", 3, 2)
            expect(page.locator(".navbar")).to_be_in_viewport(ratio=1)
            expect(says).to_be_in_viewport(ratio=1)
            expect(page.locator(".st-key-what_if-heads .chart")).to_be_in_viewport(ratio=1)
        cross, numbers = (page.locator(f".st-key-what_if-heads {name}") for name in (".annotation", ".heatmap-label"))
        box, boxes = cross.bounding_box(), [one.bounding_box() for one in numbers.all()]
        assert len(boxes) == 48 if "s" in given else 10 < len(boxes) < 20, "what rounds to 0 is not written"
        assert box and not any(lie_on(box, one) for one in boxes if one), "the number is read, too"


#: How many buttons of the bar of changes say nothing but ×.
NAMELESS = """() => [...document.querySelectorAll('.st-key-changes button')].filter(it => it.offsetWidth &&
    ![...it.querySelectorAll('p')].some(name => name.offsetWidth > 20)).length"""


def test_a_presentation_of_changes_and_of_another_input_ends_with_the_screen(page: Page, app_url: str) -> None:
    page.set_viewport_size(PROJECTOR)
    edits = {"edits": "layers.3.attention.heads~zero~head.2", "measure": "lead"}  # the lead takes most room
    both = edits | {"shown": "beside"}  # the longest texts
    long = both | {"s": LONG, "other": LONG.replace("老人", "国王").replace("三", "五"), "goal": "first.3.abcdef.羊"}
    states = (
        edits | {"s": ANIMAL},
        long,
        edits | {"input": "digit", "goal": "first.3.abcdef.wide"},
        both | {"input": "digit", "other_ink": sketch.to_code(sketch.example(3))},
        long,
    )
    rooms = [(tab, next(iter(kinds))) for tab, kinds in PARTS.items()] + [("input", "patching")]
    for (tab, kind), state, lang in zip(rooms, states, (*LANGUAGES, *LANGUAGES, "en"), strict=True):
        link = {"lang": lang, "big": "true", "tab": tab, "block": kind} | state
        visit(page, f"{app_url}/what_if?{urlencode(link)}")
        title(page, "what_if", lang)
        settle(page)
        page.wait_for_function("document.querySelector('[data-testid=stMain]').scrollHeight <= innerHeight")
        expect(page.locator(".navbar")).to_be_in_viewport(ratio=1)
        assert page.evaluate(NAMELESS) == 0, "what a × takes back is said"
        for map_ in page.locator("[class*=st-key-what_if-] .heatmaplayer").all():
            assert map_.bounding_box()["height"] >= 75, link


def test_a_click_moves_neither_the_bar_nor_the_map(page: Page, app_url: str) -> None:
    for width, tab, kind in (
        (1440, "ffn", "sublayer"), (390, "heads", "heads"), (390, "residuals", "residuals"),
    ):  # fmt: skip
        page.set_viewport_size({"width": width, "height": 900})
        visit(page, f"{app_url}/what_if?{urlencode({'lang': 'en', 's': ANIMAL, 'tab': tab, 'block': kind})}")
        title(page, "what_if")
        shown = page.locator(".navbar"), page.locator(f".st-key-what_if-{kind} .chart")
        shown[1].scroll_into_view_if_needed()
        before = [one.bounding_box() for one in shown]
        change(page, kind, 0, 1)
        expect(changes(page)).to_have_count(1)
        assert [one.bounding_box() for one in shown] == before, (width, kind)


def test_a_second_click_takes_back_what_the_first_changed(page: Page, app_url: str) -> None:
    """Whatever stands above the map: the same cell lies under the pointer after each click."""
    run = load("text")(ANIMAL.replace(" did ", " [MASK] "))
    task, rival = (
        {"goal": f"first.3.{mark_of('text', run.ids)}.was"},
        {"other": ANIMAL.replace("tired", "wide"), "shown": "beside"},
    )
    states: list[dict[str, str]] = [{}, task, rival, task | rival]
    for number, (size, state) in enumerate(product((PROJECTOR, DESK), states)):
        page.set_viewport_size(size)
        big = {"big": "true"} if size is PROJECTOR else {}
        link = {"lang": list(LANGUAGES)[number // 2 % 2], "s": ANIMAL} | state | big
        visit(page, f"{app_url}/what_if?{urlencode(link)}")
        title(page, "what_if", link["lang"])
        settle(page)
        chart = page.locator(".st-key-what_if-heads .js-plotly-plot")
        chart.locator(".scatterlayer .point").first.wait_for(state="attached")
        page.get_by_test_id("stMain").evaluate("it => it.scrollTo(0, 0)")
        made, points = [""], []
        for cell in ([3, 1], [1, 2]):
            points.append(chart.evaluate(MIDDLE, cell))
            made.append(click(page, points[-1]))
        assert made[1] in made[2] != made[1], (size, link)
        back = [click(page, point) for point in reversed(points)]
        assert back == [made[1], ""], (size, link)


def click(page: Page, point: list[float]) -> str:
    """Click there, wait for another list of changes; return it."""
    before = asked(page.url).get("edits", "")
    page.mouse.click(*point)
    page.wait_for_url(lambda url: asked(url).get("edits", "") != before)
    settle(page)
    page.wait_for_timeout(300)
    return asked(page.url).get("edits", "")


#: Positions on the screen of clickable marks, one of each kind.
MARKS = """chart => { const { left, top } = chart.getBoundingClientRect(), on = chart._fullLayout
    const side = name => on[name[0] + 'axis' + name.slice(1)], answers = ({ x, y, type, hoverinfo, mode }) =>
        x && y && hoverinfo !== 'skip' && (type === 'bar' || mode?.includes('markers'))
    return chart._fullData.filter(answers).map(trace => {
        const i = Math.floor(.31 * trace.x.length), x = side(trace.xaxis), y = side(trace.yaxis)
        const base = trace.orientation === 'h' ? trace.base?.[i] ?? 0 : trace.x[i]
        return [left + x._offset + (x.d2p(trace.x[i]) + x.d2p(base)) / 2, top + y._offset + y.d2p(trace.y[i])] }) }"""


def tab(url: str) -> tuple[str, str]:
    """Path and tab of an address."""
    return urlsplit(url).path, asked(url).get("tab", "")


def test_a_click_on_whichever_picture_leaves_it_where_it_is(page: Page, app_url: str) -> None:
    page.set_viewport_size(DESK)
    names = ("tokens", "queries_keys_values", "attention", "heads", "add_and_norm", "feed_forward", "layers", "answer")
    clicked = set()
    for name in (*names, "translation", "shapes_and_cost"):
        link = f"{app_url}/{name}?{urlencode({'lang': 'en', 's': ANIMAL})}"
        visit(page, link)
        title(page, name)
        charts = page.locator(".js-plotly-plot")
        for number in range(charts.count()):
            for place in range(len(charts.nth(number).evaluate(MARKS))):
                shown, here = (page.locator(".navbar"), charts.nth(number)), page.url
                at = shown[1].evaluate(MARKS)[place]
                if not shown[1].evaluate("(it, at) => it.contains(document.elementFromPoint(...at))", at):
                    continue  # below the screen
                before = [one.bounding_box() for one in shown]
                page.mouse.click(*at)
                page.wait_for_timeout(100)
                settle(page)
                if tab(page.url) != tab(here):
                    visit(page, link)
                    title(page, name)
                    break
                for one, box in zip(shown, before, strict=True):
                    now = one.bounding_box()
                    assert now and box and (now["x"], now["y"]) == (box["x"], box["y"]), (name, number, place)
                clicked |= {name} if page.url != here else set()
    assert {*names, "translation"} - clicked <= {"answer"}, "its bars, and those of a cost, open another tab"


def test_on_a_phone_a_vector_is_put_into_another_run_by_touch_and_taken_back(phone: Page, app_url: str) -> None:
    link = {"lang": "en", "tab": "input", "block": "patching", "measure": "lead"}
    link |= {"s": "the money is [MASK] .", "other": "the river is [MASK] ."}
    visit(phone, f"{app_url}/what_if?{urlencode(link)}")
    title(phone, "what_if")
    assert phone.evaluate(WIDEST) <= 0, "wider than the screen"
    change(phone, "patching", 0, 2)
    expect(phone.get_by_test_id("stMetricDelta")).to_have_count(1)
    changes(phone).tap()
    phone.wait_for_url(lambda url: "edits" not in asked(url))
    settle(phone)
    expect(phone.get_by_test_id("stMetricDelta")).to_have_count(0)
    assert phone.evaluate(WIDEST) <= 0, "wider than the screen"
