"""Attention weights as a map, as lines or over the picture, beside the arithmetic of the chosen cell."""

from functools import partial
from typing import Any

import streamlit as st

from pages.attention.overlay import over_heads, over_layers, over_one
from pages.attention.pictures import lines, mean_through_layers, step_map
from pages.attention.read import steps_of
from pages.attention.why_there import by_hand_or_why
from pages.drawing.figures.theme import scaled
from pages.drawing.picture import Numbers, kind_of
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.screen import Screen
from pages.drawing.state.choice import BETWEEN
from pages.drawing.text import plain
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.sections.cell_map import cell_map, draw_map


def weights(screen: Screen, pen: Pen, prefix: str) -> None:
    """The weights as a map, as lines, or over the picture, with the arithmetic of the chosen cell.

    prefix: of the keys, "layers.2.attention." and the like.
    """
    key = prefix + "weights"
    with pen.places:
        look = _look(screen)
        _between(screen, prefix)
    if look == "map":
        attention_step(screen, pen, prefix, "weights", follows=False)
        return
    make = partial(over_one, key=key, seen=screen.seen) if look == "picture" else partial(lines, key=key)
    if screen.choice.big:
        pen.show("weights", make)
        return
    left, right = st.columns([1, 1], gap="medium")
    with left:
        pen.show("weights", make)
    with right:
        by_hand_or_why(screen, pen, key, chosen_cell(screen.run, screen.at, key))


def _look(screen: Screen) -> str:
    """Buttons for how the weights are drawn; return the choice."""
    looks = {"drawing": ("picture", "map"), "single": ("map",)}.get(kind_of(screen.run), ("map", "lines"))
    if len(looks) == 1:
        return looks[0]
    words, label = [plain(f"attention.as_{look}") for look in looks], plain("attention.weights_as")
    return either("as_", label, looks, words, screen.choice.as_, label_visibility="collapsed")


def _between(screen: Screen, prefix: str) -> None:
    """Buttons for which of two sentences attends to which."""
    if prefix.startswith("layers.") and 1 in screen.run.sentence_of:
        words = [plain(f"sentences.{name}") for name in BETWEEN]
        either(
            "between", plain("sentences.between"), BETWEEN, words, screen.choice.between, label_visibility="collapsed"
        )


def attention_step(screen: Screen, pen: Pen, prefix: str, step: str, **look: Any) -> None:
    """One step as a map, beside the arithmetic of the chosen cell. look: as for `quantity_map`."""
    large = step == "weights" or (screen.choice.big and step != "heads")  # alone on the projector
    look |= {"follows": False} if large and screen.choice.big else {}  # no equation
    make = partial(step_map, prefix=prefix, step=step, grows=large, large=large, fills=step == "heads", **look)
    apart = step == "scores" and screen.run.config.distance_terms
    below = partial(_products, screen, pen, prefix) if apart else None
    cell_map(screen, pen, prefix + step, make, about=by_hand_or_why, below=below, large=large)


def _products(screen: Screen, pen: Pen, prefix: str) -> None:
    """The matrices that add up to the scores, side by side with one range of colours."""
    steps = steps_of(screen.run, prefix)
    names = steps[: steps.index("scores")]
    drawn = screen.two.numbers(lambda run, place: [Numbers.of(run, prefix + name, place.head) for name in names])
    look = {"strongest": max(numbers.largest for numbers in drawn) or None, "outlined": False, "height": scaled(260)}
    for column, name in zip(st.columns(len(names)), names, strict=True):
        with column:
            draw_map(screen, pen, prefix + name, partial(step_map, prefix=prefix, step=name, **look))


def through_layers(screen: Screen, pen: Pen) -> None:
    """The selected token's attention in each layer, averaged over heads; for drawings also each head and, except in a
    presentation, rollout.
    """
    if kind_of(screen.run) != "drawing":
        pen.show("layers", mean_through_layers)
        return
    left, right = st.columns(2, gap="medium")
    with left:
        for name in ("mean",) if screen.choice.big else ("mean", "rollout"):
            pen.show(f"over_{name}", partial(over_layers, name=name, seen=screen.seen))
    with right:
        pen.show("over_heads", partial(over_heads, seen=screen.seen))
