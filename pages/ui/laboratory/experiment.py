"""An experiment: one number of the answer, what each of many changes does to it, and whether that is much."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from threading import Lock

import numpy as np
import pandas as pd
import streamlit as st
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from model import Edit, EditError, Pipeline, Trace, deadline
from model.sweep import effects, moved
from pages.ui.cache import digest, of_networks
from pages.ui.changes_bar import toggled
from pages.ui.figures import GREY, INK, Axis, heatmap, strip_plot
from pages.ui.laboratory.patience import seconds_for, waits
from pages.ui.link import select
from pages.ui.numbers import signed
from pages.ui.sections.answers import decimal, output_names, probabilities
from pages.ui.text import texts_of
from pages.ui.view import View

#: What a row of changes is about, in the words of the page: (row, column) -> "layer 4, head 3".
Where = Callable[[int, int], str]
#: What is measured: by how much one output leads another at a place; or, by the place alone, the whole answer there.
Number = tuple[int, int, int] | tuple[int]
text, word = texts_of("what_if")


@dataclass(frozen=True)
class Experiment:
    """How far the logit of `of` leads that of `against` at one place: the number that changes move.

    A story, which does not speak of logits, looks at the whole answer there.
    """

    view: View
    place: int  # the token at which the answer is read; 0 for a classifier
    of: int
    against: int

    @classmethod
    def on(cls, view: View, place: int) -> "Experiment":
        """On the two outputs that the reader chose; else the two that are likeliest in the unchanged run."""
        first, second = (int(i) for i in np.argsort(-probabilities(view.original, place))[:2])
        of = first if view.choice.output is None else view.choice.output
        against = view.choice.against
        if against is None or against == of:
            against = second if of == first else first
        return cls(view, place, of, against)

    @property
    def names(self) -> tuple[str, str]:
        names = output_names(self.view)
        return names[self.of], names[self.against]

    @property
    def number(self) -> Number:
        """What says which number it is."""
        return (self.place,) if self.view.story else (self.of, self.against, self.place)

    def lead(self, trace: Trace) -> float:
        logits = np.atleast_2d(trace["logits"])[self.place]
        return float(logits[self.of] - logits[self.against])

    def waits(self, edits: Sequence[Edit]) -> bool:
        """Whether these changes take long and are not worked out yet; draws the button that does."""
        wanted = _changes.cache_key(self.view.pipeline, self.view.subject, tuple(edits), self.number, None)
        if wanted in _changes.cache:
            return False
        return waits(self.view.trace.config, len(self.view.trace.tokens), len(edits), wanted)

    def changes(self, edits: Sequence[Edit]) -> np.ndarray:
        """By how much each edit alone moves the number of the unchanged run, or how much of the probability.

        NaN where it cannot be made there.
        """
        bar = st.empty()

        def progress(share: float) -> None:
            if share < 1:
                bar.progress(share)

        with deadline.within(seconds_for(self.view.trace.config, len(self.view.trace.tokens), len(edits))):
            found = _changes(self.view.pipeline, self.view.subject, tuple(edits), self.number, progress)
        bar.empty()
        return found


@of_networks
@cached(
    LRUCache(256),
    key=lambda pipeline, subject, edits, number, _: hashkey(pipeline, digest(subject), edits, number),
    lock=Lock(),
)
def _changes(
    pipeline: Pipeline,
    subject: Hashable,
    edits: tuple[Edit, ...],
    number: Number,
    progress: Callable[[float], None],
) -> np.ndarray:
    rows = [(edit,) for edit in edits]
    try:
        return _measured(pipeline, subject, rows, number, progress)
    except EditError:  # one of them; which, the others do not tell
        return np.array([_change(pipeline, subject, row, number) for row in rows], np.float32)


def _change(pipeline: Pipeline, subject: Hashable, row: tuple[Edit, ...], number: Number) -> float:
    try:
        return float(_measured(pipeline, subject, [row], number)[0])
    except EditError:
        return np.nan


def _measured(
    pipeline: Pipeline,
    subject: Hashable,
    rows: Sequence[tuple[Edit, ...]],
    number: Number,
    progress: Callable[[float], None] | None = None,
) -> np.ndarray:
    if len(number) == 1:
        return moved(pipeline, subject, rows, *number, progress=progress)
    return effects(pipeline, subject, rows, *number, progress=progress).change


def effect_map(
    lab: Experiment,
    name: str,
    rows: Axis,
    columns: Axis,
    edits: Sequence[Sequence[Edit | None]],
    where: Where,
    places: Callable[[int, int], dict[str, object]] = lambda row, column: {},
) -> None:
    """A cell for each change: what it alone does to the number. A click makes it (×), another takes it back.

    In a story it is what they do to the whole answer. Beside it, from Numbers on, the same effects as dots. edits:
    (row, column), None where there is none. where: the name of a cell. places: what of the choice a click sets besides.
    """
    view = lab.view
    cells = {edit: (row, column) for row, line in enumerate(edits) for column, edit in enumerate(line) if edit}
    values = np.full((len(edits), len(edits[0])), np.nan, np.float32)
    waiting = lab.waits(list(cells))
    if not waiting:
        for cell, effect in zip(cells.values(), lab.changes(list(cells)), strict=True):
            values[cell] = effect
    if not waiting and not np.isfinite(values).any():
        st.info(text("nothing_fits"), icon=":material/block:")
        return
    on = [cells[edit] for edit in view.choice.edits if edit in cells]
    size = np.where(np.isfinite(values), np.abs(values), -1)
    strongest = tuple(int(i) for i in np.unravel_index(size.argmax(), values.shape))
    lit = on[-1] if on else None if waiting else strongest

    def change(row: int, column: int) -> None:
        if (edit := edits[row][column]) is not None:
            select(edits=toggled(edit), **places(row, column))

    left, right = [st.container()] * 2 if view.story else st.columns([3, 2], gap="medium")
    with left:
        drawn = {"square": False, "limit": 1.0 if waiting else None}
        scale = "positive" if view.story else "signed"
        figure = heatmap(values, rows, columns, scale=scale, cell=lit, clickable=True, **drawn)
        if waiting:  # cells to click, that say nothing yet
            grey = {"z": np.zeros_like(values), "colorscale": [[0, GREY], [1, GREY]], "opacity": 0.3}
            figure.data[0] |= grey | {"showscale": False}
        # On a light ground, so that it is seen on every colour.
        cross = {"text": "×", "font": {"size": 22, "color": INK["light"]}, "showarrow": False}
        cross |= {"bgcolor": "#ffffffcc", "width": 14, "height": 14}
        figure.layout["annotations"] = [cross | {"x": column, "y": row} for row, column in on]
        if view.story:
            title = word("without_heads")
            said = text("read_story", where=where(*strongest), value=decimal(float(values[strongest])))
        else:
            title = None
            said = text("read_map", where=where(*strongest), value=signed(values[strongest]))
        if waiting:
            said = text("read_not_yet")
        elif not np.nan_to_num(values).any():
            said = text("read_no_effect")
        elif not np.isfinite(values).all():
            said += " " + text("read_blank")
        view.picture(name, figure, said, values=values, title=title, on_pick=change, still=True)
    if not view.story and not waiting:
        with right:
            is_that_much(lab, name, values, lit, where, change)


def is_that_much(
    lab: Experiment,
    name: str,
    values: np.ndarray,
    lit: tuple[int, int],
    where: Where,
    change: Callable[[int, int], None],
) -> None:
    """One effect among those of the same change everywhere else: a strip of dots with this one lit."""
    cells = [tuple(int(i) for i in cell) for cell in np.argwhere(np.isfinite(values))]
    if lit not in cells or not np.nan_to_num(values).any():
        return
    all_of_them = np.array([values[cell] for cell in cells])
    hover = [f"{where(*cell)}: {signed(values[cell])}" for cell in cells]
    larger = int((np.abs(all_of_them) > abs(values[lit])).sum())
    said = {"where": where(*lit), "value": signed(values[lit]), "larger": larger, "all": len(cells) - 1}
    lab.view.picture(
        f"{name}_spread",
        strip_plot(all_of_them, hover, cells, cells.index(lit), word("axis_effect")),
        text("read_spread", **said),
        title=word("spread"),
        table=pd.DataFrame({word("axis_effect"): all_of_them}, index=hover),
        on_pick=change,
        still=True,
    )
