"""A large map of all tokens by all tokens, with the arithmetic of its chosen cell beside it."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from model import Trace
from model.analysis import placed
from pages.ui.components.arithmetic import arithmetic
from pages.ui.figures import Axis, heatmap
from pages.ui.sections.cell_map import LEAST
from pages.ui.state.link import select
from pages.ui.text import plain
from pages.ui.view import View

SENTENCE = 76  # pixels that stay free below the map, for its reading sentence


def strongest_other(view: View, row: np.ndarray) -> int:
    """The token with the largest value in the selected token's row, other than itself; itself where it is alone."""
    others = np.arange(len(row)) != view.token
    return int(np.where(others, row, -np.inf).argmax()) if len(row) > 1 else view.token


def token_map(
    view: View,
    name: str,
    of: Callable[[Trace], np.ndarray],
    axes: tuple[Axis, Axis],
    key: int,
    sentence: str,
    lines: Callable[[int], Sequence[str]],
    *,
    equation: str,
    scale: str = "signed",
    law_of: Sequence[str] = (),
) -> None:
    """Draw it, in a presentation alone.

    of: a run's (query, key). key: the column beside which the arithmetic stands while none is chosen. lines: of a
    column, its arithmetic in HTML.
    """
    drawn = view.measure(of, ("query", "key"))
    key = key if view.choice.key is None else view.choice.key
    cell = view.token, key

    def choose(row: int, column: int) -> None:
        select(token=row, key=column)

    limit, (rows, columns) = None if drawn.differs else drawn.largest, axes
    corner = "" if rows.title == columns.title else f"{columns.title} →\n{rows.title} ↓"
    look = {"scale": drawn.scale(scale), "limit": limit, "cell": cell, "clickable": True, "corner": corner}
    figure = heatmap(drawn.values, *axes, **look)
    large = {"numbers": True, "large": True, "wide": True, "grows": LEAST, "below": SENTENCE}
    figure.layout["meta"] = {**figure.layout.get("meta", {}), **large}
    alone = view.choice.big
    left, right = (st.container(), None) if alone else st.columns([1, 1], gap="medium")
    with left:
        more = {"equation": "" if alone else equation, "values": drawn.values, "on_pick": choose, "law_of": law_of}
        view.picture(name, figure, sentence, shows=drawn.on(*axes), **more)
        view.moves(cell, drawn.values.shape, choose)
    if right is not None:
        names = placed(view.tokens)
        with right, st.container(border=True, key=f"working.{name}"):
            pair = plain("layers.pair", token=names[view.token], other=names[key])
            st.markdown(f"**{plain('common.by_hand')}** · {pair}")
            arithmetic("".join(lines(key)), key=f"{name}_by_hand")
