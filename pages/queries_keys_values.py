"""Queries, keys, values: three projections of the same vectors, for the chosen layer and head."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import head_slice, largest_terms, pca
from model.encoder import MultiHeadAttention
from pages.ui import session
from pages.ui.figures import ROLE_COLOURS, Axis, heatmap, queries_and_keys
from pages.ui.text import plain, t
from pages.ui.view import View, pick, pick_number, show_terms, terms_table

KEYS = "layers.{l}.attention."
ROLES = ("Q", "K", "V")
DECIMALS = 5  # in the arithmetic by hand

view = View("queries_keys_values")
tokens, config, head = view.trace.tokens, view.trace.config, view.choice.head
N, d_k, d_model = len(tokens), config.d_k, config.d_model
(X,) = view.trace.reads(view.key(KEYS + "Q")).values()
attention = session.pipeline(view.choice.pipeline).network.layers[view.choice.layer].attention
vectors = {role: view.value(KEYS + role)[head] for role in ROLES}  # (token, d_k) each
weights = {role: head_slice(getattr(attention, f"W_{role}").weight.numpy(), config.heads, head) for role in ROLES}
biases = {role: getattr(attention, f"W_{role}").bias.numpy().reshape(config.heads, d_k)[head] for role in ROLES}

role = st.session_state.setdefault("queries_keys_values.role", "Q")
token = min(st.session_state.get("token", 1), N - 1)
component = min(st.session_state.get("head_component", 0), d_k - 1)
axis_component = Axis(plain("queries_keys_values.axis_component"))


def choose(role: str) -> Callable[[int, int], None]:
    """What a click on the picture of Q, K or V does."""

    def chosen(row: int, column: int) -> None:
        st.session_state["queries_keys_values.role"] = role
        st.session_state["token"], st.session_state["head_component"] = row, column

    return chosen


def named(i: int) -> str:
    """A token; with its place where it occurs more than once."""
    return f"{tokens[i]} ({i + 1})" if tokens.count(tokens[i]) > 1 else tokens[i]


if N == 1:
    st.info(t("queries_keys_values.single"), icon=":material/info:")

# -- the three vectors of each token ---------------------------------------------------------------

for column, name in zip(st.columns(3), ROLES, strict=True):
    values = vectors[name]
    with column:
        strongest = tuple(int(i) for i in np.unravel_index(np.abs(values).argmax(), values.shape))
        view.picture(
            name,
            heatmap(
                values,
                view.tokens("axis.token"),
                axis_component,
                cell=(token, component) if name == role else None,
                clickable=True,
                square=False,
                line_colour=ROLE_COLOURS[view.mode][name],
                font_size=view.font_size,
            ),
            t(
                f"queries_keys_values.read_{name}",
                token=named(strongest[0]),
                component=strongest[1],
                value=f"{values[strongest]:.2f}",
            ),
            stage=KEYS + name,
            on_pick=choose(name),
        )

# -- the matrices that made them -------------------------------------------------------------------

st.markdown(t("queries_keys_values.about_weights", head=head + 1, heads=config.heads, d_model=d_model, d_k=d_k))
for column, name in zip(st.columns(3), ROLES, strict=True):
    with column:
        view.picture(
            f"W_{name}",
            heatmap(
                weights[name],
                Axis(plain("queries_keys_values.axis_input")),
                axis_component,
                square=False,
                gaps=False,
                line_colour=ROLE_COLOURS[view.mode][name],
                font_size=view.font_size,
                height=360,
            ),
            t(
                "queries_keys_values.read_weights",
                numbers=f"{weights[name].size:,}",
                size=f"{np.abs(weights[name]).mean():.3f}",
                biases=d_k,
            ),
            values=weights[name],
            equation=rf"W_{name}^{{({head + 1})}}",
        )
st.markdown(t("queries_keys_values.transpose"))

# -- queries and keys in one plane -----------------------------------------------------------------

Q, K = vectors["Q"], vectors["K"]
points, shares = pca(np.concatenate([Q, K]))
scores = Q @ K.T
best = int(scores[token].argmax())
apart = np.linalg.norm(points[:N, None] - points[None, N:], axis=-1)  # (query, key)
nearest = int(apart[token].argmin())
view.picture(
    "plane",
    queries_and_keys(
        points[:N],
        points[N:],
        [named(i) for i in range(N)],
        (plain("queries_keys_values.legend_query"), plain("queries_keys_values.legend_key")),
        tuple(plain("queries_keys_values.axis_pc", n=n + 1, share=f"{shares[n]:.0%}") for n in range(2)),
        view.mode,
        link=(token, best),
        font_size=view.font_size,
    ),
    t(
        "queries_keys_values.read_plane",
        share=f"{shares.sum():.0%}",
        d_k=d_k,
        token=named(token),
        best=named(best),
        score=f"{scores[token, best]:.2f}",
        nearest=named(nearest),
        agree=int((scores.argmax(axis=1) == apart.argmin(axis=1)).sum()),
        N=N,
    ),
    table=pd.DataFrame(
        {"token": [*tokens, *tokens], "vector": ["q"] * N + ["k"] * N, "1": points[:, 0], "2": points[:, 1]}
    ),
    equation=r"[Q;\, K] \approx \mu + c_1 u_1 + c_2 u_2",
)
st.markdown(t("queries_keys_values.about_plane"))

# -- by hand ---------------------------------------------------------------------------------------

with view.by_hand():
    st.markdown(t("queries_keys_values.hand_intro"))
    columns = st.columns([2, 2, 1], vertical_alignment="bottom")
    with columns[0]:
        role = st.segmented_control(
            plain("queries_keys_values.hand_role"),
            ROLES,
            required=True,
            format_func=lambda name: plain(f"queries_keys_values.{name}"),
            key="queries_keys_values.role",
            persist_state="session",
        )
    with columns[1]:
        i = pick("token", plain("queries_keys_values.hand_token"), tokens, default=1)
    with columns[2]:
        j = pick_number("head_component", plain("queries_keys_values.axis_component"), d_k)
    letter = role.lower()
    terms = largest_terms(X[i], weights[role][:, j], float(biases[role][j]), 10, DECIMALS)
    st.markdown(
        t(
            "queries_keys_values.hand_terms",
            token=named(i),
            j=j,
            role=role,
            letter=letter,
            d_model=d_model,
            shown=len(terms.places),
        )
    )
    view.equation(rf"{letter}_{{{j}}} = \sum_{{m=0}}^{{{d_model - 1}}} x_m\,(W_{role})_{{m,{j}}} + (b_{role})_{{{j}}}")
    names = [f"m = {place}" for place in terms.places]
    table = terms_table(terms, plain("queries_keys_values.column_m"), names, ("x", f"W_{role}"))
    show_terms(table, "queries_keys_values.terms", DECIMALS)
    st.markdown(
        t(
            "queries_keys_values.hand_sum",
            total=f"{terms.total:.{DECIMALS}f}",
            recorded=f"{vectors[role][i, j]:.4f}",
            letter=letter,
            token=named(i),
            j=j,
        )
    )

view.close(MultiHeadAttention)
