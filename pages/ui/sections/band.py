"""Quantities over the same tokens side by side in one picture: a click chooses token, column and quantity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd

from model import Trace
from pages.ui.figures import Axis, Figure, Matrix, abreast, on_screen
from pages.ui.figures.equations import html_math, plain_math
from pages.ui.figures.theme import scaled
from pages.ui.runs.measure import Measure, widest
from pages.ui.sections.cell_map import chosen_cell, field, limit
from pages.ui.state.link import select
from pages.ui.text import plain
from pages.ui.view import View, shape

USUAL = 0.985  # share of a matrix's numbers below its strongest colour
BIG = 515  # pixels: the height in a presentation, which it fills
ROW, LOW = 17, 220  # pixels: a row of the band, and the least height of all


@dataclass(frozen=True)
class Column:
    """One quantity of a band.

    title: what stands above it, below its symbol. width: its share of the band. asked: the columns that answer a click;
    the usual ones if left out. limit: the value of the strongest colour, for a range that quantities share.
    """

    key: str
    title: str
    width: float = 1
    asked: Sequence[int] | None = None
    limit: float | None = None

    @property
    def name(self) -> str:
        """What the quantity is called on its page: "layers.2.attention.scores" -> "scores"."""
        return self.key.rsplit(".", 1)[-1]

    def table(self, values: np.ndarray, names: Sequence[str]) -> pd.DataFrame:
        """Its numbers, a row for each token."""
        return pd.DataFrame(values, names, [f"{self.name} {place + 1}" for place in range(values.shape[1])])


def _symbol(view: View, key: str) -> str:
    """The LaTeX of a quantity's symbol, with the number of its layer."""
    quantity = view.trace.quantity(key)
    return quantity.numbered(quantity.symbol)


def _strongest(view: View, key: str, measure: Measure) -> float:
    """The value of the strongest colour; of vectors of many numbers the few largest saturate."""
    if view.trace.axes(key)[-1] not in ("d_model", "d_ff"):
        return limit(view, key)
    sizes = np.abs(measure.values[np.isfinite(measure.values)])
    return float(np.quantile(sizes, USUAL)) if sizes.size else 0.0


def band(
    view: View,
    name: str,
    columns: Sequence[Column],
    sentence: str,
    *,
    title: str,
    focus: str | None = None,
    marks: Mapping[str, int | None] | None = None,
    least: int = 0,
    law_of: Sequence[str] = (),
) -> None:
    """Draw them, the chosen token's row outlined. name: of the picture. sentence: what it says.

    focus: the key of the one that is worked out. marks: key -> the column outlined; of others that of the chosen cell
    where the quantity is in focus. least: pixels, below which the picture scrolls sideways.
    """
    measures = [view.measure(column.key) for column in columns]
    drawn = [measure.values for measure in measures]
    beside = bool(view.other) and view.beside(columns[0].key)
    fields = [[field(one.key, axis) for axis in view.trace.axes(one.key)[-2:]] for one in columns]

    def choose(which: int, *places: int) -> None:
        """A click. which: of the quantities; places: row and column."""
        chosen = zip(fields[which], places, strict=True)
        select(stage=columns[which].name, **{side: place for side, place in chosen if side})

    def figure(run: Trace, values: Sequence[np.ndarray], row: int | None) -> Figure:
        matrices = []
        for column, z, measure in zip(columns, values, measures, strict=True):
            outlined = (marks or {}).get(column.key)
            if outlined is None and column.key == focus:
                outlined = chosen_cell(view, column.key)[-1]
            symbol = plain_math(_symbol(view, column.key)).replace("'", "′")
            matrices.append(
                Matrix(
                    z,
                    Axis(symbol, run.names(column.key)[-1] or ()),
                    column.limit or _strongest(view, column.key, measure) or 1.0,
                    column.width,
                    outlined if outlined is not None and outlined < z.shape[1] else None,
                    measure.scale(view.trace.quantity(column.key).scale),
                    f"{column.title}<br>{shape(z)}",
                    column.asked,
                    column.key == focus,
                    html_math(_symbol(view, column.key)).replace("'", "′"),
                )
            )
        rows = Axis(plain("axis.token"), run.tokens if run is not view.trace else view.named)
        height = on_screen(max(LOW, 96 + scaled(ROW * len(rows.labels))))
        drawing = abreast(matrices, rows, row, height=min(height, BIG) if view.choice.big else height)
        drawing.layout["meta"] = {**drawing.layout.get("meta", {}), "large": True, "least": least}
        return drawing

    if focus:
        which = next(place for place, one in enumerate(columns) if one.key == focus)
        cell = view.token, chosen_cell(view, focus)[-1]
        view.moves(cell, drawn[which].shape, partial(choose, which))
    view.picture(
        name,
        figure(view.trace, drawn, view.token),
        sentence,
        title=title,
        quantity=view.trace.quantity(focus) if focus else None,
        table=lambda: pd.concat([one.table(z, view.named) for one, z in zip(columns, drawn, strict=True)], axis=1),
        on_pick=choose,
        shows=widest(measures).on(Axis("", view.named), Axis("")),
        still=beside,
        law_of=law_of,
    )
    if beside and view.other:
        heads = [view.other[one.key] for one in columns]
        there = [z[view.head] if z.ndim > 2 else z for z in heads]
        look = {"title": plain("compare.there", title=title), "still": True}
        view.picture(f"other_{name}", figure(view.other, there, view.counterpart(view.token)), "", **look)
