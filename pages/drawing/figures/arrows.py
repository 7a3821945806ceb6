"""Vectors as arrows in a plane, and their lengths from layer to layer."""

from collections.abc import Sequence
from html import unescape
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
    legible,
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
OFF = (0.9, 1.5, 2.4, 4, 8, 16, 40)  # letters from an arrow to its name; the last is beyond all
ALONG = (1.0, 0.8, 0.6, 0.4)  # where along its arrow a name may stand, best first
NEAR_TIP = 6  # letters that a name may stand further off for standing at the tip
CLEAR = 0.25  # letters, round a name
WIDE = 1.4  # width ÷ height of the narrowest picture
EDGE = 14  # pixels of it that hold no arrows


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
    ink = {"size": size + 1, "color": [legible(arrow.colour) for arrow in drawn]}  # wherever a name finds room
    held, letter = [np.zeros(2), *tips], 0.0
    # Room for names makes the rest smaller, and so the letters larger beside it, up to a size at which all have room.
    while (needed := _unit(held, height) * (size + 1)) > letter:
        letter = 1.05 * needed
        points, beside, corners = _beside(named, tips, sides, letter)
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


def _unit(held: Sequence[np.ndarray], height: int) -> float:
    """How much of the axes a pixel holds where all these points are in the narrowest picture; 1 if they are one."""
    room = WIDE * height - EDGE, height - EDGE
    return float((np.ptp(held, axis=0) / room).max()) or 1.0


def _beside(
    names: Sequence[str], tips: np.ndarray, dashed: Sequence[tuple[np.ndarray, np.ndarray]], letter: float
) -> tuple[np.ndarray, list[str], list[np.ndarray]]:
    """A point beside each arrow for its name, the side, and the corners of all names. No name meets a line or another
    name; of the places left each takes one near its own tip and nearer to its own arrow than to another.

    dashed: both ends of each further line. letter: the height of letters, in the units of the tips.
    """
    nothing = np.zeros(2)
    starts = np.array([*(nothing for _ in tips), *(start for start, _ in dashed)])
    ends = np.array([*tips, *(end for _, end in dashed)])
    ways = np.array([*SIDES.values()], float)
    offs, along, side = (part.ravel() for part in np.meshgrid(OFF, ALONG, np.arange(len(ways)), indexing="ij"))
    order = np.argsort(offs + NEAR_TIP * (1 - along), kind="stable")
    offs, along, side = offs[order], along[order], side[order]
    points, chosen = np.zeros_like(tips), [""] * len(names)
    boxes: list[tuple[np.ndarray, np.ndarray]] = []
    for place in np.argsort(-tips[:, 1]):
        half = np.array([bold_width(names[place]) / 2, 0.7]) * letter
        near = along[:, None] * tips[place] + ways[side] * offs[:, None] * letter
        middles = near + ways[side] * half
        room = half + CLEAR * letter
        met = (crossed(starts[:, None] - middles, ends[:, None] - middles, room)).any(axis=0)
        for middle, other in boxes:
            met |= (np.abs(middles - middle) < room + other).all(axis=1)
        free = np.flatnonzero(~met)
        best = next((one for one in free if _nearest(middles[one], half, tips) == place), free[0])
        points[place], chosen[place] = near[best], [*SIDES][side[best]]
        boxes.append((middles[best], half))
    return points, chosen, [corner for middle, half in boxes for corner in (middle - half, middle + half)]


def bold_width(name: str) -> float:
    """The width of a name in bold, in font sizes."""
    slim, broad = (sum(map(unescape(name).count, letters)) for letters in ("fijlrt .,:", "mwMW"))
    return text_width(name) - 0.24 * slim + 0.3 * broad


def crossed(starts: np.ndarray, ends: np.ndarray, half: np.ndarray) -> np.ndarray:
    """Whether each line (…, 2) runs through a box around the origin. half: of its width and height."""
    way = ends - starts
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = np.sort(np.stack([(-half - starts) / way, (half - starts) / way]), axis=0)
    within = np.abs(starts) < half
    low = np.where(way == 0, np.where(within, -np.inf, np.inf), sides[0]).max(axis=-1)
    high = np.where(way == 0, np.where(within, np.inf, -np.inf), sides[1]).min(axis=-1)
    return np.asarray((low < high) & (high > 0) & (low < 1))


def _nearest(middle: np.ndarray, half: np.ndarray, tips: np.ndarray) -> int:
    """The arrow that is nearest to a box."""
    points = np.linspace(0.2, 1, 24)[:, None, None] * tips
    return int(np.linalg.norm(np.maximum(np.abs(points - middle) - half, 0), axis=-1).min(axis=0).argmin())


def saw(lengths: np.ndarray, steps: Sequence[str], chosen: int, titles: tuple[str, str, str], height: int) -> Figure:
    """Lengths (step, point) over several steps; points: before, after adding, and perhaps after the norm. A click near
    a point gives its step.

    steps: their names. titles: of lengths, of adding, of the norm. The numbers of the chosen step stand above it.
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
    traces.append(
        at(
            np.stack([x.ravel(), lengths.ravel()], axis=1),
            "markers",
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
    early = 2 * chosen < count
    numbers: dict[str, object] = {
        "text": f"<b>{' → '.join(f'{length:.1f}' for length in lengths[chosen].tolist())}</b>"
    }
    numbers |= {"x": chosen - 0.5 if early else chosen + 0.5, "xanchor": "left" if early else "right"}
    numbers |= {"yref": "paper", "y": 1, "yanchor": "top", "showarrow": False, "font": {"color": INK[mode()]}}
    named = [label(name).replace(" ", "<br>", 1) for name in steps]
    layout = {
        "xaxis": scale("", **BARE, tickvals=list(range(count)), ticktext=named, tickangle=0, range=[-0.8, count]),
        "yaxis": scale(titles[0], zeroline=True, range=[0, 1.4 * lengths.max() or 1.0]),  # with room for the numbers
        "annotations": [numbers],
        "shapes": [band | {"fillcolor": tint(ACCENT, 0.18), "line": {"width": 0}}],
        "showlegend": True,
        "legend": {"orientation": "h", "x": 0, "y": 1, "yanchor": "bottom"},
    }
    return figure_of(traces, layout | look(height) | TO_THE_NEAREST)
