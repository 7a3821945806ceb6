"""Small steps of a visitor, and questions to a page, shared by the tests."""

import re
from itertools import combinations
from urllib.parse import parse_qs, urlsplit

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, WebSocketRoute, expect

from pages.drawing.text import catalogue
from pages.school.lessons.written import OWN, lesson_to_code, own_lesson
from pages.school.questions.question import Own, Question
from pages.screen.frame.contents import path_of
from tests.browser.talk import answered

SENTENCE = "she gave the dog a book ."


FIRST = "lang=en&layer=1&head=1"  # else a visitor starts at a head chosen by measurement


#: As `lesson=` in a link: a teacher's own question about a picture.
OWN_QUESTION = lesson_to_code(
    own_lesson([Question(OWN, None, "tap", 0, 2, own=Own("?", "", ("a", "b")), place="attention?layer=3&head=2")])
)
DESK, PHONE, PROJECTOR = ({"width": width, "height": high} for width, high in ((1440, 900), (390, 844), (1280, 720)))


# No part of the frame is wider than the screen: pages never scroll sideways, only wide tables in their box.
WIDEST = """() => Math.max(document.documentElement.scrollWidth - innerWidth,
    ...['stMain', 'stMainBlockContainer'].map(id => document.querySelector(`[data-testid=${id}]`))
        .map(part => part.scrollWidth - part.clientWidth))"""

# The page needs no scrolling.
ENDS = """() => { const { scrollHeight, clientHeight } = document.querySelector('[data-testid=stMain]')
    return scrollHeight <= clientHeight }"""

# Pictures that scroll sideways, and words in pictures cut off at an edge.
CUT = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(chart => chart.clientHeight).flatMap(chart => {
    const words = [...chart.querySelectorAll('text')], room = chart.getBoundingClientRect()
    const shown = words.filter(word => word.textContent && getComputedStyle(word).visibility === 'visible')
    const cut = shown.filter(word => (({ left, top, right, bottom, width }) => width && Math.max(
        room.left - left, room.top - top, right - room.right, bottom - room.bottom) > 2)(word.getBoundingClientRect()))
    return [...cut.map(word => word.textContent), ...chart.scrollWidth > chart.clientWidth ? [chart.ariaLabel] : []]
})"""

# Names above or below pictures that lean or are turned although they had 16 px to spare upright.
LEANING = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(chart => chart.clientHeight)
    .flatMap(chart => [...chart.querySelectorAll('.xaxislayer-above')]).flatMap(layer => {
        const at = label => +/translate.([-.\\d]+)/.exec(label.getAttribute('transform'))[1]
        const wide = label => label.getBBox().width
        const names = [...layer.querySelectorAll('.xtick text')].filter(label => label.style.visibility !== 'hidden')
        names.sort((one, other) => at(one) - at(other))
        const leans = names.map(label => /rotate.-?(?!0)/.test(label.getAttribute('transform')))
        const close = (one, other) => other && Math.abs(at(one) - at(other)) < (wide(one) + wide(other)) / 2 + 16
        const crowded = names.map((label, i) => close(label, names[i - 1]) || close(label, names[i + 1]))
        const single = label => wide(label) < 1.3 * label.getBBox().height
        const all = leans.every((leaning, i) => leaning || single(names[i])) && crowded.some(Boolean)
        return all ? [] : names.filter((_, i) => leans[i] && !crowded[i]).map(label => label.textContent)
    })"""

# Labels of axes that overlap words of their picture; axes with both leaning and upright names, except single
# characters, which always stand; and a word among at most 20 such columns that is left out.
COLLIDING = """() => [...document.querySelectorAll('.js-plotly-plot')].filter(it => it.clientHeight).flatMap(chart => {
    const seen = word => word.textContent.trim() && getComputedStyle(word).visibility === 'visible'
    const all = of => [...of.querySelectorAll('text')].filter(word => seen(word) && word.getBoundingClientRect().width)
    const corners = word => {
        const { x, y, width, height } = word.getBBox(), { a, b, c, d, e, f } = word.getScreenCTM(), cut = height / 5
        return [[x, y + cut], [x + width, y + cut], [x + width, y + height - cut], [x, y + height - cut]]
            .map(([u, v]) => [a * u + c * v + e, b * u + d * v + f])
    }
    const apart = (one, other) => [one, other].some(([first, next, , last]) => [next, last].some(end => {
        const way = [end[0] - first[0], end[1] - first[1]], long = Math.hypot(...way) || 1
        const [mine, its] = [one, other].map(box => box.map(at => (at[0] * way[0] + at[1] * way[1]) / long))
        return Math.max(...mine) - Math.min(...its) <= 1 || Math.max(...its) - Math.min(...mine) <= 1
    }))
    const axes = [...chart.querySelectorAll('[class*=axislayer]')], ticks = axes.flatMap(all), words = all(chart)
    const boxes = new Map(words.map(word => [word, corners(word)]))
    const on = ticks.flatMap((tick, i) => words.filter(word => word !== tick && !ticks.slice(0, i).includes(word)
        && !apart(boxes.get(tick), boxes.get(word))).map(word => `${tick.textContent} on ${word.textContent}`))
    const leans = word => { const { a, b } = word.getCTM(); return Math.abs(b) > 0.1 * Math.abs(a) }
    const single = word => word.getBBox().width <= 1.3 * word.getBBox().height
    const names = axis => all(axis).filter(word => word.closest('.xtick') && !single(word))
    const mixed = axes.filter(axis => new Set(names(axis).map(leans)).size > 1)
    const columns = axis => [...axis.querySelectorAll('.xtick text')], chinese = /^[\u4e00-\u9fff]$/
    const few = axis => columns(axis).length <= 20 && columns(axis).some(word => chinese.test(word.textContent))
    const lost = axes.filter(few).flatMap(columns).filter(word => !seen(word) && !single(word) && innerWidth > 640)
    return [...on, ...mixed.map(axis => `some lean: ${names(axis).map(word => word.textContent)}`),
        ...lost.map(word => `left out: ${word.textContent}`)]
})"""


def misplaced(page: Page, *, cut: bool) -> list[str]:
    """Names that lean or collide; `cut`: also words that are cut off. And whether the page is wider than its screen."""
    found = [name for where in (LEANING, COLLIDING, *[CUT] * cut) for name in page.evaluate(where)]
    if page.evaluate(WIDEST) > 0:
        page.wait_for_timeout(1000)  # a window that was made smaller is laid out anew
    return found + ["wider than the screen"] * (page.evaluate(WIDEST) > 0)


def ends_with_the_screen(page: Page, least: float = 0.5) -> bool:
    """Wait until the presented page needs no scrolling; returns whether a picture takes so much of its height."""
    page.wait_for_function(ENDS)
    heights = page.locator(".chart").evaluate_all("all => all.map(chart => chart.clientHeight)")
    return max(heights) >= least * 720


# Position of the middle of a cell on the screen.
MIDDLE = """(chart, [row, column]) => {
    const {_fullLayout: {xaxis, yaxis}} = chart, {left, top} = chart.getBoundingClientRect();
    return [left + xaxis._offset + xaxis.l2p(column), top + yaxis._offset + yaxis.l2p(row)];
}"""
# Position of the middle of a bar on the screen.
BAR = """(chart, place) => {
    const {left, top} = chart.getBoundingClientRect(), {yaxis} = chart._fullLayout;
    const trace = chart._fullData.find(trace => trace.type === 'bar'), bar = chart.calcdata[trace.index][place];
    const xaxis = chart._fullLayout[trace.xaxis.replace('x', 'xaxis')];
    const along = (bar.p0 + bar.p1) / 2, far = (bar.s0 + bar.s1) / 2;
    const [x, y] = trace.orientation === 'h' ? [far, along] : [along, far];
    return [left + xaxis._offset + xaxis.l2p(x), top + yaxis._offset + yaxis.l2p(y)];
}"""


# Boxes of all visible text in the overview: [text, left, top, right, bottom].
BOXES = """() => [...document.querySelectorAll(
    '.overview :is(.title .symbol, .answer-title .symbol, .caption, .shape, .label span, .label small, .end, ' +
    '.under-cell, .bar-name, .bar span, .panel p:not(.sides), .sides > span, .strip .name, .part span, .more, ' +
    '.lens p, .trail :is(small, b), ' +
    '.thumb em, .legend, .head .name, .of, .number, .say p, .lines text, .grid span)')]
  .filter(node => node.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && node.textContent.trim())
  .map(node => { const box = node.getBoundingClientRect()
    return [node.textContent, box.left, box.top, box.right, box.bottom] })"""


def overlapping(page: Page, within: str = "") -> list[tuple[str, str]]:
    """Pairs of overlapping texts in an overview."""
    boxes = page.evaluate(BOXES.replace(".overview :is", f".overview {within} :is"))
    if page.viewport_size["width"] < 700:  # it sticks to the bottom, over what is scrolled
        said = page.locator(".overview .say p").inner_text()
        boxes = [box for box in boxes if box[0] != said]
    return [
        (one[0], other[0])
        for one, other in combinations(boxes, 2)
        if min(one[3], other[3]) - max(one[1], other[1]) > 1.5 and min(one[4], other[4]) - max(one[2], other[2]) > 2.5
    ]


def settle(page: Page) -> None:
    """Wait until the server has answered: the script has ended, nothing stale is left, and all charts are drawn."""
    answered(page)
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")
    expect(page.locator("[data-stale=true]")).to_have_count(0)
    expect(page.locator(".chart:not([role])")).to_have_count(0)
    expect(page.get_by_test_id("stException")).to_have_count(0)
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)


def visit(page: Page, url: str) -> None:
    """Open a link of the app. From another page of it, navigate like the browser's back, which takes a third of the
    work.

    In that case the sentence and the language stay if the link has none.
    """
    if page.url.partition("//")[2].partition("/")[0] != urlsplit(url).netloc:
        page.goto(url)
        return
    settle(page)
    page.evaluate("url => { history.pushState(null, '', url); dispatchEvent(new PopStateEvent('popstate')) }", url)
    settle(page)


def title(page: Page, name: str, language: str = "en") -> None:
    """Wait for the page `name`."""
    here = page.locator(".navbar [aria-current]")
    expect(here).to_have_text(catalogue(language)[f"{name}.{'title' if name == 'home' else 'short'}"])
    page.wait_for_url(lambda url: urlsplit(url).path.strip("/").rpartition("/")[2] == ("" if name == "home" else name))
    settle(page)


def words_of(sentence: str) -> list[str]:
    """The words of a sentence on the line on top: Chinese characters are single."""
    return re.findall(r"[\u3001-\u9fff\uff01-\uffef]|[^\s\u3001-\u9fff\uff01-\uffef]+", sentence)


def expect_sentence(page: Page, sentence: str) -> None:
    """The line on top shows the sentence as read; tour and class hide the word that they ask for."""
    covered = r"|\[MASK\]" if re.search("/(lesson|class)", page.url) else ""
    words = [re.compile(f"^({re.escape(word)}{covered})$") for word in words_of(sentence)]
    expect(page.locator(".sentence .chip")).to_have_text(words)


def sentence_field(page: Page) -> Locator:
    """The field for typing the sentence, opened if necessary."""
    field = page.locator(".sentence input")
    if not field.count():
        page.locator(".sentence .type").click()
    return field


def place(page: Page, name: str, number: int) -> Locator:
    """The button of a layer or head above the picture."""
    return page.locator(f".st-key-either-{name}").get_by_role("radio", name=str(number), exact=True)


def open_settings(page: Page) -> None:
    page.locator(".navbar .settings").click()
    expect(page.get_by_test_id("stSidebar")).to_be_visible()


def write(page: Page, sentence: str) -> None:
    sentence_field(page).fill(sentence)
    sentence_field(page).press("Enter")
    wait_for(page, s=sentence)


def choose(page: Page, layer: int, head: int) -> None:
    for name, value in (("layer", layer), ("head", head)):
        place(page, name, value).click()
        wait_for(page, **{name: str(value)})


def link_to(page: Page, name: str) -> Locator:
    """The link to a page in the bar; opens the menu that holds it, if any."""
    path = f"./{path_of(name)}"  # it gets the current choice only when pressed or focused
    link = page.locator(f'.navbar a[href="{path}"], .navbar a[href^="{path}?"]')
    link.wait_for(state="attached")
    if not link.is_visible():
        page.locator(".navbar .menu:visible").last.click()
    return link


def walk_to(page: Page, name: str, language: str = "en") -> None:
    link_to(page, name).click()
    title(page, name, language)


def press(page: Page, box: dict[str, float], pause: int) -> None:
    """Click with `pause` milliseconds between down and up: a person takes about 100, a script none."""
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    if pause:
        page.wait_for_timeout(pause)
    page.mouse.up()


def asked(url: str) -> dict[str, str]:
    """Query of a URL."""
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}


def path_and_sentence(url: str) -> tuple[str, str | None]:
    return urlsplit(url).path.strip("/"), asked(url).get("s")


def expect_choice(page: Page) -> None:
    """The page and the link show the sentence, layer 2 and head 2."""
    expect_sentence(page, SENTENCE)
    for name in ("layer", "head"):
        expect(place(page, name, 2)).to_be_checked()
    wait_for(page, s=SENTENCE, layer="2", head="2")


def expect_overview(page: Page) -> None:
    """All pictures of the run are there."""
    expect(page.locator(".overview .pic")).to_have_count(11)


def click_cell(page: Page, chart: Locator, *cell: float) -> None:
    """Click a cell (row, column) of a picture that can be clicked."""
    chart.locator(".scatterlayer .point").first.wait_for(state="attached")
    page.mouse.click(*chart.evaluate(MIDDLE, [*cell]))


def expect_heatmap(page: Page) -> None:
    expect(page.locator(".heatmaplayer image").first).to_be_visible()


def main_text(page: Page) -> str:
    return " ".join(page.get_by_test_id("stMain").inner_text().split())


class SlowLine:
    """The web socket between a page and its server. While slow, it holds messages until told to deliver them."""

    def __init__(self, page: Page) -> None:
        self.slow, self._to_page, self._to_server = False, [], []
        page.route_web_socket(re.compile("_stcore/stream"), self._connect)

    def _connect(self, page: WebSocketRoute) -> None:
        self._page, self._server = page, page.connect_to_server()
        self._page.on_message(lambda said: self._to_server.append(said) if self.slow else self._server.send(said))
        self._server.on_message(lambda said: self._to_page.append(said) if self.slow else self._page.send(said))

    def let_the_server_hear(self) -> None:
        while self._to_server:
            self._server.send(self._to_server.pop(0))

    def let_the_page_hear(self) -> None:
        while self._to_page:
            self._page.send(self._to_page.pop(0))

    def be_quick(self) -> None:
        """Deliver all, each side's messages in their order, and hold none from now on."""
        while self._to_server or self._to_page:
            self.let_the_server_hear()
            self.let_the_page_hear()
        self.slow = False


PAGE = "attention?lang=en&input=sentence&layer=2&head=3&s=" + SENTENCE.replace(" ", "+")


def opened(page: Page, name: str) -> None:
    """Wait until a page is shown and listens to keys."""
    title(page, name)
    page.locator(".st-key-keys").first.wait_for(state="attached")
    page.wait_for_function("() => Boolean(document.listening)")


def wait_for(page: Page, **values: str | None) -> None:
    """Wait until the link has these values (None: not present)."""
    page.wait_for_url(lambda url: all(asked(url).get(name) == value for name, value in values.items()))
    settle(page)


def one_head_on(page: Page, app_url: str) -> None:
    """Open the page and press a key that goes from head 3 to 4, so that the page is newer than its first address."""
    visit(page, f"{app_url}/{PAGE}")
    opened(page, "attention")
    page.keyboard.press("ArrowRight")
    wait_for(page, head="4")


# Labels of an axis that overlap.
TOUCHING = """chart => ['.xtick text', '.ytick text'].flatMap(side => {
    const labels = [...chart.querySelectorAll(side)].filter(label => label.style.visibility !== 'hidden')
    const boxes = labels.map(label => label.getBoundingClientRect())
    const slanted = label => /rotate\\(-?(?!0|90)/.test(label.getAttribute('transform'))
    return labels.flatMap((label, i) => labels.slice(0, i).filter((other, j) => slanted(label) && slanted(other)
        ? Math.abs(boxes[i].left - boxes[j].left) < 1.3 * parseFloat(getComputedStyle(label).fontSize) :
        Math.min(boxes[i].right, boxes[j].right) - Math.max(boxes[i].left, boxes[j].left) > 2 &&
        Math.min(boxes[i].bottom, boxes[j].bottom) - Math.max(boxes[i].top, boxes[j].top)
            > Math.max(2, .2 * parseFloat(getComputedStyle(label).fontSize))  // no letter is as high as its box
    ).map(other => `${label.textContent} on ${other.textContent}`))
})"""


# Text in pictures with too little contrast to the page or the colour bar; axe does not check it.
FAINT = r"""() => {
    const whole = colour => colour.startsWith('color(') ? 255 : 1  // "color(srgb 0.8 0.2 0.5)", of a mixture
    const channels = colour => colour.match(/[\d.]+/g).slice(0, 3).map(channel => channel * whole(colour))
    const light = colour => channels(colour).map(c => c / 255)
        .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
        .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
    const ground = light(getComputedStyle(document.querySelector('[data-testid=stApp]')).backgroundColor)
    const words = ':is(.xtick, .ytick, .colorbar) text, .xtitle, .ytitle, .legendtext'
    return [...document.querySelectorAll('.js-plotly-plot')].flatMap(chart => [...chart.querySelectorAll(words)])
        .filter(word => {
            const own = word.closest('.colorbar')?.querySelector('.cbbg'), bar = own && getComputedStyle(own)
            const under = bar && bar.fillOpacity > 0 ? light(bar.fill) : ground
            const [low, high] = [light(getComputedStyle(word).fill), under].sort((a, b) => a - b)
            return word.textContent && (high + 0.05) / (low + 0.05) < 4.5
        }).map(word => `too faint: ${word.textContent}`)
}"""


NAMELESS = """() => [...document.querySelectorAll('.chart')]
    .filter(chart => chart.getAttribute('role') !== 'figure' || !chart.getAttribute('aria-label'))
    .map(chart => `a chart without a name: ${chart.textContent.slice(0, 80)}`)"""


def serious(page: Page) -> list[str]:
    """Problems that axe rates serious or critical: rule, element, explanation."""
    options = {"resultTypes": ["violations"], "preload": False}  # no enabled rule needs style sheets again
    found = Axe().run(page, options=options).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:150]} {node['failureSummary']}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


#: Chinese words in whose middle a line ends, of all headings and texts of a page.
BROKEN = """() => [...document.querySelectorAll(':is(.stMarkdown, .stHeading) :is(p, h2, h3, h5)')].flatMap(one => {
    const range = document.createRange(), walk = document.createTreeWalker(one, NodeFilter.SHOW_TEXT), tops = []
    let text = ''
    while (walk.nextNode()) for (let i = 0; i < walk.currentNode.length; i++) {
        range.setStart(walk.currentNode, i)
        range.setEnd(walk.currentNode, i + 1)
        const { top, height } = range.getBoundingClientRect()
        if (height && walk.currentNode.data[i] !== '\u200b') text += walk.currentNode.data[i], tops.push(top)
    }
    const words = [...new Intl.Segmenter('zh', { granularity: 'word' }).segment(text)]
    const broken = ({ segment, index }) => tops[index + segment.length - 1] > tops[index] + 8
    return words.filter(word => /^[\u3400-\u9fff]{2,}$/.test(word.segment) && broken(word)).map(word => word.segment)
})"""
#: The lines of a heading.
LINES = """heading => {
    const range = document.createRange(), walk = document.createTreeWalker(heading, NodeFilter.SHOW_TEXT), lines = {}
    while (walk.nextNode()) for (let i = 0; i < walk.currentNode.length; i++) {
        range.setStart(walk.currentNode, i)
        range.setEnd(walk.currentNode, i + 1)
        const { top } = range.getBoundingClientRect()
        lines[top] = (lines[top] ?? '') + walk.currentNode.data[i]
    }
    return Object.values(lines).map(line => line.replaceAll('\u200b', '').trim()).filter(Boolean)
}"""
