"""RMSNorm: LayerNorm without subtracting the mean and without β.

Source: Zhang and Sennrich 2019, "Root Mean Square Layer Normalization". T5 uses it  (Raffel et al. 2020, section 2.1).
"""

from typing import TypeVar

import numpy as np
from torch import Tensor, nn

Numbers = TypeVar("Numbers", np.ndarray, Tensor)


class RMSNorm(nn.RMSNorm):
    """γ ⊙ x / √(mean of x² + ε)."""

    bias = None

    def __init__(self, width: int, eps: float) -> None:
        super().__init__(width, eps)


def centred(norm: nn.Module, x: Numbers) -> Numbers:
    """The numerator of a norm: each number minus the mean of its row; for RMSNorm, x itself."""
    return x if isinstance(norm, nn.RMSNorm) else x - x.mean(-1)[..., None]
