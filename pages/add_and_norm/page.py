"""Add & Norm: the residual connection adds a sub-layer's output to its input; LayerNorm rescales every vector."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model.analysis import placed
from model.by_hand import by_hand
from model.config import NORMS
from model.encoder import EncoderLayer
from model.rms import RMSNorm
from pages.add_and_norm import pictures
from pages.add_and_norm.pictures import USUAL, AddNorm, text, word
from pages.add_and_norm.why_add_and_norm import gradients_by_layer, lengths_by_layer
from pages.drawing.page import LAYER, Draw, Page, Tabs
from pages.drawing.picture import Numbers, kind_of
from pages.drawing.pictures.quantity_map import chosen_cell, name_of
from pages.drawing.screen import Screen
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import either
from pages.screen.runs.worked_out import gradients
from pages.screen.sections.without import alike_without, fates_of, overflows
from pages.screen.sections.working import working

AFTER_SUM = r"\operatorname{%s}\bigl(X + \operatorname{Sublayer}(X)\bigr)"
BEFORE_SUBLAYER = r"X + \operatorname{Sublayer}\bigl(\operatorname{%s}(X)\bigr)"
JUST_THE_SUM = r"X + \operatorname{Sublayer}(X)"
FORMER = {"values": "maps", "without": "arrows", "why": "ablation", "ways": "arrows"}


def equation_of(screen: Screen) -> str:
    sub = AddNorm(screen.run, screen.at).sub
    if sub.norm is None:
        return JUST_THE_SUM
    return (BEFORE_SUBLAYER if sub.norm_first else AFTER_SUM) % NORMS[screen.run.config.norm]


def purpose_of(screen: Screen) -> str:
    sub = AddNorm(screen.run, screen.at).sub
    return f"add_and_norm.purpose{'' if sub.norm and not sub.norm_first else '_before'}"


def above(screen: Screen, pen: Pen) -> None:
    if AddNorm(screen.run, screen.at).rms:
        st.caption(text("simpler"))


def tabs(screen: Screen) -> Tabs:
    shown = {"arrows": arrows, "maps": maps}
    return shown | ({"ablation": ablation} if reasons(screen) else {})


def reasons(screen: Screen) -> Sequence[Draw]:
    """What shows why there are sums and norms. Gradients are of the network before training, and of none of others',
    which may be large.
    """
    choice = screen.choice
    own = not (screen.run.edits or choice.checkpoint or choice.paper)
    return [from_sums] * own + [from_norms] * (kind_of(screen.run) != "single")


def ablation(screen: Screen, pen: Pen) -> None:
    """What training has from residual connections, and what the vectors have from the norms."""
    for column, draw in zip(st.columns(2, gap="medium"), reasons(screen), strict=False):
        with column:
            draw(screen, pen)
    pen.way_to("what_if", word("way_changes"), tab="residuals")


def from_sums(screen: Screen, pen: Pen) -> None:
    """The gradient that reaches each layer, with residual connections and without."""
    found = gradients(screen.choice.pipeline, screen.run.states()[0], screen.at.token)
    pen.show("gradients", partial(gradients_by_layer, found=found))


def from_norms(screen: Screen, pen: Pen) -> None:
    """How long the vectors are after each layer, with the norms and without."""
    found = fates_of(screen)
    if found is None:
        return
    if "norm" in found:
        pen.show("lengths", partial(lengths_by_layer, normed=found["all"], bare=found["norm"]))
    else:
        st.info(overflows("norm"))


def which_sublayer(screen: Screen, pen: Pen) -> None:
    """Buttons for the sub-layer that the page is about; none where it is about all of them."""
    if screen.choice.tab == "ablation":
        return
    sublayers = screen.run.graph.sublayers(screen.at.layer)
    words, now = (
        [word(f"place_{each.name}") for each in sublayers],
        sublayers.index(AddNorm(screen.run, screen.at).sub) + 1,
    )
    either("sublayer", word("place"), range(1, len(sublayers) + 1), words, now, label_visibility="collapsed")


def arrows(screen: Screen, pen: Pen) -> None:
    """The chosen token's vector as arrows, what all tokens become without the sums or the norms, and its length all the
    way; number by number, with the arithmetic of one. In a presentation the first two.
    """
    big, focus = screen.choice.big, worked_out(screen)
    outer, *right = st.columns([1] if big else [2, 1], gap="medium")
    with outer:
        left, beside = st.columns([3, 2] if big else [1, 1], gap="medium")
        below = st.container()
    with left:
        if AddNorm(screen.run, screen.at).lengths()[:2, screen.at.token].min() > 0:
            pen.show_both("arrows", pictures.one_vector)
        else:
            st.info(text("read_arrows_none", token=placed(screen.run.tokens)[screen.at.token]))
    several = kind_of(screen.run) != "single"
    if several:
        with beside:
            alike_without(screen, pen)
    if not (big and several):
        with below if several else beside:
            pen.show_both("way", pictures.on_the_way)
    for column in right:
        with column:
            pen.show_both("one_by_one", partial(pictures.one_by_one, focus=focus))
            cell = chosen_cell(screen.run, screen.at, focus)
            found = by_hand(screen.pipeline.network, screen.run, focus, cell)
            working(screen, pen, focus, cell, worked=replace(found, where="", steps=found.steps[-2:]))


def worked_out(screen: Screen) -> str:
    """The quantity whose arithmetic is shown: the chosen one, else the last."""
    steps = AddNorm(screen.run, screen.at).steps
    return next((key for key in steps if name_of(key) == screen.choice.stage), steps[-1])


def maps(screen: Screen, pen: Pen) -> None:
    """Every quantity on the way in one band; beside it, not in a presentation, the arithmetic of the chosen cell."""
    steps = AddNorm(screen.run, screen.at).steps
    drawn = screen.two.numbers(lambda run, place: [Numbers.of(run, key) for key in steps])
    limit = float(np.quantile(np.abs([one.less_nothing().array for one in drawn]), USUAL)) or None
    focus = worked_out(screen)
    left, *right = pen.columns(2, 1)
    with left:
        pen.show_both("maps", partial(pictures.maps, focus=focus, limit=limit))
    for column in right:
        with column:
            working(screen, pen, focus, chosen_cell(screen.run, screen.at, focus))


PAGE = Page(
    name="add_and_norm",
    group="layer",
    tabs=tabs,
    former=FORMER,
    shown_of=LAYER,
    but={"ablation": ()},
    equation=equation_of,
    purpose=purpose_of,
    above=above,
    controls=which_sublayer,
    code=lambda screen: (EncoderLayer, RMSNorm) if AddNorm(screen.run, screen.at).rms else (EncoderLayer,),
)
