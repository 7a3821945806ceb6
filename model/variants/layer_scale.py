"""LayerScale: the output of a sub-layer is scaled, number by number, before the residual sum.

Source: Touvron et al. 2021, "Going deeper with Image Transformers", section 2.1. DINOv2 uses it.
"""

import torch
from torch import Tensor, nn

from model.config import EncoderConfig


class LayerScale(nn.Module):
    """λ ⊙ x: one trained number for each column."""

    def __init__(self, d_model: int) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.full((d_model,), 0.1))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.scale


def layer_scale_for(config: EncoderConfig) -> nn.Module:
    """The module after each sub-layer; the identity in most networks."""
    return LayerScale(config.d_model) if config.layer_scale else nn.Identity()
