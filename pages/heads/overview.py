"""Every head of every layer as a tile, what kind of head each is, and the chosen one large with its measured facts."""

import html
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from pages.drawing.picture import touched
from pages.drawing.screen import Screen
from pages.heads.head_patterns import head_patterns
from pages.heads.pictures import KINDS, all_heads, chosen_head, lengths, unit, word
from pages.screen.components.arithmetic import arithmetic
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import lasting
from pages.screen.sections.cell_map import draw_map

FACTS = 190  # pixels that stay free below the chosen head


def overview(screen: Screen, pen: Pen) -> None:
    """The tiles with a filter in the row of controls, and the chosen head."""
    with pen.controls:
        kind = _filter(screen)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        pen.show("all", partial(all_heads, kind=kind))
    with right:
        _chosen_head(screen, pen)


def _filter(screen: Screen) -> str | None:
    """A button for each kind of head in this run, with how many there are; returns the kind that was chosen."""
    count = Counter(pattern.name for pattern in head_patterns(screen.run)[1].values())
    kinds = [kind for kind in KINDS if count[kind]]
    look = lasting("heads.kind", None, among=[None, *kinds]) | {"label_visibility": "collapsed", "wrap": True}
    return st.pills(word("kinds"), kinds, format_func=lambda kind: f"{word(f'kind_{kind}')} {count[kind]}", **look)


def _chosen_head(screen: Screen, pen: Pen) -> None:
    """The map of the chosen head, and, but not in a presentation, three facts as bars and the way to its arithmetic."""
    look = {"told": not screen.two.differs, "spare": FACTS, "follows": False}
    draw_map(screen, pen, screen.at.of("layers.{l}.attention.weights"), partial(chosen_head, **look))
    if screen.choice.big:
        return
    arithmetic("".join(_facts(screen)), key="facts")
    pen.way_to("attention", word("open"), panel="map", stage=None)


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
        said = word(f"said_{name}", value=f"{np.nan_to_num(value):.2f}", most=f"{most:.2f}", unit=unit(screen.run))
        lines.append(f'<span>{word(f"fact_{name}")}</span><i><u style="width:{share:.1f}%"></u></i>')
        lines.append(f"<span>{html.escape(said)}</span>")
    return [*lines, "</div>"]
