"""The pictures of Shapes and cost: the shape walk as a drawing, and curves over the sequence length.

Pure functions: closed forms of model/cost.py in, Plotly figures out. No Streamlit here.
"""

import re
from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from model.cost import Shape, Step
from pages.ui.figures import ACCENT, AFTER, LEGEND, ROLE_COLOURS, finish, label
from pages.ui.text.formulas import html_math


def shape_text(shape: Shape, numbers: bool) -> str:
    """n × d_model, or 12 × 512."""
    if numbers:
        return " × ".join(f"{size:,}" for size in shape.sizes)
    return " × ".join(f"({axis})" if " " in axis else axis for axis in shape.axes)


def short(number: int) -> str:
    """1,234 as it is, larger ones as 1.2 M."""
    for unit, size in (("T", 10**12), ("G", 10**9), ("M", 10**6)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:,}"


# -- the shape walk ------------------------------------------------------------------------------------------

_MIDDLE, _WIDTH, _HALF_HEIGHT = (0.5, 1.5, 2.5), 0.86, 0.39
_MARGIN = 0.03  # where residual lines run
_ROW = 59  # pixels from one row of boxes to the next
_INK = {"light": "#172033", "dark": "#e8edf6"}
_GREY = "#8a8f98"


def _column(step: Step) -> int:
    name = step.key.rpartition(".")[2]
    if name == "positions" or name in ("W_V", "V"):
        return 2
    return 0 if name in ("W_Q", "Q") else 1


def _levels(steps: Sequence[Step]) -> dict[str, int]:
    """How far down each step stands: one below the lowest that it reads."""
    levels: dict[str, int] = {}
    for step in steps:
        levels[step.key] = 1 + max((levels[read] for read in step.reads), default=-1)
    levels["embedding.positions"] = levels["embedding.tokens"]  # reads nothing; beside what it is added to
    return levels


def walk_diagram(
    steps: Sequence[Step], words: Mapping[str, str], mode: str, *, font_size: int = 12, mathematics=html_math
) -> go.Figure:
    """The shape walk as boxes from input to answer, each with its symbol, its shape in letters and in numbers.

    steps: of one shape_walk. words: "parameters" and "multiply_adds", the units written beside a box, and "times",
    written on the frame round the layer. Thin lines on the left are the residual connections.
    """
    levels = _levels(steps)
    place = {step.key: (_MIDDLE[_column(step)], levels[step.key]) for step in steps}
    layer = [levels[step.key] for step in steps if step.key.startswith("layers.")]
    shapes = [_frame(min(layer), max(layer))]
    roles = ROLE_COLOURS[mode]
    lines: list[tuple[float, float] | None] = []
    tips: list[tuple[float, float, str]] = []
    for step in steps:
        x, y = place[step.key]
        role = step.key.rpartition(".")[2].removeprefix("W_")
        colour = roles.get(role, AFTER if step.multiply_adds.number else _GREY)
        shapes.append(_box(x, y, colour, filled=bool(step.multiply_adds.number)))
        for read in step.reads:
            route, tip = _route(place[read], (x, y))
            lines += [*route, None]
            tips.append(tip)
    figure = go.Figure(layout={"shapes": shapes})
    figure.add_scatter(
        x=np.array([np.nan if point is None else point[0] for point in lines], np.float32),
        y=np.array([np.nan if point is None else point[1] for point in lines], np.float32),
        mode="lines",
        line={"color": _GREY, "width": 1.3},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=np.array([tip[0] for tip in tips], np.float32),
        y=np.array([tip[1] for tip in tips], np.float32),
        mode="markers",
        marker={"symbol": [tip[2] for tip in tips], "size": 7, "color": _GREY},
        hoverinfo="skip",
    )
    figure.add_scatter(
        x=np.array([place[step.key][0] for step in steps], np.float32),
        y=np.array([place[step.key][1] for step in steps], np.float32),
        mode="text",
        text=[
            f"<b>{mathematics(step.symbol)}</b><br>{html_math(shape_text(step.output, False))}"
            f"<br>{shape_text(step.output, True)}"
            for step in steps
        ],
        textfont={"size": font_size - 1, "color": _INK[mode]},
        customdata=[mathematics(step.equation) for step in steps],
        hovertemplate="%{customdata}<extra></extra>",
        cliponaxis=False,
    )
    notes = []
    for step in steps:
        x, y = place[step.key]
        if (note := _note(step, words)) and not re.search(r"W_[QKV]$", step.key):  # those stand too close together
            if _column(step) == 1:  # on its left; for a norm above the residual line
                notes.append((x - _WIDTH / 2 - 0.04, y, note, "top left" if step.kind == "norm" else "middle left"))
            else:
                notes.append((x, y - _HALF_HEIGHT, note, "top center"))
    figure.add_scatter(
        x=np.array([note[0] for note in notes], np.float32),
        y=np.array([note[1] for note in notes], np.float32),
        mode="text",
        text=[note[2] for note in notes],
        textposition=[note[3] for note in notes],
        textfont={"size": font_size - 2, "color": _GREY},
        hoverinfo="skip",
    )
    figure.add_annotation(
        x=2.97, y=max(layer) + 0.44, text=f"<b>{label(words['times'])}</b>", showarrow=False,
        xanchor="right", yanchor="bottom", font={"size": font_size + 1, "color": ACCENT},
    )  # fmt: skip
    figure.update_xaxes(range=[-0.06, 3.04], visible=False)
    figure.update_yaxes(range=[max(levels.values()) + 0.5, -0.5], visible=False)
    height = int((max(levels.values()) + 1) * _ROW * font_size / 12)
    return finish(figure, height, font_size).update_layout(showlegend=False)


def _frame(top: int, bottom: int) -> dict:
    return {
        "type": "rect", "x0": 0.0, "x1": 3.0, "y0": top - 0.48, "y1": bottom + 0.48, "layer": "below",
        "line": {"color": ACCENT, "width": 1.2, "dash": "dot"},
    }  # fmt: skip


def _box(x: float, y: float, colour: str, filled: bool) -> dict:
    return {
        "type": "rect", "layer": "below", "line": {"color": colour, "width": 1.5},
        "x0": x - _WIDTH / 2, "x1": x + _WIDTH / 2, "y0": y - _HALF_HEIGHT, "y1": y + _HALF_HEIGHT,
        "fillcolor": _tint(colour, 0.16 if filled else 0.04),
    }  # fmt: skip


def _tint(colour: str, opacity: float) -> str:
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity})"


def _route(start: tuple[float, float], end: tuple[float, float]) -> tuple[list[tuple], tuple[float, float, str]]:
    """A line between two boxes, and its tip: straight down to the next row, else round the boxes between."""
    (x0, y0), (x1, y1) = start, end
    if y1 == y0:  # from the side: the positions
        return [(x0 - _WIDTH / 2, y0), (x1 + _WIDTH / 2, y1)], (x1 + _WIDTH / 2 + 0.02, y1, "triangle-left")
    if y1 - y0 == 1:
        return [(x0, y0 + _HALF_HEIGHT), (x1, y1 - _HALF_HEIGHT)], (x1, y1 - _HALF_HEIGHT - 0.03, "triangle-down")
    if x0 > x1:  # V goes down its own column
        return [(x0, y0 + _HALF_HEIGHT), (x0, y1), (x1 + _WIDTH / 2, y1)], (
            x1 + _WIDTH / 2 + 0.02,
            y1,
            "triangle-left",
        )
    left0, left1 = x0 - _WIDTH / 2, x1 - _WIDTH / 2
    return [(left0, y0), (_MARGIN, y0), (_MARGIN, y1), (left1, y1)], (left1 - 0.02, y1, "triangle-right")


def _note(step: Step, words: Mapping[str, str]) -> str:
    """What a box costs, beside it: parameters over multiply–adds."""
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
    "recurrent": (_GREY, "longdash", 1.5),
}


def cost_curves(
    lengths: np.ndarray,
    curves: Mapping[str, np.ndarray],
    names: Mapping[str, str],
    titles: tuple[str, str],
    *,
    crossings: Sequence[tuple[int, int, str]] = (),
    here: int | None = None,
    measured: Mapping[str, tuple[np.ndarray, np.ndarray, np.ndarray]] | None = None,
    logarithmic: bool = True,
    font_size: int = 12,
    height: int = 460,
) -> go.Figure:
    """Multiply–adds over n, one line a curve; names and titles (of x and y) are what is written.

    crossings: (n, multiply–adds, what the hover says), a ring at each. here: the present n, a dashed upright.
    measured: curve -> (n, the multiply–adds that its time stands for, milliseconds), as points in the curve's colour.
    """
    figure = go.Figure()
    for name, values in curves.items():
        colour, dash, width = _STYLES[name]
        figure.add_scatter(
            x=lengths.astype(np.float32),
            y=values.astype(np.float32),
            name=label(names[name]),
            mode="lines",
            line={"color": colour, "dash": dash, "width": width},
            hovertemplate=f"{label(names[name])}<br>n = %{{x:,.0f}}: %{{y:,.4s}}<extra></extra>",
        )
    for name, (n, work, milliseconds) in (measured or {}).items():
        measured_name = label(names[f"{name}_measured"])
        figure.add_scatter(
            x=n.astype(np.float32),
            y=work.astype(np.float32),
            customdata=milliseconds.astype(np.float32),
            name=measured_name,
            mode="markers",
            marker={"color": _STYLES[name][0], "size": 10, "symbol": "diamond", "line": {"width": 1, "color": "white"}},
            hovertemplate=f"{measured_name}<br>n = %{{x:,.0f}}: %{{customdata:.3g}} ms<extra></extra>",
        )
    if crossings:
        figure.add_scatter(
            x=np.array([crossing[0] for crossing in crossings], np.float32),
            y=np.array([crossing[1] for crossing in crossings], np.float32),
            mode="markers+text",
            text=[f"{crossing[0]:,}" for crossing in crossings],
            textposition=["top left" if i % 2 else "bottom right" for i in range(len(crossings))],
            textfont={"size": font_size - 1},
            customdata=[label(crossing[2]) for crossing in crossings],
            marker={"size": 11, "color": "rgba(0,0,0,0)", "line": {"width": 2, "color": _GREY}},
            hovertemplate="%{customdata}<extra></extra>",
            showlegend=False,
        )
    _over_lengths(figure, lengths, titles, here, logarithmic, font_size)
    return finish(figure, int(height * font_size / 12), font_size)


def memory_curve(
    lengths: np.ndarray,
    weights: np.ndarray,
    parameters: int,
    names: tuple[str, str],
    titles: tuple[str, str],
    *,
    here: int | None = None,
    logarithmic: bool = True,
    font_size: int = 12,
    height: int = 460,
) -> go.Figure:
    """Bytes of all n × n weights over n, and of all parameters, which do not grow. names: of the two."""
    figure = go.Figure()
    for name, values, colour, dash in (
        (names[0], weights, ACCENT, "solid"),
        (names[1], np.full(len(lengths), parameters), _GREY, "dash"),
    ):
        figure.add_scatter(
            x=lengths.astype(np.float32),
            y=values.astype(np.float32),
            name=label(name),
            mode="lines",
            line={"color": colour, "dash": dash, "width": 3},
            hovertemplate=f"{label(name)}<br>n = %{{x:,.0f}}: %{{y:,.4s}}B<extra></extra>",
        )
    _over_lengths(figure, lengths, titles, here, logarithmic, font_size)
    figure.update_yaxes(ticksuffix="B")
    return finish(figure, int(height * font_size / 12), font_size)


def _over_lengths(
    figure: go.Figure,
    lengths: np.ndarray,
    titles: tuple[str, str],
    here: int | None,
    logarithmic: bool,
    font_size: int,
) -> None:
    """Axes, legend and the mark of the present n that both pictures share."""
    kind = "log" if logarithmic else "linear"
    figure.update_xaxes(type=kind, title={"text": label(titles[0])}, automargin=True, zeroline=False)
    figure.update_yaxes(
        type=kind, title={"text": label(titles[1])}, automargin=True, zeroline=False, exponentformat="SI"
    )
    if logarithmic:
        figure.update_xaxes(dtick=1)
        figure.update_yaxes(dtick=1)
    if here is not None and lengths[0] <= here <= lengths[-1]:
        figure.add_vline(here, line={"color": _GREY, "width": 1.5, "dash": "dot"})
        figure.add_annotation(
            x=np.log10(here) if logarithmic else here, y=1, yref="paper", text=f"n = {here:,}", showarrow=False,
            xanchor="left", yanchor="top", font={"size": font_size}, xshift=3,
        )  # fmt: skip
    figure.update_layout(showlegend=True, legend=LEGEND)
