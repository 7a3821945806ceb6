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
from pages.ui.figures.theme import mode
from pages.ui.page import Page
from pages.ui.runs.measure import of_both, one_plane
from pages.ui.sections.cell_map import cell_map, cell_maps, limit
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.text import texts_of
from pages.ui.text.numbers import written

PREFIX = "layers.{l}.attention."
ROLES = ("Q", "K", "V")
text, word = texts_of("queries_keys_values")


class QueriesKeysValues(Page):
    rows = tuple(PREFIX + role for role in ROLES)

    @cached_property
    def turned(self) -> bool:
        """Whether queries and keys turn with their places before they meet."""
        return self.trace.config.positions == "rotary"

    def met(self, role: str) -> str:
        """The row of the graph that meets the other where scores are made: turned where they turn."""
        return f"{PREFIX}{role}_rotated" if self.turned and role != "V" else PREFIX + role

    @cached_property
    def vectors(self) -> dict[str, np.ndarray]:
        """Of the chosen head, as queries and keys meet: (token, d_k) each."""
        return {role: self.value(self.met(role))[self.head] for role in ROLES}

    @property
    def placed(self) -> list[str]:
        return placed(self.tokens)

    def above(self) -> None:
        if self.kind == "single":
            st.info(text("single"), icon=":material/info:")

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {"maps": self.maps, "pair": self.pair, "weights": self.matrices, "plane": self.plane}

    def code(self) -> Sequence[object]:
        return (MultiHeadAttention,)

    def maps(self) -> None:
        """The three vectors of every token; and queries and keys turned by their places, where they turn."""
        said = []
        for role in ROLES:
            values = self.value(PREFIX + role)[self.head]
            token, component = np.unravel_index(np.abs(values).argmax(), values.shape)
            value = f"{values[token, component]:.2f}"
            said.append(text(f"read_{role}", token=self.placed[token], component=component + 1, value=value))
        looks: list[dict] = [{"title": word(role), "line_colour": role_colours()[role]} for role in ROLES]
        keys = [self.key(PREFIX + role) for role in ROLES]
        if self.turned:
            keys += [self.key(self.met(role)) for role in "QK"]
            said += [self.about_turn(), text("read_K_rotated")]
            looks += [{"title": word(f"{role}_rotated"), "line_colour": role_colours()[role]} for role in "QK"]
        of_distances = [role for role in "QK" if self.key(f"{PREFIX}{role}_distance") in self.trace]
        keys += [self.key(f"{PREFIX}{role}_distance") for role in of_distances]
        own = "ᴿ" * self.trace.config.distance_matrices
        said += [text(f"read_{role}_distance", matrix=f"W_{role}{own}") for role in of_distances]
        looks += [{"title": word(f"{role}_distance"), "line_colour": role_colours()[role]} for role in of_distances]
        cell_maps(self, keys, said, looks, first=0)

    def pair(self) -> None:
        """The selected token's scores, and how one of them is made: its query times a key, product by product."""
        scores, token = self.key(f"{PREFIX}scores"), self.token
        products = self.vectors["Q"][token] * self.vectors["K"]  # (token, d_k)
        key = int(products.sum(axis=1).argmax()) if self.choice.key is None else self.choice.key
        names = {"token": self.placed[token], "key": self.placed[key]}
        cell_map(
            self,
            scores,
            text("read_scores", best=self.placed[int(products.sum(axis=1).argmax())], **names),
            cell=(self.head, token, key),
            below=partial(self.products, products[key], key, names),
            rows=[token],
            strongest=limit(self, scores),
        )

    def products(self, products: np.ndarray, key: int, names: Mapping[str, str]) -> None:
        """A query, a key and their products, component over component. products: (d_k); names: of both tokens."""
        turned, total = "_turned" * self.turned, float(products.sum())
        drawn = {
            word(f"strip_Q{turned}", **names): (self.vectors["Q"][self.token], role_colours()["Q"]),
            word(f"strip_K{turned}", **names): (self.vectors["K"][key], role_colours()["K"]),
            word("strip_product"): (products, INK[mode()]),
        }
        said = text("read_products", d_k=self.config.d_k, score=written(f"{total:.2f}"))
        if self.config.distance_terms:
            said += " " + text("read_told_apart")
        elif self.config.divided:
            result = written(f"{total / self.config.d_k**0.5:.2f}")
            said += " " + text("read_divided", d_k=self.config.d_k, result=result)
        self.picture(
            "products",
            strips([(name, values, colour) for name, (values, colour) in drawn.items()]),
            said,
            table=partial(pd.DataFrame, {name: values for name, (values, _) in drawn.items()}),
            law_of=[f"{PREFIX}scores", f"{PREFIX}scaled"],
        )

    def about_turn(self) -> str:
        """By how much the first and the last pair of numbers turn from place to place."""
        speeds = self.pipeline.network.layers[self.choice.layer].attention.speeds.numpy()
        degrees = [written(f"{np.degrees(speed):.3g}") for speed in speeds[[0, -1]]]
        half = len(speeds)
        said = {"one": 1, "other": half + 1, "fast": degrees[0], "last": half, "end": 2 * half, "slow": degrees[1]}
        return text("read_Q_rotated" if half > 1 else "read_Q_rotated_one", layer=self.choice.layer + 1, **said)

    def matrices(self) -> None:
        """The slices of W_Q, W_K and W_V that belong to the chosen head."""
        d_model, d_k = self.config.d_model, self.config.d_k
        about = text("about_weights", head=self.head + 1, heads=self.config.heads, d_model=d_model, d_k=d_k)
        st.markdown(" ".join([about, *shared_weights(self.config)]))
        attention = self.pipeline.network.layers[self.choice.layer].attention
        unbiased = "QKV" if "attention" in self.config.unbiased else "K" if "keys" in self.config.unbiased else ""
        for column, role in zip(st.columns([1, 1, 1]), ROLES, strict=True):
            weights = head_slice(getattr(attention, f"W_{role}").weight.numpy(), self.config.heads, self.head)
            look = {"square": False, "gaps": False, "line_colour": role_colours()[role], "height": 400}
            axes = Axis(word("axis_input")), Axis(word("axis_component"))
            size = f"{np.abs(weights).mean():.3f}"
            with column:
                self.picture(
                    f"W_{role}",
                    heatmap(weights, *axes, **look),
                    text(
                        "read_weights_alone" if role in unbiased else "read_weights",
                        numbers=f"{weights.size:,}",
                        size=size,
                        biases=d_k,
                    ),
                    values=weights,
                    equation=rf"W_{role}^{{({self.head + 1})}}",
                    still=True,
                )
        st.markdown(text("transpose"))

    def queries_then_keys(self, run: Trace) -> np.ndarray:
        return np.stack([run[self.key(self.met(role))][self.head] for role in "QK"])

    def plane(self) -> None:
        """Queries and keys as points of one plane; a line joins the selected query to its highest scoring key."""
        Q, K, tokens, token = self.vectors["Q"], self.vectors["K"], self.placed, self.token
        n = len(tokens)
        drawn = self.both(self.queries_then_keys, ("", "token", "d_k"))
        (points, *others), shares = one_plane(drawn.values, *([] if drawn.other is None else [drawn.other]))
        before = tuple(others[0]) if others else None
        scores = Q @ K.T
        apart = np.linalg.norm(points[0][:, None] - points[1][None], axis=-1)  # (query, key)
        best, nearest = int(scores[token].argmax()), int(apart[token].argmin())
        legend = word("legend_query"), word("legend_key")
        titles = tuple(word("axis_pc", n=i + 1, share=f"{shares[i]:.0%}") for i in range(2))
        x, y = points.reshape(-1, 2).T
        table = pd.DataFrame({"token": tokens * 2, "vector": ["q"] * n + ["k"] * n, "1": x, "2": y})
        table = of_both(table, pd.DataFrame(others[0].reshape(-1, 2), columns=["1", "2"]) if others else None)
        look = {"link": (token, best), "before": before, "height": 520}
        self.picture(
            "plane",
            queries_and_keys(points[0], points[1], tokens, legend, titles, **look),
            text(
                "read_plane",
                share=f"{shares.sum():.0%}",
                d_k=self.config.d_k,
                token=tokens[token],
                best=tokens[best],
                score=f"{scores[token, best]:.2f}",
                nearest=tokens[nearest],
                agree=int((scores.argmax(axis=1) == apart.argmin(axis=1)).sum()),
                N=n,
            ),
            table=table,
            still=True,
            shows=drawn,
            equation=r"[Q;\, K] \approx \mu + c_1 u_1 + c_2 u_2",
        )
        st.markdown(text("about_plane", d_k=self.config.d_k))
