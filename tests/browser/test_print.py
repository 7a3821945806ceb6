"""Printed pages: complete, on one sheet, on white, with sentence and address."""

import io
import re

import pytest
from PIL import Image, ImageStat
from playwright.sync_api import Page

from pages.screen.frame.contents import NAMES, path_of
from tests.browser.steps import opened, visit

pytestmark = pytest.mark.usefixtures("goes_on")
PAGES = [name for name in NAMES if name not in ("lesson", "class")]
#: Of links: a sentence, a long one, and a drawing, whose address is long.
INPUTS = "s=she+gave+the+dog+a+book+.", "s=" + "+".join(["the+dog+that+he+saw"] * 7), "input=digit"
#: Window when printing, and printable area of the sheet, for each orientation.
SHEETS = {"upright": ((1440, 1500), (718, 980)), "across": ((1440, 900), (980, 718))}
# Whether the page fills the window and no longer moves.
AT_REST = """() => new Promise(done => {
    const where = () => JSON.stringify([...document.querySelectorAll('[data-testid=stMain], .main-svg, .overview')]
        .map(part => part.getBoundingClientRect())), at = where()
    setTimeout(() => done(at === where()), 300)
})"""
# The page's current colour scheme.
SCHEME = "() => getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme"
# How far visible content extends to the right and down.
REACH = """() => {
    const parts = ['.main-svg', '.overview', '.overview .bar', '.sentence', 'p', 'table', '.katex-html']
    const seen = parts.flatMap(part => [...document.querySelectorAll(`[data-testid=stMain] ${part}`)])
    const boxes = seen.map(one => one.getBoundingClientRect()).filter(({ width, height }) => width && height)
    return ['right', 'bottom'].map(side => Math.max(...boxes.map(box => box[side])))
}"""


def test_a_page_is_printed_whole_on_white_with_its_address(page: Page, app_url: str) -> None:
    for place, name in enumerate(PAGES):
        sheet, scheme = (("upright", "dark"), ("across", "light"))[place % 2]
        visit(page, f"{app_url}/{path_of(name)}?lang=en&{INPUTS[place % 3]}")
        opened(page, name)
        (width, height), room = SHEETS[sheet]
        page.emulate_media(media="screen", color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": height})
        page.wait_for_function(f"scheme => ({SCHEME})() === scheme", arg=scheme)
        page.wait_for_function(AT_REST)
        page.emulate_media(media="print", color_scheme=scheme)
        printed = page.pdf(format="A4", landscape=sheet == "across", print_background=True)
        assert len(re.findall(rb"/Type /Page\b", printed)) == 1, (name, sheet)
        reach = page.evaluate(REACH)
        assert all(end <= most + 1 for end, most in zip(reach, room, strict=True)), (name, sheet, reach, room)
        assert page.evaluate("getComputedStyle(document.body, '::after').content").strip('"') == page.url
        picture = Image.open(io.BytesIO(page.screenshot())).convert("L").crop((0, 0, *map(int, reach)))
        assert ImageStat.Stat(picture).median[0] > 200
    page.emulate_media(media="screen", color_scheme="light")
