"""The pictures of Shapes and cost: the shape walk as a drawing, and curves over the sequence length.

Pure functions: closed forms of model/measures/cost.py in, Plotly figures out. No Streamlit here.
"""

import math
from collections.abc import Mapping, Sequence

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

_MIDDLE, _WIDTH, _HALF_HEIGHT = (0.5, 1.5, 2.5), 0.86, 0.38
_MARGIN = 0.03  # where residual lines run
_ROW = 26  # pixels from one row of boxes to the next


def _column(step: Step) -> int:
    name = step.key.rpartition(".")[2]
    if name in ("positions", "relative") or name in ("W_V", "V"):
        return 2
    return 0 if name in ("segments", "W_Q", "Q") else 1


def _levels(steps: Sequence[Step]) -> dict[str, int]:
    """How far down each step stands: one below the lowest that it reads."""
    levels: dict[str, int] = {}
    for step in steps:
        levels[step.key] = 1 + max((levels[read] for read in step.reads), default=-1)
    if (relative := "layers.0.attention.relative") in levels:
        levels[relative] = levels[next(step.reads[0] for step in steps if relative in step.reads)]
    levels["embedding.positions"] = levels["embedding.tokens"]  # reads nothing; beside what it is added to
    return levels


def walk_diagram(steps: Sequence[Step], words: Mapping[str, str], chosen: int = -1, *, mathematics=html_math) -> Figure:
    """The shape walk as boxes from input to answer, each with its symbol and its shape; a click gives the step's place.

    steps: of one shape_walk. words: "parameters" and "multiply_adds", the units written beside a box, and "times",
    written on the frame round the layer. chosen: the step whose box is framed. Thin lines on the left are the residual
    connections.
    """
    levels = _levels(steps)
    place = {step.key: (_MIDDLE[_column(step)], levels[step.key]) for step in steps}
    layer = [levels[step.key] for step in steps if step.key.startswith("layers.")]
    dotted = {"color": ACCENT, "width": 1.2, "dash": "dot"}
    shapes = [_box(0.0, 3.0, min(layer) - 0.48, max(layer) + 0.43, line=dotted)]
    lines: list[tuple] = []
    tips: list[tuple[float, float, str]] = []
    notes: list[tuple[float, float, str, str]] = []
    for number, step in enumerate(steps):
        x, y = place[step.key]
        role, work = step.key.rpartition(".")[2].removeprefix("W_"), step.multiply_adds.number
        colour = role_colours().get(role, AFTER if work else GREY)
        sides = x - _WIDTH / 2, x + _WIDTH / 2, y - _HALF_HEIGHT, y + _HALF_HEIGHT
        line = {"color": ACCENT, "width": 3} if number == chosen else {"color": colour, "width": 1.5}
        shapes.append(_box(*sides, line=line, fillcolor=tint(colour, 0.16 if work else 0.04)))
        for read in step.reads:
            route, tip = _route(place[read], (x, y))
            lines += [*route, BREAK]
            tips.append(tip)
        on_the_left, on_the_right = ((_MIDDLE[column], y) in place.values() for column in (0, 2))
        if _column(step) == 1 and not on_the_left:
            side = "top left" if step.kind == "norm" else "middle left"  # of a norm above the residual line
            notes.append((x - _WIDTH / 2 - 0.04, y, _note(step, words), side))
        if _column(step) == 1 and not on_the_right and all(place[read][0] <= x for read in step.reads):
            axes = html_math(shape_text(step.output, False))
            notes.append((x + _WIDTH / 2 + 0.04, y, axes, "middle right"))
    marker = {"symbol": [tip[2] for tip in tips], "size": 7, "color": GREY}
    inside = [f"<b>{mathematics(step.symbol)}</b>  {shape_text(step.output, True)}" for step in steps]
    traces = [
        stroke(lines, GREY, 1.3),
        at([tip[:2] for tip in tips], "markers", marker=marker, hoverinfo="skip"),
        words_at(list(place.values()), inside, textfont={"size": font_size(), "color": INK[mode()]}),
        words_at(
            [note[:2] for note in notes],
            [note[2] for note in notes],
            textposition=[note[3] for note in notes],
            textfont={"size": font_size() - 1, "color": GREY},
            cliponaxis=True,
        ),
        unseen(
            list(place.values()),
            text=[f"{mathematics(step.equation)}<br>{html_math(shape_text(step.output, False))}" for step in steps],
            customdata=[[number] for number in range(len(steps))],
        ),
    ]
    times: dict = {"text": f"<b>{label(words['times'])}</b>", "font": {"size": font_size() + 1, "color": ACCENT}}
    times |= {"x": 2.97, "y": max(layer) + 0.4, "xanchor": "right", "yanchor": "bottom", "showarrow": False}
    layout = {
        "shapes": shapes,
        "annotations": [times],
        "xaxis": {"range": [-0.06, 3.04], "visible": False},
        "yaxis": {"range": [max(levels.values()) + 0.5, -0.5], "visible": False},
        "showlegend": False,
    }
    return figure_of(traces, layout | figure_look(scaled((max(levels.values()) + 1) * _ROW)) | TO_THE_NEAREST)


def _box(left: float, right: float, top: float, bottom: float, **look: object) -> dict:
    return {"type": "rect", "layer": "below", "x0": left, "x1": right, "y0": top, "y1": bottom, **look}


def _route(start: tuple[float, float], end: tuple[float, float]) -> tuple[list[tuple], tuple[float, float, str]]:
    """A line between two boxes, and its tip: straight down to the next row, else round the boxes between."""
    (x0, y0), (x1, y1) = start, end
    left0, left1, right1 = x0 - _WIDTH / 2, x1 - _WIDTH / 2, x1 + _WIDTH / 2
    below0, above1 = y0 + _HALF_HEIGHT, y1 - _HALF_HEIGHT
    from_the_right = right1 + 0.02, y1, "triangle-left"
    if y1 == y0:  # from the side: the positions
        return [(left0, y0), (right1, y1)], from_the_right
    if y1 - y0 == 1:
        return [(x0, below0), (x1, above1)], (x1, above1 - 0.03, "triangle-down")
    if x0 > x1:  # V goes down its own column
        return [(x0, below0), (x0, y1), (right1, y1)], from_the_right
    return [(left0, y0), (_MARGIN, y0), (_MARGIN, y1), (left1, y1)], (left1 - 0.02, y1, "triangle-right")


def _note(step: Step, words: Mapping[str, str]) -> str:
    """What a box costs, beside it: parameters and multiply–adds."""
    counts = ((step.parameters.number, "parameters"), (step.multiply_adds.number, "multiply_adds"))
    return "<br>".join(f"{short(number)} {label(words[unit])}" for number, unit in counts if number)


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
