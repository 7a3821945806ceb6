"""Arithmetic by hand as data: lines, tables, and how a cell is written in LaTeX."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from model.analysis import Terms
from model.operations.operation import Quantity
from model.rule import Index, sides
from model.written import DECIMALS, number

LEADING = 3  # terms of a sum written in a line; its table has more

Cell = tuple[int, ...]
Lit = tuple[tuple[str, Index], ...]


@dataclass(frozen=True)
class Step:
    """One line: symbol = expression = value. The expression is empty if the number is only read."""

    symbol: str  # LaTeX
    expression: str  # LaTeX, with the numbers of this cell
    value: float  # rounded as shown

    @property
    def latex(self) -> str:
        value = number(self.value)
        right = value if self.expression in ("", value) else f"{self.expression} = {value}"
        return f"{self.symbol} = {right}"


@dataclass(frozen=True)
class Column:
    """One column of a table, rounded as shown: values + rest + bias = total, to the last digit."""

    symbol: str  # plain text: "q · k"
    values: tuple[float, ...]
    rest: float | None = None  # the sum of the rows that are not shown
    bias: float | None = None
    total: float | None = None


@dataclass(frozen=True)
class Table:
    """The terms of a sum: a row for each index along `axis`, the largest first if not all are shown."""

    axis: str  # "d_k", "d_E", "d_model", "d_ff", "token", "target", "pixel", "word" or "class"
    places: tuple[int, ...]  # from 0
    columns: tuple[Column, ...]
    others: int = 0  # rows that are not shown

    @property
    def rows(self) -> int:
        """Number of all rows, shown or not."""
        return len(self.places) + self.others


@dataclass(frozen=True)
class Working:
    """The arithmetic of one cell, as data; pages add the words.

    `value`: result from the recorded inputs, in full precision; `recorded`: the run's value. They differ if an edit
    changed this cell; then `changed` is true. An edit of an input ends the chain of steps, which then starts from the
    edited number.
    """

    key: str
    cell: Cell
    operation: str
    equation: str  # LaTeX, for this cell
    where: str  # LaTeX: definition of a symbol in the equation; "" if all are known
    steps: tuple[Step, ...]
    tables: tuple[Table, ...]  # in order of computation, the cell's own last
    lit: Lit  # the recorded cells it is computed from: indices of ints and slices
    value: float
    recorded: float
    changed: bool = False


# -- numbers as they are shown ---------------------------------------------------------------------------------------


def latex_sum(values: Sequence[float], rest: float = 0.0, others: int = 0, bias: float | None = None) -> str:
    """LaTeX of a sum with five decimals: the first few terms, then the rest as one number with their count below, then
    the bias.
    """
    few = len(values) if len(values) + others <= LEADING + 1 else LEADING
    few = int(np.count_nonzero(values[:few]))
    rest, others = rest + sum(values[few:]), others + len(values) - few
    terms = [(value, number(abs(value), DECIMALS)) for value in values[:few]]
    if others:
        terms.append((rest, rf"\underbrace{{{number(abs(rest), DECIMALS)}}}_{{{others}}}"))
    if bias is not None:
        terms.append((bias, number(abs(bias), DECIMALS)))
    signed = " ".join(f"{'-' if value < 0 else '+'} {text}" for value, text in terms)
    return f"-{signed[2:]}" if signed[0] == "-" else signed[2:]


def summed_column(symbol: str, values: np.ndarray, total: float, others: int) -> tuple[Column, float]:
    """A column and its exact sum; the rest absorbs rounding errors. Without a rest, the sum of its rows.

    total: of all rows, shown or not.
    """
    values = values.round(DECIMALS) + 0.0
    parts = float(values.sum())
    total = round(total if others else parts, DECIMALS)
    rest = round(total - parts, DECIMALS) if others else None
    return Column(symbol, tuple(values.tolist()), rest, total=total), total


def terms_table(terms: Terms, axis: str, x: str, w: str, bias: float | None = None) -> Table:
    """The products x · w as rows along an axis. x, w: their symbols."""
    columns = (
        Column(x, tuple(terms.x.tolist())),
        Column(w, tuple(terms.w.tolist())),
        Column(f"{x} · {w}", tuple(terms.products.tolist()), terms.rest if terms.others else None, bias, terms.total),
    )
    return Table(axis, tuple(terms.places.tolist()), columns, terms.others)


# -- how a cell is written -------------------------------------------------------------------------------------------


def indexed(symbol: str, *indices: int | str) -> str:
    """A symbol with indices; in parentheses if it is a product or already has a subscript."""
    symbol = symbol[1:-1] if symbol.startswith("{") else symbol  # {K^R}, to which another superscript was added
    symbol = f"({symbol})" if "_" in symbol or " W" in symbol else symbol
    return f"{symbol}_{{{','.join(map(str, indices))}}}" if indices else symbol


#: Axes along which formulas count from 0: positions, as in PE(pos), and ids.
FROM_ZERO = ("token", "patch", "target", "query", "key", "word", "class")


def latex_at(symbol: str, axes: Sequence[str], index: Sequence[Any]) -> str:
    """An element along these axes: Q_{2,5}, component 5 (from 1) at position 2 (from 0). The head is left out, except
    where heads are distinguished: (head_3)_{2,5}.
    """
    if axes[0] == "head":
        symbol, axes, index = re.sub(r"(?<=[_^])i\b", f"{{{index[0] + 1}}}", symbol), axes[1:], index[1:]
    counted = zip(axes, index, strict=True)
    return indexed(symbol, *(i if isinstance(i, str) or axis in FROM_ZERO else i + 1 for axis, i in counted))


def latex_of(quantity: Quantity, cell: Sequence[Any]) -> str:
    """LaTeX of a cell; a running index is a letter."""
    return latex_at(quantity.numbered(quantity.symbol), quantity.axes, cell)


def terms_of(quantity: Quantity, cell: Sequence[Any]) -> list[str]:
    """The inputs of a cell, as its equation writes them: Q_{2,c}, for all c."""
    terms, result = sides(quantity.rule)
    axes: dict[str, str] = dict(zip(result, quantity.axes, strict=True))
    places = dict(zip(result, cell, strict=True))
    return [
        latex_at(symbol, [axes.get(letter, letter) for letter in of], [places.get(letter, letter) for letter in of])
        for symbol, of in zip(quantity.terms, map("".join, terms), strict=False)
    ]
