"""Every head of every layer as a tile, what kind of head each is, and the chosen one large with its measured facts."""

import html
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model import Trace
from model.analysis import HeadPattern, placed
from pages.attention.overlay import every_weight
from pages.attention.read import attends_most, shown_places
from pages.heads.contribution import lengths
from pages.heads.head_patterns import head_patterns
from pages.ui.components.arithmetic import arithmetic
from pages.ui.figures import Axis, block_of, on_screen, tiles
from pages.ui.figures.theme import scaled
from pages.ui.frame.pickers import lasting
from pages.ui.sections.at_once import frame_at_once
from pages.ui.sections.cell_map import chosen_cell, draw_map, draw_other
from pages.ui.server.cache import once_a_run
from pages.ui.state.link import select
from pages.ui.text import language, plain, texts_of
from pages.ui.view import View

AXES = ("layer", "head", "query", "key")  # of all weights
KINDS = ("previous", "self", "next", "near", "token", "cls", "sep", "mixed", "spread", "alone")
BELOW, FACTS = 84, 190  # pixels that stay free below the tiles, and below the chosen head
LOW = 38  # pixels that a row of tiles takes at least, but in a presentation, which fits on one screen
#: Heads have colour ranges of their own where, of one range, more than this share of them would use less than this.
MANY, LITTLE = 1 / 3, 1 / 4
FADED = {"fillcolor": "rgba(128,128,128,0.85)", "line": {"width": 0}, "type": "rect"}
text, word = texts_of("heads")


def in_words(view: View, pattern: HeadPattern) -> str:
    """What a head does on this input: "attends to the previous token: 0.83"."""
    return word(
        f"pattern_{pattern.name}",
        figure=f"{pattern.figure:.2f}",
        token="" if pattern.place is None else placed(view.tokens)[pattern.place],
        unit=unit(view),
    )


def _in_words(view: View) -> dict[tuple[int, ...], str]:
    """ "layer 2, head 3 · attends to …" of every head: a click on another head changes none of it."""
    kept = _kept(view.trace)
    if language() not in kept:
        patterns = head_patterns(view.trace)[1].items()
        kept[language()] = {at: f"{view.where((at[0], at[1]))} · {in_words(view, does)}" for at, does in patterns}
    return kept[language()]


@once_a_run
def _kept(run: Trace) -> dict[str, dict[tuple[int, ...], str]]:
    return {}


def unit(view: View) -> str:
    """What a distance is counted in."""
    return word("tokens" if view.trace.picture is None else "patches")


def overview(view: View, prefix: str, controls: DeltaGenerator) -> None:
    """The tiles with a filter in the row of controls, and the chosen head. prefix: of its keys."""
    with controls:
        kind = _filter(view)
    left, right = st.columns([1, 1], gap="medium")
    with left:
        all_heads(view, kind)
    with right:
        _chosen_head(view, prefix)


def _filter(view: View) -> str | None:
    """A button for each kind of head in this run, with how many there are; returns the kind that was chosen."""
    count = Counter(pattern.name for pattern in head_patterns(view.trace)[1].values())
    kinds = [kind for kind in KINDS if count[kind]]
    look = lasting("heads.kind", None, among=[None, *kinds]) | {"label_visibility": "collapsed", "wrap": True}
    return st.pills(word("kinds"), kinds, format_func=lambda kind: f"{word(f'kind_{kind}')} {count[kind]}", **look)


def all_heads(view: View, kind: str | None = None) -> None:
    """Every head of every layer as a tile; a click chooses one. kind: the others fade."""
    drawn = view.measure(every_weight, AXES).less_nothing()
    shown, (layers, heads, n, _) = drawn.values, drawn.values.shape
    patterns, names = head_patterns(view.trace)[1], [word("axis_layer"), word("axis_head")]
    largest = shown.max(axis=(2, 3))
    block = block_of(shown.shape)
    end = float(largest.max()) if block > 1 else 1.0  # of many weights, hardly one is large
    own = not drawn.differs and bool((largest < LITTLE * end).mean() > MANY)
    does = _in_words(view)

    figure = tiles(
        shown,
        *map(_first_named, names, (layers, heads)),
        scale=drawn.scale("share"),
        chosen=(view.layer, view.head),
        limit=largest if own else None if drawn.differs else end,
        end=word("own_end") if own else "",
        hover=[" · ".join([does[at], word("largest", value=f"{largest[at]:.2g}")]) for at in patterns],
        height=_tall(view, layers),
        square=True,
        above=True,
    )
    figure.layout["meta"] = {"below": BELOW, "grows": min(_tall(view, layers), 66 + layers * LOW), "large": True}
    faded = [place for place, pattern in patterns.items() if kind and pattern.name != kind]
    figure.layout["shapes"][:0] = [
        FADED | {"x0": head - 0.5, "x1": head + 0.5, "y0": layer - 0.5, "y1": layer + 0.5} for layer, head in faded
    ]
    many = Counter(pattern.name for pattern in patterns.values())
    most = [f"{word(f'kind_{kind}')} ({many[kind]})" for kind in KINDS if many[kind] == max(many.values())]
    said = [text("read_all", count=len(patterns), n=n, kinds=plain("common.comma").join(most))]
    said += [text("read_own_ranges", least=f"{largest.min():.2g}", most=f"{largest.max():.2g}")] * own
    said += [text("read_blocks", block=block)] * (block > 1)

    def table() -> pd.DataFrame:
        rows = pd.MultiIndex.from_product([range(1, count + 1) for count in shown.shape[:3]])
        return pd.DataFrame(shown.reshape(-1, n), index=rows, columns=view.tokens)

    view.picture(
        "all",
        figure,
        " ".join(said),
        values=shown,
        table=table,
        on_pick=lambda row, column: select(layer=row, head=column),
        shows=drawn.on(*map(Axis, names), Axis("", view.named), Axis("", view.tokens)),
        at_once=frame_at_once(view),
    )


def _first_named(name: str, count: int) -> Axis:
    """An axis of "layer 1", "2", "3", …"""
    return Axis(name, [f"{name} 1", *map(str, range(2, count + 1))])


def _tall(view: View, layers: int) -> int:
    """The height of the tiles: on one screen, if their rows do not become too low for that."""
    height = on_screen(scaled(66 + layers * 78))
    return height if view.choice.big else max(height, 66 + layers * LOW)


def _chosen_head(view: View, prefix: str) -> None:
    """The map of the chosen head, three facts as bars, and the way to its arithmetic."""
    key, pattern = prefix + "weights", head_patterns(view.trace)[1][view.layer, view.head]
    title = word("chosen", layer=view.layer + 1, head=view.head + 1, does=in_words(view, pattern))
    rows, columns = shown_places(view, key)
    look: dict[str, Any] = {"title": title, "cell": chosen_cell(view, key), "rows": rows, "columns": columns}
    look |= {"spare": FACTS, "follows": False, "large": True}
    draw_map(view, key, attends_most(view, key), **look)
    if view.beside(key):
        draw_other(view, key, **look)
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
    lines = ['<div class="facts">']
    for name, (value, end) in facts.items():
        share = 100 * min(value / end, 1) if end > 0 and np.isfinite(value) else 0
        said = word(f"said_{name}", value=f"{np.nan_to_num(value):.2f}", most=f"{most:.2f}", unit=unit(view))
        lines.append(f'<span>{word(f"fact_{name}")}</span><i><u style="width:{share:.1f}%"></u></i>')
        lines.append(f"<span>{html.escape(said)}</span>")
    return [*lines, "</div>"]
