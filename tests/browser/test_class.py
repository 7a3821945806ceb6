"""A whole class, from lobby to report: a projector, a phone and a laptop in real browsers, and more phones by HTTP."""

import json
import re
import time
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from pages.drawing.figures import Figure
from pages.drawing.text import LANGUAGES, catalogue
from pages.drawing.text.numbers import percent
from pages.school.classroom import join
from pages.school.classroom.phases import TOLD
from pages.school.classroom.questions import Shown, Told
from pages.school.classroom.store import SURE, Asked, Vote
from pages.school.lessons.written import MOST_ASK, MOST_WHY, OWN, lesson_to_code, own_lesson
from pages.school.questions import QUESTIONS
from pages.school.questions.question import Own, Question
from pages.school.teaching import report
from pages.school.teaching.desk import HURRY
from pages.server.assets import SCRIPTS, content
from tests.browser.conftest import PATIENCE
from tests.browser.steps import CUT, LINES, settle, title

PROJECTOR, PHONE = {"width": 1280, "height": 720}, {"width": 390, "height": 760}
LAPTOP = {"width": 1440, "height": 900}
A4 = {"width": 688, "height": 1016}  # pixels at 96 to the inch, without margins of 14 mm
OTHERS = 37  # phones without a browser
SENTENCE = "we [MASK] to the park ."
WRONG, RIGHT = ("go", "ran", "park"), "went"
#: Keep the numbers in the cells of the picture that is saved, and its layout.
PRINTED = """() => {
    const draw = Plotly.toImage
    Plotly.toImage = (figure, how) => (window.printed = [figure.data[0].text, figure.layout], draw(figure, how))
}"""
ENDS_WITH_THE_SCREEN = """() => {
    const main = document.querySelector('[data-testid=stMain]')
    return main.scrollHeight <= innerHeight && main.scrollWidth <= innerWidth
}"""


LONG = "the old man who lived in the small house near the big river [MASK] his dog to the park every day ."
MOVIE = "我们昨天一起去看了一场[MASK]影，大家都很高兴。"
PHASES = {phase: catalogue("zh")[f"class.phase_{phase}"] for phase in ("question", "open", "closed", "explained")}
PHASES["revealed"] = "|".join(catalogue("zh")[f"class.phase_revealed{own}"] for own in ("", "_own"))
PLACE = "attention?layer=3&head=7"
SIX = tuple(f"Because {one} looks for something of its own" for one in ("each head", "a head", "a layer", "a token"))
SIX = *SIX, "Because of nothing", "因为每一个注意力头寻找的都是它自己想要的那个东西"  # 24 characters
#: Smallest fonts, in px as displayed, of the question, its table, and rows of pictures; number of hidden names; least
#: gap between rows of options.
LETTERS = """() => {
    const all = where => [...document.querySelectorAll(where)].filter(one => one.textContent.trim())
    const seen = one => parseFloat(getComputedStyle(one).fontSize) * one.currentCSSZoom
    const least = where => Math.min(99, ...all(where).map(seen))
    const ticks = all('.chart .ytick text, .chart .xtick text')
    const asked = least('[class*=st-key-class_ask] p, .st-key-class_said p, .st-key-class_why p')
    const rows = least('.said td, .said th')
    const options = all('.st-key-class_options p').map(one => one.getBoundingClientRect())
    const gaps = options.flatMap(one => options.filter(two => two.top > one.top + 2).map(two => two.top - one.bottom))
    return [asked, rows, least('.chart .ytick text, .chart text.bartext'),
        ticks.filter(one => getComputedStyle(one).visibility === 'hidden').length, Math.min(99, ...gaps)]
}"""

#: The least distance of names of columns that stand beside each other, one of them not a single sign.
APART = """chart => Math.min(...[...chart.querySelectorAll('.xtick text')].flatMap((name, at, all) => {
    const [one, two] = [name, all[at + 1] ?? name].map(it => it.getBoundingClientRect())
    const beside = Math.min(one.bottom, two.bottom) - Math.max(one.top, two.top) > 9
    return beside && at < all.length - 1 && name.textContent.length + all[at + 1].textContent.length > 2 ?
        [two.left - one.right] : []
}))"""

#: The smallest letters of the bar, in px; 0 if it has no room for all pages.
BAR = """() => {
    const list = document.querySelector('.navbar .list'), seen = it => it.offsetWidth && it.textContent.trim()
    const names = [...document.querySelectorAll('.navbar :is(a, .menu), .st-key-class_way button p')].filter(seen)
    const sizes = names.map(it => parseFloat(getComputedStyle(it).fontSize))
    return list.scrollWidth > list.clientWidth ? 0 : Math.min(...sizes)
}"""


@pytest.fixture
def screen_at(page: Page, browser: Browser, app_url: str) -> Iterator[Callable[..., Page]]:
    """Open an address of the server on a device of its own; the first is the shared window."""
    contexts: list[BrowserContext] = []
    screens = [page]

    def open_one(path: str, size: dict) -> Page:
        if not screens:
            contexts.append(browser.new_context(locale="en-US", reduced_motion="reduce"))
            contexts[-1].set_default_timeout(PATIENCE)
            screens.append(contexts[-1].new_page())
        screen = screens.pop()
        screen.set_viewport_size(size)
        screen.goto(f"{app_url}/{path}")
        return screen

    yield open_one
    for context in contexts:
        context.close()


class Others:
    """Phones without a browser."""

    def __init__(self, url: str, code: str, count: int) -> None:
        self.url, self.code, self.devices = url, code, [""] * count

    def look(self, phase: str = "") -> dict:
        """Let each phone ask for the state, until it is in `phase` if given; returns the last answer."""
        for place, known in enumerate(self.devices):
            for _ in range(1 if known else 2):  # first for a number, then with it
                with urlopen(f"{self.url}/live/{self.code}/now?d={self.devices[place]}", timeout=30) as answer:
                    said = json.load(answer)
                self.devices[place] = said.get("device", self.devices[place])
        return said if phase in ("", said["phase"]) else self.look(phase)

    def vote(self, guesses: list, sure: int = 2) -> None:
        says = self.look()
        for place, device in enumerate(self.devices):
            vote = {"n": says["number"], "r": says["round"], "guess": guesses[place % len(guesses)], "sure": sure}
            headers = {"Content-Type": "application/json"}
            address = f"{self.url}/live/{self.code}/vote?d={device}"
            with urlopen(Request(address, json.dumps(vote).encode(), headers), timeout=30) as answer:
                assert json.load(answer)["verdict"] == "kept"


def no_hurry(page: Page, acted: float) -> None:
    """Wait as long as a person would: faster actions count as double clicks."""
    settle(page)
    page.wait_for_timeout(max(0.0, 1000 * (acted + HURRY - time.monotonic())))


def test_a_class_from_lobby_to_report(app_url: str, screen_at: Callable[..., Page]) -> None:
    words, phones, acted = catalogue("en"), join.words("en"), time.monotonic()
    projector = screen_at(f"class?lang=en&s={quote(SENTENCE)}&goal=oneway.90.5", PROJECTOR)

    def bar() -> object:
        return projector.locator(".st-key-class_bar")

    def look(name: str) -> None:
        projector.wait_for_function(ENDS_WITH_THE_SCREEN)
        for where in ("line", "task"):  # it would tell the hidden word
            expect(projector.locator(f".st-key-{where}")).to_be_hidden()
        if name in ("closed", "closed_again", "revealed"):  # legible from the last row
            told, rows, names, *_ = projector.evaluate(LETTERS)
            assert told >= 28 and min(rows, names) >= 20, (name, told, rows, names)

    def go_on(phase: str) -> None:
        nonlocal acted
        no_hurry(projector, acted)
        projector.keyboard.press("PageDown")
        expect(bar()).to_contain_text(words[f"class.phase_{phase}"])
        acted = time.monotonic()

    projector.locator(".st-key-class-start button").first.click()
    projector.wait_for_url(re.compile("class=[A-Z]{6}"))
    code = re.search("class=([A-Z]{6})", projector.url)[1]
    expect(projector.locator(".st-key-class_code")).to_have_text(" ".join(code))
    phone, others = screen_at(f"join?c={code}", PHONE), Others(app_url, code, OTHERS)
    others.look()
    expect(projector.locator(".live")).to_contain_text(f"{OTHERS + 1}")
    look("lobby")

    go_on("question")
    ask = words["lesson.word.ask"].partition("[")[0]
    expect(phone.locator("main")).to_contain_text(ask)
    look("question")
    go_on("open")
    answer_on(phone, WRONG[0])
    others.vote([*WRONG], sure=3)
    expect(projector.locator(".live strong")).to_have_text([f"{OTHERS + 1}"] * 2)
    expect(projector.locator(".said")).to_have_count(0)
    look("open")
    go_on("closed")
    expect(projector.get_by_text(words["class.propose_hint"])).to_have_count(0)  # tips are for the teacher alone
    expect(projector.locator(".said")).to_have_count(0)
    projector.locator(".st-key-class-give_hint button").first.click()
    expect(projector.get_by_text(words["lesson.word.hint_1"])).to_be_visible()
    projector.locator(".st-key-class-words button").first.click()
    expect(projector.locator(".said tr")).to_have_count(len(WRONG))
    look("closed")

    no_hurry(projector, acted)
    projector.locator(".st-key-class-to_discuss button").first.click()
    expect(phone.locator("main")).to_contain_text(phones["discuss"])
    acted = time.monotonic()
    look("discuss")
    projector.keyboard.press("b")
    expect(projector.locator(".st-key-class_paused")).to_have_text(words["class.look_up"])
    expect(phone.locator("main")).to_contain_text(phones["paused"])
    look("paused")
    projector.keyboard.press("b")
    go_on("open")
    answer_on(phone, RIGHT)
    others.vote([RIGHT, RIGHT, RIGHT, WRONG[1]])
    expect(projector.locator(".live strong")).to_have_text([f"{OTHERS + 1}"] * 2)
    go_on("closed")
    expect(projector.locator(".said caption")).to_contain_text(words["class.vote_2"])
    look("closed_again")
    go_on("revealed")
    expect(projector.locator(".chart")).to_have_count(1)
    expect(phone.locator("main")).to_contain_text(RIGHT)
    look("revealed")
    go_on("explained")
    expect(projector.locator(".st-key-class_why")).to_contain_text(RIGHT)
    look("explained")

    # away from the class, one press leads phones to the page; they come back for the next question
    projector.locator(".st-key-class-see button").first.click()
    projector.wait_for_url(re.compile("/answer"))
    expect(phone.get_by_text(phones["follow"])).to_have_count(0)
    projector.get_by_role("button", name=words["class.lead"]).click()
    expect(projector.get_by_role("button", name=words["class.led_by_me"])).to_be_visible()
    row = ".navbar .list > .menu", ".st-key-class_way", ".navbar .leave"
    bars = [projector.locator(where).bounding_box() for where in row]
    assert all(one["x"] + one["width"] <= two["x"] for one, two in pairwise(bars)), "nothing lies over the bar"
    phone.get_by_text(phones["follow"]).click()
    phone.wait_for_url(re.compile("/answer"))
    projector.keyboard.press("PageUp")
    phone.wait_for_url(lambda url: "/answer" not in url)
    projector.keyboard.press("b")
    expect(bar()).to_contain_text(words["class.phase_explained"])
    go_on("question")
    asks = phone.get_by_text(words["class.asks_now"])
    asks.wait_for()
    phone.evaluate("document.querySelector('[data-testid=stAppViewContainer]').scrollBy(0, 400)")
    expect(asks).to_be_in_viewport(ratio=1)
    asks.click()
    expect(phone.locator("main")).to_contain_text(phones["stem"])
    assert len(phone.context.pages) == 1

    # the teacher's notes, in a second window, have the key; the projector shows what is done there
    with projector.context.expect_page() as opened:
        projector.locator(".st-key-class_bar a").first.click()
    notes = opened.value
    expect(notes.get_by_text(words["class.say"])).to_be_visible()
    expect(notes.locator("h5").first).to_have_css("word-break", "keep-all")
    notes.get_by_role("button", name=words["class.to_ended"]).click()  # asks for confirmation
    notes.locator(".st-key-class-to_end button").first.click()
    expect(projector.get_by_text(words["class.ended_help"])).to_be_visible()
    notes.locator(".st-key-class-reopen button").first.click()  # undone; the projector soon shows it
    expect(bar()).to_contain_text(words["class.phase_question"], timeout=5000)
    expect(phone.locator("main")).to_contain_text(phones["stem"])
    no_hurry(projector, time.monotonic())
    notes.get_by_role("button", name=words["class.to_ended"]).click()
    notes.locator(".st-key-class-to_end button").first.click()
    expect(projector.get_by_text(words["class.ended_help"])).to_be_visible()
    look("ended")
    with projector.expect_download() as page:
        projector.locator(".st-key-class-report-html button").first.click()
    report = Path(page.value.path()).read_text("utf-8")
    assert RIGHT in report and SENTENCE in report and "0" * 30 not in report
    projector.get_by_role("button", name=words["class.delete"]).click()
    projector.locator(".st-key-class-delete button").first.click()
    expect(projector.locator(".st-key-class-start")).to_be_visible()
    expect(phone.locator("main")).to_contain_text(phones["gone"])


def test_a_class_ends_with_a_homework_whose_code_is_read_from_the_last_row(
    app_url: str, screen_at: Callable[..., Page]
) -> None:
    sentence = "昨天晚上我和爸爸妈妈一起去电影院看了一部很有意思的电影，大家都非常喜欢。"
    link = f"class?lang=zh&s={quote(sentence)}&other={quote(sentence)}&goal=oneway.90.5"
    projector = screen_at(link, PROJECTOR)
    projector.goto(f"{app_url.replace('127.0.0.1', 'class.localhost')}/{link}")  # by a name that phones may use, too
    projector.locator(".st-key-class-start button").click()
    projector.locator(".st-key-class_qr img").wait_for()
    no_hurry(projector, time.monotonic())
    projector.get_by_role("button", name=catalogue("zh")["class.to_ended"]).click()
    projector.locator(".st-key-class-to_end button").first.click()
    code = projector.locator(".st-key-share_code img")
    code.wait_for()
    projector.wait_for_function(ENDS_WITH_THE_SCREEN)
    squares = code.evaluate("it => it.clientWidth / it.naturalWidth")
    assert code.evaluate("it => it.naturalWidth") < 70 and squares >= 5


def test_nothing_of_a_question_runs_off_the_projector_and_every_name_is_read(
    app_url: str, screen_at: Callable[..., Page]
) -> None:
    """Twenty-four tokens as possible answers; and a teacher's own questions next to a page's picture, also of the
    greatest length.
    """
    asks = (
        ("Why are there several heads in each layer and not just one that does all of this work?", SIX, "Because."),
        ("这个头最关注的是哪一个词呢，" * 42, SIX, "因为这个词和那个词离得最近，" * 42),
    )
    cut = (MOST_ASK // 2, MOST_WHY // 2)
    mine = (Own(ask[: cut[0]], why[: cut[1]], options, answer=options[0]) for ask, options, why in asks)
    own = [Question(OWN, None, "tap", 0, 2, own=one, place=PLACE) for one in mine]
    link = f"lang=en&s={quote(LONG)}&lesson={lesson_to_code(own_lesson([QUESTIONS['fit'], *own]))}"
    page, bar, acted = screen_at(f"class?{link}", PROJECTOR), catalogue("en"), time.monotonic()
    page.locator(".st-key-class-start button").first.click()
    page.wait_for_url(re.compile("class=[A-Z]{6}"))
    others = Others(app_url, re.search("class=([A-Z]{6})", page.url)[1], OTHERS)
    settle(page)
    for question in ("fit", "own", "long"):
        for phase in ("question", "open", "closed", "revealed", "explained"):
            no_hurry(page, acted)
            page.keyboard.press("PageDown")
            told = f"phase_{phase}_own" if question != "fit" and phase == "revealed" else f"phase_{phase}"
            expect(page.locator(".st-key-class_bar")).to_contain_text(bar[f"class.{told}"])
            acted = time.monotonic()
            if phase == "open":
                guesses = others.look(phase)["question"]["options"]
                others.vote([*guesses, *guesses])
            settle(page)
            page.wait_for_function(ENDS_WITH_THE_SCREEN)
            asked, rows, names, hidden, apart = page.evaluate(LETTERS)
            least = 20 if question == "long" else 24
            assert asked >= least and min(rows, names) >= 18 and apart >= 4, (question, phase, asked)
            assert page.locator(".st-key-class_fits_ask_0").count() == (question != "long"), "what is short is large"
            assert not hidden and page.locator(".chart").count() == (question != "fit" or phase in TOLD)
            assert question == "fit" or page.evaluate(CUT) == [], phase
    heights = []
    for more in ("", "&" + page.url.partition("?")[2]):  # the way back to the class takes no height from a map
        page.goto(f"{app_url}/attention?{link}&big=true{more}")
        title(page, "attention")
        expect(page.locator(".st-key-to_class")).to_have_count(int(bool(more)))
        if more:
            sends, pages = (
                page.locator(where).first.bounding_box() for where in (".st-key-lead button", ".navbar .list")
            )
            assert page.locator(".st-key-lead p").first.bounding_box()["width"] > 60, "in words"
            assert sends["x"] >= pages["x"] + pages["width"] - 4, "beside all pages, but for their padding"
            assert page.evaluate(BAR) >= 20, "read from the last row"
        heights.append(page.locator(".chart").first.bounding_box()["height"])
    assert heights[0] == heights[1]


def test_lines_of_a_chinese_question_break_between_words_and_names_of_columns_stand_apart(
    app_url: str, screen_at: Callable[..., Page]
) -> None:
    mine = Own("网络给最可能的那个词多大的概率？", "", ("去", "我"), answer="去")
    lesson = lesson_to_code(own_lesson([Question(OWN, None, "tap", 0, 2, own=mine, place=PLACE)]))
    page = screen_at(f"class?lang=zh&s={quote('[MASK]师昨天给我们讲了一个有趣的故事。')}&lesson={lesson}", PROJECTOR)
    page.locator(".st-key-class-start button").first.click()
    page.wait_for_url(re.compile("class=[A-Z]{6}"))
    settle(page)
    page.keyboard.press("PageDown")
    expect(page.locator(".st-key-class_bar")).to_contain_text(PHASES["question"])
    settle(page)
    assert page.locator("[class*=st-key-class_ask] p").evaluate(LINES) == ["网络给最可能的", "那个词多大的概率？"]
    assert page.locator(".chart").first.evaluate(APART) >= 6
    no_hurry(page, time.monotonic())
    page.get_by_role("button", name=catalogue("zh")["class.to_ended"]).click()
    page.locator(".st-key-class-to_end button").first.click()
    page.evaluate(PRINTED)
    with page.expect_download() as saved:
        page.locator(".st-key-class-report-html button").first.click()
    numbers, layout = page.evaluate("printed")
    assert ".81" in numbers[0], "numbers stand in the cells"
    aslant = [one["text"] for one in layout["annotations"] if one.get("textangle")]
    assert aslant == ["[MASK]"] and layout["xaxis"]["tickangle"] == 0, "signs stand upright"
    page.set_viewport_size({"width": 240, "height": 800})
    page.set_content(Path(saved.value.path()).read_text("utf-8"))
    lines = page.locator("h2").evaluate(LINES)
    assert len(lines) > 1 and all(line.endswith(("的", "给", "词", "？")) for line in lines), lines


def test_class_goes_on_with_another_input_by_a_button_in_view(app_url: str, screen_at: Callable[..., Page]) -> None:
    """After questions of every kind, and those of a teacher's own of the greatest length."""
    ask, why = (
        ("这个头最关注的是哪一个词呢，" * 42)[: MOST_ASK // 2],
        ("因为这个词和那个词离得最近，" * 42)[: MOST_WHY // 2],
    )
    mine = (Own(ask, why, SIX, answer=SIX[0]), Own(ask, why, ("0", "1"), answer="1"))
    own = [Question(OWN, None, "tap", 0, 2, own=one, place=PLACE) for one in mine]
    kinds = [QUESTIONS[name] for name in ("weights", "word", "heads", "root", "fit")]
    lesson = own_lesson([*own, *kinds])
    page = screen_at(f"class?lang=zh&s={quote(MOVIE)}&lesson={lesson_to_code(lesson)}", PROJECTOR)
    page.locator(".st-key-class-start button").first.click()
    page.wait_for_url(re.compile("class=[A-Z]{6}"))
    settle(page)
    page.goto(page.url.replace(quote(MOVIE), quote("我昨天在电影院里看见了你的妈妈和她的猫，" * 2)))
    expect(page.locator(".st-key-class-replan button")).to_be_in_viewport(ratio=1)
    acted, asked = time.monotonic(), 0
    while page.locator(".st-key-class-next button").count():
        for phase in ("question", "open", "closed", "revealed", "explained"):
            no_hurry(page, acted)
            page.keyboard.press("PageDown")
            expect(page.locator(".st-key-class_bar")).to_contain_text(re.compile(PHASES[phase]))
            acted = time.monotonic()
            settle(page)
            page.wait_for_function(ENDS_WITH_THE_SCREEN)
        asked += 1
        button = page.locator(".st-key-class-replan button")
        if asked < len(lesson.questions):
            expect(button).to_be_in_viewport(ratio=1)
            assert button.locator("p").last.evaluate("it => it.scrollWidth <= it.clientWidth + 1"), "not cut"
    assert asked == len(lesson.questions) and not button.count(), "no question can follow"


def test_she_comes_back_after_a_reload_and_no_link_holds_her_key(app_url: str, screen_at: Callable[..., Page]) -> None:
    page = screen_at(f"class?lang=en&big=true&s={quote(SENTENCE)}", PROJECTOR)
    page.locator(".st-key-class-start button").first.click()
    expect(page.locator(".st-key-class_code")).to_be_visible()
    page.wait_for_function("localStorage['glass-encoder.classes']")
    page.reload()
    expect(page.locator(".st-key-class-next button").first).to_be_visible()
    page.locator(".st-key-class-next button").first.dblclick()
    expect(page.locator(".st-key-class_bar")).to_contain_text(catalogue("en")["class.phase_question"])
    (key,) = page.evaluate("Object.values(JSON.parse(localStorage['glass-encoder.classes']))")
    assert len(key) > 20 and key not in page.url
    stranger = screen_at(page.url.removeprefix(f"{app_url}/"), LAPTOP)
    expect(stranger.locator(".st-key-class-leave")).to_be_visible()
    expect(stranger.locator(".st-key-class-next")).to_have_count(0)


def test_a_question_of_a_report_stands_on_one_printed_page(page: Page, own_tab: None) -> None:
    """With as many answers as we offer, and a teacher's longest beside its picture."""
    both = lambda words: dict.fromkeys(LANGUAGES, words)  # noqa: E731
    many, asked = [f"{MOVIE[:8]} ({place})" for place in range(24)], []
    ours, own = (LONG, MOVIE * 4, many), ("这" * (MOST_ASK // 2), "因" * (MOST_WHY // 2), many[:12])
    for number, (ask, why, options) in enumerate([ours, own] * 5, 1):
        shown = Shown(key="a", gesture="tap", ask=both(ask), reads=LONG, options=options, names=both(options))
        votes = {turn: [Vote(one, SURE) for one in options] for turn in (1, 2)}
        asked.append(Asked(number, 0, shown, Told(answer=options[0], why=both(why)), votes))
    drawn = Figure([], {"height": 32 * report.A_ROW})
    pictures = {f"{report.BUTTON}.{one.number}": drawn for one in asked[1::2]}
    html = report.as_html(asked, MOVIE, "http://school/", pictures)
    page.set_viewport_size(A4)
    page.set_content(re.sub('<img [^>]*style="', '<img style="display: block; height: 99rem; ', html))
    page.emulate_media(media="print")
    sections = "all => all.map(one => [getComputedStyle(one).breakInside, one.offsetHeight])"
    kinds, heights = zip(*page.locator("section").evaluate_all(sections), strict=True)
    assert len(kinds) == 10 and {*kinds} == {"avoid"} and max(heights) <= A4["height"], heights
    assert page.locator("section img").count() == 5


@pytest.fixture
def live_page(page: Page) -> Page:
    """A page with only the class's live component, without a server."""
    page.route("http://127.0.0.1/", lambda route: route.fulfill(content_type="text/html", body="<p class=live>"))
    page.route("**/live.js", lambda route: route.fulfill(content_type="text/javascript", body=content(SCRIPTS["live"])))
    page.goto("http://127.0.0.1/")
    return page


def test_who_has_left_a_class_hears_no_more_of_it(live_page: Page) -> None:
    asked_and_moved = live_page.evaluate("""async () => {
        const { default: live } = await import('/live.js')
        const data = { code: 'ABCDEF', ticket: 't', version: 1, led: 0, words: '', every: 1 }
        const pass = ms => new Promise(done => setTimeout(done, ms))
        let asked = 0, moved = 0, answer
        window.fetch = () => new Promise(done => { asked += 1; answer = done })
        const leave = live({ data, parentElement: document.body, setTriggerValue: () => { moved += 1 } })
        while (!asked) await pass(1)
        leave()
        answer(Response.json({ version: 2, led: 1, answered: 0, there: 0 }))
        await pass(100)
        return [asked, moved]
    }""")
    assert asked_and_moved == [1, 0]


def test_a_phone_that_follows_says_which_one_of_its_class_it_is(live_page: Page) -> None:
    asked = live_page.evaluate("""async () => {
        const { default: live } = await import('/live.js'), asked = []
        const data = { code: 'ABCDEF', ticket: 't', version: 1, led: 0, words: '', view: 'a/b', every: 1 }
        const kept = [
            ['', '', true], ['ABCDEF', '7', true], ['GHJKLM', '7', true], ['ABCDEF', '', true], ['ABCDEF', '7', false],
        ]
        for (const [code, device, follows] of kept) {
            if (code) localStorage.setItem('glass.class', JSON.stringify({ code, device }))
            await new Promise(done => {
                window.fetch = url => { asked.push(new URL(url).search); leave(); done(); return new Promise(() => {}) }
                const told = { ...data, follows }, parentElement = document.body
                const leave = live({ data: told, parentElement, setTriggerValue: () => {} })
            })
        }
        return asked
    }""")
    assert asked == ["?t=t", "?t=t&d=7&v=a%2Fb", "?t=t", "?t=t", "?t=t"]  # the last: the teacher's screen


def test_a_teacher_sees_it_where_more_have_answered_than_are_there(live_page: Page) -> None:
    shown = live_page.evaluate("""async () => {
        const { default: live } = await import('/live.js')
        const more = 'More: {answered}, {there}.'
        const data = { code: 'ABCDEF', ticket: 't', version: 1, led: 0, words: '**{answered}**', more, every: 1e6 }
        return [[30, 30], [22, 20], [30, 20], [2000, 0]].map(([answered, there]) => {
            live({ data: { ...data, answered, there }, parentElement: document.body, setTriggerValue: () => {} })()
            return document.querySelector('.live').textContent
        })
    }""")
    assert shown == ["30", "22", "30 More: 30, 20.", "2000 More: 2000, 0."]


def test_shares_of_a_class_are_rounded_alike_while_it_answers_and_afterwards(live_page: Page) -> None:
    shown = live_page.evaluate("""async () => {
        const { default: live } = await import('/live.js')
        const data = { code: 'ABCDEF', ticket: 't', version: 1, led: 0, words: '{share}', there: 40, every: 1e6 }
        return Array.from({ length: 41 }, (_, answered) => {
            live({ data: { ...data, answered }, parentElement: document.body, setTriggerValue: () => {} })()
            return document.querySelector('.live').textContent
        })
    }""")
    assert shown == [percent(answered / 40) for answered in range(41)]


def answer_on(phone: Page, guess: str) -> None:
    """Send a word from a phone, without saying how sure."""
    phone.locator("#guess").fill(guess)
    phone.locator("button.main").click()
    expect(phone.locator("main")).to_contain_text("✓")
