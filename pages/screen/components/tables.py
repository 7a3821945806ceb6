"""Tables whose columns have room for what stands in them: left to itself, one is as wide as its first rows need."""

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

MOST = 420  # pixels of a column; more is read by a click on the cell


def column_widths(table: pd.DataFrame) -> dict[str, object]:
    """What st.dataframe wants to know of each column of words and of whole numbers, which get their thousands apart."""
    looks: dict[str, object] = {}
    for column in table.columns:
        if pd.api.types.is_integer_dtype(table[column]):
            width = room(column, map("{:,}".format, table[column]))
            looks[column] = st.column_config.NumberColumn(format="localized", width=width)
        elif not pd.api.types.is_numeric_dtype(table[column]):
            looks[column] = st.column_config.Column(width=room(column, map(str, table[column])))
    return looks


def draw_table(table: pd.DataFrame, key: str, **look: Any) -> None:
    """A table; `look` is what st.dataframe takes. Its letters are as large as those round it were when it was first
    drawn: so in a presentation it is another table, in another place.
    """
    if big := st.session_state["choice"].big:
        st.empty()
    st.dataframe(table, key=f"{key}.big" if big else key, **look)


def markdown_table(heads: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    """A table in Markdown. sides: to which one its columns are set, such as ":--|--:"."""
    return "\n".join([f"| {' | '.join(heads)} |", f"|{sides}|", *(f"| {' | '.join(row)} |" for row in rows)])


def room(column: str, cells: Iterable[str]) -> int:
    """How many pixels a column needs."""
    return min(MOST, 24 + 7 * max(map(_signs, (column, *cells))))


def _signs(text: str) -> int:
    """How many Latin letters would be as wide: a Chinese one is as two."""
    return sum(2 if sign >= "\u2e80" else 1 for sign in text)
