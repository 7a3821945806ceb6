"""Heads: what each head looks at, what it writes, and how W_O mixes them."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import Role, head_role, head_table, token_places, write_contributions
from model.encoder import MultiHeadAttention
from pages.ui import session
from pages.ui.figures import Axis, heatmap, scatter, side_by_side, tiles
from pages.ui.text import plain, t
from pages.ui.view import View, pick

ATTENTION = "layers.{l}.attention."
MEASURES = ("entropy", "distance", "self", "previous", "next", "cls", "sep")

view = View(
    "heads",
    r"\begin{gathered} \text{MultiHead} = \text{Concat}\, W_O + b_O \\ "
    r"\text{Concat} = [\text{head}_1; \ldots; \text{head}_h] \\ "
    r"\text{head}_i = \text{Attention}(Q_i, K_i, V_i) \end{gathered}",
)
config, tokens = view.trace.config, view.trace.tokens
layer, head, n = view.choice.layer, view.choice.head, len(tokens)
start = n // 2 if config.input == "patches" else 1
unit = plain("heads.patches" if config.input == "patches" else "heads.tokens")
weights = np.stack([view.trace[f"layers.{number}.attention.weights"] for number in range(config.layers)])
places = token_places(config, n)
measures = head_table(weights, tokens, places)
name_of = {(row, i): f"{row + 1}·{i + 1}" for row in range(config.layers) for i in range(config.heads)}


def in_words(role: Role) -> str:
    """ "looks at the previous token: 0.83"."""
    return plain(
        f"heads.role_{role.name}",
        figure=f"{role.figure:.2f}",
        reference=f"{role.reference:.2f}",
        token="" if role.place is None else tokens[role.place],
        unit=unit,
    )


roles = {
    (row, i): in_words(head_role(weights[row, i], {name: measures[name][row, i] for name in MEASURES}, places))
    for row, i in name_of
}


def choose_head(row: int, column: int) -> None:
    st.session_state["layer"], st.session_state["head"] = row + 1, column + 1


def choose_cell(query: int, key: int) -> None:
    st.session_state["token"] = query


if n == 1:
    st.info(t("heads.one_token"), icon=":material/info:")

# -- all heads, and the average of some ----------------------------------------------------------------
looks, looked_at = view.tokens("axis.query"), view.tokens("axis.key")
columns = view.columns([3, 2], gap="medium")
with columns[0]:
    sheet = pd.DataFrame(
        weights.reshape(-1, n),
        index=pd.MultiIndex.from_product(
            [range(1, config.layers + 1), range(1, config.heads + 1), range(1, n + 1)],
            names=[plain("heads.axis_layer"), plain("heads.axis_head"), plain("axis.query")],
        ),
        columns=tokens,
    )
    view.picture(
        "all",
        tiles(
            weights,
            Axis(plain("heads.axis_layer"), [str(row + 1) for row in range(config.layers)]),
            Axis(plain("heads.axis_head"), [str(i + 1) for i in range(config.heads)]),
            chosen=(layer, head),
            hover=[f"{name_of[place]} · {roles[place]}" for place in name_of],
            font_size=view.font_size,
        ),
        t(
            "heads.read_all",
            count=config.layers * config.heads,
            n=n,
            where=view.where(),
            role=roles[layer, head],
        ),
        table=sheet,
        on_pick=choose_head,
    )
with columns[1]:
    options = list(name_of.values())
    st.session_state["heads.subset"] = [name for name in st.session_state.get("heads.subset", []) if name in options]
    subset = st.multiselect(
        plain("heads.subset"),
        options,
        key="heads.subset",
        persist_state="session",
        placeholder=plain("heads.subset_hint", layer=layer + 1),
        help=plain("heads.subset_help"),
    )
    averaged = [place for place, name in name_of.items() if name in subset] or [(layer, i) for i in range(config.heads)]
    mean = np.mean([weights[place] for place in averaged], axis=0)
    chosen = min(st.session_state.get("token", start), n - 1)
    best = int(mean[chosen].argmax())
    view.picture(
        "average",
        heatmap(
            mean,
            looks,
            looked_at,
            scale="share",
            clickable=True,
            font_size=view.font_size,
            height=480 if view.choice.big else 400,
        ),
        t(
            "heads.read_average",
            count=len(averaged),
            query=tokens[chosen],
            key=tokens[best],
            value=f"{mean[chosen, best]:.2f}",
        ),
        on_pick=choose_cell,
    )

# -- what each head looks at, in figures ---------------------------------------------------------------
st.markdown(f"**{plain('heads.table')}**")
st.markdown(t("heads.table_intro", most=f"{np.log2(n):.2f}", unit=unit))
if config.input == "patches":
    st.markdown(t("heads.table_patches"))
every_layer = config.layers > 1 and st.toggle(plain("heads.every_layer"), key="heads.every_layer")
shown = [place for place in name_of if every_layer or place[0] == layer]
table = pd.DataFrame(
    {plain("heads.column_head"): [name_of[place] for place in shown]}
    | {plain("heads.column_role"): [roles[place] for place in shown]}
    | {plain(f"heads.column_{name}"): [measures[name][place] for place in shown] for name in MEASURES}
).set_index(plain("heads.column_head"))
share = st.column_config.ProgressColumn(format="%.2f", min_value=0.0, max_value=1.0, width="small")
st.dataframe(
    table,
    key="heads.measures",
    column_config={
        plain("heads.column_role"): st.column_config.TextColumn(width=320),
        plain("heads.column_entropy"): st.column_config.NumberColumn(format="%.2f", width=100),
        plain("heads.column_distance"): st.column_config.NumberColumn(format="%.2f", width="small"),
    }
    | {plain(f"heads.column_{name}"): share for name in MEASURES[2:]},
)
missing = [plain(f"heads.column_{name}") for name in MEASURES if np.isnan(measures[name]).all()]
if missing:
    st.caption(t("heads.missing", names=", ".join(missing)))

# -- what each head writes -----------------------------------------------------------------------------
attention = session.pipeline(view.choice.pipeline).network.layers[layer].attention
W_O, bias = attention.W_O.weight.numpy(), attention.W_O.bias.numpy()
heads, concat, output = (view.value(ATTENTION + name) for name in ("heads", "concat", "output"))
parts = write_contributions(heads, W_O)
norms = np.linalg.norm(parts, axis=-1)  # (head, token)
head_names = [plain("heads.head", head=i + 1) for i in range(config.heads)]

columns = st.columns(2, gap="medium")
with columns[0]:
    entropy, distance = measures["entropy"].ravel(), np.nan_to_num(measures["distance"].ravel())
    farthest, sharpest = int(distance.argmax()), int(entropy.argmin())
    labels = list(name_of.values())
    view.picture(
        "scatter",
        scatter(
            distance,
            entropy,
            (plain("heads.axis_distance", unit=unit), plain("heads.column_entropy")),
            np.repeat(np.arange(config.layers), config.heads),
            Axis(plain("heads.axis_layer"), [str(row + 1) for row in range(config.layers)]),
            [f"{name_of[place]} · {roles[place]}" for place in name_of],
            names=[labels[i] if i // config.heads == layer else "" for i in range(len(labels))],
            chosen=layer * config.heads + head,
            font_size=view.font_size,
        ),
        t(
            "heads.read_scatter",
            sharp=labels[sharpest],
            entropy=f"{entropy[sharpest]:.2f}",
            many=f"{2 ** entropy[sharpest]:.1f}",
            far=labels[farthest],
            distance=f"{distance[farthest]:.2f}",
            unit=unit,
        ),
        table=pd.DataFrame({"entropy": entropy, "distance": distance}, index=labels),
    )
with columns[1]:
    loudest = int(norms[:, chosen].argmax())
    total = parts[:, chosen].sum(axis=0) + bias
    view.picture(
        "norms",
        heatmap(
            norms.T,
            view.tokens("axis.token"),
            Axis(plain("heads.axis_head"), [str(i + 1) for i in range(config.heads)]),
            scale="positive",
            cell=(chosen, head),
            clickable=True,
            square=False,
            font_size=view.font_size,
        ),
        t(
            "heads.read_norms",
            token=tokens[chosen],
            head=loudest + 1,
            value=f"{norms[loudest, chosen]:.3f}",
        ),
        on_pick=lambda row, column: st.session_state.update(token=row, head=column + 1),
    )
    st.markdown(
        t(
            "heads.check",
            token=tokens[chosen],
            norms=" · ".join(f"{value:.3f}" for value in norms[:, chosen]),
            bias=f"{np.linalg.norm(bias):.3f}",
            sum=f"{np.linalg.norm(total):.4f}",
            output=f"{np.linalg.norm(output[chosen]):.4f}",
            difference=f"{np.abs(total - output[chosen]).max():.1e}",
        )
    )

# -- concat and output ---------------------------------------------------------------------------------
columns = st.columns(2, gap="medium")
with columns[0]:
    view.picture(
        "concat",
        side_by_side(
            concat,
            view.tokens("axis.token"),
            Axis(plain("heads.axis_concat"), [str(i + 1) for i in range(config.heads)]),
            config.d_k,
            chosen=head,
            font_size=view.font_size,
        ),
        t(
            "heads.read_concat",
            heads=config.heads,
            d_k=config.d_k,
            d_model=config.d_model,
            head=head + 1,
            first=head * config.d_k + 1,
            last=(head + 1) * config.d_k,
        ),
        stage=ATTENTION + "concat",
        table=pd.DataFrame(concat, index=tokens, columns=range(1, config.d_model + 1)),
    )
with columns[1]:
    strongest = int(np.linalg.norm(output, axis=1).argmax())
    view.picture(
        "output",
        heatmap(output, view.tokens("axis.token"), Axis(plain("axis.d_model")), square=False, font_size=view.font_size),
        t("heads.read_output", token=tokens[strongest], value=f"{np.linalg.norm(output[strongest]):.2f}"),
        stage=ATTENTION + "output",
        table=pd.DataFrame(output, index=tokens, columns=range(1, config.d_model + 1)),
    )

# -- by hand -------------------------------------------------------------------------------------------
with view.by_hand():
    st.markdown(t("heads.hand_intro", h=config.heads, d_k=config.d_k))
    columns = st.columns(2)
    with columns[0]:
        i = pick("token", plain("heads.hand_token"), tokens, default=start)
    with columns[1]:
        st.session_state["heads.component"] = min(st.session_state.get("heads.component", 1), config.d_model)
        m = st.number_input(
            plain("heads.hand_component", d_model=config.d_model),
            1,
            config.d_model,
            key="heads.component",
            persist_state="session",
        )
    factors = W_O[m - 1].reshape(config.heads, config.d_k)
    products = heads[:, i].astype(np.float64) * factors  # (head, d_k)
    sums = products.sum(axis=1)
    places_in_head = [str(place) for place in range(1, config.d_k + 1)]
    four = st.column_config.NumberColumn(format="%.4f")

    st.markdown(t("heads.hand_one", head=head + 1, token=tokens[i], m=m, d_k=config.d_k))
    st.dataframe(
        pd.DataFrame([heads[head, i], factors[head], products[head]], ["head", "W_O", "head · W_O"], places_in_head),
        key="heads.factors",
        column_config=dict.fromkeys(places_in_head, four),
    )
    st.markdown(t("heads.hand_one_sum", head=head + 1, sum=f"{sums[head]:.4f}"))
    st.markdown(t("heads.hand_all"))
    part = plain("heads.hand_part")
    st.dataframe(
        pd.DataFrame(products, head_names, places_in_head).assign(**{part: sums})[[part, *places_in_head]],
        key="heads.products",
        column_config=dict.fromkeys([part, *places_in_head], four),
    )
    st.markdown(
        t(
            "heads.hand_sum",
            terms=" ".join(f"{value:+.4f}" for value in sums).replace("-", "−"),
            bias=f"{bias[m - 1]:+.4f}".replace("-", "−"),
            output=f"{output[i, m - 1]:.4f}",
        )
    )

view.close(MultiHeadAttention, write_contributions, head_role)
