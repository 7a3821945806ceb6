"""`python -m tests.browser.bench`: time until the first picture of Home and of a site, in a real Chromium.

Home alternates with a bare Streamlit page with one heatmap, so that both meet the same load; the folder of `make site`
alternates with Home. No test depends on these times.
"""

import statistics
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil
from playwright.sync_api import Browser

from model.overview.site import make_site
from tests.browser.conftest import PATIENCE, chromium, hosted
from tests.classroom.server import serve

BARE = Path(__file__).parent / "bare.py"
SENTENCE = "the animal did not cross the street because it was too tired ."
LINK = {"lang": "en", "input": "sentence", "layer": 1, "head": 1, "s": SENTENCE}
COLD = 5
SCREEN = {"viewport": {"width": 1440, "height": 900}, "locale": "en-US"}

# Time from the request until the first chart has content, or the overview all its pictures.
PAINTED = """() => new MutationObserver((_, observer) => {
    const chart = '.js-plotly-plot :is(.heatmaplayer image, .barlayer path, .scatterlayer path)';
    if (!document.querySelector(`${chart}, .overview .tip`)) return;
    observer.disconnect();
    requestAnimationFrame(() => { window.painted ??= performance.now(); });
}).observe(document, {subtree: true, childList: true})"""


def cold(browser: Browser, address: str) -> float:
    """Milliseconds until the first chart is painted for somebody who was never here."""
    context = browser.new_context(**SCREEN)
    page = context.new_page()
    page.add_init_script(f"({PAINTED})()")
    page.goto(address)
    painted = page.wait_for_function("() => window.painted", timeout=PATIENCE).json_value()
    context.close()
    return painted


def first_picture(browser: Browser, app: str, bare: str, site: str) -> str:
    addresses = (app, bare, f"{site}/?lang=en")
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
    """What `make site` writes, on a host of files: its address."""
    with TemporaryDirectory() as folder:
        make_site(Path(folder))
        with hosted(Path(folder)) as address:
            yield address


def alive(browser: Browser, site: str) -> str:
    """From its address until a site computes what is typed, for somebody who was never here, and what the tab takes."""
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


def main() -> None:
    with serve() as app, serve(BARE) as bare, a_site() as site, chromium() as browser:
        print(f"In Chromium, median of {COLD}: the page, a bare one, and their ratio")
        print(first_picture(browser, f"http://{app.address}", f"http://{bare.address}", site), flush=True)
        print(alive(browser, site))


if __name__ == "__main__":
    main()
