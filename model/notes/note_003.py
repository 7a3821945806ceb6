"""The code of lecture note 003, its lines in one function."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn


class MultiHeadAttention(nn.Module):
    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.d_model = d_model  # the note leaves this line out, and stops without it
        self.num_heads = num_heads
        self.d_k = d_model // num_heads

        self.W_q = nn.Linear(d_model, d_model)
        self.W_k = nn.Linear(d_model, d_model)
        self.W_v = nn.Linear(d_model, d_model)
        self.W_o = nn.Linear(d_model, d_model)

    def forward(self, Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
        batch_size = Q.size(0)

        Q = self.W_q(Q).view(batch_size, -1, self.num_heads, self.d_k).transpose(1, 2)
        K = self.W_k(K).view(batch_size, -1, self.num_heads, self.d_k).transpose(1, 2)
        V = self.W_v(V).view(batch_size, -1, self.num_heads, self.d_k).transpose(1, 2)

        scores = torch.matmul(Q, K.transpose(-2, -1)) / math.sqrt(self.d_k)
        if mask is not None:
            scores = scores.masked_fill(mask == 0, -1e9)
        attention_weights = torch.softmax(scores, dim=-1)
        output = torch.matmul(attention_weights, V)

        output = output.transpose(1, 2).contiguous().view(batch_size, -1, self.d_model)
        return self.W_o(output)


def feed_forward(d_model: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(d_model, d_model * 4),
        nn.ReLU(),
        nn.Linear(d_model * 4, d_model),
    )


def classify(
    x: Tensor,
    input_projection: Callable[[Tensor], Tensor],
    pos_encoder: Callable[[Tensor], Tensor],
    attention: Callable[[Tensor, Tensor, Tensor], Tensor],
    norm1: Callable[[Tensor], Tensor],
    feed_forward: Callable[[Tensor], Tensor],
    output_layer: Callable[[Tensor], Tensor],
) -> Tensor:
    batch_size = x.size(0)
    x = x.view(batch_size, 1, 784)
    x = input_projection(x)
    x = pos_encoder(x)
    x = attention(x, x, x)
    x = norm1(x + x)
    x = feed_forward(x)
    x = x.view(batch_size, -1)
    x = output_layer(x)
    predictions = torch.softmax(x, dim=1)
    return predictions
