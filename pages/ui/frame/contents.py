"""The table of pages: what there is, in which order, and where it is found."""

from dataclasses import dataclass

from model import Trace

LAYER_AND_HEAD = "layer", "head"


@dataclass(frozen=True)
class PageRow:
    """One page: its name, icon, place in the map, and its shape there.

    name: of its file pages/NAME.py, which holds the class of the same name (what_if.py: WhatIf); also its address and
    the first word of its texts. group: "way" leads through the network, "layer" is passed again and again on it,
    "apart" stands beside it. told_of: which of "layer" and "head" change its story.
    """

    name: str
    icon: str
    group: str = "way"
    shape_of: str | None = None  # the row of the graph whose shape stands under its name in the map
    words_only: bool = False
    attention: bool = False  # where heads look is shown there
    alone: bool = True  # the way on leads there: it is for one reader
    told_of: tuple[str, ...] = ()

    def heeds(self, depth: str) -> tuple[str, ...]:
        """Which of "layer" and "head" there are to choose at this depth: in the story, those that change it."""
        return self.told_of if depth == "story" else LAYER_AND_HEAD

    def reads(self, trace: Trace) -> bool:
        """Whether the page has anything to say about such an input."""
        return trace.picture is None or not self.words_only

    @property
    def path(self) -> str:
        """Its address."""
        return "" if self.name == "home" else self.name


PAGES: tuple[PageRow, ...] = (
    PageRow("home", ":material/home:", attention=True),
    PageRow("tokens", ":material/abc:", shape_of="embedding.sum"),
    PageRow(
        "queries_keys_values", ":material/key:", "layer", shape_of="layers.{l}.attention.Q", told_of=LAYER_AND_HEAD
    ),
    PageRow(
        "attention",
        ":material/grid_on:",
        "layer",
        shape_of="layers.{l}.attention.weights",
        attention=True,
        told_of=LAYER_AND_HEAD,
    ),
    PageRow(
        "heads",
        ":material/apps:",
        "layer",
        shape_of="layers.{l}.attention.concat",
        attention=True,
        told_of=LAYER_AND_HEAD,
    ),
    PageRow("add_and_norm", ":material/add:", "layer", shape_of="layers.{l}.attention.output", told_of=("layer",)),
    PageRow("feed_forward", ":material/bolt:", "layer", shape_of="layers.{l}.ffn.hidden", told_of=("layer",)),
    PageRow("layers", ":material/layers:", shape_of="layers.{l}.ffn.output", attention=True),
    PageRow("answer", ":material/lightbulb:", shape_of="logits"),
    PageRow("translation", ":material/translate:", "apart", words_only=True, attention=True),
    PageRow("what_if", ":material/science:", "apart"),
    PageRow("flat", ":material/horizontal_rule:", "apart", attention=True),
    PageRow("shapes_and_cost", ":material/straighten:", "apart"),
    PageRow("lesson", ":material/school:", "apart", told_of=LAYER_AND_HEAD),
    PageRow("class", ":material/groups:", "apart", alone=False, told_of=LAYER_AND_HEAD),
)
#: Each page's row by its name.
ROWS: dict[str, PageRow] = {row.name: row for row in PAGES}
