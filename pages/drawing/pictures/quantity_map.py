"""A recorded quantity as a map with clickable cells, for any model and any sizes."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from model import Trace
from model.by_hand import strongest_cell
from pages.drawing.at_once import of_every_head, unmasked
from pages.drawing.figures import Axis, Figure, heatmap
from pages.drawing.picture import Moves, Numbers, Picture, names_of
from pages.drawing.pictures import far_out
from pages.drawing.place import Place
from pages.drawing.text import plain

LEAST = 360  # pixels: the least height of a map that grows with the screen
#: Axis -> the field of Choice with the place along it.
FIELDS = {
    "token": "token",
    "target": "step",
    "query": "token",
    "key": "key",
    "distance": "distance",
    "d_k": "part",
    "d_E": "component",
    "d_model": "component",
    "heads_abreast": "component",
    "d_ff": "neuron",
    "class": "output",
}


def field(key: str, axis: str) -> str | None:
    """The field of Choice with the place along an axis of a quantity; in a decoder, target tokens are steps."""
    if key.startswith("decoder.") and axis in ("query", "target"):
        return "step"
    if _of_source(key, axis):
        return "token"
    return FIELDS.get(axis)


def _of_source(key: str, axis: str) -> bool:
    """Whether an axis counts the tokens of a decoder's source sentence."""
    return ".cross." in key and axis == "key"


def axes(run: Trace, key: str) -> tuple[Axis, ...]:
    """The two axes of a map (one for a vector), named by tokens or counted."""
    named = zip(run.axes(key)[-2:], names_of(run, key)[-2:], strict=True)
    return tuple(Axis(plain(f"axis.{kind}"), names or (), _tokens(run, names)) for kind, names in named)


def _tokens(run: Trace, names: Sequence[str] | None) -> Sequence[int]:
    return range(len(run.tokens)) if names is run.tokens else ()


def shown_places(run: Trace, place: Place, key: str) -> tuple[list[int], list[int]]:
    """The queries and keys shown for the chosen pair of sentences; all, if none would be left."""
    rows, columns = ([*range(count)] for count in run[key].shape[-2:])
    sentence_of = run.sentence_of
    if place.between == "all" or 1 not in sentence_of or not key.startswith("layers."):
        return rows, columns
    looks, looked_at = ("AB".index(name) for name in place.between)
    kept = [at for at in rows if sentence_of[at] == looks]
    kept_keys = [at for at in columns if sentence_of[at] == looked_at]
    return (kept, kept_keys) if kept and kept_keys else (rows, columns)


def chosen_cell(run: Trace, place: Place, key: str) -> tuple[int, ...]:
    """The cell that the reader chose. Where he chose none, take the strongest visible cell of the selected token's row
    (for scores and weights, the highest). No other code decides this.
    """
    kinds = run.axes(key)
    row = "query" if "query" in kinds else next((kind for kind in kinds if kind in ("token", "target")), None)
    keys = shown_places(run, place, key)[1] if "key" in kinds else None
    cell = list(strongest_cell(run, key, place.head, place.row(key) if row else None, keys))
    for axis, kind in enumerate(kinds):
        name = "source" if _of_source(key, kind) else field(key, kind) or ""
        at = place.row(key) if kind == row else getattr(place, name, None)
        if at is not None and at < run[key].shape[axis]:
            cell[axis] = at
    return tuple(cell)


def settled(run: Trace, place: Place, key: str, cell: tuple[int, ...]) -> Place:
    """A copy of the place in which this cell is chosen."""
    along = zip(run.axes(key), cell, strict=True)
    chosen = {name: at for kind, at in along if kind != "head" and (name := field(key, kind)) and name != "step"}
    return replace(place, **chosen, source=chosen.get("token") if place.step is not None else None)


def quantity_map(
    run: Trace,
    place: Place,
    key: str,
    sentence: str,
    *,
    outlined: bool = True,
    rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
    height: int | None = None,
    strongest: float | None = None,
    title: str | None = None,
    line_colour: str | None = None,
    focus: bool = False,
    keys: bool = True,
    follows: bool | None = None,
    grows: bool = False,
    fills: bool = False,
    aloud: bool = False,
    large: bool = False,
) -> Picture:
    """One quantity (of the place's head, if it has heads) as a map with clickable cells.

    outlined: whether the chosen cell is outlined. rows, columns: the places shown, in this order; all, if left out.
    strongest: the value of the strongest colour, for a range shared among maps. focus: a click also puts this quantity
    into focus. keys: whether Shift and an arrow move the cell. follows: None for a map alone; for maps side by side,
    whether an earlier map names the rows, too (on a phone each names its own). Such maps show no equation, so that
    their rows align. grows: whether it ends with the screen of a desk. fills: whether it ends with the
    screen in a presentation. aloud: the sentence is written elsewhere and only read aloud here. large: the main picture
    of the page: columns named above, numbers in cells where they fit, cells that fill the width.
    """
    quantity, whole = run.quantity(key), Numbers.of(run, key, place.head)
    across, down = axes(run, key) if quantity.axes[1:] else (Axis(""), axes(run, key)[-1])
    across_all, down_all = (1, *whole.array.shape)[-2:]
    across, rows = _part(across, rows, across_all)
    down, columns = _part(down, columns, down_all)
    at = None
    if outlined and place.marked:
        row, column = (0, *chosen_cell(run, place, key))[-2:]
        at = (rows.index(row), columns.index(column)) if row in rows and column in columns else None

    def part(numbers: Numbers) -> Numbers:
        numbers = numbers[None] if numbers.array.ndim == 1 else numbers
        end = strongest or far_out.strongest(run, key, numbers)
        return replace(numbers[np.ix_(rows, columns)].on(across, down), end=end)

    def draw(numbers: Numbers) -> Figure:
        figure = heatmap(
            numbers.array,
            *numbers.axes,
            scale=numbers.scale(quantity.scale),
            limit=numbers.end or None,
            marked=far_out.marked(far_out.far_out(run, key, numbers)),
            cell=at,
            clickable=True,
            square=quantity.axes[-1] == "key",
            line_colour=line_colour,
            height=height,
            corner=plain("axis.corner") if large else None,
        )
        figure.data[0]["z"] = unmasked(run, key, figure.data[0]["z"], (place.head, *np.ix_(rows, columns)))
        more: dict[str, object] = {"numbers": True, "large": True, "wide": True} if large else {}
        more |= {"follows": True} if follows else {}
        more |= {"grows": LEAST} if grows else {}
        more |= {"fills": True} if fills else {}
        return figure.tell(**more)

    def choose(row: int, column: int) -> dict[str, object]:
        """The values of Choice for the cell in this row and column of the picture, from 0."""
        kinds, places = ("", *quantity.axes)[-2:], (rows[row], columns[column])
        chosen = {name: at for kind, at in zip(kinds, places, strict=True) if (name := field(key, kind))}
        return chosen | ({"stage": name_of(key)} if focus else {})

    # The picture counts places without names from 1.
    first = (not across.labels), (not down.labels)
    own = replace(whole, part=part).drawn
    far = far_out.far_out(run, key, own)
    beyond = "" if far is None else far_out.in_words(far, own.array, own.axes, own.end)
    return Picture(
        draw,
        f"{sentence} {beyond}".strip(),
        replace(whole, part=part),
        written=beyond if aloud else None,
        quantity=quantity,
        shape=own.array.shape,
        title=title,
        equation=None if follows is None else "",
        picks=lambda row, column: choose(row - first[0], column - first[1]),
        moves=Moves(at, own.array.shape, choose) if at and keys else None,
        at_once=partial(of_every_head, run, place, key, "map", rows=rows, columns=columns)
        if outlined and strongest is None
        else None,
    )


def name_of(key: str) -> str:
    """The end of a key: "layers.2.attention.scores" -> "scores"."""
    return key.rsplit(".", 1)[-1]


def _part(axis: Axis, places: Sequence[int] | None, count: int) -> tuple[Axis, list[int]]:
    """The axis with only these places, and the places; places without names get their numbers."""
    if places is None:
        return axis, list(range(count))
    labels = axis.labels or [str(place + 1) for place in range(count)]
    tokens = [axis.tokens[place] for place in places] if axis.tokens else ()
    return Axis(axis.title, [labels[place] for place in places], tokens), list(places)
