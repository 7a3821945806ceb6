"""What parts of a page are given: what was chosen, ready to use, and how a picture with its sentence is put there."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model import Pipeline, Trace
from model.config import EncoderConfig
from model.pipeline import Reading
from pages.ui import figures
from pages.ui.components.chart import chart
from pages.ui.figures import Figure
from pages.ui.figures.equations import in_words
from pages.ui.figures.notation import write_as
from pages.ui.figures.theme import draw_on
from pages.ui.frame import exports
from pages.ui.frame.contents import ROWS
from pages.ui.frame.navigation import open_with
from pages.ui.frame.pickers import bound
from pages.ui.picture import Make, Moves, Numbers, Open, Picks, Picture, kind_of, outputs_of, says_words, sizes, touched
from pages.ui.place import Place
from pages.ui.runs.two_runs import DIFFERENCES, TwoRuns
from pages.ui.screen import Screen
from pages.ui.state.choice import Choice
from pages.ui.state.link import chosen, select
from pages.ui.text import class_label, joined, literal, plain, t, unmarked

#: Arrow keys -> by how many rows and columns they move.
ARROWS = {"ArrowUp": (-1, 0), "ArrowDown": (1, 0), "ArrowLeft": (0, -1), "ArrowRight": (0, 1)}


def act(picks: Picks, *at: int) -> None:
    """Choose what a click chooses, here or on another page."""
    match picks(*at):
        case Open(page, values):
            open_with(page, **values)
        case Mapping() as values:
            select(**values)


def table_of(picture: Picture, figure: Figure, numbers: Sequence[Numbers]) -> pd.DataFrame:
    """The numbers of a picture, as they were drawn, for a file."""
    table = picture.tabled(*numbers)
    return exports.figure_table(figure) if table is None else table


class View:
    """One page on the screen, as its parts see it.

    name: of the page: its folder, its address and the first word of its texts. Nothing here runs the network again when
    only the place changes.
    """

    name: str
    screen: Screen

    def __init__(self, choice: Choice) -> None:
        draw_on(st.context.theme.type or "light", big=choice.big)
        write_as(choice.symbols)
        self._pictures: dict[str, exports.Taken] = {}
        self._keys: dict[str, Callable[[], None]] = {}
        self._equation = ""  # the page's own, which stands above its pictures

    # -- what was chosen, ready to use -------------------------------------------------------------

    @property
    def choice(self) -> Choice:
        """What the reader chose, fitted to the run."""
        return self.screen.choice

    @property
    def trace(self) -> Trace:
        """The run on the screen."""
        return self.screen.run

    @property
    def original(self) -> Trace:
        return self.screen.original

    @property
    def other(self) -> Trace | None:
        return self.screen.other

    @property
    def other_input(self) -> Trace | None:
        return self.screen.other_input

    @property
    def two(self) -> TwoRuns:
        return self.screen.two

    @property
    def pipeline(self) -> Pipeline:
        return self.screen.pipeline

    @property
    def subject(self) -> Hashable:
        return self.screen.subject

    @property
    def given(self) -> Hashable:
        return self.screen.given

    @property
    def typed(self) -> Reading:
        return self.screen.typed

    @property
    def shows(self) -> str:
        return self.screen.shows

    @property
    def at(self) -> Place:
        return self.screen.at

    @property
    def usual_token(self) -> int:
        return self.screen.usual_token

    @property
    def seen(self) -> np.ndarray | None:
        return self.screen.seen

    def about(self) -> str:
        return self.screen.about()

    def key(self, row: str) -> str:
        """The trace key of a row of the graph ("layers.{l}.attention.Q") in the chosen layer."""
        return self.at.of(row)

    def touched(self, *keys: str, every_head: bool = False) -> bool:
        """Whether a change sits on one of these quantities: see `picture.touched`."""
        return touched(self.trace, self.choice.head, *keys, every_head=every_head)

    @property
    def kind(self) -> str:
        """What the tokens are: see `picture.kind_of`."""
        return kind_of(self.trace)

    @property
    def tokens(self) -> list[str]:
        return self.trace.tokens

    @property
    def config(self) -> EncoderConfig:
        """The sizes of the encoder whose run is on the screen."""
        return self.trace.config

    @property
    def says_words(self) -> bool:
        """Whether the network answers with a word, and not with a class."""
        return says_words(self.trace)

    @property
    def output_names(self) -> Sequence[str]:
        """What each logit stands for: the words of the vocabulary, or the classes."""
        return outputs_of(self.trace)

    @property
    def layer(self) -> int:
        """The chosen layer, from 0."""
        return self.choice.layer

    @property
    def head(self) -> int:
        """The chosen head, from 0."""
        return self.choice.head

    @property
    def token(self) -> int:
        """The selected token, the same on every page: the reader's, else one that is worth looking at."""
        return self.at.token

    def where(self, of: tuple[int, int] | None = None) -> str:
        """ "layer 2, head 3" in the reader's language: those that he chose, or another layer and head."""
        return self.at.where(of)

    @property
    def heeds(self) -> tuple[str, ...]:
        """Which of "layer" and "head" change what the page shows now."""
        return ROWS[self.name].heeds(self.choice)

    def is_about(self, of: tuple[int, int] | None = None) -> str:
        """Of which layer and head the page is: those that the reader chose, as far as they matter here, or others.

        −1: of none.
        """
        if of is None:
            of = self.layer if "layer" in self.heeds else -1, self.head if "head" in self.heeds else -1
        layer, head = of
        if layer >= 0 and head >= 0:
            return self.where(of)
        named = ("layer", layer), ("head", head)
        return next((plain(f"change.{name}", number=place + 1) for name, place in named if place >= 0), "")

    def file_name(self, *parts: str) -> str:
        """The name of a file: what is in it, whether the run was changed, and whose it is."""
        changed = [plain("change.shown_changed")] if self.trace.edits else []
        return exports.file_name(*parts, *changed, self.about())

    def panel(self, *names: str, usual: str) -> str:
        """A row of buttons for the page's parts, of which one is on the screen; returns its name.

        Their words are the texts "{page}.panel_{name}". usual: the one that a link without one means.
        """
        chosen = self.choice.panel if self.choice.panel in names else usual
        words = {name: plain(f"{self.name}.panel_{name}") for name in names}
        look = bound(f"{self.name}.panel", chosen, lambda name: select(panel=name))
        look |= {"label_visibility": "collapsed", "required": True, "wrap": True}
        st.pills(plain("common.parts"), names, format_func=words.__getitem__, **look)
        return chosen

    def on_key(self, key: str, action: Callable[[], None]) -> None:
        """Let a key do something on this page: "1", "Shift+ArrowUp", …"""
        self._keys[key] = action

    def moves(self, moves: Moves) -> None:
        """Let Shift and an arrow move the chosen cell."""
        at = list(moves.cell)  # keys are faster than pages: the next press goes on from there

        def move(by: tuple[int, int]) -> None:
            at[:] = (min(max(here + step, 0), n - 1) for here, step, n in zip(at, by, moves.sizes, strict=True))
            select(**moves.choose(*at))

        for arrow, by in ARROWS.items():
            self.on_key(f"Shift+{arrow}", partial(move, by))

    # -- parts of a page ---------------------------------------------------------------------------

    def equation(self, latex: str, **look: object) -> None:
        """An equation, or several with \\qquad between: on a narrow screen below each other."""
        one, *others = self.in_words(latex).split(r" \qquad ")
        if not others:
            st.latex(one, **look)
            return
        with st.container(
            horizontal=True, horizontal_alignment="center", vertical_alignment="center", gap="small", **look
        ):
            for part in (one, *others):
                st.latex(part, width="content")

    def in_words(self, latex: str) -> str:
        """An equation with its words in the reader's language, and with Q, K and V in their colours."""
        return figures.coloured(in_words(latex))

    def show(self, name: str, make: Picture | Make, *, at: Place | None = None, noted: bool = True) -> list[Numbers]:
        """Draw a picture under its title, shape and equation, and over its reading sentence.

        name: unique on the page; the title is the text "{page}.{name}" unless the picture has one. make: what makes it
        of a run and a place, and is called once more where the reader compares two; of a picture without numbers of a
        run, the picture itself. at: the place, where it is not the one on the screen. noted: whether a picture of one
        run says so to a reader who wants two. Returns the numbers drawn.
        """
        if isinstance(make, Picture):
            picture, numbers = make, []
        else:
            picture = make(self.trace, at or self.at)
            numbers = self.two.compared(picture.parts, lambda run, there: make(run, there).parts, picture.two, at)
        quantity, written, compared = picture.quantity, picture.written, None
        title = picture.title or plain(f"{self.name}.{name}")
        of_two = [one for one in numbers if one.differs or one.other is not None]
        told = max(of_two, key=lambda one: one.largest, default=None)
        if told and told.differs:
            compared, written = "less", None
            title, sentence = plain("change.title", title=title), told.in_words(self.shows)
        elif self.touched(*picture.reads, *([quantity.key] if quantity else [])):
            sentence, written = t("change.no_law"), None
        else:
            sentence = picture.says(*numbers)
        if told and told.other is not None:
            compared = "other"
            sentence += " " + t("change.both_alone" if told.alone else f"change.both_{self.shows}")
        equation = picture.equation
        if quantity and equation is None and quantity.equation not in self._equation:
            equation = quantity.numbered(quantity.equation)  # as in the arithmetic
        figure = picture.drawn(*numbers)
        picks = picture.picks_of(*numbers) if picture.picks_of else picture.picks
        self._heading(name, title, picture.shape, equation, figure)
        where = self.is_about(picture.of_head)
        ended = title if title.endswith(("?", "？")) else title + plain("common.full_stop")
        alone = compared is None and self.shows != "beside"
        chart(
            figure,
            f"{self.name}.{name}",
            alt=joined(f"{ended} {unmarked(sentence)}"),
            file=self.file_name(self.name, title, where),
            caption=" · ".join(filter(None, (title, where, self.about()))),
            on_pick=picks and partial(act, picks),
            at_once=picture.at_once() if picture.at_once and alone else None,
        )
        if picture.moves:
            self.moves(picture.moves)
        large = self.choice.big and figure.layout.get("meta", {}).get("large")  # then it fills the screen
        if (below := sentence if written is None else written) and (not large or compared):
            st.markdown(joined(below))
        noted = noted and not picture.fixed
        if noted and not compared:
            self.note_run()
        runs = self.compared_with(compared or (None if noted else "other"))
        law = equation or (quantity.equation if quantity else "")
        make_table = partial(table_of, picture, figure, numbers)
        self._pictures[name] = exports.Taken(title, figure, make_table, where, runs, unmarked(sentence), law)
        return numbers

    def show_both(self, name: str, make: Make, at: Place | None = None) -> None:
        """Draw a picture, and where the reader wants both inputs, below it that of the other one."""
        drawn = self.show(name, make, at=at, noted=not self.two.beside)
        if self.two.beside:
            self.show_other(name, make, drawn, at)

    def show_other(self, name: str, make: Make, here: Sequence[Numbers], at: Place | None = None) -> None:
        """Draw the same picture of the other input's run, to stand beside this one: a click there chooses what stands
        in that place here.

        here: the numbers of this one, whose colours it has. at: the place here, where it is not the one on the screen.
        """
        assert self.other is not None  # it stands beside this one
        picture = make(self.other, self.two.place_there(at))
        numbers = [replace(part.drawn, end=own.end) for part, own in zip(picture.parts, here, strict=True)]
        title = plain("compare.there", title=picture.title or plain(f"{self.name}.{name}"))
        said = numbers[0].of_the_other() if len(numbers) == 1 else ""
        look = {"title": title, "shape": picture.shape, "picks": self.two.picks_here(picture.picks), "fixed": True}
        self.show(f"other_{name}", Picture(picture.drawn(*numbers), said, **look))

    def _heading(self, name: str, title: str, shape: Sequence[int], equation: str | None, figure: Figure) -> None:
        size = f"&ensp;:gray[{sizes(shape)}]" if shape else ""
        heading = f"**{literal(title)}**{size}"
        if equation:
            with st.container(horizontal=True, vertical_alignment="center", key=f"heading.{self.name}.{name}"):
                st.markdown(heading, width="content")
                self.equation(equation, width="content")
        elif not (self.choice.big and figure.layout.get("meta", {}).get("large")):  # it is what the tab is called
            st.markdown(heading)

    def compared_with(self, how: str | None) -> list[str]:
        """Which run the numbers of a picture are compared with, in a phrase; nothing where it shows one run.

        how: "less", of a difference, or "other", where the numbers of both may stand.
        """
        if how is None or self.shows not in (*DIFFERENCES, "beside"):
            return []
        if self.shows == "difference":
            run = plain("change.unchanged")
        elif self.choice.beside_twin:
            run = plain("compare.twin_run")
        elif self.trace.ids:
            run = self.choice.other or ""
        elif self.other and self.other.answer and self.trace.answer:
            there, here = (class_label(run.answer[0].best) for run in (self.other, self.trace))
            run = plain("compare.drawings", there=there, here=here)
        else:
            run = plain("change.another")
        return [plain(f"change.{how}_run_named", run=run)]

    def note_run(self) -> None:
        """Where a difference, or two runs, are wanted: that this here is of one."""
        if self.two.differs or self.shows == "beside":
            st.caption(t(f"change.only_{self.shows}"))

    def way_to(self, name: str, label: str, **values: object) -> None:
        """A button that chooses these values (names as in Choice) and opens another page with them, or another part of
        this one.
        """
        way = "within" if name == self.name else "way"
        look = {"icon": ":material/arrow_forward:", "type": "tertiary", "key": f"{self.name}.{way}"}
        st.button(label, on_click=open_with, args=(name,), kwargs=values, **look)


def go_on(field: str, by: int, count: int, usual: int = 0) -> None:
    """Go to another of `count` places, from where the reader is by now: keys are faster than pages.

    field: of Choice. usual: the place where he is while he has chosen none.
    """
    now = getattr(chosen(), field)
    now = usual if now is None else min(now, count - 1)
    select(**{field: min(max(now + by, 0), count - 1)})
