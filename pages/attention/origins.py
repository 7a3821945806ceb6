"""What a head attends by: a token's own word, its position, or what earlier attention brought there."""

import re

import streamlit as st

from model import WeightsError
from model.measures.origins import KINDS, by_place, nbytes
from model.measures.tables import Role, head_roles
from pages.attention.shares import heads_by_origin, in_words, own_kind, text, word
from pages.drawing.pictures.sources import MOST_BYTES
from pages.drawing.screen import Screen
from pages.drawing.text import joined, plain
from pages.drawing.text.numbers import summands
from pages.drawing.text.roles import measured_role
from pages.screen.frame.pen import Pen
from pages.screen.runs import pipelines
from pages.screen.sections.patience import waits
from pages.screen.sections.roles import source

RUNS = 8  # runs of the network that take about as long
MUCH = 0.5  # how far below 0 a share is when large parts cancel


def can_be_told(screen: Screen) -> bool:
    """Whether this network keeps words and positions apart, and there is more than one token."""
    return by_place(screen.run.graph) and len(screen.run.tokens) > 1


def every_head(screen: Screen, pen: Pen) -> None:
    """Each head as a bar: how far it attends by words, by positions, by what was brought."""
    run = screen.run
    if nbytes(run) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return
    asked = "origins", screen.choice.pipeline, screen.subject, run.edits
    if waits(run.config, len(run.tokens), RUNS, asked):
        return
    pen.show("origins", heads_by_origin)
    st.caption(text("held"))


def of_head(screen: Screen, prefix: str, head: int, found: dict[str, float]) -> str:
    """The shares of one head, and its measured role."""
    where = screen.at.where((int(re.findall(r"\d+", prefix)[0]), head))
    said = {"where": where, "shares": in_words([found[kind] for kind in KINDS], own_kind(screen.run))}
    role = _role(screen, prefix, head)
    told = [text("read_head", **said) if role is None else text("read_head_role", role=measured_role(role), **said)]
    if min(found.values()) < -MUCH:
        told.append(text("cancel"))
    return joined(" ".join(told))


def of_cell(screen: Screen, key: str, found: dict[str, float]) -> str:
    """The parts of one score's difference from the mean of its row."""
    own = own_kind(screen.run)
    parts = plain("common.comma").join(
        word(f"share_{own if kind == 'word' else kind}", share=share)
        for kind, share in zip(found, summands(found.values()), strict=True)
    )
    return text("read_cell", key=key, above=summands([sum(found.values())])[0], parts=parts)


def _role(screen: Screen, prefix: str, head: int) -> Role | None:
    """The measured role of a head, also in our translator's decoder; None if there is none."""
    try:
        roles = head_roles("translation" if prefix.startswith("decoder.") else source(screen.choice.pipeline))
    except WeightsError as error:
        pipelines.explain_weights(error)
        return None
    try:
        return None if roles is None else roles.at(prefix.removesuffix("."), head)
    except KeyError:
        return None
