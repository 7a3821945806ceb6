"""What a page is: one row that says what it shows, in which order and with which controls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from model import Trace
from pages.drawing.masks import with_words_hidden
from pages.drawing.screen import Elsewhere, Reads, Screen
from pages.drawing.state.choice import PICTURE, Choice

LAYER, LAYER_AND_HEAD = ("layer",), ("layer", "head")
#: Input kind -> what is shown of it. What is drawn for one token alone has no tabs of its own.
OF = {"sentence": "words", "digit": "drawing", PICTURE: "drawing"}
#: What draws something of a page, given the screen and the pen.
Draw = Callable[..., object]
#: The tabs of a page, by name, with what draws each.
Tabs = Mapping[str, Draw]


def nothing(screen: Screen) -> tuple[object, ...]:
    return ()


@dataclass(frozen=True, kw_only=True)
class Page:
    """One page, named after its folder: so is its address, and the first word of its texts.

    tabs: of which one is open. Their buttons are the texts "{page}.tab_{name}"; a single one has no button, and of one
    named "" all that a page has above its tabs is left out, too.
    group: its place in the bar: "way" leads through the network, "layer" is passed again and again on it; "beside"
    stands at the right end, "more" behind a button there. alone: the way on leads there: to the tour leads a button
    beside it, a class is for many. words_only, any_input: whether it has nothing to say about drawings, or something
    even where the weights that read the reader's input are damaged. attention: where heads look is shown there. draws:
    it is about a drawing whatever the input, and the pad stands on top. asks: for hidden words, which then stand
    nowhere in sight. places_changes: outside a presentation it draws the strip of
    changes itself, under what makes them, so that the first one moves nothing that is seen.

    reads, elsewhere: see `open_screen`; about: the screen about that other run, of the one that was opened and the
    choice. begins: the row and the choice of a page that goes by more than the choice. former: names that tabs had in
    links of before -> the tab that shows it now, or all that is chosen instead. usual: the tab that a link means which
    names none of these.

    heeds: which of "layer" and "head" change what is shown; but: of some tabs others do, by the tab's name, or by
    that and the kind of input in OF. chips: whether the selected token is chosen there. head_maps: whether the buttons
    of the heads show where each attends to.

    equation: LaTeX beside the title; purpose: the key of the sentence under it; title: draws both otherwise, given the
    screen. above: draws what stands above all tabs alike; controls: beside their buttons. code: the classes and
    functions whose source stands at the end. downloads: draws other ones than the pictures. ends: whether way on, code
    and downloads stand there.
    """

    name: str
    tabs: Callable[[Any], Tabs]
    group: str = "way"
    alone: bool = True
    words_only: bool = False
    any_input: bool = False
    attention: bool = False
    draws: bool = False
    asks: bool = False
    places_changes: bool = False
    reads: Reads = with_words_hidden
    elsewhere: Elsewhere | None = None
    about: Callable[[Screen, Choice], Screen] | None = None
    begins: Callable[["Page", Choice], tuple["Page", Choice]] | None = None
    former: Mapping[str, str | Mapping[str, object]] = field(default_factory=dict)
    usual: Callable[[Screen, Sequence[str]], str] = lambda screen, names: names[0]
    shown_of: tuple[str, ...] = ()
    but: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    chips: Callable[[Screen], bool] = lambda screen: True
    head_maps: bool = False
    equation: Callable[[Screen], str] = lambda screen: ""
    purpose: Callable[[Screen], str] | None = None
    title: Draw | None = None
    above: Draw | None = None
    controls: Draw | None = None
    code: Callable[[Screen], Sequence[object]] = nothing
    downloads: Draw | None = None
    ends: bool = True

    def speaks_of(self, run: Trace) -> bool:
        """Whether it has anything to say about such an input."""
        return run.picture is None or not self.words_only

    def purpose_of(self, screen: Screen) -> str:
        """The key of the sentence under its title."""
        return self.purpose(screen) if self.purpose else f"{self.name}.purpose"

    def heeds(self, choice: Choice) -> tuple[str, ...]:
        """Which of "layer" and "head" there are to choose: those that change what is shown."""
        if self.words_only and choice.input != "sentence":
            return ()
        of_this_kind = f"{choice.tab} {OF.get(choice.input)}"
        return self.but.get(of_this_kind, self.but.get(choice.tab or "", self.shown_of))


def rows(*names: str) -> Callable[[Screen], str]:
    """What makes the equations of rows of the graph ("layers.{l}.attention.Q") in the layer on the screen."""
    return lambda screen: r" \qquad ".join(screen.run.graph[screen.at.of(name)].equation for name in names)


class School(Protocol):
    """What lessons and classes add to each page; pages know no more of them."""

    def beside(self, page: str) -> None:
        """Draw in the drawer, given the name of the page."""

    def under_title(self, screen: Screen, pen: Any) -> None:
        """Draw under the title of a page."""

    def beside_way_on(self, screen: Screen, pen: Any) -> None:
        """Draw at the end of a page, beside the link to the next one."""
