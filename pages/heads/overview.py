"""Every head of every layer as a tile over what it does, and the chosen one large with its measured facts."""

import html
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from model import Trace, WeightsError
from model.measures.tables import HeadRoles, head_roles
from pages.drawing.picture import touched
from pages.drawing.place import Place
from pages.drawing.screen import Screen
from pages.drawing.text.numbers import two
from pages.heads.head_patterns import by_role, head_patterns
from pages.heads.pictures import all_heads, chosen_head, lengths, unit, word
from pages.screen.components.arithmetic import arithmetic
from pages.screen.frame.pen import Pen
from pages.screen.sections.cell_map import draw_map
from pages.screen.sections.roles import source

FACTS = 190  # pixels that stay free below the chosen head


def overview(screen: Screen, pen: Pen) -> None:
    """The tiles, and the chosen head."""
    left, right = st.columns([1, 1], gap="medium")
    with left:
        pen.show("all", partial(all_heads, roles=_roles(screen, screen.run)))
    with right:
        _chosen_head(screen, pen)


def _roles(screen: Screen, run: Trace) -> HeadRoles | None:
    """What was measured of a run's heads; None where nothing was, something is changed, or it was never trained."""
    if run.edits or (screen.choice.twin and run is screen.two.other):
        return None
    try:
        return head_roles(source(screen.choice.pipeline))
    except WeightsError:  # the tab of roles says so
        return None


def _chosen_head(screen: Screen, pen: Pen) -> None:
    """The map of the chosen head, and, but not in a presentation, three facts as bars and the way to its arithmetic."""

    def called(run: Trace, place: Place) -> str:
        roles = None if screen.two.differs else _roles(screen, run)
        role = roles and roles.of(place.layer, place.head)
        return str(by_role(role)) if role and role.clear else ""

    draw_map(
        screen, pen, screen.at.of("layers.{l}.attention.weights"),
        lambda run, place: chosen_head(run, place, called=called(run, place), spare=FACTS, follows=False),
    )  # fmt: skip
    if screen.choice.big:
        return
    arithmetic("".join(_facts(screen)), key="facts")
    pen.way_to("attention", word("open"), tab="map", stage=None)


def _facts(screen: Screen) -> Sequence[str]:
    """How widely the chosen head spreads its weight, how far it attends, and how much it writes, as bars in HTML."""
    measures, _ = head_patterns(screen.run)
    at, run = screen.at, screen.run
    place, written = (at.layer, at.head), lengths(run, at.of("layers.{l}.attention.")).mean(axis=1)
    most = float(np.log2(len(screen.run.tokens)))
    facts = {
        "entropy": (float(measures["entropy"][place]), most),
        "distance": (float(measures["distance"][place]), float(np.nanmax(np.nan_to_num(measures["distance"])))),
        "length": (float(written[screen.at.head]), float(written.max())),
    }
    output = at.of("layers.{l}.attention.output")
    if touched(run, at.head, output, every_head=True):  # then what it makes is not what is written
        del facts["length"]
    lines = ['<div class="facts">']
    for name, (value, end) in facts.items():
        share = 100 * min(value / end, 1) if end > 0 and np.isfinite(value) else 0
        said = word(f"said_{name}", value=two(np.nan_to_num(value)), most=two(most), unit=unit(screen.run))
        lines.append(f'<span>{word(f"fact_{name}")}</span><i><u style="width:{share:.1f}%"></u></i>')
        lines.append(f"<span>{html.escape(said)}</span>")
    return [*lines, "</div>"]
