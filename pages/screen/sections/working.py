"""The arithmetic of one cell, beside its picture."""

import html
from collections.abc import Sequence

import streamlit as st

from model.analysis import placed
from model.by_hand import by_hand
from model.operations.softmax import ALL_KEYS
from model.operations.working import Table, Working
from pages.drawing.figures import coloured
from pages.drawing.figures.equations import in_words
from pages.drawing.figures.latex import formula
from pages.drawing.figures.notation import noted
from pages.drawing.picture import names_of
from pages.drawing.screen import Screen
from pages.drawing.text import class_label, plain
from pages.drawing.text.numbers import written
from pages.screen.components.arithmetic import arithmetic
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import lasting

TALL = 20  # rows; a longer table scrolls
EVERY = "working.every_row"  # the switch that shows all terms of a long sum
MOST = 5  # rows of a long table, so that it fits on one screen with its picture


def working(
    screen: Screen,
    pen: Pen,
    key: str,
    cell: tuple[int, ...],
    most: int = MOST,
    *,
    worked: Working | None = None,
    run_has: str = "",
) -> None:
    """How the cell was computed, line by line with its numbers, and the recorded value.

    most: rows of a long table. worked: the arithmetic, if known; its terms are then shown elsewhere. run_has: the
    sentence with the recorded value, if not the usual.
    """
    result = worked or by_hand(screen.pipeline.network, screen.run, key, cell, most)
    tokens = max((table.rows for table in result.tables if table.axis in ("token", "target")), default=0)
    long, look = worked is None and tokens > ALL_KEYS, lasting(EVERY, False)
    if long and st.session_state[EVERY]:
        result = by_hand(screen.pipeline.network, screen.run, key, cell, most=tokens)
    equations = (coloured(in_words(latex)) for latex in (result.equation, result.where) if latex)
    lines = (*equations, *(noted(step.latex) for step in result.steps))
    said = plain(
        run_has or ("common.changed_here" if result.changed else "common.recorded"), value=f"<b>{_recorded(result)}</b>"
    )
    flows = " class=flows" if worked else ""
    with st.container(border=True, key=f"working.{pen.name}"):
        arithmetic(
            f"<p><b>{plain('common.by_hand')}</b> · {html.escape(cell_name(screen, key, cell))}</p>"
            f'<div class="beside_terms"><div{flows}>{"".join(map(formula, lines))}<p>{said}</p></div>'
            f"{''.join(terms(screen, table) for table in result.tables if worked is None)}</div>",
            key="by_hand",
        )
        if long:
            st.toggle(plain("common.every_row", n=tokens), **look)


def cell_name(screen: Screen, key: str, cell: tuple[int, ...]) -> str:
    """ "‘it’ → ‘animal’": the cell by the names along its axes."""
    axes = screen.run.graph[key].axes
    tokens = names_of(screen.run, key) if key in screen.run else (None,) * len(axes)
    places = []
    for axis, along, place in zip(axes, tokens, cell, strict=True):
        if axis == "head":
            continue
        names = placed(along) if along else names_along(screen, axis)
        places.append(
            plain("common.quoted", token=names[place])
            if names
            else plain("common.place", axis=plain(f"axis.{axis}"), place=place + 1)
        )
    return " → ".join(places)


def names_along(screen: Screen, axis: str) -> Sequence[str] | None:
    """The names of the places along an axis: tokens, words, classes; None where they are counted."""
    match axis:
        case "token":
            return placed(screen.run.tokens)
        case "target":
            return placed(getattr(screen.run, "target_tokens", ()))
        case "word":
            return screen.outputs
        case "class":
            return [class_label(name) for name in screen.run.answer[0].labels]
        case "bound":
            return [plain("common.begins"), plain("common.ends")]
    return None


def row_names(screen: Screen, table: Table) -> list[str]:
    """The names of a table's rows: tokens and words, or numbers."""
    names = names_along(screen, table.axis)
    return [names[place] if names else str(place + 1) for place in table.places]


def terms(screen: Screen, table: Table) -> str:
    """A table of terms in HTML with its sum below; the displayed terms add up to the displayed sum."""
    heads = (plain(f"axis.{table.axis}"), *(column.symbol for column in table.columns))
    lines = ["".join(f"<th>{html.escape(head)}</th>" for head in heads)]
    rows = zip(*(column.values for column in table.columns), strict=True)
    lines += [_line(html.escape(name), values) for name, values in zip(row_names(screen, table), rows, strict=True)]
    for what, label in (
        ("rest", plain("common.others", n=table.others)),
        ("bias", "b"),
        ("total", plain("common.sum")),
    ):
        values = [getattr(column, what) for column in table.columns]
        if any(value is not None for value in values):
            lines.append(_line(f"<i>{html.escape(label)}</i>", values))
    table_of_terms = f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"
    return f'<div class="tall">{table_of_terms}</div>' if len(table.places) > TALL else table_of_terms


def _line(name: str, values: Sequence[float | None]) -> str:
    """The cells of a row: its name and its values, empty for None."""
    return f"<td>{name}</td>" + "".join(f"<td>{'' if v is None else _number(v)}</td>" for v in values)


def _recorded(result: Working) -> str:
    """The recorded value in four decimals, a small one in five digits; in fewer if the arithmetic differs beyond."""
    value = result.recorded
    found = value if result.changed or not result.steps else result.steps[-1].value
    most, kind = (5, "g") if 0 < abs(value) < 1e-3 else (4, "f")
    digits = next((few for few in range(most, 1, -1) if f"{value:.{few}{kind}}" == f"{found:.{few}{kind}}"), 1)
    return "−∞" if value == float("-inf") else written(f"{value:.{digits}{kind}}")


def _number(value: float, decimals: int = 5) -> str:
    return "−∞" if value == float("-inf") else written(f"{value:.{decimals}f}")
