"""Queries, keys, values: three projections of the same vectors, for the chosen layer and head."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import head_slice, placed
from model.sublayers import MultiHeadAttention
from pages.ui.figures import INK, Axis, heatmap, queries_and_keys, role_colours, strips
from pages.ui.figures.equations import plain_math
from pages.ui.figures.theme import mode
from pages.ui.page import Page
from pages.ui.runs.measure import of_both, one_plane
from pages.ui.sections.cell_map import cell_map, cell_maps, limit
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.text import texts_of

PREFIX = "layers.{l}.attention."
ROLES = ("Q", "K", "V")
#: All that an encoder may make of its vectors here, in the order in which it is drawn.
MADE = (*ROLES, "Q_rotated", "K_rotated", "Q_distance", "K_distance")
text, word = texts_of("queries_keys_values")


class QueriesKeysValues(Page):
    rows = tuple(PREFIX + role for role in ROLES)

    def met(self, role: str) -> str:
        """The quantity from which scores are made: the rotated one, where there is one."""
        rotated = self.key(f"{PREFIX}{role}_rotated")
        return rotated if rotated in self.trace else self.key(PREFIX + role)

    @cached_property
    def vectors(self) -> dict[str, np.ndarray]:
        """Of the chosen head, as queries and keys meet: (token, d_k) each."""
        return {role: self.value(self.met(role))[self.head] for role in ROLES}

    @property
    def placed(self) -> list[str]:
        return placed(self.tokens)

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {"maps": self.maps, "pair": self.pair, "weights": self.matrices, "plane": self.plane}

    def code(self) -> Sequence[object]:
        return (MultiHeadAttention,)

    def maps(self) -> None:
        """The three vectors of every token, and what else this encoder makes of them."""
        made = [name for name in MADE if self.key(PREFIX + name) in self.trace]
        own = (self.value(PREFIX + role)[self.head][self.token] for role in ROLES)
        lengths = {role: f"{np.linalg.norm(vector):.2f}" for role, vector in zip("qkv", own, strict=True)}
        said = text("read_maps", token=self.placed[self.token], where=self.where(), d_k=self.config.d_k, **lengths)
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
        scores, token = self.key(f"{PREFIX}scores"), self.token
        products = self.vectors["Q"][token] * self.vectors["K"]  # (token, d_k)
        best = int(self.value(scores)[self.head, token].argmax())
        key = best if self.choice.key is None else self.choice.key
        cell_map(
            self,
            scores,
            text("read_scores", token=self.placed[token], best=self.placed[best]),
            cell=(self.head, token, key),
            below=partial(self.products, products[key], key),
            rows=[token],
            strongest=limit(self, scores),
        )

    def products(self, products: np.ndarray, key: int) -> None:
        """A query, a key and their products, component over component. products: (d_k)."""
        drawn = {
            f"{plain_math(self.trace.graph[self.met(role)].symbol)} · {self.placed[place]}": self.vectors[role][place]
            for role, place in (("Q", self.token), ("K", key))
        }
        drawn[word("strip_product")] = products
        colours = role_colours()["Q"], role_colours()["K"], INK[mode()]
        self.picture(
            "products",
            strips([(*strip, colour) for strip, colour in zip(drawn.items(), colours, strict=True)]),
            text("read_products", d_k=self.config.d_k, score=f"{float(products.sum()):.2f}"),
            table=partial(pd.DataFrame, drawn),
            law_of=[f"{PREFIX}scores"],
        )

    def matrices(self) -> None:
        """The slices of W_Q, W_K and W_V that belong to the chosen head."""
        d_model, d_k = self.config.d_model, self.config.d_k
        about = text("about_weights", head=self.head + 1, heads=self.config.heads, d_model=d_model, d_k=d_k)
        st.markdown(" ".join([about, *shared_weights(self.config)]))
        attention = self.pipeline.network.layers[self.layer].attention
        for column, role in zip(st.columns(len(ROLES)), ROLES, strict=True):
            weights = head_slice(getattr(attention, f"W_{role}").weight.numpy(), self.config.heads, self.head)
            axes = Axis(word("axis_input")), Axis(word("axis_component"))
            look = {"square": False, "gaps": False, "line_colour": role_colours()[role], "height": 440}
            said = text("read_weights", numbers=f"{weights.size:,}", size=f"{np.abs(weights).mean():.3f}")
            equation = rf"W_{role}^{{({self.head + 1})}}"
            with column:
                figure = heatmap(weights, *axes, **look)
                self.picture(f"W_{role}", figure, said, values=weights, equation=equation, still=True)

    def queries_then_keys(self, run: Trace) -> np.ndarray:
        return np.stack([run[self.met(role)][self.head] for role in "QK"])

    def plane(self) -> None:
        """Queries and keys as points of one plane; a line joins the selected query to its highest scoring key."""
        Q, K, tokens, token = self.vectors["Q"], self.vectors["K"], self.placed, self.token
        n = len(tokens)
        drawn = self.both(self.queries_then_keys, ("", "token", "d_k"))
        (points, *others), shares = one_plane(drawn.values, *([] if drawn.other is None else [drawn.other]))
        scores = Q @ K.T
        apart = np.linalg.norm(points[0][:, None] - points[1][None], axis=-1)  # (query, key)
        best, agree = int(scores[token].argmax()), int((scores.argmax(axis=1) == apart.argmin(axis=1)).sum())
        legend = word("legend_query"), word("legend_key")
        titles = tuple(word("axis_pc", n=i + 1, share=f"{shares[i]:.0%}") for i in range(2))
        x, y = points.reshape(-1, 2).T
        table = pd.DataFrame({"token": tokens * 2, "vector": ["q"] * n + ["k"] * n, "1": x, "2": y})
        table = of_both(table, pd.DataFrame(others[0].reshape(-1, 2), columns=["1", "2"]) if others else None)
        look = {"link": (token, best), "before": tuple(others[0]) if others else None, "height": 520}
        said = {"share": f"{shares.sum():.0%}", "token": tokens[token], "best": tokens[best], "agree": agree, "N": n}
        self.picture(
            "plane",
            queries_and_keys(points[0], points[1], tokens, legend, titles, **look),
            text("read_plane", d_k=self.config.d_k, score=f"{scores[token, best]:.2f}", **said),
            table=table,
            still=True,
            shows=drawn,
            equation=r"[Q;\, K] \approx \mu + c_1 u_1 + c_2 u_2",
        )
