"""Similarity: the cosines of all pairs of token vectors after the chosen layer."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from model.analysis import cosine_similarity, placed
from pages.layers.token_map import strongest_other, token_map
from pages.ui.figures.equations import COSINE
from pages.ui.figures.latex import formula
from pages.ui.text import texts_of
from pages.ui.view import View

text, _ = texts_of("layers")


def similarity(view: View) -> None:
    """The map, with what it says of the selected token and of all pairs."""
    alike = cosine_similarity(view.trace.states())  # (1 + layers, token, token)
    now, n = alike[view.layer + 1], len(view.tokens)
    pairs, nearest = ~np.eye(n, dtype=bool), strongest_other(view, now[view.token])
    names = placed(view.tokens)
    said = {"layer": view.layer + 1, "token": names[view.token], "other": names[nearest]}
    sentence = text("alone_similarity", value=f"{now[0, 0]:.2f}")
    if n > 1:
        first, last = (f"{alike[step][pairs].mean():.2f}" for step in (0, -1))
        value = f"{now[view.token, nearest]:.2f}"
        sentence = text("read_similarity", value=value, before=first, after=last, **said)
    token_map(
        view,
        "similarity",
        lambda run: cosine_similarity(run.states()[view.layer + 1]),
        (view.token_axis("axis.token"), view.token_axis("axis.token")),
        nearest,
        sentence,
        partial(_by_hand, view),
        equation=COSINE,
    )


def _by_hand(view: View, other: int) -> Sequence[str]:
    """The cosine of the selected token's vector and another one's, line by line."""
    a, b = pair = view.trace.states()[view.layer + 1, [view.token, other]].astype(np.float64)
    dot, aa, bb, cosine = float(a @ b), float(a @ a), float(b @ b), float(cosine_similarity(pair)[0, 1])
    lines = (
        rf"a \cdot b = {dot:.4f}",
        rf"\lVert a \rVert = \sqrt{{{aa:.4f}}} = {aa**0.5:.4f}",
        rf"\lVert b \rVert = \sqrt{{{bb:.4f}}} = {bb**0.5:.4f}",
        rf"\cos(a, b) = \frac{{{dot:.4f}}}{{{aa**0.5:.4f} \cdot {bb**0.5:.4f}}} = {cosine:.4f}",
    )
    return [formula(line) for line in lines]
