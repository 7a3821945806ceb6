"""Layers: how the vectors travel from the word itself to its meaning in this sentence."""

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import cosine_similarity, pca, rollout
from model.encoder import EncoderLayer
from pages.ui import session
from pages.ui.figures import Axis, heatmap, lines, paths, tiles, worded
from pages.ui.text import plain, t
from pages.ui.view import View, pick

BEST = 5  # guesses shown for each layer


def _known_by(trace: Trace) -> tuple:
    """What decides a run, given its pipeline: what went in, and the edits on the way."""
    return trace["embedding.sum"].tobytes(), trace.edits


@st.cache_data(max_entries=32, show_spinner=False, hash_funcs={Trace: _known_by})
def guesses(name: str, trace: Trace, token: int) -> np.ndarray:
    """The probabilities that the head would give after each layer: (1 + layers, word or class)."""
    return session.pipeline(name).read_layers(trace, token)


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs={Trace: _known_by})
def plane(name: str, trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """All vectors of a run in one plane: (1 + layers, token, 2), and the share of variance of each direction."""
    states = trace.states()
    points, shares = pca(states.reshape(-1, trace.config.d_model))
    return points.reshape(*states.shape[:2], 2), shares


view = View(
    "layers",
    r"\begin{gathered} X' = \text{LayerNorm}\bigl(X^{(l)} + \text{MultiHead}(X^{(l)})\bigr) \\ "
    r"X^{(l+1)} = \text{LayerNorm}\bigl(X' + \text{FFN}(X')\bigr) \end{gathered}",
)
config, tokens = view.trace.config, view.trace.tokens
layer, n, name = view.choice.layer, len(tokens), view.choice.pipeline
states = view.trace.states()  # (1 + layers, token, d_model)
steps = [plain("layers.step_0"), *(plain("layers.step", layer=number + 1) for number in range(config.layers))]
step_axis = Axis(plain("layers.axis_step"), steps)
numbered = Axis(plain("layers.axis_number"), [str(number) for number in range(config.layers + 1)])
token_axis = view.tokens("axis.token")
if n == 1:
    st.info(t("layers.one_token"), icon=":material/info:")


def choose_pair(row: int, column: int) -> None:
    st.session_state["token"], st.session_state["other"] = row, column


def choose_traced(row: int, column: int) -> None:
    st.session_state["query"], st.session_state["key"] = row, column


def choose_layer(row: int, column: int) -> None:
    if column > 0:  # the tile before all layers is no layer
        st.session_state["layer"] = column


start = n // 2 if config.input == "patches" else 1
if "[MASK]" in tokens and st.session_state.get("layers.read") != view.trace.ids:
    st.session_state["token"] = tokens.index("[MASK]")  # what a new sentence hides is what one wants to follow
st.session_state["layers.read"] = view.trace.ids
with st.columns(3)[0]:
    token = pick("token", plain("layers.token"), tokens, default=start)

# -- the way of the vectors, and what the head would say on the way ------------------------------------
columns = st.columns(2, gap="medium")
with columns[0]:
    points, shares = plane(name, view.trace)
    steps_walked = np.linalg.norm(np.diff(states[:, token], axis=0), axis=-1)
    longest = int(steps_walked.argmax())
    view.picture(
        "path",
        paths(
            points,
            tokens,
            numbered,
            tuple(plain("layers.axis_pca", number=i + 1, share=f"{share:.0%}") for i, share in enumerate(shares)),
            chosen=token,
            font_size=view.font_size,
        ),
        t(
            "layers.read_path",
            token=tokens[token],
            share=f"{shares.sum():.0%}",
            layer=longest + 1,
            step=f"{steps_walked[longest]:.1f}",
        ),
        table=pd.DataFrame(
            points.reshape(-1, 2),
            index=pd.MultiIndex.from_product([steps, [f"{i + 1} {word}" for i, word in enumerate(tokens)]]),
            columns=["PCA 1", "PCA 2"],
        ),
    )


def show_guesses() -> None:
    """What the head would say of the chosen token after each layer, if that layer were the last."""
    probabilities = guesses(name, view.trace, token)
    answer = probabilities.argmax(axis=1)
    known = config.layers  # the first step from which on the best guess is the final one
    while known > 0 and answer[known - 1] == answer[-1]:
        known -= 1
    reader = session.pipeline(name).reader
    if config.head == "classifier":
        names = list(reader.labels)
        figure = heatmap(
            probabilities,
            step_axis,
            Axis(plain("layers.axis_class"), names),
            scale="share",
            square=False,
            font_size=view.font_size,
            height=460,
        )
        table = pd.DataFrame(probabilities, index=steps, columns=names)
    else:
        names = reader.vocabulary
        best = np.argpartition(-probabilities, BEST, axis=1)[:, :BEST]  # in any order, but without sorting them all
        order = np.argsort(-np.take_along_axis(probabilities, best, axis=1), axis=1)
        best = np.take_along_axis(best, order, axis=1)
        words = [[names[i] for i in row] for row in best]
        figure = worded(
            np.take_along_axis(probabilities, best, axis=1),
            words,
            step_axis,
            Axis(plain("layers.axis_rank"), [str(rank + 1) for rank in range(BEST)]),
            font_size=view.font_size,
            height=460,
        )
        table = pd.DataFrame(words, index=steps, columns=range(1, BEST + 1))
    sentence = t(
        "layers.read_guess_class" if config.head == "classifier" else "layers.read_guess",
        token=tokens[token],
        answer=names[answer[-1]],
        value=f"{probabilities[-1, answer[-1]]:.2f}",
    )
    kind = "first" if known == 0 else "last" if known == config.layers else "between"
    sentence += " " + t(f"layers.known_{kind}", answer=names[answer[-1]], layer=known)
    if tokens[token] in ("[CLS]", "[SEP]") and config.head == "masked-word":
        sentence += " " + t("layers.never_asked", token=tokens[token])
    view.picture("guess", figure, sentence + " " + t("layers.lens"), table=table)


with columns[1]:
    if config.head == "none":
        st.markdown(f"**{plain('layers.guess')}**")
        st.info(t("untrained.no_guess"), icon=":material/shuffle:")
    else:
        show_guesses()

# -- who has become alike ------------------------------------------------------------------------------
alike = cosine_similarity(states)  # (1 + layers, token, token)
pairs = ~np.eye(n, dtype=bool)
other = min(st.session_state.get("other", 2), n - 1)
columns = st.columns(2, gap="medium")
with columns[0]:
    now = alike[layer + 1]
    nearest = np.where(pairs[token], now[token], -2).argmax() if n > 1 else token
    view.picture(
        "similarity",
        heatmap(
            now,
            token_axis,
            token_axis,
            limit=1.0,
            cell=(token, other),
            clickable=True,
            font_size=view.font_size,
            height=480 if view.choice.big else 430,
        ),
        t(
            "layers.read_similarity" if n > 1 else "layers.alone_similarity",
            layer=layer + 1,
            token=tokens[token],
            other=tokens[nearest],
            value=f"{now[token, nearest]:.2f}",
        ),
        on_pick=choose_pair,
    )
with columns[1]:
    together = [float(step[pairs].mean()) if n > 1 else 1.0 for step in alike]
    view.picture(
        "all_similarities",
        tiles(
            alike[None],
            Axis("", [""]),
            numbered,
            scale="signed",
            limit=1.0,
            chosen=(0, layer + 1),
            hover=[f"{step} · {mean:.2f}" for step, mean in zip(steps, together, strict=True)],
            font_size=view.font_size,
            height=150,
        ),
        t(
            "layers.read_all_similarities" if n > 1 else "layers.alone_all",
            before=f"{together[0]:.2f}",
            after=f"{together[-1]:.2f}",
        ),
        table=pd.DataFrame(
            alike.reshape(-1, n), index=pd.MultiIndex.from_product([steps, range(1, n + 1)]), columns=tokens
        ),
        on_pick=choose_layer,
    )
    lengths = np.linalg.norm(states, axis=-1)  # (1 + layers, token)
    written = {
        key: np.array([np.nan] + [np.linalg.norm(view.trace[f"layers.{i}.{key}"][token]) for i in range(config.layers)])
        for key in ("attention.output", "ffn.output")
    }
    loudest = {key: int(np.nanargmax(values)) for key, values in written.items()}
    view.picture(
        "norms",
        lines(
            np.stack([lengths[:, token], *written.values()]),
            [plain(f"layers.line_{line}") for line in ("state", "attention", "ffn")],
            numbered,
            plain("layers.axis_length"),
            font_size=view.font_size,
            height=380 if view.choice.big else 260,
        ),
        t(
            "layers.read_norms",
            token=tokens[token],
            before=f"{lengths[0, token]:.1f}",
            after=f"{lengths[-1, token]:.1f}",
            smallest=f"{lengths[1:].min():.1f}",
            largest=f"{lengths[1:].max():.1f}",
            attention=f"{written['attention.output'][loudest['attention.output']]:.1f}",
            attention_layer=loudest["attention.output"],
            ffn=f"{written['ffn.output'][loudest['ffn.output']]:.1f}",
            ffn_layer=loudest["ffn.output"],
        ),
        table=pd.DataFrame(lengths.T, index=tokens, columns=steps),
    )

# -- where it came from --------------------------------------------------------------------------------
weights = np.stack([view.trace[f"layers.{number}.attention.weights"] for number in range(config.layers)])
reached, averaged = rollout(weights), weights.mean(axis=1)
query, key = (min(st.session_state.get(place, start), n - 1) for place, start in (("query", start), ("key", 0)))
look = dict(
    scale="share",
    cell=(query, key),
    clickable=True,
    font_size=view.font_size,
    height=480 if view.choice.big else 430,
)
columns = st.columns(2, gap="medium")
with columns[0]:
    others = np.where(np.arange(n) == query, -1, reached[layer, query])
    source = int(others.argmax())
    view.picture(
        "rollout",
        heatmap(
            reached[layer], Axis(plain("layers.axis_after"), tokens), Axis(plain("layers.axis_input"), tokens), **look
        ),
        t(
            "layers.read_rollout" if n > 1 else "layers.alone_rollout",
            layer=layer + 1,
            query=tokens[query],
            own=f"{reached[layer, query, query]:.0%}",
            key=tokens[source],
            value=f"{reached[layer, query, source]:.0%}",
        ),
        on_pick=choose_traced,
        equation=r"R^{(l)} = \left(\tfrac12 \bar A^{(l)} + \tfrac12 I\right) R^{(l-1)},\quad R^{(0)} = I",
    )
with columns[1]:
    looked = int(averaged[layer, query].argmax())
    view.picture(
        "raw",
        heatmap(averaged[layer], view.tokens("axis.query"), view.tokens("axis.key"), **look),
        t(
            "layers.read_raw",
            layer=layer + 1,
            query=tokens[query],
            key=tokens[looked],
            value=f"{averaged[layer, query, looked]:.0%}",
        ),
        on_pick=choose_traced,
        equation=r"\bar A^{(l)} = \tfrac1h \left(A^{(l)}_1 + \cdots + A^{(l)}_h\right)",
    )

# -- what the layer hands on ---------------------------------------------------------------------------
out = view.value("layers.{l}.norm_2")
view.picture(
    "out",
    heatmap(out, token_axis, Axis(plain("axis.d_model")), square=False, font_size=view.font_size),
    t(
        "layers.read_out",
        layer=layer + 1,
        next=layer + 2,
        token=tokens[token],
        length=f"{lengths[layer + 1, token]:.2f}",
    )
    if layer + 1 < config.layers
    else t("layers.read_out_last", layer=layer + 1, token=tokens[token], length=f"{lengths[layer + 1, token]:.2f}"),
    stage="layers.{l}.norm_2",
    table=pd.DataFrame(out, index=tokens, columns=range(1, config.d_model + 1)),
)
if "norm" in view.trace:
    Z = view.trace["norm"]
    view.picture(
        "final",
        heatmap(Z, token_axis, Axis(plain("axis.d_model")), square=False, font_size=view.font_size),
        t("layers.read_final"),
        stage="norm",
        table=pd.DataFrame(Z, index=tokens, columns=range(1, config.d_model + 1)),
    )
else:
    st.markdown(f"**{plain('layers.final')}**")
    st.markdown(t("layers.no_final", layers=config.layers))

# -- by hand -------------------------------------------------------------------------------------------
four = st.column_config.NumberColumn(format="%.4f")
with view.by_hand(plain("layers.hand_cosine")):
    st.markdown(t("layers.hand_cosine_intro", layer=layer + 1, d_model=config.d_model))
    with st.columns(3)[0]:
        other = pick("other", plain("layers.hand_other", token=tokens[token]), tokens, default=2)
    a, b = states[layer + 1, token].astype(np.float64), states[layer + 1, other].astype(np.float64)
    table = pd.DataFrame({"a": a, "b": b, "a · b": a * b, "a²": a * a, "b²": b * b}, range(1, config.d_model + 1))
    st.dataframe(table, key="layers.cosine", height=250, column_config=dict.fromkeys(table.columns, four))
    dot, aa, bb = (float(table[column].sum()) for column in ("a · b", "a²", "b²"))
    st.markdown(
        t(
            "layers.hand_cosine_sums",
            dot=f"{dot:.4f}",
            aa=f"{aa:.4f}",
            bb=f"{bb:.4f}",
            a=f"{aa**0.5:.4f}",
            b=f"{bb**0.5:.4f}",
            token=tokens[token],
            other=tokens[other],
            cosine=f"{now[token, other]:.4f}",
        )
    )
with view.by_hand(plain("layers.hand_rollout")):
    st.markdown(t("layers.hand_rollout_intro", layer=layer + 1, before=layer))
    columns = st.columns(2)
    with columns[0]:
        i = pick("query", plain("layers.hand_query"), tokens, default=start)
    with columns[1]:
        j = pick("key", plain("layers.hand_key"), tokens)
    before = reached[layer - 1] if layer else np.eye(n, dtype=np.float32)
    mixed = averaged[layer, i] / 2 + (np.arange(n) == i) / 2
    table = pd.DataFrame(
        {
            plain("layers.hand_via"): tokens,
            "Ā": averaged[layer, i],
            "½ Ā + ½ I": mixed,
            "R before": before[:, j],
            "product": mixed * before[:, j],
        },
        range(1, n + 1),
    ).rename(columns={"R before": plain("layers.hand_before"), "product": plain("layers.hand_product")})
    st.dataframe(table, key="layers.traced", column_config=dict.fromkeys(table.columns[1:], four))
    st.markdown(
        t(
            "layers.hand_rollout_sum",
            query=tokens[i],
            key=tokens[j],
            layer=layer + 1,
            value=f"{reached[layer, i, j]:.4f}",
        )
    )

view.close(EncoderLayer, rollout, cosine_similarity)
