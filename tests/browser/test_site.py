"""The run on one screen without a server: what the browser computes itself is what a trace records, and stays there."""

import base64
import gzip
import json
import os
import re
import shutil
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any
from urllib.parse import urlencode

import numpy as np
import pytest
from playwright.sync_api import Browser, Page, expect

from model import Edit, Trace, examples, load
from model.analysis import softmax
from model.digits import DigitError
from model.measures.tables import head_roles
from model.overview.opened import leaves, names_of
from model.overview.packing import pack
from model.overview.pictures import key_before, keys_of
from model.overview.site import OPENED, make_site
from model.pipeline import InputError
from pages.ui.state import sketch
from tests.browser.conftest import watched
from tests.browser.steps import asked

FIRST = "the animal did not cross the street because it was too tired ."
#: What is typed, what a click hides (as the address counts), and which heads are off: (layer, head) from 0.
SENTENCES: list[tuple[str, str, list[tuple[int, int]]]] = [
    ("i love you .", "none", []),
    ("我爱你。", "none", []),
    ("a", "none", []),
    ("我", "none", []),
    (FIRST, "4", []),
    ("今天天气很好，我们去公园玩吧。", "11", []),
    ("the unhappy children were playing .", "none", []),
    ("the cat sat on the [MASK] .", "none", []),
    ("我 love 你 . 今天天气很[MASK]。", "5.6", []),
    ("the small dog and the old cat sat near a big house . " * 6, "none", []),
    ("天气很好" * 20, "none", []),
    (FIRST, "none", [(1, 3), (4, 0)]),
]
# All that the painter asks of the run that is shown: every map as it is, and the answers.
SHOWN = """() => {
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
  const { tokens, answers, pictures, special } = run
  return { maps, tops, tokens, answers, pictures, special, best: run.strongest(2, 1, Math.min(1, run.n - 1)) }
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site. Without npm the tests are skipped; where CI is set they fail."""
    if shutil.which("npm") is None:
        reason = "no npm on this machine (Debian: apt-get install npm)"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("host") / "below" / "a path"
    make_site(folder)
    return folder


@pytest.fixture(scope="module")
def site(folder: Path) -> Iterator[str]:
    """The address of the site on a host of files, below a path."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder.parents[1]))
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/below/a%20path/"
    server.shutdown()


@pytest.fixture
def page(browser: Browser, browser_context_args: dict, requests: list[str]) -> Iterator[Page]:
    """A tab of a window in which nothing is kept for a visit without a network."""
    context = browser.new_context(**browser_context_args, service_workers="block")
    with watched(context, requests):
        yield context.new_page()
    context.close()


def opened(page: Page, address: str) -> Page:
    """A page whose engine is there, and has painted what the address asks for."""
    page.failed = []  # type: ignore[attr-defined]
    page.on("pageerror", lambda error: page.failed.append(str(error)))  # type: ignore[attr-defined]
    page.on("console", lambda told: told.type == "error" and page.failed.append(told.text))  # type: ignore[attr-defined]
    page.goto(address)
    page.wait_for_selector("html.alive", state="attached")
    return page


def shown(page: Page) -> dict[str, Any]:
    return page.evaluate(SHOWN)


def near(found: np.ndarray, own: np.ndarray, name: str) -> None:
    """Within 1e-4 of the largest number."""
    np.testing.assert_allclose(found, own, atol=1e-4 * np.abs(own).max(), rtol=0, err_msg=name)


def assert_shows(page: Page, trace: Trace) -> None:
    """Every number that the page paints, its answers and colours are those of a trace."""
    seen, config = shown(page), trace.config
    assert seen["tokens"] == trace.tokens
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
    for place, bars in packed["answers"]["rows"].items():
        found = seen["answers"]["rows"][str(place)]
        assert [name for name, _ in found] == [name for name, _ in bars]
        assert [share for _, share in found] == pytest.approx([share for _, share in bars], abs=1e-4)
    for place, layers in seen["answers"]["lens"].items():
        read = load("text" if trace.ids else "digits").read_states(trace.states()[1:], max(int(place), 0))
        for bars, own in zip(layers, read, strict=True):
            best = np.argsort(-own)[: len(bars)] if trace.ids else range(len(own))
            assert [name for name, _ in bars] == [trace.outputs[i] for i in best]
            assert [share for _, share in bars] == pytest.approx([own[i] for i in best], abs=1e-4)


def cut(off: list[tuple[int, int]]) -> list[Edit]:
    return [Edit(f"layers.{layer}.attention.heads", "zero", head=head) for layer, head in off]


@pytest.mark.parametrize("at", range(len(SENTENCES)))
def test_all_that_is_painted_of_a_sentence_is_what_a_trace_records(at: int, page: Page, site: str) -> None:
    sentence, hidden, off = SENTENCES[at]
    text = load("text")
    ids = text.reader.read(sentence).ids
    places = [int(place) - 1 for place in hidden.split(".")] if hidden != "none" else []
    trace = text(text.reader.hide(ids, places), edits=cut(off))
    edits = "~~".join(f"layers.{layer}.attention.heads~zero~head.{head + 1}" for layer, head in off)
    opened(page, f"{site}?{urlencode({'lang': 'en', 's': sentence, 'hidden': hidden, 'edits': edits})}")
    assert_shows(page, trace)
    if off:
        before = text(ids)
        now, then = (softmax(run["logits"])[1] for run in (trace, before))
        moved = trace.outputs[int(np.abs(now - then).argmax())]
        expect(page.locator(".overview .note")).to_contain_text(moved)
    assert not page.failed  # type: ignore[attr-defined]


def drawn(count: int) -> list[bytes]:
    """Drawings as the pad sends them: digits, strokes at random, and what is no digit."""
    random, (y, x) = np.random.default_rng(0), np.mgrid[:112, :112]
    found = [*map(sketch.example, range(10)), *map(sketch.from_picture, examples.digits())]
    for value in (np.zeros((112, 112)), np.full((112, 112), 3), random.integers(0, 4, (112, 112))):
        found.append(sketch.pack(value))
    for half in (1, 15, 40):  # a dot, a larger one, a patch; and one on a dark ground
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
    page.goto(site)
    drawings = drawn(100)
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
        [[base64.b64encode(one).decode() for one in drawings], list(map(sketch.to_code, drawings))],
    )
    assert found[1:] == [None, None]
    for drawing, (ink, code, packed) in zip(drawings, found[0], strict=True):
        assert sketch.from_code(code) == drawing == base64.b64decode(packed)
        try:
            own = np.frombuffer(sketch.ink(drawing), np.uint8)
        except DigitError as error:
            assert ink == f"digit_{error.reason}"
        else:
            assert np.abs(np.array(ink) - own).max() <= 1  # of 255, where a number lies between two


@pytest.mark.parametrize(("which", "off"), [(None, []), (3, []), (8, [(0, 1)]), (1, [(2, 2), (4, 3)])])
def test_all_that_is_painted_of_a_digit_is_what_a_trace_records(
    which: int | None, off: list[tuple[int, int]], page: Page, site: str
) -> None:
    edits = "~~".join(f"layers.{layer}.attention.heads~zero~head.{head + 1}" for layer, head in off)
    ink = {} if which is None else {"ink": sketch.to_code(sketch.example(which))}
    opened(page, f"{site}?{urlencode({'lang': 'en', 'input': 'digit', 'edits': edits} | ink)}")
    pixels = page.evaluate("[...atob(document.querySelector('.overview').run.drawing.pixels)].map(s => s.charCodeAt())")
    if which is not None:
        assert np.abs(np.array(pixels) - np.frombuffer(sketch.ink(sketch.example(which)), np.uint8)).max() <= 1
    assert_shows(page, load("digits")(bytes(pixels), edits=cut(off)))
    assert page.locator(".overview .note").count() == (1 if off else 0)
    assert not page.failed  # type: ignore[attr-defined]


def test_each_stroke_is_a_run_and_a_link_of_it_opens_the_same(page: Page, site: str, requests: list[str]) -> None:
    opened(page, f"{site}?lang=en&input=digit")
    assert not [url for url in requests if "text.onnx" in url or "tokenizer.json" in url], "only what digits need"
    page.locator("#draw").click()
    page.locator("#pad [data-do=clear]").click()
    expect(page.locator("#status")).to_contain_text("empty")
    box = page.locator("#pad canvas").bounding_box()
    assert box
    corners = [(60, 40), (150, 40), (80, 190)]
    page.mouse.move(box["x"] + 60, box["y"] + 40)
    page.mouse.down()
    for x, y in corners:
        page.mouse.move(box["x"] + x, box["y"] + y, steps=6)
    page.mouse.up()
    expect(page.locator(".overview .say p")).to_contain_text("“7”")
    expect(page.locator("#status")).to_have_text("")
    drawing = sketch.from_code(asked(page.url)["ink"])
    assert_shows(page, load("digits")(sketch.ink(drawing)))
    page.go_back()
    expect(page.locator("#status")).to_contain_text("empty")
    page.go_back()
    expect(page.locator(".overview .say p")).to_contain_text("“5”")
    page.go_forward()
    page.go_forward()
    expect(page.locator(".overview .say p")).to_contain_text("“7”")
    assert all(url.startswith(site) for url in requests)


def odd(count: int) -> list[str]:
    """Strings that nobody foresaw: signs of many scripts, alone and among words, marks, spaces, what has no sign."""
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
    page.goto(site)
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


def test_each_letter_is_a_run_and_the_newest_is_painted(page: Page, site: str, requests: list[str]) -> None:
    opened(page, f"{site}?lang=en")
    box = page.locator("#sentence")
    box.fill("")
    expect(page.locator("#status")).to_contain_text("empty")
    box.press_sequentially("we sleep .", delay=10)
    expect(page.locator(".overview .label", has_text="sleep")).to_have_count(1)
    expect(page.locator("#status")).to_have_text("")
    assert_shows(page, load("text")("we sleep ."))
    assert asked(page.url)["s"] == "we sleep ."
    assert all(url.startswith(site) for url in requests), "no request leaves the folder"
    assert not page.failed  # type: ignore[attr-defined]


def test_a_hostile_sentence_is_shown_as_it_is_typed(page: Page, site: str) -> None:
    hostile = "</script><img src=x onerror=alert(1)> <b>we</b> {name} “it” [mask] ${x}"
    opened(page, f"{site}?{urlencode({'lang': 'en', 's': hostile})}")
    assert_shows(page, load("text")(hostile))
    assert page.locator("img, header b").count() == 0
    assert page.locator("#sentence").input_value() == hostile
    assert not page.failed  # type: ignore[attr-defined]


def test_the_recorded_run_is_painted_before_the_engine_is_there(page: Page, site: str) -> None:
    page.route(re.compile("onnx|wasm"), lambda route: None)  # it never comes
    for lang in ("en", "zh"):
        page.goto(f"{site}?lang={lang}")
        roles = head_roles()
        first = roles and roles.first(lang)
        assert first
        expect(page.locator(".overview .pic")).to_have_count(11)
        expect(page.locator("#sentence")).to_have_value(first.text)
        expect(page.locator("#status")).to_contain_text("0")
        expect(page.locator("#chips [aria-pressed=true]")).to_have_count(1)


def test_where_the_browser_cannot_or_the_engine_does_not_come_it_says_so(page: Page, site: str) -> None:
    page.route(re.compile(r"\.onnx"), lambda route: route.fulfill(status=404))
    page.goto(f"{site}?lang=en")
    expect(page.locator("#status")).to_contain_text("could not be loaded")
    page.add_init_script("delete window.WebAssembly")
    page.reload()
    expect(page.locator("#status")).to_contain_text("WebAssembly is missing")
    expect(page.locator(".overview .pic")).to_have_count(11)


def test_after_a_visit_it_opens_without_a_network(browser: Browser, browser_context_args: dict, site: str) -> None:
    context = browser.new_context(**browser_context_args)
    page = opened(context.new_page(), f"{site}?lang=en")
    page.evaluate(
        """async () => {
          const kept = async () => (await Promise.all((await caches.keys()).map(async name =>
            (await (await caches.open(name)).keys()).map(({ url }) => url.split('/').at(-1))))).flat()
          while (!['', 'text.onnx', 'page.js', 'painter.css', 'ort-wasm-simd-threaded.wasm'].every(
            name => kept.now?.includes(name))) kept.now = await kept()
        }"""
    )
    context.set_offline(True)
    page = opened(context.new_page(), f"{site}?lang=en&s=we+sleep")
    assert_shows(page, load("text")("we sleep"))
    context.close()


def test_bare_it_is_the_line_and_the_picture(page: Page, site: str) -> None:
    opened(page, f"{site}?lang=en&bare")
    assert not page.locator("h1, .kinds button").first.is_visible()
    assert page.locator("#sentence").is_visible()
    page.locator("#sentence").fill("we sleep .")
    expect(page.locator(".overview .label", has_text="sleep")).to_have_count(1)
    assert "bare" in page.url


def test_what_a_course_page_needs_is_copied(page: Page, site: str) -> None:
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    opened(page, f"{site}?lang=en&s=we+sleep")
    page.locator("#embed").click()
    expect(page.locator("#status")).to_contain_text("Copied")
    snippet = page.evaluate("navigator.clipboard.readText()")
    assert snippet.startswith(f'<iframe src="{site}?') and "s=we+sleep" in snippet and "bare" in snippet


def test_a_click_hides_a_word_and_the_language_is_changed(page: Page, site: str) -> None:
    opened(page, f"{site}?lang=en&s=the+unhappy+cat+sleeps+.&layer=2")
    text = load("text")
    ids = text.reader.read("the unhappy cat sleeps .").ids
    page.locator("#chips .chip", has_text="unhappy").click()
    expect(page.locator("#chips [aria-pressed=true]")).to_have_text("unhappy")
    expect(page.locator(".overview .label.on")).to_have_text("[MASK]")
    places = [int(place) - 1 for place in asked(page.url)["hidden"].split(".")]
    assert_shows(page, text(text.reader.hide(ids, places)))
    page.locator("#language").click()
    expect(page.locator("html")).to_have_attribute("lang", "zh")
    assert asked(page.url)["lang"] == "zh" and asked(page.url)["layer"] == "2"
    expect(page.locator(".overview .play")).to_contain_text("播放")
    page.locator("#chips [aria-pressed=true]").click()
    expect(page.locator("#chips [aria-pressed=true]")).to_have_count(0)
    page.go_back()
    expect(page.locator("#chips [aria-pressed=true]")).to_have_count(1)
    page.reload()
    page.wait_for_selector("html.alive", state="attached")
    expect(page.locator("#chips [aria-pressed=true]")).to_have_text("unhappy")


@pytest.mark.parametrize(("name", "off"), [("text", []), ("digits", []), ("text", [(1, 2)])])
def test_what_stands_behind_an_opened_picture_is_what_a_trace_records(
    name: str, off: list[tuple[int, int]], page: Page, site: str
) -> None:
    edits = "~~".join(f"layers.{layer}.attention.heads~zero~head.{head + 1}" for layer, head in off)
    query = {"lang": "en", "input": "sentence" if name == "text" else "digit", "s": "i love you .", "edits": edits}
    opened(page, f"{site}?{urlencode(query)}")
    drawn = "[...atob(document.querySelector('.overview').run.drawing.pixels)].map(sign => sign.charCodeAt())"
    trace = load(name)("i love you ." if name == "text" else bytes(page.evaluate(drawn)), edits=cut(off))
    for layer in range(trace.config.layers):
        for name, key in (leaves(trace, layer, OPENED) | names_of(trace.graph, layer)).items():
            own = trace[key] if trace[key].ndim == 3 else trace[key][None]
            for head in {0, min(2, len(own) - 1)}:
                found = page.evaluate(
                    "place => [...document.querySelector('.overview').run.exact(...place, 1) ?? []]",
                    [name, layer, head],
                )
                near(np.array(found), own[head, 1], key)
    page.locator(".overview .pic[data-role=w]").click(position={"x": 5, "y": 5})
    expect(page.locator(".overview .panel")).not_to_contain_text("not at hand")
    assert not page.failed  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", ["text", "digits"])
def test_a_head_is_turned_off_and_on_where_it_is_seen(name: str, page: Page, site: str) -> None:
    pipeline, subject = load(name), "i love you ."
    opened(page, f"{site}?lang=en&layer=2&input={'sentence' if name == 'text' else 'digit'}&s={subject}")
    if name == "digits":
        drawn = page.evaluate(
            "[...atob(document.querySelector('.overview').run.drawing.pixels)].map(s => s.charCodeAt())"
        )
        subject = bytes(drawn)
    for head in (2, 0):
        page.locator(".overview .tile").nth(head).hover()
        page.get_by_role("button", name=f"Turn head {head + 1} of layer 2 off", exact=True).click()
    expect(page.locator(".overview .thumb.away")).to_have_count(2)
    assert asked(page.url)["edits"].count("layers.1.attention.heads~zero~head.") == 2
    assert_shows(page, pipeline(subject, edits=cut([(1, 2), (1, 0)])))
    expect(page.locator(".overview .note")).to_have_count(1)
    page.keyboard.press("ArrowDown")
    expect(page.locator(".overview .thumb.away")).to_have_count(0)
    page.keyboard.press("ArrowUp")
    for head in (2, 0):
        page.get_by_role("button", name=f"Turn head {head + 1} of layer 2 on again", exact=True).click()
    expect(page.locator(".overview .note")).to_have_count(0)
    assert_shows(page, pipeline(subject))
    assert "edits" not in asked(page.url)


def test_it_is_small(folder: Path) -> None:
    packed = {file.name: len(gzip.compress(file.read_bytes(), 6)) for file in folder.rglob("*") if file.is_file()}
    first = ["index.html", "painter.js", "painter.css", "site.css", "page.js", "live.js", "drawing.js", "digit_pad.js"]
    assert sum(packed[name] for name in first) <= 400_000, "all that must come before the first picture"
    assert sum(packed.values()) <= 22_000_000
    words = "text.onnx", "tokenizer.json", "zh.run"
    assert sum(size for name, size in packed.items() if name not in words) <= 5_000_000, "all that digits need"


def test_the_page_says_the_same_things_in_both_languages(folder: Path) -> None:
    about = json.loads(
        re.search(r'id="about">(.*?)</script>', (folder / "index.html").read_text("utf-8"), re.DOTALL)[1]
    )  # type: ignore[index]
    words = about["words"]
    assert words["en"].keys() == words["zh"].keys()
    source = (folder / "page.js").read_text("utf-8") + (folder / "index.html").read_text("utf-8").split("<script type")[
        0
    ]
    said = set(re.findall(r"words\(\)\.(\w+)|data-say=\"(\w+)\"", source))
    assert {name for pair in said for name in pair if name} <= words["en"].keys()
