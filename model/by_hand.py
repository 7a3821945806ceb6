"""by_hand(network, trace, key, cell): the arithmetic of any one cell of any quantity, with the numbers of that run.

The graph says what a cell is computed from, the trace holds those numbers, and the network the weights. Each line is
exact for the digits that it shows: who types them into a calculator gets the value that stands behind the equals sign,
and parts that are shown add up to the total that is shown. Cells count from 0, indices in formulas from 1; only words
and classes, which have numbers of their own, and the pos of a position count from 0 there too.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import nn

from model.activations import ACTIVATIONS
from model.analysis import Terms, largest_terms, softmax
from model.graph import Quantity
from model.rms import centred
from model.rule import EVERY, Index, sides, summed
from model.trace import Trace
from model.translator import TranslationTrace
from model.variants import disentangled
from model.variants.patch_waves import BASE, are_waves
from model.variants.relative import table_rows
from model.variants.token_dropout import SHOWN, multiplier
from model.written import DECIMALS, number, operand, rounded

LEADING = 3  # terms of a sum that a line names; its table names more
ALL_KEYS = 64  # tokens looked at, up to which a softmax names each in the order of the sentence

PASSING = ("input", "cut", "flatten", "first", "second")  # operations that only pass numbers on
Cell = tuple[int, ...]
Lit = tuple[tuple[str, Index], ...]


@dataclass(frozen=True)
class Step:
    """One line: symbol = expression = value. The expression is empty where the number is only read off."""

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
    """One column of a table, each number rounded as shown: values + rest + bias = total, to the last digit."""

    symbol: str  # plain text: "q · k"
    values: tuple[float, ...]
    rest: float | None = None  # the sum of the rows that are not shown
    bias: float | None = None
    total: float | None = None


@dataclass(frozen=True)
class Table:
    """What a sum is made of: a row for each place along `axis`, the largest terms first where not all are shown."""

    axis: str  # "d_k", "d_E", "d_model", "d_ff", "token", "target", "pixel", "word" or "class"
    places: tuple[int, ...]  # from 0
    columns: tuple[Column, ...]
    others: int = 0  # rows that are not shown

    @property
    def rows(self) -> int:
        """How many there are, shown or not."""
        return len(self.places) + self.others


@dataclass(frozen=True)
class Working:
    """How one cell came about. Data only: the words are the reader's.

    `value` is what the recorded inputs give, in full precision, and `recorded` what the run holds. They differ where an
    edit of the run sits on this very cell: then it is `changed`. An edit further in front cuts the chain of steps,
    which then begins with the number that was put in.
    """

    key: str
    cell: Cell
    operation: str
    equation: str  # LaTeX, for this cell
    where: str  # LaTeX: what a symbol of the equation stands for; "" where all are known
    steps: tuple[Step, ...]
    tables: tuple[Table, ...]  # in order of computation: the cell's own is the last
    lit: Lit  # the recorded cells that it is computed from: indices of ints and slices
    value: float
    recorded: float
    changed: bool = False


def by_hand(network: nn.Module, trace: Trace, key: str, cell: Sequence[int], most: int = 10) -> Working:
    """The arithmetic of one cell.

    Args:
        network: that made the trace.
        key: of a recorded quantity, or of one that the graph computes on the way ("transform.2", "answer").
        cell: an index, from 0, into each axis of the quantity.
        most: how many rows of a long table are shown.

    Raises KeyError where there is no such quantity, or nothing is computed there; IndexError for a cell outside it.
    """
    return _Desk(network, trace, most).working(key, tuple(map(int, cell)))


def strongest_cell(
    trace: Trace,
    key: str,
    head: int | None = None,
    token: int | None = None,
    keys: Sequence[int] | None = None,
) -> Cell:
    """The cell to begin with, of one head, in one token's row and among some keys where they are given.

    Of scores, weights and logits the highest; of other quantities the largest by absolute value. Raises IndexError for
    a place that the quantity does not have.
    """
    axes, values = trace.axes(key), trace[key]
    given = {"head": head, "token": token, "target": token, "query": token}
    among: dict[str, Sequence[int]] = {axis: [place] for axis, place in given.items() if place is not None}
    among |= {"key": keys} if keys else {}
    places = [[*among.get(axis, range(size))] for axis, size in zip(axes, values.shape, strict=True)]
    part = values[np.ix_(*places)]
    strength = part if "key" in axes or key == "logits" else np.abs(part)
    strength = np.where(np.isfinite(part), strength, -np.inf)
    best = np.unravel_index(strength.argmax(), strength.shape)
    return tuple(int(along[i]) for along, i in zip(places, best, strict=True))


# -- numbers as they are shown ---------------------------------------------------------------------------------------


def _sum(values: Sequence[float], rest: float = 0.0, others: int = 0, bias: float | None = None) -> str:
    """Terms with five decimals as one sum: the first few, then all the rest in one number, under it how many they are.

    With a bias at the end.
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


def _column(symbol: str, values: np.ndarray, total: float, others: int) -> tuple[Column, float]:
    """A column and its sum: the true one, and the rest takes up what the roundings leave; with no rest, of its rows.

    total: of all rows, shown or not.
    """
    values = values.round(DECIMALS) + 0.0
    parts = float(values.sum())
    total = round(total if others else parts, DECIMALS)
    rest = round(total - parts, DECIMALS) if others else None
    return Column(symbol, tuple(values.tolist()), rest, total=total), total


def terms_table(terms: Terms, axis: str, x: str, w: str, bias: float | None = None) -> Table:
    """The products of x · w, whose symbols these are, in rows along an axis."""
    columns = (
        Column(x, tuple(terms.x.tolist())),
        Column(w, tuple(terms.w.tolist())),
        Column(f"{x} · {w}", tuple(terms.products.tolist()), terms.rest if terms.others else None, bias, terms.total),
    )
    return Table(axis, tuple(terms.places.tolist()), columns, terms.others)


# -- how a cell is written -------------------------------------------------------------------------------------------


def _at(symbol: str, *indices: int | str) -> str:
    """A symbol with indices; one that already has a lower index, or is a product, in parentheses."""
    symbol = symbol[1:-1] if symbol.startswith("{") else symbol  # {K^R}, to which another upper index was written
    symbol = f"({symbol})" if "_" in symbol or " W" in symbol else symbol
    return f"{symbol}_{{{','.join(map(str, indices))}}}" if indices else symbol


def _place(symbol: str, axes: Sequence[str], index: Sequence[Any]) -> str:
    """A place along these axes: Q_{2,5}. The head is left out, but where the heads are told apart: (head_3)_{2,5}."""
    if axes[0] == "head":
        symbol, axes, index = re.sub(r"(?<=[_^])i\b", f"{{{index[0] + 1}}}", symbol), axes[1:], index[1:]
    counted = zip(axes, index, strict=True)
    return _at(symbol, *(i if isinstance(i, str) or axis in ("word", "class") else i + 1 for axis, i in counted))


def _written(quantity: Quantity, cell: Sequence[Any]) -> str:
    """A cell of a quantity; a running index is a letter."""
    return _place(quantity.numbered(quantity.symbol), quantity.axes, cell)


def _terms(quantity: Quantity, cell: Sequence[Any]) -> list[str]:
    """What a cell is computed from, as its equation writes it: Q_{2,c}, for all c."""
    terms, result = sides(quantity.rule)
    axes: dict[str, str] = dict(zip(result, quantity.axes, strict=True))
    places = dict(zip(result, cell, strict=True))
    return [
        _place(symbol, [axes.get(letter, letter) for letter in of], [places.get(letter, letter) for letter in of])
        for symbol, of in zip(quantity.terms, map("".join, terms), strict=False)
    ]


# -- the arithmetic --------------------------------------------------------------------------------------------------


class _Desk:
    """Where the arithmetic of one cell is written down, from the network's weights and one run.

    Products have one method, since their rule says the rest; other operations one each.
    """

    def __init__(self, network: nn.Module, trace: Trace, most: int) -> None:
        self.network, self.trace, self.graph, self.most = network, trace, trace.graph, most
        self.steps: list[Step] = []
        self.tables: list[Table] = []

    def working(self, key: str, cell: Cell) -> Working:
        quantity = self.graph[key]
        if quantity.operation in PASSING:
            raise KeyError(f"{key} only passes numbers on: there is nothing to compute")
        if len(cell) != len(quantity.axes) or min(cell) < 0:
            raise IndexError(f"{key} has the axes {quantity.axes}, and no cell {cell}")
        compute = self._product if summed(quantity.rule) else getattr(self, f"_{quantity.operation}")
        found: Working = compute(quantity, cell)
        if key not in self.trace:
            return found
        recorded = float(self.trace[key][cell])
        return replace(found, recorded=recorded, changed=self._changed(quantity, found.value, recorded))

    def _changed(self, quantity: Quantity, value: float, recorded: float) -> bool:
        """Whether an edit put in another number than the inputs give. Float32's rounding is no change."""
        edited = any(
            edit.key in (quantity.key, quantity.row) or (edit.operation == "remove" and quantity.operation == "mask")
            for edit in self.trace.edits
        )
        if not edited:
            return False
        values = self.trace[quantity.key]
        largest = float(np.abs(values, where=np.isfinite(values), out=np.zeros_like(values)).max())
        return not math.isclose(value, recorded, rel_tol=1e-4, abs_tol=2e-6 * largest)

    def _read(self, key: str, cell: Cell, through: bool, symbol: str | None = None) -> tuple[float, float]:
        """A number that the arithmetic begins with, written down: as it is shown, and as it is.

        With `through`, and where it is not recorded, the lines that it comes from; unless it was put in by an edit.
        `symbol` is how the equation that reads it writes it, where it has its own way.
        """
        quantity, lines, tables = self.graph[key], len(self.steps), len(self.tables)
        if quantity.operation in PASSING and quantity.reads and not quantity.traced:
            value = float(self._values(key, (*cell[:-1], EVERY))[cell[-1]])
            return self._line(symbol or self._written(quantity, cell), "", rounded(value)), value
        if through or not quantity.traced:
            working = self.working(key, cell)
            if not working.changed:
                return self.steps[-1].value, working.recorded
            del self.steps[lines:], self.tables[tables:]
        value = float(self.trace[key][cell])
        return self._line(symbol or self._written(quantity, cell), "", rounded(value)), value

    def _written(self, quantity: Quantity, cell: Sequence[Any]) -> str:
        """A cell of a quantity; distances are counted from 0, which has as many on both sides."""
        return _written(quantity, self._with_distances(quantity, cell))

    def _with_distances(self, quantity: Quantity, cell: Sequence[Any]) -> list[Any]:
        middle = len(self.trace.tokens) - 1
        return [
            f"{i - middle:+d}" if axis == "distance" and isinstance(i, int) else i
            for axis, i in zip(quantity.axes, cell, strict=True)
        ]

    def _line(self, symbol: str, expression: str, value: float) -> float:
        self.steps.append(Step(symbol, expression, value))
        return value

    def _values(self, key: str, index: Index) -> np.ndarray:
        """Numbers as recorded; where they are not, whole rows recomputed."""
        quantity, patches = self.graph[key], self.trace.patches
        if quantity.traced:
            return self.trace[key][index].astype(np.float64)
        if quantity.operation in ("cut", "flatten") and patches is not None:
            return patches[index].astype(np.float64)
        if quantity.operation == "distances":
            return self.network.get_submodule(key)(self._rows(quantity))[index].double().numpy()
        values = self._values(quantity.reads[0], self.graph.cells(key, index)[0])
        if quantity.operation in PASSING:
            return values
        return self.network.get_submodule(key)(torch.from_numpy(values).float()).double().numpy()

    def _lit(self, key: str, index: Index) -> Lit:
        """The recorded cells from which those at an index are computed."""
        lit: Lit = ()
        for read, cells in zip(self.graph[key].reads, self.graph.cells(key, index), strict=False):
            recorded = self.graph[read].traced or not self.graph[read].reads
            lit += ((read, cells),) if recorded else self._lit(read, cells)
        return lit

    def _found(
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
        """The last line, and with it all that is written down; what is recorded at the cell is not yet looked at.

        right: LaTeX, what the cell is equal to; expression: the same in numbers; shown, value: what that comes to, as
        it is shown and as it is. lit: where it is not what the rule says.
        """
        written = self._written(quantity, cell)
        self._line(written, expression, shown)
        return Working(
            quantity.key,
            cell,
            quantity.operation,
            f"{written} = {right}" if right else written,
            where,
            tuple(self.steps),
            tuple(self.tables),
            self._lit(quantity.key, cell) if lit is None else lit,
            value,
            recorded=value,
        )

    # From the input to X⁰.

    def _look_up(self, quantity: Quantity, cell: Cell) -> Working:
        token, column = cell
        side = quantity.key.partition("embedding")[0]
        trace = self.trace
        ids = trace.target_ids if side and isinstance(trace, TranslationTrace) else trace.ids
        piece = (trace.segments if quantity.reads[0] == "segments" else ids)[token]
        E = self.network.get_submodule(quantity.module).weight
        # Our decoder's first token names the language; those rows stand behind the vocabulary.
        row = E[piece] if piece < len(E) else self.network.decoder.embedding.language.weight[piece - len(E)]
        value = float(row[column])
        matrix = "E_{seg," if quantity.reads[0] == "segments" else "E_{"
        source = f"{matrix}{piece},{column + 1}}}"
        return self._found(quantity, cell, source, source, rounded(value), value)

    def _token_dropout(self, quantity: Quantity, cell: Cell) -> Working:
        """0 for a hidden word; else times 0.88 over the share of tokens that are not hidden."""
        (source,), place, ids = quantity.reads, cell[0] + 1, self.trace.ids
        dropped = [i == self.trace.config.dropped for i in ids]
        hidden, n = sum(dropped), len(ids)
        if dropped[cell[0]]:
            where = rf"x_{{{place}}} = \text{{[MASK]}}"
            return self._found(quantity, cell, "0", "", 0.0, 0.0, lit=(), where=where)
        shown, exact = self._read(source, cell, through=True)
        k = multiplier(n, hidden)
        share = rf"\frac{{{SHOWN:.2f}}}{{1 - {hidden}/{n}}}"
        factor = self._line(rf"k_{{{place}}}", share, rounded(k))
        written = _written(self.graph[source], cell)
        right, expression = rf"k_{{{place}}} \cdot {written}", rf"{number(factor)} \cdot {operand(shown)}"
        return self._found(quantity, cell, right, expression, rounded(factor * shown), exact * k)

    def _put_in_front(self, quantity: Quantity, cell: Cell) -> Working:
        (token, column), in_front = cell, self.trace.config.tokens_in_front
        if token >= in_front:
            return self._product(quantity, cell, quantity.reads[0], (token - in_front, column))
        embedding = self.network.get_submodule(quantity.module)
        symbol = ("x_{cls}", "x_{dist}")[token] if not self.trace.config.registers else ""
        symbol = symbol or ("x_{cls}" if token == 0 else f"x_{{reg,{token}}}")
        value, source = float(embedding.in_front()[token, column]), _at(symbol, column + 1)
        return self._found(quantity, cell, source, source, rounded(value), value, lit=())

    def _positions(self, quantity: Quantity, cell: Cell) -> Working:
        (pos, column), side = cell, quantity.key.partition("embedding")[0]
        module = self.network.get_submodule(quantity.key)
        table = module.table
        row = pos if side else self.trace.rows[pos]
        value = float(module.apart[column] if row is None else table[row, column])
        across = self.trace.config.patches_per_side
        if row and self.trace.picture is not None and are_waves(table, across):
            return self._patch_wave(quantity, cell, ((row - 1) % across, (row - 1) // across), value)
        if isinstance(table, nn.Parameter):
            return self._found(quantity, cell, "", "", rounded(value), value)
        even, d_model = column - column % 2, table.shape[1]
        function = math.cos if column % 2 else math.sin
        # What the subscripts count from 1, the paper's formula counts from 0.
        name, formula = rf"\{function.__name__}", rf"10000^{{({column + 1} - {1 + column % 2})/{d_model}}}"
        angle = rounded(pos / 10_000 ** (even / d_model))
        expression = rf"{name}\frac{{{pos + 1} - 1}}{{{formula}}} = {name}({number(angle)})"
        pair = f"2i + 1 = {column}" if column % 2 else f"2i = {even}"
        general, where = rf"{name}\frac{{pos}}{{10000^{{2i/d_{{model}}}}}}", rf"pos = {pos},\; {pair}"
        return self._found(quantity, cell, general, expression, rounded(function(angle)), value, where=where)

    def _patch_wave(self, quantity: Quantity, cell: Cell, place: tuple[int, int], value: float) -> Working:
        """A sine or a cosine of a patch's column, or of its row; place: these two, from 0."""
        column, quarter = cell[-1], self.trace.config.d_model // 4
        which, k = divmod(column, quarter)
        function, letter, at = (math.sin, math.cos)[which % 2], ("c", "r")[which // 2], place[which // 2]
        name, divisor = rf"\{function.__name__}", f"{BASE ** (k / quarter):.9g}"
        angle = rounded(at / float(divisor))
        fractions = (rf"{name}\frac{{{at}}}{{{below}}}" for below in (f"10000^{{{k}/{quarter}}}", divisor))
        expression = " = ".join((*fractions, f"{name}({number(angle)})"))
        general, where = rf"{name}\frac{{{letter}}}{{10000^{{k/(d_{{model}}/4)}}}}", rf"{letter} = {at},\; k = {k}"
        return self._found(quantity, cell, general, expression, rounded(function(angle)), value, where=where)

    # Products.

    def _split(self, quantity: Quantity, cell: Cell) -> Working:
        """Q, K, V: the head's part of X W; and a product whose rows become columns."""
        return self._product(quantity, cell, quantity.reads[0], self.graph.cells(quantity.key, cell)[0])

    _turn = _split

    def _product(self, quantity: Quantity, cell: Cell, key: str = "", at: Index = ()) -> Working:
        """x · w, and a bias where there is one: of a Linear, of QKᵀ, of AV.

        `key` and `at`: the cell of another product that this one is.
        """
        product, at = self.graph[key or quantity.key], at or cell
        x_at, w_at, *bias_at = self.graph.cells(product.key, at)
        lit = self._lit(product.key, at)
        read = self.graph[product.reads[0]]
        x = self._values(read.key, x_at)
        module = self.network.get_submodule(product.module or "")
        w = module.weight.T[w_at].double().numpy() if product.module else self._values(product.reads[1], w_at)
        b = [float(module.bias[place]) for place in bias_at]
        value = sum(b, float(x @ w))
        if not read.traced and read.operation in ("norm", "activation"):  # how the strongest came about, for them all
            strongest = int(np.abs(x * w).argmax())
            x[strongest], _ = self._read(read.key, (*x_at[:-1], strongest), through=True)
        shown = largest_terms(x, w, sum(b), self.most, DECIMALS)
        bias = shown.bias if b else None

        letter, (one, other, *more) = summed(product.rule), _terms(product, self._with_distances(product, at))
        factors = rf"\sum_{{{letter}=1}}^{{{len(x)}}} {one}\, {other}"
        if product.operation == "weighted_sum":  # what a decoder writes later has weight 0
            seen = int(np.flatnonzero(x).max(initial=-1)) + 1
            A, (V, (head, _, column)) = lit
            lit = A, (V, (head, slice(None, seen), column))
        if len(x) == 1 and not b:
            expression = rf"{number(shown.x[0])} \cdot {operand(shown.w[0])}"
        else:
            expression = _sum(shown.products.tolist(), shown.rest, shown.others, bias)
        along = self.graph[product.reads[-1]].axes[sides(product.rule)[0][len(product.reads) - 1].index(letter)]
        names = {"scores": ("q", "k"), "weighted_sum": ("A", "v")}.get(product.operation, ("x", "w"))
        names = {"Q_R": ("q", "kᴿ"), "K_R": ("k", "qᴿ")}.get(product.key.rpartition(".")[2], names)
        self.tables.append(terms_table(shown, along, *names, bias))
        return self._found(quantity, cell, " + ".join((factors, *more)), expression, shown.total, value, lit)

    # Number by number.

    def _add(self, quantity: Quantity, cell: Cell) -> Working:
        """A sum, or a number times a factor; a score, and all outside the layers, with all that they come from."""
        through, symbols = quantity.layer is None or quantity.operation in ("scale", "biased"), _terms(quantity, cell)
        reads = zip(quantity.reads, symbols, strict=True)
        shown, exact = zip(*(self._read(read, cell, through, symbol) for read, symbol in reads), strict=True)
        root, factor = quantity.terms[len(symbols) :], quantity.factor
        size = (str(round(max(factor, 1 / factor) ** 2)) for _ in root)
        expression = quantity.of(number(shown[0]), *map(operand, shown[1:]), *size)
        right = quantity.of(*symbols, *root)
        return self._found(quantity, cell, right, expression, rounded(sum(shown) * factor), sum(exact) * factor)

    _mean = _scale = _biased = _add

    def _times(self, quantity: Quantity, cell: Cell) -> Working:
        """Two numbers, multiplied."""
        symbols = _terms(quantity, cell)
        shown, exact = zip(*(self._read(read, cell, through=False) for read in quantity.reads), strict=True)
        expression = rf"{number(shown[0])} \cdot {operand(shown[1])}"
        right = rf"{symbols[0]} \cdot {symbols[1]}"
        return self._found(quantity, cell, right, expression, rounded(shown[0] * shown[1]), exact[0] * exact[1])

    def _layer_scale(self, quantity: Quantity, cell: Cell) -> Working:
        shown, exact = self._read(quantity.reads[0], cell, through=False)
        trained = float(self.network.get_submodule(quantity.module).scale[cell[-1]])
        right = r" \cdot ".join(_terms(quantity, cell))
        expression = rf"{number(shown)} \cdot {operand(rounded(trained))}"
        return self._found(quantity, cell, right, expression, rounded(shown * rounded(trained)), exact * trained)

    def _learned(self, quantity: Quantity, cell: Cell) -> Working:
        value = float(self.network.get_submodule(quantity.module).vector[cell])
        return self._found(quantity, cell, "", "", rounded(value), value, lit=())

    def _patch_mean(self, quantity: Quantity, cell: Cell) -> Working:
        """The sum of a column of Z over the patches, and that divided by their number."""
        ((place, column),) = self.graph.cells(quantity.key, cell)
        read = self.graph[quantity.reads[0]]
        x, front = self._values(read.key, (place, column)), place.start
        places = np.argsort(-np.abs(x), kind="stable")[: self.most]
        shown, whole = _column("Z", x[places], float(x.sum()), len(x) - len(places))
        self.tables.append(Table(read.axes[0], tuple((places + front).tolist()), (shown,), len(x) - len(places)))
        running = _place(read.symbol, read.axes, ("j", column))
        summed_up = rf"\sum_{{j={front + 1}}}^{{{front + len(x)}}} {running}"
        self._line(summed_up, _sum(shown.values, shown.rest or 0.0, len(x) - len(places)), whole)
        right, expression = (rf"\frac{{{above}}}{{{len(x)}}}" for above in (summed_up, number(whole)))
        return self._found(quantity, cell, right, expression, rounded(whole / len(x)), float(x.mean()))

    def _norm(self, quantity: Quantity, cell: Cell) -> Working:
        read, module = self.graph[quantity.reads[0]], self.network.get_submodule(quantity.module)
        place, column = cell[:-1], cell[-1]
        x, n = self._values(read.key, (*place, EVERY)), module.weight.numel()
        gamma = float(module.weight[column])
        beta = 0.0 if module.bias is None else float(module.bias[column])
        centre = centred(module, x)
        value = gamma * float(centre[column]) / math.sqrt(float((centre**2).mean()) + module.eps) + beta

        own, _ = self._read(read.key, cell, through=False)
        far = np.argsort(-np.abs(centre), kind="stable")
        places = np.array([column, *far[far != column]][: self.most])
        others = n - len(places)
        column_x, sum_x = _column("x", x[places], float(x.sum()), others)
        rms = quantity.function == "rms"
        mean, squared = (0.0, "x²") if rms else (rounded(sum_x / n), "(x − μ)²")
        away = (np.array(column_x.values) - mean).round(DECIMALS)
        column_squares, squares = _column(squared, away**2, float((centre**2).sum()), others)
        own_columns = (column_x, Column("x − μ", tuple((away + 0.0).tolist())))
        columns = (*((Column("x", column_x.values),) if rms else own_columns), column_squares)
        self.tables.append(Table(read.axes[-1], tuple(places.tolist()), columns, others))

        variance = rounded(squares / n)
        standard = rounded((own - mean) / math.sqrt(variance + module.eps))
        shown_gamma, shown_beta = rounded(gamma), rounded(beta)
        hat, index = _at(r"\hat x", column + 1), column + 1
        root = rf"\sqrt{{{number(variance)} + {number(module.eps)}}}"
        above, less, size = number(own), r" - \mu", r"\sigma^2"
        if rms:
            less, size = "", r"\operatorname{RMS}(x)^2"
        else:
            above = f"{above} - {operand(mean)}"
            self._line(r"\mu", rf"\frac{{{number(sum_x)}}}{{{n}}}", mean)
        self._line(size, rf"\frac{{{number(squares)}}}{{{n}}}", variance)
        self._line(hat, rf"\frac{{{above}}}{{{root}}}", standard)
        expression = rf"{number(shown_gamma)} \cdot {operand(standard)}"
        right = rf"\gamma_{{{index}}}\, {hat}"
        if module.bias is not None:
            expression, right = rf"{expression} + {operand(shown_beta)}", rf"{right} + \beta_{{{index}}}"
        where = rf"{hat} = \frac{{{_written(read, cell)}{less}}}{{\sqrt{{{size} + \epsilon}}}}"
        shown = rounded(shown_gamma * standard + shown_beta)
        return self._found(quantity, cell, right, expression, shown, value, where=where)

    # Attention.

    def _relative(self, quantity: Quantity, cell: Cell) -> Working:
        """The number of a head for a distance, and which row of the table that is."""
        head, i, j = cell
        attention, distance = self.network.get_submodule(quantity.key.rpartition(".")[0]), j - i
        buckets, farthest = attention.distances.num_embeddings, attention.farthest
        half = buckets // 2
        row = int(table_rows(i + 1, j + 1, buckets, farthest)[i, j])
        value = float(attention.distances.weight[row, head])
        exact, away = half // 2, abs(distance)
        counted = str(away)
        if away >= exact:
            grows = rf"\frac{{\ln({away} / {exact})}}{{\ln({farthest} / {exact})}} \cdot {half - exact}"
            counted = rf"\min\bigl({half - 1},\; {exact} + \bigl\lfloor {grows} \bigr\rfloor\bigr)"
        counted = f"{half} + {counted}" if distance > 0 else counted
        found = f"r({distance}) = {counted}" + f" = {row}" * (counted != str(row))
        where = rf"j - i = {j + 1} - {i + 1} = {distance},\quad {found}"
        return self._found(quantity, cell, "b_{r(j - i)}", "", rounded(value), value, lit=(), where=where)

    def _sloped(self, quantity: Quantity, cell: Cell) -> Working:
        """The slope of a head, down which scores go with the distance."""
        head, i, j = cell
        slope, away = float(self._attention_of(quantity).slopes[head]), abs(j - i)
        where = rf"m_{{{head + 1}}} = {slope:.9g},\quad \lvert j - i \rvert = {away}"
        expression, value = rf"-{slope:.9g} \cdot {away}", -slope * away
        return self._found(quantity, cell, quantity.terms[0], expression, rounded(value), value, lit=(), where=where)

    def _at_distance(self, quantity: Quantity, cell: Cell) -> Working:
        """What a query finds in the key of a distance, or a key in its query: that of this pair's distance."""
        head, i, j = cell
        at = head, i if "query" in self.graph[quantity.reads[0]].axes else j, j - i + len(self.trace.tokens) - 1
        return self._product(quantity, cell, quantity.reads[0], at)

    def _distances(self, quantity: Quantity, cell: Cell) -> Working:
        """A number of a distance's vector, and in which row of the table that stands."""
        place, column = cell
        row = int(self._rows(quantity)[place])
        value = float(self.network.get_submodule(quantity.key).weight[row, column])
        return self._found(quantity, cell, f"r_{{{row},{column + 1}}}", "", rounded(value), value, lit=())

    def _rows(self, quantity: Quantity) -> torch.Tensor:
        """The rows of the table for each distance of this input."""
        attention = self._attention_of(quantity)
        n, settings = len(self.trace.tokens), (attention.span, attention.near, attention.farthest)
        return disentangled.table_rows(n, *settings)

    def _rotate(self, quantity: Quantity, cell: Cell) -> Working:
        """Two numbers of a row as a point, turned: one times the cosine, less or plus the other times the sine."""
        (head, place, column), read = cell, self.graph[quantity.reads[0]]
        speeds, base = self._attention_of(quantity).speeds, self.trace.config.base_of(quantity.layer or 0)
        half = len(speeds)
        pair, minus = column % half, column < half
        points = [(head, place, one) for one in (column, column + half if minus else column - half)]
        x, y = (float(self._values(read.key, at)) for at in points)
        turn = place * float(speeds[pair])
        value = x * math.cos(turn) + (-y if minus else y) * math.sin(turn)

        divisor = f"{base ** (pair / half):.9g}"
        below = [rf"{base:.9g}^{{{2 * pair}/{2 * half}}}", divisor]
        if not math.isclose(float(speeds[pair]), 1 / float(divisor), rel_tol=1e-5):  # a file holds rounded ones
            divisor = f"{1 / float(speeds[pair]):.9g}"
            below = [divisor]
        fractions = " = ".join(rf"\frac{{{place}}}{{{of}}}" for of in below)
        angle = self._line(r"\varphi", fractions, rounded(place / float(divisor)))
        cos, sin = (
            self._line(rf"\{name}\varphi", rf"\{name}({number(angle)})", rounded(getattr(math, name)(angle)))
            for name in ("cos", "sin")
        )
        one, other = (self._read(read.key, at, through=False)[0] for at in points)
        sign = "-" if minus else "+"
        right = rf"{_written(read, points[0])} \cos\varphi {sign} {_written(read, points[1])} \sin\varphi"
        expression = rf"{number(one)} \cdot {operand(cos)} {sign} {operand(other)} \cdot {operand(sin)}"
        shown = rounded(one * cos + (-other if minus else other) * sin)
        return self._found(quantity, cell, right, expression, shown, value, tuple((read.key, at) for at in points))

    def _attention_of(self, quantity: Quantity) -> nn.Module:
        return self.network.get_submodule(quantity.key.rpartition(".")[0])

    def _mask(self, quantity: Quantity, cell: Cell) -> Working:
        _, i, j = cell
        read, window = quantity.reads[0], quantity.window
        if window is not None and abs(i - j) > window:
            right = rf"-\infty \quad (\lvert {i + 1} - {j + 1} \rvert > {window})"
            return self._found(quantity, cell, right, "", -math.inf, -math.inf, lit=())
        # While it writes, a decoder sees nothing of its own that comes later.
        if quantity.key.startswith("decoder.") and ".attention." in quantity.key and j > i:
            right = rf"-\infty \quad ({j + 1} > {i + 1})"
            return self._found(quantity, cell, right, "", -math.inf, -math.inf, lit=())
        shown, value = self._read(read, cell, through=True)
        source = _written(self.graph[read], cell)
        return self._found(quantity, cell, source, source, shown, value)

    def _softmax(self, quantity: Quantity, cell: Cell) -> Working:
        """e^(M − max) over the sum of the row; of the answer too."""
        read = self.graph[quantity.reads[0]]
        place, own = cell[:-1], cell[-1]
        row = self._values(read.key, (*place, EVERY))
        value = float(softmax(row)[own])

        attention = quantity.axes[0] == "head"
        shown, _ = self._read(read.key, cell, through=attention)
        if attention and len(row) <= max(ALL_KEYS, self.most):
            places = np.arange(len(row))
        else:
            best = np.argpartition(-row, min(self.most, len(row)) - 1)[: self.most]
            best = best[np.argsort(-row[best], kind="stable")]
            places = best if len(row) <= self.most else np.array([own, *best[best != own]])[: self.most]
        others = len(row) - len(places)
        numbers = row[places].round(DECIMALS) + 0.0
        numbers[places == own] = shown
        top = float(numbers.max())
        away = numbers - top
        powers = np.exp(away)
        mine = rounded(math.exp(shown - top))
        powers[places == own] = mine
        column_powers, total = _column(
            f"e^({read.symbol} − max)", powers, float(np.exp(row - row.max()).sum()) if others else 0.0, others
        )
        weights = (np.array(column_powers.values) / total).round(DECIMALS)
        result = rounded(mine / total)
        weights[places == own] = round(result, DECIMALS)
        columns = (
            Column(read.symbol, tuple(numbers.round(DECIMALS).tolist())),
            Column(f"{read.symbol} − max", tuple((away.round(DECIMALS) + 0.0).tolist())),
            column_powers,
            Column(quantity.symbol, tuple(weights.tolist())),
        )
        self.tables.append(Table(self._keys(quantity), tuple(places.tolist()), columns, others))

        source = _written(read, cell)
        running = _written(read, (*place, "j'"))
        power, summed_up = rf"e^{{{source} - \max}}", rf"\sum_{{j'}} e^{{{running} - \max}}"
        ordered = sorted(column_powers.values, reverse=True)
        self._line(power, rf"e^{{{number(shown)} - {operand(top)}}}", mine)
        self._line(summed_up, _sum(ordered, column_powers.rest or 0.0, others), total)
        right = rf"\frac{{e^{{{source}}}}}{{\sum_{{j'}} e^{{{running}}}}}"
        expression = rf"\frac{{{number(mine)}}}{{{number(total)}}}"
        # What is hidden gets nothing, whatever the others are.
        lit = ((read.key, cell),) if shown == -math.inf else None
        return self._found(quantity, cell, right, expression, result, value, lit)

    def _keys(self, quantity: Quantity) -> str:
        """The axis that a softmax runs along, as the quantity calls it whose places they are."""
        if quantity.axes[-1] != "key":
            return quantity.axes[-1]
        return self.graph[f"{quantity.key.rpartition('.')[0]}.K"].axes[1]

    def _concat(self, quantity: Quantity, cell: Cell) -> Working:
        ((read, place),) = self._lit(quantity.key, cell)
        value, source = float(self.trace[read][place]), _written(self.graph[read], place)
        return self._found(quantity, cell, source, source, rounded(value), value)

    # FFN.

    def _activation(self, quantity: Quantity, cell: Cell) -> Working:
        read = self.graph[quantity.reads[0]]
        shown, _ = self._read(read.key, cell, through=False)
        u = float(self._values(read.key, (*cell[:-1], EVERY))[cell[-1]])
        source = _written(read, cell)
        worked = ACTIVATIONS[quantity.function].by_hand
        *_, true = worked(source, u, lambda symbol, expression, value: value)
        right, expression, value = worked(
            source, shown, lambda symbol, line, value: self._line(symbol, line, rounded(value))
        )
        return self._found(quantity, cell, right, expression, rounded(value), true)
