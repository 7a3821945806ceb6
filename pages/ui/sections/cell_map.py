"""A recorded quantity as a map, with the arithmetic of the chosen cell beside it. For any model and any sizes."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from model.by_hand import strongest_cell
from model.edits import PARTS
from pages.ui import figures
from pages.ui.figures import Axis
from pages.ui.runs.measure import place_in_words
from pages.ui.sections import far_out
from pages.ui.sections.at_once import map_at_once
from pages.ui.sections.working import working
from pages.ui.state.link import select
from pages.ui.text import plain, t
from pages.ui.view import View

ABREAST = 3  # maps side by side
LEAST = 360  # pixels: the height of a map that grows with the screen, where that is low
LOW = 470  # the height of several maps in a presentation, so that their sentence stands on the first screen
#: The field of Choice in which a place along each axis is kept.
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
    """Where a place along an axis of a quantity is kept: in a decoder, what is written is counted in steps."""
    if key.startswith("decoder.") and axis in ("query", "target"):
        return "step"
    if ".cross." in key and axis == "key":
        return "token"
    return FIELDS.get(axis)


def axes(view: View, key: str) -> tuple[Axis, ...]:
    """The two axes of a map (of a vector its only one), named by their tokens, or counted."""
    names = view.names(key)[-2:]
    kinds = view.trace.axes(key)[-2:]
    return tuple(Axis(plain(f"axis.{kind}"), labels or ()) for kind, labels in zip(kinds, names, strict=True))


def chosen_cell(view: View, key: str) -> tuple[int, ...]:
    """The cell that the reader chose; what nobody chose is where the selected token's row is strongest."""
    kinds = view.trace.axes(key)
    row = "query" if "query" in kinds else next((kind for kind in kinds if kind in ("token", "target")), None)
    cell = list(strongest_cell(view.trace, key, head=view.choice.head, token=view.place(key) if row else None))
    for axis, kind in enumerate(kinds):
        place = view.place(key) if kind == row else getattr(view.choice, field(key, kind) or "", None)
        if place is not None and place < view.trace[key].shape[axis]:
            cell[axis] = place
    return tuple(cell)


def limit(view: View, key: str) -> float:
    """The value of the strongest colour: see `far_out.strongest`."""
    return far_out.strongest(view, key, view.measure(key))


def draw_map(
    view: View,
    key: str,
    sentence: str,
    *,
    cell: tuple[int, ...] | None = None,
    rows: Sequence[int] | None = None,
    columns: Sequence[int] | None = None,
    height: int | None = None,
    strongest: float | None = None,
    title: str | None = None,
    line_colour: str | None = None,
    focus: bool = False,
    keys: bool = True,
    follows: bool | None = None,
    spare: int = 0,
    aloud: bool = False,
    large: bool = False,
) -> None:
    """The map of one quantity (of the chosen head), each cell of which can be clicked.

    cell: outlined, an index into the recorded value. rows, columns: the places shown, in that order; all if left out.
    strongest: the value of the strongest colour, for a range shared among maps. focus: a click also puts this quantity
    into focus, on pages that show several. keys: whether Shift and an arrow move the cell.
    follows: of maps side by side, whether another one names the rows for it, too; on a phone, each for itself. Their
    headings are of one height, so that rows stand beside rows: no equation stands there. spare: the map grows with the
    screen, but for so many pixels that stay free below it. aloud: the sentence is this map's text alternative alone; it
    is written elsewhere, for several maps. large: it is the picture of the page, with its columns named above, numbers
    in its cells where they fit, and cells that fill its column.
    """
    quantity = view.trace.quantity(key)
    shown = view.measure(key)
    if shown.values.ndim == 1:
        shown = shown[None]
    across, down = axes(view, key) if quantity.axes[1:] else (Axis(""), axes(view, key)[-1])
    across, rows = _part(across, rows, len(shown.values))
    down, columns = _part(down, columns, shown.values.shape[1])
    shown = shown[np.ix_(rows, columns)]
    outlined = None
    if cell is not None:
        row, column = (0, *cell)[-2:]
        if row in rows and column in columns:
            outlined = rows.index(row), columns.index(column)
    end = strongest or limit(view, key)
    far = far_out.far_out(view, key, shown.values)
    figure = figures.heatmap(
        shown.values,
        across,
        down,
        scale=shown.scale(quantity.scale),
        limit=end or None,
        marked=far_out.marked(far),
        cell=outlined,
        clickable=True,
        square=quantity.axes[-1] == "key",
        line_colour=line_colour,
        height=height,
        corner=plain("axis.corner") if large else None,
    )
    if large:
        figure.layout["meta"] = {**figure.layout.get("meta", {}), "numbers": True, "large": True, "wide": True}
    if follows:
        figure.layout["meta"] = {**figure.layout.get("meta", {}), "follows": True}
    if spare:
        figure.layout["meta"] = {**figure.layout.get("meta", {}), "grows": LEAST, "below": spare}
    kinds = ("", *quantity.axes)[-2:]

    def choose(row: int, column: int) -> None:
        """Choose the cell in this row and column of the picture, counted from 0."""
        places = {
            name: along[place]
            for kind, along, place in zip(kinds, (rows, columns), (row, column), strict=True)
            if (name := field(key, kind))
        }
        select(**places, **({"stage": _name(key)} if focus else {}))

    # Places without names are counted from 1 in the picture.
    picked = (not across.labels), (not down.labels)
    if outlined and keys:
        view.moves(outlined, shown.values.shape, choose)
    beyond = "" if far is None else far_out.in_words(far, shown.values, (across, down), end)
    view.picture(
        _name(key),
        figure,
        f"{sentence} {beyond}".strip(),
        written=beyond if aloud else None,
        quantity=quantity,
        values=shown.values,
        title=title,
        equation=None if follows is None else "",
        on_pick=lambda row, column: choose(row - picked[0], column - picked[1]),
        shows=shown.on(across, down),
        still=view.beside(key),  # the other stands there too
        at_once=map_at_once(view, key, rows, columns) if cell and strongest is None else None,
    )


def draw_other(
    view: View,
    key: str,
    cell: tuple[int, ...] | None = None,
    *,
    columns: Sequence[int] | None = None,
    strongest: float | None = None,
    height: int | None = None,
    title: str | None = None,
    **_: object,
) -> None:
    """The same map of the other input's run, in the same colours, to stand beside this one.

    A click chooses what stands in that place here. cell: outlined where it has a counterpart. columns, strongest,
    height, title: as for `draw_map`, of which the rest is for the first map only; of tokens all are shown.
    """
    other = view.other
    assert other is not None  # it stands beside this one
    quantity, values = view.trace.quantity(key), other[key]
    values = values[view.choice.head] if quantity.axes[0] == "head" else values
    values = values[None] if values.ndim == 1 else values
    kinds, names = ("", *quantity.axes)[-2:], (None, *other.names(key))[-2:]
    across, down = (
        Axis(plain(f"axis.{kind}") if kind else "", labels or ()) for kind, labels in zip(kinds, names, strict=True)
    )
    down, shown = _part(down, None if down.labels else columns, values.shape[1])
    values, places = values[:, shown], (range(len(values)), shown)
    # What a row or a column of the picture is here: a token's counterpart, or the same place, or the same distance.
    further = len(view.trace.tokens) - len(other.tokens)
    here = [
        {view.counterpart(token): token for token in range(len(view.trace.tokens))}
        if PARTS.get(kind) in ("token", "looked_at")
        else {place: place + further * (kind == "distance") for place in along}
        for kind, along in zip(kinds, places, strict=True)
    ]
    chosen = [
        next((at for at, place in enumerate(along) if mine.get(place, -1) == one), None)
        for one, along, mine in zip((0, *cell)[-2:] if cell else (-2, -2), places, here, strict=True)
    ]
    figure = figures.heatmap(
        values,
        across,
        down,
        scale=quantity.scale,
        limit=strongest or limit(view, key) or None,
        marked=far_out.marked(far_out.far_out(view, key, values)),
        cell=None if None in chosen else tuple(chosen),
        clickable=True,
        square=quantity.axes[-1] == "key",
        height=height,
    )
    picked = (not across.labels), (not down.labels)  # counted from 1 in the picture

    def choose(row: int, column: int) -> None:
        picks = zip(kinds, places, here, (row - picked[0], column - picked[1]), strict=True)
        found = {field(key, kind): mine.get(along[at]) for kind, along, mine, at in picks if field(key, kind)}
        select(**{name: place for name, place in found.items() if place is not None})

    seen = np.where(np.isfinite(values), np.abs(values), 0)
    place = np.unravel_index(seen.argmax(), seen.shape)
    largest = {"place": place_in_words((across, down), place), "value": f"{values[place]:.2f}".replace("-", "−")}
    said = t("compare.read_there", **largest)
    title = plain("compare.there", title=title or plain(f"{view.name}.{_name(key)}"))
    view.picture(f"other_{_name(key)}", figure, said, values=values, title=title, on_pick=choose, still=True)


def cell_map(
    view: View,
    key: str,
    sentence: str,
    *,
    cell: tuple[int, ...] | None = None,
    about: Callable[[View, str, tuple[int, ...]], None] = working,
    below: Callable[[], None] | None = None,
    **look: object,
) -> None:
    """One map, and beside it what there is to say `about` its chosen cell: mostly its arithmetic. In a presentation the
    map alone.

    cell: the chosen one, where it is not that of `chosen_cell`. below: draws what stands under the map. look: as for
    `draw_map`.
    """
    cell = cell or chosen_cell(view, key)
    if view.choice.big and not view.beside(key):  # one picture, as large as the screen lets it
        draw_map(view, key, sentence, cell=cell, **look)
        return
    left, right = st.columns([1, 1] if look.get("large") else [3, 2], gap="medium")
    with left:
        draw_map(view, key, sentence, cell=cell, **look)
        if below:
            below()
    with right:
        if view.beside(key):
            draw_other(view, key, cell, **look)
        else:
            about(view, key, cell)


def cell_maps(
    view: View,
    keys: Sequence[str],
    sentences: Sequence[str] | str,
    looks: Sequence[dict] = (),
    *,
    stacked: int = 0,
    first: int = -1,
    below: Callable[[], None] | None = None,
) -> str:
    """Several maps, and the arithmetic of the one in focus: that which was clicked. Returns its key.

    They stand ABREAST side by side; or stacked, as wide maps want it, so many in a row; in a presentation without the
    arithmetic. The chosen cell is outlined in each map with the same axes. sentences: one for each map, or one for all,
    below them. looks: for each map, as for `draw_map`. first: the map in focus before any was clicked. below: draws
    what stands under the arithmetic.
    """
    named = {_name(key): key for key in keys}
    focused = named.get(view.choice.stage or "", keys[first])
    cell = chosen_cell(view, focused)
    widths = [1.25, 1, 1][: stacked or min(len(keys), ABREAST)]  # the first names the rows
    if alone := view.choice.big:  # the pictures, as large as the screen lets them
        left = st.container()
    else:
        left, right = st.columns([3, 2] if stacked or len(widths) == 1 else [sum(widths), 1.5], gap="small")
    with left:
        places = [place for _ in keys[:: len(widths)] for place in st.columns(widths, gap="small")]
    together = isinstance(sentences, str)
    each = [sentences] * len(keys) if together else sentences
    for at, (place, key, sentence) in enumerate(zip(places, keys, each, strict=False)):
        beside = keys[at - at % len(widths)]  # the map that names its rows
        follows = beside != key and view.trace.axes(beside)[-2] == view.trace.axes(key)[-2] if len(widths) > 1 else None
        outlined = cell if view.trace.axes(key) == view.trace.axes(focused) else None
        look = {"aloud": together, "height": LOW if together and view.choice.big else None} | (
            looks[at] if looks else {}
        )
        with place:
            draw_map(view, key, sentence, cell=outlined, focus=True, keys=key == focused, follows=follows, **look)
            if view.beside(key):
                draw_other(view, key, outlined, **look)
    if together:
        with left, st.container(key="reading"):
            st.markdown(sentences)
    if not alone:
        with right:
            working(view, focused, cell)
            if below:
                below()
    return focused


def _name(key: str) -> str:
    """What a quantity is called on its page: "layers.2.attention.scores" -> "scores"."""
    return key.rsplit(".", 1)[-1]


def _part(axis: Axis, places: Sequence[int] | None, count: int) -> tuple[Axis, list[int]]:
    """The axis with only these places, and the places; counted ones get their numbers for names."""
    if places is None:
        return axis, list(range(count))
    labels = axis.labels or [str(place + 1) for place in range(count)]
    return Axis(axis.title, [labels[place] for place in places]), list(places)
