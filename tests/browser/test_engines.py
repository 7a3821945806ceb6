"""Every page in WebKit, as on Macs, iPhones and iPads, or in Firefox; and in WebKit what a visitor does by hand."""

import time
from collections.abc import Iterator

import pytest

from pages.drawing.text import catalogue
from pages.school.classroom import join
from pages.school.classroom.phases import Phase
from pages.screen.frame.contents import NAMES, path_of
from tests.browser.engines import Engine, Firefox, WebKit, firefox, wait, webkit
from tests.classroom.school import School, school

SENTENCE = "she gave the dog a book ."
# Press a page's link in the bar, also inside a menu.
TO_PAGE = """const ways = [...document.querySelectorAll('.navbar a')]
const way = ways.find(one => new URL(one.href).pathname === '/' + arguments[0])
way?.click()
return Boolean(way)"""
AT_PAGE = """const marked = document.querySelector('.navbar [aria-current]')?.textContent.trim()
return location.pathname === '/' + arguments[0] && marked === arguments[1]"""
# A list of what is broken on a page, in a list; null until the page is complete or broken.
BROKEN = """const all = where => [...document.querySelectorAll(where)]
const wrong = all('[data-testid=stException], [data-testid=stAlertContentError]').map(one => one.textContent)
wrong.push(...document.body.textContent.match(/BidiComponent Error.{0,80}/g) ?? [])
const ours = '.chart:not(.js-plotly-plot), :is(.overview, .sentence):empty'
const unfinished = `[data-stale=true], [data-testid=stSkeleton], ${ours}`
const ran = document.listening && document.querySelector('[data-test-script-state=notRunning] .navbar a')
return wrong.length || ran && !all(unfinished).length ? [wrong] : null"""

CHIPS = """const words = [...document.querySelectorAll('.sentence .chip')].map(chip => chip.textContent.trim())
return words.join() === arguments[0].join()"""
IN_LINK = "return new URLSearchParams(location.search).get(arguments[0]) === arguments[1]"

# Colours of the line and the head of each arrow.
ARROWS = """const colour = where => getComputedStyle(where).stroke
const head = line => document.querySelector(`${line.getAttribute('marker-end').slice(4, -1)} path`)
return [...document.querySelectorAll('.overview path[marker-end]')].map(line => [colour(line), colour(head(line))])"""
# Pressed on Home, in order -> then visible.
HOME = {
    ".overview .title[data-role=w]": ".overview .panel .shares .on",
    ".overview .title.open .close": ".overview:not(.opens)",
    ".overview .tile .cross": ".overview .thumb.away",
    ".overview .tile:has(.away) .cross": ".overview:not(:has(.away))",
    ".overview .play": ".overview.playing .glow:not([hidden])",
}


@pytest.fixture(autouse=True)
def nothing_leaves_this_machine() -> None:
    """These drivers do not report requests; Chromium's does."""


@pytest.fixture(scope="module")
def mac() -> Iterator[WebKit]:
    with webkit() as window:
        yield window


@pytest.fixture(scope="module")
def fox() -> Iterator[Firefox]:
    with firefox() as window:
        yield window


@pytest.fixture(scope="module")
def lesson(tmp_path_factory: pytest.TempPathFactory) -> Iterator[School]:
    folder = tmp_path_factory.mktemp("lesson")
    with school({"GLASS_DATA": str(folder)}, f"sqlite:///{folder}/classes.sqlite") as found:
        yield found


def whole(engine: Engine) -> None:
    """Wait until the page is complete, and assert that nothing is broken."""
    assert not (broken := wait(engine, BROKEN)[0] + engine.errors()), broken


#: Go to an address like the browser's back, which takes a third of the work; false: this page has no app.
GOES = """const app = document.querySelector('.navbar') && new URL(arguments[0]).origin === location.origin
if (app) history.pushState(null, '', arguments[0])
if (app) dispatchEvent(new PopStateEvent('popstate'))
return Boolean(app)"""


def go(engine: Engine, url: str, name: str) -> None:
    """Open the page `name` in English, from another page of the app if one is open."""
    if not engine.run(GOES, url):
        engine.open(url)
    at(engine, name)


def at(engine: Engine, name: str) -> None:
    wait(engine, AT_PAGE, path_of(name), catalogue("en")[f"{name}.{'title' if name == 'home' else 'short'}"])
    whole(engine)


@pytest.mark.parametrize("engine", ["mac", "fox"], ids=["WebKit", "Firefox"])
def test_home_opens_a_column_turns_a_head_off_and_plays_and_no_page_is_broken(
    engine: str, app_url: str, request: pytest.FixtureRequest
) -> None:
    """In WebKit each page is opened by its address: where two components load one script at once, it once failed."""
    window = request.getfixturevalue(engine)
    window.open(f"{app_url}/?lang=en&input=sentence")
    whole(window)
    if engine == "mac":
        lines = wait(window, ARROWS)
        assert len(lines) > 4 and all(line == head != "none" for line, head in lines), lines
    for pressed, seen in HOME.items():
        window.run("document.querySelector(arguments[0]).click()", pressed)
        wait(window, "return Boolean(document.querySelector(arguments[0]))", seen)
    for name in NAMES:
        if engine == "mac":
            window.open(f"{app_url}/{path_of(name)}?lang=en")
        else:
            wait(window, TO_PAGE, path_of(name))
        at(window, name)


def test_a_sentence_is_typed_and_keys_lead_through_it(mac: WebKit, app_url: str) -> None:
    go(mac, f"{app_url}/attention?lang=en&layer=2&head=3&s=so+be+it+.", "attention")
    mac.click(".sentence .type")
    wait(mac, "return document.activeElement.matches('.sentence input')")
    mac.run("document.activeElement.select()")
    mac.press(*SENTENCE, "Enter")
    wait(mac, CHIPS, SENTENCE.split())
    wait(mac, IN_LINK, "s", SENTENCE)
    mac.press("ArrowRight", "ArrowDown")
    wait(mac, IN_LINK, "head", "4")
    wait(mac, "return document.querySelector('[data-testid=stMain]').textContent.includes('(layer 3, head 4)')")
    whole(mac)


def test_a_digit_is_drawn(mac: WebKit, app_url: str) -> None:
    go(mac, f"{app_url}/answer?lang=en&input=digit", "answer")
    mac.click(".st-key-draw button")
    mac.click(".pad [data-do=clear]")
    mac.drag(".pad canvas", (0.53, 0.15), (0.5, 0.4), (0.47, 0.85))
    wait(mac, "return document.querySelector('.st-key-line').textContent.includes('The network reads 1')")
    whole(mac)


def test_the_first_station_of_the_tour_is_answered(mac: WebKit, app_url: str) -> None:
    go(mac, f"{app_url}/lesson?lang=en&s=she+[MASK]+to+the+shop+.", "lesson")
    mac.click("[class*=st-key-lesson-word] input")
    mac.press(*"went", "Enter")
    wait(mac, "return document.querySelector('.st-key-tour_answer h3')")
    whole(mac)


def test_a_phone_votes(mac: WebKit, lesson: School) -> None:
    lesson.ask("tap")
    lesson.go(Phase.OPEN)
    mac.resize(390, 844)
    mac.open(f"http://127.0.0.1:{lesson.ports[0]}/join?c={lesson.code}")
    mac.click(".choice:last-of-type")
    wait(mac, "return document.body.textContent.includes(arguments[0])", join.words("en")["kept"])
    lesson.go(Phase.CLOSED)
    until = time.monotonic() + 60
    while 1 not in lesson.votes() and time.monotonic() < until:
        time.sleep(0.1)
    assert [vote.guess for vote in lesson.votes()[1]] == ["1"] and not mac.errors()
