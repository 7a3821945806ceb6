"""The formulas of lecture note 001, section 2, line by line: the note has no code."""

import math
from collections.abc import Callable

import torch
from torch import Tensor


def encoder_layer(
    X: Tensor,
    W_Q: list[Tensor],  # one W_Q^i [d_k, d_model] for each head; so are W_K and W_V
    W_K: list[Tensor],
    W_V: list[Tensor],
    W_O: Tensor,
    W_1: Tensor,
    b_1: Tensor,
    W_2: Tensor,
    b_2: Tensor,
    LayerNorm: list[Callable[[Tensor], Tensor]],
) -> Tensor:
    heads = []
    for i in range(len(W_Q)):
        Q, K, V = X @ W_Q[i].T, X @ W_K[i].T, X @ W_V[i].T
        A = Q @ K.mT / math.sqrt(K.size(-1))
        A_softmax = torch.softmax(A, dim=-1)
        heads.append(A_softmax @ V)
    Output_attention = torch.cat(heads, dim=-1) @ W_O

    Z = X + Output_attention
    Z_norm = LayerNorm[0](Z)

    Intermediate = torch.relu(Z_norm @ W_1 + b_1)
    FFN = Intermediate @ W_2 + b_2
    return LayerNorm[1](Z_norm + FFN)
