"""by_hand(network, trace, key, cell): the arithmetic of any one cell of any quantity, with the numbers of that run.

The graph says what a cell is computed from, the trace holds those numbers, and the network the weights. Each line is
exact for the digits that it shows: who types them into a calculator gets the value that stands behind the equals sign,
and parts that are shown add up to the total that is shown. Cells count from 0, indices in formulas from 1; only words
and classes, which have numbers of their own, and the pos of a position count from 0 there too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import nn

from model.analysis import Terms, largest_terms, softmax
from model.decoder import TARGET_LANGUAGES
from model.graph import Operation, Quantity
from model.trace import Trace
from model.translator import TranslationTrace

DECIMALS = 5  # of a number on the page
LEADING = 3  # terms of a sum that a line names; its table names more
NO_WORDS = ("[CLS]", "[SEP]", "[PAD]", *TARGET_LANGUAGES.values())

ROWS = {"first": 0, "second": 1}  # operations that only take a row
Cell = tuple[int, ...]
Lit = tuple[tuple[str, tuple[int | slice, ...]], ...]


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


@dataclass(frozen=True)
class Working:
    """How one cell came about. Data only: the words are the reader's.

    `value` is what the recorded inputs give, in full precision, and `recorded` what the run holds. They differ where an
    edit of the run sits on this very cell: then it is `changed`. An edit further in front cuts the chain of steps,
    which then begins with the number that was put in.
    """

    key: str
    cell: Cell
    operation: Operation
    equation: str  # LaTeX, for this cell
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


def strongest_cell(trace: Trace, key: str, head: int | None = None, token: int | None = None) -> Cell:
    """The cell to begin with: the largest by absolute value, of one head and in one token's row where they are given.

    Of attention weights, the largest from a word to another word, where there is one; of logits, the highest.
    Raises IndexError for a head or a token that the quantity does not have.
    """
    axes, values = trace.axes(key), trace[key]
    chosen = {"head": head, "token": token, "target": token, "query": token}
    places = [
        [*range(size)] if (one := chosen.get(axis)) is None else [one]
        for axis, size in zip(axes, values.shape, strict=True)
    ]
    part = values[np.ix_(*places)]
    strength = np.where(np.isfinite(part), part if key == "logits" else np.abs(part), -np.inf)
    if trace.quantity(key).operation == "softmax":
        _, n_queries, n_keys = values.shape
        other = ~np.eye(n_queries, n_keys, dtype=bool) if ".cross." not in key else np.ones((n_queries, n_keys), bool)
        _, queries, keys = ([i for i, name in enumerate(names or ()) if name in NO_WORDS] for names in trace.names(key))
        other[:, keys] = False
        between = other.copy()
        between[queries] = False
        for wanted in (between, other):
            wanted = wanted[places[1]] & (strength > 0)
            if wanted.any():
                strength = np.where(wanted, strength, -np.inf)
                break
    best = np.unravel_index(strength.argmax(), strength.shape)
    return tuple(int(along[i]) for along, i in zip(places, best, strict=True))


# -- numbers as they are shown ---------------------------------------------------------------------------------------


def rounded(value: float) -> float:
    """A number with the digits that `number` shows: five decimals, and for small ones five digits."""
    if value == 0 or not math.isfinite(value):
        return value + 0.0
    return round(value, max(DECIMALS, DECIMALS - 1 - math.floor(math.log10(abs(value)))))


def number(value: float, decimals: int | None = None) -> str:
    """A number in LaTeX, where a hyphen is set as a minus sign: -0.29352, 0.012346, 1.2346 \\times 10^{-7}, -\\infty.

    With `decimals`, exactly so many.
    """
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    if decimals is not None:
        return f"{round(value, decimals) + 0.0:.{decimals}f}"
    value = rounded(value)
    if value == 0 or abs(value) >= 1e-4:
        whole, _, part = f"{value:.9f}".partition(".")
        return f"{whole}.{part.rstrip('0'):0<{DECIMALS}}"
    mantissa, exponent = f"{value:.{DECIMALS - 1}e}".split("e")
    power = f"10^{{{int(exponent)}}}"
    return power if float(mantissa) == 1 else rf"{mantissa} \times {power}"


def operand(value: float) -> str:
    """A number behind a sign: in parentheses where it is negative."""
    return f"({number(value)})" if value < 0 else number(value)


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
    symbol = f"({symbol})" if "_" in symbol or " W" in symbol else symbol
    return f"{symbol}_{{{','.join(map(str, indices))}}}" if indices else symbol


def _written(quantity: Quantity, cell: Cell) -> str:
    """A cell of a quantity: Q_{2,5}. Its head is left out, but where the heads are told apart: (head_3)_{2,5}."""
    symbol, axes = quantity.numbered(quantity.symbol), quantity.axes
    if axes[0] == "head":
        symbol = symbol.replace("_i", f"_{{{cell[0] + 1}}}")
        axes, cell = axes[1:], cell[1:]
    return _at(symbol, *(i if axis in ("word", "class") else i + 1 for axis, i in zip(axes, cell, strict=True)))


def _operands(quantity: Quantity) -> tuple[str, str, str]:
    """How the equation of a Linear writes its input, its matrix and its bias."""
    product, _, bias = quantity.equation.split(" = ")[-1].rpartition(" + ")
    x, _, matrix = product.rpartition(" ")
    return x.removesuffix(r"\,"), matrix, bias


# -- the arithmetic --------------------------------------------------------------------------------------------------


class _Desk:
    """Where the arithmetic is done: the network's weights and one run. One method for each operation of the graph."""

    def __init__(self, network: nn.Module, trace: Trace, most: int) -> None:
        self.network, self.trace, self.graph, self.most = network, trace, trace.graph, most

    def working(self, key: str, cell: Cell) -> Working:
        quantity = self.graph[key]
        if quantity.operation in ("input", "cut", "flatten", *ROWS):
            raise KeyError(f"{key} only passes numbers on: there is nothing to compute")
        if len(cell) != len(quantity.axes) or min(cell) < 0:
            raise IndexError(f"{key} has the axes {quantity.axes}, and no cell {cell}")
        found: Working = getattr(self, f"_{quantity.operation}")(quantity, cell)
        if not quantity.traced:
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

    def _read(
        self, key: str, cell: Cell, through: bool, symbol: str | None = None
    ) -> tuple[tuple[Step, ...], tuple[Table, ...], float]:
        """A number that the arithmetic begins with, as a line, and how it is shown.

        With `through`, and where it is not recorded, the lines that it comes from; unless it was put in by an edit.
        `symbol` is how the equation that reads it writes it, where it has its own way.
        """
        quantity = self.graph[key]
        if through or not quantity.traced:
            working = self.working(key, cell)
            if not working.changed:
                return working.steps, working.tables, working.steps[-1].value
        value = rounded(float(self.trace[key][cell]))
        return (Step(symbol or _written(quantity, cell), "", value),), (), value

    def _row(self, key: str, place: Cell) -> np.ndarray:
        """The numbers along the last axis: as recorded, or recomputed where they are not."""
        quantity = self.graph[key]
        if quantity.traced:
            return self.trace[key][place].astype(np.float64)
        if quantity.operation in ("cut", "flatten") and self.trace.patches is not None:
            return self.trace.patches[place].astype(np.float64)
        if quantity.operation in ROWS:
            return self._row(quantity.reads[0], (ROWS[quantity.operation],))
        module, row = self.network.get_submodule(key), torch.from_numpy(self._row(quantity.reads[0], place)).float()
        return module(row).double().numpy()

    def _lit_row(self, key: str, place: Cell) -> Lit:
        """The recorded cells behind a row."""
        quantity = self.graph[key]
        if quantity.traced:
            return ((key, (*place, slice(None))),)
        match quantity.operation:
            case "cut":
                size, config = self.trace.config.patch_size, self.trace.config
                y, x = (size * i for i in divmod(place[0], config.patches_per_side))
                channels = (slice(None),) * (config.channels > 1)
                return ((quantity.reads[0], (*channels, slice(y, y + size), slice(x, x + size))),)
            case "flatten":
                return ((quantity.reads[0], (slice(None), slice(None))),)
            case "first" | "second":
                return self._lit_row(quantity.reads[0], (ROWS[quantity.operation],))
        return self._lit_row(quantity.reads[0], place)

    def _lit_cell(self, key: str, cell: Cell) -> Lit:
        return ((key, cell),) if self.graph[key].traced else self.working(key, cell).lit

    # From the input to X⁰.

    def _look_up(self, quantity: Quantity, cell: Cell) -> Working:
        token, column = cell
        side = quantity.key.partition("embedding")[0]
        trace = self.trace
        ids = trace.target_ids if side and isinstance(trace, TranslationTrace) else trace.ids
        piece = (trace.segments if quantity.reads[0] == "segments" else ids)[token]
        E = self.network.get_submodule(quantity.module).weight
        # A decoder's first token names the language; those rows stand behind the vocabulary.
        row = E[piece] if piece < len(E) else self.network.decoder.embedding.language.weight[piece - len(E)]
        value, written = float(row[column]), _written(quantity, cell)
        matrix = "E_{seg," if quantity.reads[0] == "segments" else "E_{"
        source = f"{matrix}{piece},{column + 1}}}"
        step = Step(written, source, rounded(value))
        return _working(quantity, cell, f"{written} = {source}", (step,), ((quantity.reads[0], (token,)),), value)

    def _put_in_front(self, quantity: Quantity, cell: Cell) -> Working:
        (token, column), in_front = cell, self.trace.config.tokens_in_front
        if token >= in_front:
            return self._product(quantity, cell, self.graph[quantity.reads[0]], (token - in_front,), column)
        embedding = self.network.get_submodule(quantity.module)
        symbol, vector = (("x_{cls}", embedding.cls), ("x_{dist}", embedding.distillation))[token]
        value, written, source = float(vector[column]), _written(quantity, cell), _at(symbol, column + 1)
        return _working(quantity, cell, f"{written} = {source}", (Step(written, source, rounded(value)),), (), value)

    def _positions(self, quantity: Quantity, cell: Cell) -> Working:
        (pos, column), side = cell, quantity.key.partition("embedding")[0]
        module, written = self.network.get_submodule(quantity.key), _written(quantity, cell)
        table = module.table
        row = pos if side else self.trace.rows[pos]
        value = float(module.apart[column] if row is None else table[row, column])
        if isinstance(table, nn.Parameter):
            return _working(quantity, cell, written, (Step(written, "", rounded(value)),), (), value)
        even, d_model = column - column % 2, table.shape[1]
        function = math.cos if column % 2 else math.sin
        name, formula = rf"\{function.__name__}", rf"10000^{{{even}/{d_model}}}"
        divisor = f"{10_000 ** (even / d_model):.9g}"
        angle = rounded(pos / float(divisor))
        fractions = (rf"{name}\frac{{{pos}}}{{{below}}}" for below in (formula, divisor))
        step = Step(written, " = ".join((*fractions, f"{name}({number(angle)})")), rounded(function(angle)))
        pair = f"2i + 1 = {column}" if column % 2 else f"2i = {even}"
        general = rf"{name}\frac{{pos}}{{10000^{{2i/d_{{model}}}}}}, \quad pos = {pos},\; {pair}"
        return _working(quantity, cell, f"{written} = {general}", (step,), (), value)

    def _scale(self, quantity: Quantity, cell: Cell) -> Working:
        """× √d_model or ÷ √d_k."""
        read = quantity.reads[0]
        steps, tables, shown = self._read(read, cell, through=True)
        exact = float(self.trace[read][cell]) if self.graph[read].traced else self.working(read, cell).value
        written, source = _written(quantity, cell), _written(self.graph[read], cell)
        if quantity.factor > 1:
            size, width = round(quantity.factor**2), quantity.equation.partition(r"\sqrt")[2]
            general, filled = rf"{source} \cdot \sqrt{width}", rf"{number(shown)} \cdot \sqrt{{{size}}}"
        else:
            size = round(1 / quantity.factor**2)
            general, filled = rf"\frac{{{source}}}{{\sqrt{{d_k}}}}", rf"\frac{{{number(shown)}}}{{\sqrt{{{size}}}}}"
        step = Step(written, filled, rounded(shown * quantity.factor))
        lit, value = self._lit_cell(read, cell), exact * quantity.factor
        return _working(quantity, cell, f"{written} = {general}", (*steps, step), lit, value, tables)

    # Linear.

    def _linear(self, quantity: Quantity, cell: Cell) -> Working:
        place = cell[:-1][: len(self.graph[quantity.reads[0]].axes) - 1]  # a classifier reads one row, of no token
        return self._product(quantity, cell, quantity, place, cell[-1])

    def _split(self, quantity: Quantity, cell: Cell) -> Working:
        """Q, K, V: the head's part of X W."""
        head, token, column = cell
        d_k = self.trace[quantity.key].shape[-1]
        return self._product(quantity, cell, self.graph[quantity.reads[0]], (token,), head * d_k + column)

    def _product(self, quantity: Quantity, cell: Cell, linear: Quantity, place: Cell, column: int) -> Working:
        """x · w + b, where x is the row at `place` of what `linear` reads, and w a column of its matrix."""
        read, module = self.graph[linear.reads[0]], self.network.get_submodule(linear.module)
        x, w, b = self._row(read.key, place), module.weight[column].double().numpy(), float(module.bias[column])
        value = float(x @ w) + b
        steps: tuple[Step, ...] = ()
        tables: tuple[Table, ...] = ()
        if not read.traced and read.operation in ("norm", "activation"):  # how the strongest came about, for them all
            strongest = int(np.abs(x * w).argmax())
            steps, tables, x[strongest] = self._read(read.key, (*place, strongest), through=True)
        terms = largest_terms(x, w, b, self.most, DECIMALS)
        of, matrix, bias = _operands(linear)
        written, target = _written(quantity, cell), column if linear.axes[-1] in ("word", "class") else column + 1
        row = [i + 1 for i in place]
        summed = rf"\sum_{{m=1}}^{{{len(x)}}} {_at(of, *row, 'm')}\, {_at(matrix, 'm', target)}"
        step = Step(written, _sum(terms.products.tolist(), terms.rest, terms.others, terms.bias), terms.total)
        table = terms_table(terms, read.axes[-1], "x", "w", terms.bias)
        return _working(
            quantity, cell, f"{written} = {summed} + {_at(bias, target)}", (*steps, step),
            self._lit_row(read.key, place), value, (*tables, table),
        )  # fmt: skip

    # Add & Norm.

    def _add(self, quantity: Quantity, cell: Cell) -> Working:
        """x + o; the embedding, its position and its segment with all that they come from."""
        steps: tuple[Step, ...] = ()
        tables: tuple[Table, ...] = ()
        shown: list[float] = []
        value = 0.0
        symbols = [_at(term, *(i + 1 for i in cell)) for term in quantity.equation.split(" = ")[1].split(" + ")]
        for read, symbol in zip(quantity.reads, symbols, strict=True):
            more, more_tables, part = self._read(read, cell, quantity.layer is None, symbol)
            steps, tables, shown = (*steps, *more), (*tables, *more_tables), [*shown, part]
            value += float(self.trace[read][cell])
        written = _written(quantity, cell)
        terms = " + ".join([number(shown[0]), *map(operand, shown[1:])])
        step = Step(written, terms, rounded(sum(shown)))
        lit = tuple((read, cell) for read in quantity.reads)
        return _working(quantity, cell, f"{written} = {' + '.join(symbols)}", (*steps, step), lit, value, tables)

    def _norm(self, quantity: Quantity, cell: Cell) -> Working:
        read, module = self.graph[quantity.reads[0]], self.network.get_submodule(quantity.module)
        place, column = cell[:-1], cell[-1]
        x, n = self._row(read.key, place), module.weight.numel()
        gamma, beta = float(module.weight[column]), float(module.bias[column])
        variance = float(x.var())
        value = gamma * (x[column] - float(x.mean())) / math.sqrt(variance + module.eps) + beta

        steps, tables, own = self._read(read.key, cell, through=False)
        far = np.argsort(-np.abs(x - x.mean()), kind="stable")
        places = np.array([column, *far[far != column]][: self.most])
        others = n - len(places)
        column_x, sum_x = _column("x", x[places], float(x.sum()), others)
        mean = rounded(sum_x / n)
        away = (np.array(column_x.values) - mean).round(DECIMALS)
        column_squares, squares = _column("(x − μ)²", away**2, float(((x - x.mean()) ** 2).sum()), others)
        columns = (column_x, Column("x − μ", tuple((away + 0.0).tolist())), column_squares)
        table = Table(read.axes[-1], tuple(places.tolist()), columns, others)

        variance = rounded(squares / n)
        standard = rounded((own - mean) / math.sqrt(variance + module.eps))
        shown_gamma, shown_beta = rounded(gamma), rounded(beta)
        written, hat, index = _written(quantity, cell), _at(r"\hat x", column + 1), column + 1
        root = rf"\sqrt{{{number(variance)} + {number(module.eps)}}}"
        result = Step(
            written,
            rf"{number(shown_gamma)} \cdot {operand(standard)} + {operand(shown_beta)}",
            rounded(shown_gamma * standard + shown_beta),
        )
        steps = (
            *steps,
            Step(r"\mu", rf"\frac{{{number(sum_x)}}}{{{n}}}", mean),
            Step(r"\sigma^2", rf"\frac{{{number(squares)}}}{{{n}}}", variance),
            Step(hat, rf"\frac{{{number(own)} - {operand(mean)}}}{{{root}}}", standard),
            result,
        )
        source = _written(read, cell)
        equation = (
            rf"{written} = \gamma_{{{index}}}\, {hat} + \beta_{{{index}}}, \quad "
            rf"{hat} = \frac{{{source} - \mu}}{{\sqrt{{\sigma^2 + \epsilon}}}}"
        )
        lit = self._lit_row(read.key, place)
        return _working(quantity, cell, equation, steps, lit, value, (*tables, table))

    # The answer of two classifiers.

    def _mean(self, quantity: Quantity, cell: Cell) -> Working:
        """Half the sum of two numbers, with all that they come from."""
        (a_steps, a_tables, a), (b_steps, b_tables, b) = (self._read(key, cell, through=True) for key in quantity.reads)
        value = sum(float(self.trace[key][cell]) for key in quantity.reads) / 2
        written, (one, other) = _written(quantity, cell), (_written(self.graph[key], cell) for key in quantity.reads)
        step = Step(written, rf"\frac{{{number(a)} + {operand(b)}}}{{2}}", rounded((a + b) / 2))
        equation, lit = rf"{written} = \frac{{{one} + {other}}}{{2}}", tuple((key, cell) for key in quantity.reads)
        return _working(quantity, cell, equation, (*a_steps, *b_steps, step), lit, value, (*a_tables, *b_tables))

    # Attention.

    def _scores(self, quantity: Quantity, cell: Cell) -> Working:
        head, i, j = cell
        Q, K = quantity.reads
        q, k = self._row(Q, (head, i)), self._row(K, (head, j))
        terms = largest_terms(q, k, 0.0, self.most, DECIMALS)
        written = _written(quantity, cell)
        step = Step(written, _sum(terms.products.tolist(), terms.rest, terms.others), terms.total)
        equation = rf"{written} = \sum_{{c=1}}^{{{len(q)}}} Q_{{{i + 1},c}}\, K_{{{j + 1},c}}"
        lit = ((Q, (head, i, slice(None))), (K, (head, j, slice(None))))
        table = terms_table(terms, "d_k", "q", "k")
        return _working(quantity, cell, equation, (step,), lit, float(q @ k), (table,))

    def _mask(self, quantity: Quantity, cell: Cell) -> Working:
        _, i, j = cell
        read, written = quantity.reads[0], _written(quantity, cell)
        # The only mask of these networks: while it writes, a decoder sees nothing of its own that comes later.
        if quantity.key.startswith("decoder.") and ".attention." in quantity.key and j > i:
            equation = rf"{written} = -\infty \quad ({j + 1} > {i + 1})"
            return _working(quantity, cell, equation, (Step(written, "", -math.inf),), (), -math.inf)
        steps, tables, shown = self._read(read, cell, through=True)
        source = _written(self.graph[read], cell)
        step, value = Step(written, source, shown), float(self.trace[read][cell])
        return _working(quantity, cell, f"{written} = {source}", (*steps, step), ((read, cell),), value, tables)

    def _softmax(self, quantity: Quantity, cell: Cell) -> Working:
        """e^(M − max) over the sum of the row; of the answer too."""
        read = self.graph[quantity.reads[0]]
        place, own = cell[:-1], cell[-1]
        row = self._row(read.key, place)
        value = float(softmax(row)[own])

        attention = quantity.axes[0] == "head"
        steps, tables, shown = self._read(read.key, cell, through=attention)
        if attention:
            places = np.arange(len(row))  # all keys
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
        table = Table(
            self._keys(quantity),
            tuple(places.tolist()),
            (
                Column(read.symbol, tuple(numbers.round(DECIMALS).tolist())),
                Column(f"{read.symbol} − max", tuple((away.round(DECIMALS) + 0.0).tolist())),
                column_powers,
                Column(quantity.symbol, tuple(weights.tolist())),
            ),
            others,
        )

        written, source = _written(quantity, cell), _written(read, cell)
        running = _at(read.symbol, *(i + 1 for i in place[attention:]), "j'")
        power, summed = rf"e^{{{source} - \max}}", rf"\sum_{{j'}} e^{{{running} - \max}}"
        ordered = sorted(column_powers.values, reverse=True)
        steps = (
            *steps,
            Step(power, rf"e^{{{number(shown)} - {operand(top)}}}", mine),
            Step(summed, _sum(ordered, column_powers.rest or 0.0, others), total),
            Step(written, rf"\frac{{{number(mine)}}}{{{number(total)}}}", result),
        )
        equation = rf"{written} = \frac{{e^{{{source}}}}}{{\sum_{{j'}} e^{{{running}}}}}"
        # What is hidden gets nothing, whatever the others are.
        lit = ((read.key, cell),) if shown == -math.inf else self._lit_row(read.key, place)
        return _working(quantity, cell, equation, steps, lit, value, (*tables, table))

    def _keys(self, quantity: Quantity) -> str:
        """The axis that a softmax runs along, as the quantity calls it whose places they are."""
        if quantity.axes[-1] != "key":
            return quantity.axes[-1]
        return self.graph[f"{quantity.key.rpartition('.')[0]}.K"].axes[1]

    def _weighted_sum(self, quantity: Quantity, cell: Cell) -> Working:
        head, i, column = cell
        A, V = quantity.reads
        weights, values = self._row(A, (head, i)), self.trace[V][head, :, column].astype(np.float64)
        terms = largest_terms(weights, values, 0.0, self.most, DECIMALS)
        written = _written(quantity, cell)
        if len(weights) == 1:
            expression = rf"{number(terms.x[0])} \cdot {operand(terms.w[0])}"
        else:
            expression = _sum(terms.products.tolist(), terms.rest, terms.others)
        equation = rf"{written} = \sum_{{j=1}}^{{{len(weights)}}} A_{{{i + 1},j}}\, V_{{j,{column + 1}}}"
        seen = int(np.flatnonzero(weights).max(initial=-1)) + 1  # what a decoder writes later has weight 0
        lit = ((A, (head, i, slice(None))), (V, (head, slice(None, seen), column)))
        table = terms_table(terms, self.graph[V].axes[1], "A", "v")
        step = Step(written, expression, terms.total)
        return _working(quantity, cell, equation, (step,), lit, float(weights @ values), (table,))

    def _concat(self, quantity: Quantity, cell: Cell) -> Working:
        token, column = cell
        read = self.graph[quantity.reads[0]]
        head, component = divmod(column, self.trace[read.key].shape[-1])
        source = (head, token, component)
        value, written, of = float(self.trace[read.key][source]), _written(quantity, cell), _written(read, source)
        step = Step(written, of, rounded(value))
        return _working(quantity, cell, f"{written} = {of}", (step,), ((read.key, source),), value)

    # FFN.

    def _activation(self, quantity: Quantity, cell: Cell) -> Working:
        read = self.graph[quantity.reads[0]]
        steps, tables, shown = self._read(read.key, cell, through=False)
        u = float(self._row(read.key, cell[:-1])[cell[-1]])
        written, source = _written(quantity, cell), _written(read, cell)
        if r"\tanh" in quantity.equation:
            value, general = math.tanh(u), rf"\tanh({source})"
            new = [Step(written, rf"\tanh({number(shown)})", rounded(math.tanh(shown)))]
        elif r"\operatorname{ReLU}" in quantity.equation:
            value, general = max(0.0, u), rf"\max(0, {source})"
            new = [Step(written, rf"\max(0, {number(shown)})", max(0.0, shown))]
        else:
            value, general = u * _phi(u), rf"{source} \cdot \Phi({source})"
            phi = rounded(_phi(shown))
            new = [
                Step(rf"\Phi({source})", rf"\Phi({number(shown)})", phi),
                Step(written, rf"{number(shown)} \cdot {operand(phi)}", rounded(shown * phi)),
            ]
        lit = self._lit_cell(read.key, cell)
        return _working(quantity, cell, f"{written} = {general}", (*steps, *new), lit, value, tables)


def _working(
    quantity: Quantity,
    cell: Cell,
    equation: str,
    steps: tuple[Step, ...],
    lit: Lit,
    value: float,
    tables: tuple[Table, ...] = (),
) -> Working:
    """What an operation found; what is recorded at its cell is not yet looked at."""
    return Working(quantity.key, cell, quantity.operation, equation, steps, tables, lit, value, recorded=value)


def _phi(u: float) -> float:
    """The share of a standard normal distribution below u."""
    return 0.5 * math.erfc(-u / math.sqrt(2))
