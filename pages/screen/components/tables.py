"""Tables whose columns fit all their cells; Streamlit alone looks only at the first rows."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

MOST = 640  # pixels of a column: Streamlit breaks no line of Chinese; a click on a cell shows more


def column_widths(table: pd.DataFrame) -> dict[str, object]:
    """The `column_config` of st.dataframe for columns of words, and of whole numbers, with separated thousands."""
    looks: dict[str, object] = {}
    for column in table.columns:
        if pd.api.types.is_integer_dtype(table[column]):
            width = room(column, map("{:,}".format, table[column]))
            looks[column] = st.column_config.NumberColumn(format="localized", width=width)
        elif not pd.api.types.is_numeric_dtype(table[column]):
            looks[column] = st.column_config.Column(width=room(column, map(str, table[column])))
    return looks


def row_height(table: pd.DataFrame) -> int:
    """Pixels of rows in which the longest cell is read whole, in as many lines as it needs."""
    longest = max((_signs(f"{cell}") for row in table.to_numpy() for cell in row), default=0)
    return 14 + 21 * -(-7 * longest // (MOST - 60))


def draw_table(table: pd.DataFrame, key: str, **look: Any) -> None:
    """A table. look: arguments of st.dataframe. Its letters keep their first size, so a presentation draws another
    table in another place.
    """
    if big := st.session_state["choice"].big:
        st.empty()
    st.dataframe(table, key=f"{key}.big" if big else key, **look)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    """A table in Markdown. sides: the alignment of its columns, such as ":--|--:"."""
    return "\n".join([f"| {' | '.join(heads)} |", f"|{sides}|", *(f"| {' | '.join(row)} |" for row in rows)])


def room(column: str, cells: Iterable[str]) -> int:
    """The width that a column needs, in pixels."""
    return min(MOST, 24 + 7 * max(map(_signs, (column, *cells))))


def _signs(text: str) -> int:
    """The width of a text in Latin letters; a Chinese sign counts two."""
    return sum(2 if sign >= "\u2e80" else 1 for sign in text)
