"""The formulas of lecture note 004, sections 3 to 7, line by line: the note has no code."""

import math

import torch
from torch import Tensor


def LayerNorm(X_res: Tensor, gamma: Tensor, beta: Tensor, epsilon: float = 1e-6) -> Tensor:
    mu = X_res.mean(dim=-1, keepdim=True)
    sigma = ((X_res - mu) ** 2).mean(dim=-1, keepdim=True).sqrt()
    return gamma * (X_res - mu) / (sigma + epsilon) + beta


def MultiHeadAttention(X: Tensor, h: int, W_Q: Tensor, W_K: Tensor, W_V: Tensor, W_O: Tensor) -> Tensor:
    heads = []
    for Q, K, V in zip(*((X @ W).chunk(h, dim=-1) for W in (W_Q, W_K, W_V)), strict=True):  # Q_i, K_i, V_i
        S = Q @ K.mT / math.sqrt(K.size(-1))
        A = torch.softmax(S, dim=-1)
        heads.append(A @ V)
    return torch.cat(heads, dim=-1) @ W_O


def FFN(x: Tensor, W_1: Tensor, b_1: Tensor, W_2: Tensor, b_2: Tensor) -> Tensor:
    H = torch.clamp(x @ W_1 + b_1, min=0)
    return H @ W_2 + b_2


def encoder_layer(X: Tensor, h: int, W: list[Tensor], ffn: list[Tensor], norm_1: list[Tensor], norm_2: list[Tensor]):
    Z_1 = MultiHeadAttention(X, h, *W)
    X_1 = LayerNorm(X + Z_1, *norm_1)
    Z_2 = FFN(X_1, *ffn)
    return LayerNorm(X_1 + Z_2, *norm_2)
