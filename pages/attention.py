"""Attention: scores, scaled, masked, weights, weighted sum — for the chosen layer and head."""

import numpy as np
import pandas as pd
import streamlit as st

from model.encoder import ScaledDotProductAttention
from pages.ui.figures import Axis, heatmap
from pages.ui.text import plain, t
from pages.ui.view import View, pick

KEYS = "layers.{l}.attention."

view = View(
    "attention", r"\text{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right) V"
)
head, tokens = view.choice.head, view.trace.tokens
Q, K, V, scores, scaled, masked, weights, heads = (
    view.value(KEYS + name)[head] for name in ("Q", "K", "V", "scores", "scaled", "masked", "weights", "heads")
)


def choose(query: int, key: int) -> None:
    st.session_state["query"], st.session_state["key"] = query, key


def largest(values: np.ndarray) -> dict[str, object]:
    """Where the largest cell of a query × key picture is, as values for a reading sentence."""
    query, key = np.unravel_index(values.argmax(), values.shape)
    return {"query": tokens[query], "key": tokens[key], "value": f"{values[query, key]:.2f}"}


query = st.session_state.get("query", 1)
key = st.session_state.get("key", 0)
cell = (min(query, len(tokens) - 1), min(key, len(tokens) - 1))
looks, looked_at = view.tokens("axis.query"), view.tokens("axis.key")
picture = dict(font_size=view.font_size, cell=cell)

columns = st.columns(3)
with columns[0]:
    view.picture(
        "scores",
        heatmap(scores, looks, looked_at, clickable=True, **picture),
        t("attention.read_scores", **largest(scores)),
        stage=KEYS + "scores",
        on_pick=choose,
    )
with columns[1]:
    d_k = view.trace.config.d_k
    view.picture(
        "scaled",
        heatmap(scaled, looks, looked_at, clickable=True, **picture),
        t("attention.read_scaled", d_k=d_k, root=f"{d_k**0.5:.3f}", **largest(scaled)),
        stage=KEYS + "scaled",
        on_pick=choose,
    )
with columns[2]:
    hidden = int(np.isinf(masked).sum())
    view.picture(
        "masked",
        heatmap(masked, looks, looked_at, clickable=True, **picture),
        t("attention.read_masked" if hidden else "attention.read_unmasked", hidden=hidden, cells=masked.size),
        stage=KEYS + "masked",
        on_pick=choose,
    )

columns = st.columns([3, 2])
with columns[0]:
    asked = cell[0]
    best = int(weights[asked].argmax())
    view.picture(
        "weights",
        heatmap(weights, looks, looked_at, scale="share", clickable=True, **picture),
        t(
            "attention.read_weights",
            query=tokens[asked],
            key=tokens[best],
            value=f"{weights[asked, best]:.2f}",
            where=view.where(),
        ),
        stage=KEYS + "weights",
        on_pick=choose,
    )
with columns[1]:
    view.picture(
        "heads",
        heatmap(heads, view.tokens("axis.token"), Axis(plain("axis.d_k")), square=False, font_size=view.font_size),
        t("attention.read_heads", query=tokens[asked], key=tokens[best], value=f"{weights[asked, best]:.0%}"),
        stage=KEYS + "heads",
    )

with view.by_hand():
    st.markdown(t("attention.hand_intro"))
    columns = st.columns(2)
    with columns[0]:
        i = pick("query", plain("attention.hand_query"), tokens, default=1)
    with columns[1]:
        j = pick("key", plain("attention.hand_key"), tokens)
    st.markdown(t("attention.hand_products", query=tokens[i], key=tokens[j], d_k=d_k))
    products = pd.DataFrame({"q": Q[i], "k": K[j], "q · k": Q[i] * K[j]}, index=range(1, d_k + 1)).T
    st.dataframe(products.style.format("{:.4f}"), key="attention.products")
    st.markdown(
        t("attention.hand_sum", sum=f"{scores[i, j]:.4f}", root=f"{d_k**0.5:.4f}", scaled=f"{scaled[i, j]:.4f}")
    )
    st.markdown(t("attention.hand_row", query=tokens[i]))
    row = masked[i].astype(np.float64)
    exponentials = np.exp(row - row.max())
    table = pd.DataFrame(
        {
            plain("axis.key"): tokens,
            "M": row,
            "M − max": row - row.max(),
            "exp(M − max)": exponentials,
            "A": weights[i],
        },
        index=range(1, len(tokens) + 1),
    )
    numbers = {name: "{:.4f}" for name in table.columns[1:]}
    st.dataframe(table.style.format(numbers), key="attention.row")
    st.markdown(
        t(
            "attention.hand_weight",
            query=tokens[i],
            key=tokens[j],
            top=f"{exponentials[j]:.4f}",
            sum=f"{exponentials.sum():.4f}",
            weight=f"{weights[i, j]:.4f}",
        )
    )

view.close(ScaledDotProductAttention)
