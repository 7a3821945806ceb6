"""Figures under the mouse, on a page without a server."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Page, expect
from plotly.colors import hex_to_rgb

from model import Trace
from pages.attention.pictures import attention_map, lines
from pages.drawing.figures import Axis, grouped_bars, heatmap, theme
from pages.drawing.figures.base import words_at
from pages.drawing.picture import Picture
from pages.drawing.place import Place
from pages.feed_forward.pictures import loudest as loudest_of
from pages.heads.pictures import chosen_head
from pages.layers.pictures import path
from pages.school.questions import QUESTIONS
from pages.school.questions.case import Case, Truth
from pages.school.questions.question import Own
from pages.school.teaching import report
from pages.school.teaching.lecture import Lecture
from pages.screen.runs import pipelines
from pages.server.assets import SCRIPTS, content
from pages.tokens.pictures import components
from tests.browser.blank import draw
from tests.browser.conftest import kept_tab
from tests.browser.steps import BAR, MIDDLE, SENTENCE

AT = Place(layer=1, head=2, token=5)
#: Pixels from each name to the middle of the dot that it belongs to.
GAPS = """chart => {
  const { x, y } = chart.data.at(-1), { xaxis, yaxis } = chart._fullLayout
  const { left, top } = chart.getBoundingClientRect()
  return [...chart.querySelectorAll('.textpoint text')].map((name, i) => {
    const box = name.getBoundingClientRect(), across = left + xaxis._offset + xaxis.d2p(x[i]),
      down = top + yaxis._offset + yaxis.d2p(y[i])
    const aside = Math.max(box.left - across, across - box.right, 0)
    return Math.hypot(aside, Math.max(box.top - down, down - box.bottom, 0))
  })
}"""
#: Names of a figure as it is saved that lie on another of the same axis; a line is higher than its letters.
TOUCHING = """async ({ data, layout }) => {
  const place = document.body.appendChild(document.createElement('div'))
  await Plotly.newPlot(place, data, layout)
  const boxes = text => {
    const { x, y, width, height } = text.getBBox(), on = text.getScreenCTM()
    const upright = new DOMMatrix().rotate(-Math.atan2(on.b, on.a) * 180 / Math.PI).multiply(on)
    const ends = [[x, y + .15 * height], [x + width, y + .85 * height]]
    const [one, two] = ends.map(at => new DOMPoint(...at).matrixTransform(upright))
    return { name: text.textContent, left: one.x, right: two.x, top: one.y, bottom: two.y }
  }
  const found = ['x', 'y'].flatMap(axis => {
    const all = [...place.querySelectorAll(`.${axis}tick text`)].map(boxes)
    const on = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom
    return all.flatMap((a, i) => all.slice(i + 1).filter(b => on(a, b)).map(b => `${axis}: ${a.name} ${b.name}`))
  })
  place.remove()
  return found
}"""
#: The figures that a hand-out draws, as it draws them.
HANDED = """async pictures => {
  const [{ default: handout }, chart] = await Promise.all([import('/handout.js'), import('/chart.js')]), drawn = []
  const parentElement = document.createElement('div'), { toImage } = Plotly
  parentElement.innerHTML = '<button></button>'
  window.bringPlotly = () => {}
  Plotly.toImage = figure => { drawn.push(figure); return 'data:,' }
  const html = Object.keys(pictures).map(key => `<img src="picture:${key}">`).join('')
  handout({ data: [{ label: '', html, file: 'a.html', pictures }], parentElement }, chart)
  await parentElement.querySelector('button').onclick()
  Plotly.toImage = toImage
  return drawn
}"""
#: Sentences with 8 to 30 tokens, without their first, second and last word.
LONGEST = {"en": "the old teacher told us a very good story about the two dogs that ran to the big river " * 2,
    "zh": "老师昨天给我们讲了一个有趣的故事，大家都很高兴，晚上一起回家"}  # fmt: skip
HOVERED = "chart => (chart._hoverdata ?? []).map(point => point.pointNumber ?? point.pointIndex)"


loudest = partial(loudest_of, words=lambda neuron: [])


def upright(run: Trace, place: Place) -> Picture:
    """Bars side by side at each of seven places."""
    return Picture(grouped_bars({"one": np.ones(7), "two": np.ones(7)}, Axis("", "abcdefg"), "", ("red", "blue")), "")


@pytest.fixture(scope="module")
def page(context: BrowserContext, browser_context_args: dict, request: pytest.FixtureRequest) -> Iterator[Page]:
    """One page for all figures."""
    with kept_tab(context, browser_context_args, request) as page:
        yield page


def run_of(sentence: str = SENTENCE) -> Trace:
    return pipelines.run("text", sentence)


@pytest.mark.parametrize(("make", "along"), [(loudest, "y"), (upright, "x")])
def test_the_mouse_on_a_bar_gives_that_bar(page: Page, make: Callable[[Trace, Place], Picture], along: str) -> None:
    chart = draw(page, make(run_of(), AT).drawn())
    for place in (2, 4):
        page.mouse.move(*chart.evaluate(BAR, place))
        page.wait_for_function(f"([chart, place]) => ({HOVERED})(chart).includes(place)",
                               arg=[chart.element_handle(), place])  # fmt: skip
        page.mouse.click(*chart.evaluate(BAR, place))
        page.wait_for_function(f"place => picked.length && Math.round(picked.at(-1).{along}) === place", arg=place)


def test_two_quick_clicks_are_two_clicks_also_in_a_browser_at_work(page: Page) -> None:
    chart = draw(page, lines(run_of(), AT, "layers.1.attention.weights").drawn())
    # After each click the browser is busy so long that it hears of the next one before its own timers.
    page.evaluate("""() => {
      const work = () => { for (const end = performance.now() + 400; performance.now() < end;); }
      document.querySelector('.chart').addEventListener('mouseup', () => setTimeout(work))
    }""")
    for place in [chart.evaluate(MIDDLE, place) for place in ([3, -0.12], [5, 1.12])]:
        page.mouse.click(*place)
        page.wait_for_timeout(150)
    page.wait_for_function("picked.length === 2")
    assert [point["customdata"] for point in page.evaluate("picked")] == [[3, -1], [-1, 5]]


def test_a_click_on_a_chart_that_takes_none_is_no_error(page: Page) -> None:
    errors = []
    page.on("pageerror", lambda error: errors.append(error))
    chart = draw(page, loudest(run_of(), AT).drawn(), picks=False)
    chart.evaluate("chart => chart.on('plotly_click', () => { chart.clicked = true })")
    page.mouse.click(*chart.evaluate(BAR, 2))
    page.wait_for_function("chart => chart.clicked", arg=chart.element_handle())
    page.wait_for_timeout(200)
    assert not errors and page.evaluate("picked") == []


def test_a_cell_says_its_weight_in_two_decimals_where_that_fits(page: Page) -> None:
    draw(page, attention_map(run := run_of(), AT).drawn())
    numbers = page.locator(".heatmap-label text")
    numbers.first.wait_for()
    weights = run["layers.1.attention.weights"][2].ravel()
    assert numbers.all_text_contents() == [f"{weight:.2f}".removeprefix("0") for weight in weights if weight >= 0.005]
    draw(page, attention_map(run := run_of(f"{SENTENCE} {'the dog saw a cat ' * 3}"), AT).drawn(), width=520)
    rows = np.pad(run["layers.1.attention.weights"][2], ((0, 0), (1, 1)))
    large = rows[(rows >= 0.1) & (rows >= np.roll(rows, 1, 1)) & (rows > np.roll(rows, -1, 1))]  # of those side by side
    expect(numbers).to_have_text([f"{weight:.2f}".removeprefix("0").replace("1.00", "1") for weight in large])
    draw(page, attention_map(run_of(f"{SENTENCE} {'the dog saw a cat ' * 8}"), AT).drawn())
    expect(numbers).to_have_count(0)


@pytest.mark.parametrize("make", [attention_map, components])
def test_only_a_name_is_marked_as_chosen_no_number_of_an_axis(
    page: Page, make: Callable[[Trace, Place], Picture]
) -> None:
    draw(page, make(run_of(), AT).drawn())  # the second has a band in the middle of an axis from -1 to 1
    page.locator(".js-plotly-plot .shapelayer path").first.wait_for(state="attached")
    chosen = page.locator(".js-plotly-plot text.chosen")
    expect(chosen).to_have_count(2 if make is attention_map else 0)


def test_a_special_token_among_chinese_characters_keeps_its_name(page: Page) -> None:
    run = run_of("她把书放在桌上，然后回家[MASK]饭。")
    draw(page, chosen_head(run, AT).drawn(), width=520)
    expect(page.locator(".xtick text").filter(has_text="[MASK]")).to_be_visible()


def test_a_word_is_written_where_the_picture_before_had_none(page: Page) -> None:
    for turn, words in enumerate((["a", "", "c"], ["", "b", "c"], ["a", "b", ""])):
        figure = grouped_bars({"one": np.ones(3)}, Axis("", "xyz"), "", ("red",))
        figure.data.append(words_at(np.array([[0, 0.5], [1, 0.5], [2, 0.5]]), words))
        draw(page, figure, again=turn > 0)
        written = page.locator(".textpoint text")
        expect(written.filter(has_text=re.compile(r"\w"))).to_have_text([word for word in words if word])


def test_no_name_of_a_path_lies_on_its_own_dot(page: Page) -> None:
    chart = draw(page, path(run_of(), AT).drawn())
    page.locator(".textpoint text").first.wait_for()
    gaps = chart.evaluate(GAPS)
    assert len(gaps) == len(run_of().tokens) and min(gaps) >= 4, gaps  # of letters, with some of a line's height


@pytest.mark.parametrize("lang", LONGEST)
def test_on_paper_no_two_names_of_an_axis_touch_wherever_a_word_is_hidden(lang: str, page: Page) -> None:
    """In the report of a class, up to 30 tokens, and in a picture of a page that is saved, up to 24."""
    own = replace(QUESTIONS["weights"], measure=None, gesture="tap", own=Own("Which?", options=("one", "two")))
    own = replace(own, place="attention?layer=1&head=1")
    words = LONGEST[lang].split() if lang == "en" else [*LONGEST[lang]]
    clear = {}
    for length in (6, 15, 17, 22, 28):
        for hidden in (0, 1, length - 1):
            run = run_of(" ".join([*words[:hidden], "[MASK]", *words[hidden + 1 : length]]))
            assert len(run.tokens) == length + 2
            case = Case(pipelines.pipeline("text"), run, 1, ())
            clear[len(clear)] = own, case, Truth("one", 0.0, {}, (), {}, ("one", "two"), literal=True)
    draw(page, attention_map(run, AT).drawn())
    page.route(
        "**/handout.js", lambda route: route.fulfill(content_type="text/javascript", body=content(SCRIPTS["handout"]))
    )
    asked = [SimpleNamespace(place=place, number=place) for place in clear]
    with theme.on_paper(), theme.letters(report.PRINTED):
        printed = report._pictures(cast(Lecture, SimpleNamespace(asked=asked, clear=clear)))
    shown = page.evaluate(HANDED, {key: figure.as_json() for key, figure in printed.items()})
    for _, case, _ in list(clear.values())[:-3]:
        draw(page, attention_map(case.trace, AT).drawn()).evaluate("chart => { window.saved = chart.onPaper() }")
        shown.append(page.evaluate("saved"))
    assert len(shown) == 2 * len(clear) - 3
    touching = [(place, found[:3]) for place, one in enumerate(shown) if (found := page.evaluate(TOUCHING, one))]
    assert not touching, touching


@pytest.mark.parametrize("scale", ["share", "signed"])
def test_a_number_has_a_contrast_of_4_5_to_its_cell_whatever_its_colour(page: Page, scale: str) -> None:
    cells = np.linspace(-1 if scale == "signed" else 0.01, 1, 100)
    sides = Axis("", "abcdefghij"), Axis("", "abcdefghij")
    figure = heatmap(cells.reshape(10, 10), *sides, scale=scale, limit=1.0).tell(numbers=True)
    at, colours = zip(*figure.data[0]["colorscale"], strict=True)
    grounds = np.stack([np.interp((cells + (scale == "signed")) / (1 + (scale == "signed")), at, channel)
                        for channel in np.transpose([hex_to_rgb(colour) for colour in colours])], axis=1)  # fmt: skip
    draw(page, figure)
    numbers = page.locator(".heatmap-label text")
    expect(numbers).to_have_count(100)
    inks = numbers.evaluate_all("all => all.map(one => getComputedStyle(one).fill.match(/\\d+/g).map(Number))")

    def light(colours: np.ndarray) -> np.ndarray:
        shares = np.asarray(colours) / 255
        return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]

    low, high = np.sort([light(grounds), light(inks)], axis=0)
    assert ((high + 0.05) / (low + 0.05)).min() > 4.5
