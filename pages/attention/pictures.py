"""Attention as maps and as lines, in an encoder or a decoder."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import placed
from pages.attention.overlay import every_weight
from pages.attention.read import attends_most, read_step
from pages.drawing.at_once import of_every_head
from pages.drawing.figures import Axis, Figure, attention_lines, heatmap, on_screen
from pages.drawing.figures.equations import MEAN_WEIGHTS
from pages.drawing.figures.points import line_colours
from pages.drawing.picture import Moves, Numbers, Picture, token_axis
from pages.drawing.pictures.quantity_map import axes, chosen_cell, field, quantity_map, shown_places
from pages.drawing.place import Place
from pages.drawing.scales import mean_end
from pages.drawing.text import plain, t
from pages.drawing.text.numbers import first

FAINTEST = 0.02  # a smaller weight has no line
HIGH = 500  # pixels of the map through all layers


def attention_map(run: Trace, place: Place, **look: Any) -> Picture:
    """The weights of one head. look: as for `quantity_map`."""
    return step_map(run, place, place.of("layers.{l}.attention."), "weights", **look)


def step_map(run: Trace, place: Place, prefix: str, step: str, **look: Any) -> Picture:
    """One step of attention as a map. prefix: of the keys, "layers.2.attention.". look: as for `quantity_map`."""
    key = prefix + step
    rows, columns = (None, None) if step == "heads" else shown_places(run, place, key)
    said = read_step(run, place, prefix, step, (rows, columns))
    look = {"title": plain(f"attention.{step}"), "large": step == "weights"} | look
    return quantity_map(run, place, key, said, rows=rows, columns=columns, **look)


def lines(run: Trace, place: Place, key: str) -> Picture:
    """The weights as lines from each query to each key. A click on a line or a token chooses it."""
    rows, columns = shown_places(run, place, key)
    looks, looked_at = axes(run, key)
    token, (_, chosen) = place.row(key), chosen_cell(run, place, key)[-2:]
    looking, looked = (field(key, axis) for axis in ("query", "key"))
    left, right = (_some(side, at) for side, at in ((looks, rows), (looked_at, columns)))

    def choose(row: int, column: int) -> dict[str, object]:
        """The values of Choice for a line or a token. row, column: -1 for none."""
        ends = ((looking, rows, row), (looked, columns, column))
        return {name: places[at] for name, places, at in ends if at >= 0 and name}

    def draw(part: Numbers) -> Figure:
        lit = rows.index(token) if token in rows else None
        sides = part.axes[0], part.axes[1]
        return attention_lines(np.nan_to_num(part.array), *sides, lit, least=FAINTEST, differs=part.differs)

    at = (rows.index(token), columns.index(chosen)) if token in rows and chosen in columns else None
    whole = Numbers.of(run, key, place.head, part=lambda every: every[np.ix_(rows, columns)].on(left, right))
    look = {"rows": rows, "columns": columns, "least": FAINTEST, "colours": line_colours()}
    return Picture(
        draw,
        attends_most(run, place, key, (rows, columns)),
        whole,
        title=plain("attention.weights"),
        quantity=run.quantity(key),
        shape=(len(rows), len(columns)),
        table=lambda part: pd.DataFrame(part.array, index=part.axes[0].labels, columns=part.axes[1].labels),
        picks=choose,
        moves=Moves(at, (len(rows), len(columns)), choose) if at else None,
        at_once=lambda: of_every_head(run, place, key, "lines", **look),
    )


def _some(axis: Axis, places: Sequence[int]) -> Axis:
    return Axis(axis.title, [axis.labels[i] for i in places], [axis.tokens[i] for i in places] if axis.tokens else ())


def mean_through_layers(run: Trace, place: Place) -> Picture:
    """The selected token's attention in each layer, averaged over the heads."""
    means, named = every_weight(run).mean(axis=1), placed(run.tokens)
    best = first(means[place.layer, place.token])
    key = best.place if place.key is None else place.key
    layers = Axis.counted(plain("axis.layer"), run.config.layers)
    sides = layers, token_axis(run, plain("axis.key"))
    said = {"layer": place.layer + 1, "query": named[place.token], "key": named[best.place]}
    said |= {"value": best}

    def draw(rows: Numbers) -> Figure:
        figure = heatmap(
            rows.array,
            *rows.axes,
            scale=rows.scale("share"),
            limit=None if rows.differs else mean_end(rows.array),
            cell=(place.layer, key),
            clickable=True,
            square=False,
            height=on_screen(HIGH),
        )
        return figure.tell(numbers=True, fills=True)

    return Picture(
        draw,
        t("attention.read.layers", **said),
        Numbers(means, ("", "query", "key"), lambda every: every[:, place.token].on(*sides)),
        title=plain("overlay.mean"),
        equation=MEAN_WEIGHTS,
        shape=(run.config.layers, len(run.tokens)),
        picks=lambda row, column: {"layer": row, "key": column},
        shares=["layers.{l}.attention.weights"],
        every_head=True,
    )
