"""Points and lines: tokens in a plane, their paths through the layers, attention as lines."""

from collections.abc import Sequence

import numpy as np

from pages.drawing.figures.base import (
    ACCENT,
    BREAK,
    GREY,
    LEGEND,
    LESS,
    MORE,
    SHARES,
    Axis,
    Figure,
    at,
    figure_of,
    grid,
    label,
    look,
    on_screen,
    role_colours,
    scale,
    stroke,
    text_width,
    unseen,
    words_at,
)
from pages.drawing.figures.theme import big, font_size, scaled
from pages.drawing.text.numbers import written

USUAL_SIZE = 600, 320  # pixels between the outermost points on a desk
#: Where a name may stand beside its point -> how far it moves, in half its own width and height.
SIDES = {"top center": (0, 1), "bottom center": (0, -1), "middle right": (1, 0), "middle left": (-1, 0)}
WAY = (0.3, 0.52, 0.74)  # where along a line clicks are answered
MARGIN = 0.08  # of a plane, beside its outermost points
RADIUS = 4  # pixels of a dot
DOT = 60  # square pixels: covering as much of other names is as bad as covering a dot


def attention_lines(
    weights: np.ndarray,
    rows: Axis,
    columns: Axis,
    chosen: int | None,
    *,
    least: float = 0.02,
    differs: bool = False,
) -> Figure:
    """Attention weights as lines from each query (left) to each key (right), thicker for larger weights.

    Lines are drawn in ten bundles of similar weight, to keep the figure small. Lines of the `chosen` row stand out.
    Weights below `least` have no line. A click gives (query, key) on a line, (query, -1) or (-1, key) on a token.
    differs: the weights are differences; lines then have the colour of their sign.
    """
    n_rows, n_columns = weights.shape
    traces: list = []
    size = np.abs(weights)
    pairs = np.argwhere(size >= max(least, 1e-3)).tolist()
    bundles: dict[tuple[int, bool, bool], list[tuple[float | None, float | None]]] = {}
    for i, j in pairs:
        bundle = min(int(size[i, j] * 10), 9), i == chosen, bool(weights[i, j] < 0)
        bundles.setdefault(bundle, []).extend(((0, i), (1, j), BREAK))
    for (tenth, lit, less), ends in sorted(bundles.items()):
        share = (tenth + 0.5) / 10
        colour = (LESS if less else MORE) if differs else line_colours()[lit]
        opacity = min(1.0, (0.35 if lit else 0.1) + share + 0.4 * differs)
        traces.append(stroke(ends, colour, 1 + 8 * share, opacity=opacity, showlegend=False))
    traces.append(_line_marks(weights, pairs, rows, columns))
    most = max(n_rows, n_columns)
    height = 70 + scaled(most * 28)
    height = on_screen(height) if most <= 24 else int(min(900, height))
    for x, axis, n, side in ((0, rows, n_rows, "middle left"), (1, columns, n_columns, "middle right")):
        names = [f"{label(text)}&nbsp;" if x == 0 else f"&nbsp;{label(text)}" for text in axis.labels]
        legible = min(7 / 6 * font_size(), 0.8 * (height - 40) / most)  # as its row allows
        font = {"size": legible if n <= 24 else max(7, font_size() - 4)}
        traces.append(words_at(grid(n, 1, left=x), names, textposition=side, textfont=font, showlegend=False))
    layout = {
        "xaxis": {
            "range": [-0.6, 1.6],
            "tickvals": [0, 1],
            "ticktext": [label(rows.title), label(columns.title)],
            "side": "top",
            "showgrid": False,
            "zeroline": False,
            "automargin": True,
        },
        "yaxis": {"range": [most - 0.5, -0.5], "visible": False},
    }
    return figure_of(traces, layout | look(height))


def line_colours() -> tuple[str, str]:
    """The colours of lines: of any row, and of the chosen row."""
    return role_colours()["Q"], ACCENT


def _line_marks(weights: np.ndarray, pairs: list[list[int]], rows: Axis, columns: Axis) -> dict:
    """Invisible marks along the lines of these pairs (see WAY) and on the tokens."""
    n_rows, n_columns = weights.shape
    places = [(share, i + share * (j - i)) for i, j in pairs for share in WAY]
    places += [(-0.12, i) for i in range(n_rows)] + [(1.12, j) for j in range(n_columns)]
    numbers = [(i, j) for i, j in pairs for _ in WAY]
    numbers += [(i, -1) for i in range(n_rows)] + [(-1, j) for j in range(n_columns)]
    shares = [written(f"{weights[i, j]:.4f}") for i, j in pairs]
    ends = [f"{label(rows.labels[i])} → {label(columns.labels[j])}" for i, j in pairs]
    said = [f"{end}<br>{share}" for end, share in zip(ends, shares, strict=True) for _ in WAY]
    said += [label(name) for name in (*rows.labels, *columns.labels)]
    return unseen(places, customdata=numbers, text=said)


def paths(
    points: np.ndarray,
    names: Sequence[str],
    steps: Axis,
    titles: tuple[str, str],
    *,
    chosen: int,
    before: np.ndarray | None = None,
) -> Figure:
    """The path of each token through the layers: points (step, token, 2). A thin line with dots at both ends, named
    at those further apart; for the chosen token bold, with a dot at each step. Hovers name token and step.

    steps: names of the steps, which the colours count. before: the points in another run: a dotted path of the chosen
    token, and a hollow mark at each token's end.
    """
    n_steps, n = points.shape[:2]
    broken = np.concatenate([points, np.full((1, n, 2), np.nan)]).transpose(1, 0, 2).reshape(-1, 2)
    every = points.reshape(-1, 2)
    shown = list(range(n)) if n <= 20 else [chosen]
    named = max(points[0], points[-1], key=lambda ends: float(ends.std(axis=0).prod()))[shown]
    traces = [
        stroke(broken, "rgba(128,128,128,0.35)", 1),
        stroke(points[:, chosen], ACCENT, 3),
        at(
            [*points[0], *points[-1], *points[:, chosen]],
            "markers",
            marker={
                "color": np.array([0] * n + [n_steps - 1] * n + list(range(n_steps)), np.uint8),
                "colorscale": SHARES,
                "size": [6] * 2 * n + [9] * n_steps,
                "opacity": 1,
                "line": {"width": 0.5, "color": "rgba(128,128,128,0.8)"},
                "colorbar": _legend_bar(steps),
            },
            hoverinfo="skip",
        ),
        unseen(every, text=[f"<b>{label(name)}</b> · {label(step)}" for step in steps.labels for name in names]),
        words_at(
            named,
            [f"<b>{label(names[i])}</b>" if i == chosen else label(names[i]) for i in shown],
            mode="markers+text",  # a dot that is not seen holds the name off the one that is
            marker={"size": 10, "opacity": 0},
            textposition=sides(named, [names[i] for i in shown], every),
            cliponaxis=True,
        ),
    ]
    if before is not None:
        hollow = {"symbol": "circle-open", "size": 8}
        way = stroke(before[:, chosen], ACCENT, 1.5, mode="lines+markers", marker=hollow)
        way["line"]["dash"] = "dot"
        traces += [way, *moved(before[-1], points[-1])]
    layout, seen = _plain_axes(titles), every if before is None else np.vstack([every, before.reshape(-1, 2)])
    for axis, low, high in zip(("xaxis", "yaxis"), np.nanmin(seen, axis=0), np.nanmax(seen, axis=0), strict=True):
        room = MARGIN * (float(high - low) or 1.0)
        layout[axis]["range"] = [float(low) - room, float(high) + room]
    return figure_of(traces, layout | look(460))


def moved(before: np.ndarray, after: np.ndarray, symbol: str = "circle", colour: str = GREY) -> list[dict]:
    """Hollow marks for points in another run, each joined to its point now. before, after: (point, 2)."""
    pairs = np.stack([before, after, np.full_like(after, np.nan)], axis=1).reshape(-1, 2)
    hollow, still = {"symbol": f"{symbol}-open", "color": colour, "size": 8}, {"hoverinfo": "skip", "showlegend": False}
    return [
        stroke(pairs, GREY, 1, **still),
        at(before, "markers", marker=hollow, **still),
    ]


def sides(
    points: np.ndarray, names: Sequence[str], dots: np.ndarray, equal: bool = False, sparse: bool = False
) -> list[str]:
    """For each name the side of its point where it covers least of earlier names and of `dots`.

    points, dots: (place, 2). equal: whether both axes have the same units. sparse: "" for a name that would cover an
    earlier one.
    """
    low, high = dots.min(axis=0), dots.max(axis=0)
    scale = np.array(USUAL_SIZE) / np.where(high > low, high - low, 1)
    scale = np.full(2, scale.min()) if equal else scale
    points, dots = (points - low) * scale, (dots - low) * scale
    ways, taken, chosen = np.array(list(SIDES.values())), np.empty((0, 2, 2)), []  # taken: (name, corner, 2)
    for point, name in zip(points, names, strict=True):
        half = np.array([text_width(name), 1.2]) * font_size() / 2
        centres = point + ways * (half + 7)
        boxes = np.stack([centres - half, centres + half], axis=1)  # (side, corner, 2)
        covered = _covered(boxes, taken, dots)
        if sparse:
            covered[_covered(boxes, taken, dots[:0]) > 0] = np.inf
        best = int(covered.argmin())
        if np.isinf(covered[best]):
            chosen.append("")
            continue
        chosen.append(list(SIDES)[best])
        taken = np.concatenate([taken, boxes[[best]]])
    return chosen


def _covered(boxes: np.ndarray, taken: np.ndarray, dots: np.ndarray) -> np.ndarray:
    """How much each box covers: the area of taken boxes, plus DOT for each dot."""
    low, high = boxes[:, None, 0], boxes[:, None, 1]
    shared = np.minimum(high, taken[:, 1]) - np.maximum(low, taken[:, 0])  # (box, taken, 2)
    hit = ((dots > low - RADIUS) & (dots < high + RADIUS)).all(axis=2).sum(axis=1)
    return np.maximum(shared, 0).prod(axis=2).sum(axis=1) + DOT * hit


def _plain_axes(titles: tuple[str, str]) -> dict:
    x, y = (scale(title, zeroline=False) for title in titles)
    return {"xaxis": x, "yaxis": y, "showlegend": False}


def _legend_bar(steps: Axis) -> dict:
    """A colour bar with the names of steps 0, 1, …"""
    return {
        "title": {"text": label(steps.title), "side": "right"},
        "thickness": 8,
        "outlinewidth": 0,
        "tickvals": list(range(len(steps.labels))),
        "ticktext": [label(text) for text in steps.labels],
    }


def queries_and_keys(
    queries: np.ndarray,
    keys: np.ndarray,
    names: Sequence[str],
    legend: tuple[str, str],
    titles: tuple[str, str],
    *,
    link: tuple[int, int],
    before: tuple[np.ndarray, np.ndarray] | None = None,
    height: int = 520,
) -> Figure:
    """Queries (blue circles) and keys (orange diamonds) as points of one plane, (token, 2) each, with equal units.

    link: a query and a key to join with a line. before: the points in another run. Of many tokens, only those two have
    names, and in a presentation those with room for one; hovers name the others.
    """
    few = len(names) <= 24
    traces = [stroke(np.stack([queries[link[0]], keys[link[1]]]), ACCENT, 3, showlegend=False)]
    every, every_name = np.concatenate([queries, keys]), [*names, *names] if few else [""] * 2 * len(names)
    line = np.linspace(queries[link[0]], keys[link[1]], 6)[1:-1]
    joined = np.isin(np.arange(len(every)), (link[0], len(names) + link[1]))
    order = np.argsort(~joined, kind="stable")
    found = sides(every[order], [every_name[i] for i in order], np.concatenate([every, line]), equal=True, sparse=big())
    where = np.array(found)[order.argsort()].reshape(2, -1).tolist()
    for side, (role, points, symbol) in enumerate((("Q", queries, "circle"), ("K", keys, "diamond"))):
        colour, named = role_colours()[role], [(few and way) or i == link[side] for i, way in enumerate(where[side])]
        if before is not None:
            traces += moved(before[side], points, symbol, colour)
        traces.append(
            at(
                points,
                "markers+text",
                name=label(legend[side]),
                text=[label(name) if shown else "" for name, shown in zip(names, named, strict=True)],
                textposition=[way or "top center" for way in where[side]],
                textfont={"color": colour, "size": font_size()},
                marker={"color": colour, "symbol": symbol, "size": 10},
                customdata=[label(name) for name in names],
                hovertemplate=f"{label(legend[side])}: <b>%{{customdata}}</b><extra></extra>",
                cliponaxis=False,
            )
        )
    layout = _plain_axes(titles)
    layout["xaxis"]["constrain"] = layout["yaxis"]["constrain"] = "domain"
    layout["yaxis"]["scaleanchor"] = "x"
    return figure_of(traces, layout | LEGEND | look(height))
