"""Queries, keys, values: three projections of the same vectors, for the chosen layer and head."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model.analysis import placed
from model.sublayers import MultiHeadAttention
from pages.drawing.figures import role_colours
from pages.drawing.figures.equations import plain_math
from pages.drawing.page import LAYER_AND_HEAD, Page, rows
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.pictures.shared_weights import shared_weights
from pages.drawing.screen import Screen
from pages.drawing.text.numbers import two
from pages.queries_keys_values import pictures
from pages.queries_keys_values.pictures import PREFIX, matrix, paired_with, passed_on, products, scores, text, word
from pages.screen.frame.pen import Pen
from pages.screen.sections.cell_map import cell_maps, draw_map
from pages.screen.sections.working import working

ROLES = ("Q", "K", "V")
#: All that encoders compute here, in the order drawn.
MADE = (*ROLES, "Q_rotated", "K_rotated", "Q_distance", "K_distance")


def maps(screen: Screen, pen: Pen) -> None:
    """The three vectors of every token, and what else this encoder computes from them."""
    run, at = screen.run, screen.at
    made = [name for name in MADE if at.of(PREFIX + name) in run]
    own = (run[at.of(PREFIX + role)][at.head, at.token] for role in ROLES)
    lengths = {role: two(np.linalg.norm(vector)) for role, vector in zip("qkv", own, strict=True)}
    said = text(
        "read_maps",
        token=placed(run.tokens)[at.token],
        where=at.where(),
        first=at.head * run.config.d_k + 1,
        last=(at.head + 1) * run.config.d_k,
        **lengths,
    )
    if "Q_rotated" in made:
        said += " " + text("read_rotated")
    if of_distances := [plain_math(run.graph[at.of(PREFIX + name)].symbol) for name in MADE[5:] if name in made]:
        said += " " + text("read_distances", names=" · ".join(of_distances))
    looks = [{"title": word(name), "line_colour": role_colours()[name[0]]} for name in made]
    cell_maps(screen, pen, [at.of(PREFIX + name) for name in made], said, looks, first=0)


def pair(screen: Screen, pen: Pen) -> None:
    """The selected token's query times one key, product by product, and the weighted value; beside them its scores with
    all keys, and this score's arithmetic. In a presentation, only the products.
    """
    key = screen.at.of(f"{PREFIX}scores")
    at = replace(screen.at, key=paired_with(screen.run, screen.at))
    left, *right = pen.columns(3, 2)
    with left:
        pen.show("products", products)
        if right:
            pen.show("passed", passed_on)
    for column in right:
        with column:
            draw_map(screen, pen, key, scores, at)
            if not screen.two.beside:
                working(screen, pen, key, chosen_cell(screen.run, at, key))


def matrices(screen: Screen, pen: Pen) -> None:
    """The slices of W_Q, W_K and W_V that belong to the chosen head."""
    d_model, d_k = screen.run.config.d_model, screen.run.config.d_k
    about = text("about_weights", head=screen.at.head + 1, heads=screen.run.config.heads, d_model=d_model, d_k=d_k)
    for column, role in zip(st.columns(len(ROLES)), ROLES, strict=True):
        with column:
            pen.show(f"W_{role}", partial(matrix, role=role))
    st.markdown(" ".join([about, *shared_weights(screen.run.config)]))


def usual(screen: Screen, names: Sequence[str]) -> str:
    """The maps, for a link to a cell of one of them."""
    return "maps" if screen.choice.stage in MADE or screen.choice.part is not None else names[0]


def plane(screen: Screen, pen: Pen) -> None:
    pen.show("plane", pictures.plane)


PAGE = Page(
    name="queries_keys_values",
    group="layer",
    tabs=lambda screen: {"pair": pair, "maps": maps, "weights": matrices, "plane": plane},
    usual=usual,
    shown_of=LAYER_AND_HEAD,
    tokenless=("weights",),
    equation=rows(*(PREFIX + role for role in ROLES)),
    code=lambda screen: (MultiHeadAttention,),
)
