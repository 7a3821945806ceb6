"""The pictures of Shapes and cost: what a longer input costs, as areas; the shape walk; curves over the length.

Pure functions: closed forms of model/measures/cost.py in, Plotly figures out. No Streamlit here.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, pairwise

import numpy as np
import pandas as pd

from model.measures.cost import Shape, Step
from pages.drawing.figures import ACCENT, AFTER, GREY, INK, LEGEND, Axis, Figure, figure_of, label, role_colours
from pages.drawing.figures.base import (
    BREAK,
    TO_THE_NEAREST,
    at,
    axis_layout,
    ink_on,
    legible,
    on_screen,
    scale,
    stroke,
    tint,
    unseen,
    words_at,
)
from pages.drawing.figures.base import look as figure_look
from pages.drawing.figures.curves import BLUE, ORANGE
from pages.drawing.figures.equations import html_math
from pages.drawing.figures.theme import big, font_size, mode, scaled
from pages.drawing.text.numbers import percent

PREFIXES = {"Z": 10**21, "E": 10**18, "P": 10**15, "T": 10**12, "G": 10**9, "M": 10**6, "k": 10**3}


def shape_text(shape: Shape, numbers: bool) -> str:
    """n × d_model, or 12 × 512."""
    if numbers:
        return " × ".join(f"{size:,}" for size in shape.sizes)
    return " × ".join(f"({axis})" if " " in axis else axis for axis in shape.axes)


def with_prefix(number: int) -> str:
    """A number in three digits: 123, 1.23 k, 67.1 E."""
    rounded = float(f"{number:.2e}")
    if rounded < 1000:
        return str(number)
    prefix, size = next((prefix, size) for prefix, size in PREFIXES.items() if rounded >= size)
    return f"{rounded / size:.3g} {prefix}"


def short(number: int, least: int = 10**6) -> str:
    """1,234 as it is, from `least` (a million) on as 1.23 M."""
    return with_prefix(number) if number >= least else f"{number:,}"


# -- the shape walk ------------------------------------------------------------------------------------------

#: Of the three columns of boxes: the middle, and half of the width.
_COLUMNS = ((0.4, 0.36), (1.5, 0.64), (2.6, 0.36))
_HALF_HEIGHT = 0.39
#: Where no box stands, and wires run down: at the right, at the left, and between the columns.
_LANES = (2.99, 3.02, 0.01, 2.19, 0.81)
_PORT = 0.15  # of a row: above the middle of a box's side wires come in, as far below it they leave
_LINE = 0.18  # of a row: half the way from a box's upper line of letters to its lower one
_ROOM = (18, 34)  # letters in a box at a side, and in one of the middle
_ROW = (44, 52)  # pixels from one row of boxes to the next: at least, and where a screen has room for all
_FLOW = 0.7  # of the picture's width; the rest is for the bars
_ROOMY = 700  # pixels of the picture, below which a box says its last symbol, and a bar its share

Point = tuple[float, float]
Place = tuple[int, int]  # column and row
Box = list[Step]


def boxes(steps: Sequence[Step]) -> list[Box]:
    """The steps in boxes, each after all that it reads: a product, and what is done with each of its numbers."""
    found: list[Box] = []
    for step in steps:
        before = [box for box in found if box[-1].key in step.reads and _column(box[-1]) == _column(step)]
        if before and _joins(step, before[-1][-1]):
            before[-1].append(step)
        else:
            found.append([step])
    return sorted(found, key=lambda box: steps.index(box[-1]))


def _joins(step: Step, last: Step) -> bool:
    """Whether a step stands in the box of the last one: it multiplies no matrices, and has as many numbers."""
    same = step.output.size == last.output.size and _inside(step) == _inside(last)
    return same and not step.multiply_adds.number


def _inside(step: Step) -> bool:
    """Whether a step is one of a layer's."""
    return step.key.startswith("layers.")


def _column(step: Step) -> int:
    """The column in which a step's box stands where that is free."""
    roles = {*step.key.rpartition(".")[2].split("_")}
    return 0 if {"Q", "segments"} & roles else 2 if {"V", "positions", "relative"} & roles else 1


def _reads(box: Box) -> list[str]:
    """The keys that a box reads of others."""
    return [read for step in box for read in step.reads if read not in {own.key for own in box}]


def places(drawn: Sequence[Box]) -> dict[str, Place]:
    """Column and row of each step's box: each below all that it reads, one layer apart from what stands before and
    after it, and no two in one place.
    """
    found: dict[str, Place] = {}
    inside, above, row = False, 0, 0  # in a layer; the first row of this part of the network; the last row
    for box in drawn:
        if inside != _inside(box[0]):
            inside, above = not inside, 1 + max(row for _, row in found.values())
        row = max([above, *(found[read][1] + 1 for read in _reads(box))] if _reads(box) else [above, row])
        usual = _column(box[0])
        free = (
            (column, below)
            for below in count(row)
            for column in (usual, *(other for other in (1, 2, 0) if other != usual))
            if (column, below) not in found.values()
        )
        place = next(free)
        found |= {step.key: place for step in box}
        row = place[1]
    return found


def walk_diagram(steps: Sequence[Step], words: Mapping[str, str], chosen: int = -1, *, mathematics=html_math) -> Figure:
    """The shape walk from input to answer as boxes: what is computed, and its shape; beside each row its share of the
    whole network's parameters and multiply–adds. A click on a symbol gives its step's place. Wires run at right angles,
    and through no box.

    steps: of one shape_walk. words: "parameters" and "multiply_adds", what is written over the bars, "times", on the
    frame round the layer, and what steps are called, by their keys. chosen: the step whose symbol is framed.
    """
    drawn = boxes(steps)
    at_place = places(drawn)
    rows = [at_place[step.key][1] for step in steps if _inside(step)]
    dotted = {"color": ACCENT, "width": 1.2, "dash": "dot"}
    shapes = [_frame(0.0, 3.04, min(rows) - 0.47, max(rows) + 0.47, line=dotted)]
    middles: dict[str, Point] = {}  # of each symbol
    arrows: list[Point] = []
    centres, sizes, lit = [], [], []
    for box in drawn:
        (column, row), work = at_place[box[0].key], any(step.multiply_adds.number for step in box)
        (x, half), role = _COLUMNS[column], box[0].key.rpartition(".")[2].removeprefix("W_")
        colour, wide = role_colours().get(role, AFTER if work else GREY), 2 * half / len(box)
        line = {"color": colour, "width": 1.5}
        for left, step in zip((x - half + place * wide for place in range(len(box))), box, strict=True):
            middles[step.key] = left + wide / 2, row - _LINE
            if step is not box[0]:
                arrows.append((left, row - _LINE))
            if chosen >= 0 and step is steps[chosen]:
                line = {"color": ACCENT, "width": 3}
                ends = row - _HALF_HEIGHT, row + _HALF_HEIGHT
                sides_of = (x - half, x + half) if big() else (left, left + wide)
                lit = [_frame(*sides_of, *ends, fillcolor=tint(ACCENT, 0.3), line={"width": 0})]
        sides = x - half, x + half, row - _HALF_HEIGHT, row + _HALF_HEIGHT
        shapes.append(_frame(*sides, line=line, fillcolor=tint(colour, 0.16 if work else 0.04)))
        centres.append((x, row))
        sizes.append(_in_the_box(box[-1].output, _ROOM[column == 1]))
    lines: list[tuple] = []
    tips: list[tuple[float, float, str]] = []
    for wire in wires(drawn):
        lines += [*wire, BREAK]
        (x0, _), (x, y) = wire[-2:]
        if x == x0:
            tips.append((x, y - 0.05, "triangle-down"))
        else:
            tips.append((x + (0.01 if x < x0 else -0.01), y, "triangle-left" if x < x0 else "triangle-right"))
    marker = {"symbol": [tip[2] for tip in tips], "size": 6, "color": GREY}
    ink, all_middles = {"size": font_size() + 1, "color": INK[mode()]}, [middles[step.key] for step in steps]
    signs, away = [f"<b>{mathematics(step.symbol)}</b>" for step in steps], {"short": [""] * len(steps)}
    last, tight = (
        [f"<b>{mathematics(box[-1].symbol)}</b>" for box in drawn],
        [size.replace(" × ", "×") for size in sizes],
    )
    if big():  # rows are low: one line of letters, what comes out and its shape
        halves = np.array([[0.94 * _COLUMNS[at_place[box[0].key][0]][1], 0.0] for box in drawn])
        smaller = ink | {"size": font_size() - 1}
        written = [
            words_at(np.array(centres) - halves, last, textposition="middle right", textfont=ink),
            words_at(np.array(centres) + halves, tight, textposition="middle left", textfont=smaller),
        ]
    else:
        written = [
            words_at(all_middles, signs, textfont=ink, meta=away),
            words_at(arrows, ["→"] * len(arrows), textfont=ink | {"color": GREY}, meta=away),
            words_at([(x, row - _LINE) for x, row in centres], [""] * len(drawn), textfont=ink, meta={"short": last}),
            words_at([(x, row + _LINE) for x, row in centres], sizes, textfont=ink, meta={"short": tight}),
        ]
    traces = [
        stroke(lines, GREY, 1.3),
        at([tip[:2] for tip in tips], "markers", marker=marker, hoverinfo="skip"),
        *written,
        *({**bars, "xaxis": "x2"} for bars in _bars(steps, [at_place[step.key][1] for step in steps], words)),
        unseen(
            [(x, y + _LINE) for x, y in all_middles],
            text=["<br>".join(filter(None, _hover(step, words, mathematics))) for step in steps],
            customdata=[[number] for number in range(len(steps))],
        ),
    ]
    for trace in traces:
        trace["showlegend"] = trace["type"] == "bar"
    times: dict = {
        "text": f"<b>{label(words['times'])}</b>",
        "font": {"size": font_size() + 1, "color": legible(ACCENT)},
    }
    times |= {"x": 0.04, "y": max(rows) + 0.42, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
    deep = max(row for _, row in at_place.values())
    longest = max(max(bars["x"], default=0.0) for bars in traces if bars["type"] == "bar") or 1.0
    layout: dict = {
        "shapes": [*shapes, *lit],
        "annotations": [times],
        "xaxis": {"range": [-0.03, 3.07], "visible": False, "domain": [0, _FLOW]},
        "xaxis2": {"range": [0, 1.9 * longest], "visible": False, "domain": [_FLOW + 0.02, 1]},
        "yaxis": {"range": [deep + 0.5, -0.5], "visible": False},
        "bargap": 0.14,
        "showlegend": True,
        "legend": {"orientation": "h", "x": _FLOW + 0.02, "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "meta": {"roomy": _ROOMY},
    }
    least, most = (scaled((deep + 1) * row) for row in _ROW)
    return figure_of(traces, layout | figure_look(max(on_screen(most), least)) | TO_THE_NEAREST)


def _frame(left: float, right: float, top: float, bottom: float, **look: object) -> dict:
    return {"type": "rect", "layer": "below", "x0": left, "x1": right, "y0": top, "y1": bottom, **look}


def _in_the_box(shape: Shape, room: int) -> str:
    """A shape in numbers, or in short ones, as a box has room for."""
    said = shape_text(shape, True)
    return said if len(said) <= room else "×".join(short(size, 10**4) for size in shape.sizes)


def _bars(steps: Sequence[Step], rows: Sequence[int], words: Mapping[str, str], every: int = 0) -> list[dict]:
    """For each row its share of what the whole network costs, all layers together: parameters, and multiply–adds.

    every: how many rows have a bar whatever they cost; else those that cost nothing have none.
    """
    traces = []
    for unit, numbers, colour in (
        ("parameters", [step.sets * step.parameters.number for step in steps], GREY),
        ("multiply_adds", [step.times * step.multiply_adds.number for step in steps], AFTER),
    ):
        sums = np.bincount(rows, numbers, every)
        shown = np.arange(every) if every else np.flatnonzero(sums)
        shares = sums[shown] / (sums.sum() or 1)
        brief = [percent(share) if share else "0" for share in shares]
        numbered = [f"{share} · {with_prefix(int(sums[row]))}" for share, row in zip(brief, shown, strict=True)]
        texts = [text if sums[row] else "0" for text, row in zip(numbered, shown, strict=True)]
        traces.append(
            {
                "type": "bar",
                "orientation": "h",
                "name": label(words[unit]),
                "x": shares,
                "y": shown,
                "text": texts,
                "textposition": "outside",
                "textfont": {"size": font_size()},
                "cliponaxis": False,
                "marker": {"color": colour},
                "hoverinfo": "skip",
                "meta": {"short": brief},
            }
        )
    return traces


def _hover(step: Step, words: Mapping[str, str], mathematics: Callable[[str], str]) -> tuple[str, str, str]:
    """What a step is called, its equation, and its shape in letters."""
    shape = html_math(shape_text(step.output, False))
    return label(words.get(step.key, "")), mathematics(step.equation), shape


def wires(drawn: Sequence[Box]) -> list[list[Point]]:
    """For each box and each that it reads the corners of a wire from box to box: at right angles, through no box, and
    two of different sources not along the same lane.
    """
    at_place = places(drawn)
    sides = [
        (x - half, x + half, row - _HALF_HEIGHT, row + _HALF_HEIGHT)
        for column, row in set(at_place.values())
        for x, half in (_COLUMNS[column],)
    ]
    found: list[tuple[Place, list[Point]]] = []
    for box in drawn:
        end = at_place[box[0].key]
        for start in dict.fromkeys(at_place[read] for read in _reads(box)):
            ways = [way for way in _ways(start, end) if not any(map(partial(_crosses, way), sides))]
            others = [wire for source, wire in found if source != start]
            found.append(
                (start, next((way for way in ways if not any(_along(way, wire) for wire in others)), ways[-1]))
            )
    return [wire for _, wire in found]


def _ways(start: Place, end: Place) -> Iterator[list[Point]]:
    """Ways from a box to one below it, the plainest first. The last ones cross no box, wherever boxes stand."""
    (x0, half0), y0, (x1, half1), y1 = _COLUMNS[start[0]], start[1], _COLUMNS[end[0]], end[1]
    below, above = y0 + _HALF_HEIGHT, y1 - _HALF_HEIGHT
    if x0 == x1:
        yield [(x0, below), (x0, above)]
    else:
        side = x1 + half1 * (1 if x0 > x1 else -1)
        into = (x1 + 0.4 * (side - x1), above)
        if y1 - y0 > 1:
            yield [(x0, below), (x0, y1 - _PORT), (side, y1 - _PORT)]
        yield [(x0, below), (x0, y1 - 0.5), (into[0], y1 - 0.5), into]
    for lane in _LANES:
        out, back = (x + half * (1 if lane > x else -1) for x, half in ((x0, half0), (x1, half1)))
        yield [(out, y0 + _PORT), (lane, y0 + _PORT), (lane, y1 - _PORT), (back, y1 - _PORT)]
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


# -- cost of one length --------------------------------------------------------------------------------------


def growth(
    names: Sequence[str], work: np.ndarray, lengths: Sequence[int], here: int, titles: tuple[str, str]
) -> Figure:
    """The share of each part of a layer in its multiply–adds, stacked, a column for each length; the first part, which
    stands below, with its percentage. A click gives the column.

    work: multiply–adds (part, length). here: the present column, framed. titles: of x and y.
    """
    parts, places = work / work.sum(axis=0), np.arange(len(lengths))
    traces = []
    for name, costs, own, colour in zip(names, work, parts, (ORANGE, tint(BLUE, 0.55), tint(BLUE, 0.3)), strict=True):
        said = [f"{label(name)}<br>n = {n:,}: {cost:,}" for n, cost in zip(lengths, costs.tolist(), strict=True)]
        bars = {"type": "bar", "x": places, "y": own, "name": label(name), "marker": {"color": colour}}
        bars |= {"customdata": places[:, None], "hovertext": said, "hoverinfo": "text"}
        traces.append(bars | {"unselected": {"marker": {"opacity": 1}}})
    above = [f"{'top' if share < 0.9 else 'bottom'} center" for share in parts[0]]
    inks = [INK[mode()] if share < 0.9 else ink_on(ORANGE) for share in parts[0]]
    texts = [*map(percent, parts[0])]
    few = {"short": [text if place % 2 else "" for place, text in enumerate(texts)]}
    look = {"textposition": above, "textfont": {"color": inks}, "showlegend": False, "meta": few}
    traces.append(words_at(np.stack([places, parts[0]], axis=1), texts, **look))
    ticks = [0, 0.2, 0.4, 0.6, 0.8, 1]  # the middle of the frame at none, whose name would else be marked as chosen
    side = scale(titles[1], range=[0, 1], tickvals=ticks, ticktext=[*map(percent, ticks)], zeroline=False)
    across = axis_layout(Axis(titles[0], [f"{n:,}" for n in lengths]), len(lengths))
    framed = _frame(here - 0.46, here + 0.46, 0, 1, line={"color": ACCENT, "width": 3}) | {"layer": "above"}
    layout = {"xaxis": across, "yaxis": side, "barmode": "stack", "bargap": 0.08, "shapes": [framed]}
    layout["meta"] = {"roomy": round(2.7 * font_size() * len(lengths))}
    return figure_of(traces, layout | LEGEND | figure_look(on_screen(scaled(430))))


def shares(steps: Sequence[Step], rows: Sequence[int], names: Sequence[str], words: Mapping[str, str]) -> Figure:
    """For each part of a network its share of all parameters and multiply–adds.

    steps: of one shape_walk. rows: the part of each, whose name is in names. words: as for `walk_diagram`.
    """
    traces = [bars | {"hoverinfo": "none"} for bars in _bars(steps, rows, words, len(names))]  # else none is clicked
    longest = max(max(bars["x"]) for bars in traces) or 1.0
    layout = {
        "xaxis": {"range": [0, 1.5 * longest], "visible": False},
        "yaxis": axis_layout(Axis("", names), len(names)) | {"range": [len(names) - 0.5, -0.5]},
        "bargap": 0.25,
        "meta": {"roomy": 420},
    }
    return figure_of(traces, layout | LEGEND | figure_look(on_screen(scaled(40 + 58 * len(names)))))


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

    here: the present n, a dashed upright. crossings: (n, value, what the hover says), a ring at each;
    the last has its n beside it.
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
                text=[f"{n:,}" if n == max(crossings)[0] else "" for n, _, _ in crossings],
                textposition="bottom right",
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
    figure = Figure(traces, layout | figure_look(scaled(360)))
    if curves.index[0] <= here <= curves.index[-1]:
        line = {"type": "line", "x0": here, "x1": here, "y0": 0, "y1": 1, "yref": "y domain"}
        figure.layout["shapes"] = [line | {"line": {"color": GREY, "width": 1.5, "dash": "dot"}}]
        top = {"x": math.log10(here), "y": 1, "yref": "paper", "yanchor": "top", "xanchor": "left", "xshift": 3}
        said = {"text": f"n = {here:,}", "showarrow": False, "font": {"size": font_size()}}
        figure.layout["annotations"] = [top | said]
    return figure
