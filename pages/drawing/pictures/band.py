"""Several quantities of the same tokens side by side: a click chooses token, column and quantity."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pandas as pd

from model import Trace
from pages.drawing.figures import Axis, Figure, Matrix, abreast, on_screen
from pages.drawing.figures.equations import html_math, plain_math
from pages.drawing.figures.theme import scaled
from pages.drawing.picture import Moves, Numbers, Picture, sizes, token_axis
from pages.drawing.pictures import far_out
from pages.drawing.pictures.quantity_map import chosen_cell, field
from pages.drawing.place import Place
from pages.drawing.text import plain

USUAL = 0.985  # share of a matrix's numbers below its strongest colour
ROW, LOW = 22, 200  # pixels: a row of the band, and its least height


@dataclass(frozen=True)
class Column:
    """One quantity of a band.

    title: stands below its symbol, above the numbers. width: its share of the band. limit: the value of the strongest
    colour, where quantities share a range.
    """

    key: str
    title: str
    width: float = 1
    limit: float | None = None

    @property
    def name(self) -> str:
        """The end of the key: "layers.2.attention.scores" -> "scores"."""
        return self.key.rsplit(".", 1)[-1]

    def table(self, numbers: Numbers) -> pd.DataFrame:
        """Its numbers, a row for each token."""
        columns = [f"{self.name} {place + 1}" for place in range(numbers.array.shape[1])]
        return pd.DataFrame(numbers.array, numbers.axes[0].labels, columns)


def _symbol(run: Trace, key: str) -> str:
    """The LaTeX of a quantity's symbol, with the number of its layer."""
    quantity = run.quantity(key)
    return quantity.numbered(quantity.symbol)


def strongest(run: Trace, key: str, numbers: Numbers) -> float:
    """The value of the strongest colour. In long vectors (d_model, d_ff) the few largest numbers saturate."""
    if run.axes(key)[-1] not in ("d_model", "d_ff"):
        return far_out.strongest(run, key, numbers)
    found = np.abs(numbers.array[np.isfinite(numbers.array)])
    return float(np.quantile(found, USUAL)) if found.size else 0.0


def band(
    run: Trace,
    place: Place,
    columns: Sequence[Column],
    sentence: str,
    *,
    title: str,
    focus: str | None = None,
    marks: Mapping[str, int | None] | None = None,
    framed: Mapping[str, range] | None = None,
    least: int = 0,
    most: int = 10_000,
    reads: Sequence[str] = (),
) -> Picture:
    """Several quantities side by side, with the chosen token's row outlined.

    focus: the key of the quantity that is worked out; its chosen cell is outlined. marks: key -> another column to
    outline. framed: key -> columns to frame together. least: pixels; a narrower picture scrolls sideways. most:
    pixels of its height.
    """
    rows = token_axis(run, plain("axis.token"))
    fields = [[field(one.key, axis) for axis in run.axes(one.key)[-2:]] for one in columns]
    cell = chosen_cell(run, place, focus) if focus else None
    on = Axis("", rows.labels, rows.tokens)

    def part(column: Column, whole: Numbers) -> Numbers:
        names = run.names(column.key)[-1] or ()
        axes = on, Axis("" if names else plain("common.column"), names)
        end = column.limit or strongest(run, column.key, whole) or 1.0
        return replace(whole.on(*axes), end=end, called=column.title)

    numbers = [Numbers.of(run, one.key, place.head, part=partial(part, one)) for one in columns]

    def choose(which: int, *places: int) -> dict[str, object]:
        """The values that a click sets. which: the quantity; places: row and column."""
        chosen = zip(fields[which], places, strict=True)
        return {"stage": columns[which].name} | {side: at for side, at in chosen if side}

    def matrix(column: Column, drawn: Numbers) -> Matrix:
        outlined = (marks or {}).get(column.key)
        if outlined is None and column.key == focus and cell:
            outlined = cell[-1]
        symbol = plain_math(_symbol(run, column.key)).replace("'", "′")
        return Matrix(
            drawn.array,
            Axis(symbol, run.names(column.key)[-1] or ()),
            drawn.end,
            column.width,
            outlined if outlined is not None and outlined < drawn.array.shape[1] else None,
            drawn.scale(run.quantity(column.key).scale),
            f"{column.title}<br>{sizes(drawn.array.shape)}",
            column.key == focus,
            html_math(_symbol(run, column.key)).replace("'", "′"),
            framed=(framed or {}).get(column.key, range(0)),
        )

    def draw(*drawn: Numbers) -> Figure:
        height = min(most, on_screen(max(LOW, 74 + scaled(ROW * len(rows.labels)))))
        named = Axis(rows.title, drawn[0].axes[0].labels)
        row = place.token if place.marked else None
        matrices = [matrix(column, own) for column, own in zip(columns, drawn, strict=True)]
        return abreast(matrices, named, row, height=height).tell(large=True, fills=True, least=least)

    moves = None
    if focus and cell:
        which = next(at for at, one in enumerate(columns) if one.key == focus)
        moves = Moves((place.token, cell[-1]), numbers[which].array.shape, partial(choose, which))
    return Picture(
        draw,
        sentence,
        numbers,
        title=title,
        quantity=run.quantity(focus) if focus else None,
        table=lambda *drawn: pd.concat([one.table(own) for one, own in zip(columns, drawn, strict=True)], axis=1),
        picks=choose,
        moves=moves,
        reads=reads,
    )
