"""Every head of every layer as a tile, what kind of head each is, and the chosen one large with its measured facts."""

import html
from collections import Counter
from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.heads.head_patterns import head_patterns
from pages.heads.pictures import KINDS, all_heads, chosen_head, lengths, unit, word
from pages.ui.components.arithmetic import arithmetic
from pages.ui.frame.pickers import lasting
from pages.ui.sections.cell_map import draw_map
from pages.ui.view import View

FACTS = 190  # pixels that stay free below the chosen head


def overview(view: View, prefix: str, controls: DeltaGenerator) -> None:
    """The tiles with a filter in the row of controls, and the chosen head. prefix: of its keys."""
    with controls:
        kind = _filter(view)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        view.show("all", partial(all_heads, kind=kind))
    with right:
        _chosen_head(view, prefix)


def _filter(view: View) -> str | None:
    """A button for each kind of head in this run, with how many there are; returns the kind that was chosen."""
    count = Counter(pattern.name for pattern in head_patterns(view.trace)[1].values())
    kinds = [kind for kind in KINDS if count[kind]]
    look = lasting("heads.kind", None, among=[None, *kinds]) | {"label_visibility": "collapsed", "wrap": True}
    return st.pills(word("kinds"), kinds, format_func=lambda kind: f"{word(f'kind_{kind}')} {count[kind]}", **look)


def _chosen_head(view: View, prefix: str) -> None:
    """The map of the chosen head, and, but not in a presentation, three facts as bars and the way to its arithmetic."""
    look = {"told": not view.two.differs, "spare": FACTS, "follows": False}
    draw_map(view, prefix + "weights", partial(chosen_head, **look))
    if view.choice.big:
        return
    arithmetic("".join(_facts(view, prefix)), key="facts")
    view.way_to("attention", word("open"), panel="map", stage=None)


def _facts(view: View, prefix: str) -> Sequence[str]:
    """How widely the chosen head spreads its weight, how far it attends, and how much it writes, as bars in HTML."""
    measures, _ = head_patterns(view.trace)
    place, written = (view.layer, view.head), lengths(view.trace, prefix).mean(axis=1)
    most = float(np.log2(len(view.tokens)))
    facts = {
        "entropy": (float(measures["entropy"][place]), most),
        "distance": (float(measures["distance"][place]), float(np.nanmax(np.nan_to_num(measures["distance"])))),
        "length": (float(written[view.head]), float(written.max())),
    }
    if view.touched(prefix + "output", every_head=True):  # then what it makes is not what is written
        del facts["length"]
    lines = ['<div class="facts">']
    for name, (value, end) in facts.items():
        share = 100 * min(value / end, 1) if end > 0 and np.isfinite(value) else 0
        said = word(f"said_{name}", value=f"{np.nan_to_num(value):.2f}", most=f"{most:.2f}", unit=unit(view.trace))
        lines.append(f'<span>{word(f"fact_{name}")}</span><i><u style="width:{share:.1f}%"></u></i>')
        lines.append(f"<span>{html.escape(said)}</span>")
    return [*lines, "</div>"]
