"""All operations of our networks; the modules of this folder hold a row for each."""

from model.operations import (
    activation,
    distances,
    looked_up,
    mask,
    norm,
    number_by_number,
    passing,
    pooled,
    positions,
    products,
    rotate,
    softmax,
)
from model.operations.operation import OPERATIONS, Quantity

OPERATIONS |= (
    activation.ROWS
    | distances.ROWS
    | looked_up.ROWS
    | mask.ROWS
    | norm.ROWS
    | number_by_number.ROWS
    | passing.ROWS
    | pooled.ROWS
    | positions.ROWS
    | products.ROWS
    | rotate.ROWS
    | softmax.ROWS
)

__all__ = ["OPERATIONS", "Quantity"]
