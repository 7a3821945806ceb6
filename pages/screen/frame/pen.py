"""The pen draws pictures on a page, with title, shape and equation above and the sentence below."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.drawing.figures import Figure, coloured
from pages.drawing.figures.equations import in_words
from pages.drawing.page import Page
from pages.drawing.picture import Make, Moves, Numbers, Open, Picks, Picture, sizes, touched
from pages.drawing.place import Place
from pages.drawing.screen import Screen
from pages.drawing.text import joined, literal, plain, t, unmarked
from pages.screen.components.chart import chart
from pages.screen.frame import exports
from pages.screen.frame.navigation import open_with
from pages.screen.link import chosen, select
from pages.screen.runs import pipelines

#: Arrow key -> rows and columns that it moves by.
ARROWS = {"ArrowUp": (-1, 0), "ArrowDown": (1, 0), "ArrowLeft": (0, -1), "ArrowRight": (0, 1)}


class Pen:
    """Draws on a page. Its callbacks hold neither pen nor screen, which would then stay in memory with the session.

    name: of the page. controls: the row of tabs, for further controls. places: the row of layer, head and token. taken:
    the pictures drawn, by name. keys: key -> action. station: see `keys.listen`.
    """

    controls: DeltaGenerator
    places: DeltaGenerator

    def __init__(self, page: Page, screen: Screen, equation: str = "") -> None:
        """equation: the page's own; pictures do not repeat it."""
        self.name, self._page, self._screen, self._equation = page.name, page, screen, equation
        self.taken: dict[str, exports.Taken] = {}
        self.keys: dict[str, Callable[[], None]] = {}
        self.station = ""

    def file_name(self, *parts: str) -> str:
        """The name of a file: its content, whether the run was changed, and the input."""
        changed = [plain("change.shown_changed")] if self._screen.run.edits else []
        return exports.file_name(*parts, *changed, self._screen.about())

    def on_key(self, key: str, action: Callable[[], None]) -> None:
        """Let a key do something on this page: "1", "Shift+ArrowUp", …"""
        self.keys[key] = action

    def columns(self, *widths: int) -> list[DeltaGenerator]:
        """Containers side by side; in a presentation the first alone."""
        return [st.container()] if self._screen.choice.big else st.columns(widths, gap="medium")

    def way_to(self, name: str, label: str, **values: object) -> None:
        """A button that chooses these values of Choice and opens a page, perhaps this one."""
        look = {"icon": ":material/arrow_forward:", "type": "tertiary", "key": f"{self.name}.to.{name}"}
        st.button(label, on_click=open_with, args=(name,), kwargs=values, **look)

    def whole_run(self) -> None:
        """A button that saves all numbers of the run."""
        of = self._screen.network, self._screen.subject, self._screen.run.edits
        file = f"{self.file_name('trace')}.npz"  # rerun on demand: a run held here would stay with the session
        st.download_button(plain("common.npz"), lambda: exports.npz(pipelines.run(*of)), file, on_click="ignore")

    def show(
        self,
        name: str,
        make: Picture | Make,
        *,
        at: Place | None = None,
        noted: bool = True,
        words: DeltaGenerator | None = None,
    ) -> list[Numbers]:
        """Draw a picture with title, shape and equation above and its sentence below; return the numbers drawn.

        name: unique on the page; the title is the text "{page}.{name}" unless the picture has one. make: makes the
        picture from a run and a place, and is called again for the other run in a comparison; or a finished picture of
        one run. at: the place, if not the one on the screen. noted: whether, in a comparison, a picture of one run says
        so. words: the container for its sentence, if that stands not below it.
        """
        screen = self._screen
        if isinstance(make, Picture):
            picture, numbers = make, []
        else:
            picture = make(screen.run, at or screen.at)
            parts_of = screen.two.compared
            numbers = parts_of(picture.parts, lambda run, there: make(run, there).parts, picture.two, at)
        title, sentence, written, compared = self._words(name, picture, numbers)
        figure, quantity, equation = picture.drawn(*numbers), picture.quantity, picture.equation
        if quantity and equation is None and quantity.equation not in self._equation:
            equation = quantity.numbered(quantity.equation)  # as in the arithmetic
        picks = picture.picks_of(*numbers) if picture.picks_of else picture.picks
        fills = screen.choice.big and figure.layout.get("meta", {}).get("large")  # the screen
        self._heading(name, title, picture.shape, equation, fills)
        where = self.where(picture.of_head)
        ended = title if title.endswith(("?", "？")) else title + plain("common.full_stop")
        alone = compared is None and screen.shows != "beside"
        chart(
            figure,
            f"{self.name}.{name}",
            alt=joined(f"{ended} {unmarked(sentence)}"),
            file=self.file_name(self.name, title, where),
            caption=" · ".join(filter(None, (title, where, screen.about()))),
            code="" if compared else picture.code,
            on_pick=picks and partial(act, picks),
            at_once=picture.at_once() if picture.at_once and alone else None,
        )
        if picture.moves:
            self._move(picture.moves)
        noted = noted and not picture.fixed
        with words or nullcontext():
            if written and (compared or words or not fills):
                st.markdown(joined(written))
            if noted and not compared and (screen.two.differs or screen.shows == "beside"):
                st.caption(t(f"change.only_{screen.shows}"))  # this picture shows one run
        runs = screen.compared_with(compared or (None if noted else "other"))
        law = equation or (quantity.equation if quantity else "")
        make_table = partial(table_of, picture, figure, numbers)
        self.taken[name] = exports.Taken(title, figure, make_table, where, runs, unmarked(sentence), law)
        return numbers

    def show_both(self, name: str, make: Make, at: Place | None = None, **look: Any) -> None:
        """Draw a picture and, if the reader compares side by side, the other run's below."""
        beside = self._screen.two.beside
        drawn = self.show(name, make, at=at, noted=not beside, **look)
        if beside:
            self.show_other(name, make, drawn, at)

    def show_other(self, name: str, make: Make, here: Sequence[Numbers], at: Place | None = None) -> None:
        """Draw the same picture of the other run. A click there chooses the counterpart here.

        here: the numbers of this run, whose range of colours it uses. at: the place here, if not the one on the screen.
        """
        two = self._screen.two
        assert two.other is not None  # it stands beside this one
        picture = make(two.other, two.place_there(at))
        numbers = [replace(part.drawn, end=own.end) for part, own in zip(picture.parts, here, strict=True)]
        title = plain("compare.there", title=picture.title or plain(f"{self.name}.{name}"))
        said = numbers[0].of_the_other() if len(numbers) == 1 else ""
        look = {"title": title, "shape": picture.shape, "picks": two.picks_here(picture.picks), "fixed": True}
        self.show(f"other_{name}", Picture(picture.drawn(*numbers), said, **look))

    def _words(self, name: str, picture: Picture, numbers: Sequence[Numbers]) -> tuple[str, str, str, str | None]:
        """A picture's title, its sentence, the text below it, and how it compares two runs: "less" by their difference,
        "other" with the numbers of both, None if it does not.
        """
        shows, run = self._screen.shows, self._screen.run
        title = picture.title or plain(f"{self.name}.{name}")
        of_two = [one for one in numbers if one.differs or one.other is not None]
        told = max(of_two, key=lambda one: one.largest, default=None)
        if told and told.differs:
            said = told.in_words(shows)
            return plain("change.title", title=title), said, said, "less"
        shares = (*picture.shares, *([picture.quantity.key] if picture.quantity else []))
        broken = touched(run, self._screen.at.head, *picture.reads, shares=shares, every_head=picture.every_head)
        said = t("change.no_law") if broken else picture.says(*numbers)
        if told:
            said += " " + t("change.both_alone" if told.alone else f"change.both_{shows}")
        return title, said, said if broken or picture.written is None else picture.written, "other" if told else None

    def where(self, of: tuple[int, int] | None = None) -> str:
        """The layer and head in words: the chosen ones, as far as the page needs them, or others."""
        at, heeds = self._screen.at, self._page.heeds(self._screen.choice)
        return at.where(of or (at.layer if "layer" in heeds else -1, at.head if "head" in heeds else -1))

    def _heading(self, name: str, title: str, shape: Sequence[int], law: str | None, fills: bool) -> None:
        size = f"&ensp;:gray[{sizes(shape)}]" if shape else ""
        heading = f"**{literal(title)}**{size}"
        if law:
            with st.container(horizontal=True, vertical_alignment="center", key=f"heading.{self.name}.{name}"):
                st.markdown(heading, width="content")
                equation(law, width="content")
        elif not fills:  # the tab has the same name
            st.markdown(heading)

    def _move(self, moves: Moves) -> None:
        """Let Shift and an arrow move the chosen cell."""
        at = list(moves.cell)  # several presses may come before the page is redrawn

        def move(by: tuple[int, int]) -> None:
            at[:] = (min(max(here + step, 0), n - 1) for here, step, n in zip(at, by, moves.sizes, strict=True))
            select(**moves.choose(*at))

        for arrow, by in ARROWS.items():
            self.on_key(f"Shift+{arrow}", partial(move, by))


def equation(latex: str, **look: object) -> None:
    """Draw an equation, or several with \\qquad between, which wrap on narrow screens."""
    one, *others = coloured(in_words(latex)).split(r" \qquad ")
    if not others:
        st.latex(one, **look)
        return
    with st.container(horizontal=True, horizontal_alignment="center", vertical_alignment="center", gap="small", **look):
        for part in (one, *others):
            st.latex(part, width="content")


def act(picks: Picks, *at: int) -> None:
    """Do what a click on a mark does: choose values, perhaps on another page."""
    match picks(*at):
        case Open(page, values):
            open_with(page, **values)
        case Mapping() as values:
            select(**values)


def table_of(picture: Picture, figure: Figure, numbers: Sequence[Numbers]) -> pd.DataFrame:
    """The numbers of a picture as drawn, as a table for a file."""
    table = picture.tabled(*numbers)
    return exports.figure_table(figure) if table is None else table


def go_on(field: str, by: int, count: int, usual: int = 0) -> None:
    """Move a field of Choice by so many of `count` places, from its present value: several keys may come in one run.

    usual: the place while none is chosen.
    """
    now = getattr(chosen(), field)
    now = usual if now is None else min(now, count - 1)
    select(**{field: min(max(now + by, 0), count - 1)})
