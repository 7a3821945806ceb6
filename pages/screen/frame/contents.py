"""All pages, in the order of the bar and of the story; each describes itself in its folder."""

from functools import cache
from importlib import import_module

from model.deadline import not_counted
from pages.drawing.page import Page

NAMES = (
    "home",
    "tokens",
    "queries_keys_values",
    "attention",
    "heads",
    "add_and_norm",
    "feed_forward",
    "layers",
    "answer",
    "lesson",
    "what_if",
    "translation",
    "flat",
    "shapes_and_cost",
    "class",
)


def path_of(name: str) -> str:
    """The URL path of a page."""
    return "" if name == "home" else name


@cache
def page(name: str) -> Page:
    """The description of a page: PAGE in page.py of its folder."""
    with not_counted():  # the first visitor waits for all visitors' imports
        found: Page = import_module(f"pages.{name}.page").PAGE
    assert found.name == name
    return found


def pages() -> tuple[Page, ...]:
    """All pages."""
    return tuple(map(page, NAMES))
