"""Vectors as arrows in a plane, and their lengths from layer to layer."""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from pages.drawing.figures.base import (
    ACCENT,
    ADDED,
    AFTER,
    BARE,
    BREAK,
    GREY,
    INK,
    TO_THE_NEAREST,
    Figure,
    at,
    figure_of,
    label,
    look,
    scale,
    stroke,
    text_width,
    tint,
    unseen,
    words_at,
)
from pages.drawing.figures.theme import font_size, mode

#: Where a name may stand beside a point, best first -> its direction.
SIDES = {
    "top center": (0, 1),
    "bottom center": (0, -1),
    "top right": (1, 1),
    "top left": (-1, 1),
    "bottom right": (1, -1),
    "bottom left": (-1, -1),
    "middle right": (1, 0),
    "middle left": (-1, 0),
}
OFF = (0.5, 1.8, 3.2)  # letters from a tip to its name, best first
CLEAR = 0.2  # letters, round a name
WIDE = 1.4  # width ÷ height of the narrowest picture


class Arrow(NamedTuple):
    """An arrow from the origin. width: pixels."""

    name: str
    tip: np.ndarray
    colour: str
    width: float


def arrows(drawn: Sequence[Arrow], sides: Sequence[tuple[np.ndarray, np.ndarray]], height: int) -> Figure:
    """Arrows from the origin, with equal units on both axes. sides: dashed lines between two points."""
    tips, size = np.array([arrow.tip for arrow in drawn]), font_size()
    dashed = [point for side in sides for point in (*side, BREAK)]
    traces = [stroke(dashed, GREY, 1, line={"color": GREY, "width": 1, "dash": "dot"})]
    heads = []
    for arrow in drawn:
        line = {
            "showarrow": True,
            "arrowhead": 2,
            "arrowsize": 1,
            "arrowwidth": arrow.width,
            "arrowcolor": arrow.colour,
        }
        (x, y), base = arrow.tip, {"axref": "x", "ayref": "y", "ax": 0, "ay": 0, "text": ""}
        heads.append(base | line | {"x": float(x), "y": float(y)})
    named = [label(arrow.name) for arrow in drawn]
    ink = {"size": size + 1, "color": INK[mode()]}
    held = [np.zeros(2), *tips]
    for _ in range(3):  # room for names makes the rest smaller, and so the names
        letter = size * (np.ptp(held, axis=0) / (WIDE * height, height)).max() or 1.0
        points, beside, corners = _beside(named, tips, [(np.zeros(2), tip) for tip in tips] + [*sides], letter)
        held = [np.zeros(2), *tips, *corners]
    (low_x, low_y), (high_x, high_y) = np.min(held, axis=0), np.max(held, axis=0)
    traces.append(words_at(points, [f"<b>{name}</b>" for name in named], textposition=beside, textfont=ink))
    traces.append(unseen(tips, text=named))
    bare = {"visible": False}
    layout = {
        "xaxis": bare | {"range": [low_x, high_x], "constrain": "domain"},
        "yaxis": bare | {"range": [low_y, high_y], "scaleanchor": "x", "constrain": "domain"},
        "annotations": heads,
        "showlegend": False,
    }
    return figure_of(traces, layout | look(height))


def _beside(
    names: Sequence[str], tips: np.ndarray, drawn: Sequence[tuple[np.ndarray, np.ndarray]], letter: float
) -> tuple[np.ndarray, list[str], list[np.ndarray]]:
    """A point beside each tip for its name, the side that covers least of lines and other names, and the corners of all
    names. Higher tips choose first.

    drawn: both ends of each line. letter: the height of letters, in the units of the tips.
    """
    taken = np.concatenate([np.linspace(start, end, 60) for start, end in drawn])
    points, sides, corners = np.zeros_like(tips), [""] * len(names), []
    for place in np.argsort(-tips[:, 1]):
        half = np.array([text_width(names[place]) / 2, 0.7]) * letter
        boxes = {}
        for off, (side, way) in product(OFF, SIDES.items()):
            near = tips[place] + np.array(way) * letter * off
            middle = near + np.array(way) * half
            boxes[off, side] = near, middle - half, middle + half
        free = CLEAR * letter
        met = {
            key: ((taken >= low - free) & (taken <= high + free)).all(axis=1).sum()
            for key, (_, low, high) in boxes.items()
        }
        best = min(met, key=met.__getitem__)
        points[place], low, high = boxes[best]
        sides[place] = best[1]
        corners += [low, high]
        taken = np.concatenate([taken, np.stack(np.meshgrid(*np.linspace(low, high, 12).T), axis=-1).reshape(-1, 2)])
    return points, sides, corners


def saw(lengths: np.ndarray, steps: Sequence[str], chosen: int, titles: tuple[str, str, str], height: int) -> Figure:
    """Lengths (step, point) over several steps; points: before, after adding, and perhaps after the norm. A click near
    a point gives its step.

    steps: their names. titles: of lengths, of adding, of the norm. The points of the chosen step show their numbers.
    """
    count, points = lengths.shape
    x = np.arange(count)[:, None] + np.linspace(-0.5, 0.5, points)
    traces = []
    for part, (title, colour) in enumerate(zip(titles[1:], (ADDED, AFTER), strict=True)):
        if part + 1 < points:
            ends = [
                pair
                for row in range(count)
                for pair in (*zip(x[row, part : part + 2], lengths[row, part : part + 2], strict=True), BREAK)
            ]
            traces.append(stroke(ends, colour, 2.5, name=label(title)))
    of = [step for step in range(count) for _ in range(points)]
    said = [
        f"<b>{length:.1f}</b>" if step == chosen else ""
        for step, length in zip(of, lengths.ravel().tolist(), strict=True)
    ]
    traces.append(
        at(
            np.stack([x.ravel(), lengths.ravel()], axis=1),
            "markers+text",
            text=said,
            textposition=["bottom left", "top center", "bottom right"][:points] * count,
            textfont={"color": INK[mode()]},
            cliponaxis=False,
            customdata=np.array(of)[:, None],
            marker={"size": 6, "color": INK[mode()]},
            selected={"marker": {"opacity": 1}},
            unselected={"marker": {"opacity": 1}},
            hovertemplate=[f"<b>{label(steps[step])}</b><br>%{{y:.2f}}<extra></extra>" for step in of],
            showlegend=False,
        )
    )
    band = {"type": "rect", "x0": chosen - 0.5, "x1": chosen + 0.5, "yref": "paper", "y0": 0, "y1": 1, "layer": "below"}
    named = [label(name).replace(" ", "<br>", 1) for name in steps]
    layout = {
        "xaxis": scale("", **BARE, tickvals=list(range(count)), ticktext=named, tickangle=0, range=[-0.8, count]),
        "yaxis": scale(titles[0], zeroline=True, range=[0, 1.2 * lengths.max() or 1.0]),
        "shapes": [band | {"fillcolor": tint(ACCENT, 0.18), "line": {"width": 0}}],
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    }
    return figure_of(traces, layout | look(height) | TO_THE_NEAREST)
