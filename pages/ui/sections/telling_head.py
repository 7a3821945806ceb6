"""A head at work: what it reads at one position, and a switch for it."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from model import Edit, Trace
from model.edits import head_off
from pages.ui.figures import TALL, Axis, drawing, over_drawing, reads
from pages.ui.frame.changes_bar import toggled
from pages.ui.state.link import chosen, select
from pages.ui.text import plain, t
from pages.ui.view import View


def what_it_reads(view: View, layer: int, head: int, place: int) -> None:
    """What a head reads at one place, as lines to words, or laid over the drawing."""
    trace = view.trace
    key = f"layers.{layer}.attention.weights"
    weights, differs = trace[key][head, place], view.differs and view.counterpart(place) is not None
    shows = view.measure(key, every_head=True).less_nothing()[head, place] if differs else None
    drawn = shows.values if shows else weights
    names, off = view.named if differs else trace.tokens, is_off(trace.edits, layer, head)
    where = plain("common.where", layer=layer + 1, head=head + 1)
    table = pd.DataFrame({plain("attention.weight"): drawn}, index=names)
    best = most_read(trace, layer, head, place)
    values = {"where": where, "query": trace.tokens[place], "key": trace.tokens[best], "value": f"{weights[best]:.2f}"}
    said = t("words.read_off" if off else "words.read_head", **values)
    if trace.picture is None:
        look = {"faded": off, "differs": differs, "height": TALL}
        figure = reads(drawn, place, names, **look)
    elif len(weights) == 1:
        figure, said = drawing(view.seen), t("words.read_one_token", where=where)
    else:
        figure = over_drawing(
            view.seen,
            drawn,
            trace.tokens,
            place,
            plain("attention.weight"),
            front=trace.config.tokens_in_front,
            differs=differs,
            height=TALL + 40,
        )
    view.picture(
        "reads",
        figure,
        said,
        title=plain("words.reads", where=where),
        table=table,
        shows=shows and shows.on(Axis("", names)),
        of_head=(layer, head),
    )


def most_read(trace: Trace, layer: int, head: int, place: int) -> int:
    """Which other token a head reads most at one place; of a single one, that."""
    weights = trace[f"layers.{layer}.attention.weights"][head, place]
    return int(np.where(np.arange(len(weights)) == place, -1, weights).argmax())


def is_off(edits: Sequence[Edit], layer: int, head: int) -> bool:
    """Whether a head is switched off, by itself or with others: all of its layer, that head or all of every layer."""
    own = head_off(layer, head)
    every = replace(own, key="layers.{l}.attention.heads")
    return any(edit in edits for wide in (own, every) for edit in (wide, replace(wide, head=None)))


def head_switch(view: View, layer: int, head: int) -> None:
    """A switch that puts out what a head finds, for this run and on every page."""
    edit, edits = head_off(layer, head), view.choice.edits
    widget, on = "words.switch", edit in edits
    st.session_state[widget] = on

    def switched() -> None:
        if st.session_state[widget] != (edit in chosen().edits):
            select(edits=toggled(edit))

    st.toggle(plain(widget, layer=layer + 1, head=head + 1), key=widget, on_change=switched)
    if others := sum(other != edit for other in view.trace.edits):
        st.caption(t("words.other_changes", n=others))
