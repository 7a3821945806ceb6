"""One attention weight as strips of colour, from query and key to the head's output row."""

import html
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from model.analysis import placed
from model.by_hand import by_hand
from model.operations.working import Working
from pages.attention.read import queries_and_keys, steps_of
from pages.drawing.figures.base import role_colours, signed_colours
from pages.drawing.picture import touched
from pages.drawing.screen import Screen
from pages.drawing.text import plain
from pages.drawing.text.numbers import decimal, gives, two
from pages.screen.components.arithmetic import arithmetic
from pages.screen.frame.pen import Pen
from pages.screen.sections.working import MOST, working

EVERY = 10**6  # terms of a sum
LEAST = 1.5  # % of the height: the lowest visible bar


def one_weight(screen: Screen, pen: Pen, key: str, cell: tuple[int, ...], *, strips: bool = True) -> None:
    """Query, key, their products, softmax, value and the head's row as strips; below, the arithmetic in numbers."""
    network, masked = screen.pipeline.network, key.replace("weights", "masked")
    steps = [key.replace("weights", step) for step in steps_of(screen.run, key) if step not in ("masked", "heads")]
    if strips and not touched(screen.run, screen.at.head, *steps, shares=[masked]):
        every = by_hand(network, screen.run, key, cell, EVERY)
        arithmetic("".join(_lines(screen, key, cell, every)), key="weight")
    # As many terms as in the score's own arithmetic, so that the sum reads the same on all pages.
    worked, before = by_hand(network, screen.run, key, cell, MOST), screen.run.graph[masked].reads[0]
    both = rf"{worked.equation}, \quad M = {screen.run.graph[before].symbol} + \text{{mask}}"
    working(screen, pen, key, cell, worked=replace(worked, equation=both))


def _lines(screen: Screen, key: str, cell: tuple[int, ...], worked: Working) -> Iterator[str]:
    """The lines as HTML. key: of the weights. cell: head, query and key."""
    run = screen.run
    head, query, column = cell
    prefix, row = key.removesuffix("weights"), run[key][head, query]
    names = [html.escape(placed(side)[at]) for side, at in zip(queries_and_keys(run, key), cell[1:], strict=True)]
    value = decimal(float(row[column]))
    pair = plain("attention.pair", query=f"<b>{names[0]}</b>", key=f"<b>{names[1]}</b>")
    yield f'<p class="pair">{pair} <b class="rose">{value}</b></p><div class="weight">'
    for table in worked.tables:
        if table.axis == "d_k":
            order = np.argsort(table.places)
            *sides, product = table.columns
            for side in sides:
                yield _strip(_coloured(side.symbol), np.array(side.values)[order])
            yield _strip(html.escape(product.symbol), np.array(product.values)[order], _two(product.total or 0.0))
    yield from _to_softmax(screen, prefix, cell)
    highest = max(float(row.max()), 1e-9)
    bars = "".join(
        f'<i style="height:{max(LEAST, 100 * float(one) / highest):.1f}%"{" class=on" * (at == column)}></i>'
        for at, one in enumerate(row)
    )
    yield f'<hr><span>softmax</span><div class="bars">{bars}</div><b>{value}</b><hr>'
    weighted, values = prefix + "heads", run[run.graph[prefix + "heads"].reads[1]]
    yield _strip(_coloured("v"), values[head, column], f"× {value}")
    if not touched(run, head, weighted):  # a change breaks the sum
        yield _strip(plain("attention.row_of_head"), run[weighted][head, query])
        yield f"<small>{plain('attention.sum_of_values')}</small>"
    yield "</div>"


def _to_softmax(screen: Screen, prefix: str, cell: tuple[int, ...]) -> Iterator[str]:
    """The steps between q · k and the softmax that change the number."""
    steps = [step for step in steps_of(screen.run, prefix) if step not in ("weights", "heads")]
    before = float(screen.run[prefix + "scores"][cell])
    for step in steps[steps.index("scores") + 1 :]:
        value = float(screen.run[prefix + step][cell])
        if step != "relative" and value != before:
            parts = 1 + len(screen.run.config.distance_terms)
            name = "scaled_sum" if step == "scaled" and parts > 1 else step
            said = gives(round(before, 2) * value / before, value) if step == "scaled" else _two(value)
            yield f"<span>{plain(f'attention.step.{name}', parts=parts)}</span><i></i><b>{said}</b>"
            before = value


def _coloured(symbol: str) -> str:
    """A symbol in the colour of its role."""
    return f'<em style="color:{role_colours().get(symbol[:1].upper(), "inherit")}">{html.escape(symbol)}</em>'


def _strip(name: str, values: Sequence[float] | np.ndarray, said: str = "") -> str:
    """One vector: its name in HTML, its numbers as colours, and a text after it."""
    width = 100 / len(values)
    stops = ",".join(
        f"{colour} {at * width:.2f}% {(at + 1) * width:.2f}%" for at, colour in enumerate(signed_colours(values))
    )
    return f'<span>{name}</span><i style="background:linear-gradient(90deg,{stops})"></i><b>{said}</b>'


def _two(value: float) -> str:
    return "= −∞" if value == -np.inf else f"= {two(value)}"
