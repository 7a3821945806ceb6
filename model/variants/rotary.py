"""Places as turns: each query and key turns by an angle that grows with its place, and so scores know distances."""

import torch
from torch import Tensor

from model.sublayers import MultiHeadAttention
from model.tap import Tap


class RotaryAttention(MultiHeadAttention):
    """Attention whose scores are Q̃ K̃ᵀ: in each head the numbers c and c + d_k/2 of a query are a point of a plane, and
    it turns by place / base^(2c/d_k); so does each key. Two turns by the same angle leave a score as it is: what counts
    is how far apart both stand. With a window, a token looks no further than so many places.

    Source: Su et al. 2021, "RoFormer: Enhanced Transformer with Rotary Position Embedding", section 3.2; the pairs are
    those of GPT-NeoX. Windows: Beltagy et al. 2020, "Longformer", section 3.1.
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
            # What fills a batch up may stand where it sees nothing else: it looks at itself.
            mask = near if mask is None else mask & near | within(0, x.size(1), memory.size(1))
        return super().forward(x, memory, mask)

    def compare(self, Q: Tensor, K: Tensor) -> Tensor:
        return super().compare(self.Q_rotated(turned(Q, self.speeds)), self.K_rotated(turned(K, self.speeds)))


def turned(x: Tensor, speeds: Tensor) -> Tensor:
    """(…, token, d_k): each pair of numbers c and c + d_k/2, turned by its speed (d_k/2,) times the token's place."""
    angle = torch.arange(x.size(-2))[:, None] * speeds
    one, other = x.chunk(2, dim=-1)
    cos, sin = angle.cos(), angle.sin()
    return torch.cat([one * cos - other * sin, other * cos + one * sin], dim=-1)


def within(window: int, queries: int, keys: int) -> Tensor:
    """(query, key): True where a key stands no more than so many places away."""
    return (torch.arange(queries)[:, None] - torch.arange(keys)).abs() <= window
