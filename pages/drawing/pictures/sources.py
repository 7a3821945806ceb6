"""The parts of a sum by source: their names, the pages that computed them, and a picture of the sum."""

import re
from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

import numpy as np

from model import Trace
from pages.drawing.figures import Axis, bars, sign_colours, waterfall
from pages.drawing.picture import Open, Picture
from pages.drawing.text import digits_hidden, plain
from pages.drawing.text.numbers import signed

Way = tuple[str, dict[str, Any]]  # a page ("": this one), and values of Choice
Place = tuple[str, Way | None]  # the name of a part, and where it was computed
MOST_BYTES = 100_000_000  # of the parts of a run while they are drawn
SOURCE = re.compile(
    r"(?P<decoder>decoder\.)?(embedding\.(?P<part>\w+)|layers\.(?P<layer>\d+)\.(?P<sublayer>\w+)\.output)"
)


def in_short(source: str, trace: Trace) -> str:
    """ "FFN 1": the name of a source in a picture."""
    return plain(f"source.{kind_of(source, trace)}", layer=layer_of(source) + 1)


def kind_of(source: str, trace: Trace) -> str:
    """The kind of a source, which ends the names of its texts: "word", "patch", "positions", "attention", "ffn", …"""
    found = SOURCE.fullmatch(source)
    if found is None:
        return source
    if found["part"] == "tokens":
        return "word" if trace.picture is None else "patch"
    return found["part"] or found["sublayer"]


def layer_of(source: str) -> int:
    """The layer of a source, from 0; 0 for the embedding."""
    found = SOURCE.fullmatch(source)
    return int(found["layer"] or 0) if found else 0


def way_to(source: str, token: int) -> Way | None:
    """The page that shows how a source was computed for a token, and values of Choice; None: no page does."""
    found = SOURCE.fullmatch(source)
    if found is None:
        return None
    if found["decoder"]:
        block = "embedding" if found["part"] else found["sublayer"]
        return "translation", {
            "tab": "inside",
            "block": block,
            "layer": layer_of(source),
            "step": token,
            "stage": None,
        }
    if found["part"]:
        return "tokens", {"tab": "one", "token": token}
    at = {"layer": layer_of(source), "token": token}
    if found["sublayer"] == "ffn":
        return "feed_forward", {"tab": None, "stage": "output", **at}
    return "heads", {"tab": "contribution", **at}


def largest_first(parts: np.ndarray, most: int) -> tuple[list[int], list[int]]:
    """The indices of the `most` largest parts, and of the others; a single other part joins the largest."""
    order = np.argsort(-np.abs(parts), kind="stable").tolist()
    few = len(order) if len(order) <= most + 1 else most
    return order[:few], order[few:]


def digits_of(*values: float) -> int:
    """How many decimals numbers get that are added up: two; where all are small, enough for two significant digits."""
    largest = max(map(abs, values))
    return 2 if largest >= 0.1 or not largest else 1 - floor(log10(largest))


def places_of(sources: Sequence[str], trace: Trace, token: int) -> list[Place]:
    """The names of a token's sources, each with the page that computed it."""
    return [(in_short(source, trace), way_to(source, token)) for source in sources]


def parts_picture(
    places: Sequence[Place],
    parts: np.ndarray,
    sentence: str,
    *,
    title: str,
    axis: str,
    total: str | None,
    begin: tuple[str, float] | None = None,
    most: int = 6,
) -> Picture:
    """The largest parts as bars. A click leads to the page of a part, where it has one.

    axis: the title of the numbers. total: the name of the sum, in a waterfall that ends with it; None: single bars, the
    small ones left out. begin: name and number that the sum begins with.
    """
    few, rest = largest_first(parts, most)
    digits = digits_of(*parts, begin[1] if begin else 0.0)
    if total is not None and len(unseen := [i for i in few if not round(float(parts[i]), digits)]) + len(rest) > 1:
        few, rest = [i for i in few if i not in unseen], unseen + rest
    labels, values = [places[i][0] for i in few], [float(parts[i]) for i in few]
    first = int(begin is not None)
    if total is None:
        colours = sign_colours(parts[few])
        texts = [signed(float(parts[i])) for i in few]
        figure = bars(parts[few], Axis("", labels), axis, colours=colours, texts=texts)
    else:
        if rest:
            labels.append(plain("source.rest", n=len(rest)))
            values.append(float(parts[rest].sum()))
        if begin:
            labels.insert(0, begin[0])
            values.insert(0, begin[1])
        grey = [*range(first), *[first + len(few)] * bool(rest)]
        figure = waterfall(np.array(values), Axis("", [*labels, total]), axis, grey=grey, digits=digits)
    figure.layout["hovermode"] = "y"  # so that a thin bar answers on all its row
    ways = [places[i][1] for i in few]

    def go(bar: int, _: int) -> Mapping[str, object] | Open | None:
        way = ways[bar - first] if first <= bar < first + len(ways) else None
        return way and (Open(*way) if way[0] else way[1])

    click = f" {plain('source.click')}" if any(ways) else ""
    return Picture(figure, sentence + click + digits_hidden(figure.data[0]["text"]), title=title, picks=go)
