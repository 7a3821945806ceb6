"""Attention pooling: a learned query, the probe, attends to all tokens and gives one vector, without [CLS].

Source: Zhai et al. 2022, "Scaling Vision Transformers", section 3.2: multihead attention pooling. SigLIP uses it.
"""

import torch
from torch import Tensor, nn

from model.config import EncoderConfig
from model.sublayers import FeedForward, MultiHeadAttention, norm_for
from model.tap import Tap


class Probe(nn.Module):
    """A learned vector, the same for every input."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.vector = nn.Parameter(torch.empty(1, d_model))
        nn.init.normal_(self.vector)

    def forward(self, batch: int) -> Tensor:
        """(batch, 1, d_model)."""
        return self.vector.expand(batch, 1, -1)


class PoolByProbe(nn.Module):
    """O = Attention(probe, Z), then O + FFN(LayerNorm(O))."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.probe = Probe(config.d_model)
        self.cross = MultiHeadAttention(config.d_model, config.heads)
        self.norm = norm_for(config)
        self.ffn = FeedForward(config.d_model, config.d_ff, config.activation, config.dropout)
        self.add = Tap()

    def forward(self, Z: Tensor) -> Tensor:
        """(batch, token, d_model) -> (batch, 1, d_model)."""
        found = self.cross(self.probe(len(Z)), Z)
        return self.add(found + self.ffn(self.norm(found)))
