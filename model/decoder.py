"""The Transformer decoder: it writes a target sentence while reading the encoder's output Z.

Figure 1, right, of "Attention Is All You Need". Each layer has masked self-attention over the target written so far,
cross-attention (Q from the decoder, K and V from Z) and an FFN.
"""

import torch
from torch import Tensor, nn

from model.config import EncoderConfig
from model.embedding import TokenEmbedding
from model.encoder import Encoder, causal_mask
from model.sublayers import FeedForward, MultiHeadAttention
from model.tap import Tap

#: The first target token names the language to write. Their ids follow the vocabulary's, in this order.
TARGET_LANGUAGES = {"en": "[EN]", "zh": "[ZH]"}


class TargetEmbedding(TokenEmbedding):
    """The encoder's matrix E (section 3.4), and one trained row for each language to write.

    A decoder from a checkpoint may have its own E and no such rows: see `own_words` and `language_first`.
    """

    def __init__(self, config: EncoderConfig, E: nn.Embedding) -> None:
        super().__init__(config)
        if not config.own_words:
            self.E = E
        self.language = nn.Embedding(len(TARGET_LANGUAGES), config.d_model) if config.language_first else None
        if self.language is not None:
            nn.init.normal_(self.language.weight, std=config.d_model**-0.5)

    def look(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """x: target ids (batch, target), each beginning with vocab_size + the index in TARGET_LANGUAGES."""
        if self.language is None:
            return super().look(x)
        first, words = x[:, :1] - self.E.num_embeddings, x[:, 1:]
        return torch.cat([self.language(first), self.E(words)], dim=1) * self.scale


class DecoderLayer(nn.Module):
    """Masked self-attention, cross-attention and FFN, each followed by add & norm  (section 3.1)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.d_model, config.heads)
        self.add_1, self.norm_1 = Tap(), nn.LayerNorm(config.d_model, config.norm_eps)
        self.cross = MultiHeadAttention(config.d_model, config.heads)
        self.add_2, self.norm_2 = Tap(), nn.LayerNorm(config.d_model, config.norm_eps)
        self.ffn = FeedForward(config.d_model, config.d_ff, config.activation, config.dropout)
        self.add_3, self.norm_3 = Tap(), nn.LayerNorm(config.d_model, config.norm_eps)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, y: Tensor, Z: Tensor, mask: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """y: (batch, target, d_model), in and out; Z: (batch, source, d_model)."""
        y = self.norm_1(self.add_1(y + self.dropout(self.attention(y, y, mask))))
        y = self.norm_2(self.add_2(y + self.dropout(self.cross(y, Z, source_mask))))
        return self.norm_3(self.add_3(y + self.dropout(self.ffn(y))))


class Decoder(nn.Module):
    """Embedding and positions, then identical layers, each reading Z  (figure 1, right)."""

    def __init__(self, config: EncoderConfig, E: nn.Embedding) -> None:
        super().__init__()
        self.embedding = TargetEmbedding(config, E)
        self.dropout = nn.Dropout(config.dropout)
        self.layers = nn.ModuleList(DecoderLayer(config) for _ in range(config.layers))

    def forward(self, y: Tensor, Z: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """y: target ids (batch, target); Z: (batch, source, d_model). Returns (batch, target, d_model)."""
        mask = causal_mask(y.size(1)).to(y.device)
        y = self.dropout(self.embedding(y))
        for layer in self.layers:
            y = layer(y, Z, mask, source_mask)
        return y


class TranslationNetwork(Encoder):
    """Encoder and decoder: all of figure 1.

    A subclass of Encoder, so the encoder's module paths have no prefix; the decoder's begin with `decoder.`
    """

    def __init__(self, config: EncoderConfig, decoder: EncoderConfig) -> None:
        """decoder: sizes of the decoder's layers; d_model is the encoder's, and the vocabulary unless `own_words`."""
        super().__init__(config)
        self.decoder_config = decoder
        self.decoder = Decoder(decoder, self.embedding.E)
        self.logits = nn.Linear(config.d_model, decoder.vocab_size)
        self.tie()

    def tie(self) -> None:
        super().tie()
        if hasattr(self, "logits"):  # one matrix for source, target and answer (section 3.4)
            self.logits.weight = self.decoder.embedding.E.weight

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        """Source ids x, target ids y so far -> logits of the next piece at each target position."""
        return self.decode(y, self.encode(x))

    def encode(self, x: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """Source ids (batch, source) -> Z (batch, source, d_model)."""
        return super().forward(x, source_mask)

    def decode(self, y: Tensor, Z: Tensor, source_mask: Tensor | None = None) -> Tensor:
        """Target ids (batch, target) and Z -> logits (batch, target, vocabulary)."""
        return self.logits(self.decoder(y, Z, source_mask))
