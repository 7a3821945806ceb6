"""The digit pad in a browser: open it, draw with the mouse, read it."""

import time
from collections.abc import Sequence
from urllib.parse import parse_qs, urlsplit

import numpy as np
from playwright.sync_api import Locator, Page, expect

from pages.drawing.state import sketch
from pages.drawing.text import catalogue
from tests.browser import steps
from tests.browser.conftest import PATIENCE

Stroke = Sequence[tuple[float, float]]


#: Each digit as strokes: points (across, down) in hundredths of its height, joined by smooth curves.
STROKES: dict[int, tuple[Stroke, ...]] = {
    0: (((55, 4), (32, 14), (20, 42), (24, 74), (44, 95), (66, 86), (78, 54), (72, 20), (55, 4)),),
    1: (((56, 3), (53, 35), (49, 66), (46, 97)),),
    2: (((22, 24), (32, 8), (54, 3), (72, 14), (72, 34), (54, 60), (20, 94), (21, 95), (50, 93), (84, 94)),),
    3: (((22, 12), (46, 3), (68, 12), (66, 34), (42, 46), (68, 54), (77, 72), (62, 92), (40, 97), (19, 88)),),
    4: (((34, 5), (28, 30), (20, 56), (21, 57), (50, 56), (82, 54)), ((66, 6), (64, 50), (62, 97))),
    5: (((76, 6), (52, 7), (32, 8), (31, 9), (29, 26), (27, 44), (48, 40), (72, 54), (72, 80), (50, 96), (20, 88)),),
    6: (((66, 4), (42, 24), (26, 54), (25, 82), (44, 97), (66, 88), (70, 68), (54, 56), (34, 64), (26, 78)),),
    7: (((18, 8), (50, 7), (80, 6), (81, 7), (64, 42), (50, 70), (42, 97)),),
    8: (((68, 16), (48, 4), (30, 16), (38, 36), (60, 56), (70, 78), (50, 96), (30, 80), (38, 58), (62, 36), (68, 16)),),
    9: (((70, 22), (52, 6), (32, 16), (30, 38), (50, 48), (68, 36), (71, 22), (70, 50), (66, 74), (60, 97)),),
}


# The pad's picture as sent: 112 × 112 pixels in four greys, a character each.
PLACES = """canvas => {
    const {data} = canvas.getContext('2d').getImageData(0, 0, 336, 336)
    let places = ''
    for (let row = 0; row < 112; row++) for (let column = 0; column < 112; column++) {
        let sum = 0
        for (let y = 0; y < 3; y++) for (let x = 0; x < 3; x++)
            sum += data[4 * ((row * 3 + y) * 336 + column * 3 + x)]
        places += Math.round(sum / 765)
    }
    return places
}"""


def smooth(points: Stroke) -> np.ndarray:
    """A Catmull-Rom curve through the points: (point, 2)."""
    p = np.array([points[0], *points, points[-1]], dtype=float)
    t = np.linspace(0, 1, 3, endpoint=False)[:, None]
    pieces = [
        0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3)
        for a, b, c, d in zip(p, p[1:], p[2:], p[3:], strict=False)
    ]
    return np.concatenate([*pieces, p[-1:]])


def pad(page: Page) -> Locator:
    return page.locator(".pad canvas")


def show_pad(page: Page) -> None:
    """Open the pad; a press elsewhere, another page or a reload closes it."""
    button = page.locator(".st-key-draw button").first
    expect(button).to_be_visible()
    if not pad(page).is_visible():
        button.click()


def places(page: Page) -> bytes:
    """The pad's picture, packed."""
    return sketch.pack(np.array([*pad(page).evaluate(PLACES)], np.uint8))


def drawing_in(url: str) -> bytes | None:
    code = parse_qs(urlsplit(url).query).get("ink")
    return sketch.from_code(code[0]) if code else None


def settle(page: Page) -> None:
    """Wait until the address holds the pad's picture and the page shows it."""
    show_pad(page)
    expect(pad(page)).to_be_visible()
    until = time.monotonic() + PATIENCE / 1000
    while drawing_in(page.url) != places(page):
        assert time.monotonic() < until, "the address does not follow the pad"
        page.wait_for_timeout(50)
    steps.settle(page)


def open_pad(page: Page, app_url: str, name: str = "answer", **link: str) -> None:
    """Open a page with the pad over it."""
    link = {"lang": "en", "input": "digit", **link}
    query = "&".join(f"{key}={value}" for key, value in link.items())
    page.goto(f"{app_url}/{name}?{query}")
    settle(page)


def draw(page: Page, digit: int, height: float = 0.7) -> None:
    """Draw the digit with the mouse, in the middle of the pad. height: share of the pad."""
    pad(page).scroll_into_view_if_needed()
    box = pad(page).bounding_box()
    for stroke in STROKES[digit]:
        path = (smooth(stroke) / 100 - 0.5) * height + 0.5
        across, down = box["x"] + path[:, 0] * box["width"], box["y"] + path[:, 1] * box["height"]
        page.mouse.move(across[0], down[0])
        page.mouse.down()
        for x, y in zip(across[1:], down[1:], strict=True):
            page.mouse.move(x, y)
        page.mouse.up()


def press(page: Page, name: str) -> None:
    page.locator(".pad button").filter(has_text=catalogue("en")[f"sidebar.{name}"]).click()


def verdict(page: Page) -> str:
    """What the network reads, according to the line on top."""
    return page.locator(".st-key-line").get_by_text("The network reads").locator("strong").inner_text()
