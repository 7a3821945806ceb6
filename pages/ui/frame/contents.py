"""The table of pages: what there is, in which order, and where it is found."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from model import Trace
from pages.ui.state.choice import PICTURE, Choice

LAYER, LAYER_AND_HEAD = ("layer",), ("layer", "head")
#: Input kind -> what is shown of it. What is drawn for one token alone has no parts of its own.
OF = {"sentence": "words", "digit": "drawing", PICTURE: "drawing"}


@dataclass(frozen=True)
class PageRow:
    """One page: its name and its place in the bar.

    name: of its folder, whose page.py holds the class of the same name (what_if: WhatIf); also its address and
    the first word of its texts. group: "way" leads through the network, "layer" is passed again and again on it;
    "beside" stands at the right end of the bar, "more" behind a button there. shown_of: which of "layer" and "head"
    change what is shown; but: of some parts others do, by the part's name, or by that and the kind of input in OF.
    """

    name: str
    group: str = "way"
    words_only: bool = False
    attention: bool = False  # where heads look is shown there
    alone: bool = True  # the way on leads there: to the tour leads a button beside it, a class is for many
    asks: bool = False  # for hidden words, which then stand nowhere in sight
    shown_of: tuple[str, ...] = ()
    but: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def heeds(self, choice: Choice) -> tuple[str, ...]:
        """Which of "layer" and "head" there are to choose: those that change what is shown."""
        if self.words_only and choice.input != "sentence":
            return ()
        of_this_kind = f"{choice.panel} {OF.get(choice.input)}"
        return self.but.get(of_this_kind, self.but.get(choice.panel or "", self.shown_of))

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
        but={"layers words": LAYER},
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
        but={"alike": LAYER, "origin": LAYER},
    ),
    PageRow("answer"),
    PageRow("lesson", "beside", alone=False, asks=True),
    PageRow("what_if", "beside"),
    PageRow(
        "translation",
        "more",
        words_only=True,
        attention=True,
        shown_of=LAYER_AND_HEAD,
        but={"search": ()},
    ),
    PageRow("flat", "more", attention=True),
    PageRow("shapes_and_cost", "more"),
    PageRow("class", "more", alone=False, asks=True),
)
#: Each page's row by its name.
ROWS: dict[str, PageRow] = {row.name: row for row in PAGES}
