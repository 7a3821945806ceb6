"""Products: the rule says which terms are multiplied and summed, so all share one arithmetic."""

import numpy as np

from model.analysis import largest_terms
from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.working import FROM_ZERO, Cell, Working, latex_sum, terms_of, terms_table
from model.rule import Index, sides, summed
from model.written import DECIMALS, number, operand


def product(desk: Desk, quantity: Quantity, cell: Cell, key: str = "", at: Index = ()) -> Working:
    """x · w, plus a bias if there is one: a Linear, QKᵀ, AV.

    `key` and `at`: another product's cell that this one equals.
    """
    product, at = desk.graph[key or quantity.key], at or cell
    x_at, w_at, *bias_at = desk.graph.cells(product.key, at)
    lit = desk.lit(product.key, at)
    read = desk.graph[product.reads[0]]
    x = desk.values(read.key, x_at)
    module = desk.network.get_submodule(product.module or "")
    w = module.weight.T[w_at].double().numpy() if product.module else desk.values(product.reads[1], w_at)
    b = [float(module.bias[place]) for place in bias_at]
    value = sum(b, float(x @ w))
    if not read.traced and read.operation in ("norm", "activation"):  # show how the strongest term was computed
        strongest = int(np.abs(x * w).argmax())
        x[strongest], _ = desk.read(read.key, (*x_at[:-1], strongest), through=True)
    shown = largest_terms(x, w, sum(b), desk.most, DECIMALS)
    bias = shown.bias if b else None

    letter, (one, other, *more) = summed(product.rule), terms_of(product, desk.with_distances(product, at))
    along = desk.graph[product.reads[-1]].axes[sides(product.rule)[0][len(product.reads) - 1].index(letter)]
    begin = int(along not in FROM_ZERO)
    factors = rf"\sum_{{{letter}={begin}}}^{{{begin + len(x) - 1}}} {one}\, {other}"
    if product.operation == "weighted_sum":  # later target tokens have weight 0
        seen = int(np.flatnonzero(x).max(initial=-1)) + 1
        A, (V, (head, _, column)) = lit
        lit = A, (V, (head, slice(None, seen), column))
    if len(x) == 1 and not b:
        expression = rf"{number(shown.x[0])} \cdot {operand(shown.w[0])}"
    else:
        expression = latex_sum(shown.products.tolist(), shown.rest, shown.others, bias)
    names = {"scores": ("q", "k"), "weighted_sum": ("A", "v")}.get(product.operation, ("x", "w"))
    names = {"Q_R": ("q", "kᴿ"), "K_R": ("k", "qᴿ")}.get(product.key.rpartition(".")[2], names)
    desk.tables.append(terms_table(shown, along, *names, bias))
    return desk.found(quantity, cell, " + ".join((factors, *more)), expression, shown.total, value, lit)


ROWS = {
    "linear": Operation("...m,mo,o->...o", product, kind="product"),  # x W + b
    "scores": Operation("hic,hjc->hij", product, kind="product"),  # Q Kᵀ
    "weighted_sum": Operation("hij,hjc->hic", product, kind="product"),  # A V
    "contribution": Operation("hic,(hc)o->hio", product, kind="product"),  # of each head to x W
}
