"""Rows of a matrix, and trained vectors that do not depend on the input."""

from model.operations.desk import Desk
from model.operations.operation import Operation, Quantity
from model.operations.products import product
from model.operations.working import Cell, Working, indexed, latex_of
from model.variants.token_dropout import SHOWN, multiplier
from model.written import number, operand, rounded


def _look_up(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    token, column = cell
    side = quantity.key.partition("embedding")[0]
    ids = desk.trace.target_ids if side else desk.trace.ids
    piece = (desk.trace.segments if quantity.reads[0] == "segments" else ids)[token]
    E = desk.network.get_submodule(quantity.module).weight
    # Our decoder's first token names the language; rows of languages follow the vocabulary.
    row = E[piece] if piece < len(E) else desk.network.decoder.embedding.language.weight[piece - len(E)]
    value = float(row[column])
    matrix = "E_{seg," if quantity.reads[0] == "segments" else "E_{"
    source = f"{matrix}{piece},{column + 1}}}"
    return desk.found(quantity, cell, source, source, rounded(value), value)


def _token_dropout(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    """0 for a masked word; else times 0.88 over the share of unmasked tokens."""
    (source,), place, ids = quantity.reads, cell[0], desk.trace.ids
    dropped = [i == desk.trace.config.dropped for i in ids]
    hidden, n = sum(dropped), len(ids)
    if dropped[place]:
        where = rf"x_{{{place}}} = \text{{[MASK]}}"
        return desk.found(quantity, cell, "0", "", 0.0, 0.0, lit=(), where=where)
    shown, exact = desk.read(source, cell, through=True)
    k = multiplier(n, hidden)
    share = rf"\frac{{{SHOWN:.2f}}}{{1 - {hidden}/{n}}}"
    factor = desk.line(rf"k_{{{place}}}", share, rounded(k))
    written = latex_of(desk.graph[source], cell)
    right, expression = rf"k_{{{place}}} \cdot {written}", rf"{number(factor)} \cdot {operand(shown)}"
    return desk.found(quantity, cell, right, expression, rounded(factor * shown), exact * k)


def _learned(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    value = float(desk.network.get_submodule(quantity.module).vector[cell])
    return desk.found(quantity, cell, "", "", rounded(value), value, lit=())


def _put_in_front(desk: Desk, quantity: Quantity, cell: Cell) -> Working:
    (token, column), in_front = cell, desk.trace.config.tokens_in_front
    if token >= in_front:
        return product(desk, quantity, cell, quantity.reads[0], (token - in_front, column))
    embedding = desk.network.get_submodule(quantity.module)
    symbol = ("x_{cls}", "x_{dist}")[token] if not desk.trace.config.registers else ""
    symbol = symbol or ("x_{cls}" if token == 0 else f"x_{{reg,{token}}}")
    value, source = float(embedding.in_front()[token, column]), indexed(symbol, column + 1)
    return desk.found(quantity, cell, source, source, rounded(value), value, lit=())


ROWS = {
    "look_up": Operation("i,vm->im", _look_up, kind="lookup"),  # rows of a matrix: E[x]
    # × 0 for a masked word, × one number for all others
    "token_dropout": Operation("...m->...m", _token_dropout, kind="scale"),
    "learned": Operation("jm->jm", _learned, kind="view"),  # a trained vector, independent of the input
    "put_in_front": Operation("im,fm->jm", _put_in_front, kind="copy"),  # [CLS] before the patches
}
