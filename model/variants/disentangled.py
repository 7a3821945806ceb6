"""Disentangled attention: a score is the sum of three products.

Content to content, content to position, position to content: one token with the other token, with the distance to it,
and that distance with the other token. A learned vector for each distance, the same in all layers, becomes a query and
a key as a word does. Near distances have their own row in the table, far ones share rows, and beyond `farthest` all
share the last.

Source: He et al. 2021, "DeBERTa: Decoding-enhanced BERT with Disentangled Attention", section 3.1. Shared rows, one
table with LayerNorm, and use of the words' own matrices are from the second and third DeBERTa.
"""

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from model.config import EncoderConfig
from model.sublayers import MultiHeadAttention, norm_for
from model.tap import Tap


class DisentangledAttention(MultiHeadAttention):
    """softmax((Q Kᵀ + S^cp + S^pc) / √(3 d_k)) V, where S^cp_ij = Q_i · K^R_(j−i) and S^pc_ij = K_j · Q^R_(j−i).

    With only one of S^cp and S^pc, √(2 d_k).
    """

    def __init__(self, config: EncoderConfig, bias: bool = True) -> None:
        super().__init__(config.d_model, config.heads, bias)
        square, of_keys = (config.d_model, config.d_model), bias and "keys" not in config.unbiased
        self.W_K = nn.Linear(*square, of_keys)
        self.span, self.near, self.farthest = config.span, config.near, config.farthest
        self.distances = nn.Embedding(2 * config.span, config.d_model)
        nn.init.normal_(self.distances.weight, std=0.02)
        self.distance_norm = norm_for(config) if config.distance_norm else nn.Identity()
        self.content_to_content = Tap()
        self.to_position = "content_to_position" in config.distance_terms
        self.to_content = "position_to_content" in config.distance_terms
        if self.to_position:
            self.W_K_distance = nn.Linear(*square, of_keys) if config.distance_matrices else None
            self.K_distance, self.content_to_position = Tap(), Tap()
        if self.to_content:
            self.W_Q_distance = nn.Linear(*square, bias) if config.distance_matrices else None
            self.Q_distance, self.position_to_content = Tap(), Tap()

    def compare(self, Q: Tensor, K: Tensor) -> Tensor:
        """Q Kᵀ + S^cp + S^pc."""
        n = Q.size(-2)
        R = self.vectors(n)
        place = torch.arange(n - 1, 2 * n - 1) - torch.arange(n)[:, None]  # (query, key): index of their distance in R
        scores = self.content_to_content(super().compare(Q, K))
        if self.to_position:
            K_R = self.K_distance(self.split(projected(R, self.W_K_distance or self.W_K)))
            found = Q @ K_R.mT  # (batch, head, query, distance)
            scores = scores + self.content_to_position(found.gather(-1, place.expand_as(scores)))
        if self.to_content:
            Q_R = self.Q_distance(self.split(projected(R, self.W_Q_distance or self.W_Q)))
            found = K @ Q_R.mT  # (batch, head, key, distance)
            scores = scores + self.position_to_content(found.gather(-1, place.mT.expand_as(scores)).mT)
        return scores

    def divided(self, scores: Tensor, root: float) -> Tensor:
        """Divide by √(number of products · d_k)."""
        return super().divided(scores, root * math.sqrt(1 + self.to_position + self.to_content))

    def vectors(self, n: int) -> Tensor:
        """R: the vector of each distance among n tokens, (1, distance, d_model)."""
        return self.distance_norm(self.distances(table_rows(n, self.span, self.near, self.farthest)[None]))


def projected(x: Tensor, matrix: nn.Linear) -> Tensor:
    """x W + b, bypassing hooks on the matrix, which concern only the words."""
    return linear(x, matrix.weight, matrix.bias)


def table_rows(n: int, span: int, near: int, farthest: int) -> Tensor:
    """(2n − 1,): row of the table for each distance among n tokens, from −(n − 1) to n − 1.

    The table has 2 · span rows: the token itself in the middle, the farthest later token first. near: beyond this
    distance, several distances share a row; 0: none do.
    """
    before = -torch.arange(1 - n, n)
    if near:
        away = before.abs().clamp(min=1)
        share = torch.log(away / near) / torch.log(torch.tensor((farthest - 1) / near))
        far = before.sign() * (near + torch.ceil(share * (near - 1)))
        before = torch.where(away <= near, before, far.long())
    return (before + span).clamp(0, 2 * span - 1)


def share_table(layers: nn.ModuleList) -> None:
    """Let all layers share the table of the first, and its LayerNorm."""
    for layer in layers:
        if isinstance(layer.attention, DisentangledAttention):
            layer.attention.distances.weight = layers[0].attention.distances.weight
            for name, parameter in layers[0].attention.distance_norm.named_parameters():
                setattr(layer.attention.distance_norm, name, parameter)
