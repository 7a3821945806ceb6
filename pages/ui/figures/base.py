"""What all figures share: colours, axes, markup made harmless, and the look of a layout."""

import html
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go
from plotly.colors import get_colorscale

#: Blue for small and negative, white for zero, orange-brown for large: told apart by colour-blind eyes too.
SIGNED = [[0.0, "#08519c"], [0.25, "#6baed6"], [0.5, "#f7f7f7"], [0.75, "#fdae61"], [1.0, "#b35806"]]
#: What a difference of two runs is drawn in where there is no scale: legible on a light and on a dark ground.
LESS, MORE = "#3a86c8", "#c4660a"
SHARES = [list(stop) for stop in get_colorscale("Cividis")]
#: Q, K and V wherever they appear, on a light and on a dark ground.
ROLE_COLOURS = {
    "light": {"Q": "#0072B2", "K": "#C25B00", "V": "#00795A"},
    "dark": {"Q": "#56B4E9", "K": "#F0A030", "V": "#2BC29A"},
}
ACCENT = "#CC79A7"
USUAL_WIDTH = 480  # pixels between the ends of an axis, of a picture with arithmetic beside it
WHOLE_WIDTH = 1150  # of one in a presentation, where nothing stands beside it
#: Cells with an invisible marker each; of a larger map every second column has one, or every third, …
MOST_CLICKABLE = {"square": 64 * 64, "wide": 1200}
MOST_NAMED = 32  # places along one side of a map; where there is room for fewer, the browser thins them further
UPRIGHT = re.compile(r"[^a-zA-Z]{1,4}|\[[A-Z]+\]")  # Chinese, signs, and the special tokens among them


@dataclass(frozen=True)
class Axis:
    """One side of a picture: its title, and a label for each place (none: the places are just counted)."""

    title: str
    labels: Sequence[str] = ()


def label(text: str) -> str:
    """Text that Plotly shows as typed: it reads tags, and would take a token such as <b> for one."""
    return html.escape(text, quote=False)


def ink_on(colour: str) -> str:
    """Black or white: whichever reads better on a ground of that colour (#rrggbb). One of them has a contrast of 4.5.

    Source: the relative luminance of WCAG 2.2, of which black and white are equally far at 0.179.
    """
    shares = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares)
    return "#000000" if 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 else "#ffffff"


def sign_colours(values: np.ndarray) -> list[str]:
    """For each difference the colour of its sign."""
    return [LESS if value < 0 else MORE for value in np.ravel(values)]


def coloured(equation: str, mode: str) -> str:
    """An equation with Q, K and V (and their matrices) in their colours."""
    colours = ROLE_COLOURS[mode]
    return re.sub(
        r"(?<![A-Za-z\\{_])((?:W_|b_)?([QKV]))(?![A-Za-z])",
        lambda hit: rf"\textcolor{{{colours[hit[2]]}}}{{{hit[1]}}}",
        equation,
    )


def figure_of(traces: dict | list[dict], layout: dict) -> go.Figure:
    """A Plotly figure of plain data, which Plotly takes as it stands.

    To check every property would cost more than all the rest of a page. The tests do it, where they open a page.
    Names have the room that they need: that Plotly would measure each of them twice is a third of its time.
    """
    drawn = traces if isinstance(traces, list) else [traces]
    bars = [trace["colorbar"] for trace in drawn if "colorbar" in trace]
    for scale in (*bars, *(axis for name, axis in layout.items() if name.startswith(("xaxis", "yaxis")))):
        scale["ticklabeloverflow"] = "allow"
    return go.Figure(drawn, layout | {"margin": layout["margin"] | room(drawn, layout)}, _validate=False)


def room(traces: Sequence[dict], layout: dict) -> dict[str, int]:
    """The margins that names, titles and a colour bar will need, in pixels, by the usual width of letters.

    Plotly takes more where that is too little, but then it draws the whole picture a second and a third time.
    """
    size, margin = layout["font"]["size"], layout["margin"]
    needed = {}
    for side, letter in (("l", "yaxis"), ("b", "xaxis")):
        axis = layout.get(letter, {})
        if not axis.get("automargin") or axis.get("side", "") in ("top", "right"):
            continue
        names = [text_width(name) for name in axis.get("ticktext", ())] if axis.get("showticklabels", True) else []
        widest = max(names, default=1.3 if side == "b" else 2.2) * axis.get("tickfont", {}).get("size", size)
        length = USUAL_WIDTH if size <= 12 or layout.get("yaxis", {}).get("scaleanchor") else WHOLE_WIDTH
        upright = side == "b" and (axis.get("tickangle") == 0 or widest * len(names) < length)
        along = 1.3 * size if upright else max(widest, 1.2 * size)
        needed[side] = math.ceil(margin[side] + along + 3 * size + 2 * axis.get("linewidth", 0))
    if any(trace.get("colorbar", {}).get("orientation") == "h" and trace.get("showscale", True) for trace in traces):
        needed["t"] = margin["t"] + math.ceil(3.5 * size)
    return needed


def text_width(name: str) -> float:
    """About how wide a name is, in times its font size: signs beyond ASCII (Chinese above all) are square."""
    return sum(0.6 if char.isascii() else 1.0 for char in html.unescape(name))


def axis_layout(axis: Axis, n: int, font_size: int, named: Sequence[int] | None = None) -> dict:
    """One side of a picture with `n` places. named: those whose labels stand there; all if left out."""
    side: dict = {
        "title": {"text": label(axis.title)},
        "showgrid": False,
        "zeroline": False,
        "ticks": "",
        "automargin": True,
    }
    if axis.labels:
        named = range(n) if named is None else named
        size = font_size if len(named) <= 20 else font_size - 2
        side |= {
            "tickmode": "array",
            "tickvals": list(named),
            "ticktext": [label(axis.labels[place]) for place in named],
            "tickfont": {"size": size},
            # Chinese stands upright; aslant, the last label would be left out where it leaves the picture.
            **({"tickangle": 0} if all(map(UPRIGHT.fullmatch, axis.labels)) else {"autotickangles": [0, 90]}),
        }
    return side


def thinned(n: int, chosen: int | None) -> list[int]:
    """As many places as can be named without their names lying on each other, the chosen one among them."""
    apart = -(-n // MOST_NAMED)
    if chosen is None or chosen >= n or apart == 1:
        return list(range(0, n, apart))
    return sorted({chosen, *(place for place in range(0, n, apart) if abs(place - chosen) >= apart)})


def on_screen(height: float, font_size: int) -> int:
    """A picture's height, or less, so that it ends on the first screen; in a presentation, on a projector's."""
    return int(min(height, 540 if font_size <= 12 else 460))


def look(height: int, font_size: int) -> dict:
    """The layout that all figures share."""
    return {
        "height": height,
        "margin": {"l": 6, "r": 6, "t": 8, "b": 6, "pad": 3},  # with more, names would reach the titles
        "font": {"size": font_size},
        "hovermode": "closest",
        "hoverdistance": 20,
        "dragmode": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }


#: For pictures with an invisible marker on each cell: a click anywhere in a cell belongs to its marker.
TO_THE_NEAREST = {"hoverdistance": -1}


def finish(figure: go.Figure, height: int, font_size: int) -> go.Figure:
    """The look that all figures share, for one that is built step by step."""
    return figure.update_layout(look(height, font_size))


#: What goes in, what is added, what comes out: none of them a role of attention, so none has a role's colour.
BEFORE, ADDED, AFTER = "#8a8f98", ACCENT, "#7b6fd0"
LEGEND = {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "title": {"text": ""}}
#: The lowest of 255 colours is kept for the gaps between tiles: bytes have no NaN.
STEPS = 254


def with_gap(colorscale: Sequence[Sequence]) -> list[list]:
    """A colour scale for bytes: 0 is see-through, 1 to 255 run through the colours."""
    size = STEPS + 1
    clear = "rgba(0,0,0,0)"
    half = 0.5 / size
    coloured = [[(1 + place * STEPS) / size, colour] for place, colour in colorscale]
    return [[0.0, clear], [half, clear], [half, colorscale[0][1]], *coloured]


def outline(row: int, column: int) -> dict:
    """A frame round one cell, or one tile, of a picture whose cells are one unit wide and high."""
    corners = {"x0": column - 0.5, "x1": column + 0.5, "y0": row - 0.5, "y1": row + 0.5}
    return {"type": "rect", **corners, "line": {"color": ACCENT, "width": 3}}


def crossing(row: int, column: int, n_rows: int, n_columns: int, top: int = 0, left: int = 0) -> list[dict]:
    """Thin frames round the row and the column in which a cell stands, and a thick one round the cell.

    top, left: the numbers of the first row and the first column.
    """
    thin, y, x = {"color": ACCENT, "width": 1}, row + top, column + left
    along = {"x0": left - 0.5, "x1": left + n_columns - 0.5, "y0": y - 0.5, "y1": y + 0.5}
    down = {"x0": x - 0.5, "x1": x + 0.5, "y0": top - 0.5, "y1": top + n_rows - 0.5}
    return [{"type": "rect", **side, "line": thin} for side in (along, down)] + [outline(y, x)]


#: Markers that report clicks and hovers and are never seen, not even when they are picked.
UNSEEN = {
    "mode": "markers",
    "marker": {"size": 6, "opacity": 0, "maxdisplayed": 1},  # a click needs none of them drawn, and each would cost
    "selected": {"marker": {"opacity": 0}},
    "unselected": {"marker": {"opacity": 0}},
    "showlegend": False,
}


def tile_markers(n_rows: int, n_columns: int, hover: Sequence[str]) -> dict:
    """Invisible markers, one on each tile: they report clicks, and each says its line of `hover` (row by row)."""
    y, x = np.mgrid[0:n_rows, 0:n_columns].astype(np.float32)
    return dict(
        type="scatter",
        x=x.ravel(),
        y=y.ravel(),
        text=[label(line) for line in hover],
        hovertemplate="%{text}<extra></extra>",
        **UNSEEN,
    )
