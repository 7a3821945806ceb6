"""The table of pages: what there is, in which order, and where it is found."""

from dataclasses import dataclass

from model import Trace


@dataclass(frozen=True)
class PageRow:
    """One page: its name, icon, place in the strip, and its shape there.

    name: of its file pages/NAME.py, which holds the class of the same name (what_if.py: WhatIf); also its address and
    the first word of its texts. group: "stage" stands in the strip itself, "try" and "learn" are its two menus.
    """

    name: str
    icon: str
    group: str = "stage"
    shape_of: str | None = None  # the row of the graph whose shape stands under its name in the strip
    words_only: bool = False
    attention: bool = False  # where heads look is shown there
    alone: bool = True  # the way on leads there: it is for one reader

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
    PageRow("queries_keys_values", ":material/key:", shape_of="layers.{l}.attention.Q"),
    PageRow("attention", ":material/grid_on:", shape_of="layers.{l}.attention.weights", attention=True),
    PageRow("heads", ":material/apps:", shape_of="layers.{l}.attention.concat", attention=True),
    PageRow("add_and_norm", ":material/add:", shape_of="layers.{l}.attention.output"),
    PageRow("feed_forward", ":material/bolt:", shape_of="layers.{l}.ffn.hidden"),
    PageRow("layers", ":material/layers:", shape_of="layers.{l}.ffn.output", attention=True),
    PageRow("answer", ":material/lightbulb:", shape_of="logits"),
    PageRow("translation", ":material/translate:", words_only=True, attention=True),
    PageRow("what_if", ":material/science:", "try"),
    PageRow("flat", ":material/horizontal_rule:", "try", attention=True),
    PageRow("shapes_and_cost", ":material/straighten:", "learn"),
    PageRow("lesson", ":material/school:", "learn"),
    PageRow("class", ":material/groups:", "learn", alone=False),
)
