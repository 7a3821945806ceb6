"""Token dropout: a masked word has a vector of zeros, and all other vectors are scaled up.

Like dropout, this keeps the sum about as large as in training, where 12 of 100 tokens were masked this way.

Source: Lin et al. 2023, "Evolutionary-scale prediction of atomic-level protein structure with a language model"
(ESM-2); in their code `token_dropout`.
"""

from typing import Any

from torch import Tensor

SHOWN = 1 - 0.15 * 0.8  # share of tokens not masked in training


def multiplier(n: Any, hidden: Any) -> Any:
    """Factor of the other tokens if `hidden` of n tokens are masked; numbers or tensors."""
    return SHOWN / (1 - hidden / n)


def kept(ids: Tensor, dropped: int, mask: Tensor | None = None) -> Tensor:
    """k (batch, token): 0 where an id is `dropped`, else 0.88 over the share not masked.

    mask: (batch, 1, 1, key), False for padding, which is not counted.
    """
    hidden = ids == dropped
    n = ids.size(1) if mask is None else mask[:, 0, 0].sum(-1)
    return multiplier(n, hidden.sum(-1))[:, None] * ~hidden
