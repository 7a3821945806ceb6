"""What a neuron answers to over a whole corpus, the strongest places first."""

import streamlit as st

from model.measures.tables import Context, neuron_contexts
from pages.drawing.screen import Screen
from pages.drawing.text import literal, plain, t
from pages.drawing.text.numbers import percent, two
from pages.screen.components.tables import markdown_table
from pages.screen.sections.roles import say_absent, source


def show_contexts(screen: Screen, neuron: int) -> None:
    """The words, in their sentences, that fire a neuron of the chosen layer."""
    contexts = neuron_contexts(source(screen.choice.pipeline), screen.choice.layer, neuron)
    if contexts is None:
        say_absent("neuron", screen.choice.pipeline)
        return
    said = "measured" if contexts.top else "never"
    st.markdown(t(f"neuron.{said}", neuron=neuron + 1, share=percent(contexts.active), layer=screen.choice.layer + 1))
    rows = [(_marked(context), two(context.activation)) for context in (*contexts.top, *contexts.middle, *contexts.low)]
    if rows:
        heads = [plain(f"neuron.column_{name}") for name in ("context", "activation")]
        with st.container(key="working.contexts"):  # as narrow as the tables of an arithmetic
            st.markdown(markdown_table(heads, rows, ":--|--:"))
        st.caption(t("neuron.legend"))


def _marked(context: Context) -> str:
    """The piece that fires the neuron, lit between its neighbours."""
    left, piece, right = context.around(6)
    before, after = (" ".join(map(literal, pieces)) for pieces in (left, right))
    return f"{before} :blue[**{literal(piece)}**] {after}".replace("|", r"\|").strip()
