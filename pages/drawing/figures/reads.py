"""One token and the tokens that it reads, as lines: small enough to stand beside another picture."""

from collections.abc import Sequence

import numpy as np

from pages.drawing.figures.base import (
    ACCENT,
    GREY,
    INK,
    LESS,
    MORE,
    Figure,
    figure_of,
    grid,
    label,
    look,
    stroke,
    text_width,
    words_at,
)
from pages.drawing.figures.theme import font_size, mode, scaled
from pages.drawing.text.numbers import signed

FEWEST, MOST = 5, 10  # lines
WIDEST = 11  # font sizes, so wide a word with its number may be: in a slim picture there must be room for lines
LEAST = 0.02  # the weight below which there is no line, where there are enough


def reads(
    weights: np.ndarray,
    token: int,
    tokens: Sequence[str],
    *,
    faded: bool = False,
    differs: bool = False,
    height: int = 270,
) -> Figure:
    """One row of attention weights as lines from the token that looks (left) to those that it looks at (right).

    weights: (token,). The strongest lines only, in the order of the sentence, thicker where more is taken, with their
    weights. mode: "light" or "dark". faded: what is read leads nowhere, since the head is switched off.
    differs: the weights are differences; a line is then as thick as its size, in the colour of its sign.
    """
    size = np.abs(weights)
    count = max(FEWEST, min(MOST, int((size >= LEAST).sum())))
    shown = sorted(np.argsort(-size, kind="stable")[:count].tolist())
    source = (len(shown) - 1) / 2

    def colour(weight: float) -> str:
        if differs:
            return LESS if weight < 0 else MORE
        return GREY if faded else ACCENT

    traces = []
    for row, place in enumerate(shown):
        share = float(size[place])
        line = stroke([(0, source), (1, row)], colour(weights[place]), 1 + 9 * share)
        line["opacity"] = min(1.0, 0.35 + 0.65 * share + 0.4 * differs)
        if faded:
            line["line"]["dash"] = "dot"
        traces.append(line)
    written = [signed(weights[place]) if differs else f"{weights[place]:.2f}" for place in shown]
    read = [f"&nbsp;<b>{label(tokens[place])}</b> {weight}" for place, weight in zip(shown, written, strict=True)]
    font = {"size": font_size() + 3, "color": INK[mode()]}
    asks = [f"<b>{label(tokens[token])}</b>&nbsp;"]
    traces += [
        words_at([(0, source)], asks, textposition="middle left", textfont=font),
        words_at(grid(len(shown), 1, left=1), read, textposition="middle right", textfont=font),
    ]
    words = [f"{tokens[place]} {weight}" for place, weight in zip(shown, written, strict=True)]
    layout = {
        "xaxis": {"range": [0, 1], "visible": False, "fixedrange": True},
        "yaxis": {"range": [len(shown) - 0.4, -0.6], "visible": False, "fixedrange": True},
        "showlegend": False,
    }
    shared = look(scaled(height))
    for side, names in (("l", [tokens[token]]), ("r", words)):
        shared["margin"][side] += int(font_size() * min(WIDEST, 1 + max(map(text_width, names))))
    return figure_of(traces, layout | shared)
