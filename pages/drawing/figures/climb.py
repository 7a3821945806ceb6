"""The ranks of words at each step as paths, and below them each step's likeliest words."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pages.drawing.figures.base import (
    SIGNED,
    Axis,
    Figure,
    at,
    figure_of,
    label,
    scale,
    spread,
    stroke,
    text_width,
)
from pages.drawing.figures.curves import ORANGE
from pages.drawing.figures.matrices import heatmap_parts
from pages.drawing.figures.theme import font_size, mode
from pages.drawing.text.numbers import decimal

CELLS, PATHS = (0.0, 0.52), (0.62, 1.0)  # shares of the height; the names of steps stand between
SHORT = 1.2  # font sizes; names, as digits, no wider than their numbers
LONG = 8  # letters of a word that is turned
BRIGHT = 0.475  # share of the largest probability from which black letters are legible
APART, LARGER = 1.15, 3  # font sizes between the names at the paths' ends; pixels by which the first is larger
ABOVE = 0.35  # powers of ten above rank 1, where its numbers stand
#: Width and dash: of the followed word, the word compared with it, and others. Names and numbers share the lines'
#: colours, so these are legible on light and dark.
STYLES = ((4.5, "solid"), (2.5, "solid"), (2, "dot"), (1.5, "dash"))
COLOURS = {
    "light": ("#b35806", "#08519c", "#7a3b9a", "#5f6671"),
    "dark": ("#ffc46b", "#8fd0ff", "#d3a6ff", "#a3abb8"),
}


class Paths(NamedTuple):
    """Ranks of some words, (step, word), from 1; the first word is the followed one."""

    words: Sequence[str]
    ranks: np.ndarray


class Best(NamedTuple):
    """The likeliest words at each step and their probabilities, both (step, rank)."""

    words: Sequence[Sequence[str]]
    shares: np.ndarray


def climb(paths: Paths, best: Best, steps: Axis, titles: tuple[str, str], height: int) -> Figure:
    """Steps from left to right; ranks on a logarithmic axis, rank 1 on top; the followed word's cells are framed.
    A click gives a cell's row and column, or the number of a path.

    titles: of the paths' ranks and of the cells' rows.
    """
    count, size = len(best.words), font_size()
    numbers = Axis(titles[1], [str(rank + 1) for rank in range(best.shares.shape[1])])
    look = {"scale": "share", "limit": float(best.shares.max()), "square": False, "clickable": True, "height": height}
    (cells, markers), layout = heatmap_parts(best.shares.T, numbers, steps, **look)
    both = zip(np.transpose(best.words), best.shares.T, strict=True)
    cells["text"] = [[f"{label(one)}<br>{decimal(share)}" for one, share in zip(*row, strict=True)] for row in both]
    cells |= {"texttemplate": "%{text}", "showscale": False}
    widest = max(text_width(one) for row in best.words for one in row)
    turned = [] if widest <= SHORT else _turned(best, size - 1)
    if turned:
        cells["meta"] = {"short": [[""] * count for _ in numbers.labels]}
        layout["meta"] = layout.get("meta", {}) | {"roomy": round(size * min(widest, 0.6 * LONG) * count)}
    else:
        cells["textfont"] = {"size": size}  # also on a phone
    del cells["colorbar"]
    span = float(np.log10(max(10, 1.3 * paths.ranks.max())))  # of powers of ten
    drawn = [cells, markers, *_frames(paths.words[0], best.words)]
    colours = COLOURS[mode()]
    every = [*zip(range(len(STYLES)), paths.words, paths.ranks.T, colours, STYLES, strict=False)]
    for path, name, ranks, colour, (width, dash) in reversed(every):
        line = {"color": colour, "width": width, "dash": dash}
        points = np.stack([np.arange(count), ranks], axis=1)
        hover = {"customdata": [[path]] * count, "hovertemplate": f"{label(name)}: %{{y:,}}<extra></extra>"}
        drawn.append(at(points, "lines+markers", line=line, marker={"size": 4 + 1.2 * width}, yaxis="y2", **hover))
    font = {"color": colours[0], "size": size}
    tall = (height - 60) * (PATHS[1] - PATHS[0]) / (span + ABOVE)  # pixels of a power of ten
    ends = spread(np.log10(paths.ranks[-1]), APART * (size + LARGER) / tall)
    name = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 4, "yref": "y2", "showarrow": False}
    fonts = [font | {"color": colour, "weight": "bold"} for colour in colours]
    fonts[0] |= {"size": size + LARGER}
    layout["annotations"] = (
        turned
        + _numbers(paths.ranks, font)
        + [
            name | {"y": end, "text": label(word), "font": font}
            for word, end, font in zip(paths.words, ends, fonts, strict=False)
        ]
    )
    ticks = [10**power for power in range(int(span) + 1)]
    ranked = scale(titles[0], type="log", range=[span, -ABOVE], domain=PATHS, zeroline=False, automargin=False)
    layout["xaxis"].pop("autotickangles", None)
    layout["xaxis"] |= {"tickangle": 0, "side": "top", "anchor": "free", "position": CELLS[1], "title": {}}
    layout["yaxis"] |= {"domain": CELLS}
    before = int(size * text_width(f"{paths.ranks[0, 0]:,}"))  # the first number, left of its point
    named = {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks], "ticklabelstandoff": before}
    layout["yaxis2"] = ranked | named
    layout["margin"]["l"] += max(0, before - 2 * size)
    layout["margin"]["r"] += int(size * max(map(text_width, paths.words)) + 2 * size)
    return figure_of(drawn, layout | {"showlegend": False})


def _turned(best: Best, size: int) -> list[dict]:
    """The words of all cells, turned upwards where they are long: shown in place of words and numbers on a phone."""
    look = {"name": "narrow", "visible": False, "showarrow": False}
    every = [
        (step, rank, one, share)
        for step, (row, shares) in enumerate(zip(best.words, best.shares.tolist(), strict=True))
        for rank, (one, share) in enumerate(zip(row, shares, strict=True))
    ]
    bright = BRIGHT * float(best.shares.max())
    return [
        look
        | {"x": step, "y": rank, "text": label(one if len(one) <= LONG else f"{one[: LONG - 1]}…")}
        | {"textangle": -90 if text_width(one) > SHORT else 0}
        | {"font": {"size": size, "color": "#000000" if share > bright else "#ffffff"}}
        for step, rank, one, share in every
    ]


def _numbers(ranks: np.ndarray, font: dict) -> list[dict]:
    """The ranks of the followed word: the first left of all lines, the others above or below their points, where more
    room is, on top of other marks.
    """
    gaps = np.log10(ranks[:, 1:]) - np.log10(ranks[:, :1])
    below, above = (np.where(side * gaps > 0, side * gaps, np.inf).min(axis=1, initial=np.inf) for side in (1, -1))
    look = {"yref": "y2", "showarrow": False, "font": font, "bgcolor": SIGNED[mode()][2], "borderpad": 0}

    def beside(step: int) -> dict:
        """The place of a number relative to its point, in pixels."""
        up = 1 if above[step] >= below[step] else -1
        return {"yshift": round(5 + 0.75 * font["size"]) * up} if step else {"xanchor": "right", "xshift": -8}

    return [
        look | beside(step) | {"x": step, "y": float(np.log10(rank)), "text": f"<b>{rank:,}</b>"}
        for step, rank in enumerate(ranks[:, 0].tolist())
    ]


def _frames(word: str, words: Sequence[Sequence[str]]) -> list[dict]:
    """Lines round the cells of a word."""
    own = [(step, rank) for step, row in enumerate(words) for rank, other in enumerate(row) if other == word]
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)])
    return [stroke(corners + cell, ORANGE, 3, cliponaxis=False) for cell in own]
