"""Attention step by step: scores, scaled, masked, weights and weighted sum side by side, one of them worked out."""

from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from pages.attention.fillers import padding
from pages.attention.overlay import pieces_of
from pages.attention.read import read_step, steps_of
from pages.attention.why_there import by_hand_or_why
from pages.drawing.figures import Axis, colour_tiles, tiles
from pages.drawing.picture import Numbers, kind_of
from pages.drawing.pictures.band import Column, band
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.screen import Screen
from pages.drawing.text import plain, t
from pages.screen.components.chart import chart
from pages.screen.components.player import player
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.link import select

SECONDS = 2.0  # for each step while playing
WIDE = 0.7  # width of the weighted sum, where a map has 1
LEAST = 150  # pixels of each step on a phone
MOST = 312  # pixels of the band, which leave room for the arithmetic of every step: no step moves what is below


def attention_steps(screen: Screen, pen: Pen, prefix: str) -> None:
    """All steps in one band; below, its sentence and buttons for them, beside them the cell's arithmetic.

    A presentation has the buttons alone.
    """
    run = screen.run
    steps, at = steps_of(run, prefix), replace(screen.at, between="all")  # the band shows all tokens
    step = screen.choice.stage if screen.choice.stage in steps else steps[0]
    band_row = st.container()
    left, *right = pen.columns(1, 2)
    every = screen.two.numbers(lambda run, place: [Numbers.of(run, prefix + one, place.head) for one in steps])
    compared = dict(zip(steps, every, strict=True))
    hides = not np.isfinite(run[prefix + "masked"][at.head]).all()
    before = steps[steps.index("masked") - 1]  # the map that a mask which hides nothing leaves as it is
    drawn = [one for one in steps if hides or one != "masked"]
    limit = max(compared[one].largest for one in steps[: steps.index("weights")]) or None
    columns = [
        Column(
            prefix + one,
            plain(f"attention.{one}") if hides or one != before else unmasked(one),
            WIDE if one == "heads" else 1,
            None if one in ("weights", "heads") else limit,
        )
        for one in drawn
    ]
    focus = prefix + (step if step in drawn else before)
    look = {"title": plain("attention.steps_title"), "focus": focus, "least": LEAST * len(drawn)}
    look |= {} if screen.choice.big else {"most": MOST}
    said = read_step(run, at, prefix, step)
    with band_row:
        pen.show_both("steps", partial(band, columns=columns, sentence=said, **look), at, words=left)
    with left, st.container(horizontal=True, vertical_alignment="center"):
        _stepper(step, steps)
    if not right:
        return
    cell = chosen_cell(run, at, prefix + step)
    with right[0]:
        by_hand_or_why(screen, pen, prefix + step, cell, beside=left)
    with left:
        if step == "scores" and kind_of(run) == "drawing":
            patch_pair(screen, *cell[-2:])
        if step == "masked" and kind_of(run) == "words":
            about_masks(screen, pen, prefix)


def unmasked(step: str) -> str:
    """The title of the map before a mask that hides nothing."""
    return plain("attention.unmasked", name=plain(f"attention.{step}"))


def _stepper(step: str, steps: tuple[str, ...]) -> None:
    """Buttons for the steps, and one that plays them."""
    parts = steps.index("scores")  # the steps before it add up to the scores
    named = {"scores": "sum", "scaled": "scaled_sum"} if parts else {}
    words = [plain(f"attention.step.{named.get(name, name)}", parts=parts) for name in steps]
    either("stage", plain("attention.steps"), steps, words, step, label_visibility="collapsed")
    player("attention", steps.index(step), len(steps), lambda shown: select(stage=steps[shown]), SECONDS)


def about_masks(screen: Screen, pen: Pen, prefix: str) -> None:
    """[MASK] is a word and no mask; what a mask does to [PAD]; and a link to a mask that hides something."""
    st.markdown(t("attention.mask_is_no_word"))
    padding(screen, pen)
    if screen.run.graph[prefix + "masked"].window is None:  # else this mask hides something itself
        pen.way_to("translation", plain("attention.way_masks"), tab="inside", block="attention", stage="masked")


def patch_pair(screen: Screen, query: int, key: int) -> None:
    """The pixels of a score's query and key, side by side."""
    tokens, front = screen.run.tokens, screen.run.config.tokens_in_front
    shown = [place for place in (query, key) if place >= front]
    if shown and screen.seen is not None:
        pixels = pieces_of(screen.run, screen.seen)[[place - front for place in shown]][None]
        names = [tokens[place] for place in shown]
        draw = colour_tiles if pixels.ndim == 5 else tiles
        figure = draw(pixels, Axis(""), Axis("", names), hover=names, height=120)
        figure.layout["width"] = 110 * len(shown) + 20
        for trace in figure.data:
            if trace["type"] == "heatmap":
                trace["showscale"] = False
        chart(figure, "attention.pair", alt=" · ".join(names))
    if len(shown) < 2:
        st.caption(t("overlay.cls_has_no_pixels"))
