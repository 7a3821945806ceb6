"""Relative position bias: a number for the distance of two tokens is added to each score.

It is learned: near distances have their own row in a table, far ones share rows, and beyond `farthest` all share the
last. Or it falls linearly with the distance, with a fixed slope. Each head has its own numbers, the same in all layers.

Sources: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer" (T5),
section 2.1; Song et al. 2020, "MPNet: Masked and Permuted Pre-training for Language Understanding"; slopes: Press et
al. 2022, "Train Short, Test Long: Attention with Linear Biases" (ALiBi). All are used in both directions here.
"""

import math

import torch
from torch import Tensor, nn

from model.config import EncoderConfig
from model.sublayers import MultiHeadAttention
from model.tap import Tap


class RelativeAttention(MultiHeadAttention):
    """softmax(Q Kᵀ / √d_k + B) V, where B depends only on the distance. T5 does not divide: softmax(Q Kᵀ + B) V."""

    def __init__(self, config: EncoderConfig, bias: bool = True) -> None:
        super().__init__(config.d_model, config.heads, bias, config.d_k)
        self.farthest, self.divides = config.farthest, config.divided
        self.relative, self.biased = Tap(), Tap()
        if config.sloped:
            self.register_buffer("slopes", slopes_of(config.heads), persistent=False)
        else:
            self.distances = nn.Embedding(config.buckets, config.heads)
            nn.init.normal_(self.distances.weight, std=0.02)

    def divided(self, scores: Tensor, root: float) -> Tensor:
        return super().divided(scores, root) if self.divides else scores

    def closer(self, scaled: Tensor) -> Tensor:
        """Ŝ + B, or S + B."""
        return self.biased(scaled + self.relative(self.added(scaled.size(-2), scaled.size(-1))))

    def added(self, queries: int, keys: int) -> Tensor:
        """B: (1, head, query, key)."""
        if hasattr(self, "slopes"):
            away = (torch.arange(keys) - torch.arange(queries)[:, None]).abs()
            return -self.slopes[None, :, None, None] * away
        rows = table_rows(queries, keys, self.distances.num_embeddings, self.farthest)
        return self.distances(rows).permute(2, 0, 1)[None]


def slopes_of(heads: int) -> Tensor:
    """(head,): 2^(−8/h), 2^(−16/h), …, 2^(−8); if h is no power of 2, those of the next smaller power, and more
    between.
    """
    power = 1 << (heads.bit_length() - 1)
    more = range(1, 2 * (heads - power), 2)
    return torch.tensor([2 ** (-8 * i / power) for i in range(1, power + 1)] + [2 ** (-4 * i / power) for i in more])


def table_rows(queries: int, keys: int, buckets: int, farthest: int) -> Tensor:
    """(query, key): row of the table for each distance.

    The first half of the rows is for keys up to the query, the second for later keys.
    """
    behind = torch.arange(keys) - torch.arange(queries)[:, None]
    half = buckets // 2
    exact = half // 2
    away = behind.abs()
    logarithmic = torch.log(away.clamp(min=1).float() / exact) / math.log(farthest / exact) * (half - exact)
    far = (exact + logarithmic.long()).clamp(max=half - 1)
    return (behind > 0) * half + torch.where(away < exact, away, far)


def share_table(layers: nn.ModuleList) -> None:
    """Let all layers share the table of the first."""
    for layer in layers:
        if hasattr(layer.attention, "distances") and isinstance(layer.attention, RelativeAttention):
            layer.attention.distances.weight = layers[0].attention.distances.weight
