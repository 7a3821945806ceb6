"""Every head of every layer as a tile over what it does, and the chosen one large with its measured facts."""

from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import Trace
from model.measures.tables import HeadRoles
from pages.drawing.picture import touched
from pages.drawing.place import Place
from pages.drawing.screen import Screen
from pages.drawing.text.numbers import two
from pages.drawing.text.roles import measured_role
from pages.heads.head_patterns import head_patterns
from pages.heads.pictures import all_heads, chosen_head, lengths, text, unit
from pages.screen.frame.pen import Pen
from pages.screen.sections.cell_map import draw_map
from pages.screen.sections.roles import measured, source


def overview(screen: Screen, pen: Pen) -> None:
    """The tiles, and the chosen head; in a presentation its sentence below the tiles, which leave room for it."""
    left, right = st.columns([1, 1], gap="medium")
    with left:
        pen.show("all", partial(all_heads, roles=_roles(screen, screen.run)))
        words = st.container() if screen.choice.big else None
    with right:
        _chosen_head(screen, pen, words)


def _roles(screen: Screen, run: Trace) -> HeadRoles | None:
    """What was measured of a run's heads; None where nothing was, something is changed, or it was never trained."""
    if run.edits or (screen.choice.twin and run is screen.two.other):
        return None
    return measured(source(screen.choice.pipeline))


def _chosen_head(screen: Screen, pen: Pen, words: DeltaGenerator | None) -> None:
    """The map of the chosen head, and, but not in a presentation, three facts."""

    def called(run: Trace, place: Place) -> str:
        roles = None if screen.two.differs else _roles(screen, run)
        role = roles and roles.of(place.layer, place.head)
        return measured_role(role) if role else ""

    draw_map(
        screen, pen, screen.at.of("layers.{l}.attention.weights"),
        lambda run, place: chosen_head(run, place, called=called(run, place), grows=True, follows=False), words=words,
    )  # fmt: skip
    if screen.choice.big:
        return
    st.caption(_facts(screen))


def _facts(screen: Screen) -> str:
    """How widely the chosen head spreads its weight, how far it attends, and how much it writes."""
    at, run = screen.at, screen.run
    measures, _ = head_patterns(run)
    facts = {name: float(measures[name][at.layer, at.head]) for name in ("entropy", "distance")}
    if not touched(run, at.head, at.of("layers.{l}.attention.output"), every_head=True):  # else that is not written
        facts["length"] = float(lengths(run, at.of("layers.{l}.attention."))[at.head].mean())
    most = two(np.log2(len(run.tokens)))
    said = [
        text(f"said_{name}", value=two(np.nan_to_num(value)), most=most, unit=unit(run))
        for name, value in facts.items()
    ]
    return " · ".join(said)
