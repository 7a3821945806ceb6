"""Make the first picture of README anew: `python -m tests.browser.screenshot`."""

from pathlib import Path

from tests.browser.conftest import chromium
from tests.classroom.server import serve

PICTURE = Path(__file__).parents[2] / "pages" / "screen" / "screenshot.png"

if __name__ == "__main__":
    with serve() as server, chromium() as browser:
        page = browser.new_page(viewport={"width": 1440, "height": 900}, locale="en-US")
        page.goto(server.url)
        page.locator(".overview canvas").first.wait_for()
        page.wait_for_timeout(3000)
        page.screenshot(path=PICTURE)
