"""What all figures share: colours, axes, escaped labels, layout."""

import html
import json
import math
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import plotly.graph_objects as go
from plotly.colors import get_colorscale, hex_to_rgb

from pages.drawing.figures.notation import noted
from pages.drawing.figures.theme import SMALL, font_size, mode
from pages.drawing.text.numbers import written

#: From blue (negative) to orange (positive), safe for colour-blind eyes; zero is the colour of the ground. painter.js
#: has the same.
SIGNED = {
    "light": ("#08519c", "#6baed6", "#f7f7f7", "#fdae61", "#b35806"),
    "dark": ("#8fd0ff", "#2f78b7", "#141b29", "#b5701f", "#ffc46b"),
}
#: Colours of negative and positive differences where there is no scale; legible on light and dark.
LESS, MORE = "#3a86c8", "#c4660a"
SHARES = [list(stop) for stop in get_colorscale("Cividis")]
#: The colours of Q, K and V everywhere.
ROLE_COLOURS = {
    "light": {"Q": "#0072B2", "K": "#BC5800", "V": "#00795A"},
    "dark": {"Q": "#56B4E9", "K": "#F0A030", "V": "#2BC29A"},
}
ACCENT = "#CC79A7"
COVERED = "?"  # covers a number that the reader guesses
GUESS = "#b35c08"  # the reader's guess, always dashed; legible on light, dark and dark cells
GREY = "#8a8f98"  # for comparison only
#: Input, addition, output: not the colours of Q, K and V.
BEFORE, ADDED, AFTER = GREY, ACCENT, "#7b6fd0"
INK = {"light": "#172033", "dark": "#e8edf6"}  # for words read at a distance
PAGE = {"light": "#fdfdfc", "dark": "#0f1420"}
USUAL_WIDTH = 480  # pixels: the axis of a picture with arithmetic beside it
WHOLE_WIDTH = 1150  # pixels: the axis of a picture alone in a presentation
#: Cells that have an invisible marker each; in larger maps only every second column has them, or every third, …
MOST_CLICKABLE = {"square": 64 * 64, "wide": 1200}
MOST_NAMED = 64  # names along one side of a map; the browser thins them further if room lacks
MOST_NUMBERED = 8  # rows and columns of patches
Points = Sequence[tuple[float | None, float | None]] | np.ndarray
UPRIGHT = re.compile(r"[^a-zA-Z]{1,4}|\[[A-Z]+\]")  # Chinese words, signs, special tokens


@dataclass(frozen=True)
class Axis:
    """One side of a picture: its title, and a label for each place (none: the places are counted).

    tokens: for places that are tokens, the token's place in the run.
    """

    title: str
    labels: Sequence[str] = ()
    tokens: Sequence[int] = ()

    @classmethod
    def counted(cls, title: str, n: int) -> Self:
        """n places labelled 1, 2, …, for pictures that do not count places themselves."""
        return cls(title, [str(place + 1) for place in range(n)])

    @classmethod
    def titled(cls, title: str, n: int) -> Self:
        """n places labelled "layer 1", "2", "3", …"""
        return cls(title, [f"{title} 1", *map(str, range(2, n + 1))])

    def named(self, names: Sequence[str]) -> Self:
        """A copy with other names for its tokens."""
        return replace(self, labels=[names[place] for place in self.tokens]) if self.tokens else self


def label(text: str) -> str:
    """Text escaped for Plotly, which would read a token such as <b> as a tag."""
    return html.escape(text, quote=False)


def ink_on(colour: str) -> str:
    """Black or white: whichever reads better on this colour (#rrggbb), with a contrast of at least 4.5.

    Black and white contrast equally with a relative luminance of 0.179.
    """
    return "#000000" if _luminance(colour) > 0.179 else "#ffffff"


def _luminance(colour: str) -> float:
    """The relative luminance of #rrggbb. Source: WCAG 2.2."""
    shares = [part / 255 for part in hex_to_rgb(colour)]
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def tint(colour: str, opacity: float) -> str:
    """A colour (#rrggbb) with opacity, as rgba."""
    return f"rgba{(*hex_to_rgb(colour), opacity)}"


def legible(colour: str) -> str:
    """A colour for words: as it is, or as much nearer to that of letters as a contrast of 4.5 to the page needs."""
    pairs, page = [*zip(hex_to_rgb(colour), hex_to_rgb(INK[mode()]), strict=True)], _luminance(PAGE[mode()])
    mixed = ("#" + "".join(f"{(own * (8 - n) + ink * n) // 8:02x}" for own, ink in pairs) for n in range(9))
    return next(one for one in mixed if abs(math.log((_luminance(one) + 0.05) / (page + 0.05))) >= math.log(4.5))


def sign_colours(values: np.ndarray) -> list[str]:
    """The colour of each difference's sign."""
    return [LESS if value < 0 else MORE for value in np.ravel(values)]


def colours_of(scale: str) -> list[list]:
    """The colour scale: of "signed" numbers on this ground, or of all others."""
    return [[at / 4, colour] for at, colour in enumerate(SIGNED[mode()])] if scale == "signed" else SHARES


def signed_colours(values: Sequence[float] | np.ndarray) -> list[str]:
    """Each number's colour (#rrggbb) on the scale of signed numbers; the largest absolute value ends the scale."""
    sizes = np.asarray(values, float)
    shares = 0.5 + sizes / (2 * (np.abs(sizes).max(initial=0.0) or 1.0))
    stops = np.array([hex_to_rgb(colour) for colour in SIGNED[mode()]])
    channels = [np.interp(shares, np.linspace(0, 1, len(stops)), channel).astype(int) for channel in stops.T]
    return [f"#{red:02x}{green:02x}{blue:02x}" for red, green, blue in zip(*channels, strict=True)]


def role_colours() -> dict[str, str]:
    """The colours of Q, K and V on this ground."""
    return ROLE_COLOURS[mode()]


def on_white() -> dict[str, str]:
    """Colour on this ground -> its counterpart on a light ground, where they differ."""
    own = (INK[mode()], *role_colours().values(), *SIGNED[mode()])
    white = (INK["light"], *ROLE_COLOURS["light"].values(), *SIGNED["light"])
    return {dark: light for dark, light in zip(own, white, strict=True) if dark != light}


def coloured(equation: str) -> str:
    """An equation in the chosen symbols, with Q, K, V and their matrices in colour."""
    colours = role_colours()
    return re.sub(
        r"(?<![A-Za-z\\{_])((?:W[_^]|b_)?([QKV]))(?![A-Za-z])",
        lambda hit: rf"\textcolor{{{colours[hit[2]]}}}{{{hit[1]}}}",
        noted(equation),
    )


@dataclass
class Figure:
    """A Plotly figure as plain data: traces and layout, by Plotly's names.

    Plotly's own Figure checks every property, which takes longer than the rest of a page. The tests check instead.
    """

    data: list[dict]
    layout: dict

    def tell(self, **more: object) -> Self:
        """Send the browser more about the figure; chart.js lists what."""
        self.layout["meta"] = {**self.layout.get("meta", {}), **more}
        return self

    def as_json(self) -> str:
        """JSON for the browser, with Plotly's typed arrays. Raises ValueError for a bare NaN or ∞."""
        return json.dumps({"data": self.data, "layout": self.layout}, default=_typed, allow_nan=False)

    def checked(self) -> go.Figure:
        """Plotly's own figure. Raises ValueError for unknown properties."""
        return go.Figure(self.data, self.layout)

    def _repr_mimebundle_(self, *asked: object, **wanted: object) -> dict:
        """The figure as a notebook shows it."""
        return self.checked()._repr_mimebundle_(*asked, **wanted)


def _typed(values: np.ndarray | np.generic) -> object:
    """An array as bytes for Plotly; 64-bit integers, which browsers lack, as doubles."""
    if values.ndim == 0 or values.dtype.kind not in "iuf":
        return values.tolist()
    if values.dtype.kind in "iu" and values.itemsize == 8:
        values = values.astype(np.float64)
    array = {"dtype": values.dtype.str[1:], "bdata": b64encode(np.ascontiguousarray(values)).decode()}
    return array if values.ndim == 1 else array | {"shape": ", ".join(map(str, values.shape))}


def figure_of(traces: dict | list[dict], layout: dict) -> Figure:
    """A figure with margins for its names: measuring each name twice takes Plotly a third of its time.

    x and y become float32, half the bytes.
    """
    drawn = traces if isinstance(traces, list) else [traces]
    for trace in drawn:
        trace |= {side: np.asarray(trace[side], np.float32) for side in "xy" if side in trace}
    bars = [trace["colorbar"] for trace in drawn if "colorbar" in trace]
    for scale in (*bars, *(axis for name, axis in layout.items() if name.startswith(("xaxis", "yaxis")))):
        scale["ticklabeloverflow"] = "allow"
    across = layout.get("xaxis", {})
    if across.get("tickangle", 0) < 0:  # where names fit upright, the browser takes these margins
        standing = layout["margin"] | room(drawn, layout | {"xaxis": across | {"tickangle": 0}})
        layout = layout | {"meta": {**layout.get("meta", {}), "standing": standing}}
    return Figure(drawn, layout | {"margin": layout["margin"] | room(drawn, layout)})


def room(traces: Sequence[dict], layout: dict) -> dict[str, int]:
    """The margins for names, titles and a colour bar, in pixels, estimated from the width of letters.

    If they are too small, Plotly enlarges them and draws the whole picture two more times.
    """
    size, margin = layout["font"]["size"], layout["margin"]
    needed: dict[str, int] = {}
    every, length = layout.get("meta", {}), USUAL_WIDTH if size <= 12 else WHOLE_WIDTH
    bars = [trace["colorbar"] for trace in traces if "colorbar" in trace and trace.get("showscale", True)]
    if layout.get("yaxis", {}).get("scaleanchor"):  # square cells: the height decides, too
        across, down = (np.ptp(layout[axis].get("range", (0, 1))) for axis in ("xaxis", "yaxis"))
        high = layout["height"] - needed.get("t", margin["t"]) - margin["b"] - 4.3 * size
        length = min(USUAL_WIDTH, high * across / down)
    for side, letter, along in (("l", "yaxis", "rows"), ("b", "xaxis", "columns")):
        axis = layout.get(letter, {})
        if axis.get("tickangle", 0) < 0:  # aslant, above the picture
            widest = max(map(text_width, axis["ticktext"]), default=1) * axis["tickfont"]["size"]
            needed["t"] = math.ceil(margin["t"] + 0.71 * (widest + axis["tickfont"]["size"]) + 6)
            needed["r"] = math.ceil(margin["r"] + 0.71 * text_width(axis["ticktext"][-1]) * axis["tickfont"]["size"])
        if not axis.get("automargin") or axis.get("side", "") in ("top", "right"):
            continue
        names = [text_width(name) for name in every.get(along) or axis.get("ticktext", ())]
        names = names if axis.get("showticklabels", True) else []
        widest = max(names, default=1.3 if side == "b" else 2.2) * axis.get("tickfont", {}).get("size", size)
        standing = len(thinned(len(names), None)) if names else 0  # whichever is chosen: pictures do not move
        upright = side == "b" and (axis.get("tickangle") == 0 or widest * standing < length)
        deep = 1.3 * size if upright else max(widest, 1.2 * size)
        title = 3 * size if axis.get("title", {}).get("text") else 6
        needed[side] = max(needed.get(side, 0), math.ceil(margin[side] + deep + title + 2 * axis.get("linewidth", 0)))
    if any(bar.get("orientation") == "h" for bar in bars):
        needed["b"] = needed.get("b", margin["b"]) + math.ceil(2 * size + 10)
    corners = [
        words for words in layout.get("annotations", ()) if (words.get("x"), words.get("xanchor")) == (0, "right")
    ]
    for words in corners:  # two lines, above the row names and left of the column names
        widest = max(map(text_width, words["text"].split("<br>"))) * words["font"]["size"] - words["xshift"]
        for side, deep in (("l", widest), ("t", 2.7 * size * (words.get("yanchor") == "bottom"))):
            needed[side] = max(needed.get(side, 0), math.ceil(margin[side] + deep))
    return needed


def text_width(name: str) -> float:
    """The approximate width of a name in font sizes: signs beyond ASCII (mostly Chinese) are square."""
    return sum(0.6 if char.isascii() else 1.0 for char in html.unescape(name))


#: An axis without lines.
BARE = {"showgrid": False, "zeroline": False, "ticks": ""}


def scale(title: str, **look: Any) -> dict:
    """The layout of an axis of numbers."""
    named = {"title": {"text": label(title)}} if title else {}  # even an empty title takes room
    return {**named, "automargin": True, **look}


def axis_layout(axis: Axis, n: int, named: Sequence[int] | None = None) -> dict:
    """The layout of an axis with `n` places. named: the places that show labels; all, if left out."""
    side = scale(axis.title, **BARE)
    if axis.labels:
        named = range(n) if named is None else named
        size = font_size() if n <= 20 or font_size() > SMALL else font_size() - 2
        side |= {
            "tickmode": "array",
            "tickvals": list(named),
            "ticktext": [label(axis.labels[place]) for place in named],
            "tickfont": {"size": size},
            # Chinese stands upright: slanted, the last label could leave the picture and be dropped.
            **({"tickangle": 0} if all(map(UPRIGHT.fullmatch, axis.labels)) else {"autotickangles": [0, 90]}),
        }
    return side


def thinned(n: int, chosen: int | None) -> list[int]:
    """The places that can be named without overlap, the chosen one among them."""
    apart = -(-n // MOST_NAMED)
    if chosen is None or chosen >= n or apart == 1:
        return list(range(0, n, apart))
    return sorted({chosen, *(place for place in range(0, n, apart) if abs(place - chosen) >= apart)})


def on_screen(height: float) -> int:
    """A picture's height, limited so that it ends on the first screen, in a presentation the projector's."""
    return int(min(height, 515 if font_size() <= SMALL else 460))


def look(height: int) -> dict:
    """The layout that all figures share."""
    return {
        "height": height,
        "margin": {"l": 6, "r": 6, "t": 8, "b": 6, "pad": 3},  # more padding would push names into titles
        "font": {"size": font_size()},
        "hovermode": "closest",
        "hoverdistance": 20,
        "dragmode": False,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
    }


#: For pictures with invisible markers on cells: the nearest marker answers a click.
TO_THE_NEAREST = {"hoverdistance": -1}


#: A legend above the picture.
LEGEND = {
    "showlegend": True,
    "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "title": {"text": ""}},
}


def up_to(end: float, values: np.ndarray) -> str:
    """The name of the strongest colour: "0.1+" if larger numbers share it."""
    return f"{end:.2g}" + "+" * bool(np.nanmax(np.abs(values), initial=0.0) > end * (1 + 1e-6))


def colour_bar(ends: dict[float, str], **look: Any) -> dict:
    """A colour bar at the bottom left, below all else. ends: value -> its name."""
    return {
        "orientation": "h",
        "x": 0.0,
        "xanchor": "left",
        "yref": "container",
        "y": 0.0,
        "yanchor": "bottom",
        "lenmode": "pixels",
        "len": 11 * font_size(),
        "thickness": 6,
        "outlinewidth": 0,
        "ypad": 4,
        "title": {"side": "right"},  # above, even an empty title takes a line
        "tickfont": {"size": font_size() - 2 * (font_size() <= SMALL)},
        "tickangle": 0,
        "tickvals": list(ends),
        "ticktext": [written(text) for text in ends.values()],
        **look,
    }


#: Steps of colour in a byte. Byte 0 marks gaps between tiles, since bytes have no NaN.
STEPS = 254


def with_gap(colorscale: Sequence[Sequence]) -> list[list]:
    """A colour scale for bytes: 0 is transparent, 1 to 255 are the colours."""
    size = STEPS + 1
    clear = "rgba(0,0,0,0)"
    half = 0.5 / size
    coloured = [[(1 + place * STEPS) / size, colour] for place, colour in colorscale]
    return [[0.0, clear], [half, clear], [half, colorscale[0][1]], *coloured]


def one_sheet(tiles: np.ndarray, gap_y: int = 1, gap_x: int = 1, empty: float = 0) -> np.ndarray:
    """Matrices (row, column, height, width, …) side by side in one, with gaps that hold `empty`."""
    n_rows, n_columns, height, width, *rest = tiles.shape
    sheet = np.full((n_rows, height + gap_y, n_columns, width + gap_x, *rest), empty, tiles.dtype)
    sheet[:, :height, :, :width] = tiles.swapaxes(1, 2)
    return sheet.reshape(n_rows * (height + gap_y), n_columns * (width + gap_x), *rest)[:-gap_y, :-gap_x]


def frame(top: float, left: float, bottom: float, right: float, color: str = ACCENT, width: float = 3) -> dict:
    """A frame round the cells from (top, left) to (bottom, right), both included; cells are one unit large."""
    corners = {"x0": left - 0.5, "x1": right + 0.5, "y0": top - 0.5, "y1": bottom + 0.5}
    return {"type": "rect", **corners, "line": {"color": color, "width": width}}


def guessed(top: float, left: float, bottom: float, right: float) -> dict:
    """A dashed frame, as `frame`, for a reader's guess; nothing of the network's is dashed."""
    shape = frame(top, left, bottom, right, GUESS)
    return shape | {"line": shape["line"] | {"dash": "dash"}}


def outline(row: float, column: float, color: str = ACCENT) -> dict:
    """A frame round one cell or tile."""
    return frame(row, column, row, column, color)


def crossing(row: int, column: int, n_rows: int, n_columns: int, top: int = 0, left: int = 0) -> list[dict]:
    """Thin frames round a cell's row and column, and a thick one round the cell.

    top, left: the numbers of the first row and column.
    """
    y, x = row + top, column + left
    along, down = (y, left, y, left + n_columns - 1), (top, x, top + n_rows - 1, x)
    return [frame(*along, width=2), frame(*down, width=1), outline(y, x)]


def rules(rows: Iterable[float], columns: Iterable[float], shape: Sequence[int], color: str) -> list[dict]:
    """Thin lines across a picture at some rows, and down it at some columns."""
    line = {"type": "line", "line": {"color": color, "width": 1}}
    bottom, right = (side - 0.5 for side in shape)
    across = [line | {"x0": -0.5, "x1": right, "y0": row, "y1": row} for row in rows]
    return across + [line | {"x0": column, "x1": column, "y0": -0.5, "y1": bottom} for column in columns]


def patch_sides(count: int, size: int, letters: int) -> tuple[dict, dict]:
    """The axes x and y of a picture of count × count patches, each of `size` units, named c1 … and r1 …

    letters: the size of names. Each side has at most MOST_NUMBERED.
    """
    named = range(0, count, -(-count // MOST_NUMBERED))
    side = BARE | {"constrain": "domain", "tickmode": "array", "tickfont": {"size": letters}}
    side["tickvals"] = [(i + 0.5) * size - 0.5 for i in named]
    x, y = (side | {"ticktext": [f"{letter}{i + 1}" for i in named]} for letter in "cr")
    ends = [-0.5, count * size - 0.5]
    return x | {"range": ends}, y | {"range": ends[::-1], "scaleanchor": "x"}


def spread(places: np.ndarray, least: float) -> np.ndarray:
    """Numbers, increased as far as needed to be `least` apart, in the same order."""
    found = np.array(places, float)
    for before, after in zip(order := np.argsort(found, kind="stable"), order[1:], strict=False):
        found[after] = max(found[after], found[before] + least)
    return found


#: Between two points: the line breaks here.
BREAK = (None, None)


def at(points: Points, mode: str, **look: Any) -> dict:
    """A Plotly scatter trace at some points (x, y). mode: "lines", "markers", "text", or several joined by "+"."""
    x, y = np.asarray(points, np.float32).reshape(-1, 2).T
    return {"type": "scatter", "mode": mode, "x": x, "y": y, **look}


def stroke(points: Points, color: str, width: float, **look: Any) -> dict:
    """A line through some points; a BREAK separates lines."""
    return at(points, "lines", line={"color": color, "width": width}, hoverinfo="skip") | look


def words_at(points: Points, words: Sequence[str], **look: Any) -> dict:
    """Words at some points, even beyond the axes."""
    return at(points, "text", text=words, hoverinfo="skip", cliponaxis=False) | look


def question_marks(points: Points, signs: Sequence[str] = ()) -> dict:
    """Question marks, or other signs, over covered places."""
    words = [f"<b>{sign}</b>" for sign in signs or [COVERED] * len(points)]
    return words_at(points, words, textfont={"color": ACCENT, "size": font_size() + 3}, showlegend=False)


def cover_bars(count: int) -> dict:
    """The look of bars over covered places: a faint ground with a question mark."""
    sign = {"text": [f"<b>{COVERED}</b>"] * count, "textposition": "inside", "insidetextanchor": "middle"}
    ink = {"color": INK[mode()], "size": font_size()}
    ground = {"color": ACCENT, "opacity": 0.25, "cornerradius": 6}
    return {"marker": ground, "insidetextfont": ink, "textangle": 0, "hoverinfo": "skip", **sign}


def unseen(points: Points, **look: Any) -> dict:
    """Markers that report clicks and hovers but are never visible, not even when selected. A hover shows `text`."""
    return at(points, "markers") | {
        "hovertemplate": "%{text}<extra></extra>",
        # Clicks work without drawing them, which would take time.
        "marker": {"size": 6, "opacity": 0, "maxdisplayed": 1},
        "selected": {"marker": {"opacity": 0}},
        "unselected": {"marker": {"opacity": 0}},
        "showlegend": False,
        **look,
    }


def grid(n_rows: int, n_columns: int, top: int = 0, left: int = 0, columns: Sequence[int] | None = None) -> np.ndarray:
    """The centres (x, y) of cells, row by row. top, left: of the first cell. columns: from 0; all, if left out."""
    wanted = np.arange(n_columns) if columns is None else np.asarray(columns)
    y, x = np.meshgrid(top + np.arange(n_rows), left + wanted, indexing="ij")
    return np.stack([x.ravel(), y.ravel()], axis=1)


def tile_markers(n_rows: int, n_columns: int, hover: Sequence[str]) -> dict:
    """Invisible markers that report clicks, one a tile, each with its line of `hover` (row by row)."""
    return unseen(grid(n_rows, n_columns), text=[label(line) for line in hover])


def tile_layout(
    rows: Axis,
    columns: Axis,
    shape: Sequence[int],
    chosen: tuple[int, int] | None,
    height: int,
    *,
    square: bool = True,
) -> dict:
    """The layout of tiles, each one unit large. shape: how many down and across. chosen: the tile outlined."""
    n_rows, n_columns = shape
    x = axis_layout(columns, n_columns) | {"range": [-0.52, n_columns - 0.48]}
    y = axis_layout(rows, n_rows) | {"range": [n_rows - 0.48, -0.52]}
    if square:
        x |= {"constrain": "domain", "constraintoward": "left"}
        y |= {"constrain": "domain", "constraintoward": "top", "scaleanchor": "x"}
    shapes = [] if chosen is None else [outline(*chosen)]
    return {"xaxis": x, "yaxis": y, "shapes": shapes} | look(height) | TO_THE_NEAREST
