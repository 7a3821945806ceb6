"""The table of pages: what there is, in which order, and where it is found."""

from dataclasses import dataclass
from typing import NamedTuple

from model import Trace
from pages.ui.state.choice import PICTURE, Choice

LAYER, LAYER_AND_HEAD = ("layer",), ("layer", "head")
#: Input kind -> what is shown of it. What is drawn for one token alone has no parts of its own.
OF = {"sentence": "words", "digit": "drawing", PICTURE: "drawing"}


class Part(NamedTuple):
    """A part of a page that other places change than the rest of it: its name, and which of "layer" and "head" do.

    of: "words" or "drawing", where that holds only of those.
    """

    name: str
    shown_of: tuple[str, ...]
    of: str = "any"

    def stands(self, choice: Choice) -> bool:
        """Whether it is what the reader looks at."""
        return self.name == choice.panel and self.of in ("any", OF.get(choice.input))


@dataclass(frozen=True)
class PageRow:
    """One page: its name and its place in the bar.

    name: of its folder, whose page.py holds the class of the same name (what_if: WhatIf); also its address and
    the first word of its texts. group: "way" leads through the network, "layer" is passed again and again on it;
    "beside" stands at the right end of the bar, "more" behind a button there. shown_of: which of "layer" and "head"
    change what is shown, but for some parts.
    """

    name: str
    group: str = "way"
    words_only: bool = False
    attention: bool = False  # where heads look is shown there
    alone: bool = True  # the way on leads there: it is for one reader
    asks: bool = False  # for hidden words, which then stand nowhere in sight
    shown_of: tuple[str, ...] = ()
    but: tuple[Part, ...] = ()

    def heeds(self, choice: Choice) -> tuple[str, ...]:
        """Which of "layer" and "head" there are to choose: those that change what is shown."""
        if self.words_only and choice.input != "sentence":
            return ()
        return next((part.shown_of for part in self.but if part.stands(choice)), self.shown_of)

    def reads(self, trace: Trace) -> bool:
        """Whether the page has anything to say about such an input."""
        return trace.picture is None or not self.words_only

    @property
    def path(self) -> str:
        """Its address."""
        return "" if self.name == "home" else self.name


PAGES: tuple[PageRow, ...] = (
    PageRow("home", attention=True),  # layer and head are chosen in the picture
    PageRow("tokens"),
    PageRow(
        "queries_keys_values",
        "layer",
        shown_of=LAYER_AND_HEAD,
    ),
    PageRow(
        "attention",
        "layer",
        attention=True,
        shown_of=LAYER_AND_HEAD,
        but=(Part("layers", LAYER, "words"),),
    ),
    PageRow(
        "heads",
        "layer",
        attention=True,
        shown_of=LAYER_AND_HEAD,
    ),
    PageRow(
        "add_and_norm",
        "layer",
        shown_of=LAYER,
    ),
    PageRow(
        "feed_forward",
        "layer",
        shown_of=LAYER,
    ),
    PageRow(
        "layers",
        attention=True,
        but=(Part("alike", LAYER), Part("origin", LAYER)),
    ),
    PageRow("answer"),
    PageRow("lesson", "beside", asks=True),
    PageRow("what_if", "beside"),
    PageRow(
        "translation",
        "more",
        words_only=True,
        attention=True,
        shown_of=LAYER_AND_HEAD,
        but=(Part("search", ()),),
    ),
    PageRow("flat", "more", attention=True),
    PageRow("shapes_and_cost", "more"),
    PageRow("class", "more", alone=False, asks=True),
)
#: Each page's row by its name.
ROWS: dict[str, PageRow] = {row.name: row for row in PAGES}
