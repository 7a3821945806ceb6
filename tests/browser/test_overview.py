"""The overview in a real browser: point, step, play, click, hide, type."""

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from model import Edit, Trace, load
from model.analysis import placed
from model.edits import head_off
from model.overview import answers_of
from model.overview.pictures import key_before, keys_of
from model.overview.without import without_heads
from pages.drawing.state import images
from pages.drawing.text import catalogue
from pages.drawing.text.numbers import decimal
from pages.server.assets import SCRIPTS, content
from tests.browser.steps import (
    DESK,
    PROJECTOR,
    asked,
    click_cell,
    expect_overview,
    overlapping,
    serious,
    visit,
    walk_to,
)
from tests.model.making import network_in
from tests.pages.inputs import PICTURES

SENTENCE = "the animal did not cross the street because it was too tired ."
TWENTY = "the old man who lived near the river walked slowly home because his small boat was broken ."
LINK = f"?lang=en&s={SENTENCE}&hidden=4&layer=3&head=7"
DESKS = [(1440, 900), (1280, 720)]
# Smallest font sizes, in pixels.
SIZES = """() => Object.fromEntries(['.label span', '.symbol', '.caption', '.under-cell', '.thumb em', '.legend'].map(
  part => [part, [...document.querySelectorAll('.overview ' + part)].filter(
    node => node.checkVisibility() && node.textContent).map(node => parseFloat(getComputedStyle(node).fontSize))]))"""
# Wait for two frames.
DRAWN = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
# Whether the page scrolls.
SCROLLS = """() => { const { scrollHeight, clientHeight } = document.querySelector('[data-testid=stMain]')
  return scrollHeight > clientHeight }"""
# Texts of these nodes that are cut off.
CUT = """nodes => [...document.querySelectorAll('.overview :is(' + nodes + ')')].filter(
  node => node.scrollWidth > node.clientWidth).map(node => node.textContent)"""
# Positions of all parts.
PLACES = """() => [...document.querySelectorAll('.overview .stage :not(g, .panel *)')]
  .filter(node => node.checkVisibility({ visibilityProperty: true })).map(node => {
    const { x, y, width, height } = node.getBoundingClientRect()
    return [...[...node.classList].sort(), ...[x, y, width, height].map(Math.round)].join(' ') }).sort()"""
# How far a phone has scrolled.
SCROLLED = "document.querySelector('[data-testid=stAppViewContainer]').scrollTop"
# Values and lengths of the answer's bars.
BARS = """() => [...document.querySelectorAll('.overview .stack > .bars .bar')].map(
  bar => [+bar.innerText, bar.firstChild.getBoundingClientRect().width])"""
# Pictures whose titles show the sign for opening.
GLYPHS = """() => [...document.querySelectorAll('.overview .title')].filter(
  title => getComputedStyle(title.firstChild, '::after').opacity === '1').map(title => title.dataset.role)"""
# Bottom of the overview.
BOTTOM = "document.querySelector('.overview').getBoundingClientRect().bottom"
# Colours of one row of a picture.
ROW = """([role, row]) => { const canvas = document.querySelector(`.overview .pic[data-role=${role}] canvas`)
    return [...canvas.getContext('2d').getImageData(0, row, canvas.width, 1).data] }"""


pytestmark = pytest.mark.usefixtures("goes_on")


def hidden(*edits: Edit) -> Trace:
    """The run of the sentence on the page, whose third word is hidden."""
    text = load("text")
    return text(text.reader.hide(text(SENTENCE).ids, [3]), edits)


def opened(page: Page, address: str) -> Page:
    (visit if "s=" in address else Page.goto)(page, address)
    expect_overview(page)
    page.wait_for_function(
        "document.fonts.status === 'loaded' && document.querySelector('.overview .say p').textContent"
    )
    page.evaluate(DRAWN)  # redrawn once fonts are loaded
    return page


def says(page: Page) -> Locator:
    return page.locator(".overview .say p")


def sentence(layer: int, head: int, token: int) -> str:
    """Sentence about a row of the hidden sentence; layer and head from 1."""
    trace = hidden()
    weights = trace[f"layers.{layer - 1}.attention.weights"][head - 1, token]
    key = int(weights.argmax())
    names = placed(trace.tokens)
    alike = sum(f"{weight:.2f}" == f"{weights[key]:.2f}" for weight in weights)
    if alike > 1:
        tie = f"attends to {alike} tokens alike ({weights[key]:.2f} each)."
        return f"Layer {layer}, head {head}: “{names[token]}” {tie}"
    ends = "itself" if key == token else f"“{names[key]}”"
    return f"Layer {layer}, head {head}: “{names[token]}” attends most to {ends} ({weights[key]:.2f})."


def test_a_step_is_kept_in_the_link_and_the_page_stays(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/{LINK}")
    page.evaluate("document.querySelector('.overview .pic').kept = true")
    page.locator(".overview .thumb").nth(1).click()
    page.evaluate("document.querySelector('.overview').shown.go({ head: 4 })")  # a late answer to an earlier choice
    page.get_by_role("button", name=catalogue("en")["overview.next_layer"]).click()
    expect(page).to_have_url(re.compile("layer=4&head=2"))
    page.wait_for_timeout(500)
    assert page.evaluate("document.querySelector('.overview .pic').kept"), "nothing is built anew"
    page.reload()
    expect(says(page)).to_contain_text(sentence(4, 2, 3))


def test_a_row_is_painted_and_told_as_recorded_where_it_is_pointed_at_and_by_keys_without_the_server(
    page: Page, app_url: str
) -> None:
    opened(page, f"{app_url}/{LINK}")
    expect(says(page)).to_contain_text(sentence(3, 7, 3))
    picture = page.locator(".overview .pic[data-role=w]")
    box = picture.bounding_box()
    picture.hover(position={"x": box["width"] * 8.5 / 15, "y": box["height"] * 9.5 / 15})
    weights = hidden()["layers.2.attention.weights"][6]
    for row in (0, 3, 14):
        painted = np.array(page.evaluate(ROW, ["w", row])).reshape(-1, 4)[:, 0]  # red increases along this scale
        assert painted.argmax() == weights[row].argmax()
        assert (np.diff(painted[np.argsort(weights[row])[-3:]].astype(int)) >= 0).all(), "cividis from 0 to 1"
    told = page.locator(".overview .tip").inner_text()
    assert told.startswith("“it” attends to “because”: ")
    assert told.rsplit(" ", 1)[-1] == f"{weights[9, 8]:.2f}"
    assert says(page).inner_text().startswith(sentence(3, 7, 9))
    tops = page.evaluate("[...document.querySelectorAll('.overview .mark')].map(m => m.getBoundingClientRect().top)")
    assert len(tops) == 11 and np.ptp(tops) < 1
    assert page.locator(".sentence .chip.pointed").inner_text() == "it"
    page.locator(".sentence .chip", has_text="street").hover()
    assert says(page).inner_text().startswith(sentence(3, 7, 7))
    page.mouse.move(2, 2)
    assert says(page).inner_text().startswith(sentence(3, 7, 3))
    page.context.set_offline(True)
    for key, place in (("ArrowRight", (3, 8)), ("ArrowDown", (4, 8)), ("ArrowLeft", (4, 7)), ("ArrowUp", (3, 7))):
        page.keyboard.press(key)
        assert says(page).inner_text().startswith(sentence(*place, 3))
    page.keyboard.press("Shift+ArrowDown")
    assert says(page).inner_text().startswith(sentence(3, 7, 4))
    page.context.set_offline(False)


def opens(page: Page, role: str) -> Locator:
    """Open a picture with the keyboard; returns its panel, once the arithmetic is shown."""
    page.locator(f".overview .pic[data-role={role}]").first.focus()
    page.keyboard.press("Enter")
    panel = page.locator(".overview .panel")
    expect(panel.locator("p, .strip").nth(1)).to_be_visible()
    return panel


def test_a_click_opens_a_picture_where_it_stands_and_its_page_is_one_link_away(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/{LINK}")
    tops = "[...document.querySelectorAll('.overview .pic')].map(p => p.getBoundingClientRect().top)"
    page.keyboard.press("ArrowDown")
    before = page.evaluate(tops)
    picture = page.locator(".overview .pic[data-role=w]")
    box = picture.bounding_box()
    assert page.evaluate(GLYPHS) == []
    for role in ("x0", "q", "k", "w", "n2"):  # shown under the mouse and with keyboard focus
        page.locator(f".overview .pic[data-role={role}]").hover()
        assert page.evaluate(GLYPHS) == [role]
    page.locator(".overview .pic[data-role=h]").focus()
    assert page.evaluate(GLYPHS) == ["h", "n2"]
    expect(picture).to_have_accessible_description(catalogue("en")["overview.look_closer"])
    picture.click(position={"x": box["width"] * 5.5 / 15, "y": box["height"] * 6.5 / 15})
    assert picture.bounding_box()["width"] > 1.5 * box["width"] and page.evaluate(tops) == before
    expect(page.locator(".overview .tip.seen")).to_have_count(0)  # it described a cell of the former layout
    panel = page.locator(".overview .panel")
    expect(panel).to_contain_text("the (6) → cross")
    page.locator(".overview .pic[data-role=q]").click(position={"x": 5, "y": box["height"] * 6.5 / 15})
    assert picture.bounding_box()["width"] < box["width"], "another opens, and it is thin"
    page.keyboard.press("Escape")
    expect(panel).to_have_count(0)
    assert picture.bounding_box()["width"] == box["width"] and page.evaluate(tops) == before
    picture.click(position={"x": box["width"] * 5.5 / 15, "y": box["height"] * 6.5 / 15})
    panel.locator(".more").click()
    expect(page).to_have_url(re.compile("/attention"))
    found = asked(page.url)
    assert (found["layer"], found["head"], found["token"], found["key"]) == ("4", "7", "7", "6")


def test_the_numbers_of_an_opened_picture_are_the_runs_own_and_keys_walk_its_cells(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/{LINK}")
    trace = hidden()
    layer = "layers.2.attention"
    panel = opens(page, "w")
    expect(panel).to_contain_text("q · k = ")
    cells = page.locator(".overview .grid span").all_inner_texts()
    shown = [float(cell or 0) for cell in cells]
    assert np.abs(np.array(shown).reshape(15, 15) - trace[f"{layer}.weights"][6]).max() <= 0.0051
    for key, (i, j) in {"ArrowRight": (3, 6), "ArrowDown": (4, 6), "ArrowLeft": (4, 5), "ArrowUp": (3, 5)}.items():
        page.keyboard.press(key)
        for part, name in (("q · k =", "scores"), ("÷ √32 [=≈]", "scaled")):
            number = f"{trace[f'{layer}.{name}'][6, i, j]:.2f}".replace("-", "−")
            expect(panel).to_contain_text(re.compile(f"{part} {re.escape(number)}"))
        assert says(page).inner_text().startswith(sentence(3, 7, i))
    page.keyboard.press("Shift+ArrowRight")
    expect(panel).to_contain_text(f"q · k = {trace[f'{layer}.scores'][7, 3, 5]:.2f}".replace("-", "−"))
    page.keyboard.press("Shift+ArrowLeft")
    result = opens(page, "n1").locator(".result")
    expect(result).to_have_text(re.compile(r"\d"))
    row = trace["layers.2.norm_1"][3]
    assert result.inner_text().replace("−", "-") == f"{row[np.abs(row).argmax()]:.2f}"
    page.keyboard.press("ArrowDown")
    expect(panel).to_contain_text(re.compile(r"^not · "))
    panel = opens(page, "a")
    expect(panel).to_contain_text(f"{np.linalg.norm(trace['layers.2.attention.output'][4]):.2f}")
    panel = opens(page, "h")
    loud = np.sort(trace["layers.2.ffn.activation"][4])[::-1][:10]
    shown = panel.locator(".part span:last-child").all_inner_texts()
    assert shown == [f"{value:.2f}" for value in loud]
    panel = opens(page, "v")
    mean = np.argsort(-trace[f"{layer}.weights"][6, 4])[0]
    expect(panel.locator(".strip").first).to_contain_text(trace.tokens[mean])
    # Number of the cell pointed at; for V, its product in the sum.
    parts = {"q": "attention.Q", "k": "attention.K", "v": "attention.V", "a": "attention.output", "h": "ffn.activation"}
    for role, part in parts.items():
        panel = opens(page, role)
        numbers = trace[f"layers.2.{part}"]
        row = (numbers[6] if numbers.ndim == 3 else numbers)[7]
        picture = page.locator(f".overview .pic[data-role={role}]")
        box = picture.bounding_box()
        for share in (0.33, 0.71):
            picture.hover(position={"x": share * box["width"], "y": 7.5 / 15 * box["height"]})
            told = panel.locator("p").filter(has_text=f"of {len(row)}: ").first
            first = re.findall(r"\d+", told.inner_text().partition("”")[2].rpartition(" of ")[0])
            held = row[int(first[0]) - 1 : int(first[-1])]
            assert abs(int(first[0]) - 1 - share * len(row)) < len(row) / 20
            value = held[np.abs(held).argmax()]
            if role != "h":  # neurons are only known as the picture has them
                expect(told).to_contain_text(f": {value:.2f}".replace("-", "−"))
            if role == "v":
                weight = trace[f"{layer}.weights"][6, 4, 7]
                expect(panel).to_contain_text(f" · {held[0]:.2f} + … = ".replace("-", "−"))
                assert f"… + {weight:.2f}"[:8] in panel.inner_text()


# Lines of the panel.
LINES = """node => [...node.querySelectorAll('.sides')].map(line => line.innerText.replace(/\\s+/g, ' ').trim())"""


def test_a_sum_in_an_opened_picture_is_what_its_terms_give_as_they_are_written_or_says_about(
    page: Page, app_url: str
) -> None:
    opened(page, f"{app_url}/{LINK}")
    signs = []
    for role in ("x0", "s", "n1", "n2"):
        panel = opens(page, role)
        for key in ["ArrowRight"] * 8 + ["ArrowDown"] * 4:
            page.keyboard.press(key)
            before = ""
            for line in panel.evaluate(LINES):
                terms, sign, result = re.fullmatch(r"(.*?)(?: ([=≈]) (−?[\d.]+))?", line).groups()
                if sign and re.fullmatch(r"[\d.÷√·−+() ]+", terms):
                    terms = before + re.sub(r"√(\d+)", r"\1**.5", terms) if terms[0] == "÷" else terms
                    given = eval(terms.translate(str.maketrans("÷·−", "/*-")))
                    assert (sign == "=") == (f"{given:.2f}".replace("-0.00", "0.00") == result.replace("−", "-")), line
                    signs.append(sign)
                before = (result or "").replace("−", "-") or before
    panel, lengths = opens(page, "a"), []
    for _ in range(8):
        page.keyboard.press("ArrowUp")
        *parts, length = panel.locator(".part span:last-child, .sides b").all_inner_texts()
        given = sum(float(part.replace("−", "-")) for part in parts)
        assert (length[0] == "=") == (f"{given:.2f}" == length[2:]), length
        lengths.append(length[0])
    assert set(signs) == set(lengths) == {"=", "≈"} and len(signs) > 40


@pytest.mark.usefixtures("own_tab")
def test_a_row_that_is_pointed_at_has_its_own_numbers_and_its_own_answer(page: Page, app_url: str) -> None:
    """Numbers are displayed as recorded, with as many digits as the picture's numbers have."""
    trace = hidden()
    answers = answers_of(trace, asked=[3])
    names, keys = placed(trace.tokens), keys_of(trace.graph, 2) | {"x0": key_before(trace.graph)}
    opened(page, f"{app_url}/{LINK}")
    for row, role in enumerate(["x0", "q", "k", "s", "w", "v", "a", "n1", "h", "n2"]):
        picture = page.locator(f".overview .pic[data-role={role}]")
        box = picture.bounding_box()
        recorded = trace[keys[role]]
        numbers = (recorded[6] if recorded.ndim == 3 else recorded)[row]
        for share in (0.25, 0.55, 0.9):
            picture.hover(position={"x": share * box["width"], "y": (row + 0.5) / 15 * box["height"]})
            told = page.locator(".overview .tip").inner_text().replace(f"“{names[row]}”", "", 1)
            if role in ("s", "w"):
                number = numbers[int(share * 15)]
            else:
                first = re.findall(r"\d+", told.rpartition(" of ")[0])
                held = numbers[int(first[0]) - 1 : int(first[-1])]
                number = held[np.abs(held).argmax()]
            written = told.rpartition(": ")[2].replace("−", "-")
            digits = len(written.partition(".")[2])
            assert abs(float(written)) == float(f"{abs(number):.{digits}f}") and digits, role
        assert guesses(page) == [(word, decimal(share)) for word, share in answers.rows[row]]
        assert f"“{trace.tokens[row]}”" in page.locator(".overview .answer-title").inner_text()
        start = float(page.locator(".overview path.out:not(defs path)").get_attribute("d").split("H")[0].split()[1])
        mark = page.locator(".overview .mark").first.evaluate(
            "({ offsetTop, offsetHeight }) => offsetTop + offsetHeight / 2"
        )
        assert start == pytest.approx(mark + row * (box["height"] / 15), abs=1)
    page.mouse.move(2, 2)
    expect(page.locator(".overview .bars .bar-name").first).to_have_text(answers.rows[3][0][0])
    assert guesses(page) == [(word, decimal(share)) for word, share in answers.rows[3]]

    for link, said in (
        ("s=the+dog+chased+the+cat+.&token=2", "“the (1)” is copied"),
        ("s=the+dog+chased+the+cat+.&token=2&edits=embedding.sum~remove~token.2", "first guess in place of “the (1)”"),
        ("s=i+see+the+big+red+dog+.&other=i+see+the+dog+.&shown=against&token=5", "a token here has no counterpart"),
    ):
        opened(page, f"{app_url}/?{link}")
        expect(page.locator(".overview .say .read")).to_contain_text(said)
    page.locator(".overview .pic[data-role=x0]").click(position={"x": 30, "y": 4.5 / 9 * box["height"]})
    expect(page.locator(".overview .panel")).to_contain_text("a token here has no counterpart")


@pytest.mark.usefixtures("own_tab")
@pytest.mark.parametrize(
    ("link", "roles"), [(f"?lang=zh&s={TWENTY}", "x0 s w w v"), ("?lang=en&input=digit", "q w h n2 n2")]
)
def test_what_is_kept_as_pictures_open_and_close_stands_where_a_new_overview_puts_it(
    link: str, roles: str, page: Page, app_url: str
) -> None:
    """And nothing is measured twice: another picture needs a single layout."""
    page.set_viewport_size(DESK)
    opened(page, f"{app_url}/{link}")
    page.mouse.move(2, 2)
    click = "role => document.querySelector(`.overview .title[data-role=${role}]`).click()"
    for role in roles.split():
        page.evaluate(click, role)
        kept = page.evaluate(PLACES)
        for height in (901, 900):
            page.evaluate("document.querySelector('.overview .label').dataset.kept = ''")
            page.set_viewport_size({"width": 1440, "height": height})
            expect(page.locator(".overview [data-kept]")).to_have_count(0)
        assert kept == page.evaluate(PLACES), role
    counts = page.context.new_cdp_session(page)
    counts.send("Performance.enable")

    def layouts() -> float:
        every = {one["name"]: one["value"] for one in counts.send("Performance.getMetrics")["metrics"]}
        return every["LayoutCount"]

    for turn, role in enumerate(("s", "w", "v", "w", "s", "v")):
        before = layouts()
        page.evaluate(click, role)
        assert turn < 3 or layouts() - before <= 2, role
        page.wait_for_timeout(100)
    page.evaluate("document.querySelectorAll('.overview .panel canvas').forEach(strip => { strip.kept = true })")
    before = layouts()
    page.locator(".overview .pic[data-role=v]").hover(position={"x": 30, "y": 40})  # arithmetic of another cell
    page.wait_for_timeout(300)
    assert layouts() - before <= 2
    assert page.evaluate("document.querySelector('.overview .panel canvas').kept"), "strips are painted anew, not made"


def test_play_goes_through_a_layers_steps_then_card_by_card_and_comes_back(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/{LINK}")
    lens = answers_of(hidden(), asked=[3]).lens[3]
    page.locator(".overview .play").focus()
    page.keyboard.press("Enter")
    scrubber = page.get_by_role("slider", name=catalogue("en")["overview.scrubber"])
    expect(scrubber).to_have_attribute("max", "17")  # ten steps, six layers, the answer
    page.keyboard.press("Enter")
    expect(page.locator(".overview .play")).to_contain_text(catalogue("en")["overview.play"])  # paused
    scrubber.focus()
    page.keyboard.press("Home")
    said, numbers, read = [], [], []
    for frame in range(17):
        expect(scrubber).to_have_attribute("aria-valuetext", f"Step {frame + 1} of 17")
        said.append(says(page).inner_text())
        numbers.append(int(page.locator(".overview .number").inner_text()))
        read.append(page.locator(".overview .trail b").all_inner_texts()[-1:])
        page.keyboard.press("ArrowRight")
    assert len(set(said)) == 17 and said[0] == catalogue("en")["overview.film_word"].format(n=15)
    assert "{" not in "".join(said)
    assert numbers == [3] * 10 + [1, 2, 3, 4, 5, 6, 6] and read[:10] == [[]] * 10
    for layer, bars in enumerate(lens):
        level = [name for name, value in bars if round(value, 2) == max(round(other, 2) for _, other in bars)]
        word = " = ".join(level) if len(level) < 3 else catalogue("en")["overview.trail_level"]
        assert read[10 + layer] == [word] and (len(level) > 1 or f"“{word}”" in said[10 + layer])
    page.locator(".overview .play").focus()
    page.keyboard.press("ArrowLeft")
    expect(scrubber).to_have_value("16")
    page.keyboard.press("Escape")
    expect(page.locator(".overview.playing")).to_have_count(0)
    expect(scrubber).to_have_count(0)
    assert says(page).inner_text().startswith(sentence(3, 7, 3))
    assert page.locator(".overview .number").inner_text() == "3"


def test_played_without_motion_nothing_moves(page: Page, app_url: str) -> None:
    moving = "document.querySelector('.overview').getAnimations({ subtree: true }).length"
    opened(page, f"{app_url}/{LINK}")
    for motion in ("no-preference", "reduce"):
        page.wait_for_function(f"!{moving}")  # earlier motion has ended
        page.emulate_media(reduced_motion=motion)
        page.locator(".overview .play").click()
        page.locator(".overview .scrubber input").focus()
        page.keyboard.press("End")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("ArrowLeft")
        assert bool(page.evaluate(moving)) == (motion != "reduce")
        assert page.locator(".overview .number").inner_text() == "5"
        page.keyboard.press("Escape")


def test_a_sentence_is_typed_in_the_line_and_two_quick_enters_lose_nothing(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/{LINK}")
    page.locator(".sentence .type").click()
    page.keyboard.press("Escape")
    expect(page.locator(".sentence .chip")).to_have_count(13)
    for typed in ("first we go .", "then <b>we</b> sleep ."):
        page.locator(".sentence .type").click()
        page.keyboard.insert_text(typed)
        page.keyboard.press("Enter")
    expect(page.locator(".overview .label", has_text="sleep")).to_have_count(1)
    assert asked(page.url)["s"] == "then <b>we</b> sleep ."


# -- what is read ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "size"),
    [
        ("lang=zh", DESKS[0]),
        (f"lang=en&s={TWENTY}", DESKS[1]),
        ("lang=zh&input=digit", DESKS[1]),
        ("lang=en&input=flat", DESKS[0]),
        ("lang=en&model=paper", DESKS[1]),
    ],
)
def test_no_two_words_stand_on_each_other_and_nothing_scrolls(
    query: str, size: tuple[int, int], page: Page, app_url: str
) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    opened(page, f"{app_url}/?{query}")
    assert overlapping(page) == []
    say = page.locator(".overview .say").bounding_box()
    assert "model" in query or page.evaluate(BOTTOM) <= size[1]
    assert say["y"] + say["height"] <= size[1] + 1
    assert page.evaluate("document.documentElement.scrollWidth") <= size[0]
    for role in ("x0", "s", "w", "v", "a", "n1", "h", "n2"):
        panel = opens(page, role)
        assert overlapping(page) == [], role
        cut = panel.evaluate("node => [node.scrollHeight - node.clientHeight, node.scrollWidth - node.clientWidth]")
        assert max(cut) <= 1, role
        assert "model" in query or page.evaluate(BOTTOM) <= size[1]
    look = serious if "zh" in query or "flat" in query else lambda _: []  # English pages are checked by axe elsewhere
    wrong = look(page)
    page.locator(".overview .play").click()
    scrubber = page.locator(".overview .scrubber input")
    for key in ("End", "ArrowLeft"):
        scrubber.press(key)
        assert overlapping(page) == []
    assert wrong + look(page) == []
    assert "model" in query or page.evaluate(BOTTOM) <= size[1]


def test_in_a_presentation_it_fills_the_screen_and_is_read_from_the_last_row(page: Page, app_url: str) -> None:
    page.set_viewport_size(PROJECTOR)
    for query, least in {"lang=en": 18, f"lang=en&s={TWENTY}": 17, "lang=zh": 18, "lang=zh&input=digit": 14}.items():
        if TWENTY in query:  # typing lays it out as opening does
            visit(page, f"{app_url}/?{query}&big=true")
            expect(page.locator(".overview .label", has_text="home")).to_be_visible()
        else:
            opened(page, f"{app_url}/?{query}&big=true")
        assert page.locator(".overview").bounding_box()["height"] >= 0.8 * 720
        assert overlapping(page) == [] and not page.evaluate(SCROLLS)
        sizes = page.evaluate(SIZES)
        assert min(size for part in sizes.values() for size in part) >= least, query
        assert len(sizes[".caption"]) >= 12, "every picture says what it is"
        high = page.locator(".overview .thumb").first.bounding_box()
        page.locator(".overview .thumb").nth(1).focus()
        expect(page.locator(".overview .thumb").first).to_have_attribute("title", re.compile(r"\d.*\d"))
        assert page.locator(".overview .thumb").first.bounding_box() == high, "bars take no room"


def test_on_a_phone_pictures_stand_below_each_other_and_nothing_is_wider(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/?lang=en")
    for width in (1440, 1280, 1000, 950, 900, 850, 320, 390):
        page.set_viewport_size({"width": width, "height": 844})
        page.wait_for_timeout(100)
        shares, lengths = np.array(page.evaluate(BARS)).T
        assert lengths[0] >= 12, width
        np.testing.assert_allclose(lengths / lengths[0], shares / shares[0], atol=0.07)
    assert overlapping(page) == []
    expect(page.locator(".overview .head .name:visible")).to_have_text(["Layer", "Head"])
    rights = page.evaluate("[...document.querySelectorAll('.overview *')].map(n => n.getBoundingClientRect().right)")
    assert max(rights) <= 390
    answer, pictures = (page.locator(f".overview {part}").first.bounding_box() for part in (".answer", ".pic"))
    assert answer["y"] < pictures["y"]
    opened(page, f"{app_url}/?lang=en&layer=6&token=1")  # [CLS], where nothing is read
    page.locator(".overview .label").nth(3).click()
    page.keyboard.press("ArrowUp")
    assert overlapping(page) == []
    page.locator(".overview .title[data-role=w]").click()
    sheet = page.get_by_role("dialog")
    expect(sheet).to_contain_text("softmax over the row")
    assert overlapping(page, ".opened-sheet") == []
    expect_overview(page)
    above = page.evaluate(SCROLLED)
    assert above > 0
    assert page.evaluate("document.elementFromPoint(120, 15).closest('.stays') !== null")
    sheet.locator(".pic").click(position={"x": 100, "y": 100})
    assert sheet.bounding_box()["width"] == 390 and sheet.evaluate("node => node.scrollWidth") <= 390
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Escape")
    expect(sheet).to_have_count(0)
    assert page.evaluate(SCROLLED) == above, "what is beside it stays where it was"
    page.evaluate(f"{SCROLLED} = 1e6")
    opens(page, "h")
    expect(page.locator(".opened-sheet:popover-open")).to_be_visible()  # over all that follows
    page.keyboard.press("Escape")
    page.locator(".overview .play").click()
    page.locator(".overview .scrubber input").press("Home")
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    expect(page.locator(".overview .glow")).to_be_in_viewport(ratio=0.5)
    page.locator(".overview .scrubber .close").click()
    expect(page.locator(".overview.playing")).to_have_count(0)


# -- a head is switched off, a word hidden -----------------------------------------------------------------------------

TURN = "Turn head 7 of layer 3 "
# Widths of the bars under the heads, as shares of their tiles.
WIDTHS = "bars => bars.map(bar => bar.getBoundingClientRect().width / bar.parentNode.offsetWidth)"


def guesses(page: Page) -> list[tuple[str, str]]:
    """The answer's bars: names and shares."""
    bars = page.locator(".overview .stack > .bars").first
    return list(
        zip(bars.locator(".bar-name").all_inner_texts(), bars.locator(".bar > span").all_inner_texts(), strict=True)
    )


def without(*, off: bool) -> list[tuple[str, str]]:
    """The answer to the hidden sentence, with head 7 of layer 3 on or off."""
    trace = hidden(*[head_off(2, 6)] * off)
    return [(name, decimal(share)) for name, share in answers_of(trace).rows[3]]


def test_a_head_is_switched_off_and_on_by_keys_on_home_and_by_a_click_in_the_laboratory(
    page: Page, app_url: str
) -> None:
    opened(page, f"{app_url}/{LINK}")
    top = "document.querySelector('.overview .thumb').getBoundingClientRect().top"
    before = page.evaluate(top)
    assert guesses(page) == without(off=False)
    page.get_by_role("button", name=f"{TURN}off", exact=True).press("Enter")
    expect(page.locator(".overview .thumb.away")).to_have_count(1)
    assert guesses(page) == without(off=True) and "layers.2.attention.heads~zero~head.7" in asked(page.url)["edits"]
    assert (
        abs(page.evaluate(top) - before) < 4
        and page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
    )
    (lean,) = without_heads(load("text")(hidden().subject, [head_off(2, 6)]), 3)["lean"].values()
    lean = np.array(lean)
    for head in (2, 7):  # the bars show what each head moves in this run: one that is off, nothing
        said = f"Head {head}: without it, {decimal(lean[2, head - 1])} of the probability moves"
        expect(page.locator(".overview .thumb").nth(head - 1)).to_have_attribute("aria-label", said)
    shown = page.locator(".overview .lean").evaluate_all(WIDTHS)
    np.testing.assert_allclose(shown, lean[2] / lean.max(), atol=0.03)
    walk_to(page, "what_if")
    chart = page.locator(".st-key-what_if-heads .js-plotly-plot")
    click_cell(page, chart, 2, 6)
    page.wait_for_url(lambda url: "edits" not in asked(url))
    page.get_by_role("link", name="Glass Encoder").click()
    expect_overview(page)
    expect(page.locator(".overview .thumb.away")).to_have_count(0)


@pytest.mark.usefixtures("own_tab")
def test_bars_are_true_where_all_heads_move_alike_little_or_nothing(page: Page, app_url: str) -> None:
    opened(page, f"{app_url}/{LINK}")
    for value, share, said in ((0.2, 1, "0.20"), (0.004, 0.4, "0.004"), (0, 0, "0")):
        page.evaluate(
            "x => { document.querySelector('.overview').run.lean = { 3: Array(6).fill(Array(8).fill(x)) } }", value
        )
        page.keyboard.press("ArrowDown")
        shown = page.locator(".overview .lean").evaluate_all(WIDTHS)
        assert shown == pytest.approx([share] * 8, abs=0.03)
        names = page.locator(".overview .thumb").evaluate_all("tiles => tiles.map(tile => tile.ariaLabel)")
        assert names[2] == f"Head 3: without it, {said} of the probability moves"
    page.evaluate("document.querySelector('.overview').run.lean = { 3: [] }")  # as if too large to be measured
    page.keyboard.press("ArrowUp")
    assert page.locator(".overview .lean").evaluate_all(WIDTHS) == [0] * 8
    assert page.locator(".overview .thumb").first.get_attribute("aria-label") == "Head 1"


# What Home's component sends while the server is busy, and after it has received all.
SENDS = """async script => {
  const { default: component } = await import(URL.createObjectURL(new Blob([script], { type: 'text/javascript' })))
  document.body.innerHTML = '<div class="overview"></div>'
  const seen = [], place = { layer: 2, head: 6 }
  const setTriggerValue = (event, sent) => seen.push([event, ...sent.map(({ number, head }) => head ?? number)])
  const overview = (root, run, { on }) => { root.on = on; return { place, go() {} } }
  component({ data: {}, parentElement: document.body, setTriggerValue }, { fromBytes: run => run, overview })
  const { on } = document.querySelector('.overview')
  on.off(2, 6)
  on.off(4, 1)
  on.place(place)
  document.overviewPlace = { heard: seen.at(-1)[1], place: {} }
  on.place(place)
  return seen
}"""


def test_no_head_that_is_switched_off_is_lost_where_the_server_is_busy(page: Page) -> None:
    seen = page.evaluate(SENDS, content(SCRIPTS["overview"]).decode())
    both = ["off", [2, 6], [4, 1]]
    assert seen[:3] == [["off", [2, 6]], both, both]
    assert [event for event, _ in seen[3:]] == ["place", "place"] and seen[3][1] < seen[4][1]


def test_on_a_phone_a_head_is_switched_off_and_a_word_hidden_by_touch(phone: Page, app_url: str) -> None:
    opened(phone, f"{app_url}/?lang=en&s={SENTENCE}&hidden=none&layer=3&head=1&token=4")
    assert len(phone.evaluate(GLYPHS)) == 11, "nobody points there: it stands at each column that opens"
    expect(phone.locator(".sentence .offer")).to_be_visible()
    phone.locator(".overview .thumb").nth(6).tap()
    phone.get_by_role("button", name=f"{TURN}off", exact=True).tap()
    expect(phone.locator(".overview .thumb.away")).to_have_count(1)
    phone.get_by_role("button", name=f"{TURN}on again", exact=True).tap()
    expect(phone.locator(".overview .thumb.away")).to_have_count(0)
    phone.locator(".sentence .chip").nth(2).tap()
    expect(phone.locator(".sentence .offer")).to_be_hidden()
    expect(phone.locator(".overview .label.on").first).to_have_text(re.compile(r"\[MASK\]"))
    expect(phone.locator(".sentence .chip[aria-pressed=true]")).to_have_count(1)


# -- one file, without a network -------------------------------------------------------------------------------------


@pytest.fixture
def from_disk(browser: Browser, tmp_path: Path) -> Callable[[str], Page]:
    """Opens a run's file with the network cut."""

    def open_file(name: str) -> Page:
        trace = load("text")("the animal [MASK] not cross the street .") if name == "text" else load("digits")(digit())
        path = trace.overview(layer=2, head=1).save(tmp_path / "run.html")
        context = browser.new_context(viewport={"width": 1440, "height": 860}, offline=True)
        page = context.new_page()
        page.failed = []  # type: ignore[attr-defined]
        page.on("pageerror", lambda error: page.failed.append(str(error)))  # type: ignore[attr-defined]
        return opened(page, path.as_uri())

    return open_file


def digit() -> np.ndarray:
    image: np.ndarray = np.zeros((28, 28), np.float32)
    image[5:23, 13:16] = 1
    return image


@pytest.mark.parametrize("name", ["text", "digits"])
def test_the_file_of_a_run_hovers_steps_and_plays_without_a_network(name: str, from_disk: Callable) -> None:
    page = from_disk(name)
    first = says(page).inner_text()
    assert first.startswith("Layer 3, head 2: ")
    expect(page.locator(".overview .scrubber")).to_be_hidden()
    page.keyboard.press("ArrowRight")
    assert says(page).inner_text().startswith("Layer 3, head 3: ")
    page.locator(".overview .pic[data-role=h]").hover()
    assert "neuron" in page.locator(".overview .tip").inner_text()
    page.mouse.move(2, 2)
    page.keyboard.press(" ")
    expect(page.locator(".overview.playing")).to_have_count(1)
    page.locator(".overview .scrubber input").press("End")
    assert page.locator(".overview .trail b").count() > 0
    page.keyboard.press("Escape")
    expect(page.locator(".overview.playing")).to_have_count(0)
    if name == "text":
        run = load("text")("the animal [MASK] not cross the street .", [head_off(2, 4)])
        other = [(word, decimal(share)) for word, share in answers_of(run).rows[3]]
        turn = page.get_by_role("button", name="Turn head 5 of layer 3 off", exact=True)
        page.locator(".overview .tile").nth(4).hover()
        turn.click()
        assert guesses(page) == other and page.locator(".overview .lens").count() == 0
        expect(says(page)).to_contain_text("Head 5 of layer 3 is off")
        page.locator(".overview .label").nth(1).click()
        expect(page.locator(".overview .answer-title")).to_contain_text("is not in this file")
        page.locator(".overview .tile").nth(0).hover()
        page.get_by_role("button", name="Turn head 1 of layer 3 off", exact=True).click()
        expect(page.locator(".overview .thumb.away")).to_have_count(1)
        page.get_by_role("button", name="Turn head 1 of layer 3 on again", exact=True).click()
        expect(page.locator(".overview .thumb.away")).to_have_count(0)
    assert page.failed == []
    page.context.close()


def test_the_run_of_a_picture_in_two_hundred_patches_fits_the_screen(page: Page, tmp_path: Path) -> None:
    names = dict(enumerate(["tabby cat", "LABEL_1", "pug", "golden retriever", "streetcar, tram, tramcar"]))
    large = PICTURES | {"intermediate_size": 40, "image_size": 224, "patch_size": 16, "id2label": names}
    network_in(tmp_path / "vit", family="ViT", head="ForImageClassification", settings=large)
    trace = load(str(tmp_path / "vit"))(images.ready(images.READY[0]))
    assert len(trace.tokens) == 197
    html = trace.overview().html
    presented = html.replace("<html", '<html class="big" style="font-size: 20px"', 1)
    for (width, height), shown in ((DESKS[0], html), (DESKS[1], html), (DESKS[1], presented)):
        page.set_viewport_size({"width": width, "height": height})
        page.set_content(shown)
        assert 400 < page.locator(".overview .frame").bounding_box()["height"] < height
        assert page.evaluate(CUT, ".label span, .stack > .bars .bar-name") == [*names.values()][3:], "they end in …"
        numbers = [one.bounding_box() for one in page.locator(".overview .bar span").all()]
        assert page.evaluate(CUT, ".bar span") == [] and all(one["x"] + one["width"] <= width for one in numbers)
