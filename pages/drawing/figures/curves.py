"""Bars, lines and distributions."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import cycle

import numpy as np

from pages.drawing.figures.base import (
    ACCENT,
    AFTER,
    BARE,
    BEFORE,
    GREY,
    INK,
    LEGEND,
    Axis,
    Figure,
    at,
    axis_layout,
    colours_of,
    cover_bars,
    figure_of,
    guessed,
    ink_on,
    label,
    legible,
    look,
    on_screen,
    scale,
    sign_colours,
    spread,
    stroke,
    text_width,
    words_at,
)
from pages.drawing.figures.theme import big, font_size, letters, mode, scaled
from pages.drawing.text.numbers import fixed, signed, three, whole, written

#: The line at 0, where bars begin.
ZERO = {"zeroline": True, "zerolinecolor": GREY, "zerolinewidth": 1.5}
GAP = 0.25  # share of a group's width
OWN = 0.6  # share of a row for a bar above that of another run
BLUE, ORANGE = "#0072B2", "#E69F00"  # bars, and the bar in question
MOST_TICKS = 32  # below stairs
#: Columns of a table beside bars: each a head, in Plotly's markup, and a text for each row.
Columns = Sequence[tuple[str, Sequence[str]]]
BETWEEN = 0.6  # font sizes between two of them
TALL = 215  # pixels: pictures side by side
WHOLE, LEAST_WRITTEN = 1000, 0.024  # pixels: a picture as wide as the page; share of it that a number takes
STAIRS = 310  # pixels


def bars(
    values: np.ndarray,
    names: Axis,
    value_title: str,
    *,
    colours: Sequence[str] | str = BLUE,
    texts: Sequence[str] | None = None,
    value_range: tuple[float, float] | None = None,
    differs: bool = False,
    there: np.ndarray | None = None,
    height: int | None = None,
) -> Figure:
    """One bar for each name, the first on top.

    texts: at each bar, in place of its value with three decimals. differs: the values are differences, coloured by
    sign. there: the values in another run, as hollow bars.
    """
    if differs:
        colours, value_range = sign_colours(values), None
        texts = [signed(float(value)) if np.isfinite(value) else "" for value in values] if texts is None else texts
    places, values = np.arange(len(values)), np.asarray(values, dtype=np.float32)
    bar = dict(
        type="bar",
        orientation="h",
        x=values,
        y=places,
        marker={"color": colours},
        unselected={"marker": {"opacity": 1}},  # a click must not fade the others
        text=[three(value) for value in values] if texts is None else list(texts),
        textposition="auto",
        insidetextfont={"color": ink_on(colours) if isinstance(colours, str) else [ink_on(one) for one in colours]},
        hovertemplate="%{y}: %{x:.4f}<extra></extra>",
    )
    side = axis_layout(names, len(values)) | {"range": [len(values) - 0.4, -0.6]}
    across = scale(value_title, **ZERO)
    drawn = values if there is None else np.concatenate([values, there])
    low, high = float(np.nanmin(drawn, initial=0)), float(np.nanmax(drawn, initial=0))
    if value_range:
        across["range"] = value_range
    elif ((values < 0) & (values > 0.16 * (low - high))).any():  # room for numbers left of short negative bars
        across["range"] = [low - 0.16 * (high - low), high + 0.05 * (high - low)]
    height = height or min(720, 80 + scaled(len(values) * 24))
    uniform = {"minsize": font_size() - 2, "mode": "hide"}  # smaller texts are hidden
    legible = {"barmode": "overlay", "bargap": 0.15, "showlegend": False, "uniformtext": uniform}
    return figure_of(
        [bar] if there is None else [bar, hollow(bar, "x", there)],
        {"yaxis": side, "xaxis": across} | legible | look(height),
    )


def bars_with_numbers(
    values: np.ndarray,
    names: Sequence[str],
    numbers: Sequence[str],
    *,
    colours: Sequence[str] | str = BLUE,
    room: np.ndarray | None = None,
    there: np.ndarray | None = None,
    most: float = 0.0,
    differs: bool = False,
    guesses: Sequence[tuple[int, float]] = (),
    columns: Columns = (),
    rests: Sequence[str] = (),
    height: int | None = None,
    covered: Sequence[int] = (),
) -> Figure:
    """Bars, each with its number at the end.

    room: how far each row is drawn to the right by other marks. there: the values in another run, as slim hollow bars
    below. differs: as for `bars`. most: the largest
    possible value; the axis holds it, so that bars of different runs can be compared. guesses: (bar, a reader's guess
    of its length), dashed. columns: of a table between names and bars. rests: names of further rows in the table only.
    covered: bars whose lengths the reader guesses: as long as there is room, with a question mark and no number.
    """
    hidden = np.isin(np.arange(len(names)), covered)
    values = np.where(hidden, np.nan, values)
    numbers = ["" if covers else number for covers, number in zip(hidden, numbers, strict=True)]
    ends = np.nan_to_num(np.maximum(values if room is None else room, 0))
    for place, value in guesses:
        near = np.isnan(values[place]) or value - values[place] < 0.3 * np.nanmax([most, *values])
        ends[place] = max(ends[place], value if near else 0.0)  # else the guess would end on the number
    rows = len(names) + len(rests) + bool(columns)
    height = height or (TALL if rows <= 6 else scaled(26 * rows))
    with letters(font_size() + 3):
        shown = {"texts": [""] * len(names), "differs": differs, "there": there, "height": height}
        figure = bars(values, Axis("", names), "", colours=colours, **shown)
    line = np.arange(len(names), dtype=np.float64)
    if there is not None:
        own, other = figure.data
        own |= {"width": OWN, "offset": -0.42}
        other |= {"width": 0.8 - OWN, "offset": OWN - 0.38}
        line += OWN / 2 - 0.42  # the middle of its own bar
    every = [0.0, most, *values, *ends, *(() if there is None else there), *(value for _, value in guesses)]
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    high = max(high, float(np.float32(high)))  # float32 as drawn: Plotly drops numbers beyond the axis
    figure.layout["xaxis"] |= {"range": [1.05 * low, high], "visible": False}
    if hidden.any():
        sides = {"x": np.full(len(covered), high), "y": np.asarray(covered)}
        figure.data.append({"type": "bar", "orientation": "h", **sides, **cover_bars(len(covered))})
    if guesses:
        figure.layout["shapes"] = [guessed(place + 0.08, 0.5, place - 0.08, value - 0.5) for place, value in guesses]
    figure.layout["showlegend"] = False
    # The margin has room for the numbers of the longest bars, however narrow the picture.
    size = figure.layout["font"]["size"]
    figure.layout["margin"] |= {"b": 6, "r": math.ceil(size * max(map(text_width, numbers), default=0) + 0.4 * size)}
    look = {"textposition": "middle right", "textfont": {"color": INK[mode()]}}
    figure.data.append(words_at(np.stack([ends, line], axis=1), [f" {number}" for number in numbers], **look))
    return _with_columns(figure, len(names), columns, rests) if columns else figure


def _with_columns(figure: Figure, bars: int, columns: Columns, rests: Sequence[str]) -> Figure:
    """The figure with columns of texts between names and bars, and further rows below."""
    layout, rows, wide = figure.layout, bars + len(rests), 0.175 * len(columns)
    layout["yaxis"] |= {"range": [rows - 0.4, -1.6], "anchor": "free", "position": 0}
    layout["xaxis"]["domain"] = [wide + 0.03, 1]
    widths = [BETWEEN + max(map(text_width, (head, *texts))) for head, texts in columns]
    edges = np.cumsum(widths, dtype=np.float32).tolist()  # as drawn: Plotly drops texts beyond the axis
    layout["xaxis2"] = {"domain": [0, wide], "range": [0, edges[-1]], "visible": False}
    font = {"color": INK[mode()], "size": font_size() + 1}
    shown = [(edges[-2], bars + row, name) for row, name in enumerate(rests)]
    for edge, (head, texts) in zip(edges, columns, strict=True):
        shown += [(edge, row, text) for row, text in zip((-1, *range(rows)), (head, *texts), strict=True)]
    places, words = [one[:2] for one in shown], [one[2] for one in shown]
    figure.data.append(words_at(places, words, textposition="middle left", textfont=font, xaxis="x2"))
    return figure


def waterfall(
    parts: np.ndarray,
    names: Axis,
    value_title: str,
    *,
    grey: Sequence[int] = (),
    digits: int = 2,
) -> Figure:
    """Numbers added up from top to bottom: each bar begins where the one above ends; the last is the sum, with ≈ where
    it is written otherwise than the written parts have it.

    names: of the parts, and of the sum. Parts have the colours of their signs; grey: parts drawn in grey instead.
    digits: decimals.
    """
    ends = np.cumsum(parts, dtype=np.float64)
    values, begins = np.append(parts, ends[-1]), np.append([0.0, *ends[:-1]], 0.0)
    low, high = float(min(ends.min(), 0)), float(max(ends.max(), 0))
    room = 0.25 * (high - low)  # for a number at the end of a short bar
    across = min(low, float((begins + values)[values < 0].min(initial=low + room)) - room), high + room
    colours = [GREY if place in grey else colour for place, colour in enumerate(sign_colours(np.asarray(parts)))]
    colours.append(AFTER)
    shown = [fixed(value, digits) for value in values]
    texts = list(map(written, shown))
    texts[-1] = "≈ " * (fixed(sum(map(float, shown[:-1])), digits) != shown[-1]) + texts[-1]
    more = [written(f"{value:.{digits + 2}f}") for value in values]
    figure = bars(values, names, value_title, colours=colours, texts=texts, value_range=across)
    hover = {"customdata": more, "hovertemplate": "%{y}: %{customdata}<extra></extra>"}
    figure.data[0] |= {"base": begins.astype(np.float32)} | hover
    return figure


def adding_up(parts: np.ndarray, digits: int = 2) -> np.ndarray:
    """Numbers rounded to `digits` decimals so that they add up to their rounded sum: those with the largest remainders
    take the rounding error.
    """
    return whole(10.0 ** (digits - 2) * float(part) for part in parts) / 10.0**digits


def stairs(pair: Sequence[tuple[str, np.ndarray, str]], component: str, total: str) -> Figure:
    """A dot product: two vectors as strips, and below, their products as stairs to the sum, the largest first.

    pair: each vector's name, numbers and colour of the name. component: the name of a place. total: the text at the
    end of the stairs.
    """
    (_, q, _), (_, k, _) = pair
    products = (q * k).astype(np.float64)
    order, count, size = np.argsort(-products, kind="stable"), len(products), font_size()
    ends = np.cumsum(products[order])
    begins, places = np.append(0.0, ends[:-1]), np.arange(count)
    rows = np.stack([k, q])[:, order].astype(np.float32)
    most = float(np.abs(rows).max()) or 1.0
    look_of = {
        "zmin": -most,
        "zmax": most,
        "colorscale": colours_of("signed"),
        "showscale": False,
        "xgap": 1,
        "ygap": 2,
    }
    named = f"{label(component)} %{{customdata}}<br>%{{z:.4f}}<extra></extra>"
    numbered = np.broadcast_to(order + 1, rows.shape)
    cells = {"type": "heatmap", "z": rows, "yaxis": "y2", "customdata": numbered, "hovertemplate": named} | look_of
    bar = dict(
        type="bar",
        x=places,
        y=products[order].astype(np.float32),
        base=begins.astype(np.float32),
        marker={"color": sign_colours(products[order])},
        unselected={"marker": {"opacity": 1}},
        customdata=[f"{label(component)} {i + 1}: {written(f'{products[i]:.4f}')}" for i in order],
        hovertemplate="%{customdata}<extra></extra>",
    )
    high = ends[-1] > 0.5 * ends.max()
    end: dict[str, object] = {
        "x": count - 1,
        "y": float(ends.max() if high else ends[-1]),  # above all stairs, or below the last
        "text": f"<b>{label(total)}</b>",
        "showarrow": False,
    }
    end |= {"yanchor": "bottom" if high else "top", "xanchor": "right", "yshift": 4}
    side = {"xref": "paper", "x": 0, "xanchor": "right", "xshift": -6, "yref": "y2", "showarrow": False}
    names = [
        side | {"y": 1 - row, "text": label(name), "font": {"color": colour, "size": size, "weight": "bold"}}
        for row, (name, _, colour) in enumerate(pair)
    ]
    apart = -(-count // MOST_TICKS)
    layout: dict = {
        "xaxis": scale(component, **BARE)
        | {"tickvals": places[::apart], "ticktext": [str(i + 1) for i in order[::apart]]},
        "yaxis": scale("", **ZERO) | {"domain": [0, 0.74]},
        "yaxis2": {"visible": False, "domain": [0.8, 1], "range": [-0.5, 1.5]},
        "annotations": [*names, end],
        "bargap": 0.1,
        "showlegend": False,
    }
    layout["xaxis"] |= {"range": [-0.6, count - 0.4], "tickangle": 0}
    return figure_of([cells, bar], layout | look(on_screen(scaled(STAIRS))))


def hollow(bar: dict, letter: str, there: np.ndarray) -> dict:
    """The bars of another run, as outlines over `bar`. letter: the axis of values."""
    if "name" in bar:  # several bars at each place
        bar["offsetgroup"] = bar["name"]
    outline = {"color": "rgba(0,0,0,0)", "line": {"color": GREY, "width": 1.5}}
    return bar | {letter: there, "text": None, "marker": outline, "showlegend": False}


def _named(series: Mapping[str, np.ndarray], names: Axis, value_title: str) -> dict:
    """The layout of a figure with names along x, values along y, and a legend above."""
    places = len(next(iter(series.values())))
    return {
        "xaxis": axis_layout(names, places) | {"range": [-0.6, places - 0.4]},
        "yaxis": scale(value_title, **ZERO),
        **LEGEND,
        **look(min(scaled(330), 390)),
    }


def grouped_bars(
    series: Mapping[str, np.ndarray],
    names: Axis,
    value_title: str,
    colours: Sequence[str],
    *,
    stacked: bool = False,
    value_range: tuple[float, float] | None = None,
    guess: tuple[int, int, float] | None = None,
    number: Callable[[float], str] | None = None,
) -> Figure:
    """For each place one upright bar of every series, side by side or stacked (negative ones below 0).

    guess: a reader's guess of one bar, dashed: series, place, height. number: what stands above a bar, without the 0
    before its point; the browser leaves it out where bars are narrow.
    """
    traces = [
        dict(
            type="bar",
            x=np.arange(len(values)),
            y=values,
            name=label(title),
            marker={"color": colour},
            unselected={"marker": {"opacity": 1}},
            hovertemplate=f"<b>%{{x}}</b><br>{label(title)} %{{y:.4g}}<extra></extra>",
        )
        for (title, values), colour in zip(series.items(), colours, strict=True)
    ]
    if number:
        outside: dict = {"textposition": "outside", "textangle": 0, "cliponaxis": False}
        outside["constraintext"] = "none"  # else as small as fits above a narrow bar
        for trace, values in zip(traces, series.values(), strict=True):
            texts = [number(float(value)).removeprefix("0") for value in values]
            trace |= outside | {"text": texts, "meta": {"short": [""] * len(texts)}}
    layout = _named(series, names, value_title)
    if value_range:
        layout["yaxis"]["range"] = value_range
    if guess is not None:
        one, place, high = guess
        wide = (1 - GAP) / len(series)
        left, top = place - (1 - GAP) / 2 + one * wide, np.nanmax([high, *np.ravel([*series.values()])])
        layout["shapes"] = [guessed(0.5, left + 0.5, high - 0.5, left + wide - 0.5)]
        layout["yaxis"]["range"] = [0, 1.05 * float(top)]
    return figure_of(traces, layout | {"barmode": "relative" if stacked else "group", "bargap": GAP})


def stacks(
    values: np.ndarray,
    rows: Axis,
    columns: Axis,
    series: Mapping[str, str],
    texts: np.ndarray,
    *,
    hover: Sequence[str],
    chosen: tuple[int, int],
    there: np.ndarray | None = None,
) -> Figure:
    """A lying bar of several parts for each row and column; parts below 0 stand left of its 0.

    values: (column, row, part). series: name -> colour of the parts. texts: as values, written in the parts with room.
    hover: a line for each bar. chosen: the bar framed, (column, row). there: values in another run, as hollow bars
    below. A click gives (column, row).
    """
    every, least = [one for one in (values, there) if one is not None], scaled(LEAST_WRITTEN * WHOLE) / WHOLE
    low = min(float(np.minimum(one, 0).sum(-1).min()) for one in every)
    wide = (max(float(np.maximum(one, 0).sum(-1).max()) for one in every) - low) / (1 - GAP / 4)
    n_columns, n_rows = values.shape[:2]
    zero, places = np.arange(n_columns) * wide - low, np.argwhere(np.ones((n_columns, n_rows)))
    traces: list[dict] = []
    for one, high, down in zip(every, (0.72, 0.2) if there is None else (0.5, 0.2), (0, 0.4), strict=False):
        for part, (name, colour) in enumerate(series.items()):
            own = one[..., part]
            before = np.where(own < 0, np.minimum(one, 0)[..., :part].sum(-1), np.maximum(one, 0)[..., :part].sum(-1))
            written_in = np.where(np.abs(own) > least * wide * n_columns, texts[..., part], "").ravel().tolist()
            traces.append(
                dict(
                    type="bar",
                    orientation="h",
                    name=label(name),
                    x=own.ravel(),
                    base=(before + zero[:, None]).ravel(),
                    y=(places[:, 1] + down).astype(float),
                    width=high,
                    marker={"color": colour if not down else "rgba(0,0,0,0)", "line": {"color": colour, "width": 1}},
                    unselected={"marker": {"opacity": 1}},
                    text=[""] * len(places) if down else written_in,
                    meta={"short": [""] * len(places)},
                    textposition="inside",
                    insidetextanchor="middle",
                    textangle=0,
                    constraintext="none",
                    insidetextfont={"color": ink_on(colour), "size": font_size()},
                    customdata=places.astype(np.uint16),
                    hovertext=list(map(label, hover)),
                    hovertemplate="%{hovertext}<extra></extra>",
                    showlegend=not down,
                )
            )
    left = zero[chosen[0]] + low
    ends = {"x0": left, "x1": left + wide, "y0": chosen[1] - 0.5, "y1": chosen[1] + 0.5}
    lines = [
        {"type": "line", "x0": x, "x1": x, "y0": -0.5, "y1": n_rows - 0.5, "line": {"color": GREY, "width": 1}}
        for x in zero
    ]
    across = {"range": [0, wide * n_columns], "visible": False}
    down_side = axis_layout(rows, n_rows) | {"range": [n_rows - 0.4, -0.6]}
    down_side.pop("title", None)
    above = {"yref": "paper", "y": 1, "yanchor": "bottom", "showarrow": False, "font": {"size": font_size()}}
    names = [above | {"x": x + 0.5, "text": label(name)} for x, name in zip(zero.tolist(), columns.labels, strict=True)]
    legend = {"orientation": "h", "x": 0, "xanchor": "left", "y": 0, "yanchor": "top", "traceorder": "normal"}
    frame = {"type": "rect", **ends, "line": {"color": ACCENT, "width": 3}}
    layout: dict = {"xaxis": across, "yaxis": down_side, "shapes": [*lines, frame], "annotations": names}
    layout |= {"barmode": "overlay", "showlegend": True, "legend": legend}
    figure = figure_of(traces, layout | look(on_screen(66 + scaled(46 * n_rows))))
    figure.layout["margin"] |= {"t": round(2.2 * font_size()), "b": round(2.6 * font_size())}
    return figure.tell(roomy=WHOLE)


def activation_curve(
    curve: tuple[np.ndarray, np.ndarray],
    points: tuple[np.ndarray, np.ndarray],
    chosen: int,
    titles: tuple[str, str, str],
    frame: tuple[float, float],
    other: tuple[np.ndarray, np.ndarray] | None = None,
    beside: tuple[np.ndarray, np.ndarray] | None = None,
    named: str = "",
) -> Figure:
    """An activation function with one point for each neuron, the chosen one large, with the name `named`.

    curve, points: (before, after) each. titles: of "before", of "after", and of one neuron. frame: the range of
    "before". other: the points of another run, hollow. beside: another function, (before, after), dotted.
    """
    before, after, neuron = (label(title) for title in titles)
    hover = f"{neuron} %{{customdata}}<br>{before} %{{x:.4f}}<br>{after} %{{y:.4f}}<extra></extra>"
    numbers = np.arange(1, len(points[0]) + 1, dtype=np.uint16)
    every, one = slice(None), slice(chosen, chosen + 1)

    def dots(run: tuple[np.ndarray, np.ndarray], which: slice, **marker: object) -> dict:
        return at(np.transpose(run)[which], "markers", customdata=numbers[which], marker=marker, hovertemplate=hover)

    traces = [stroke(np.transpose(curve), BEFORE, 2)]
    if beside is not None:
        traces += [stroke(np.transpose(beside), BEFORE, 2, line={"color": BEFORE, "width": 1.5, "dash": "dot"})]
    if other is not None:
        ring = {"symbol": "circle-open"}
        traces += [dots(other, every, color=BEFORE, size=6, **ring), dots(other, one, color=ACCENT, size=13, **ring)]
    traces += [
        dots(points, every, color=AFTER, size=5, opacity=0.45),
        dots(points, one, color=ACCENT, size=13, line={"color": "white", "width": 2}),
    ]
    x, y = (float(side[chosen]) for side in points)
    seen = np.linspace(*frame, 200)
    heights = np.stack([np.interp(seen, *line) for line in (curve, beside or curve)])
    room = 0.06 * np.ptp(heights)
    left = x > sum(frame) / 2
    name = {"x": x, "y": y, "text": f"<b>{label(named)}</b>", "showarrow": False, "font": {"color": INK[mode()]}}
    name |= {"xanchor": "right" if left else "left", "xshift": -10 if left else 10, "yshift": 14}
    guide = {"type": "line", "line": {"color": ACCENT, "width": 1, "dash": "dash"}}
    layout = {
        "showlegend": False,
        "xaxis": scale(titles[0], zeroline=True, range=frame),
        "yaxis": scale(titles[1], zeroline=True, range=[heights.min() - room, heights.max() + room]),
        "annotations": [name],
        "shapes": [guide | {"x0": x, "x1": x, "y0": 0, "y1": y}, guide | {"x0": 0, "x1": x, "y0": y, "y1": y}],
    }
    return figure_of(traces, layout | look(scaled(400)))


def lines(
    values: np.ndarray,
    names: Sequence[str],
    steps: Axis,
    value_title: str,
    *,
    there: np.ndarray | None = None,
    ends: Sequence[str] = (),
    height: int = 320,
) -> Figure:
    """One line for each name: values (name, step). Four lines can be told apart by dash and colour.

    there: the values in another run, as thin lines with hollow marks. ends: a text below each name; both then stand at
    the line's end, in place of a legend, and a dotted line leads to those that are moved for want of room.
    """
    styles = ((ACCENT, "solid"), ("#7F7F7F", "dash"), ("#8C6D31", "dot"), ("#4C9BB8", "dashdot"))
    traces = [
        dict(
            type="scatter",
            x=np.arange(values.shape[1]),
            y=row,
            name=label(name),
            mode="lines+markers",
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate="%{y:.3f}<extra>%{fullData.name}</extra>",
        )
        for name, row, (colour, dash) in zip(names, values, cycle(styles), strict=False)
    ]
    thin = {"showlegend": False, "opacity": 0.7}
    for trace, row in zip(list(traces), () if there is None else there, strict=False):
        look_there = {"line": trace["line"] | {"width": 1}, "marker": {"symbol": "circle-open", "size": 8}}
        traces.append(trace | thin | look_there | {"y": row})
    layout: dict = {
        "xaxis": axis_layout(steps, values.shape[1]),
        "yaxis": scale(value_title, rangemode="tozero", **ZERO),
        **LEGEND,
    }
    layout |= look(height)
    if ends:
        size, span = font_size(), float(np.ptp([0.0, *values.ravel()])) or 1.0
        least, last = 2.8 * size * span / (height - 110), values.shape[1] - 1
        places = -spread(-values[:, -1], least)
        places = np.maximum(places, min(0, values.min()) + least * places.argsort().argsort())  # none below the axis
        beside = {"xref": "paper", "x": 1, "xanchor": "left", "xshift": 4, "align": "left", "showarrow": False}
        layout["annotations"], layout["shapes"] = [], []
        for y, name, end, trace in zip(places.tolist(), names, ends, traces, strict=False):
            colour, said = trace["line"]["color"], f"<b>{label(name)}</b><br>{label(end)}"
            layout["annotations"].append(
                beside | {"y": y, "text": said, "font": {"size": size, "color": legible(colour)}}
            )
            ends_of = {"x0": last, "x1": last + 0.4, "y0": float(trace["y"][-1]), "y1": y}
            layout["shapes"].append({"type": "line", "line": {"color": colour, "width": 1, "dash": "dot"}} | ends_of)
        layout["xaxis"]["range"] = [-0.2, last + 0.4]
        layout["margin"]["r"] += math.ceil(size * max(map(text_width, (*names, *ends))))
        layout["showlegend"] = False
    return figure_of(traces, layout)


def undivided(
    shares: np.ndarray,
    curves: np.ndarray,
    widths: Sequence[int],
    chosen: int,
    names: Sequence[str],
    titles: Sequence[str],
    sides: tuple[str, str],
    own: tuple[int, np.ndarray, str] | None = None,
) -> Figure:
    """The effect of dividing scores by √d_k: weights at one width as bars, and three measures as lines over all widths.

    shares: (way, key); curves: (measure, way, width). The ways, called `names`: undivided, divided by √d_k, divided by
    d_k. chosen: the width of `shares`. titles: of the four pictures, row by row. sides: the names of the x axes: keys
    and widths. own: a width, the measures of a head (measure, way), and its name.
    """
    colours, dashes = (GREY, AFTER, "#E69F00"), ("dash", "solid", "dot")
    ticks = np.log2(widths)
    traces: list[dict] = [
        dict(
            type="bar",
            x=np.arange(1, len(row) + 1),
            y=row,
            name=label(name),
            legendgroup=str(way),
            marker={"color": colours[way]},
            hovertemplate=f"%{{x}}: %{{y:.3f}}<extra>{label(name)}</extra>",
        )
        for way, (name, row) in enumerate(zip(names, shares, strict=True))
    ]
    for place, measure in enumerate(curves, 2):
        on = {"xaxis": f"x{place}", "yaxis": f"y{place}"}
        for way, row in enumerate(measure):
            line = {"color": colours[way], "dash": dashes[way], "width": 2.5}
            hover = f"dₖ = %{{customdata}}: %{{y:.3f}}<extra>{label(names[way])}</extra>"
            points = np.column_stack([ticks, row])
            look_of = {"customdata": list(widths), "hovertemplate": hover, "showlegend": False}
            traces.append(at(points, "lines+markers", line=line, **look_of, **on))
            if own is not None:
                width, measured, name = own
                mark = {"symbol": "diamond", "size": 12, "color": colours[way], "line": {"width": 1.5, "color": ACCENT}}
                of_head: dict = {"customdata": [width], "hovertemplate": hover, "name": label(name)}
                of_head["showlegend"] = place == 2 and way == 1
                traces.append(at([(np.log2(width), measured[place - 2, way])], "markers", marker=mark, **of_head, **on))
    ends = [min(ticks[0], np.log2(own[0]) if own else ticks[0]), max(ticks[-1], np.log2(own[0]) if own else ticks[-1])]
    layout: dict = {"barmode": "group", "bargap": 0.2, **LEGEND, "annotations": [], "shapes": []}
    for place, title in enumerate(titles, 1):
        number, (row, column) = str(place) if place > 1 else "", divmod(place - 1, 2)
        across = ([0, 0.46], [0.56, 1])[column]
        upwards = (([0.58, 0.88], [0, 0.3]) if big() else ([0.6, 0.96], [0, 0.36]))[row]
        side = "" if big() and row == 0 else sides[place > 1]  # a projector has no room between the rows
        x = scale(side, domain=across, anchor=f"y{number}", showgrid=False)
        if place > 1:
            x |= {"tickmode": "array", "tickvals": list(ticks), "ticktext": [str(width) for width in widths]}
            x |= {"range": [ends[0] - 0.3, ends[1] + 0.3]}
            line = {"type": "line", "xref": f"x{number}", "yref": f"y{number} domain", "y0": 0, "y1": 1}
            layout["shapes"].append(
                line | {"x0": np.log2(chosen), "x1": np.log2(chosen), "line": {"color": ACCENT, "width": 1.5}}
            )
        layout[f"xaxis{number}"] = x
        layout[f"yaxis{number}"] = scale("", domain=upwards, anchor=f"x{number}", rangemode="tozero", **ZERO)
        head = {"text": f"<b>{label(title)}</b>", "xref": "paper", "yref": "paper", "showarrow": False}
        layout["annotations"].append(head | {"x": across[0], "y": upwards[1], "xanchor": "left", "yanchor": "bottom"})
    return figure_of(traces, layout | look(on_screen(scaled(430))))


def waves(
    table: np.ndarray,
    dimensions: Mapping[str, int],
    places: Axis,
    value_title: str,
    *,
    used: int | None = None,
    chosen: tuple[int, int] | None = None,
) -> Figure:
    """Up to six columns of a table (place, dimension) as lines over the places, counted from 0.

    dimensions: name -> column. used: how many places the input takes, marked by a band. chosen: (place, dimension),
    ringed.
    """
    steps = np.arange(len(table))
    colours = ("#0072B2", "#E69F00", "#8C6D31", "#009E73", "#7F7F7F", ACCENT)
    dashes = ("solid", "dash", "dot", "dashdot", "solid", "solid")
    traces = [
        dict(
            type="scatter",
            x=steps,
            y=table[:, dimension],
            name=label(name),
            mode="lines" if len(table) > 1 else "markers",
            line={"color": colour, "dash": dash, "width": 2.5},
            hovertemplate=f"{label(places.title)} <b>%{{x}}</b>, {label(name)}: %{{y:.4f}}<extra></extra>",
        )
        for (name, dimension), colour, dash in zip(dimensions.items(), colours, dashes, strict=False)
    ]
    if chosen is not None:
        ring = {"size": 15, "color": "rgba(0,0,0,0)", "line": {"color": ACCENT, "width": 3}}
        place = [(steps[chosen[0]], table[chosen])]
        traces.append(at(place, "markers", marker=ring, showlegend=False, hoverinfo="skip"))
    band = {"type": "rect", "x0": -0.5, "x1": (used or 0) - 0.5, "yref": "paper", "y0": 0, "y1": 1}
    band |= {"fillcolor": "#7F7F7F", "opacity": 0.12, "line": {"width": 0}, "layer": "below"}
    layout = {
        "xaxis": scale(places.title, zeroline=False),
        "yaxis": scale(value_title),
        "shapes": [band] if used and used < len(table) else [],
        **LEGEND,
    }
    return figure_of(traces, layout | look(340))
