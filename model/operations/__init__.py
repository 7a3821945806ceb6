"""The operations of which every network here is made, a row each in the modules of this folder."""

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

for module in (
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
):
    OPERATIONS.update(module.ROWS)

__all__ = ["OPERATIONS", "Quantity"]
