"""Tokens: the vector of each token, its position, and their sum X⁰, which the first layer reads."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model.checkpoints.images import CheckpointImageReader
from model.neurons import is_word
from pages.drawing.page import Page, Tabs, rows
from pages.drawing.picture import Picture, kind_of
from pages.drawing.pictures.quantity_map import chosen_cell, name_of
from pages.drawing.screen import Screen, content_word
from pages.drawing.state.choice import Choice
from pages.drawing.text import t
from pages.screen.frame.pen import Pen
from pages.screen.runs.worked_out import neighbours
from pages.screen.sections.working import working
from pages.tokens import pictures
from pages.tokens.order import word_order
from pages.tokens.pictures import (
    SCHEMES,
    about_root,
    all_positions,
    colours,
    cut,
    drawing_steps,
    in_colour,
    in_waves,
    one_sum,
    pixels_of_one,
    summands,
    text,
)
from pages.tokens.tokenization import tokenization

CLEARLY = 0.5  # of 1, the most that a position adds
#: Tabs of before -> where they are shown now.
FORMER = {"prepared": "pieces", "vectors": "one"} | dict.fromkeys(("waves", "compare", "maps"), "positions")


def equation_of(screen: Screen) -> str:
    result = "embedding.sum" if "embedding.sum" in screen.run else screen.run.graph.stream(0)[0]
    return rows(*dict.fromkeys(("embedding.tokens", result)))(screen)


def purpose_of(screen: Screen) -> str:
    return "tokens.purpose" if screen.run.config.places_added else "tokens.purpose_unplaced"


def tabs(screen: Screen) -> Tabs:
    words = screen.run.picture is None
    tabs = {"one": one_token, "pieces": tokenization if words else patches}
    tabs |= {"order": word_order} if words else {}
    return tabs | ({"positions": positions} if words or kind_of(screen.run) != "single" else {})


def of_a_word(screen: Screen, choice: Choice) -> Screen:
    """About a content word, or the patch with most in it, where nobody has chosen a token and the usual one is hidden
    or stands in front; and about the largest number of it among the sines that the position moves.
    """
    run, at = screen.run, screen.at
    if choice.token is None and run.patches is not None and at.token < run.config.tokens_in_front:
        screen = with_(screen, token=run.config.tokens_in_front + int(run.patches.std(axis=1).argmax()))
    elif choice.token is None and run.tokens[at.token] == "[MASK]":
        screen = with_(screen, token=content_word(run))
    waves = in_waves(run)
    if choice.component is None and waves:
        sines = waves[: len(waves) // 2]
        placed, summed = (np.abs(run[key][screen.at.token, sines]) for key in ("embedding.positions", "embedding.sum"))
        screen = with_(screen, component=sines[int((summed * (placed > CLEARLY)).argmax())])
    return screen


def with_(screen: Screen, **chosen: int) -> Screen:
    return replace(screen, choice=screen.choice.with_(**chosen))


def one_token(screen: Screen, pen: Pen) -> None:
    """The selected token's row of X⁰ as one sum, of a word the nearest rows of E, of a patch its pixels; beside it
    all positions, and a number by hand.
    """
    run, named = screen.run, {name_of(key): key for key in summands(screen.run)}
    left, *right = pen.columns(8, 5)
    with left:
        pen.show_both("one", one_sum)
        if screen.choice.big:
            st.markdown(t(purpose_of(screen)))
            return
        if run.picture is None:
            found = neighbours(screen.choice.pipeline, run.ids[screen.at.token])
            others = [i for i, name in zip(run.ids, run.tokens, strict=True) if is_word(name)]
            if found[0] or others:
                fixed = screen.shows == "difference"
                pen.show("neighbours", partial(pictures.nearest, found=found, others=others, fixed=fixed))
        else:
            whole, one = st.columns([2, 3], gap="medium")
            with whole:
                still(screen, pen, "patches", cut(run, screen.at, screen.seen))
            if screen.at.token >= run.config.tokens_in_front:
                with one:
                    still(screen, pen, "pixels", pixels_of_one(run, screen.at, screen.seen))
    with right[0]:
        if run.picture is None and run.config.places_added and len(run.tokens) > 1:
            pen.show("all_positions", all_positions)  # above what a click makes longer
        key = named.get(screen.choice.stage or "", [*named.values()][-1])
        working(screen, pen, key, chosen_cell(run, screen.at, key))
        if root := about_root(run):
            st.caption(root)


def positions(screen: Screen, pen: Pen) -> None:
    """The pictures of each way in which this network tells positions."""
    for scheme in SCHEMES:
        if scheme.used(screen.run.config):
            for column, (name, make) in zip(st.columns(len(scheme.pictures)), scheme.pictures.items(), strict=True):
                with column:
                    pen.show(name, make)


def patches(screen: Screen, pen: Pen) -> None:
    """From the picture to its patches, step by step."""
    run = screen.run
    drawn, reader = (
        screen.choice.other_drawing if screen.shows == "other" else screen.choice.drawing,
        screen.pipeline.reader,
    )
    if in_colour(screen.seen) and isinstance(reader, CheckpointImageReader):
        steps = {"colours": colours(run, reader)}
    else:
        steps = drawing_steps(run, drawn)
    steps["patches"] = cut(run, screen.at, screen.seen)
    for column, (name, picture) in zip(st.columns(len(steps)), steps.items(), strict=True):
        with column:
            still(screen, pen, name, picture)
    if front := run.tokens[: run.config.tokens_in_front]:
        st.markdown(text("read.front", front=" ".join(front)))


def still(screen: Screen, pen: Pen, name: str, picture: Picture) -> None:
    """A picture of the input, which no change of the run moves."""
    pen.show(name, picture.with_(fixed=screen.shows == "difference"))


def code_of(screen: Screen) -> Sequence[object]:
    embedding = screen.pipeline.network.embedding
    placed = embedding.positions if screen.run.config.places_added else screen.pipeline.network.layers[0].attention
    return type(embedding), type(placed)


PAGE = Page(
    name="tokens",
    tabs=tabs,
    former=FORMER,
    tokenless=("pieces words",),
    equation=equation_of,
    purpose=purpose_of,
    about=of_a_word,
    code=code_of,
)
