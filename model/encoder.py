"""The Transformer encoder, as the paper writes it ("Attention Is All You Need", section 3.1).

sublayers.py has the parts of a layer, embedding.py the input of the first layer.
"""

import torch
from torch import Tensor, nn

from model.config import EncoderConfig
from model.embedding import embedding_for
from model.sublayers import FeedForward, MultiHeadAttention, norm_for
from model.tap import Tap
from model.variants import disentangled
from model.variants.disentangled import DisentangledAttention
from model.variants.gated import GatedFeedForward
from model.variants.layer_scale import layer_scale_for
from model.variants.relative import RelativeAttention, share_table
from model.variants.rotary import RotaryAttention
from model.variants.shared import share


class EncoderLayer(nn.Module):
    """LayerNorm(x + Attention(x)), then LayerNorm(x + FFN(x))  (section 3.1).

    With `norm_first`, the variant of most later models: x + Attention(LayerNorm(x)), and so on.
    """

    def __init__(self, config: EncoderConfig, layer: int = 0) -> None:
        super().__init__()
        self.norm_first = config.norm_first
        self.attention = attention_for(config, layer)
        self.scale_1, self.scale_2 = layer_scale_for(config), layer_scale_for(config)
        bare = not layer and config.norm_first and not config.first_norm
        self.add_1, self.norm_1 = Tap(), nn.Identity() if bare else norm_for(config)
        self.ffn = ffn_for(config)
        self.add_2, self.norm_2 = Tap(), norm_for(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x: (batch, token, d_model), in and out."""
        if self.norm_first:
            z = self.norm_1(x)
            x = self.add_1(x + self.dropout(self.scale_1(self.attention(z, z, mask))))
            return self.add_2(x + self.dropout(self.scale_2(self.ffn(self.norm_2(x)))))
        x = self.norm_1(self.add_1(x + self.dropout(self.scale_1(self.attention(x, x, mask)))))
        return self.norm_2(self.add_2(x + self.dropout(self.scale_2(self.ffn(x)))))


class Encoder(nn.Module):
    """Embedding and positions, then N identical layers  (figure 1, left)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = embedding_for(config)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(EncoderLayer(config, layer) for layer in range(config.layers))
        self.tie()
        self.norm = norm_for(config) if config.final_norm else nn.Identity()

    def tie(self) -> None:
        """Share weights between layers as the configuration says."""
        share(self.layers, self.config.groups)
        share_table(self.layers)
        disentangled.share_table(self.layers)

    def forward(self, x: Tensor, mask: Tensor | None = None, segments: Tensor | None = None) -> Tensor:
        """From the input to Z (batch, token, d_model).

        x: token ids (batch, token) or images (batch, [channel,] height, width). segments: which sentence each token
        belongs to, 0 or 1, shaped as the ids; None: all to the first.
        """
        x = self.dropout(self.embedding(x, segments, mask))
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x)


def padding_mask(ids: Tensor, pad: int = 0) -> Tensor:
    """(batch, token) -> (batch, 1, 1, key): True where a key is a real token, not padding."""
    return (ids != pad)[:, None, None, :]


def causal_mask(n: int) -> Tensor:
    """(query, key): True where key ≤ query, so that no position sees a later one."""
    return torch.ones(n, n, dtype=torch.bool).tril()


def attention_for(config: EncoderConfig, layer: int) -> MultiHeadAttention:
    """The attention of a layer, from 0, that fits the configuration."""
    bias = "attention" not in config.unbiased
    if config.by_distance:
        return RelativeAttention(config, bias)
    if config.distance_terms:
        return DisentangledAttention(config, bias)
    if config.positions == "rotary":
        return RotaryAttention(config.d_model, config.heads, config.base_of(layer), config.window_of(layer), bias)
    return MultiHeadAttention(config.d_model, config.heads, bias)


def ffn_for(config: EncoderConfig) -> FeedForward:
    """The feed-forward network that fits the configuration."""
    sizes = config.d_model, config.d_ff, config.activation, config.dropout, "ffn" not in config.unbiased
    return GatedFeedForward(*sizes, "gates" not in config.unbiased) if config.ffn == "gated" else FeedForward(*sizes)
