"""Attention and feed-forward network, as in the paper ("Attention Is All You Need", sections 3.2 and 3.3).

Every quantity with a symbol passes through a `Tap`, a module that changes nothing and exists to be hooked. The tap's
module path is the quantity's name everywhere in this project: `scores = self.scores(Q @ K.mT)` computes the scores and
names them.
"""

import math

import torch
from torch import Tensor, nn

from model.activations import ACTIVATIONS
from model.config import EncoderConfig
from model.rms import RMSNorm
from model.tap import Tap


class ScaledDotProductAttention(nn.Module):
    """softmax(Q Kᵀ / √d_k) V  (equation 1 and figure 2, left)."""

    def __init__(self) -> None:
        super().__init__()
        self.Q, self.K, self.V = Tap(), Tap(), Tap()
        self.scores, self.scaled, self.masked, self.weights = Tap(), Tap(), Tap(), Tap()
        self.heads = Tap()

    def forward(self, Q: Tensor, K: Tensor, V: Tensor, mask: Tensor | None = None) -> Tensor:
        """Q, K, V: (batch, head, token, d_k). mask: True where a query may attend to a key."""
        Q, K, V = self.Q(Q), self.K(K), self.V(V)
        scores = self.scores(self.compare(Q, K))  # (batch, head, query, key)
        scaled = self.closer(self.divided(scores, math.sqrt(Q.size(-1))))
        masked = self.masked(scaled if mask is None else scaled.masked_fill(~mask, -torch.inf))
        weights = self.weights(masked.softmax(dim=-1))
        return self.heads(weights @ V)  # (batch, head, query, d_k)

    def divided(self, scores: Tensor, root: float) -> Tensor:
        """Q Kᵀ / √d_k; subclasses may differ."""
        return self.scaled(scores / root)

    def closer(self, scaled: Tensor) -> Tensor:
        """The scores with a relative position bias, in subclasses that have one."""
        return scaled

    def compare(self, Q: Tensor, K: Tensor) -> Tensor:
        """Q Kᵀ: how well each key matches each query."""
        return Q @ K.mT


class MultiHeadAttention(ScaledDotProductAttention):
    """Concat(head_1, …, head_h) W_O, where head_i = Attention(X W_Qⁱ, X W_Kⁱ, X W_Vⁱ)  (section 3.2.2).

    W_Q, W_K and W_V hold the matrices of the h heads side by side, so one product computes all heads.
    """

    def __init__(self, d_model: int, heads: int, bias: bool = True, d_k: int = 0) -> None:
        super().__init__()
        self.h, width = heads, heads * d_k or d_model
        self.W_Q = nn.Linear(d_model, width, bias)
        self.W_K = nn.Linear(d_model, width, bias)
        self.W_V = nn.Linear(d_model, width, bias)
        self.W_O = nn.Linear(width, d_model, bias)
        self.concat, self.output = Tap(), Tap()

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor | None = None) -> Tensor:
        """x gives queries, memory gives keys and values: (batch, token, d_model) each; equal in self-attention."""
        Q = self.split(self.W_Q(x))
        K = self.split(self.W_K(memory))
        V = self.split(self.W_V(memory))
        heads = super().forward(Q, K, V, mask)
        concat = self.concat(heads.transpose(1, 2).flatten(start_dim=-2))  # (batch, token, d_model)
        return self.output(self.W_O(concat))

    def contributions(self, heads: Tensor) -> Tensor:
        """Contribution of each head to the output: head_i W_Oⁱ, (batch, head, token, d_model). Their sum + b_O is it.

        Source: Elhage et al. 2021, "A Mathematical Framework for Transformer Circuits": heads are independent and
        additive. Not used in the forward pass.
        """
        W_O = self.W_O.weight.T.unflatten(0, (self.h, -1))  # (head, d_k, d_model): the rows of each head
        return heads @ W_O

    def split(self, x: Tensor) -> Tensor:
        """(batch, token, d_model) -> (batch, head, token, d_k)."""
        return x.unflatten(-1, (self.h, -1)).transpose(1, 2)


class FeedForward(nn.Module):
    """act(x W₁ + b₁) W₂ + b₂, the same for each position  (equation 2)."""

    def __init__(self, d_model: int, d_ff: int, activation: str, dropout: float, bias: bool = True) -> None:
        super().__init__()
        self.W_1 = nn.Linear(d_model, d_ff, bias)
        self.hidden = Tap()
        self.activation = ACTIVATIONS[activation].module()
        self.dropout = nn.Dropout(dropout)
        self.W_2 = nn.Linear(d_ff, d_model, bias)
        self.output = Tap()

    def forward(self, x: Tensor) -> Tensor:
        hidden = self.hidden(self.W_1(x))  # (batch, token, d_ff)
        return self.output(self.W_2(self.dropout(self.activation(hidden))))


def norm_for(config: EncoderConfig, width: int = 0) -> nn.Module:
    """The configured LayerNorm of `width` numbers; 0: d_model."""
    if config.norm == "rms":
        return RMSNorm(width or config.d_model, config.norm_eps)
    return nn.LayerNorm(width or config.d_model, config.norm_eps, bias="norm" not in config.unbiased)
