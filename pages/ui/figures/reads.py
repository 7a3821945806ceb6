"""One token and the tokens that it reads, as lines: small enough to stand beside another picture."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.base import ACCENT, LESS, MORE, figure_of, label, look
from pages.ui.numbers import signed

INK = {"light": "#172033", "dark": "#e8edf6"}  # of words that are read at a distance, in the two themes
FEWEST, MOST = 5, 10  # lines
LEAST = 0.02  # the weight below which there is no line, where there are enough


def reads(
    weights: np.ndarray,
    token: int,
    tokens: Sequence[str],
    mode: str,
    *,
    faded: bool = False,
    differs: bool = False,
    font_size: int = 12,
    height: int = 270,
) -> go.Figure:
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
        return "#8a8f98" if faded else ACCENT

    traces = [
        dict(
            type="scatter",
            x=np.array([0, 1], np.float32),
            y=np.array([source, row], np.float32),
            mode="lines",
            line={"width": 1 + 9 * float(size[place]), "color": colour(weights[place])}
            | ({"dash": "dot"} if faded else {}),
            opacity=min(1.0, 0.35 + 0.65 * float(size[place]) + 0.4 * differs),
            hoverinfo="skip",
        )
        for row, place in enumerate(shown)
    ]
    ends = (
        (0, [source], "middle left", [f"<b>{label(tokens[token])}</b>&nbsp;"]),
        (
            1,
            list(range(len(shown))),
            "middle right",
            [
                f"&nbsp;<b>{label(tokens[place])}</b> {signed(weights[place]) if differs else f'{weights[place]:.2f}'}"
                for place in shown
            ],
        ),
    )
    for x, y, side, words in ends:
        traces.append(
            dict(
                type="scatter",
                x=np.full(len(y), x, np.float32),
                y=np.array(y, np.float32),
                mode="text",
                text=words,
                textposition=side,
                textfont={"size": font_size + 3, "color": INK[mode]},
                hoverinfo="skip",
                cliponaxis=False,
            )
        )
    layout = {
        "xaxis": {"range": [-0.55, 1.75], "visible": False, "fixedrange": True},
        "yaxis": {"range": [len(shown) - 0.4, -0.6], "visible": False, "fixedrange": True},
        "showlegend": False,
    }
    return figure_of(traces, layout | look(int(height * font_size / 12), font_size))
