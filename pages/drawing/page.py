"""The description of a page: what it shows, in which order, with which controls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from model import Trace
from pages.drawing.masks import with_words_hidden
from pages.drawing.screen import Elsewhere, Reads, Screen
from pages.drawing.state.choice import PICTURE, Choice

LAYER, LAYER_AND_HEAD = ("layer",), ("layer", "head")
#: Input kind -> kind of pictures. A picture read as one token ("flat") has no tabs of its own.
OF = {"sentence": "words", "digit": "drawing", PICTURE: "drawing"}
#: A function that draws part of a page, given the screen and mostly the pen.
Draw = Callable[..., object]
#: Tab name -> the function that draws it.
Tabs = Mapping[str, Draw]


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page. Its folder, its address and the table of its texts have its name ("home": the address is "").

    tabs: makes the tabs; one is open. Their buttons are the texts "{page}.tab_{name}". A single tab has no button. A
    tab named "" is drawn alone, without controls or anything above it.
    group: its place in the bar: "way" (through the network), "layer" (the part that repeats), "beside" (right end),
    "more" (behind a button). alone: the link to the next page leads there. words_only: it shows nothing of drawings.
    any_input: it works with damaged weights, on another input. attention: it shows attention. draws: it is about a
    drawing whatever the input, with the pad on top. asks: for a page that asks
    for hidden words, so that none is in sight: the choice -> the one whose words are on top.
    places_changes: outside a presentation it draws the strip of changes itself, below their controls, so that the
    first change moves nothing in sight; a presentation keeps room for it from the start.

    reads, elsewhere: see `open_screen`. about: the opened screen and the choice -> the screen to draw. begins: the page
    and the choice -> those to draw, where more than the choice decides. opens: the choice -> layer and head (from 0) at
    which the page opens for a reader who chose none for it. former: tab name in old links -> tab now, or values of
    Choice. usual: the tab where a link names none of them. quiet: tabs without a button, for links alone.

    shown_of: which pickers ("layer", "head") the page needs. but: exceptions, by tab, or by "tab kind" (kinds: see OF).
    chips: whether a box chooses the selected token; tokenless: but not in these tabs, or "tab kind", which are the same
    for every token. head_maps: whether the head buttons show small attention maps.

    equation: LaTeX beside the title. purpose: the key of the sentence below the title. title: draws both instead.
    above: draws what all tabs have above them. controls: draws beside the tab buttons. code: classes and functions
    whose source the page ends with. downloads: draws these in place of the usual ones. ends: whether the page ends with
    the link to the next page, code and downloads.
    """

    name: str
    tabs: Callable[[Any], Tabs]
    group: str = "way"
    alone: bool = True
    words_only: bool = False
    any_input: bool = False
    attention: bool = False
    draws: bool = False
    asks: Callable[[Choice], Choice] | None = None
    places_changes: bool = False
    reads: Reads = with_words_hidden
    elsewhere: Elsewhere | None = None
    about: Callable[[Screen, Choice], Screen] | None = None
    begins: Callable[["Page", Choice], tuple["Page", Choice]] | None = None
    opens: Callable[[Choice], tuple[int, int] | None] | None = None
    former: Mapping[str, str | Mapping[str, object]] = field(default_factory=dict)
    usual: Callable[[Screen, Sequence[str]], str] = lambda screen, names: names[0]
    quiet: tuple[str, ...] = ()
    shown_of: tuple[str, ...] = ()
    but: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    chips: Callable[[Screen], bool] = lambda screen: True
    tokenless: tuple[str, ...] = ()
    head_maps: bool = False
    equation: Callable[[Screen], str] = lambda screen: ""
    purpose: Callable[[Screen], str] | None = None
    title: Draw | None = None
    above: Draw | None = None
    controls: Draw | None = None
    code: Callable[[Screen], Sequence[object]] = lambda screen: ()
    downloads: Draw | None = None
    ends: bool = True

    def speaks_of(self, run: Trace) -> bool:
        """Whether the page has anything to show of such an input."""
        return run.picture is None or not self.words_only

    def purpose_of(self, screen: Screen) -> str:
        """The key of the sentence below the title."""
        return self.purpose(screen) if self.purpose else f"{self.name}.purpose"

    def heeds(self, choice: Choice) -> tuple[str, ...]:
        """Which of "layer" and "head" change what the page shows; only these can be chosen."""
        if self.words_only and choice.input != "sentence":
            return ()
        return self.but.get(of_this_kind(choice), self.but.get(choice.tab or "", self.shown_of))

    def heeds_token(self, screen: Screen) -> bool:
        """Whether a box chooses the selected token."""
        return self.chips(screen) and not {screen.choice.tab, of_this_kind(screen.choice)} & {*self.tokenless}


def of_this_kind(choice: Choice) -> str:
    """The tab, and the kind of the pictures: "layers words"."""
    return f"{choice.tab} {OF.get(choice.input)}"


def rows(*names: str) -> Callable[[Screen], str]:
    """A `Page.equation`: the equations of rows of the graph ("layers.{l}.attention.Q") in the layer on the screen."""
    return lambda screen: r" \qquad ".join(screen.run.graph[screen.at.of(name)].equation for name in names)


class School(Protocol):
    """What lessons and classes add to each page: all that pages know of them."""

    def beside(self, page: str) -> None:
        """Draw in the drawer of settings. page: its name."""

    def under_title(self, screen: Screen, pen: Any) -> None:
        """Draw under the title of a page."""

    def beside_way_on(self, screen: Screen, pen: Any) -> None:
        """Draw at the end of a page, beside the link to the next one."""
