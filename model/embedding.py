"""From tokens to vectors: token embeddings plus positions  (sections 3.4 and 3.5 of the paper)."""

import math

import torch
from torch import Tensor, nn

from model.config import EncoderConfig
from model.sublayers import norm_for
from model.tap import Tap
from model.variants.token_dropout import kept


class SinusoidalPositions(nn.Module):
    """PE(pos, 2i) = sin(pos / 10000^(2i/d_model)), PE(pos, 2i+1) = cos of the same  (section 3.5).

    A buffer, not a parameter: nothing here is learned.
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        position = torch.arange(max_len).unsqueeze(1)
        frequency = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10_000.0) / d_model))
        table = torch.zeros(max_len, d_model)
        table[:, 0::2] = torch.sin(position * frequency)
        table[:, 1::2] = torch.cos(position * frequency)
        self.register_buffer("table", table, persistent=False)

    def forward(self, n: int) -> Tensor:
        """The first n positions: (1, n, d_model)."""
        return self.table[None, :n]


class LearnedPositions(nn.Module):
    """One trained vector for each position  (Devlin et al. 2019; Dosovitskiy et al. 2021).

    `apart` is added to tokens without a position. A buffer, not a parameter: it is not trained.
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.empty(max_len, d_model))
        self.register_buffer("apart", None)
        nn.init.normal_(self.table, std=0.02)

    def forward(self, n: int, counted: Tensor | None = None) -> Tensor:
        """The first n positions: (1, n, d_model). counted (batch, n): which tokens have one -> (batch, n, d_model)."""
        if counted is None:
            return self.table[None, :n]
        places = (counted.cumsum(dim=1) - 1).clamp(min=0)  # tokens after one without a position move up
        return torch.where(counted[..., None], self.table[places], self.apart)


class Embedding(nn.Module):
    """X⁰ = tokens + E_pos, or LayerNorm of it. Subclasses compute the tokens in `look`."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__()
        positions = SinusoidalPositions if config.positions == "sinusoidal" else LearnedPositions
        self.tokens = Tap()
        self.positions: nn.Module = positions(config.embedded, config.places) if config.places_added else None
        self.sum = Tap()
        self.norm = norm_for(config, config.embedded) if config.embedding_norm else nn.Identity()

    def look(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        """The input as (batch, token, d_model or d_E), without positions."""
        raise NotImplementedError

    def forward(self, x: Tensor, segments: Tensor | None = None, mask: Tensor | None = None) -> Tensor:
        tokens = self.tell_apart(self.tokens(self.look(x, mask)), segments)
        if self.positions is not None:
            tokens = tokens + self.place(x, tokens.size(1))
        return self.widen(self.norm(self.sum(tokens)))

    def tell_apart(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        """Add segment embeddings, if the network has them."""
        return tokens

    def place(self, x: Tensor, n: int) -> Tensor:
        """E_pos of an input of n tokens: (1 or batch, n, d_model or d_E)."""
        return self.positions(n)

    def widen(self, x: Tensor) -> Tensor:
        """Project from d_E to d_model, if they differ."""
        return x


class TokenEmbedding(Embedding):
    """Words: row x of the matrix E (vocabulary, d_model), times √d_model, plus a row of E_seg for its sentence.

    Segments: Devlin et al. 2019, figure 2. Rows of width d_E, projected to d_model by W_E: Lan et al. 2020, sec. 3.1.
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.E = nn.Embedding(config.vocab_size, config.embedded)
        self.scale = math.sqrt(config.embedded) if config.scale_embedding else 1.0
        # Rows of length about 1; times √d_model they are as long as the positions.
        nn.init.normal_(self.E.weight, std=config.embedded**-0.5)
        self.segments = nn.Embedding(config.segments, config.embedded) if config.segments else None
        self.W_E = nn.Linear(config.d_embedding, config.d_model) if config.d_embedding else None
        self.projection = Tap()
        self.uncounted, self.dropped = config.uncounted, config.dropped
        if self.uncounted is not None:
            self.positions.apart = torch.zeros(config.embedded)

    def look(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        rows = self.E(x) * self.scale
        return rows if self.dropped is None else rows * kept(x, self.dropped, mask)[..., None]

    def tell_apart(self, tokens: Tensor, segments: Tensor | None) -> Tensor:
        if self.segments is None:
            return tokens
        if segments is None:
            segments = torch.zeros(tokens.shape[:2], dtype=torch.long)
        return tokens + self.segments(segments)

    def place(self, x: Tensor, n: int) -> Tensor:
        if self.uncounted is None:
            return super().place(x, n)
        return self.positions(n, x != self.uncounted)  # in RoBERTa, [PAD] has no position

    def widen(self, x: Tensor) -> Tensor:
        return x if self.W_E is None else self.projection(self.W_E(x))


class PatchEmbedding(Embedding):
    """Images: square patches, each projected to d_model, after [CLS]  (ViT, equation 1).

    A distillation token may follow [CLS]: Touvron et al. 2021, "Training data-efficient image transformers". So may
    registers, which have no positions: Darcet et al. 2024, "Vision Transformers Need Registers".
    """

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.patch_size = config.patch_size
        self.W_E = nn.Linear(
            config.channels * config.patch_size**2, config.d_model, bias="patches" not in config.unbiased
        )
        self.cls = nn.Parameter(torch.empty(config.d_model)) if config.cls_token else None
        self.distillation = nn.Parameter(torch.empty(config.d_model)) if config.distillation_token else None
        self.registers = nn.Parameter(torch.empty(config.registers, config.d_model)) if config.registers else None
        for token in self.parameters(recurse=False):
            nn.init.normal_(token, std=0.02)
        self.placeless = config.placeless
        if self.placeless:
            self.positions.apart = torch.zeros(config.d_model)

    def in_front(self) -> Tensor:
        """The learned tokens before the patches: (token, d_model)."""
        tokens = [] if self.cls is None else [self.cls[None]]
        if self.distillation is not None:
            tokens.append(self.distillation[None])
        if self.registers is not None:
            tokens.append(self.registers)
        return torch.cat(tokens)

    def look(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        patches = self.W_E(patchify(x, self.patch_size))
        if self.cls is None:
            return patches
        return torch.cat([self.in_front().expand(len(x), -1, -1), patches], dim=1)

    def place(self, x: Tensor, n: int) -> Tensor:
        if not self.placeless:
            return super().place(x, n)
        counted = torch.ones(1, n, dtype=torch.bool)
        counted[:, self.placeless] = False
        return self.positions(n, counted)


class FlatEmbedding(Embedding):
    """Images as one token: all pixels as one row, projected to d_model  (lecture note 003)."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.W_E = nn.Linear(config.image_size**2, config.d_model)

    def look(self, x: Tensor, mask: Tensor | None = None) -> Tensor:
        return self.W_E(x.flatten(start_dim=1).unsqueeze(1))


def patchify(image: Tensor, size: int) -> Tensor:
    """(batch, [channel,] height, width) -> (batch, patch, channel·size²), row by row from the top left."""
    if image.dim() == 3:
        image = image.unsqueeze(1)
    patches = image.unfold(2, size, size).unfold(3, size, size)  # (batch, channel, row, column, size, size)
    return patches.permute(0, 2, 3, 1, 4, 5).flatten(3).flatten(1, 2)


def embedding_for(config: EncoderConfig) -> Embedding:
    """The embedding that fits the configuration's kind of input."""
    kinds = {"words": TokenEmbedding, "patches": PatchEmbedding, "flat": FlatEmbedding}
    return kinds[config.input](config)
