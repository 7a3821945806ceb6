"""Desk: writes the arithmetic of one cell, from the network's weights and one run."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from model.operations.operation import OPERATIONS, Quantity
from model.operations.working import Cell, Lit, Step, Table, Working, latex_of
from model.rule import EVERY, Index
from model.written import rounded


class Desk:
    """Collects lines and tables of arithmetic, and reads the numbers they start from.

    trace: a Trace (not imported, since a trace is made of a graph, and that of operations). most: how many rows of a
    long table to show. tau: the temperature of the answer.
    """

    def __init__(self, network: nn.Module, trace: Any, most: int, tau: float = 1.0) -> None:
        self.network, self.trace, self.graph, self.most, self.tau = network, trace, trace.graph, most, tau
        self.steps: list[Step] = []
        self.tables: list[Table] = []

    def working(self, key: str, cell: Cell) -> Working:
        quantity = self.graph[key]
        if (by_hand := OPERATIONS[quantity.operation].by_hand) is None:
            raise KeyError(f"{key} only passes numbers on: there is nothing to compute")
        if len(cell) != len(quantity.axes) or min(cell) < 0:
            raise IndexError(f"{key} has the axes {quantity.axes}, and no cell {cell}")
        found: Working = by_hand(self, quantity, cell)
        if key not in self.trace:
            return found
        recorded = float(self.trace[key][cell])
        return replace(found, recorded=recorded, changed=self._changed(quantity, found.value, recorded))

    def _changed(self, quantity: Quantity, value: float, recorded: float) -> bool:
        """Whether an edit replaced the number that the inputs give, beyond float32's rounding."""
        edited = any(
            edit.key in (quantity.key, quantity.row) or (edit.operation == "remove" and quantity.operation == "mask")
            for edit in self.trace.edits
        )
        if not edited:
            return False
        values = self.trace[quantity.key]
        largest = float(np.abs(values, where=np.isfinite(values), out=np.zeros_like(values)).max())
        return not math.isclose(value, recorded, rel_tol=1e-4, abs_tol=2e-6 * largest)

    def read(self, key: str, cell: Cell, through: bool, symbol: str | None = None) -> tuple[float, float]:
        """Write down a number from which the arithmetic starts; returns it as shown, and exactly.

        With `through`, or if it is not recorded, first write the lines that compute it, unless an edit set it. symbol:
        how the equation writes it, if differently.
        """
        quantity, lines, tables = self.graph[key], len(self.steps), len(self.tables)
        if not OPERATIONS[quantity.operation].by_hand and quantity.reads and not quantity.traced:
            value = float(self.values(key, (*cell[:-1], EVERY))[cell[-1]])
            return self.line(symbol or self._written(quantity, cell), "", rounded(value)), value
        if through or not quantity.traced:
            working = self.working(key, cell)
            if not working.changed:
                return self.steps[-1].value, working.recorded
            del self.steps[lines:], self.tables[tables:]
        value = float(self.trace[key][cell])
        return self.line(symbol or self._written(quantity, cell), "", rounded(value)), value

    def _written(self, quantity: Quantity, cell: Sequence[Any]) -> str:
        """LaTeX of a cell; distances count from the middle, which is 0."""
        return latex_of(quantity, self.with_distances(quantity, cell))

    def with_distances(self, quantity: Quantity, cell: Sequence[Any]) -> list[Any]:
        middle = len(self.trace.tokens) - 1
        return [
            f"{i - middle:+d}" if axis == "distance" and isinstance(i, int) else i
            for axis, i in zip(quantity.axes, cell, strict=True)
        ]

    def line(self, symbol: str, expression: str, value: float) -> float:
        self.steps.append(Step(symbol, expression, value))
        return value

    def values(self, key: str, index: Index) -> np.ndarray:
        """Numbers as recorded; unrecorded ones are recomputed, whole rows at a time."""
        quantity = self.graph[key]
        operation = OPERATIONS[quantity.operation]
        if quantity.traced:
            return self.trace[key][index].astype(np.float64)
        if operation.values:
            return operation.values(self, quantity)[index].astype(np.float64)
        values = self.values(quantity.reads[0], self.graph.cells(key, index)[0])
        if not operation.by_hand:
            return values
        return self.network.get_submodule(key)(torch.from_numpy(values).float()).double().numpy()

    def lit(self, key: str, index: Index) -> Lit:
        """The recorded cells from which those at an index are computed."""
        lit: Lit = ()
        for read, cells in zip(self.graph[key].reads, self.graph.cells(key, index), strict=False):
            recorded = self.graph[read].traced or not self.graph[read].reads
            lit += ((read, cells),) if recorded else self.lit(read, cells)
        return lit

    def found(
        self,
        quantity: Quantity,
        cell: Cell,
        right: str,
        expression: str,
        shown: float,
        value: float,
        lit: Lit | None = None,
        where: str = "",
    ) -> Working:
        """The last line, and with it the whole Working, before comparison with the recorded value.

        right: LaTeX of the cell's formula; expression: the same in numbers; shown, value: its result as shown, and
        exactly. lit: the cells it is computed from, if not those of the rule.
        """
        written = self._written(quantity, cell)
        self.line(written, expression, shown)
        return Working(
            quantity.key,
            cell,
            quantity.operation,
            f"{written} = {right}" if right else written,
            where,
            tuple(self.steps),
            tuple(self.tables),
            self.lit(quantity.key, cell) if lit is None else lit,
            value,
            recorded=value,
        )

    def attention_of(self, quantity: Quantity) -> nn.Module:
        """The attention module to which the quantity belongs."""
        return self.network.get_submodule(quantity.key.rpartition(".")[0])
