"""`python -m tests.browser.painted`: time from a key, or the mouse on a word, until it is painted.

In a real Chromium; next to each time, the work of the browser's own thread, which other programs do not lengthen. Also
on the site: from a letter or a stroke until its run is painted; on Home: for an opened picture, its cells, and a head
that is switched off. No test depends on these times.
"""

import random
import statistics
from urllib.parse import urlencode

from playwright.sync_api import Browser, Page

from tests.browser.bench import LINK, SCREEN, a_site
from tests.browser.conftest import PATIENCE, chromium
from tests.browser.steps import MIDDLE
from tests.classroom.server import serve

LONG = (
    "the old man who sat by the river told the children that the small boat which they had seen in the morning was his "
    "and that he had built it with his own hands and tools ."
)
GESTURES = (
    ("attention", "lines", True),
    ("attention", "lines", False),
    ("attention", "map", False),
    ("heads", "map", False),
)
TIMES = 40
KEYS = ("ArrowRight", "ArrowDown", "ArrowRight", "ArrowUp", "ArrowLeft", "ArrowLeft")
# From a key or move, by the browser's clock, to the frame with its picture; and whether the picture changed.
WATCH = """() => {
    window.painted = []
    const chart = document.querySelector('.chart.once')
    const shown = () => [chart.sketched ?? chart.drawn, chart.querySelector('.lit')]
    let before = shown()
    const watch = event => requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel()
        port1.onmessage = () => {
            const ms = performance.now() - event.timeStamp, after = shown()
            window.painted.push([ms, after.some((part, i) => part !== before[i])])
            before = after
        }
        port2.postMessage(0)
    })
    for (const kind of ['keydown', 'mousemove']) document.addEventListener(kind, watch)
}"""


# On the site: from a key or the end of a stroke to the frame with its run.
FOLLOWED = """() => {
    window.painted = []
    let since
    const begin = event => { since ??= event.timeStamp }
    for (const kind of ['keydown', 'pointerup']) document.addEventListener(kind, begin, true)
    document.addEventListener('followed', () => {
        const from = since
        since = undefined
        if (from !== undefined) requestAnimationFrame(() => {
            const { port1, port2 } = new MessageChannel()
            port1.onmessage = () => window.painted.push(performance.now() - from)
            port2.postMessage(0)
        })
    })
}"""
# On Home: from a click, key or move to the frame in which one part of the overview has changed.
CHANGED = """part => {
    window.painted = []
    let since
    const begin = event => { since = event.timeStamp }
    for (const kind of ['click', 'keydown', 'pointermove']) document.addEventListener(kind, begin, true)
    new MutationObserver(changes => {
        const met = ({ target }) => (target.closest ? target : target.parentElement)?.closest(part)
        if (since === undefined || !changes.some(met)) return
        const from = since
        since = undefined
        requestAnimationFrame(() => {
            const { port1, port2 } = new MessageChannel()
            port1.onmessage = () => window.painted.push(performance.now() - from)
            port2.postMessage(0)
        })
    }).observe(document.querySelector('.overview'), { subtree: true, childList: true, characterData: true })
}"""
OPENED = ("q", "k", "v", "s", "w", "a", "n1", "h", "n2")
TYPED = {15: LINK["s"].removesuffix(" .") + " then", 40: LONG.removesuffix(" .") + " from the"}


def opened(browser: Browser, address: str) -> Page:
    page = browser.new_context(**SCREEN).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.locator(".chart.once .main-svg").first.wait_for(state="attached")
    page.wait_for_timeout(3000)
    page.evaluate(WATCH)
    return page


def row(about: str, times: list[float]) -> str:
    """Median, 95 % quantile and maximum of the times, and how many of TIMES gestures were seen."""
    times = sorted(times)
    found = "".join(f"{ms:6.0f} ms" for ms in (statistics.median(times), times[int(0.95 * len(times))], times[-1]))
    return f"{about:42}{found}   {len(times)} of {TIMES}"


def line(browser: Browser, app: str, name: str, drawn: str, sentence: str, dice: random.Random, hovers: bool) -> str:
    link = LINK | {"layer": 3, "head": 4, "as": drawn, "s": sentence}
    page = opened(browser, f"{app}/{name}?{urlencode(link)}")
    measures = page.context.new_cdp_session(page)
    measures.send("Performance.enable", {"timeDomain": "threadTicks"})

    def worked() -> float:
        """Milliseconds of work of the page's thread so far."""
        every = {one["name"]: one["value"] for one in measures.send("Performance.getMetrics")["metrics"]}
        return 1e3 * every["TaskDuration"]

    chart, work = page.locator(".chart.once").first, []
    places = [chart.evaluate(MIDDLE, [word, (-0.12, 1.12)[word % 2]]) for word in range(12)] if hovers else []
    for turn in range(TIMES):
        before = worked()
        if hovers:
            page.mouse.move(*places[turn % len(places)])
        else:
            page.keyboard.press(KEYS[turn % len(KEYS)])
        page.wait_for_timeout(40)
        work.append(worked() - before)
        page.wait_for_timeout(dice.uniform(150, 700))
    page.wait_for_timeout(1000)
    times = [ms for ms, other in page.evaluate("window.painted") if other]
    page.context.close()
    about = f"{name}, {drawn}, {len(sentence.split()) + 2} tokens, {'a word' if hovers else 'a key'}"
    return f"{row(about, times)}   work {statistics.median(work):.0f} ms"


def on_a_site(browser: Browser, site: str, tokens: int, dice: random.Random) -> str:
    """A line for letters typed after a sentence with `tokens` tokens; 0: for strokes on the pad."""
    page = browser.new_context(**SCREEN).new_page()
    page.set_default_timeout(PATIENCE)
    link = {"lang": "en", "s": TYPED[tokens]} if tokens else {"lang": "en", "input": "digit"}
    page.goto(f"{site}/?{urlencode(link)}")
    page.wait_for_selector("html.alive", state="attached")
    page.locator("#sentence" if tokens else "#draw").press("End" if tokens else "Enter")
    page.wait_for_timeout(1000)
    page.evaluate(FOLLOWED)
    box = page.locator("#pad canvas").bounding_box()
    for turn in range(TIMES):
        if tokens:
            page.keyboard.press("Backspace" if turn % 2 else "s")
        elif box:
            x, y = (box[side] + dice.uniform(60, 160) for side in "xy")
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + dice.uniform(-30, 30), y + dice.uniform(-30, 30), steps=5)
            page.mouse.up()
        page.wait_for_timeout(dice.uniform(150, 700))
    page.wait_for_timeout(1000)
    times = page.evaluate("window.painted")
    page.context.close()
    about = f"site, a letter, {tokens} tokens" if tokens else "site, a stroke"
    return row(about, times)


def on_home(browser: Browser, app: str, gesture: str, part: str, sentence: str, dice: random.Random) -> str:
    """A line for a gesture on Home, timed by the part of the overview that changes."""
    page = browser.new_context(**SCREEN).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(f"{app}/?{urlencode(LINK | {'layer': 3, 'head': 7, 's': sentence})}")
    page.locator(".overview .lens p").first.wait_for()
    page.wait_for_timeout(3000)
    pictures = page.locator(".overview .pic")
    if gesture == "a cell":
        page.locator(".overview .title[data-role=w]").click()
        page.wait_for_timeout(1000)
    page.evaluate(CHANGED, part)
    for turn in range(TIMES):
        if gesture == "a picture":
            page.locator(f".overview .title[data-role={OPENED[turn % len(OPENED)]}]").click()
        elif gesture == "a head":
            page.locator(".overview .cross").nth(turn // 2 % 8).press("Enter")
        elif box := pictures.and_(page.locator("[data-role=w]")).bounding_box():
            page.mouse.move(box["x"] + box["width"] * dice.random(), box["y"] + box["height"] * dice.random())
        page.wait_for_timeout(dice.uniform(400, 900))
    times = page.evaluate("window.painted")
    page.context.close()
    return row(f"Home, {gesture}, {len(sentence.split()) + 2} tokens", times)


def main() -> None:
    with serve() as server, a_site() as site, chromium() as browser:
        dice = random.Random(0)
        print("Until it is painted: median, 95 %, longest; how many were seen; the work")
        for gesture, part in (("a picture", ".overview"), ("a cell", ".panel"), ("a head", ".stack")):
            for sentence in (LINK["s"], LONG):
                print(on_home(browser, f"http://{server.address}", gesture, part, sentence, dice), flush=True)
        for name, drawn, hovers in GESTURES:
            for sentence in (LINK["s"], LONG):
                print(line(browser, f"http://{server.address}", name, drawn, sentence, dice, hovers), flush=True)
        for tokens in (*TYPED, 0):
            print(on_a_site(browser, site, tokens, dice), flush=True)


if __name__ == "__main__":
    main()
