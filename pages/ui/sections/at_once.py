"""Which pictures a browser may draw anew by itself, and what it must know for that."""

from typing import Any

import numpy as np

from model import Trace
from model.by_hand import NO_WORDS
from pages.ui.components.at_once import MOST, AtOnce
from pages.ui.figures.base import MOST_CLICKABLE, MOST_NAMED, crossing, label
from pages.ui.figures.points import WAY, line_colours
from pages.ui.view import View


def _where(view: View) -> dict[str, Any]:
    """The place on the screen, and how many layers and heads there are."""
    at = {"layer": view.layer, "head": view.head, "token": view.token, "key": view.choice.key}
    return {"at": at, "sizes": {"layer": view.config.layers, "head": view.config.heads}}


def _of_every_head(view: View, key: str, draws: str, **about: Any) -> AtOnce | None:
    """What a browser needs to draw scores or weights of any head; None where only the server can.

    So it is where two runs are shown, in a decoder, and where there is too much to send. key: of the picture that the
    server draws. draws, about: as in AtOnce.
    """
    if not key.startswith("layers.") or view.differs or view.shows == "beside" or len(view.tokens) == 1:
        return None
    name = key.split(".", 2)[2]
    many = view.config.layers * view.trace[key].size
    if many > MOST or len(view.tokens) ** 2 > MOST_CLICKABLE["square"]:
        return None
    strongest = strongest_keys(view.trace, name)
    return AtOnce(draws, values=view.trace.over_layers(name), strongest=strongest, about=about, **_where(view))


def map_at_once(view: View, key: str, rows: list[int], columns: list[int]) -> AtOnce | None:
    """Of a `heatmap` of scores or weights, in which a cell is outlined. rows, columns: the places shown."""
    quantity = view.trace.quantity(key)
    if quantity.axes != ("head", "query", "key") or not key.startswith("layers."):  # a decoder's rows are no tokens
        return None
    look: dict[str, Any] = {"scale": quantity.scale, "most": MOST_NAMED}
    look["frames"] = [one["line"] for one in crossing(0, 0, 1, 1)]
    return _of_every_head(view, key, "map", rows=rows, columns=columns, names=_names(view, rows, columns), **look)


def lines_at_once(view: View, key: str, rows: list[int], columns: list[int], least: float) -> AtOnce | None:
    """Of `attention_lines`, which are told `least`, too."""
    look = {"least": least, "colours": line_colours(), "names": _names(view, rows, columns)}
    look["way"] = WAY
    return _of_every_head(view, key, "lines", rows=rows, columns=columns, **look)


def patches_at_once(view: View, key: str) -> AtOnce | None:
    """Of weights laid over a picture."""
    return _of_every_head(view, key, "patches", grid=[view.config.patches_per_side, view.config.tokens_in_front])


def frame_at_once(view: View) -> AtOnce:
    """Of `tiles`, one for each head, in which the chosen one's frame alone moves."""
    return AtOnce("frame", **_where(view))


def _names(view: View, rows: list[int], columns: list[int]) -> list[list[str]]:
    """What the places along both sides are called, as Plotly shows them."""
    return [[label(view.named[place]) for place in places] for places in (rows, columns)]


def strongest_keys(run: Trace, name: str) -> np.ndarray:
    """Of each layer, head and query of "attention.weights", or of another such quantity, the key that is outlined while
    none is chosen, (layer, head, query): what `by_hand.strongest_cell` finds for each of them.
    """
    size = np.abs(run.over_layers(name))
    strength = np.where(np.isfinite(size), size, -np.inf)
    if run.quantity(f"layers.0.{name}").operation == "softmax":
        words = np.array([token not in NO_WORDS for token in run.tokens])
        other = ~np.eye(len(words), dtype=bool) & words & (strength > 0)
        strength = np.where(other | ~other.any(axis=-1, keepdims=True), strength, -np.inf)
    return strength.argmax(axis=-1)
