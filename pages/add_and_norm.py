"""Add & Norm: what a sub-layer found joins what was there; then every vector is brought to a common scale."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import cosine_similarity
from model.encoder import EncoderLayer
from pages.ui import session
from pages.ui.figures import ADDED, AFTER, BEFORE, MOST_CLICKABLE, grouped_bars, outlines, spreads, wide_heatmap
from pages.ui.text import plain, t
from pages.ui.view import View, pick

view = View("add_and_norm", r"\operatorname{LayerNorm}\bigl(X + \operatorname{Sublayer}(X)\bigr)")
tokens, layer = view.trace.tokens, view.choice.layer
d_model, n = view.trace.config.d_model, len(tokens)

columns = st.columns(2, vertical_alignment="bottom")
with columns[0]:
    st.session_state.setdefault("add_and_norm.place", 1)
    place = st.segmented_control(
        plain("add_and_norm.place"),
        (1, 2),
        format_func=lambda which: plain(f"add_and_norm.place_{which}"),
        key="add_and_norm.place",
        required=True,
        persist_state="session",
    )
with columns[1]:
    chosen = pick("token", plain("add_and_norm.token"), tokens, default=1)
component = min(st.session_state.get("component", 0), d_model - 1)

ADD, NORM, OUTPUT = f"layers.{{l}}.add_{place}", f"layers.{{l}}.norm_{place}", "layers.{l}.attention.output"
if place == 2:
    OUTPUT = "layers.{l}.ffn.output"
INPUT = "embedding.sum" if layer == 0 else f"layers.{layer - 1}.norm_2"
if place == 2:
    INPUT = "layers.{l}.norm_1"
before, found, added, after = (view.value(key) for key in (INPUT, OUTPUT, ADD, NORM))
norm = getattr(session.pipeline(view.choice.pipeline).network.layers[layer], f"norm_{place}")
gamma, beta, epsilon = norm.weight.numpy(), norm.bias.numpy(), norm.eps
mean, deviation = added.mean(axis=1, keepdims=True), added.std(axis=1, keepdims=True)
normalised = (added - mean) / np.sqrt(deviation**2 + epsilon)


def choose(row: int, column: int) -> None:
    st.session_state["token"], st.session_state["component"] = row, column


def choose_token(_height: int, column: int) -> None:
    st.session_state["token"] = column


# One range of colours for the four pictures, so that they can be compared; the few largest values saturate.
limit = float(np.quantile(np.abs([before, found, added, after]), 0.995))
lengths = {name: np.linalg.norm(x, axis=1) for name, x in (("in", before), ("found", found), ("sum", added))}
small = max(d_model, n) <= MOST_CLICKABLE
parts = [
    (f"input_{place}", before, INPUT, t("add_and_norm.read_input", limit=f"{limit:.2f}")),
    (
        f"output_{place}",
        found,
        OUTPUT,
        t(f"add_and_norm.read_output_{place}", share=f"{np.mean(lengths['found'] / lengths['in']):.0%}"),
    ),
    (
        f"add_{place}",
        added,
        ADD,
        t(
            "add_and_norm.read_add",
            token=tokens[chosen],
            component=component + 1,
            x=f"{before[chosen, component]:.4f}",
            o=f"{found[chosen, component]:.4f}",
            sum=f"{added[chosen, component]:.4f}",
        ),
    ),
    (
        f"norm_{place}",
        after,
        NORM,
        t("add_and_norm.read_norm", low=f"{deviation.min():.3f}", high=f"{deviation.max():.3f}"),
    ),
]
for pair in (parts[:2], parts[2:]):
    for column, (name, values, stage, sentence) in zip(st.columns(2), pair, strict=True):
        with column:
            view.picture(
                name,
                wide_heatmap(
                    values,
                    view.tokens("axis.token"),
                    plain("add_and_norm.axis_d_model", d_model=d_model),
                    limit=limit,
                    cell=(chosen, component) if small else None,
                    clickable=small,
                    font_size=view.font_size,
                ),
                sentence,
                stage=stage,
                on_pick=choose if small else None,
                equation=(rf"X = X^{{({layer})}}" if place == 1 else "X'") if stage == INPUT else None,
            )

columns = st.columns(2)
with columns[0]:
    moved = int((lengths["found"] / lengths["in"]).argmax())
    view.picture(
        "lengths",
        grouped_bars(
            {plain(f"add_and_norm.length_{name}"): values for name, values in lengths.items()},
            view.tokens("axis.token"),
            plain("add_and_norm.axis_length"),
            (BEFORE, ADDED, AFTER),
            font_size=view.font_size,
        ),
        t(
            "add_and_norm.read_lengths",
            token=tokens[moved],
            found=f"{lengths['found'][moved]:.2f}",
            before=f"{lengths['in'][moved]:.2f}",
            sum=f"{lengths['sum'][moved]:.2f}",
        ),
        table=pd.DataFrame({plain(f"add_and_norm.length_{name}"): x for name, x in lengths.items()}, index=tokens),
        on_pick=choose_token,
    )
with columns[1]:
    # Each token's vector with the same token's vector after, not with every other one.
    cosines = {
        plain(f"add_and_norm.cosine_{name}"): cosine_similarity(before[:, None], later[:, None])[:, 0, 0]
        for name, later in (("found", found), ("after", after))
    }
    aligned, kept = (values[chosen] for values in cosines.values())
    kind = "same" if aligned > 0.25 else "against" if aligned < -0.25 else "new"
    view.picture(
        "cosines",
        grouped_bars(
            cosines,
            view.tokens("axis.token"),
            plain("add_and_norm.axis_cosine"),
            (ADDED, AFTER),
            value_range=(-1, 1),
            font_size=view.font_size,
        ),
        t(f"add_and_norm.read_cosines_{kind}", token=tokens[chosen], found=f"{aligned:.2f}", after=f"{kept:.2f}"),
        table=pd.DataFrame(cosines, index=tokens),
        on_pick=choose_token,
    )

columns = st.columns(2)
with columns[0]:
    view.picture(
        "spreads",
        spreads(
            {plain("add_and_norm.before"): added, plain("add_and_norm.after"): after},
            view.tokens("axis.token"),
            plain("add_and_norm.axis_value"),
            (BEFORE, AFTER),
            font_size=view.font_size,
        ),
        t("add_and_norm.read_spreads", low=f"{mean.min():.3f}", high=f"{mean.max():.3f}"),
        table=pd.DataFrame(
            np.quantile(np.concatenate([added, after]), [0.05, 0.25, 0.5, 0.75, 0.95], axis=1).T,
            index=[f"{plain(f'add_and_norm.{when}')} · {token}" for when in ("before", "after") for token in tokens],
            columns=["5 %", "25 %", "50 %", "75 %", "95 %"],
        ),
    )
with columns[1]:
    view.picture(
        "histogram",
        outlines(
            {
                plain("add_and_norm.before"): added[chosen],
                plain("add_and_norm.normalised"): normalised[chosen],
                plain("add_and_norm.after"): after[chosen],
            },
            plain("add_and_norm.axis_value"),
            plain("add_and_norm.axis_count", d_model=d_model),
            (BEFORE, ADDED, AFTER),
            font_size=view.font_size,
        ),
        t(
            "add_and_norm.read_histogram",
            token=tokens[chosen],
            mean=f"{mean[chosen, 0]:.3f}",
            deviation=f"{deviation[chosen, 0]:.3f}",
            after_mean=f"{after[chosen].mean():.3f}",
            after_deviation=f"{after[chosen].std():.3f}",
        ),
        table=pd.DataFrame({"X + O": added[chosen], "x̂": normalised[chosen], "γ x̂ + β": after[chosen]}),
    )

st.markdown(t("add_and_norm.statistics", d_model=d_model))
statistics = {plain("axis.token"): tokens}
for name, values in (("before", added), ("normalised", normalised), ("after", after)):
    for symbol, moment in (("μ", values.mean(axis=1)), ("σ", values.std(axis=1))):
        column = plain("shapes_and_cost.pair", name=plain(f"add_and_norm.{name}"), text=symbol)
        statistics[column] = np.where(np.abs(moment) < 5e-5, 0, moment)  # never −0.0000
numbers = {name: st.column_config.NumberColumn(format="%.4f") for name in list(statistics)[1:]}
st.dataframe(
    pd.DataFrame(statistics, index=range(1, n + 1)), key="add_and_norm.statistics", column_config=numbers, height=300
)

with view.by_hand():
    st.markdown(t("add_and_norm.hand_intro", token=tokens[chosen], d_model=d_model))
    j = pick("component", plain("add_and_norm.component"), [f"d_model = {i + 1}" for i in range(d_model)])
    x, o = before[chosen].astype(np.float64), found[chosen].astype(np.float64)
    row = x + o
    total = row.sum()
    mu = total / d_model
    squares = (row - mu) ** 2
    variance = squares.sum() / d_model
    sigma, divisor = np.sqrt(variance), np.sqrt(variance + epsilon)
    standard = (row - mu) / divisor
    result = gamma * standard + beta
    st.markdown(t("add_and_norm.hand_sum", j=j + 1, x=f"{x[j]:.6f}", o=f"{o[j]:.6f}", sum=f"{row[j]:.4f}"))
    st.markdown(t("add_and_norm.hand_mean", d_model=d_model, total=f"{total:.4f}", mean=f"{mu:.6f}"))
    st.markdown(
        t(
            "add_and_norm.hand_variance",
            d_model=d_model,
            total=f"{squares.sum():.4f}",
            variance=f"{variance:.6f}",
            sigma=f"{sigma:.6f}",
        )
    )
    st.markdown(
        t(
            "add_and_norm.hand_standard",
            value=f"{row[j]:.6f}",
            mean=f"{mu:.6f}" if mu >= 0 else f"({mu:.6f})",
            variance=f"{variance:.6f}",
            epsilon=f"{epsilon:g}",
            divisor=f"{divisor:.6f}",
            standard=f"{standard[j]:.4f}",
        )
    )
    st.markdown(
        t(
            "add_and_norm.hand_result",
            gamma=f"{gamma[j]:.6f}",
            beta=f"{beta[j]:.6f}",
            standard=f"{standard[j]:.6f}",
            result=f"{result[j]:.4f}",
        )
    )
    table = pd.DataFrame(
        {
            "X": x,
            plain(f"add_and_norm.sublayer_{place}"): o,
            plain("add_and_norm.sum"): row,
            plain("add_and_norm.sum") + " − μ": row - mu,
            "(… − μ)²": squares,
            "x̂": standard,
            "γ": gamma,
            "β": beta,
            "γ · x̂ + β": result,
        },
        index=range(1, d_model + 1),
    )
    numbers = {name: st.column_config.NumberColumn(format="%.6f") for name in table.columns}
    st.dataframe(table, key="add_and_norm.cells", column_config=numbers, height=300)
    st.markdown(
        t(
            "add_and_norm.hand_note",
            epsilon=f"{epsilon:g}",
            sigma=f"{sigma:.6f}",
            theirs=f"{sigma + epsilon:.6f}",
            ours=f"{divisor:.6f}",
            their_value=f"{(row[j] - mu) / (sigma + epsilon):.6f}",
            our_value=f"{standard[j]:.6f}",
            gap=f"{abs((row[j] - mu) / (sigma + epsilon) - standard[j]):.1e}",
        )
    )

view.close(EncoderLayer)
