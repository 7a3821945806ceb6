"""Queries, keys, values: three projections of the same vectors, for the chosen layer and head."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model.analysis import placed
from model.sublayers import MultiHeadAttention
from pages.queries_keys_values.pictures import PREFIX, matrix, paired_with, plane, products, scores, text, word
from pages.ui.figures import role_colours
from pages.ui.figures.equations import plain_math
from pages.ui.page import Page, Parts
from pages.ui.sections.cell_map import cell_map, cell_maps
from pages.ui.sections.shared_weights import shared_weights

ROLES = ("Q", "K", "V")
#: All that an encoder may make of its vectors here, in the order in which it is drawn.
MADE = (*ROLES, "Q_rotated", "K_rotated", "Q_distance", "K_distance")


class QueriesKeysValues(Page):
    rows = tuple(PREFIX + role for role in ROLES)

    def parts(self) -> Parts:
        return {"maps": self.maps, "pair": self.pair, "weights": self.matrices, "plane": self.plane}

    def code(self) -> Sequence[object]:
        return (MultiHeadAttention,)

    def maps(self) -> None:
        """The three vectors of every token, and what else this encoder makes of them."""
        made = [name for name in MADE if self.key(PREFIX + name) in self.trace]
        own = (self.trace[self.key(PREFIX + role)][self.head, self.token] for role in ROLES)
        lengths = {role: f"{np.linalg.norm(vector):.2f}" for role, vector in zip("qkv", own, strict=True)}
        said = text(
            "read_maps",
            token=placed(self.tokens)[self.token],
            where=self.where(),
            first=self.head * self.config.d_k + 1,
            last=(self.head + 1) * self.config.d_k,
            **lengths,
        )
        if "Q_rotated" in made:
            said += " " + text("read_rotated")
        if of_distances := [
            plain_math(self.trace.graph[self.key(PREFIX + name)].symbol) for name in MADE[5:] if name in made
        ]:
            said += " " + text("read_distances", names=" · ".join(of_distances))
        looks = [{"title": word(name), "line_colour": role_colours()[name[0]]} for name in made]
        cell_maps(self, [self.key(PREFIX + name) for name in made], said, looks, first=0)

    def pair(self) -> None:
        """The selected token's scores, and how one of them is made: its query times a key, product by product."""
        key = self.key(f"{PREFIX}scores")
        at = replace(self.at, key=paired_with(self.trace, self.at))
        cell_map(self, key, scores, at=at, below=lambda: self.show("products", products))

    def matrices(self) -> None:
        """The slices of W_Q, W_K and W_V that belong to the chosen head."""
        d_model, d_k = self.config.d_model, self.config.d_k
        about = text("about_weights", head=self.head + 1, heads=self.config.heads, d_model=d_model, d_k=d_k)
        st.markdown(" ".join([about, *shared_weights(self.config)]))
        for column, role in zip(st.columns(len(ROLES)), ROLES, strict=True):
            with column:
                self.show(f"W_{role}", partial(matrix, role=role))

    def plane(self) -> None:
        self.show("plane", plane)
