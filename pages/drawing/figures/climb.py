"""Words on their way up: their ranks at each step as paths, and below them the likeliest words of that step."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from pages.drawing.figures.base import GREY, INK, LESS, Axis, Figure, at, figure_of, label, scale, stroke, text_width
from pages.drawing.figures.curves import ORANGE
from pages.drawing.figures.matrices import heatmap_parts
from pages.drawing.figures.theme import font_size, mode
from pages.drawing.text.numbers import decimal

CELLS, PATHS = (0.0, 0.52), (0.62, 1.0)  # shares of the height; between them stand the names of the steps
APART = 1.15  # font sizes between the names at the paths' ends
#: The line of the word that is followed, of the one that it is compared with, and of others.
STYLES = ((ORANGE, 4.5, "solid"), (LESS, 2.5, "solid"), (GREY, 1.5, "solid"), (GREY, 1.5, "dash"))


class Paths(NamedTuple):
    """Ranks of some words, (step, word), from 1; the first word is the one that is followed."""

    words: Sequence[str]
    ranks: np.ndarray


class Best(NamedTuple):
    """The likeliest words at each step, and how likely they are: (step, rank) each."""

    words: Sequence[Sequence[str]]
    shares: np.ndarray


def climb(paths: Paths, best: Best, steps: Axis, titles: tuple[str, str], height: int) -> Figure:
    """Steps from left to right; ranks on a logarithmic axis, the first on top; cells of the followed word are framed.

    titles: of the ranks of paths and of cells.
    """
    count, size = len(best.words), font_size()
    numbers = Axis(titles[1], [str(rank + 1) for rank in range(best.shares.shape[1])])
    look = {"scale": "share", "limit": float(best.shares.max()), "square": False, "clickable": True, "height": height}
    (cells, markers), layout = heatmap_parts(best.shares.T, numbers, steps, **look)
    both = zip(np.transpose(best.words), best.shares.T, strict=True)
    cells["text"] = [[f"{label(one)}<br>{decimal(share)}" for one, share in zip(*row, strict=True)] for row in both]
    cells |= {"texttemplate": "%{text}", "showscale": False}
    del cells["colorbar"]
    span = float(np.log10(max(10, 1.3 * paths.ranks.max())))  # of powers of ten
    drawn = [cells, markers, *_frames(paths.words[0], best.words)]
    for name, ranks, (colour, width, dash) in reversed([*zip(paths.words, paths.ranks.T, STYLES, strict=False)]):
        line = {"color": colour, "width": width, "dash": dash}
        points = np.stack([np.arange(count), ranks], axis=1)
        hover = {"customdata": ranks, "hovertemplate": f"{label(name)}: %{{customdata:,}}<extra></extra>"}
        drawn.append(at(points, "lines+markers", line=line, marker={"size": 4 + 1.2 * width}, yaxis="y2", **hover))
    font = {"color": INK[mode()], "size": size}
    drawn[-1] |= {"mode": "lines+markers+text", "text": [f"<b>{rank:,}</b>" for rank in paths.ranks[:, 0].tolist()]}
    drawn[-1] |= {"textposition": "bottom center", "textfont": font, "cliponaxis": False}
    ends = spread(np.log10(paths.ranks[-1]), APART * size * span / ((height - 60) * (PATHS[1] - PATHS[0])))
    name = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 4, "yref": "y2", "showarrow": False}
    fonts = font | {"size": size + 3, "weight": "bold"}, font | {"color": LESS, "weight": "bold"}, *[font] * len(ends)
    layout["annotations"] = [
        name | {"y": end, "text": label(word), "font": font}
        for word, end, font in zip(paths.words, ends, fonts, strict=False)
    ]
    ticks = [10**power for power in range(int(span) + 1)]
    ranked = scale(titles[0], type="log", range=[span, -0.15], domain=PATHS, zeroline=False, automargin=False)
    layout["xaxis"].pop("autotickangles", None)
    layout["xaxis"] |= {"tickangle": 0, "side": "top", "anchor": "free", "position": CELLS[1], "title": {}}
    layout["yaxis"] |= {"domain": CELLS}
    layout["yaxis2"] = ranked | {"tickvals": ticks, "ticktext": [f"{tick:,}" for tick in ticks]}
    layout["margin"]["r"] += int(size * max(map(text_width, paths.words)) + 2 * size)
    return figure_of(drawn, layout | {"showlegend": False})


def _frames(word: str, words: Sequence[Sequence[str]]) -> list[dict]:
    """Lines round the cells of a word."""
    own = [(step, rank) for step, row in enumerate(words) for rank, other in enumerate(row) if other == word]
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5)])
    return [stroke(corners + cell, ORANGE, 3, cliponaxis=False) for cell in own]


def spread(places: np.ndarray, least: float) -> np.ndarray:
    """Some places, moved down so far that they are `least` apart, in the same order."""
    found = np.array(places, float)
    for before, after in zip(order := np.argsort(found, kind="stable"), order[1:], strict=False):
        found[after] = max(found[after], found[before] + least)
    return found
