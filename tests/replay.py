"""Record what the links of tests/links.py show, and compare: a refactoring must leave all of it as it was.

    python -m tests.replay record before.json     # before the change
    python -m tests.replay compare before.json    # after it: lists what differs; exit code 1 if anything does

Each link is opened in a session of its own. Recorded is what stands on the page, in order: labels, texts, tables, and
of pictures the figure and what it says. Numbers are rounded to five digits.
"""

import json
import logging
import sys
from difflib import ndiff
from pathlib import Path
from typing import Any

from tests.links import LINKS
from tests.pages.opening import at_page, numbers, shown_on


def rounded(value: Any) -> Any:
    """The same with fewer digits, and arrays as lists."""
    if isinstance(value, dict):
        inside = numbers(value).ravel().tolist() if "bdata" in value else None
        return rounded(inside) if inside else {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(part) for part in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def record(links: list[tuple[str, dict[str, str]]]) -> dict[str, list[str]]:
    """What each link shows, a line for each part of its page."""
    opened = {f"{page}?{link}": at_page(page, **link).run() for page, link in links}
    return {name: [json.dumps(rounded(part), default=str) for part in shown_on(app)] for name, app in opened.items()}


def differences(before: dict[str, list[str]], now: dict[str, list[str]]) -> dict[str, list[str]]:
    """Of each link that shows something else now the lines that were there, and those that are."""
    apart = {link: (lines, now[link]) for link, lines in before.items() if now.get(link, lines) != lines}
    return {link: [line for line in ndiff(*both) if line[0] in "-+"] for link, both in apart.items()}


if __name__ == "__main__":
    logging.disable(logging.WARNING)  # Streamlit's, of a run without a server
    what, file = sys.argv[1], Path(sys.argv[2])
    found = record(LINKS)
    if what == "record":
        file.write_text(json.dumps(found))
        sys.exit(0)
    changed = differences(json.loads(file.read_text()), found)
    for link, lines in changed.items():
        print(link, *(f"    {line[:200]}" for line in lines[:4]), sep="\n")
    sys.exit(f"{len(changed)} of {len(found)} links show something else" if changed else 0)
