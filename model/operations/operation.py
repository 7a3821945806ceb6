"""An operation, as data, and a quantity: what an operation makes of others.

The modules beside this one hold a row for each operation: from which cells it computes its own, how it is written, how
it is worked out by hand, and what kind of work it is. Everybody else asks `OPERATIONS`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from model.rule import sides, summed

Scale = Literal["signed", "share", "positive"]


def written_out(quantity: "Quantity", *terms: str) -> str:
    """LaTeX: a product of two terms, and what is added to it; of no product, the one term."""
    one, *others = terms
    if not (letter := summed(quantity.rule)):
        return one
    space = r"\," * one.startswith(r"\text")
    transposed = r"^{\top}" * (sides(quantity.rule)[0][1][-1] == letter)
    return " + ".join((f"{one}{space} {others[0]}{transposed}", *others[1:]))


@dataclass(frozen=True)
class Operation:
    """`rule`: the letters of what it reads, then of its matrix and its bias, and of itself (see model/rule.py). "..."
    stands for the axes before the last; v, p, z and f count the words of a vocabulary, the rows of a table of
    positions, those of a table of distances, and tokens in front. `by_hand(desk, quantity, cell)` works a cell out on a
    Desk; without it, it only passes numbers on. `latex(quantity, *terms)` is what it is of these terms, be they
    symbols, cells or numbers. `kind`: of work, as costs are counted; "" where its name says it. `values(desk,
    quantity)`: its numbers where a run does not record them and no module puts them out.
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
    """One quantity: its key, how the notes write it, and where it comes from.

    `key` is the path of the module that puts it out; where `traced`, a run records it. `reads` are the keys that it is
    computed from, `module` the path of the module whose weights it uses (None: it has none); they are `tied` where an
    earlier quantity has the same matrix: E, which looks words up, or that of a layer which shares it. `rule` has the
    letters of what it reads, then of its matrix and its bias, and of itself (see model/rule.py). `terms` are how its
    equation writes them; where `of` has no formula for its operation, the one term is all that is right of the equals
    sign. `window`: of a mask, how far away a token may look; None: everywhere. An `aside` is read by none: it is
    computed when somebody asks for it, by the method that its key ends with.
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
    left: str | None = None  # LaTeX: what its equation says is equal, where that is not its symbol
    function: str = ""  # of an activation; of a norm "rms", where it is RMSNorm
    rule: str = ""
    window: int | None = None
    aside: bool = False

    @property
    def equation(self) -> str:
        """LaTeX, in the symbols of what it reads."""
        left, right = self.symbol if self.left is None else self.left, self.of(*self.terms)
        return f"{left} = {right}" if left else right

    def of(self, *terms: str) -> str:
        """LaTeX: what it is of these terms, be they symbols, cells or numbers."""
        return OPERATIONS[self.operation].latex(self, *terms)

    @property
    def layer(self) -> int | None:
        """The layer that it belongs to, from 0; None outside the layers."""
        path = self.key.split(".")
        return int(path[path.index("layers") + 1]) if "layers" in path else None

    @property
    def row(self) -> str:
        """The key with {l} for the layer: the same for all layers."""
        return self.key if self.layer is None else self.key.replace(f"layers.{self.layer}.", "layers.{l}.", 1)

    def numbered(self, latex: str) -> str:
        """Its symbol or equation with the number of its layer: the notes' X^{(l+1)} is X^{(3)} in the third."""
        return latex if self.layer is None else latex.replace("(l+1)", f"({self.layer + 1})")
