"""Attention: the weights of one head as a map, computed step by step, and through all layers."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from model.measures.scaling import WIDTHS
from model.sublayers import MultiHeadAttention, ScaledDotProductAttention
from pages.attention.maps import through_layers, weights
from pages.attention.read import steps_of
from pages.attention.scaling import about_scaling, why_scaled, word
from pages.attention.steps import attention_steps
from pages.drawing.page import LAYER, LAYER_AND_HEAD, Page, Tabs
from pages.drawing.picture import kind_of
from pages.drawing.screen import Screen
from pages.drawing.text import t
from pages.screen.components.player import stop
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound
from pages.screen.link import select

PREFIX = "layers.{l}.attention."


def equation_of(screen: Screen) -> str:
    run = screen.run
    Q, K = (rf"\tilde{{{role}}}" if run.config.positions == "rotary" else role for role in "QK")
    terms, graph = run.config.distance_terms, run.graph
    products = [rf"{Q} {K}^{{\top}}", *(graph[f"layers.0.attention.{term}"].symbol for term in terms)]
    scores = " + ".join(products)
    if run.config.divided:
        root = rf"{len(products)}\, d_k" if terms else "d_k"
        scores = rf"\frac{{{scores}}}{{\sqrt{{{root}}}}}"
    scores += " + B" * run.config.by_distance
    return rf"\text{{Attention}}(Q, K, V) = \operatorname{{softmax}}\left({scores}\right) V"


def above(screen: Screen, pen: Pen) -> None:
    run = screen.run
    if run.config.by_distance:
        st.caption(t("attention.by_distance" if run.config.divided else "attention.by_distance_undivided"))
    if run.config.distance_terms:
        st.caption(t("attention.told_apart", parts=1 + len(run.config.distance_terms)))
    if kind_of(run) == "single":
        st.info(t("attention.single"), icon=":material/info:")


def tabs(screen: Screen) -> Tabs:
    tabs = {"map": one_map, "steps": step_by_step}
    if kind_of(screen.run) != "single":
        tabs["layers"] = all_layers
        if screen.run.config.divided and not screen.run.config.distance_terms:
            tabs["root"] = root
    return tabs


def usual(screen: Screen, names: Sequence[str]) -> str:
    """The tab of the link's step, or of an old link."""
    choice = screen.choice
    if choice.tab == "heads" and kind_of(screen.run) == "drawing":
        return "layers"
    if (choice.stage, choice.as_) == ("scaled", "why") and "root" in names:
        return "root"
    steps = steps_of(screen.run, screen.at.of(PREFIX))
    return "steps" if choice.stage in steps and choice.stage != "weights" else "map"


def one_map(screen: Screen, pen: Pen) -> None:
    stop()
    step_keys(screen, pen)
    weights(screen, pen, screen.at.of(PREFIX))


def all_layers(screen: Screen, pen: Pen) -> None:
    stop()
    through_layers(screen, pen)


def step_by_step(screen: Screen, pen: Pen) -> None:
    step_keys(screen, pen)
    attention_steps(screen, pen, screen.at.of(PREFIX))


def step_keys(screen: Screen, pen: Pen) -> None:
    """Let number keys open the steps."""
    for number, name in enumerate(steps_of(screen.run, screen.at.of(PREFIX)), 1):
        pen.on_key(str(number), partial(select, tab="steps", stage=name))


def root(screen: Screen, pen: Pen) -> None:
    """The effect of the division on random vectors of a chosen length, and on the chosen head's."""
    stop()
    look = bound("scaling.d_k", screen.choice.d_k, lambda d_k: select(d_k=d_k)) | {"label_visibility": "collapsed"}
    with pen.controls:
        st.select_slider(word("slider"), WIDTHS, width=260, format_func="dₖ = {}".format, **look)
    pen.show("why", partial(why_scaled, d_k=screen.choice.d_k))
    st.caption(about_scaling())


def code_of(screen: Screen) -> Sequence[object]:
    own = type(screen.pipeline.network.layers[screen.choice.layer].attention)  # a family's own, if it has one
    return tuple(dict.fromkeys((ScaledDotProductAttention, MultiHeadAttention, own)))


PAGE = Page(
    name="attention",
    group="layer",
    tabs=tabs,
    attention=True,
    usual=usual,
    shown_of=LAYER_AND_HEAD,
    but={"layers words": LAYER},
    tokenless=("root",),
    head_maps=True,
    equation=equation_of,
    above=above,
    code=code_of,
)
