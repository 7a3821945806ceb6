"""A decoder at work: the attention of one step in two sentences, and the candidates of a beam search."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pages.drawing.figures.base import (
    ACCENT,
    BEFORE,
    BREAK,
    LESS,
    MORE,
    Axis,
    Figure,
    figure_of,
    label,
    legible,
    look,
    role_colours,
    stroke,
    text_width,
    unseen,
    words_at,
)
from pages.drawing.figures.theme import SMALL, font_size, scaled
from pages.drawing.text.numbers import in_percent, percent, written

GAP = 0.7  # font sizes between a word and its arcs
ALONG = (0.03, 0.1, 0.17)  # where along a word hovers and clicks are answered
BEGIN = 0.02  # where lines begin, right of a word; its share stands left of it
REACH, FURTHEST = (12, 4), 8  # pixels that arcs reach out, and more for each row spanned, up to FURTHEST rows
DOUBTFUL = 0.295  # words with less, written as less than 30 %, have it in a colour


def writing(
    source: Axis,
    target: Axis,
    step: int,
    across: np.ndarray,
    back: np.ndarray,
    sure: np.ndarray,
    *,
    least: float,
    lit: int | None = None,
    differs: bool = False,
) -> Figure:
    """Source on the left, target on the right, pale where not yet written; lines from the word being written to the
    words attended to, each with its weight.

    target: all words to be written, after the token that the decoder reads first. step: the row that writes; it writes
    the next word. across: (source,), its weights on the source. back: (target,), its weights on the target so far,
    drawn as arcs on the right. sure: the probability of each written word, which stands behind it. least: smaller
    weights have no line. lit: a source word to mark. differs: the weights are differences; lines have the colour of
    their sign. A click gives (source, -1) or (-1, target).
    """
    n_source, n_target = len(source.labels), len(target.labels)
    most = max(n_source, n_target)
    down = [(most - 1) / max(n - 1, 1) if n > most / 2 else 1 for n in (n_source, n_target)]
    y_source, y_target = (np.arange(n) * by for n, by in zip((n_source, n_target), down, strict=True))
    here = float(y_target[step + 1])

    def colour(share: float, usual: str) -> str:
        return (LESS if share < 0 else MORE) if differs else usual

    taken = {j: float(share) for j, share in enumerate(across) if abs(share) >= least}
    lines = [
        _line((BEGIN, float(y_source[j])), (0.98, here), abs(share), colour(share, ACCENT))
        for j, share in taken.items()
    ]
    room = 520 if font_size() <= SMALL else 372  # a presentation has two rows of controls above
    height = min(60 + scaled(most * 34), max(room, min(900, 60 + 19 * most)))
    longest = max(map(text_width, (*source.labels, *target.labels)))  # on a phone a word has 100 pixels
    size = min(max(font_size() + 1, min(font_size() + 10, int(110 / longest))), int((height - 50) / most))
    behind = ["", *(f" {percent(float(share))}" for share in sure)]
    ends = [
        size * (text_width(word) + GAP) + (size - 4) * text_width(share)
        for word, share in zip(target.labels, behind, strict=True)
    ]
    arcs = [
        _arc((ends[step + 1], here), (ends[j], float(y_target[j])), abs(share), colour(share, role_colours()["Q"]))
        for j, share in enumerate(back[: step + 1])
        if abs(share) >= least
    ]
    read = {int(np.abs(across).argmax()): ACCENT} | ({} if lit is None else {lit: role_colours()["K"]})
    in_words = (lambda share: written("+" * bool(share > 0) + in_percent(100 * share))) if differs else percent
    shares = {j: in_words(share) for j, share in taken.items()}
    small = '<span style="font-size:{}px{}">{}</span>'.format
    shown = [
        (f"{small(size - 4, '', shares[j])} " if j in shares else "") + label(name)
        for j, name in enumerate(source.labels)
    ]
    names = _names(shown, 0, y_source, size, read)
    later = dict.fromkeys(range(step + 2, n_target), BEFORE)
    doubtful = [f";color:{legible(MORE)}" * bool(share < DOUBTFUL) for share in (1, *sure)]
    shown = [
        label(name) + small(size - 4, look, share)
        for name, look, share in zip(target.labels, doubtful, behind, strict=True)
    ]
    names += _names(shown, 1, y_target, size, {step + 1: ACCENT, **later})
    told = [*zip(source.labels, across, strict=True), *zip(target.labels, back[: step + 1], strict=False)]
    said = [f"{label(name)}<br>{written(f'{share:.4f}')}" for name, share in told]
    said += map(label, target.labels[step + 1 :])
    places = [(-x, y) for y in y_source for x in ALONG] + [(1 + x, y) for y in y_target for x in ALONG]
    numbers_of = [(j, -1) for j in range(n_source)] + [(-1, i) for i in range(n_target)]
    marks = unseen(
        places,
        customdata=[number for number in numbers_of for _ in ALONG],
        text=[name for name in said for _ in ALONG],
    )
    layout = {
        "xaxis": {
            "range": [-0.66, 2],
            "tickvals": [0, 1],
            "ticktext": [label(source.title), label(target.title)],
            "side": "top",
            "showgrid": False,
            "zeroline": False,
        },
        "yaxis": {"range": [most - 0.4, -0.6], "visible": False},
        "showlegend": False,
        "shapes": arcs,
    }
    return figure_of([*lines, *names, marks], layout | look(int(height)))


def _line(start: tuple[float, float], end: tuple[float, float], share: float, colour: str) -> dict:
    """A curve between two words, level at both ends."""
    way = np.linspace(0, 1, 25)
    shares = np.stack([way, way**2 * (3 - 2 * way)], axis=1)
    points = np.array(start) + shares * (np.array(end) - start)
    line = {"color": colour, "width": _width(share), "simplify": False}  # in wide lines, simplifying shows
    return stroke(points, colour, _width(share), line=line, opacity=_opacity(share))


def _width(share: float) -> float:
    return 1 + 8 * float(share)


def _opacity(share: float) -> float:
    return min(1.0, 0.35 + float(share))


def _arc(start: tuple[float, float], end: tuple[float, float], share: float, colour: str) -> dict:
    """A curve right of two words, each (x, y), x in pixels from where words begin; a small loop for words at the same
    height.
    """
    (x0, y0), (x1, y1) = start, end
    middle, half = (y0 + y1) / 2, max(abs(y1 - y0) / 2, 0.3)
    top, bottom, out = middle - half, middle + half, max(x0, x1) + REACH[0] + REACH[1] * min(half, FURTHEST)
    above, below = (x0, x1) if y0 < y1 else (x1, x0)
    return {
        "type": "path",
        "xsizemode": "pixel",
        "xanchor": 1,
        "path": f"M{above:.0f},{top:.2f}C{out:.0f},{top:.2f} {out:.0f},{bottom:.2f} {below:.0f},{bottom:.2f}",
        "line": {"color": colour, "width": _width(share)},
        "opacity": _opacity(share),
    }


def _names(words: Sequence[str], x: int, y: np.ndarray, size: int, marked: Mapping[int, str]) -> list[dict]:
    """Words, as markup, in a column, the marked ones in their colours, and bold unless pale."""
    names = []
    for colour in ("", *dict.fromkeys(marked.values())):
        places = [i for i in range(len(words)) if marked.get(i, "") == colour]
        bold = colour not in ("", BEFORE)
        shown = [f"<b>{words[i]}</b>" if bold else words[i] for i in places]
        spaced = [f"&nbsp;{word}" if x else f"{word}&nbsp;" for word in shown]
        font = {"size": size} | ({"color": legible(colour)} if colour else {})
        side = "middle right" if x else "middle left"
        names.append(words_at([(x, y[i]) for i in places], spaced, textposition=side, textfont=font))
    return names


@dataclass(frozen=True)
class Branch:
    """One candidate in the picture of a beam search."""

    column: int  # its step, from 0
    row: int  # its rank, from 0
    parent: int | None  # the row of the candidate that it continues, one column before
    text: str
    hover: str
    goes_on: bool  # or is a whole sentence
    on_path: bool = False  # of the translation on screen


def branches(nodes: Sequence[Branch], title: str, rank: str) -> Figure:
    """The candidates of a beam search: a column for each step, the likeliest on top, lines to those that they continue.

    Candidates of the translation on the screen are marked; those that do not go on are grey. A click gives (index in
    `nodes`, 0).
    """
    columns = [node.column for node in nodes]
    first, last = min(columns), max(columns)
    depth = max(node.row for node in nodes)
    lines, words = [], []
    for on_path, width, ink in ((False, 1.2, BEFORE), (True, 3.5, ACCENT)):
        pairs = [n for n in nodes if n.parent is not None and n.on_path == on_path and n.column > first]
        ends = [end for n in pairs for end in ((n.column - 0.7, n.parent), (n.column - 0.3, n.row), BREAK)]
        lines.append(stroke(ends, ink, width, opacity=0.7))
    for some, style, colour in (
        ([n for n in nodes if n.on_path], "b", {"color": legible(ACCENT)}),
        ([n for n in nodes if not n.on_path and n.goes_on], "span", {}),
        ([n for n in nodes if not n.on_path and not n.goes_on], "span", {"color": legible(BEFORE)}),
    ):
        styled = [f"<{style}>{label(node.text)}</{style}>" for node in some]
        font = {"size": font_size() + 1, **colour}
        words.append(words_at([(node.column, node.row) for node in some], styled, textfont=font))
    marks = unseen(
        [(node.column, node.row) for node in nodes],
        customdata=[[place, 0] for place in range(len(nodes))],
        text=[node.hover for node in nodes],
        marker={"size": 22, "opacity": 0},
    )
    counted = {"showgrid": False, "zeroline": False}
    steps, ranks = range(first, last + 1), range(depth + 1)
    across = {"tickvals": list(steps), "ticktext": [str(column + 1) for column in steps], "side": "top"}
    down = {"tickvals": list(ranks), "ticktext": [str(row + 1) for row in ranks]}
    layout = {
        "xaxis": counted | across | {"title": {"text": label(title)}, "range": [first - 0.5, last + 0.5]},
        "yaxis": counted | down | {"title": {"text": label(rank)}, "range": [depth + 0.6, -0.6]},
        "showlegend": False,
    }
    height = scaled(90 + 40 * (depth + 1))
    return figure_of([*lines, *words, marks], layout | look(height))
