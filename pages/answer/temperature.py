"""The last softmax at another temperature: the same logits, spread otherwise over the words or classes."""

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import likeliest, softmax
from pages.ui.figures import BLUE, ORANGE, bars_with_numbers
from pages.ui.frame.pickers import bound
from pages.ui.state.link import select
from pages.ui.text import texts_of
from pages.ui.text.numbers import decimal
from pages.ui.view import View

MOST = 10  # bars
NOTABLE = 0.01  # who gets less is hardly in the race
OWN = 10  # the network's own temperature, in tenths
text, word = texts_of("temperature")


def choose_temperature(view: View) -> None:
    """The slider of the temperature."""
    look = bound("answer.tau", view.choice.tau / 10, lambda value: select(tau=round(10 * value)))
    st.slider(word("slider"), 0.1, 5.0, step=0.1, format="%.1f", help=word("help"), width=260, **look)


def at_temperature(view: View, place: int, truth: int | None = None) -> None:
    """The likeliest at one place as the chosen temperature spreads them; hollow, what the network itself says.

    truth: the word that stands there, in another colour.
    """
    tau, logits = view.choice.tau / 10, np.atleast_2d(view.trace["logits"])[place].astype(np.float64)
    own, now = softmax(logits), softmax(logits / tau)
    names, shown = view.output_names, likeliest(own[None], [MOST])
    best, symbol = shown[0], view.trace.graph["logits"].symbol
    figure = bars_with_numbers(
        now[shown],
        [names[i] for i in shown],
        [decimal(now[i]) for i in shown],
        colours=[ORANGE if i == (best if truth is None else truth) else BLUE for i in shown],
        room=np.maximum(now, own)[shown],
        there=own[shown],
        most=1.0,
    )
    many, few = (int((p >= NOTABLE).sum()) for p in (now, own))
    said = {"tau": f"{tau:g}", "best": names[best], "now": decimal(now[best]), "own": decimal(own[best])}
    view.picture(
        "temperature",
        figure,
        text("read", **said, many=many, few=few, n=f"{len(own):,}"),
        title=word("title"),
        equation=rf"p_i = \frac{{e^{{{symbol}_i / \tau}}}}{{\sum_j e^{{{symbol}_j / \tau}}}}",
        table=pd.DataFrame({f"τ = {tau:g}": now[shown], "τ = 1": own[shown]}, index=[names[i] for i in shown]),
    )
