"""Vectors as arrows in a plane, and their lengths on the way through a network."""

from collections.abc import Sequence
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
    tint,
    unseen,
    words_at,
)
from pages.drawing.figures.theme import big, font_size, mode

ROOM = 0.16  # of the width and height of all arrows, on each side of them for their names


class Arrow(NamedTuple):
    """An arrow from the origin. width: pixels."""

    name: str
    tip: np.ndarray
    colour: str
    width: float


def arrows(drawn: Sequence[Arrow], sides: Sequence[tuple[np.ndarray, np.ndarray]], height: int) -> Figure:
    """Arrows from one point, as long along as up. sides: dashed lines between two points."""
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
    middles = tips / 2
    names = [f"<b>{label(arrow.name)}</b>" for arrow in drawn]
    ink = {"size": size + 1, "color": INK[mode()]}
    traces.append(words_at(tips, names, textposition=[_side(tip, tips) for tip in tips], textfont=ink))
    traces.append(unseen(middles, text=[label(arrow.name) for arrow in drawn]))
    (low_x, low_y), (high_x, high_y) = np.minimum(tips.min(axis=0), 0), np.maximum(tips.max(axis=0), 0)
    room = ROOM * (max(high_x - low_x, high_y - low_y) or 1.0)
    bare = {"visible": False}
    layout = {
        "xaxis": bare | {"range": [low_x - 1.6 * room, high_x + 1.6 * room], "constrain": "domain"},
        "yaxis": bare | {"range": [low_y - room, high_y + room], "scaleanchor": "x", "constrain": "domain"},
        "annotations": heads,
        "showlegend": False,
    }
    return figure_of(traces, layout | look(height))


def _side(tip: np.ndarray, tips: np.ndarray) -> str:
    """Where a name stands: above its arrow's tip, unless that points down or a longer arrow goes on beside it."""
    along = tips @ tip / (np.linalg.norm(tip) or 1.0)  # as far as the others go its way
    beside = (along > np.linalg.norm(tip) * 1.01) & (along > 0.9 * np.linalg.norm(tips, axis=1))
    if beside.any() or tip[1] <= 0:
        return "bottom right" if tip[0] >= 0 else "bottom left"
    return "top center"


MOST_SAID = 40  # points with a number at each


def saw(lengths: np.ndarray, steps: Sequence[str], chosen: int, titles: tuple[str, str, str], height: int) -> Figure:
    """Lengths (step, point) on the way through several steps: before, with what is added, and normed where there is a
    third. A click on a point, or near it, gives its step.

    steps: their names. titles: of a length, of what adding does, of what a norm does. Numbers stand at all points, at
    those of the chosen step alone where there are many, and in a presentation.
    """
    count, points = lengths.shape
    x = np.arange(count)[:, None] + np.linspace(-0.5, 0.5, points)
    all_said = len(steps) * points <= MOST_SAID and not big()
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
    last = len(of) - 1
    said = [
        f"<b>{length:.1f}</b>"
        if of[place] == chosen
        else f"{length:.1f}"
        if all_said and (place == last or place % points < points - 1)  # where one step ends the next one begins
        else ""
        for place, length in enumerate(lengths.ravel().tolist())
    ]
    traces.append(
        at(
            np.stack([x.ravel(), lengths.ravel()], axis=1),
            "markers+text",
            text=said,
            textposition=["top center" if place % points == 1 else "bottom center" for place in range(count * points)],
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
