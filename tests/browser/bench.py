"""`python -m tests.browser.bench`: time from a click until the picture is settled, in a real Chromium.

Each page alternates with a bare Streamlit page with as many heatmaps of the same size, so that both meet the same load;
the folder of `make site` alternates with Home. No test depends on these times.
"""

import statistics
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

import psutil
from playwright.sync_api import Browser, Page, sync_playwright

from model.overview.site import make_site
from tests.browser.conftest import CHROMIUM, PATIENCE, QUIET, hosted
from tests.browser.steps import MIDDLE
from tests.classroom.server import serve

BARE = Path(__file__).parent / "bare.py"
SENTENCE = "the animal did not cross the street because it was too tired ."
LINK = {"lang": "en", "input": "sentence", "layer": 1, "head": 1, "s": SENTENCE}
DIGIT = {"lang": "en", "input": "digit", "layer": 1, "head": 1}
TIMES, COLD = 10, 5
SCREEN = {"viewport": {"width": 1440, "height": 900}, "locale": "en-US"}

# When the main part of the page last changed after a key or button press. It is settled once a chart has been redrawn,
# the script has ended, and nothing has changed for QUIET_FOR.
WATCH = """() => {
    const main = document.querySelector('[data-testid=stMain]');
    const now = () => performance.now();
    const watch = window.bench = {start: Infinity, last: 0, redrawn: false};
    const begin = () => Object.assign(watch, {start: now(), last: 0, redrawn: false});
    for (const event of ['keydown', 'pointerdown']) document.addEventListener(event, begin, true);
    const plot = '.js-plotly-plot';
    const chart = node => node.nodeType === 1 && (node.closest(plot) || node.querySelector(plot));
    new MutationObserver(changes => {
        watch.last = now();
        watch.redrawn ||= changes.some(({target, addedNodes}) => chart(target) || [...addedNodes].some(chart));
    }).observe(main, {subtree: true, childList: true, attributes: true, characterData: true});
}"""
SETTLED = """quiet => {
    const {start, last, redrawn} = window.bench;
    const state = document.querySelector('[data-testid=stApp]').dataset.testScriptState;
    return redrawn && state === 'notRunning' && performance.now() - last > quiet && last - start;
}"""
QUIET_FOR = 150  # milliseconds
# What a page shows: the number of charts, and the size of the largest map.
SHOWN = """() => {
    const charts = [...document.querySelectorAll('[data-testid=stMain] .js-plotly-plot')];
    const maps = charts.flatMap(chart => chart.calcdata).map(([first]) => first.z).filter(Array.isArray);
    const largest = maps.sort((one, other) => other.length * other[0].length - one.length * one[0].length)[0];
    return {charts: charts.length, nodes: document.querySelectorAll('[data-testid=stMain] svg *').length,
        rows: largest?.length ?? 14, columns: largest?.[0].length ?? 14};
}"""
# Time from the request until the first chart has content, or the overview all its pictures.
PAINTED = """() => new MutationObserver((_, observer) => {
    const chart = '.js-plotly-plot :is(.heatmaplayer image, .barlayer path, .scatterlayer path)';
    if (!document.querySelector(`${chart}, .overview .tip`)) return;
    observer.disconnect();
    requestAnimationFrame(() => { window.painted ??= performance.now(); });
}).observe(document, {subtree: true, childList: true})"""


def along(page: Page, turn: int) -> None:
    """Switch the layer, and back."""
    page.locator("[class*=st-key-either-][class*=layer] button").nth(1 - turn % 2).click()


def word(page: Page, turn: int) -> None:
    """Click one word, which hides it, then another."""
    page.locator(":is(.sentence .chip, .st-key-words button)").nth(4 + turn % 3).click()


def cell(page: Page, turn: int) -> None:
    """Click one cell of the first map, then another."""
    page.mouse.click(*page.locator(".js-plotly-plot").first.evaluate(MIDDLE, [4 + turn % 3, 6]))


def digit(page: Page, turn: int) -> None:
    """Click another example digit."""
    page.locator(".st-key-example_digit button").nth(turn % 10).click()


def step(page: Page, turn: int) -> None:
    """Move the step of a translation, and back."""
    page.locator("[class*=st-key-translation] input[type=range]").first.press("ArrowLeft" if turn % 2 else "ArrowRight")


#: Page -> path, link, gesture, and a gesture of the same kind on the bare page.
CLICKS: dict[str, tuple[str, dict, Callable[[Page, int], None], Callable[[Page, int], None]]] = {
    "Attention": ("attention", LINK, along, along),
    "Attention, a cell": ("attention", LINK, cell, word),
    "Heads": ("heads", LINK, along, along),
    "Feed-forward": ("feed_forward", LINK, along, along),
    "Add & Norm": ("add_and_norm", LINK, along, along),
    "Layers, a word": ("layers", LINK, word, word),
    "Answer, a word": ("answer", LINK, word, word),
    "What if, a word": ("what_if", LINK, word, word),
    "Translation, a step": ("translation", LINK | {"into": "zh"}, step, along),
    "Attention, a digit": ("attention", DIGIT, digit, word),
}


def opened(browser: Browser, address: str) -> Page:
    """Open a page, wait for its charts, and watch it."""
    page = browser.new_context(**SCREEN).new_page()
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    page.locator("[data-testid=stMain] .js-plotly-plot .main-svg").first.wait_for(state="attached")
    page.wait_for_timeout(2000)
    page.evaluate(WATCH)
    return page


def settled(page: Page, gesture: Callable[[Page, int], None], turn: int) -> float:
    """Milliseconds from a gesture until the picture is settled."""
    gesture(page, turn)
    return page.wait_for_function(SETTLED, arg=QUIET_FOR, polling=20).json_value()


def click(browser: Browser, app: str, bare: str, name: str) -> str:
    """A line of the table: medians of a page and the bare one, and their ratio."""
    path, link, gesture, same = CLICKS[name]
    page = opened(browser, f"{app}/{path}?{urlencode(link)}")
    shown = page.evaluate(SHOWN)
    size = {field: shown[field] for field in ("charts", "rows", "columns")}
    floor = opened(browser, f"{bare}/?{urlencode(size)}")
    times: list[list[float]] = [[], []]
    for turn in range(TIMES + 2):
        for kept, one, what in zip(times, (page, floor), (gesture, same), strict=True):
            kept.append(settled(one, what, turn))
    for one in (page, floor):
        one.context.close()
    mine, least = (statistics.median(kept[2:]) for kept in times)
    maps = f"{shown['charts']} × ({shown['rows']}, {shown['columns']})"
    return f"{name:22}{mine:7.0f} ms {least:7.0f} ms  {mine / least:5.2f} ×   {maps:18} {shown['nodes']:6} SVG nodes"


def cold(browser: Browser, address: str) -> float:
    """Milliseconds until a first-time visitor sees the first chart."""
    context = browser.new_context(**SCREEN)
    page = context.new_page()
    page.add_init_script(f"({PAINTED})()")
    page.goto(address)
    painted = page.wait_for_function("() => window.painted", timeout=PATIENCE).json_value()
    context.close()
    return painted


def first_picture(browser: Browser, app: str, bare: str, site: str) -> str:
    addresses = (app, f"{bare}/?charts=1&rows=14&columns=14", f"{site}/?lang=en")
    times: list[list[float]] = [[] for _ in addresses]
    for _ in range(COLD + 1):
        for kept, address in zip(times, addresses, strict=True):
            kept.append(cold(browser, address))
    mine, least, there = (statistics.median(kept[1:]) for kept in times)
    return (
        f"{'Home, first picture':22}{mine:7.0f} ms {least:7.0f} ms  {mine / least:5.2f} ×   each in a new context\n"
        f"{'Site, first picture':22}{there:7.0f} ms {mine:7.0f} ms  {there / mine:5.2f} ×   beside Home's"
    )


@contextmanager
def a_site() -> Iterator[str]:
    """Write the site and host it; yields its address."""
    with TemporaryDirectory() as folder:
        make_site(Path(folder))
        with hosted(Path(folder)) as address:
            yield address


def alive(browser: Browser, site: str) -> str:
    """A line of the table: time until a first-time visitor can type on the site, and memory of the tab."""
    times, sizes = [], []
    processes = browser.new_browser_cdp_session()
    for _ in range(COLD + 1):
        context = browser.new_context(**SCREEN)
        page = context.new_page()
        page.goto(f"{site}/?lang=en")
        script = "() => document.documentElement.classList.contains('alive') && performance.now()"
        times.append(page.wait_for_function(script, timeout=PATIENCE, polling=10).json_value())
        page.locator("#sentence").press_sequentially(" and now we sleep", delay=100)
        every = processes.send("SystemInfo.getProcessInfo")["processInfo"]
        pids = [one["id"] for one in every if one["type"] == "renderer"]
        sizes.append(max(psutil.Process(pid).memory_full_info().uss for pid in pids) / 1e6)
        context.close()
    return f"{'Site, typing':22}{statistics.median(times[1:]):7.0f} ms, and {statistics.median(sizes):.0f} MB of memory"


def main(names: list[str]) -> None:
    """Print the lines called `names`, or all."""
    if CHROMIUM is None:
        sys.exit("no Chromium on this machine (Debian: apt-get install chromium)")
    with serve() as app, serve(BARE) as bare, a_site() as site, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        at, floor = f"http://{app.address}", f"http://{bare.address}"
        print(
            f"In Chromium, median of {TIMES} (cold: {COLD}): the page, a bare one, their ratio, and what the page shows"
        )
        if not names or "Home" in names:
            print(first_picture(browser, at, floor, site), flush=True)
            print(alive(browser, site), flush=True)
        for name in CLICKS:
            if not names or name in names:
                print(click(browser, at, floor, name), flush=True)
        browser.close()


if __name__ == "__main__":
    main(sys.argv[1:])
