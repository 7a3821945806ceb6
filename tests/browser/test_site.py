"""The site: what the browser computes equals a trace, and nothing leaves the browser."""

import base64
import gzip
import json
import re
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from model import Edit, Trace, examples, load
from model.analysis import softmax
from model.digits import DigitError
from model.measures.sweep import moved
from model.measures.tables import head_roles
from model.overview import answers_of
from model.overview.opened import leaves, names_of
from model.overview.packing import pack
from model.overview.pictures import PAGE_OF, key_before, keys_of
from model.overview.site import OPENED, make_site
from model.pipeline import InputError
from pages.drawing.state import sketch
from pages.drawing.state.choice import Choice
from pages.drawing.text.numbers import decimal
from tests.browser.conftest import hosted, kept_tab, lacking, tab, watched
from tests.browser.steps import DESK, PROJECTOR, asked, expect_overview, overlapping, serious
from tests.model.making import theirs

FIRST = "the animal did not cross the street because it was too tired ."
TWENTY = "the old man who lived near the river walked slowly home because his small boat was broken ."
UNHAPPY = "the unhappy cat sleeps ."
HOSTILE = "the cat </script><img src=x onerror=alert(1)> <b>sat</b> {name} “it” [mask] ${x}"
#: Typed text, hidden words (as in the address), heads that are off: (layer, head) from 0.
SENTENCES: list[tuple[str, str, list[tuple[int, int]]]] = [
    (TWENTY, "none", []),
    ("我", "none", []),
    (FIRST, "4", []),
    ("今天天气很好，我们去公园玩吧。", "11", []),
    (HOSTILE, "none", []),
    ("the cat sat on the [MASK] .", "none", []),
    ("我 love 你 . 今天天气很[MASK]。", "5.6", []),
    ("天气很好" * 20, "none", []),
    (FIRST, "none", [(1, 3), (4, 0)]),
]
# How far the page scrolls, once drawn.
SCROLLS = """async () => {
  const far = () => document.scrollingElement.scrollHeight - innerHeight
  for (let i = 0; i < 60 && far() > 0; i++) await new Promise(requestAnimationFrame)
  return far()
}"""
# All that the painter asks of the run: every map, the rows behind its cells, the answers.
SHOWN = """rows => {
  const { run } = document.querySelector('.overview'), { layers, heads } = run.sizes, maps = {}
  const text = numbers => {
    let all = ''
    for (const byte of new Uint8Array(numbers.slice().buffer)) all += String.fromCharCode(byte)
    return btoa(all)
  }
  for (const role in run.keys) for (let layer = 0; layer < (role === 'x0' ? 1 : layers); layer++)
    for (let head = 0; head < (run.arrays[role].heads > 1 ? heads : 1); head++)
      maps[`${role}.${layer}.${head}`] = text(run.map(role, layer, head).numbers)
  const tops = Object.fromEntries(Object.entries(run.arrays).map(([role, { top }]) => [role, top]))
  const { tokens, answers, pictures, special } = run, exact = rows.map(place => [...run.exact(...place, 1) ?? []])
  return { maps, tops, tokens, answers, pictures, special, exact, best: run.strongest(2, 1, Math.min(1, run.n - 1)) }
}"""
PIXELS = "[...atob(document.querySelector('.overview').run.drawing.pixels)].map(sign => sign.charCodeAt())"
AWHILE = 20  # seconds


pytestmark = pytest.mark.usefixtures("goes_on")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, with a gallery of an encoder whose folder and sentences are hostile.

    Without npm the tests are skipped; in CI they fail.
    """
    if shutil.which("npm") is None:
        lacking("no npm on this machine (Debian: apt-get install npm)")
    room = tmp_path_factory.mktemp("host")
    encoder = shutil.copytree(theirs("BertForMaskedLM")[1], room / "a \"b\" 'c' <img src=x onerror=alert(1)>")
    (room / "sentences").write_text(f"\ufeff\nthe cat sat on the mat\n\n{HOSTILE}\nthe cat sat on the mat\n", "utf-8")
    folder = room / "below" / "a path"
    make_site(folder, runs=[str(encoder)], sentences=room / "sentences")
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """Address of the hosted site, below a path."""
    with hosted(folder.parents[1]) as address:
        yield f"{address}/below/a%20path/"


@pytest.fixture
def errors() -> list[str]:
    """Console errors and violations of the content policy; there must be none at the end."""
    return []


@pytest.fixture(scope="module")
def visits(browser: Browser, browser_context_args: dict) -> Iterator[BrowserContext]:
    """A window without service workers."""
    with browser.new_context(**browser_context_args, service_workers="block") as context:
        yield context


@pytest.fixture
def page(
    visits: BrowserContext,
    browser_context_args: dict,
    site: str,
    requests: list[str],
    errors: list[str],
    request: pytest.FixtureRequest,
) -> Iterator[Page]:
    """A tab of that window. No request leaves the folder."""
    own = "own_tab" in request.fixturenames
    with watched(visits, requests), tab(visits) if own else kept_tab(visits, browser_context_args, request) as page:
        yield heard(page, errors)
    assert not errors
    assert [url for url in requests if not url.startswith((site, "data:", "blob:"))] == []


def heard(page: Page, errors: list[str]) -> Page:
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda told: told.type == "error" and errors.append(told.text))
    return page


# Go to another address within the page, and wait until its run is painted.
LED = """link => new Promise(done => {
  document.addEventListener('followed', done, { once: true })
  history.pushState(null, '', link)
  dispatchEvent(new PopStateEvent('popstate'))
})"""


def opened(page: Page, address: str) -> Page:
    """Open an address and wait until the engine has painted it; an engine that is running is reused."""
    if page.url.partition("?")[0] == address.partition("?")[0] and page.locator("html.alive").count():
        page.evaluate(LED, address)
    else:
        page.goto(address)
        page.wait_for_selector("html.alive", state="attached")
    return page


def near(found: np.ndarray, own: np.ndarray, name: str) -> None:
    """Within 1e-4 of the largest number."""
    np.testing.assert_allclose(found, own, atol=1e-4 * np.abs(own).max(), rtol=0, err_msg=name)


def assert_runs(page: Page, trace: Trace) -> None:
    """The page's tokens and answers are the trace's."""
    tokens, rows = page.evaluate(
        "(({ tokens, answers }) => [tokens, answers.rows])(document.querySelector('.overview').run)"
    )
    assert tokens == trace.tokens
    for place, bars in answers_of(trace).rows.items():
        found = rows[str(place)]
        assert [name for name, _ in found] == [name for name, _ in bars]
        assert [share for _, share in found] == pytest.approx([share for _, share in bars], abs=1e-4)


def assert_shows(page: Page, trace: Trace) -> None:
    """All numbers that the page paints or computes with, its answers and its colours are the trace's."""
    assert_runs(page, trace)
    config, rows = trace.config, {}
    for layer in range(config.layers):
        for name, key in (leaves(trace, layer, OPENED) | names_of(trace.graph, layer)).items():
            own = trace[key] if trace[key].ndim == 3 else trace[key][None]
            rows |= {(name, layer, head): own[head, 1] for head in {0, min(2, len(own) - 1)}}
    seen = page.evaluate(SHOWN, [*rows])
    for (place, own), found in zip(rows.items(), seen["exact"], strict=True):
        near(np.array(found), own, str(place))
    keys = [keys_of(trace.graph, layer) for layer in range(config.layers)]
    for name, text in seen["maps"].items():
        role, layer, head = name.split(".")
        own = trace[key_before(trace.graph) if role == "x0" else keys[int(layer)][role]]
        own = own if own.ndim == 2 else own[int(head)]
        near(np.frombuffer(base64.b64decode(text), "<f4").reshape(own.shape), own, name)
    packed = pack(trace).about
    assert [one["shape"] for one in seen["pictures"]] == [one["shape"] for one in packed["pictures"]]
    assert seen["special"] == packed["special"]
    for role, top in seen["tops"].items():
        assert top == pytest.approx(packed["arrays"][role]["top"], rel=1e-4), role
    row = trace["layers.2.attention.weights"][1, min(1, len(trace.tokens) - 1)]
    assert seen["best"][:2] == [row.argmax(), pytest.approx(row.max(), abs=1e-4)]
    for place, layers in seen["answers"]["lens"].items():
        read = load("text" if trace.ids else "digits").read_states(trace.states()[1:], max(int(place), 0))
        for bars, own in zip(layers, read, strict=True):
            best = np.argsort(-own)[: len(bars)] if trace.ids else range(len(own))
            assert [name for name, _ in bars] == [trace.outputs[i] for i in best]
            assert [share for _, share in bars] == pytest.approx([own[i] for i in best], abs=1e-4)


def soon_runs(page: Page, find: Callable[[], Trace], pixels: list[int] | None = None) -> None:
    """The page's tokens and answers soon are the trace's, and its drawing is the one given."""
    end = time.monotonic() + AWHILE
    while True:
        try:
            assert pixels is None or page.evaluate(PIXELS) == pixels
            return assert_runs(page, find())
        except AssertionError:
            if time.monotonic() > end:
                raise
            page.wait_for_timeout(100)


def ran(sentence: str, hidden: str = "none", off: list[tuple[int, int]] | None = None) -> Trace:
    text = load("text")
    places = [int(place) - 1 for place in hidden.split(".")] if hidden != "none" else []
    return text(text.reader.hide(text.reader.read(sentence).ids, places), edits=cut(off or []))


def drawn(page: Page, off: list[tuple[int, int]] | None = None) -> Trace:
    return load("digits")(bytes(page.evaluate(PIXELS)), edits=cut(off or []))


def cut(off: list[tuple[int, int]]) -> list[Edit]:
    return [Edit(f"layers.{layer}.attention.heads", "zero", head=head) for layer, head in off]


def in_link(off: list[tuple[int, int]]) -> str:
    return "~~".join(f"layers.{layer}.attention.heads~zero~head.{head + 1}" for layer, head in off)


# -- what is computed ---------------------------------------------------------------------------------------------


def test_all_that_is_painted_of_a_sentence_is_what_a_trace_records(page: Page, site: str) -> None:
    for sentence, hidden, off in SENTENCES:
        trace = ran(sentence, hidden, off)
        opened(page, f"{site}?{urlencode({'lang': 'en', 's': sentence, 'hidden': hidden, 'edits': in_link(off)})}")
        assert_shows(page, trace)
        assert page.locator("img, header b").count() == 0
        assert page.locator("#sentence").input_value() == sentence
        if off:
            now, then = (softmax(run["logits"])[1] for run in (trace, ran(sentence)))
            moved = trace.outputs[int(np.abs(now - then).argmax())]
            expect(page.locator(".overview .note")).to_contain_text(moved)
        fits(page, sentence, off)
        page.locator(".overview .pic[data-role=w]").click(position={"x": 5, "y": 5})
        expect(page.locator(".overview .panel p").first).to_be_visible()
        expect(page.locator(".overview .panel")).not_to_contain_text("not at hand")
        fits(page, sentence, off)
        page.keyboard.press("Escape")
        expect(page.locator(".overview .panel")).to_have_count(0)


def fits(page: Page, sentence: str, off: list) -> None:
    """The longest and the shortest run, and one with heads off, need no scrolling."""
    for size in (DESK, PROJECTOR) if off or sentence in (TWENTY, "我") else ():
        page.set_viewport_size(size)
        assert page.evaluate(SCROLLS) <= 0, (sentence, size)


def test_all_that_is_painted_of_a_digit_is_what_a_trace_records(page: Page, site: str, requests: list[str]) -> None:
    opened(page, f"{site}?lang=en&input=digit")
    assert_shows(page, drawn(page))
    for which, off in ((3, []), (8, [(0, 1)]), (1, [(2, 2), (4, 3)])):
        ink = sketch.to_code(sketch.example(which))
        opened(page, f"{site}?{urlencode({'lang': 'en', 'input': 'digit', 'edits': in_link(off), 'ink': ink})}")
        own = np.frombuffer(sketch.ink(sketch.example(which)), np.uint8)
        assert_shows(page, load("digits")(own.tobytes(), edits=cut(off)))
        assert np.abs(np.array(page.evaluate(PIXELS)) - own).max() <= 1
        assert page.locator(".overview .note").count() == (1 if off else 0)
    assert not [url for url in requests if "text.onnx" in url or "tokenizer.json" in url], "only what digits need"


def drawings(count: int) -> list[bytes]:
    """Drawings as sent by the pad: digits, random strokes, and no digits."""
    random, (y, x) = np.random.default_rng(0), np.mgrid[:112, :112]
    found = [*map(sketch.example, range(10)), *map(sketch.from_picture, examples.digits())]
    for value in (np.zeros((112, 112)), np.full((112, 112), 3), random.integers(0, 4, (112, 112))):
        found.append(sketch.pack(value))
    for half in (1, 15, 40):  # dots, a patch; and one on a dark ground
        found.append(sketch.pack(3 * (np.maximum(abs(y - 56), abs(x - 56)) <= half)))
    found.append(sketch.pack(np.where((abs(y - 56) < 40) & (abs(x - 60) < 5), 0, 3)))
    while len(found) < count:
        ink = np.zeros((112, 112))
        for _ in range(random.integers(1, 4)):
            at, step, width = random.uniform(20, 92, 2), random.normal(0, 3, 2), random.uniform(0.5, 6)
            for _ in range(random.integers(1, 40)):
                ink = np.maximum(ink, np.clip(width + 0.5 - np.hypot(y - at[0], x - at[1]), 0, 1))
                step, at = step + random.normal(0, 1, 2), np.clip(at + step, 0, 111)
        found.append(sketch.pack((ink * 3).round()))
    return found


def test_a_drawing_is_prepared_and_written_in_the_address_as_the_app_does(page: Page, site: str) -> None:
    opened(page, f"{site}?lang=en")
    all_of_them = drawings(100)
    found = page.evaluate(
        """async ([drawings, codes]) => {
          const { prepare, toCode, fromCode } = await import(new URL('drawing.js', document.baseURI))
          const text = bytes => bytes && btoa(String.fromCharCode(...bytes)), read = []
          for (let i = 0; i < drawings.length; i++) {
            const packed = Uint8Array.from(atob(drawings[i]), sign => sign.charCodeAt())
            const { bytes, problem } = prepare(packed)
            read.push([problem ?? [...bytes], await toCode(packed), text(await fromCode(codes[i]))])
          }
          return [read, await fromCode('nonsense') ?? null, await fromCode(codes[0].slice(0, 40)) ?? null]
        }""",
        [[base64.b64encode(one).decode() for one in all_of_them], list(map(sketch.to_code, all_of_them))],
    )
    assert found[1:] == [None, None]
    for drawing, (ink, code, packed) in zip(all_of_them, found[0], strict=True):
        assert sketch.from_code(code) == drawing == base64.b64decode(packed)
        try:
            own = np.frombuffer(sketch.ink(drawing), np.uint8)
        except DigitError as error:
            assert ink == f"digit_{error.reason}"
        else:
            assert np.abs(np.array(ink) - own).max() <= 1  # of 255, by rounding


def odd(count: int) -> list[str]:
    """Unusual strings: many scripts, alone and among words, marks, spaces, unassigned characters."""
    random = Random(0)
    words = "the unhappy Café naïve ＡＩ ， 。 我们 體驗 龍 𠮷 한국 かな"
    words += " مرحبا שלום हिन्दी ไทย 😀 👩‍👩‍👧 🇨🇳 é e\u0301 ﬁ Ⅳ ① ½ ß İ Σς … —"
    more = "[MASK] [mask] [CLS] [SEP] [UNK] [PAD] ##ing <b> &amp; $x$ ` \\ ' ’ “ don't 3.14 1,000"
    more += " a_b @#% ＦＵＬＬ ｶﾀｶﾅ ㎏ ǆ ŉ ゛ ー 々 〇 㐀 豈"
    signs = "\u200b\u200d\ufeff\u00ad\u2028\t\r\n\x00\x07\x7f\x85\u3000\xa0\ue000\uf8ff\U0010ffff\ufffd"
    parts = [*words.split(" "), *more.split(" "), *signs, "x" * 90, "http://a.b/c?d=e"]
    alone = [*parts, "word " * 200, "我" * 1000, "x" * 1000, "Ａ" * 1000, " " * 50 + "we" + " " * 50]
    mixed = (random.choice(("", " ")).join(random.choices(parts, k=random.randint(2, 9))) for _ in range(count))
    return [*alone, *mixed][:count]


def test_odd_sentences_are_cut_into_the_same_tokens(page: Page, site: str) -> None:
    opened(page, f"{site}?lang=en")
    sentences = odd(240)
    found = page.evaluate(
        """async sentences => {
          const { Reader } = await import(new URL('reader.js', document.baseURI))
          const reader = new Reader(await (await fetch('tokenizer.json')).json(), { most: 2000, maxLen: 64 })
          return sentences.map(sentence => reader.read(sentence))
        }""",
        sentences,
    )
    for sentence, read in zip(sentences, found, strict=True):
        try:
            own = load("text").reader.read(sentence)
        except InputError as error:
            assert read == {"problem": error.reason}, sentence
        else:
            assert read["ids"] == own.ids and read["tokens"] == own.tokens, sentence
            assert set(read["notes"]) == {note.reason for note in own.notes} - {"mask_cut"}, sentence


# -- what the reader does -----------------------------------------------------------------------------------------


def types(page: Page) -> None:
    """In a browser that refuses to change the address at each letter."""
    page.evaluate(
        """() => {
          const change = history.replaceState.bind(history)
          let left = 3
          history.replaceState = (...about) => { if (!left--) throw new Error('too often'); change(...about) }
        }"""
    )
    box = page.locator("#sentence")
    box.fill("")
    expect(page.locator("#status")).to_contain_text("empty")
    box.press_sequentially("we sleep .", delay=10)


def pastes(page: Page) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.evaluate("navigator.clipboard.writeText('we\\nsleep .')")
    page.locator("#sentence").press("ControlOrMeta+a")
    page.keyboard.press("ControlOrMeta+v")


def composes(page: Page) -> None:
    """Type with an input method: unconfirmed text is run as well, and composition is not disturbed."""
    page.locator("#sentence").press("ControlOrMeta+a")
    keyboard = page.context.new_cdp_session(page)
    for letters, sign in (("wo", "我"), ("ai", "爱")):
        keyboard.send("Input.imeSetComposition", {"text": letters, "selectionStart": 2, "selectionEnd": 2})
        soon_runs(page, lambda: ran(page.locator("#sentence").input_value()))
        keyboard.send("Input.insertText", {"text": sign})


def turns_off(page: Page) -> None:
    for head in (2, 0):
        page.locator(".overview .tile").nth(head).hover()
        page.get_by_role("button", name=f"Turn head {head + 1} of layer 2 off", exact=True).click()
        expect(page.locator(".overview .note")).to_have_count(1)
    expect(page.locator(".overview .thumb.away")).to_have_count(2)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".overview .thumb.away")).to_have_count(0)
    page.keyboard.press("ArrowUp")
    page.locator(".overview .tile").nth(5).hover()
    page.get_by_role("button", name="Turn head 6 of layer 2 off", exact=True).click()
    page.get_by_role("button", name="Turn head 6 of layer 2 on again", exact=True).click()


def draws(page: Page) -> None:
    page.locator("#draw").click()
    page.locator("#pad [data-do=clear]").click()
    expect(page.locator("#status")).to_contain_text("empty")
    box = page.locator("#pad canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + 60, box["y"] + 40)
    page.mouse.down()
    for x, y in [(60, 40), (150, 40), (80, 190)]:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=6)
    page.mouse.up()
    expect(page.locator(".overview .say p")).to_contain_text("“7”")


class Act(NamedTuple):
    """A gesture, the address after it, and the number of steps back that undo it."""

    do: Callable[[Page], object]
    link: dict[str, str]
    find: Callable[[Page], Trace]
    back: int = 1
    input: str = "sentence"


OFF = [(1, 2), (1, 0)]
ACTS = {
    "pastes": Act(pastes, {"s": "we sleep ."}, lambda _: ran("we sleep .")),
    "composes": Act(composes, {"s": "我爱"}, lambda _: ran("我爱")),
    "picks an example": Act(
        lambda page: page.locator("#examples").select_option(examples.READY["zh"][1]),
        {"s": examples.READY["zh"][1]},
        lambda _: ran(examples.READY["zh"][1]),
    ),
    "hides a word": Act(
        lambda page: page.locator("#chips .chip", has_text="sleeps").click(),
        {"hidden": "5.6"},
        lambda _: ran(UNHAPPY, "5.6"),
    ),
    "turns heads off": Act(turns_off, {"edits": in_link(OFF)}, lambda _: ran(UNHAPPY, off=OFF), 4),
    "types": Act(types, {"s": "we sleep ."}, lambda _: ran("we sleep .")),  # the browser refuses some until a reload
    "draws": Act(draws, {}, drawn, 2, "digit"),
    "picks a digit": Act(lambda page: page.locator("#digits button").nth(3).click(), {}, drawn, 1, "digit"),
}


@pytest.mark.parametrize("input", ["sentence", "digit"])
def test_what_is_done_is_run_and_stands_in_an_address_that_the_app_reads(input: str, page: Page, site: str) -> None:
    """Also after going back, forward, and a reload."""
    link = urlencode({"lang": "en", "layer": 2, "head": 1, "input": input, "s": UNHAPPY})
    acts = [act for act in ACTS.values() if act.input == input]
    for act in acts:
        opened(page, f"{site}?{link}")
        page.locator("#sentence").blur()  # leaving the box begins a new step
        is_done(page, act)
    inked = page.evaluate(PIXELS) if input == "digit" else None
    page.reload()
    page.wait_for_selector("html.alive", state="attached")
    soon_runs(page, lambda: acts[-1].find(page), inked)


def is_done(page: Page, act: Act) -> None:
    soon_runs(page, before := (lambda: ran(UNHAPPY)) if act.input == "sentence" else lambda: drawn(page))
    pixels = page.evaluate(PIXELS) if act.input == "digit" else None
    act.do(page)
    soon_runs(page, lambda: act.find(page))
    expect(page.locator("#status")).to_have_text("")
    page.wait_for_url(lambda url: asked(url).items() >= act.link.items())
    link = asked(page.url)
    choice, problems = Choice.from_link(link)
    read = {"lang": "en", **choice.to_link()} | ({"ink": link["ink"]} if choice.drawing else {})
    assert not problems and read == link
    assert ("edits" in link) == ("edits" in act.link)
    inked = page.evaluate(PIXELS) if act.input == "digit" else None
    if choice.drawing:
        assert np.abs(np.array(inked) - np.frombuffer(choice.ink or b"", np.uint8)).max() <= 1
    for _ in range(act.back):
        page.go_back()
    soon_runs(page, before, pixels)
    for _ in range(act.back):
        page.go_forward()
    soon_runs(page, lambda: act.find(page), inked)


# Typing while another run is computed: the runs that the engine is asked for.
HURRIES = """sentence => {
  const box = document.getElementById('sentence'), post = Worker.prototype.postMessage
  window.wished = []
  Worker.prototype.postMessage = function(message) {
    if (message.run && !message.run.only) window.wished.push(message.run.text)
    post.call(this, message)
  }
  for (let end = 3; end <= sentence.length; end++) {
    box.value = sentence.slice(0, end)
    box.dispatchEvent(new Event('input', { bubbles: true }))
  }
}"""


def test_while_a_letter_is_computed_only_the_newest_waits(page: Page, site: str) -> None:
    opened(page, f"{site}?{urlencode({'lang': 'en', 's': 'we'})}")
    page.evaluate(HURRIES, "we sleep .")
    soon_runs(page, lambda: ran("we sleep ."))
    assert page.evaluate("wished") == ["we ", "we sleep ."]


# Position, text and colours of all parts.
STANDS = """() => [...document.querySelectorAll('.overview :not(g)')].filter(
  node => node.checkVisibility({ visibilityProperty: true })).map(node => {
  const { left, top, width, height } = node.getBoundingClientRect()
  const style = getComputedStyle(node), look = [style.color, style.opacity, style.fontWeight]
  const own = [...node.childNodes].map(child => child.data ?? '').join('')
  return [node.tagName, own, ...[left, top, width, height].map(Math.round), ...look, node.getAttribute('d'), node.title]
})"""


def test_what_is_kept_of_the_picture_before_stands_as_if_it_were_drawn_anew(page: Page, site: str) -> None:
    opened(page, f"{site}?{urlencode({'lang': 'en', 'layer': 2, 'head': 1, 'token': 4, 's': UNHAPPY})}")
    mark = "document.querySelector('.overview .label').dataset.kept = ''"
    kept = page.locator(".overview [data-kept]")
    for sentence in (
        "the unhappy cats sleep .",
        "cats",
        "我爱你，因为天气很好。",
        "the old man and the sea " * 9,
        UNHAPPY,
    ):
        page.evaluate(mark)
        page.locator("#sentence").fill(sentence)
        soon_runs(page, lambda: ran(sentence))  # noqa: B023
        expect(kept).to_have_count(1)
        stands = page.evaluate(STANDS)
        for height in (899, 900):
            page.evaluate(mark)
            page.set_viewport_size({"width": 1440, "height": height})
            expect(kept).to_have_count(0)
        anew = page.evaluate(STANDS)
        assert [pair for pair in zip(stands, anew, strict=True) if pair[0] != pair[1]] == [], sentence


def test_heads_are_weighed_as_in_the_app_and_a_word_is_offered_to_hide(page: Page, site: str) -> None:
    opened(page, f"{site}?{urlencode({'lang': 'en', 'layer': 2, 'token': 3, 's': UNHAPPY})}")
    text, run = load("text"), ran(UNHAPPY)
    lean = moved(text, run, [cut([(1, head)]) for head in range(8)], 2)
    page.locator(".overview .thumb").first.focus()
    for head in (1, 8):
        said = f"Head {head}: without it, {decimal(lean[head - 1])} of the probability moves"
        expect(page.locator(".overview .thumb").nth(head - 1)).to_have_attribute("aria-label", said)
    expect(page.locator("#chips .offer")).to_contain_text("Click a word to hide it")
    page.locator("#chips .chip", has_text="cat").click()
    expect(page.locator("#chips [aria-pressed=true]")).to_have_count(1)
    expect(page.locator("#chips .offer")).to_be_empty()


@pytest.mark.usefixtures("own_tab")
def test_each_picture_leads_to_its_page_in_an_app(page: Page, site: str, folder: Path) -> None:
    index = (folder / "index.html").read_text("utf-8").replace('"app": ""', f'"app": "{site}app"')
    page.route(f"{site}?*", lambda route: route.fulfill(body=index, content_type="text/html"))
    page.route(f"{site}app/**", lambda route: route.fulfill(status=204))
    opened(page, f"{site}?{urlencode({'lang': 'en', 's': UNHAPPY, 'layer': 2, 'head': 3})}")
    for role, (name, more) in PAGE_OF.items():
        with page.expect_request(f"{site}app/**") as asks:
            if role == "answer":
                page.locator(".overview .answer-title").click()
            else:
                page.locator(f".overview .title[data-role={role}]").click()
                page.locator(".overview .panel button.more").click()
        choice, problems = Choice.from_link(asked(asks.value.url))
        assert urlsplit(asks.value.url).path.endswith(f"/app/{name}") and not problems
        assert (choice.sentence, choice.layer, choice.head) == (UNHAPPY, 1, 2)
        assert {one: getattr(choice, one) for one in more} == more


TAMPERED = {
    "the cat": "lang=constructor",
    "we sleep": "lang=__proto__&layer=99&head=0&token=9999&hidden=x.-3.999",
    "we sleep .": "lang=en&edits=layers.99.attention.heads~zero~head.1~~nonsense",
    "the cat sat": "lang=en&input=picture&app=javascript:alert(1)",
}


def test_a_tampered_address_opens_what_can_be_had_of_it(page: Page, site: str) -> None:
    for sentence, link in TAMPERED.items():
        opened(page, f"{site}?{link}&s={sentence}")
        assert_runs(page, ran(sentence))
        expect_overview(page)


def test_the_language_is_changed_and_all_else_stays(page: Page, site: str) -> None:
    opened(page, f"{site}?lang=en&s=the+cat&layer=2")
    page.locator("#sentence").fill("")
    expect(page.locator("#status")).to_contain_text("empty")
    page.locator("#sentence").fill("the ☃")
    expect(page.locator("#status")).to_contain_text("[UNK]")
    page.locator("#language").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    expect(page.locator("#status")).to_contain_text("读作 [UNK]")
    expect(page.locator(".overview .play")).to_contain_text("播放")
    assert asked(page.url).items() >= {"lang": "zh", "layer": "2", "s": "the ☃"}.items()
    page.locator("#sentence").fill("")
    expect(page.locator("#status")).to_contain_text("空")
    page.locator("#language").click()
    expect(page.locator("#status")).to_contain_text("empty")
    expect(page.locator(".overview .play")).to_contain_text("Play")
    expect(page.locator("#chips .offer")).to_contain_text("Click a word")
    opened(page, f"{site}?lang=en&input=digit&ink=nonsense")
    expect(page.locator("#status")).to_contain_text("damaged")
    expect_overview(page)
    page.locator("#language").click()
    expect(page.locator("#status")).to_contain_text("已损坏")


@pytest.mark.usefixtures("own_tab")
def test_a_run_that_fails_is_said_and_the_next_one_is_painted(
    page: Page, site: str, folder: Path, errors: list[str]
) -> None:
    broken = (
        (folder / "engine.js").read_text("utf-8").replace("let found =", "if (text === 'we') throw 'x'\n  let found =")
    )
    page.route("**/engine.js", lambda route: route.fulfill(body=broken, content_type="text/javascript"))
    opened(page, f"{site}?lang=en&s=the+cat")
    page.locator("#sentence").fill("we")
    expect(page.locator("#status")).to_contain_text("stopped")
    page.locator("#sentence").fill("we sleep")
    soon_runs(page, lambda: ran("we sleep"))
    expect(page.locator("#status")).to_have_text("")
    assert len(errors) == 1
    errors.clear()


@pytest.mark.usefixtures("own_tab")
def test_bare_it_is_the_line_and_the_picture_for_a_course_page(page: Page, site: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, f"{site}?lang=en&s=we+sleep")
    page.locator("#embed").click()
    expect(page.locator("#status")).to_contain_text("Copied")
    snippet = page.evaluate("navigator.clipboard.readText()")
    address = re.fullmatch('<iframe src="(.*?)".*</iframe>', snippet)
    assert address and address[1].startswith(site)
    page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    with page.expect_event("dialog") as asking:
        page.once("dialog", lambda dialog: dialog.dismiss())
        page.locator("#embed").click()
    assert asking.value.default_value == snippet
    page.goto(address[1].replace("&amp;", "&"))
    assert not page.locator("h1, .kinds button").first.is_visible()
    page.locator("#sentence").fill("we sleep .")
    soon_runs(page, lambda: ran("we sleep ."))
    assert "bare" in asked(page.url + "=")


# -- before the engine is there, and without it -------------------------------------------------------------------


@pytest.mark.parametrize(("lang", "input"), [("zh", "sentence"), ("en", "digit")])
def test_the_recorded_run_is_painted_before_the_engine_is_there(
    lang: str, input: str, page: Page, site: str, folder: Path, requests: list[str]
) -> None:
    runs = re.compile(r"/(engine\.js|[^/]+\.(wasm|onnx|data))$")
    page.route(runs, lambda route: None)  # never load
    page.goto(f"{site}?lang={lang}&input={input}")
    roles = head_roles()
    first = roles and roles.first(lang)
    assert first
    expect_overview(page)
    if input == "sentence":
        expect(page.locator("#sentence")).to_have_value(first.text)
        expect(page.locator("#chips [aria-pressed=true]")).to_have_count(1)
    expect(page.locator("#status")).to_contain_text("0 %" if lang == "en" else "0%")
    fetched = [url for url in requests if url.startswith(site) and not runs.search(url)]
    names = {urlsplit(url).path.rpartition("/")[2] or "index.html" for url in fetched}
    assert sum(packed(folder / name) for name in names) <= 400_000, names
    for _ in range(2):
        page.locator("#language").click()
    expect_overview(page)
    assert len([url for url in requests if url.endswith("engine.js")]) == 1, "one engine, whatever is clicked meanwhile"


def test_what_runs_the_network_is_fetched_beside_its_weights(page: Page, site: str) -> None:
    page.route("**/text.data", lambda route: None)  # never load
    with page.expect_request("**/*.wasm"):
        page.goto(f"{site}?lang=en")


def packed(file: Path) -> int:
    return len(gzip.compress(file.read_bytes(), 6))


def test_it_is_small(folder: Path) -> None:
    sizes = {file.name: packed(file) for file in folder.iterdir() if file.is_file()}
    assert sum(sizes.values()) <= 22_000_000
    words = "text.onnx", "text.data", "tokenizer.json", "zh.run", "tokenizers.min.mjs", "reader.js"
    assert sum(size for name, size in sizes.items() if name not in words) <= 5_000_000, "all that digits need"


@pytest.mark.usefixtures("own_tab")
def test_where_the_browser_cannot_or_the_engine_does_not_come_it_says_so(
    page: Page, site: str, errors: list[str]
) -> None:
    page.route(re.compile(r"\.onnx|digit.run"), lambda route: route.fulfill(status=404))
    page.goto(f"{site}?lang=en")
    expect(page.locator("#status")).to_contain_text("could not be loaded")
    page.locator("[data-input=digit]").first.click()
    expect(page.locator("#status")).to_contain_text("could not be loaded")
    page.add_init_script("delete window.WebAssembly")
    page.goto(f"{site}?lang=en")
    expect(page.locator("#status")).to_contain_text("WebAssembly is missing")
    expect_overview(page)
    errors.clear()


def test_after_a_visit_two_tabs_open_without_a_network_each_with_its_own(
    browser: Browser, browser_context_args: dict, site: str, errors: list[str]
) -> None:
    context = browser.new_context(**browser_context_args)
    tabs = [heard(context.new_page(), errors) for _ in range(2)]
    sentences = ("we sleep", "我爱你。")
    for visit, sentence in zip(tabs, sentences, strict=True):
        opened(visit, f"{site}?{urlencode({'lang': 'en', 's': sentence})}")
    tabs[0].evaluate(
        """async () => {
          const kept = async () => (await Promise.all((await caches.keys()).map(async name =>
            (await (await caches.open(name)).keys()).map(({ url }) => url.split('/').at(-1))))).flat()
          while (!['', 'text.onnx', 'text.data', 'page.js', 'painter.css', 'ort-wasm-simd-threaded.wasm'].every(
            name => kept.now?.includes(name))) kept.now = await kept()
        }"""
    )
    context.set_offline(True)
    for visit in tabs:
        visit.reload()
        visit.wait_for_selector("html.alive", state="attached")
    for visit, sentence in zip(tabs, sentences, strict=True):
        assert_runs(visit, ran(sentence))
    tabs[0].locator("#sentence").fill("the cat")
    soon_runs(tabs[0], lambda: ran("the cat"))
    assert_runs(tabs[1], ran(sentences[1]))
    context.close()
    assert not errors


# -- for everybody ------------------------------------------------------------------------------------------------


LOOK = "it => [undefined, '::before'].map(part => getComputedStyle(it, part).border)"


@pytest.mark.parametrize(
    ("link", "width", "scheme"),
    [
        ("lang=en&layer=2&edits=layers.1.attention.heads~zero~head.1", 1440, "light"),
        ("lang=zh&input=digit", 1440, "dark"),
        ("lang=zh", 390, "dark"),
        ("lang=en&input=digit&layer=1&edits=layers.0.attention.heads~zero~head.1", 390, "light"),
    ],
)
def test_everybody_can_read_it_and_it_never_scrolls_sideways(
    link: str, width: int, scheme: Any, page: Page, site: str
) -> None:
    page.set_viewport_size({"width": width, "height": 844})
    page.emulate_media(color_scheme=scheme)
    opened(page, f"{site}?{link}")
    assert overlapping(page) == []
    page.emulate_media(forced_colors="active")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != page.evaluate(
        "getComputedStyle(document.querySelector('.overview .bar i')).backgroundColor"
    )
    for part in (".overview .thumb", *["#chips .chip"] * ("digit" not in link)):
        looks = [page.locator(f"{part}[aria-pressed={on}]").first.evaluate(LOOK) for on in ("true", "false")]
        assert looks[0] != looks[1], part
    page.emulate_media(forced_colors="none")
    if "digit" in link:
        page.locator("#draw").click()
    wrong = serious(page)
    page.locator("#pad").evaluate("pad => { pad.hidden = true }")
    page.locator(".overview .title[data-role=w]").click()
    page.locator(".overview .panel p").first.wait_for()
    assert [*wrong, *serious(page)] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_script_an_image_and_a_request_of_others_are_forbidden(
    page: Page, site: str, errors: list[str], requests: list[str]
) -> None:
    page.goto(site)
    forbidden = page.evaluate(
        """async () => {
          const seen = [], see = ({ effectiveDirective }) => seen.push(effectiveDirective)
          document.addEventListener('securitypolicyviolation', see)
          document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.ran = true' }))
          document.body.append(Object.assign(document.createElement('img'), { src: 'https://example.org/x.png' }))
          document.body.insertAdjacentHTML('beforeend', '<i style="color: red" onclick="window.ran = true"></i>')
          document.querySelector('i[onclick]').click()
          await fetch('https://example.org').catch(() => {})
          await new Promise(done => setTimeout(done, 300))
          return [seen.sort(), Boolean(window.ran)]
        }"""
    )
    wanted = ["connect-src", "img-src", "script-src-attr", "script-src-elem", "style-src-attr"]
    assert forbidden == [wanted, False]
    errors.clear()
    requests.clear()  # including requests never sent


def test_the_gallery_leads_to_each_run(page: Page, site: str) -> None:
    opened(page, f"{site}?lang=zh")
    page.locator("#runs").click()
    cards = page.locator(".runs div a")
    expect(cards).to_have_text(["the cat sat on the mat", HOSTILE])
    expect(page.locator(".runs h2 span")).to_have_text("a \"b\" 'c' <img src=x onerror=alert(1)>")
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    assert page.locator(".runs canvas").first.evaluate("one => [one.width, one.height]") == [8, 8]
    assert serious(page) == []
    for at in range(2):
        cards.nth(at).click()
        expect_overview(page)
        expect(page.locator(".overview .play")).to_contain_text("播放")
        assert page.locator("img").count() == 0
        page.go_back()
    page.locator(".kinds a").first.click()
    page.wait_for_url(f"{site}index.html?lang=zh*")


def test_the_page_says_the_same_things_in_both_languages(folder: Path) -> None:
    page = (folder / "index.html").read_text("utf-8")
    about = re.search(r'id="about">(.*?)</script>', page, re.DOTALL)
    assert about
    words = json.loads(about[1])["words"]
    assert words["en"].keys() == words["zh"].keys()
    source = (folder / "page.js").read_text("utf-8") + page.split("<script type")[0]
    said = re.findall(r"words\(\)\.(\w+)|data-say=\"(\w+)\"|tell\('(\w+)'", source)
    assert {name for names in said for name in names if name} <= words["en"].keys()
