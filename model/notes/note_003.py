"""The code of lecture note 003, its lines in one function. Its attention and its FFN are note 002's by other names."""

from collections.abc import Callable

import torch
from torch import Tensor


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
