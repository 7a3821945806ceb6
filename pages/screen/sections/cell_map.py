"""Recorded quantities as maps, with the chosen cell's arithmetic beside them, for any model and any sizes."""

from collections.abc import Callable, Sequence
from functools import partial

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.drawing.picture import Make, Numbers
from pages.drawing.pictures.quantity_map import chosen_cell, name_of, quantity_map, settled
from pages.drawing.place import Place
from pages.drawing.screen import Screen
from pages.screen.frame.pen import Pen
from pages.screen.sections.working import working

ABREAST = 3  # maps side by side


def draw_map(
    screen: Screen, pen: Pen, key: str, make: Make, at: Place | None = None, words: DeltaGenerator | None = None
) -> None:
    """The map of one quantity and, if the reader compares side by side, the other run's below.

    at: the place, if not the one on the screen. words: as for `Pen.show`.
    """
    drawn = pen.show(name_of(key), make, at=at, noted=not screen.two.beside, words=words)
    if screen.two.beside:
        draw_other(screen, pen, key, make, drawn, at)


def draw_other(
    screen: Screen, pen: Pen, key: str, make: Make, here: Sequence[Numbers], at: Place | None = None
) -> None:
    """The same map of the other run, with the counterpart of the chosen cell outlined.

    here: the numbers of this run.
    """
    cell = chosen_cell(screen.run, at or screen.at, key)
    pen.show_other(name_of(key), make, here, settled(screen.run, at or screen.at, key, cell))


def cell_map(
    screen: Screen,
    pen: Pen,
    key: str,
    make: Make,
    *,
    about: Callable[[Screen, Pen, str, tuple[int, ...]], None] = working,
    below: Callable[[], None] | None = None,
    large: bool = False,
) -> None:
    """One map and, except in a presentation, what `about` draws of its chosen cell beside it: mostly the arithmetic.

    key: the quantity shown. below: draws under the map. large: whether it is the main picture of the page.
    """
    if screen.choice.big and not screen.two.beside:  # one picture, as large as the screen allows
        pen.show(name_of(key), make, words=st.container() if large else None)
        return
    left, right = st.columns([1, 1] if large else [3, 2], gap="medium")
    with left:
        drawn = pen.show(name_of(key), make, noted=not screen.two.beside)
        if below:
            below()
    with right:
        if screen.two.beside:
            draw_other(screen, pen, key, make, drawn)
        else:
            about(screen, pen, key, chosen_cell(screen.run, screen.at, key))


def cell_maps(
    screen: Screen,
    pen: Pen,
    keys: Sequence[str],
    sentences: Sequence[str] | str,
    looks: Sequence[dict] = (),
    *,
    first: int = -1,
) -> str:
    """Several maps, ABREAST in a row, and the arithmetic of the map in focus, the one clicked; return its key.

    A presentation omits the arithmetic. The chosen cell is outlined in each map with the same axes. sentences: one for
    each map, or one for all, below them. looks: for each map, as for `quantity_map`. first: the map in focus before any
    click.
    """
    run, named = screen.run, {name_of(key): key for key in keys}
    focused = named.get(screen.choice.stage or "", keys[first])
    cell = chosen_cell(run, screen.at, focused)
    at = settled(run, screen.at, focused, cell)
    widths = [1.25, 1, 1][: min(len(keys), ABREAST)]  # the first names the rows
    if alone := screen.choice.big:  # pictures as large as the screen allows
        left = st.container()
    else:
        left, right = st.columns([3, 2] if len(widths) == 1 else [sum(widths), 1.5], gap="small")
    with left:
        places = [place for _ in keys[:: len(widths)] for place in st.columns(widths, gap="small")]
    together = isinstance(sentences, str)
    fills = alone and len(keys) <= ABREAST
    each = [sentences] * len(keys) if together else sentences
    for number, (place, key, sentence) in enumerate(zip(places, keys, each, strict=False)):
        beside = keys[number - number % len(widths)]  # the map that names its rows
        follows = beside != key and run.axes(beside)[-2] == run.axes(key)[-2] if len(widths) > 1 else None
        look: dict[str, object] = {"aloud": together, "fills": fills}
        look |= {"focus": True, "keys": key == focused, "follows": follows}
        look |= {"outlined": run.axes(key) == run.axes(focused)} | (looks[number] if looks else {})
        with place:
            draw_map(screen, pen, key, partial(quantity_map, key=key, sentence=sentence, **look), at)
    if together:
        with left, st.container(key="reading"):
            st.markdown(sentences)
    if not alone:
        with right:
            working(screen, pen, focused, cell)
    return focused
