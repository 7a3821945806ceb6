"""Feed-forward: every token for itself, through a wide layer of neurons and back."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import Terms, largest_terms
from model.encoder import FeedForward
from model.neurons import Positionwise, positionwise, pushes
from model.pipeline import SPECIAL_TOKENS
from pages.ui import session
from pages.ui.figures import (
    ACCENT,
    AFTER,
    BEFORE,
    Axis,
    activation_curve,
    bars,
    grouped_bars,
    wide_heatmap,
)
from pages.ui.text import plain, t
from pages.ui.view import View, pick, show_terms, terms_table

MOST_NEURONS = 128  # as many as can still be told apart on a screen
SILENT = 0.01  # an activation this small adds next to nothing, whatever its output vector
LISTED, TERMS = 15, 10


@st.cache_data(max_entries=128, show_spinner=False)
def proof(pipeline: str, layer: int, X: np.ndarray, X_ffn: np.ndarray, seed: int) -> Positionwise:
    return positionwise(session.pipeline(pipeline).network.layers[layer], X, X_ffn, seed)


@st.cache_data(max_entries=256, show_spinner=False)
def pushed(pipeline: str, layer: int, neuron: int) -> np.ndarray:
    return pushes(session.pipeline(pipeline).network, layer, neuron)


view = View("feed_forward", r"\operatorname{FFN}(x) = \operatorname{act}(x W_1 + b_1)\, W_2 + b_2")
tokens, layer = view.trace.tokens, view.choice.layer
config, n = view.trace.config, len(tokens)
gelu = config.activation == "gelu"
pipeline = session.pipeline(view.choice.pipeline)
ffn = pipeline.network.layers[layer].ffn
(x,) = view.trace.reads(view.key("layers.{l}.ffn.hidden")).values()
hidden, activation, output = (view.value(f"layers.{{l}}.ffn.{name}") for name in ("hidden", "activation", "output"))


def choose_token(_height: int, column: int) -> None:
    st.session_state["token"] = column


columns = st.columns([1, 1, 2], vertical_alignment="bottom")
with columns[0]:
    chosen = pick("token", plain("feed_forward.token"), tokens, default=1)
best = np.argsort(-activation[chosen], kind="stable")[:LISTED]
# A neuron's number means nothing in another layer or another network: there, start from the most active one.
owner = (view.choice.pipeline, layer)
if st.session_state.get("feed_forward.owner") != owner:
    st.session_state["feed_forward.owner"] = owner
    st.session_state["neuron"] = int(best[0]) + 1
with columns[1]:
    neuron = st.number_input(
        plain("feed_forward.neuron", d_ff=config.d_ff),
        1,
        config.d_ff,
        key="neuron",
        persist_state="session",
    )
    neuron = int(neuron or 1) - 1
with columns[2]:
    st.session_state.setdefault("feed_forward.shown", "most")
    shown = st.segmented_control(
        plain("feed_forward.shown"),
        ("most", "all", "sorted"),
        format_func=lambda which: plain(f"feed_forward.shown_{which}", most=min(MOST_NEURONS, config.d_ff)),
        key="feed_forward.shown",
        required=True,
        persist_state="session",
    )
order = np.argsort(-activation.mean(axis=0), kind="stable")
order = {"most": order[:MOST_NEURONS], "all": np.arange(config.d_ff), "sorted": order}[shown]
across = plain(f"feed_forward.axis_{shown}", d_ff=config.d_ff)


def neurons(name: str, values: np.ndarray, sentence: str) -> None:
    view.picture(
        name,
        wide_heatmap(
            values[:, order],
            view.tokens("axis.token"),
            across,
            order + 1,
            one=plain("feed_forward.a_neuron"),
            limit=float(np.quantile(np.abs(values), 0.999)) or None,
            exact=shown == "most",
            font_size=view.font_size,
        ),
        sentence,
        stage=f"layers.{{l}}.ffn.{name}",
        table=pd.DataFrame(values[:, order], index=tokens, columns=order + 1),
    )


loud = np.unravel_index(hidden.argmax(), hidden.shape)
neurons(
    "hidden",
    hidden,
    t(
        "feed_forward.read_hidden",
        token=tokens[loud[0]],
        neuron=loud[1] + 1,
        value=f"{hidden[loud]:.2f}",
        share=f"{(hidden < 0).mean():.0%}",
    ),
)
neurons(
    "activation",
    activation,
    t(
        f"feed_forward.read_activation_{config.activation}",
        low=f"{hidden.min():.2f}",
        lowest=f"{activation.min():.2f}",
        high=f"{hidden.max():.2f}",
        highest=f"{activation.max():.2f}",
    ),
)

columns = st.columns(2)
with columns[0]:
    low, high = min(-3, hidden.min()), max(3, hidden.max())
    grid = np.linspace(low, high, int(12 * (high - low)))  # so fine that the dots lie on the line
    erf = np.array([math.erf(u / math.sqrt(2)) for u in grid])
    curve = grid * 0.5 * (1 + erf) if gelu else np.maximum(grid, 0)
    view.picture(
        "curve",
        activation_curve(
            (grid, curve),
            (hidden[chosen], activation[chosen]),
            neuron,
            tuple(plain(f"feed_forward.{name}") for name in ("axis_hidden", "axis_activation", "a_neuron")),
            font_size=view.font_size,
        ),
        t(
            f"feed_forward.read_curve_{config.activation}",
            token=tokens[chosen],
            d_ff=config.d_ff,
            below=int((hidden[chosen] < 0).sum()),
            neuron=neuron + 1,
            u=f"{hidden[chosen, neuron]:.2f}",
            h=f"{activation[chosen, neuron]:.2f}",
        ),
        table=pd.DataFrame({"U": hidden[chosen], "H": activation[chosen]}, index=range(1, config.d_ff + 1)),
    )
with columns[1]:
    silent = np.abs(activation) < SILENT
    leaking = ~silent & (activation < 0)
    shares = {"open": ~silent & ~leaking, "leaking": leaking, "silent": silent}
    if not gelu:
        del shares["leaking"]
    shares = {plain(f"feed_forward.share_{name}"): cells.mean(axis=1) for name, cells in shares.items()}
    view.picture(
        "shares",
        grouped_bars(
            shares,
            view.tokens("axis.token"),
            plain("feed_forward.axis_share"),
            (AFTER, "#c3bdf0", BEFORE) if gelu else (AFTER, BEFORE),
            stacked=True,
            value_range=(0, 1),
            font_size=view.font_size,
        ),
        t(
            f"feed_forward.read_shares_{config.activation}",
            token=tokens[chosen],
            silent=f"{silent[chosen].mean():.1%}",
            leaking=f"{leaking[chosen].mean():.1%}",
            always=int(silent.all(axis=0).sum()),
            d_ff=config.d_ff,
        ),
        on_pick=choose_token,
        table=pd.DataFrame(shares, index=tokens),
    )


def choose_neuron(place: int, _length: int) -> None:
    st.session_state["neuron"] = int(best[place]) + 1


columns = st.columns(2)
with columns[0]:
    view.picture(
        "best",
        bars(
            activation[chosen, best],
            Axis(plain("feed_forward.a_neuron"), [str(place + 1) for place in best]),
            plain("feed_forward.axis_activation"),
            colours=[ACCENT if place == neuron else AFTER for place in best],
            font_size=view.font_size,
        ),
        t(
            "feed_forward.read_best",
            token=tokens[chosen],
            neuron=best[0] + 1,
            value=f"{activation[chosen, best[0]]:.2f}",
            listed=len(best),
        ),
        on_pick=choose_neuron,
        table=pd.DataFrame({"H": activation[chosen, best]}, index=best + 1),
    )
with columns[1]:
    fires = activation[:, neuron]
    view.picture(
        "fires",
        bars(
            fires,
            view.tokens("axis.token"),
            plain("feed_forward.axis_activation"),
            colours=[ACCENT if place == chosen else AFTER for place in range(n)],
            horizontal=False,
            font_size=view.font_size,
            height=int(440 * view.font_size / 12),
        ),
        t(
            "feed_forward.read_fires",
            neuron=neuron + 1,
            token=tokens[int(fires.argmax())],
            value=f"{fires.max():.2f}",
            quiet=int((np.abs(fires) < SILENT).sum()),
            n=n,
        ),
        on_pick=choose_token,
        title=plain("feed_forward.fires_title", neuron=neuron + 1),
        table=pd.DataFrame({"H": fires}, index=tokens),
    )

st.markdown(t("feed_forward.memory", neuron=neuron + 1))
if config.head == "none":
    st.markdown(t("feed_forward.untrained"))
scores = pushed(view.choice.pipeline, layer, neuron)


def push_picture(name: str, title: str, words: list[str], values: np.ndarray, sentence: str) -> None:
    view.picture(
        name,
        bars(
            values,
            Axis(plain(f"feed_forward.{title}"), words),
            plain("feed_forward.axis_push"),
            colours=BEFORE if name == "down" else AFTER,
            font_size=view.font_size,
        ),
        sentence,
        table=pd.DataFrame({plain("feed_forward.axis_push"): values}, index=words),
    )


if config.head == "classifier":
    names = {"even": plain("feed_forward.even"), "odd": plain("feed_forward.odd")}
    classes = [names.get(label, label) for label in pipeline.reader.labels]
    up, down = (classes[int(place)] for place in (scores.argmax(), scores.argmin()))
    sentence = t(
        "feed_forward.read_classes" if n > 1 else "feed_forward.read_classes_one", neuron=neuron + 1, up=up, down=down
    )
    push_picture("classes", "axis_class", classes, scores, sentence)
else:
    vocabulary = pipeline.reader.vocabulary
    ranked = np.argsort(-scores, kind="stable")
    for column, name, places in zip(st.columns(2), ("up", "down"), (ranked, ranked[::-1]), strict=True):
        with column:
            first = [place for place in places[: TERMS + 5] if vocabulary[place] not in SPECIAL_TOKENS][:TERMS]
            words = [vocabulary[place] for place in first]
            sentence = t(
                f"feed_forward.read_{name}",
                neuron=neuron + 1,
                words=plain("feed_forward.comma").join(words[:3]),
                value=f"{scores[first[0]]:.2f}",
            )
            push_picture(name, "axis_word", words, scores[first], sentence)

st.markdown(t("feed_forward.positionwise"))
turn = st.session_state.get("feed_forward.turn", 0)
test = proof(view.choice.pipeline, layer, view.trace.stream(layer)[0], x, turn)
wide = plain("feed_forward.axis_d_model", d_model=config.d_model)
limit = float(np.quantile(np.abs(output), 0.999)) or None
columns = st.columns(2)
with columns[0]:
    view.picture(
        "output",
        wide_heatmap(output, view.tokens("axis.token"), wide, limit=limit, font_size=view.font_size),
        t("feed_forward.read_output", d_ff=config.d_ff, d_model=config.d_model),
        stage="layers.{l}.ffn.output",
    )
with columns[1]:
    places = Axis(plain("feed_forward.axis_shuffled"), [tokens[place] for place in test.order])
    view.picture(
        "shuffled",
        wide_heatmap(test.shuffled, places, wide, limit=limit, font_size=view.font_size),
        t(
            "feed_forward.read_shuffled" if n > 1 else "feed_forward.read_shuffled_one",
            token=tokens[test.order[0]],
            place=test.order[0] + 1,
            gap=f"{test.shuffle_gap:.1e}" if test.shuffle_gap else "0",
        ),
    )
    st.button(
        plain("feed_forward.again"),
        key="feed_forward.again",
        icon=":material/shuffle:",
        disabled=n == 1,
        on_click=lambda: st.session_state.update({"feed_forward.turn": turn + 1}),
    )
gaps = {"ffn": test.ffn_gaps, "attention": test.attention_gaps}
gaps = {plain(f"feed_forward.gap_{name}"): values for name, values in gaps.items()}
view.picture(
    "alone",
    grouped_bars(
        gaps,
        view.tokens("axis.token"),
        plain("feed_forward.axis_gap"),
        (ACCENT, BEFORE),
        value_range=(0, 1) if n == 1 else None,
        font_size=view.font_size,
    ),
    t(
        "feed_forward.read_alone" if n > 1 else "feed_forward.read_alone_one",
        ffn=f"{test.ffn_gaps.max():.1e}" if test.ffn_gaps.any() else "0",
        attention=f"{test.attention_gaps.max():.2f}",
    ),
    on_pick=choose_token,
    table=pd.DataFrame(gaps, index=tokens),
)


def add_up(name: str, terms: Terms, title: str, factors: tuple[str, str]) -> None:
    show_terms(terms_table(terms, title, [str(place + 1) for place in terms.places], factors), f"feed_forward.{name}")


with view.by_hand():
    st.markdown(t("feed_forward.hand_intro", token=tokens[chosen], neuron=neuron + 1))
    columns = st.columns(2)
    with columns[0]:
        st.markdown(t("feed_forward.hand_hidden", neuron=neuron + 1, terms=TERMS, d_model=config.d_model))
        match = largest_terms(x[chosen], ffn.W_1.weight[neuron].numpy(), float(ffn.W_1.bias[neuron]), TERMS)
        add_up("match", match, plain("feed_forward.component"), ("x′", "w₁"))
        u = match.total
        values = {"u": f"{u:.5f}", "neuron": neuron + 1}
        if gelu:
            phi = 0.5 * (1 + math.erf(u / math.sqrt(2)))
            st.markdown(t("feed_forward.hand_gelu", phi=f"{phi:.6f}", h=f"{u * phi:.4f}", **values))
        else:
            st.markdown(t("feed_forward.hand_relu", h=f"{max(u, 0):.4f}", **values))
    with columns[1]:
        j = pick("component", plain("feed_forward.cell"), [f"d_model = {i + 1}" for i in range(config.d_model)])
        st.markdown(t("feed_forward.hand_output", j=j + 1, terms=TERMS, d_ff=config.d_ff))
        cell = largest_terms(activation[chosen], ffn.W_2.weight[j].numpy(), float(ffn.W_2.bias[j]), TERMS)
        add_up("cell", cell, plain("feed_forward.a_neuron"), ("h", "w₂"))
        st.markdown(t("feed_forward.hand_cell", j=j + 1, token=tokens[chosen], value=f"{cell.total:.4f}"))

view.close(FeedForward)
