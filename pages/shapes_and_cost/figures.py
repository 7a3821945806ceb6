"""The pictures of Shapes and cost: the shape walk as a drawing, and curves over the sequence length.

Pure functions: closed forms of model/measures/cost.py in, Plotly figures out. No Streamlit here.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, pairwise

import pandas as pd

from model.measures.cost import Shape, Step
from pages.drawing.figures import ACCENT, AFTER, GREY, INK, LEGEND, Figure, figure_of, label, role_colours
from pages.drawing.figures.base import BREAK, TO_THE_NEAREST, at, scale, stroke, tint, unseen, words_at
from pages.drawing.figures.base import look as figure_look
from pages.drawing.figures.equations import html_math
from pages.drawing.figures.theme import font_size, mode, scaled

PREFIXES = {"Z": 10**21, "E": 10**18, "P": 10**15, "T": 10**12, "G": 10**9, "M": 10**6, "k": 10**3}


def shape_text(shape: Shape, numbers: bool) -> str:
    """n × d_model, or 12 × 512."""
    if numbers:
        return " × ".join(f"{size:,}" for size in shape.sizes)
    return " × ".join(f"({axis})" if " " in axis else axis for axis in shape.axes)


def with_prefix(number: int) -> str:
    """A number from 1,000 on in three digits: 1.23 k, 67.1 E."""
    rounded = float(f"{number:.2e}")
    prefix, size = next((prefix, size) for prefix, size in PREFIXES.items() if rounded >= size)
    return f"{rounded / size:.3g} {prefix}"


def short(number: int) -> str:
    """1,234 as it is, from a million on as 1.23 M."""
    return with_prefix(number) if number >= 10**6 else f"{number:,}"


# -- the shape walk ------------------------------------------------------------------------------------------

#: Of the three columns of boxes: the middle, and half of the width.
_COLUMNS = ((0.4, 0.34), (1.5, 0.64), (2.6, 0.34))
_HALF_HEIGHT = 0.38
#: Where no box stands, and wires run down: at the right, at the left, and between the columns.
_LANES = (2.98, 3.01, 0.02, 2.2, 0.8)
_ROOM = (36, 64)  # letters in a box at a side, and in one of the middle
_ROW = 26  # pixels from one row of boxes to the next
_ROOMY = 700  # pixels of the picture, below which a box says its symbol and its sizes alone

Point = tuple[float, float]


def places(steps: Sequence[Step]) -> dict[str, tuple[int, int]]:
    """Column and row of each step's box: each below all that it reads, one layer apart from what stands before and
    after it, and no two in one place.
    """
    found: dict[str, tuple[int, int]] = {}
    inside, above, row = False, 0, 0  # in a layer; the first row of this part of the network; the last row
    for step in steps:
        if inside != step.key.startswith("layers."):
            inside, above = not inside, 1 + max(row for _, row in found.values())
        row = max([above, *(found[read][1] + 1 for read in step.reads)] if step.reads else [above, row])
        roles = step.key.rpartition(".")[2].split("_")
        usual = 0 if {"Q", "segments"} & {*roles} else 2 if {"V", "positions", "relative"} & {*roles} else 1
        free = (
            (column, below)
            for below in count(row)
            for column in (usual, *(other for other in (1, 2, 0) if other != usual))
            if (column, below) not in found.values()
        )
        found[step.key] = next(free)
        row = found[step.key][1]
    return found


def walk_diagram(steps: Sequence[Step], words: Mapping[str, str], chosen: int = -1, *, mathematics=html_math) -> Figure:
    """The shape walk as boxes from input to answer, each with its equation and its shape; a click gives the step's
    place. Wires run at right angles, and through no box.

    steps: of one shape_walk. words: "parameters" and "multiply_adds", the units written beside a box, "times", written
    on the frame round the layer, and what steps are called, by their keys. chosen: the step whose box is framed.
    """
    at_place = places(steps)
    middle = {key: (_COLUMNS[column][0], row) for key, (column, row) in at_place.items()}
    rows = [at_place[step.key][1] for step in steps if step.key.startswith("layers.")]
    dotted = {"color": ACCENT, "width": 1.2, "dash": "dot"}
    shapes = [_box(0.0, 3.04, min(rows) - 0.44, max(rows) + 0.44, line=dotted)]
    notes: list[tuple[float, float, str]] = []
    inside = []
    for number, step in enumerate(steps):
        (column, row), work = at_place[step.key], step.multiply_adds.number
        (x, half), role = _COLUMNS[column], step.key.rpartition(".")[2].removeprefix("W_")
        colour = role_colours().get(role, AFTER if work else GREY)
        line = {"color": ACCENT, "width": 3} if number == chosen else {"color": colour, "width": 1.5}
        sides = x - half, x + half, row - _HALF_HEIGHT, row + _HALF_HEIGHT
        shapes.append(_box(*sides, line=line, fillcolor=tint(colour, 0.16 if work else 0.04)))
        inside.append(_in_the_box(step, _ROOM[column == 1], mathematics))
        if column == 1 and (0, row) not in at_place.values():
            notes.append((x - half - 0.04, row, _note(step, words)))
    brief = [
        f"<b>{mathematics(step.symbol)}</b> {'×'.join(f'{size:,}' for size in step.output.sizes)}" for step in steps
    ]
    lines: list[tuple] = []
    tips: list[tuple[float, float, str]] = []
    for wire in wires(steps):
        lines += [*wire, BREAK]
        (x0, _), (x, y) = wire[-2:]
        if x == x0:
            tips.append((x, y - 0.08, "triangle-down"))
        else:
            tips.append((x + (0.01 if x < x0 else -0.01), y, "triangle-left" if x < x0 else "triangle-right"))
    marker = {"symbol": [tip[2] for tip in tips], "size": 6, "color": GREY}
    beside = {"textposition": "middle left", "textfont": {"size": font_size() - 1, "color": GREY}, "cliponaxis": True}
    traces = [
        stroke(lines, GREY, 1.3),
        at([tip[:2] for tip in tips], "markers", marker=marker, hoverinfo="skip"),
        words_at(
            list(middle.values()), inside, textfont={"size": font_size(), "color": INK[mode()]}, meta={"short": brief}
        ),
        words_at(
            [note[:2] for note in notes], [note[2] for note in notes], **beside, meta={"short": [""] * len(notes)}
        ),
        unseen(
            list(middle.values()),
            text=[f"{mathematics(step.equation)}<br>{html_math(shape_text(step.output, False))}" for step in steps],
            customdata=[[number] for number in range(len(steps))],
        ),
    ]
    times: dict = {"text": f"<b>{label(words['times'])}</b>", "font": {"size": font_size() + 1, "color": ACCENT}}
    times |= {"x": 2.94, "y": max(rows) + 0.4, "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    deep = max(row for _, row in at_place.values())
    layout = {
        "shapes": shapes,
        "annotations": [times],
        "xaxis": {"range": [-0.03, 3.07], "visible": False},
        "yaxis": {"range": [deep + 0.5, -0.5], "visible": False},
        "showlegend": False,
        "meta": {"roomy": _ROOMY},
    }
    return figure_of(traces, layout | figure_look(scaled((deep + 1) * _ROW)) | TO_THE_NEAREST)


def _box(left: float, right: float, top: float, bottom: float, **look: object) -> dict:
    return {"type": "rect", "layer": "below", "x0": left, "x1": right, "y0": top, "y1": bottom, **look}


def _in_the_box(step: Step, room: int, mathematics: Callable[[str], str]) -> str:
    """The step's equation and its shape in letters and in numbers, or as much of that as a box has room for."""
    sizes, axes = shape_text(step.output, True), html_math(shape_text(step.output, False))
    whole, symbol = (f"<b>{mathematics(latex)}</b>" for latex in (step.equation, step.symbol))
    if not step.equation.startswith(step.symbol):  # that of a later step, of which this is a part
        whole = symbol
    said = f"{whole}   {axes} = {sizes}", f"{whole}   {sizes}", f"{symbol}   {axes} = {sizes}"
    return next((one for one in said if len(re.sub("<.*?>", "", one)) <= room), f"{symbol}   {sizes}")


def wires(steps: Sequence[Step]) -> list[list[Point]]:
    """For each step and each that it reads the corners of a wire from box to box: at right angles, through no box, and
    two of different sources not along the same lane.
    """
    at_place = places(steps)
    boxes = [
        (x - half, x + half, row - _HALF_HEIGHT, row + _HALF_HEIGHT)
        for column, row in at_place.values()
        for x, half in (_COLUMNS[column],)
    ]
    drawn: list[tuple[str, list[Point]]] = []
    for step in steps:
        for read in step.reads:
            ways = [
                way for way in _ways(at_place[read], at_place[step.key]) if not any(map(partial(_crosses, way), boxes))
            ]
            others = [wire for source, wire in drawn if source != read]
            drawn.append((read, next((way for way in ways if not any(_along(way, wire) for wire in others)), ways[-1])))
    return [wire for _, wire in drawn]


def _ways(start: tuple[int, int], end: tuple[int, int]) -> Iterator[list[Point]]:
    """Ways from a box to one below it, the plainest first. The last ones cross no box, wherever boxes stand."""
    (x0, half0), y0, (x1, half1), y1 = _COLUMNS[start[0]], start[1], _COLUMNS[end[0]], end[1]
    below, above = y0 + _HALF_HEIGHT, y1 - _HALF_HEIGHT
    if x0 == x1:
        yield [(x0, below), (x0, above)]
    else:
        side = x1 + half1 * (1 if x0 > x1 else -1)
        into = (x1 + 0.4 * (side - x1), above)
        if y1 - y0 > 1:
            yield [(x0, below), (x0, y1), (side, y1)]
        yield [(x0, below), (x0, y1 - 0.5), (into[0], y1 - 0.5), into]
    for lane in _LANES:
        out, back = (x + half * (1 if lane > x else -1) for x, half in ((x0, half0), (x1, half1)))
        yield [(out, y0), (lane, y0), (lane, y1), (back, y1)]
    for lane in _LANES:
        yield [(x0, below), (x0, y0 + 0.5), (lane, y0 + 0.5), (lane, y1 - 0.5), (x1, y1 - 0.5), (x1, above)]


def _crosses(way: Sequence[Point], box: tuple[float, float, float, float]) -> bool:
    """Whether a part of a way runs through a box."""
    left, right, top, bottom = box
    return any(
        max(x0, x1) > left and min(x0, x1) < right and max(y0, y1) > top and min(y0, y1) < bottom
        for (x0, y0), (x1, y1) in pairwise(way)
    )


def _along(way: Sequence[Point], other: Sequence[Point]) -> bool:
    """Whether a part of a way runs down along a part of another one."""
    return any(
        a[0] == b[0] == c[0] == d[0] and min(a[1], b[1]) < max(c[1], d[1]) and min(c[1], d[1]) < max(a[1], b[1])
        for a, b in pairwise(way)
        for c, d in pairwise(other)
    )


def _note(step: Step, words: Mapping[str, str]) -> str:
    """What a box is called and what it costs, beside it: parameters and multiply–adds."""
    counts = ((step.parameters.number, "parameters"), (step.multiply_adds.number, "multiply_adds"))
    costs = [
        f"{with_prefix(number) if number > 999 else number} {label(words[unit])}" for number, unit in counts if number
    ]
    return " · ".join(filter(None, (label(words.get(step.key, "")), *costs)))


# -- curves over n -------------------------------------------------------------------------------------------

#: Each curve's colour, dash and width; the two sub-layers themselves are the bold ones.
_STYLES = {
    "attention": (ACCENT, "solid", 3),
    "ffn": (AFTER, "solid", 3),
    "squared": (ACCENT, "dot", 1.5),
    "projections": (ACCENT, "dash", 1.5),
    "projections_and_ffn": (AFTER, "dashdot", 1.5),
    "recurrent": (GREY, "longdash", 1.5),
}


def cost_curves(
    curves: pd.DataFrame,
    names: Mapping[str, str],
    titles: tuple[str, str],
    *,
    here: int,
    crossings: Sequence[tuple[int, int, str]] = (),
) -> Figure:
    """What grows with n, a column and a line each over the index n; names and titles (of x and y) are what is written.

    here: the present n, a dashed upright. crossings: (n, value, what the hover says), a ring at each.
    """
    traces = []
    for name, values in curves.items():
        colour, dash, width = _STYLES[name]
        drawn = {"line": {"color": colour, "dash": dash, "width": width}, "name": label(names[name])}
        hover = f"{label(names[name])}<br>n = %{{x:,.0f}}: %{{y:,.4s}}<extra></extra>"
        traces.append(at(values.reset_index().to_numpy(), "lines", hovertemplate=hover, **drawn))
    if crossings:
        traces.append(
            at(
                [crossing[:2] for crossing in crossings],
                "markers+text",
                text=[f"{n:,}" for n, _, _ in crossings],
                textposition=["top left" if i % 2 else "bottom right" for i in range(len(crossings))],
                textfont={"size": font_size() - 1},
                customdata=[label(said) for _, _, said in crossings],
                marker={"size": 11, "color": "rgba(0,0,0,0)", "line": {"width": 2, "color": GREY}},
                hovertemplate="%{customdata}<extra></extra>",
                showlegend=False,
            )
        )
    kind = {"type": "log", "dtick": 1}
    layout = {
        "xaxis": scale(titles[0], zeroline=False, **kind),
        "yaxis": scale(titles[1], zeroline=False, exponentformat="SI", **kind),
        **LEGEND,
    }
    figure = Figure(traces, layout | figure_look(scaled(460)))
    if curves.index[0] <= here <= curves.index[-1]:
        line = {"type": "line", "x0": here, "x1": here, "y0": 0, "y1": 1, "yref": "y domain"}
        figure.layout["shapes"] = [line | {"line": {"color": GREY, "width": 1.5, "dash": "dot"}}]
        top = {"x": math.log10(here), "y": 1, "yref": "paper", "yanchor": "top", "xanchor": "left", "xshift": 3}
        said = {"text": f"n = {here:,}", "showarrow": False, "font": {"size": font_size()}}
        figure.layout["annotations"] = [top | said]
    return figure
