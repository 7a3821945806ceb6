"""Attention weights as a map, as lines or over the picture, with the arithmetic of the chosen cell beside them."""

from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.attention.overlay import over_heads, over_layers, over_one
from pages.attention.pictures import lines, mean_through_layers, step_map
from pages.attention.read import TOLD_APART, steps_of
from pages.attention.why_there import by_hand_or_why
from pages.ui.figures.theme import scaled
from pages.ui.frame.pickers import either
from pages.ui.picture import Numbers
from pages.ui.sections.cell_map import cell_map, draw_map
from pages.ui.sections.quantity_map import chosen_cell
from pages.ui.state.choice import BETWEEN
from pages.ui.text import plain
from pages.ui.view import View

SENTENCE = 76  # pixels that stay free below the map, for its reading sentence


def weights(view: View, prefix: str, controls: DeltaGenerator) -> None:
    """The weights as a map, as lines, or over the picture, with the arithmetic of the chosen cell.

    prefix: of the keys, "layers.2.attention." and the like. controls: where to draw what decides on the picture.
    """
    key = prefix + "weights"
    with controls:
        look = _look(view)
        _between(view, prefix)
    if look == "map":
        attention_step(view, prefix, "weights", spare=SENTENCE, follows=False)
        return
    make = partial(over_one, key=key, seen=view.seen) if look == "picture" else partial(lines, key=key)
    if view.choice.big:
        view.show("weights", make)
        return
    left, right = st.columns([1, 1], gap="medium")
    with left:
        view.show("weights", make)
    with right:
        by_hand_or_why(view, key, chosen_cell(view.trace, view.at, key))


def _look(view: View) -> str:
    """Buttons for how the weights are drawn; returns what was chosen."""
    looks = {"drawing": ("picture", "map"), "single": ("map",)}.get(view.kind, ("map", "lines"))
    if len(looks) == 1:
        return looks[0]
    words, label = [plain(f"attention.as_{look}") for look in looks], plain("attention.weights_as")
    return either("as_", label, looks, words, view.choice.as_, label_visibility="collapsed")


def _between(view: View, prefix: str) -> None:
    """Of two sentences, which attends to which."""
    if prefix.startswith("layers.") and 1 in view.trace.sentence_of:
        words = [plain(f"sentences.{name}") for name in BETWEEN]
        either("between", plain("sentences.between"), BETWEEN, words, view.choice.between, label_visibility="collapsed")


def attention_step(view: View, prefix: str, step: str, **look: Any) -> None:
    """One step as a map, and beside it the arithmetic of the chosen cell. look: as for `quantity_map`."""
    make = partial(step_map, prefix=prefix, step=step, **look)
    apart = step == "scores" and view.config.distance_terms
    below = partial(_products, view, prefix) if apart else None
    cell_map(view, prefix + step, make, about=by_hand_or_why, below=below, large=step == "weights")


def _products(view: View, prefix: str) -> None:
    """The matrices that add up to the scores, side by side in one range of colours."""
    names = [term for term in steps_of(view.trace, prefix) if term in TOLD_APART]
    drawn = view.two.numbers(lambda run, place: [Numbers.of(run, prefix + name, place.head) for name in names])
    look = {"strongest": max(numbers.largest for numbers in drawn) or None, "outlined": False, "height": scaled(260)}
    for column, name in zip(st.columns(len(names)), names, strict=True):
        with column:
            draw_map(view, prefix + name, partial(step_map, prefix=prefix, step=name, **look))


def through_layers(view: View) -> None:
    """What the selected token attends to in each layer, averaged over its heads; over a drawing each head, too."""
    if view.kind != "drawing":
        view.show("layers", mean_through_layers)
        return
    for name in ("mean", "rollout"):
        view.show(f"over_{name}", partial(over_layers, name=name, seen=view.seen))
    view.show("over_heads", partial(over_heads, seen=view.seen))
