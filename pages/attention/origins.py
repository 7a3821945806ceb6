"""What a head attends by: a token's own word, its position, or what earlier attention brought there; and whether that
agrees with the head's measured role.
"""

import re

import streamlit as st

from model import WeightsError
from model.measures.origins import KINDS, by_place, nbytes
from model.measures.tables import Role, head_roles
from pages.attention.shares import heads_by_origin, in_words, of_heads, own_kind, text, word
from pages.drawing.picture import touched
from pages.drawing.pictures.sources import MOST_BYTES
from pages.drawing.screen import Screen
from pages.drawing.text import joined, plain
from pages.drawing.text.numbers import first, percent, summands
from pages.drawing.text.roles import measured_role
from pages.screen.frame.pen import Pen
from pages.screen.runs import pipelines
from pages.screen.sections.patience import waits
from pages.screen.sections.roles import source

RUNS = 8  # runs of the network that take about as long
BY_PLACE = ("next", "previous")  # roles decided by positions
BY_CONTENT = ("same", "word", "relation", "punctuation", "aligned", "aligned_next")  # roles decided by words
MUCH = 0.5  # how far below 0 a share is when large parts cancel


def can_be_told(screen: Screen) -> bool:
    """Whether this network keeps words and positions apart, and there is more than one token."""
    return by_place(screen.run.graph) and len(screen.run.tokens) > 1


def every_head(screen: Screen, pen: Pen) -> None:
    """Each head as a point: right if it attends by positions, up if by words."""
    run, at = screen.run, screen.at
    if nbytes(run) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return
    asked = "origins", screen.choice.pipeline, screen.subject, run.edits
    if waits(run.config, len(run.tokens), RUNS, asked):
        return
    pen.show("origins", heads_by_origin)
    prefix = at.of("layers.{l}.attention.")
    if not touched(run, at.head, f"{prefix}weights", f"{prefix}heads", shares=[f"{prefix}masked"]):
        found = dict(zip(KINDS, of_heads(run)[at.layer, at.head], strict=True))
        st.markdown(of_head(screen, prefix, at.head, found))
    st.caption(text("held"))


def of_head(screen: Screen, prefix: str, head: int, found: dict[str, float]) -> str:
    """The shares of one head, its measured role, and whether the two agree."""
    where = screen.at.where((int(re.findall(r"\d+", prefix)[0]), head))
    said = {"where": where, "shares": in_words([found[kind] for kind in KINDS], own_kind(screen.run))}
    role = _role(screen, prefix, head)
    if role is None:
        told = [text("read_head", **said)]
    else:
        told = [text("read_head_role", role=measured_role(role), **said)]
        if key := agreement(role, found):
            told.append(text(key, baseline=percent(max(0.0, role.share - role.margin))))
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


def agreement(role: Role, found: dict[str, float]) -> str | None:
    """The name of the text that says whether a head's largest share fits its role; None where none can."""
    largest = first([found[kind] for kind in KINDS], percent)
    most = KINDS[largest.place]
    if not role.clear or most == "rest" or not largest.ahead:
        return None
    if role.name in BY_PLACE:
        return "agree_place" if most == "place" else f"instead_{most}"
    if role.name in BY_CONTENT:
        if most != "place":
            return f"agree_{most}"
        return "instead_place_relation" if role.relation else "instead_place"
    return "either" if role.name == "itself" else None


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
