"""Another layer, head or token of the run on the screen: the browser draws it before the server has answered.

Only colours, lines and frames, painted over the picture; all else of it waits for the server. The numbers of all heads
come once for each run: a browser keeps so large a message, and the server then only names it. What is painted must be
what the server draws afterwards; a test in a browser compares the two.
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

#: Numbers that are sent: those of 48 heads over 64 tokens, 0.8 MB. Of larger runs the server draws each picture.
MOST = 200_000


class Sent(NamedTuple):
    """Numbers as they are sent, and what the browser knows them by.

    Their shape as JSON in a line, then all of them as float32: (layer, head, query, key), what is drawn; (layer, head,
    query), the key that is outlined where none is chosen.
    """

    name: str
    numbers: bytes


NOTHING = Sent("", b"[0, 0, 0]\n")


@dataclass(frozen=True)
class AtOnce:
    """How a browser draws a picture anew for another place.

    draws: the function of at_once.js that does it. at: the place that the server's figure shows, by the names of
    Choice; None: not chosen. sizes: how many layers and heads there are. sent: the numbers of them all; none where only
    a frame moves. about: what else the function must know that the figure does not say.
    """

    draws: str
    at: Mapping[str, int | None]
    sizes: Mapping[str, int]
    sent: Sent = NOTHING
    about: Mapping[str, Any] = field(default_factory=dict)


def where(run: Trace, place: Place) -> dict[str, Any]:
    """The place on the screen, and how many layers and heads there are: what `AtOnce` takes."""
    at = {name: getattr(place, name) for name in ("layer", "head", "token", "key")}
    return {"at": at, "sizes": {"layer": run.config.layers, "head": run.config.heads}}


def of_every_head(run: Trace, place: Place, key: str, draws: str, **about: Any) -> AtOnce | None:
    """What a browser needs to draw scores or weights of any head; None where only the server can.

    So it is of what no head does alone, in a decoder, and where there is too much to send. key: of the picture that the
    server draws. draws, about: as in AtOnce; about["columns"]: the keys shown, if not all.
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
    """What is drawn of a quantity: a weight that the mask hides is not near 0, but none. at: which cells these are."""
    mask = key.removesuffix("weights") + "masked"
    if not key.endswith("weights") or mask not in run:
        return values
    hidden = np.isneginf(np.broadcast_to(run[mask], run[key].shape))[at]
    return np.where(hidden & (values == 0), np.nan, values)


def strongest_keys(run: Trace, name: str, columns: Sequence[int]) -> np.ndarray:
    """Of each layer, head and query of "attention.weights", or of another such quantity, the key that is outlined while
    none is chosen, (layer, head, query): what `by_hand.strongest_cell` finds for each of them. columns: those shown.
    """
    values = run.over_layers(name)[..., columns]
    return np.asarray(columns)[np.where(np.isfinite(values), values, -np.inf).argmax(axis=-1)]
