"""Attention that knows distances: a learned number is added to each score, by how far the two tokens stand apart.

Near distances each have a row of their own in the table, far ones share rows, and beyond `farthest` all share the last.
There is a number for each head, and all layers have the same table.

Sources: Raffel et al. 2020, "Exploring the Limits of Transfer Learning with a Unified Text-to-Text Transformer" (T5),
section 2.1; Song et al. 2020, "MPNet: Masked and Permuted Pre-training for Language Understanding". In both, here.
"""

import math

import torch
from torch import Tensor, nn

from model.sublayers import MultiHeadAttention
from model.tap import Tap


class RelativeAttention(MultiHeadAttention):
    """softmax(Q Kᵀ / √d_k + B) V, where B depends on the distance alone. T5 does not divide: softmax(Q Kᵀ + B) V."""

    def __init__(
        self, d_model: int, heads: int, buckets: int, farthest: int, bias: bool = True, divides: bool = True
    ) -> None:
        super().__init__(d_model, heads, bias)
        self.farthest, self.divides = farthest, divides
        self.distances = nn.Embedding(buckets, heads)
        self.relative, self.biased = Tap(), Tap()
        nn.init.normal_(self.distances.weight, std=0.02)

    def divided(self, scores: Tensor, root: float) -> Tensor:
        return super().divided(scores, root) if self.divides else scores

    def closer(self, scaled: Tensor) -> Tensor:
        """Ŝ + B, or S + B."""
        row = table_rows(scaled.size(-2), scaled.size(-1), self.distances.num_embeddings, self.farthest)
        relative = self.relative(self.distances(row).permute(2, 0, 1)[None])  # (1, head, query, key)
        return self.biased(scaled + relative)


def table_rows(queries: int, keys: int, buckets: int, farthest: int) -> Tensor:
    """(query, key): the row of the table for each distance.

    The first half of the rows is for keys before the query and itself, the second half for those behind it.
    """
    behind = torch.arange(keys) - torch.arange(queries)[:, None]
    half = buckets // 2
    exact = half // 2
    away = behind.abs()
    logarithmic = torch.log(away.clamp(min=1).float() / exact) / math.log(farthest / exact) * (half - exact)
    far = (exact + logarithmic.long()).clamp(max=half - 1)
    return (behind > 0) * half + torch.where(away < exact, away, far)


def share_table(layers: nn.ModuleList) -> None:
    """Give all layers the table of the first."""
    for layer in layers:
        if isinstance(layer.attention, RelativeAttention):
            layer.attention.distances.weight = layers[0].attention.distances.weight
