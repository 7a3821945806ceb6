"""A phone in class: it joins, answers with every gesture, waits while offline, and sees the truth."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from pages.drawing.text.numbers import bound
from pages.school.classroom import join
from pages.school.classroom.phases import Phase
from pages.school.classroom.store import UNSAID
from pages.school.questions.case import short
from pages.school.teaching.pictures import name_of
from pages.server.assets import STYLE
from tests.browser.steps import LINES, serious
from tests.classroom.school import School, school
from tests.school.classroom.asked import EXAMPLES, SECRET

Phones = Callable[..., Page]
SIZE = {"width": 390, "height": 760}
SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
#: Remove what ten-year-old phones lack, and what private windows forbid.
OLD = """delete window.EventSource; delete window.fetch; delete Promise.prototype.finally; delete Array.prototype.flat
Object.defineProperty(window, 'localStorage', { get() { throw new Error('denied') } })
Object.defineProperty(window, 'crypto', { value: undefined })"""


@pytest.fixture(scope="module")
def worker(tmp_path_factory: pytest.TempPathFactory, browser_type_launch_args: dict) -> Iterator[School]:
    folder = tmp_path_factory.mktemp("lesson")
    with school({"GLASS_DATA": str(folder)}, f"sqlite:///{folder}/classes.sqlite") as found:
        yield found


@pytest.fixture
def lesson(worker: School) -> School:
    """A class for one test."""
    worker.code, worker.key = worker.store.create()
    return worker


@pytest.fixture
def new_phone(browser: Browser, lesson: School) -> Iterator[Callable[..., Page]]:
    """Opens phones at the class's address; errors on their pages fail the test."""
    contexts: list[BrowserContext] = []
    broken: list[str] = []

    def open_one(path: str | None = None, script: str = "", **about: object) -> Page:
        contexts.append(browser.new_context(**{"viewport": SIZE, "locale": "en-US", "has_touch": True} | about))
        page = contexts[-1].new_page()
        page.on("pageerror", lambda error: broken.append(str(error)))
        if script:
            page.add_init_script(script)
        page.goto(f"http://127.0.0.1:{lesson.ports[0]}/{path or f'join?c={lesson.code}'}")
        return page

    yield open_one
    for context in contexts:
        context.close()
    assert not broken


def says(page: Page, name: str, language: str = "en", **values: object) -> None:
    expect(page.locator("body")).to_contain_text(join.words(language)[name].format(**values))


def answer(page: Page, gesture: str, sure: int = 3) -> None:
    """Answer wrongly, with the keyboard alone. sure: 0 says nothing."""
    if gesture == "chips":
        for place, times in enumerate((2, 1, 0)):
            for _ in range(times):
                page.locator(".chip").nth(place).locator("button").last.press("Enter")
    elif gesture == "slide":
        page.locator("#guess").press("End")
    elif gesture in ("word", "number"):
        page.locator("#guess").fill({"word": "came", "number": "48"}[gesture])
    else:
        wrong = EXAMPLES[gesture].shown["options"].index(EXAMPLES[gesture].wrong[0])
        page.locator(".choice").nth(wrong).press("Space")
    if gesture not in ("tap", "same", "chips"):  # else the last tap sends the answer
        page.locator("button.main").press("Enter")
    if sure:
        choice = page.locator(".sure .choice").nth(sure - 1)
        expect(choice).to_be_enabled()  # a moment later: an immediate tap would count as the same
        choice.press("Space")
        expect(choice).to_have_attribute("aria-pressed", "true")


def open_question(lesson: School, gesture: str = "tap", *of_its_own: dict) -> None:
    lesson.ask(gesture, *of_its_own)
    lesson.go(Phase.OPEN)


def test_chips_for_sixteen_tokens_fit_a_phone_in_letters_that_can_be_read(lesson: School, new_phone: Phones) -> None:
    sentence = "the international committee did not understand why nobody had come to the meeting ."
    tokens = ["[CLS]", *sentence.split(), "[SEP]"]
    shown = {"options": [str(i) for i in range(16)], "names": dict.fromkeys(("en", "zh"), tokens), "reads": sentence}
    open_question(lesson, "chips", EXAMPLES["chips"].truth | {"answer": [6.25] * 16}, shown)
    page = new_phone()
    names = page.locator(".chip .name")
    expect(names).to_have_text(tokens)
    names.nth(3).click()
    names.nth(3).click()
    expect(page.locator(".chip").nth(3)).to_contain_text("committee●●")
    sizes = names.evaluate_all("names => names.map(name => parseFloat(getComputedStyle(name).fontSize))")
    assert min(sizes) >= 20 and not page.evaluate(SIDEWAYS)
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") <= 0
    page.get_by_label("Take a chip from “committee”").click()
    names.nth(0).click()
    names.nth(0).click()
    says(page, "kept")
    lesson.go(Phase.CLOSED)
    assert [vote.guess for vote in lesson.votes()[1]] == [[2, 0, 0, 1, *[0] * 12]]
    lesson.go(Phase.REVEALED)
    says(page, "you")
    rows = page.locator("tbody th")
    expect(rows).to_have_count(16)
    assert min(rows.evaluate_all("rows => rows.map(row => parseFloat(getComputedStyle(row).fontSize))")) >= 20


def test_lines_of_a_chinese_question_break_between_words_on_a_phone(lesson: School, new_phone: Phones) -> None:
    page = new_phone(locale="zh-CN")
    asked = "一层之后是 0.91。没有层归一化，标准差会变成原来的多少倍？最终答案从第几层之后起一直排在第一？"
    asked += "有一个词元（中文里通常是一个字）被遮住了，网络会填什么？全班很有把握却都答错。"
    lesson.ask("tap", None, {"ask": {"zh": asked}})
    lesson.go(Phase.OPEN)
    page.locator("h1").filter(has_text="0.91").wait_for()
    torn = ("标准", "第", "排", "词", "第几", "有", "一", "个", "是")
    for width in (320, 360, 375, 390, 393, 412):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_function(f"() => ({LINES})(document.querySelector('h1')).length > 2")
        lines = page.locator("h1").evaluate(LINES)
        assert not any(line.endswith(torn) or line[0] in "（）”。，：？" for line in lines), lines


def test_many_short_names_to_tap_stand_beside_each_other_and_the_class_is_orange_as_in_front(
    lesson: School, new_phone: Phones
) -> None:
    sentence = "the old man who lived in the small house near the big river took his dog ."
    tokens = ["[CLS]", *sentence.split(), "[SEP]"]
    names = [f"{token} ({i})" for i, token in enumerate(tokens)]
    shown = {"options": names, "names": dict.fromkeys(("en", "zh"), names)}
    open_question(lesson, "tap", EXAMPLES["tap"].truth | {"answer": names[2]}, shown)
    page = new_phone()
    expect(page.locator(".choice")).to_have_text(names)
    assert page.locator("fieldset").bounding_box()["height"] < 600 and not page.evaluate(SIDEWAYS)
    page.locator(".choice").nth(3).click()
    says(page, "kept")
    lesson.go(Phase.CLOSED, Phase.REVEALED)
    says(page, "you")
    own, true = (
        page.locator(f"li .{whose}").evaluate("one => getComputedStyle(one).color.match(/\\d+/g).map(Number)")
        for whose in ("own", "true")
    )
    assert own[0] > own[2] and true[2] > true[0], "as on the projector: the class orange, the network blue"


@pytest.mark.parametrize("gesture", ["slide", "chips"])
def test_in_forced_colours_bars_line_and_marks_are_seen(lesson: School, new_phone: Phones, gesture: str) -> None:
    page = new_phone(forced_colors="active")
    open_question(lesson, gesture)
    answer(page, gesture)
    says(page, "kept")
    lesson.go(Phase.CLOSED, Phase.REVEALED)
    parts = page.locator(".bar, .track i, .mark")
    expect(parts.first).to_be_visible()
    grounds = "parts => parts.map(one => getComputedStyle(one).backgroundColor)"
    seen = parts.evaluate_all(grounds)
    assert len(seen) >= 3 and not any("255, 255, 255" in colour for colour in seen), seen
    page.goto("about:blank")
    page.set_content(f'<style>{STYLE.read_text("utf-8")}</style><p class="said"><i class="vote">1</i></p>')
    assert page.locator(".said i").evaluate_all(grounds) == ["rgb(230, 159, 0)"]  # as on the projector


@pytest.mark.parametrize(
    ("language", "locale", "scheme", "gestures"),
    [("en", "en-US", "light", [*EXAMPLES][::2]), ("zh", "zh-CN", "dark", [*EXAMPLES][1::2])],
    ids=["en", "zh"],
)
def test_from_the_code_to_the_truth_with_every_gesture_for_everybody(
    lesson: School, new_phone: Phones, language: str, locale: str, scheme: str, gestures: list[str]
) -> None:
    page = new_phone("join", locale=locale, color_scheme=scheme)
    wrong: dict[str, list[str]] = {}

    def look(where: str) -> None:
        found = serious(page) + (["wider than the phone"] if page.evaluate(SIDEWAYS) else [])
        wrong.update({where: found} if found else {})

    expect(page.locator("html")).to_have_attribute("lang", language)
    look("code")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.type("zzzzzz")
    page.keyboard.press("Enter")
    says(page, "unknown", language, code="ZZZZZZ")
    look("unknown")
    for typed in ("abc", " ".join(lesson.code.lower())):  # too short; spaced as on the board
        page.locator("#code").fill("")
        page.keyboard.type(typed)
        page.keyboard.press("Enter")
        if typed == "abc":
            expect(page.locator("[role=alert]")).to_have_text(join.words(language)["code_help"])
    says(page, "lobby", language)
    look("lobby")
    for gesture, example in ((gesture, EXAMPLES[gesture]) for gesture in gestures):
        lesson.ask(gesture)
        says(page, "stem", language)
        expect(page.locator("h1")).to_have_text(example.shown["ask"][language])
        assert page.locator("form").count() == 0
        lesson.go(Phase.OPEN)
        expect(page.locator("form, fieldset").first).to_be_visible()
        look(f"{gesture} open")
        if gesture in ("word", "number", "slide"):  # options are sent by a tap
            page.locator("button.main").press("Enter")
            expect(page.locator("[role=alert]")).to_be_visible()
        answer(page, gesture)
        says(page, "kept", language)
        assert page.evaluate("document.activeElement.tagName") == "H1", "who listens hears what became of it"
        look(f"{gesture} kept")
        lesson.go(Phase.CLOSED)
        says(page, "closed", language)
        assert SECRET[language] not in page.content()
        lesson.go(Phase.REVEALED)
        expect(page.locator("body")).to_contain_text(SECRET[language])
        says(page, "you", language)
        says(page, "teacher" if example.truth.get("own") else "network", language)
        expect(page.locator("a.link")).to_have_attribute("href", f"./{example.truth['see']}&lang={language}")
        look(f"{gesture} revealed")
        assert [vote.confidence for vote in lesson.votes()[1]] == [3]
    lesson.act("lead", "attention?layer=3&goal=oneway.90.5")
    expect(page.locator("main > :first-child a.link")).to_have_text(join.words(language)["follow"])  # not at the bottom
    lesson.go(Phase.ENDED)
    says(page, "ended", language)
    homework = page.locator("a.link", has_text=join.words(language)["homework"])
    expect(homework).to_have_attribute("href", f"./attention?layer=3&goal=oneway.90.5&lang={language}")
    look("ended")
    lesson.end()
    says(page, "gone", language)
    expect(homework).to_be_visible()
    assert not wrong
    page.locator("#switch").press("Enter")
    says(page, "gone", "zh" if language == "en" else "en")


def test_a_vote_in_the_pocket_is_sent_when_there_is_a_line_again(lesson: School, new_phone: Phones) -> None:
    page = new_phone()
    page.clock.install()
    open_question(lesson)
    expect(page.locator(".choice").first).to_be_visible()
    page.context.set_offline(True)
    answer(page, "tap", sure=0)  # the tap is enough
    says(page, "waiting")
    page.clock.run_for(60_000)
    says(page, "offline_vote")
    assert lesson.answers == 0
    page.context.set_offline(False)
    page.clock.run_for(15_000)
    says(page, "kept")
    expect(page.locator("#line")).to_be_empty()
    assert lesson.answers == 1


def test_a_vote_whose_question_was_closed_meanwhile_is_dropped_with_a_word(lesson: School, new_phone: Phones) -> None:
    page = new_phone()
    open_question(lesson)
    expect(page.locator(".choice").first).to_be_visible()
    page.context.set_offline(True)
    answer(page, "tap")
    says(page, "waiting")
    lesson.go(Phase.CLOSED)
    page.context.set_offline(False)
    says(page, "late", n=1)
    says(page, "no_guess")
    assert lesson.votes() == {}


def test_the_seconds_left_are_shown_while_one_writes_and_then_the_vote_is_closed(
    lesson: School, new_phone: Phones
) -> None:
    page = new_phone()
    open_question(lesson, "word")
    page.locator("#guess").fill("begun")
    page.locator("#guess").evaluate("box => box.mine = true")
    lesson.act("count_down", lesson.room.version, 4)
    for seconds in (3, 2):
        says(page, "left", left=seconds)
    assert page.locator("#guess").evaluate("box => box.mine"), "what he writes stays"
    says(page, "closed")
    expect(page.locator(".left")).to_have_text("")


def test_a_vote_outlives_a_page_that_is_loaded_again(lesson: School, new_phone: Phones) -> None:
    page = new_phone()
    open_question(lesson)
    page.route("**/vote*", lambda route: route.abort())
    answer(page, "tap", sure=1)
    says(page, "waiting")
    page.unroute("**/vote*")
    page.reload()
    says(page, "kept")
    page.locator("button", has_text=join.words("en")["change"]).click()
    expect(page.locator(".sure")).to_have_count(0)
    page.locator(".choice").nth(1).click()
    says(page, "yours", guess="1")
    says(page, "kept")
    lesson.go(Phase.CLOSED)
    assert lesson.votes() == {1: [("1", UNSAID)]}, "how sure he was of another answer he has not said of this one"


def test_double_taps_are_one_vote(lesson: School, new_phone: Phones) -> None:
    page = new_phone()
    open_question(lesson)
    expect(page.locator(".choice").first).to_be_visible()
    page.locator(".choice").first.evaluate("""choice => {
        choice.click()
        for (const below of document.querySelectorAll('main button')) below.click()
    }""")
    says(page, "kept")
    lesson.go(Phase.CLOSED)
    assert lesson.votes() == {1: [("0", UNSAID)]}, "the second tap is no answer to what now stands there"


def test_how_sure_he_is_waits_until_his_answer_is_acknowledged(lesson: School, new_phone: Phones) -> None:
    """If the class closes in between, the acknowledged answer counts, and the student is told."""
    page = new_phone()
    open_question(lesson)
    sent: list[dict] = []

    def heard_by_nobody(route: Route) -> None:
        sent.append(route.request.post_data_json)
        if len(sent) == 1:
            route.fetch()  # kept, but not acknowledged
        route.abort()

    page.route("**/vote*", heard_by_nobody)
    answer(page, "tap", sure=3)
    says(page, "waiting")
    lesson.go(Phase.CLOSED)
    page.unroute("**/vote*")
    says(page, "late_change", n=1)
    says(page, "yours", guess="0")
    assert lesson.votes() == {1: [("0", UNSAID)]} and {vote["sure"] for vote in sent} == {UNSAID}


def test_a_word_with_markup_is_a_word_and_a_share_is_written_as_on_the_projector(
    lesson: School, new_phone: Phones
) -> None:
    page = new_phone()
    open_question(lesson, "word")
    page.locator("#guess").fill("<img/src=x>")
    page.locator("button.main").click()
    says(page, "kept")
    lesson.go(Phase.CLOSED)
    says(page, "yours", guess="“<img/src=x>”")
    lesson.go(Phase.REVEALED)
    expect(page.locator(".number.own")).to_have_text("“<img/src=x>”")
    assert page.locator("main img").count() == 0 and lesson.votes() == {1: [("<img/src=x>", UNSAID)]}
    shares = 0.0, 1.0, 5.0, 0.9962, 0.99996, 0.5, 0.0483, 8e-5, 2.345, 18.75, 123.4, -2.83, -0.06, -0.004, 12_000
    for share in (*shares, 0.125, 12.25, 122.5):
        lesson.ask("slide", {"answer": share, "near": 0.1})
        lesson.go(Phase.OPEN, Phase.CLOSED, Phase.REVEALED)
        expect(page.locator(".number.true")).to_have_text(short(share))


def test_a_number_below_nothing_is_sent_and_written_as_people_write_it(lesson: School, new_phone: Phones) -> None:
    open_question(lesson, "number", EXAMPLES["number"].truth, {"span": [-5, 5]})
    page = new_phone()
    expect(page.locator("main")).to_contain_text("−5")
    page.locator("#guess").fill("-3")
    page.locator("button.main").click()
    says(page, "kept")
    lesson.go(Phase.CLOSED)
    says(page, "yours", guess="−3")
    assert lesson.votes() == {1: [(-3, UNSAID)]}
    for span in ([0, 1], [-1, 2.5], [0.25, 12_345.5]):
        lesson.ask("slide", EXAMPLES["slide"].truth, {"span": span})
        lesson.go(Phase.OPEN)
        expect(page.locator(".ends")).to_have_text("".join(map(bound, span)))
        page.locator("#guess").tap()  # its middle, where it stands already
        expect(page.locator("output")).not_to_have_text("–")
    assert name_of({"gesture": "number"}, -3) == "−3" and name_of({"gesture": "slide"}, (-1.6, -1.2)) == "−1.6 – −1.2"


def test_phones_with_any_clock_and_old_ones_that_keep_nothing_answer_too(lesson: School, new_phone: Phones) -> None:
    scripts = "Date.now = () => 0", "Date.now = () => 4e12", "Date.now = () => Math.random() * 4e12", OLD
    pages = [new_phone(script=script) for script in scripts]
    open_question(lesson)
    for page in pages:
        answer(page, "tap")
        says(page, "kept")
    assert lesson.answers == len(pages)
    lesson.go(Phase.CLOSED, Phase.REVEALED)
    expect(pages[-1].locator("body")).to_contain_text(SECRET["en"])


def test_a_pause_hides_the_question_and_loses_nothing_that_was_begun(lesson: School, new_phone: Phones) -> None:
    page = new_phone()
    open_question(lesson, "word")
    page.locator("#guess").fill("begun")
    for paused in (True, False):
        lesson.act("pause", lesson.room.version, paused)
        if paused:
            says(page, "paused")
            assert page.locator("#guess").count() == 0
    expect(page.locator("#guess")).to_have_value("begun")
    page.locator("#guess").evaluate("box => box.mine = true")
    page.wait_for_timeout(1100)  # long enough that it asks again when it wakes
    with page.expect_response("**/now*"):
        page.evaluate("dispatchEvent(new Event('online'))")
    page.wait_for_timeout(200)
    assert page.locator("#guess").evaluate("box => box.mine"), "what is said again draws nothing anew under the finger"


def test_the_second_vote_asks_anew_and_a_class_that_is_deleted_is_over(lesson: School, new_phone: Phones) -> None:
    page, silent = new_phone(), new_phone()
    asks = dict.fromkeys(("en", "zh"), "网络给最可能的那个词多大的概率呢？")
    open_question(lesson, "tap", EXAMPLES["tap"].truth, {"ask": asks})
    for phone in (page, silent):
        answer(phone, "tap")
        says(phone, "kept")
    lesson.go(Phase.CLOSED, Phase.DISCUSS)
    says(page, "discuss")
    says(page, "yours", guess="0")
    lesson.go(Phase.OPEN)
    says(page, "second", n=1)
    says(page, "first", guess="0")
    lines = "|".join(page.locator("h1").evaluate(LINES))
    assert "|" in lines and all(word in lines for word in ("网络", "可能", "那个", "概率呢？")), "broken between words"
    page.locator(".choice").nth(1).click()
    says(page, "kept")
    says(page, "first", guess="0")
    lesson.go(Phase.CLOSED)
    says(page, "closed")
    says(page, "second", n=1)
    says(silent, "closed")
    expect(silent.locator("main")).not_to_contain_text(join.words("en")["second"].format(n=1))
    assert lesson.votes() == {1: [("0", 3)] * 2, 2: [("1", UNSAID)]}
    lesson.end()
    says(page, "gone")
    expect(page.locator("[role=alert]")).to_have_count(0)
    expect(page.locator("#code")).to_have_value("")
    page.reload()
    expect(page.locator("[role=alert]")).to_have_count(0)
    page.locator("#code").fill(lesson.store.create()[0])  # another class, on the same page
    page.keyboard.press("Enter")
    says(page, "lobby")
