"""Why sums, and why LayerNorm: gradients with the residual connections and without, and BatchNorm beside LayerNorm."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import placed
from model.gradients import gradient_lengths, untrained
from pages.ui.figures import ADDED, AFTER, Axis, grouped_bars, lines
from pages.ui.runs import pipelines
from pages.ui.text import plain, texts_of
from pages.ui.text.numbers import decimal
from pages.ui.view import View

text, word = texts_of("why_add_and_norm")


@st.cache_data(max_entries=256, show_spinner=False)
def gradients(name: str, X_0: np.ndarray, token: int) -> np.ndarray:
    """(trained or untrained, with or without the sums, 1 + layers): see `gradient_lengths`. name: of the pipeline."""
    trained = pipelines.pipeline(name).network
    return np.stack(
        [
            [gradient_lengths(network, X_0, token, residual) for residual in (True, False)]
            for network in (trained, untrained(trained.config))
        ]
    )


def why_sums(view: View) -> None:
    """How much of the answer's gradient reaches each layer, in the trained network and in one before training."""
    found = gradients(view.choice.pipeline, view.trace.states()[0], view.token)
    least = found[:, :, :-1].min(axis=2)  # at Z itself it is 1
    names = [word(f"{when}_{how}") for when in ("trained", "untrained") for how in ("with", "without")]
    steps = Axis(word("axis_layer"), [f"X⁽{_raised(layer)}⁾" for layer in range(found.shape[2])])
    said = {name: decimal(value) for name, value in zip(("tw", "to", "uw", "uo"), least.ravel(), strict=True)}
    clear = least[1, 0] > 1.5 * least[1, 1]
    sentence = " ".join([text("read_untrained", **said), *([text("so")] * bool(clear)), text("read_trained", **said)])
    values = found.reshape(len(names), -1)
    table = pd.DataFrame(values.T, columns=names, index=steps.labels)
    figure = lines(values, names, steps, word("axis_gradient"))
    view.picture("gradients", figure, sentence, title=word("gradients"), table=table, still=True)
    st.markdown(text("about_gradients"))


def why_not_batch_norm(view: View, entered: np.ndarray, normed: np.ndarray, epsilon: float) -> None:
    """What BatchNorm would make of what LayerNorm read, entered (token, d_model), and of that with a token less.

    normed: what LayerNorm makes of it before γ and β.
    """
    if len(entered) == 1:
        st.markdown(text("batch_of_one"))
        return
    gone = next(place for place in reversed(range(len(entered))) if place != view.token)
    there = np.arange(len(entered)) != gone
    batch, without = (_batch_norm(rows, epsilon) for rows in (entered, entered[there]))
    moved = np.abs(batch[there] - without)[view.token - (gone < view.token)].mean()
    spread = {"LayerNorm": normed.std(axis=1), "BatchNorm": batch.std(axis=1)}
    low, high = (f"{value:.2f}" for value in (spread["BatchNorm"].min(), spread["BatchNorm"].max()))
    token, other = (placed(view.tokens)[place] for place in (view.token, gone))
    view.picture(
        "batch_norm",
        grouped_bars(spread, view.token_axis("axis.token"), word("axis_deviation"), (AFTER, ADDED)),
        text("read_batch_norm", low=low, high=high, token=token, other=other, moved=decimal(moved)),
        title=word("batch_norm"),
        table=pd.DataFrame(spread, index=[plain("common.quoted", token=name) for name in view.tokens]),
        still=True,
    )


def _batch_norm(rows: np.ndarray, epsilon: float) -> np.ndarray:
    """(x − μ) ÷ √(σ² + ε), with mean and variance of each component over the rows (Ioffe and Szegedy 2015)."""
    return (rows - rows.mean(axis=0)) / np.sqrt(rows.var(axis=0) + epsilon)


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
