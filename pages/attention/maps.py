"""Attention weights as a map or as lines, of an encoder or of a decoder's attentions."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis import placed
from pages.attention.overlay import every_weight, over_heads, over_layers, over_one
from pages.attention.read import (
    SPECIAL,
    TOLD_APART,
    attends_most,
    queries_and_keys,
    read_step,
    shown,
    shown_places,
    steps_of,
)
from pages.attention.sentences import which_sentences
from pages.attention.why_there import by_hand_or_why
from pages.ui.figures import Axis, attention_lines, heatmap
from pages.ui.figures.equations import MEAN_WEIGHTS
from pages.ui.figures.theme import scaled
from pages.ui.frame.pickers import bound, either
from pages.ui.sections.at_once import lines_at_once
from pages.ui.sections.cell_map import axes, cell_map, chosen_cell, draw_map, field
from pages.ui.state.link import select
from pages.ui.text import plain, t
from pages.ui.view import View

SENTENCE = 76  # pixels that stay free below the map, for its reading sentence
FAINTEST = 0.02  # a smaller weight has no line


def attention_map(view: View, prefix: str, controls: DeltaGenerator) -> None:
    """The weights as a map, as lines, or over the picture, with the arithmetic of the chosen cell.

    prefix: of the keys, "layers.2.attention." and the like. controls: where to draw what decides on the picture.
    """
    key = prefix + "weights"
    with controls:
        look = _look(view)
        _left_out(view, prefix)
    if look == "map":
        attention_step(view, prefix, "weights", spare=SENTENCE, follows=False)
        return
    left, right = st.columns([1, 1], gap="medium")
    with left:
        (over_one if look == "picture" else lines)(view, key)
    with right:
        by_hand_or_why(view, key, chosen_cell(view, key))


def _look(view: View) -> str:
    """Buttons for how the weights are drawn; returns what was chosen."""
    looks = {"drawing": ("picture", "map"), "single": ("map",)}.get(view.kind, ("map", "lines"))
    if len(looks) == 1:
        return looks[0]
    words, label = [plain(f"attention.as_{look}") for look in looks], plain("attention.weights_as")
    return either("as_", label, looks, words, view.choice.as_, label_visibility="collapsed")


def _left_out(view: View, prefix: str) -> None:
    """What of the tokens is not shown: [CLS] and [SEP], or all but those of one sentence."""
    _, names = queries_and_keys(view, prefix + "weights")
    if view.trace.picture is None and any(name in SPECIAL for name in names) and shown(view, names):
        look = bound(f"{view.name}.hide", view.choice.hide_special, lambda hidden: select(hide_special=hidden))
        st.toggle(plain("attention.hide_special"), width="content", **look)
    if prefix.startswith("layers."):
        which_sentences(view)


def attention_step(view: View, prefix: str, step: str, **look: int) -> None:
    """One step as a map, and beside it the arithmetic of the chosen cell. look: as for `draw_map`."""
    key = prefix + step
    rows, columns = (None, None) if step == "heads" else shown_places(view, key)
    where = {"rows": rows, "columns": columns}
    apart = step == "scores" and view.config.distance_terms
    below = partial(_products, view, prefix, **where) if apart else None
    look |= {"large": step == "weights"}
    title = plain(f"attention.{step}")
    cell_map(view, key, read_step(view, prefix, step), about=by_hand_or_why, below=below, title=title, **where, **look)


def _products(view: View, prefix: str, rows: Sequence[int] | None, columns: Sequence[int] | None) -> None:
    """The matrices that add up to the scores, side by side in one range of colours. rows, columns: those shown."""
    keys = [prefix + term for term in steps_of(view, prefix) if term in TOLD_APART]
    strongest = max(view.measure(key).largest for key in keys) or None
    look = {"strongest": strongest, "rows": rows, "columns": columns, "height": scaled(260)}
    for place, key in zip(st.columns(len(keys)), keys, strict=True):
        name = key.removeprefix(prefix)
        with place:
            draw_map(view, key, read_step(view, prefix, name), title=plain(f"attention.{name}"), **look)


def through_layers(view: View) -> None:
    """What the selected token attends to in each layer, averaged over its heads; over a drawing each head, too."""
    if view.kind == "drawing":
        over_layers(view)
        over_heads(view)
        return
    token = view.token

    def mean(run):
        return every_weight(run).mean(axis=1)

    measure, means = view.measure(mean, ("", "query", "key"))[:, token], mean(view.trace)[view.layer, token]
    best, named = int(means.argmax()), placed(view.tokens)
    sides = Axis.counted(plain("overlay.axis_layer"), view.config.layers), view.token_axis("axis.key")
    look = {"scale": measure.scale("share"), "limit": None if measure.differs else measure.largest or None}
    said = {"layer": view.layer + 1, "query": named[token], "key": named[best], "value": f"{means[best]:.2f}"}
    view.picture(
        "layers",
        heatmap(measure.values, *sides, cell=(view.layer, best), clickable=True, square=False, height=360, **look),
        t("attention.read_layers", **said),
        title=plain("overlay.mean"),
        equation=MEAN_WEIGHTS,
        values=measure.values,
        on_pick=lambda row, column: select(layer=row, key=column),
        shows=measure.on(*sides),
        law_of=["layers.{l}.attention.weights"],
    )


def lines(view: View, key: str) -> None:
    """The weights as lines from each query to each key. A click on a line, or on its end, chooses."""
    rows, columns = shown_places(view, key)
    looks, looked_at = axes(view, key)
    every = view.measure(key)
    part = every[np.ix_(rows, columns)]
    token, (_, chosen) = view.place(key), chosen_cell(view, key)[-2:]
    looking, looked = (field(key, axis) for axis in ("query", "key"))
    if token in rows and chosen in columns:
        place = rows.index(token), columns.index(chosen)
        view.moves(
            place, part.values.shape, lambda row, column: select(**{looking: rows[row], looked: columns[column]})
        )

    def choose(row: int, column: int) -> None:
        """An end of a line, or a line: the row, the column, or -1 where there is none."""
        places = {looking: rows[row]} if row >= 0 else {}
        select(**places, **({looked: columns[column]} if column >= 0 else {}))

    left, right = (Axis(side.title, [side.labels[i] for i in at]) for side, at in ((looks, rows), (looked_at, columns)))
    lit = rows.index(token) if token in rows else None
    view.picture(
        "weights",
        attention_lines(np.nan_to_num(part.values), left, right, lit, least=FAINTEST, differs=part.differs),
        attends_most(view, key),
        title=plain("attention.weights"),
        quantity=view.trace.quantity(key),
        values=part.values,
        table=partial(pd.DataFrame, every.values, index=looks.labels, columns=looked_at.labels),
        on_pick=choose,
        shows=part.on(left, right),
        at_once=lines_at_once(view, key, rows, columns, FAINTEST),
    )
