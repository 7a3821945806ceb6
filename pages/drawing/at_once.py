"""Another layer, head or token of the same run: the browser draws it before the server answers.

It paints only colours, lines and frames over the picture; the rest waits for the server. The numbers of all heads are
sent once a run; the browser keeps so large a message, and later the server only names it. The browser must paint what
the server draws afterwards; a test compares the two.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

from model import Trace
from pages.drawing.cache import once_a_run
from pages.drawing.figures.base import MOST_CLICKABLE
from pages.drawing.place import Place

#: Numbers sent at most: 48 heads over 64 tokens, 0.8 MB. The server draws each picture of larger runs.
MOST = 200_000


class Sent(NamedTuple):
    """Numbers of all heads, and their name for the browser (a hash; "" for none).

    The shape as a line of JSON, then as float32: (layer, head, query, key), the numbers drawn; (layer, head, query),
    the key outlined while none is chosen.
    """

    name: str
    numbers: bytes


NOTHING = Sent("", b"[0, 0, 0]\n")


@dataclass(frozen=True)
class AtOnce:
    """How a browser draws a picture for another place.

    draws: the function of at_once.js. at: the place in the server's figure, by names of Choice; None: not chosen.
    sizes: how many layers and heads there are. sent: the numbers, NOTHING where only a frame moves. about: what else
    the function needs that the figure does not hold.
    """

    draws: str
    at: Mapping[str, int | None]
    sizes: Mapping[str, int]
    sent: Sent = NOTHING
    about: Mapping[str, Any] = field(default_factory=dict)


def where(run: Trace, place: Place) -> dict[str, Any]:
    """The arguments `at` and `sizes` of `AtOnce`."""
    at = {name: getattr(place, name) for name in ("layer", "head", "token", "key")}
    return {"at": at, "sizes": {"layer": run.config.layers, "head": run.config.heads}}


def of_every_head(run: Trace, place: Place, key: str, draws: str, **about: Any) -> AtOnce | None:
    """What a browser needs to draw scores or weights of any head; None where only the server can draw them.

    None: for quantities that are not one matrix a head, in a decoder, for one token, or if there is too much to send.
    key: the quantity in the server's picture. draws, about: as in AtOnce; about["columns"]: the keys shown, if not all.
    """
    if run.quantity(key).axes != ("head", "query", "key") or not key.startswith("layers.") or len(run.tokens) == 1:
        return None
    name = key.split(".", 2)[2]
    if run.config.layers * run[key].size > MOST or len(run.tokens) ** 2 > MOST_CLICKABLE["square"]:
        return None
    columns = tuple(about.get("columns", range(len(run.tokens))))
    return AtOnce(draws, sent=_sent(run, name, columns, draws == "map"), about=about, **where(run, place))


@once_a_run
def _sent(run: Trace, name: str, columns: tuple[int, ...], as_map: bool) -> Sent:
    """The numbers of every head. columns: the keys shown."""
    values = run.over_layers(name)
    if as_map:
        values = np.stack([unmasked(run, f"layers.{layer}.{name}", of_layer) for layer, of_layer in enumerate(values)])
    parts = (np.ascontiguousarray(part, np.float32).tobytes() for part in (values, strongest_keys(run, name, columns)))
    numbers = json.dumps(values.shape).encode() + b"\n" + b"".join(parts)
    return Sent(sha256(numbers).hexdigest()[:16], numbers)


def unmasked(run: Trace, key: str, values: np.ndarray, at: tuple = ()) -> np.ndarray:
    """The values to draw: NaN for weights that the mask hides. at: the index of `values` in the quantity."""
    mask = key.removesuffix("weights") + "masked"
    if not key.endswith("weights") or mask not in run:
        return values
    hidden = np.isneginf(np.broadcast_to(run[mask], run[key].shape))[at]
    return np.where(hidden & (values == 0), np.nan, values)


def strongest_keys(run: Trace, name: str, columns: Sequence[int]) -> np.ndarray:
    """The key that is outlined while none is chosen, (layer, head, query), as `by_hand.strongest_cell` finds it.

    name: "attention.weights" or the like. columns: the keys shown.
    """
    values = run.over_layers(name)[..., columns]
    return np.asarray(columns)[np.where(np.isfinite(values), values, -np.inf).argmax(axis=-1)]
