"""Attention: scores, scaled, masked, weights, weighted sum — for the chosen layer and head."""

import numpy as np
import pandas as pd
import streamlit as st

from model.encoder import MultiHeadAttention, ScaledDotProductAttention
from pages.ui.figures import Axis, attention_lines, bars, heatmap
from pages.ui.patches import attention_over_drawing, first_query, patch_pair
from pages.ui.text import plain, t
from pages.ui.view import View, numbers, pick

KEYS = "layers.{l}.attention."
EQUATION = r"\text{Attention}(Q, K, V) = \operatorname{softmax}\left(\frac{Q K^{\top}}{\sqrt{d_k}}\right) V"

view = View("attention", EQUATION)
head, tokens, d_k = view.choice.head, view.trace.tokens, view.trace.config.d_k
Q, K, scores, scaled, masked, weights, heads = (
    view.value(KEYS + name)[head] for name in ("Q", "K", "scores", "scaled", "masked", "weights", "heads")
)
if len(tokens) == 1:
    st.info(t("attention.single"), icon=":material/info:")

with st.container(horizontal=True, vertical_alignment="bottom"):
    colour_range = st.segmented_control(
        plain("attention.range"),
        ["head", "layer", "all"],
        default="head",
        required=True,
        format_func=lambda scope: plain(f"attention.range_{scope}"),
        key="attention.range",
        persist_state="session",
    )
    weights_as = st.segmented_control(
        plain("attention.weights_as"),
        ["map", "row", "lines"],
        default="map",
        required=True,
        format_func=lambda kind: plain(f"attention.as_{kind}"),
        key="attention.weights_as",
        persist_state="session",
    )
    hide = st.toggle(plain("attention.hide_special"), key="attention.hide_special", persist_state="session")

shown = [i for i, token in enumerate(tokens) if not (hide and token in ("[CLS]", "[SEP]"))] or [0]
names = [tokens[i] for i in shown]
looks, looked_at = Axis(plain("axis.query"), names), Axis(plain("axis.key"), names)
query = min(st.session_state.get("query", first_query(view)), len(tokens) - 1)
key = min(st.session_state.get("key", 0), len(tokens) - 1)
cell = (shown.index(query), shown.index(key)) if query in shown and key in shown else None


def choose(row: int, column: int) -> None:
    st.session_state["query"], st.session_state["key"] = shown[row], shown[column]


def limit(name: str) -> float:
    """The value of the strongest colour: the largest of this head, this layer, or all layers."""
    if colour_range == "head":
        values = [view.value(KEYS + name)[head]]
    elif colour_range == "layer":
        values = [view.value(KEYS + name)]
    else:
        layers = range(view.trace.config.layers)
        values = [view.trace[f"layers.{layer}.attention.{name}"] for layer in layers]
    return max(float(np.abs(v, where=np.isfinite(v), out=np.zeros_like(v)).max()) for v in values)


def matrix(name: str, values: np.ndarray, sentence: str, **look: object) -> None:
    """One query × key picture; a click on a cell opens it in By hand."""
    figure = heatmap(
        values[np.ix_(shown, shown)],
        looks,
        looked_at,
        limit=limit(name),
        cell=cell,
        clickable=True,
        font_size=view.font_size,
        **look,
    )
    view.picture(name, figure, sentence, stage=KEYS + name, on_pick=choose)


def strongest(values: np.ndarray) -> dict[str, object]:
    """The largest cell, as values for a reading sentence."""
    row, column = np.unravel_index(values.argmax(), values.shape)
    return {"query": tokens[row], "key": tokens[column], "value": f"{values[row, column]:.2f}"}


small = {"height": 620 if view.choice.big else 340}
columns = view.columns([1, 1, 1])
with columns[0]:
    matrix("scores", scores, t("attention.read_scores", **strongest(scores)), **small)
with columns[1]:
    sentence = t("attention.read_scaled", d_k=d_k, root=f"{d_k**0.5:.3f}", **strongest(scaled))
    matrix("scaled", scaled, sentence, **small)
with columns[2]:
    hidden = int(np.isinf(masked).sum())
    sentence = t("attention.read_masked" if hidden else "attention.read_unmasked", hidden=hidden, cells=masked.size)
    matrix("masked", masked, sentence, **small)

best = int(weights[query].argmax())
looks_most = {"query": tokens[query], "key": tokens[best], "value": f"{weights[query, best]:.2f}"}
columns = st.columns([3, 2])
with columns[0]:
    sentence = t("attention.read_weights", where=view.where(), **looks_most)
    if hide:
        sums = weights[np.ix_(shown, shown)].sum(axis=1)
        sentence += " " + t("attention.rows_short", low=f"{sums.min():.2f}", high=f"{sums.max():.2f}")
    if weights_as == "map":
        matrix("weights", weights, sentence, scale="share")
    else:
        if weights_as == "row":
            figure = bars(weights[query, shown], looked_at, plain("attention.weight"), font_size=view.font_size)
        else:
            part = weights[np.ix_(shown, shown)]
            figure = attention_lines(part, looks, looked_at, cell[0] if cell else None, view.mode, view.font_size)
        table = pd.DataFrame(weights, index=tokens, columns=tokens)
        view.picture("weights", figure, sentence, stage=KEYS + "weights", table=table)
with columns[1]:
    figure = heatmap(
        heads,
        view.tokens("axis.token"),
        Axis(plain("axis.d_k")),
        limit=limit("heads"),
        square=False,
        font_size=view.font_size,
    )
    sentence = t("attention.read_heads", **looks_most | {"value": f"{weights[query, best]:.0%}"})
    view.picture("heads", figure, sentence, stage=KEYS + "heads")

attention_over_drawing(view, query)

with view.by_hand():
    st.markdown(t("attention.hand_intro"))
    columns = st.columns(2)
    with columns[0]:
        i = pick("query", plain("attention.hand_query"), tokens, default=first_query(view))
    with columns[1]:
        j = pick("key", plain("attention.hand_key"), tokens)
    patch_pair(view, i, j)
    st.markdown(t("attention.hand_products", query=tokens[i], key=tokens[j], d_k=d_k))
    products = pd.DataFrame({"q": Q[i], "k": K[j], "q · k": Q[i] * K[j]}, index=map(str, range(1, d_k + 1))).T
    numbers(products, "attention.products")
    said = {"sum": f"{scores[i, j]:.4f}", "root": f"{d_k**0.5:.4f}", "scaled": f"{scaled[i, j]:.4f}"}
    st.markdown(t("attention.hand_sum", **said))
    st.markdown(t("attention.hand_row", query=tokens[i]))
    row = masked[i].astype(np.float64)
    exponentials = np.exp(row - row.max())
    table = pd.DataFrame(
        {"M": row, "M − max": row - row.max(), "exp(M − max)": exponentials, "A": weights[i]},
        index=pd.Index([f"{place} · {token}" for place, token in enumerate(tokens, 1)], name=plain("axis.key")),
    )
    numbers(table, "attention.row", height=min(38 * (len(tokens) + 1), 500))
    said = {"top": f"{exponentials[j]:.4f}", "sum": f"{exponentials.sum():.4f}", "weight": f"{weights[i, j]:.4f}"}
    st.markdown(t("attention.hand_weight", query=tokens[i], key=tokens[j], **said))

view.close(ScaledDotProductAttention, MultiHeadAttention)
