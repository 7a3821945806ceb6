"""Heads: every head of every layer, what it does over a corpus, what it contributes, and by what it finds tokens."""

from collections.abc import Mapping
from functools import partial

import streamlit as st

from model.analysis import head_pattern
from model.measures.without import one_against_all
from model.sublayers import MultiHeadAttention
from pages.attention.origins import can_be_told, every_head
from pages.drawing.page import LAYER_AND_HEAD, Page, Tabs
from pages.drawing.pictures.quantity_map import chosen_cell
from pages.drawing.screen import Screen
from pages.drawing.text import t
from pages.heads.overview import overview
from pages.heads.pictures import mixed, needed, written
from pages.screen.frame.pen import Pen
from pages.screen.sections.roles import may_have_roles, show_role
from pages.screen.sections.without import answers_with
from pages.screen.sections.working import working

EQUATION = (
    r"\begin{gathered} O = \text{Concat}(\text{head}_1, \ldots, \text{head}_h)\, W_O + b_O \\[-2pt] "
    r"\text{head}_i = \text{Attention}(Q_i, K_i, V_i) \end{gathered}"
)
FORMER: Mapping[str, str | Mapping[str, object]] = {
    **dict.fromkeys(("all", "hunt", "average", "figures", "scatter"), "overview"),
    "role": "roles",
    **dict.fromkeys(("one", "written"), "contribution"),
}


def equation_of(screen: Screen) -> str:
    return EQUATION.replace(" + b_O", "") if "attention" in screen.run.config.unbiased else EQUATION


def above(screen: Screen, pen: Pen) -> None:
    if len(screen.run.tokens) == 1:
        st.info(t("heads.one_token"), icon=":material/info:")


def tabs(screen: Screen) -> Tabs:
    tabs = {"overview": overview}
    if may_have_roles(screen.choice.pipeline):
        tabs["roles"] = show_role
    tabs |= {"contribution": contribution, "mixed": concatenated}
    if can_be_told(screen):
        tabs["origins"] = every_head
    return tabs


def contribution(screen: Screen, pen: Pen) -> None:
    """What each head writes, beside it whether the answer needs it."""
    left, right = st.columns([1, 1], gap="medium")
    with left:
        pen.show("norms", written)
    with right:
        if screen.run.config.heads > 1 and "logits" in screen.run:
            found = answers_with(screen, one_against_all(screen.run.graph, screen.at.layer))
            if found is not None:
                pen.show("needed", partial(needed, found=found))


def concatenated(screen: Screen, pen: Pen) -> None:
    """Concat and W_O, beside a cell by hand."""
    focus = screen.at.of("layers.{l}.attention." + ("concat" if screen.choice.stage == "concat" else "output"))
    left, right = st.columns([3, 2], gap="medium")
    with left:
        pen.show_both("mixed", partial(mixed, focus=focus))
    with right:
        working(screen, pen, focus, chosen_cell(screen.run, screen.at, focus))


PAGE = Page(
    name="heads",
    group="layer",
    tabs=tabs,
    attention=True,
    former=FORMER,
    shown_of=LAYER_AND_HEAD,
    tokenless=("roles", "origins"),
    equation=equation_of,
    above=above,
    code=lambda screen: (MultiHeadAttention, head_pattern),
)
