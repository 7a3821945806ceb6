"""The tree of who wrote an answer: a part of its lead is opened, and shows of what it is made, back to the words."""

import re
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import streamlit as st

from model import Trace
from model.analysis import placed
from model.measures.sources import Part, all_of_it, leads_of, made_of, opened
from pages.drawing.cache import once_a_run
from pages.drawing.pictures.sources import Place, in_short, kind_of, layer_of, parts_picture
from pages.drawing.screen import Screen
from pages.drawing.text import literal, plain, texts_of
from pages.drawing.text.numbers import furthest, percent, signed, unsigned
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound
from pages.screen.link import select

INSIDE = re.compile(r"layers\.(\d+)\.attention\.(heads|V)\[(\d+)\]")
MOST = 8  # parts with a bar of their own
BOX = 150  # pixels
text, word = texts_of("tree")


class Seen(NamedTuple):
    """A part as it is kept, without its slope, which is as large as a matrix of the network. opens: whether it is made
    of others; words, positions and biases are there from the start.
    """

    name: str
    token: int | None
    opens: bool


class Opened(NamedTuple):
    """The parts that are opened one after the other, the whole lead first; what the last of them is made of; what
    each of these has in the lead.
    """

    way: list[Seen]
    parts: list[Seen]
    leads: np.ndarray


@once_a_run
def open_branch(run: Trace, outputs: tuple[int, int], token: int, branch: tuple[int, ...] = ()) -> Opened:
    """What a branch opens of the lead of one output over another, as far as there is such a way.

    token: of words, the place of the guess.
    """
    whole = all_of_it(run, *outputs, token)
    try:
        way = opened(run, whole, branch)
        parts = made_of(run, way[-1])
    except ValueError:  # an edit stands on the way through sums
        way, parts = [whole], []
    if len(way) > 1 and not parts:  # a link to what is made of nothing
        way = way[:-1]
        parts = made_of(run, way[-1])
    leads = leads_of(run, way, parts, *outputs)
    return Opened(list(map(_seen, way)), list(map(_seen, parts)), leads)


@once_a_run
def parts_of_lead(run: Trace, outputs: tuple[int, int], token: int) -> list[Seen]:
    """The parts that `open_branch` finds in the whole: what they are called takes one number of the vector."""
    whole = all_of_it(run, *outputs, token)
    if whole.slope is not None and whole.value.ndim:
        whole = replace(whole, value=whole.value[:1], slope=whole.slope[:1])
    try:
        return list(map(_seen, made_of(run, whole)))
    except ValueError:
        return []


def _seen(part: Part) -> Seen:
    return Seen(part.name, part.token, part.slope is not None and "embedding." not in part.name)


class Tree:
    """The way to the part that is open, a row of buttons; and a box with those that can be opened next.

    outputs: whose lead over whom. token: of words, the place of the guess.
    """

    def __init__(self, screen: Screen, pen: Pen, outputs: tuple[int, int], token: int) -> None:
        self.screen, self.pen = screen, pen
        self.way, self.parts, self.leads = open_branch(screen.run, outputs, token, screen.choice.branch)
        if self.parts:
            self._choose()

    @property
    def closed(self) -> bool:
        """Whether it is the whole lead that is looked at."""
        return len(self.way) == 1

    def _choose(self) -> None:
        """The parts that can be opened next."""
        branch = self.screen.choice.branch[: len(self.way) - 1]
        largest = np.argsort(-np.abs(self.leads), kind="stable").tolist()
        options = [i for i in largest if self.parts[i].opens]
        if options:
            names = {i: f"{self.called(self.parts[i], self.way[-1])} · {signed(float(self.leads[i]))}" for i in options}
            look = bound("tree.open", None, lambda i: select(branch=(*branch, i)), anew=True, among=options)
            look |= {"format_func": names.__getitem__, "placeholder": word("open"), "label_visibility": "collapsed"}
            with self.pen.controls:
                st.selectbox(word("open"), options, index=None, width=BOX, **look)

    def _way_here(self) -> None:
        """The parts that were opened, each of which can be gone back to; below the bars, so that a click on these moves
        none.
        """
        branch = self.screen.choice.branch[: len(self.way) - 1]
        steps = [self.called(part, above) for above, part in zip(self.way, self.way[1:], strict=False)]
        steps.insert(0, plain("wrote.total"))
        look = bound("tree.way", len(branch), lambda step: select(branch=branch[:step]), anew=True)
        look |= {"format_func": lambda step: literal(steps[step]), "required": True, "wrap": True}
        st.segmented_control(word("way"), range(len(steps)), label_visibility="collapsed", **look)

    def as_bars(self) -> None:
        """What the open part is made of: what its parts have in the lead adds up."""
        above, part = self.way[-2:]
        most = furthest(self.leads, unsigned)
        places = [self._place(one, part, at) for at, one in enumerate(self.parts)]
        found = INSIDE.fullmatch(part.name)
        kind = found[2] if found else kind_of(part.name, self.screen.run)
        called = self.called(part, above)
        said: dict[str, object] = {"part": called, "value": unsigned(self.leads.sum()), **self._where(part, above)}
        said |= {"largest": places[most.place][0], "much": most}
        read = f"{text('read', **said)} {text(f'about_{kind}', **said)}"
        look = {"title": word(f"title_{kind}", **said), "axis": plain("wrote.axis_logits"), "total": called}
        made = parts_picture(places, self.leads, read, most=MOST, **look)
        self.pen.show("wrote", made)
        self._way_here()

    def _where(self, part: Seen, above: Seen) -> dict[str, str]:
        """Layer, head and token of a part, and the token that looks at it, as texts name them."""
        inside, names = INSIDE.fullmatch(part.name), placed(self.screen.run.tokens)
        layer = int(inside[1]) if inside else layer_of(part.name)
        said = {"layer": str(layer + 1), "head": str(int(inside[3]) + 1) if inside else ""}
        return said | {"token": names[part.token or 0], "query": names[above.token or 0]}

    def called(self, part: Seen, above: Seen) -> str:
        """ "head 3"; of what a head takes from a token, that, and its weight there. above: what it is a part of."""
        inside = INSIDE.fullmatch(part.name)
        if inside is None:
            return in_short(part.name, self.screen.run)
        said = self._where(part, above)
        if inside[2] == "heads":
            return word("head", **said)
        weights = self.screen.run[f"layers.{inside[1]}.attention.weights"]
        return word("from", **said, weight=percent(float(weights[int(inside[3]), above.token, part.token])))

    def _place(self, part: Seen, above: Seen, at: int) -> Place:
        """A part as a bar: its name, and how it is opened, where it can be. at: which part."""
        branch = (*self.screen.choice.branch[: len(self.way) - 1], at)
        return self.called(part, above), ("", {"branch": branch}) if part.opens else None
