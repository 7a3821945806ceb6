"""Operation and Quantity: the steps of a network as data.

The modules in this folder hold a row for each operation: the cells it reads, its LaTeX, its arithmetic by hand, and its
kind of cost. All other code uses `OPERATIONS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from model.rule import sides, summed

Scale = Literal["signed", "share", "positive"]


def written_out(quantity: "Quantity", *terms: str) -> str:
    """LaTeX of a product of two terms plus further ones; of a single term, the term."""
    one, *others = terms
    if not (letter := summed(quantity.rule)):
        return one
    space = r"\," * one.startswith(r"\text")
    transposed = r"^{\top}" * (sides(quantity.rule)[0][1][-1] == letter)
    return " + ".join((f"{one}{space} {others[0]}{transposed}", *others[1:]))


@dataclass(frozen=True)
class Operation:
    """One operation.

    `rule`: letters of its inputs, matrix, bias and result (see model/rule.py). "..." stands for the axes before the
    last; v, p, z and f count the words of a vocabulary, rows of the position table, rows of a table of distances, and
    tokens before the patches. `by_hand(desk, quantity, cell)` writes a cell on a Desk; without it, the operation only
    passes numbers on. `latex(quantity, *terms)`: its formula with these terms: symbols, cells or numbers. `kind`: of
    cost; "" if its name says it. `values(desk, quantity)`: its numbers, if neither recorded nor the output of a module.
    """

    rule: str
    by_hand: Callable[..., Any] | None = None
    latex: Callable[..., str] = written_out
    kind: str = ""
    values: Callable[..., Any] | None = None


#: All operations by name; filled by the package.
OPERATIONS: dict[str, Operation] = {}


@dataclass(frozen=True)
class Quantity:
    """One quantity: its key, its symbols, and how it is computed.

    `key`: path of the module that outputs it; `traced`: a run records it. `reads`: keys that it is computed from.
    `module`: path of the module with its weights (None: no weights). `tied`: an earlier quantity has the same weights:
    E, or those of a layer that shares them. `rule`: letters of its inputs, matrix, bias and result (see model/rule.py).
    `terms`: their symbols in its equation; if its operation has no formula, the one term is the right side. `window`:
    of a mask, the largest attention distance; None: unlimited. `aside`: nothing reads it; it is computed on request by
    the method that its key ends with.
    """

    key: str
    operation: str  # of OPERATIONS
    reads: tuple[str, ...]
    symbol: str  # LaTeX
    terms: tuple[str, ...]
    axes: tuple[str, ...]
    scale: Scale = "signed"
    traced: bool = True
    module: str | None = None
    factor: float = 1.0
    tied: bool = False
    left: str | None = None  # LaTeX: left side of its equation, if not its symbol
    function: str = ""  # of an activation; "rms" for RMSNorm
    rule: str = ""
    window: int | None = None
    aside: bool = False

    @property
    def equation(self) -> str:
        """LaTeX, in the symbols of its inputs."""
        left, right = self.symbol if self.left is None else self.left, self.of(*self.terms)
        return f"{left} = {right}" if left else right

    def of(self, *terms: str) -> str:
        """LaTeX of its formula with these terms: symbols, cells or numbers."""
        return OPERATIONS[self.operation].latex(self, *terms)

    @property
    def layer(self) -> int | None:
        """Its layer, from 0; None outside the layers."""
        path = self.key.split(".")
        return int(path[path.index("layers") + 1]) if "layers" in path else None

    @property
    def row(self) -> str:
        """The key with {l} for the layer: the same for all layers."""
        return self.key if self.layer is None else self.key.replace(f"layers.{self.layer}.", "layers.{l}.", 1)

    def numbered(self, latex: str) -> str:
        """Its symbol or equation with layer numbers: the notes' X^{(l+1)} is X^{(3)} in the third layer."""
        return latex if self.layer is None else latex.replace("(l+1)", f"({self.layer + 1})")
