"""The code behind a page, beside the lecture notes' code, run with the same weights."""

import inspect
from functools import cache

import numpy as np
import streamlit as st

from model import Trace
from model.activations import ACTIVATIONS
from model.heads import ClassifierNetwork
from model.notes import Block, blocks
from pages.drawing.text import class_label, texts_of
from pages.drawing.text.numbers import written
from pages.screen.components.tables import markdown_table

SHOWN = 5  # numbers of a row
NEAR = 1e-4  # smaller gaps are rounding
text, word = texts_of("note_code")


@cache
def source(*things: object) -> str:
    """The source of classes or functions."""
    return "\n\n".join(inspect.getsource(thing) for thing in things)


def beside_notes(thing: object, trace: Trace, layer: int, token: int, ours: bool) -> None:
    """The source of a class or function, beside the notes' version. ours: for our own networks, both run with this
    layer's weights, and their outputs for a token are shown.
    """
    if not (theirs := blocks(thing, trace.config)):
        st.code(source(thing), language="python")
        return
    left, right = st.columns(2)
    left.code(source(thing), language="python", wrap_lines=True)
    for tab, block in zip(right.tabs([word("tab", note=block.note) for block in theirs]), theirs, strict=True):
        with tab:
            st.markdown(text(f"differs.{block.key}"))
            st.code(source(*block.code), language="python", wrap_lines=True)
            if ours:
                _run(block, trace, layer, token)


def _run(block: Block, trace: Trace, layer: int, token: int) -> None:
    """The outputs of the note's code and of ours, and the gap between them."""
    pair = [values.reshape(-1, values.shape[-1]) for values in block.run(trace, layer)]
    if block.ours is ClassifierNetwork:
        row, names = 0, [class_label(label) for label in trace.answer[0].labels]
        st.markdown(text("ran_answer"))
    else:
        row, names = token, [str(place) for place in range(1, min(SHOWN, pair[0].shape[1]) + 1)]
        said = {"token": trace.tokens[row], "layer": layer + 1, "shown": len(names), "all": pair[0].shape[1]}
        st.markdown(text("ran_layer" if block.in_layer else "ran", **said))
    rows = [[name, *(written(f"{values[row, place]:.4f}") for values in pair)] for place, name in enumerate(names)]
    st.markdown(markdown_table([" ", word("theirs", note=block.note), word("ours")], rows, ":--|--:|--:"))
    st.markdown(told_gap(float(np.abs(pair[0] - pair[1]).max()), pair[0].size))
    if block.activation not in (None, trace.config.activation):
        st.markdown(
            text("bent", theirs=ACTIVATIONS[block.activation].name, own=ACTIVATIONS[trace.config.activation].name)
        )


def told_gap(gap: float, numbers: int) -> str:
    """The sentence about the gap between both outputs."""
    kind = "same" if gap == 0 else "near" if gap < NEAR else "apart"
    return text(kind, numbers=f"{numbers:,}", gap=written(f"{gap:.1e}" if gap < NEAR else f"{gap:.4f}"))
