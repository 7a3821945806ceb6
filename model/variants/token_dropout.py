"""Token dropout: a hidden word has no vector of its own but zeros, and all others are multiplied for it.

As dropout does, that leaves the sum about as large as in training, where 12 of 100 tokens were hidden in this way.

Source: Lin et al. 2023, "Evolutionary-scale prediction of atomic-level protein structure with a language model"
(ESM-2); in their code `token_dropout`.
"""

from typing import Any

from torch import Tensor

SHOWN = 1 - 0.15 * 0.8  # the share of tokens that was not hidden in training


def multiplier(n: Any, hidden: Any) -> Any:
    """By what the others are multiplied where so many of n tokens are hidden; numbers, or tensors of them."""
    return SHOWN / (1 - hidden / n)


def kept(ids: Tensor, dropped: int, mask: Tensor | None = None) -> Tensor:
    """k (batch, token): 0 where an id is `dropped`, and for all others 0.88 over the share that is not hidden.

    mask: (batch, 1, 1, key), False for what fills up, which is not counted.
    """
    hidden = ids == dropped
    n = ids.size(1) if mask is None else mask[:, 0, 0].sum(-1)
    return multiplier(n, hidden.sum(-1))[:, None] * ~hidden
