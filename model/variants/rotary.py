"""Rotary positions: queries and keys are rotated by an angle proportional to the position, so scores depend on
distances.
"""

import torch
from torch import Tensor

from model.sublayers import MultiHeadAttention
from model.tap import Tap


class RotaryAttention(MultiHeadAttention):
    """Attention with scores Q̃ K̃ᵀ: numbers c and c + d_k/2 of a query or key are a point in a plane, rotated by
    position / base^(2c/d_k). Rotating both by the same angle does not change the score, so it depends on their
    distance. With a window, attention is limited to that distance.

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", section 3.2, with the pairs
    of GPT-NeoX. Windows: Beltagy et al. 2020, "Longformer", section 3.1.
    """

    def __init__(self, d_model: int, heads: int, base: float, window: int | None = None, bias: bool = True) -> None:
        super().__init__(d_model, heads, bias)
        self.window = window
        d_k = d_model // heads
        self.register_buffer("speeds", base ** -(torch.arange(0, d_k, 2) / d_k))
        self.Q_rotated, self.K_rotated = Tap(), Tap()

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        if self.window is not None:
            near = within(self.window, x.size(1), memory.size(1))
            # Every token also attends to itself, since padding might otherwise have no visible key.
            mask = near if mask is None else mask & near | within(0, x.size(1), memory.size(1))
        return super().forward(x, memory, mask)

    def compare(self, Q: Tensor, K: Tensor) -> Tensor:
        return super().compare(self.Q_rotated(turned(Q, self.speeds)), self.K_rotated(turned(K, self.speeds)))


def turned(x: Tensor, speeds: Tensor) -> Tensor:
    """(…, token, d_k): each pair of numbers c and c + d_k/2, rotated by its speed (d_k/2,) times the position."""
    angle = torch.arange(x.size(-2))[:, None] * speeds
    one, other = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([one * cos - other * sin, other * cos + one * sin], dim=-1)


def within(window: int, queries: int, keys: int) -> Tensor:
    """(query, key): True if the key is at most `window` positions away."""
    return (torch.arange(queries)[:, None] - torch.arange(keys)).abs() <= window
