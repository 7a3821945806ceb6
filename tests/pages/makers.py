"""Find all functions that return a Picture."""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType

import pages
from pages.drawing.picture import Picture


def every_picture() -> Iterator[FunctionType]:
    """All functions of the pages that return a Picture."""
    for module in walk_packages(pages.__path__, "pages."):
        if ".school" in module.name or module.name.endswith("every_page"):
            continue
        for name, make in vars(import_module(module.name)).items():
            own = isinstance(make, FunctionType) and make.__module__ == module.name and not name.startswith("_")
            if own and inspect.signature(make).return_annotation is Picture:
                yield make
