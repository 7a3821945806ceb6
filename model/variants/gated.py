"""A gated feed-forward network: each neuron is multiplied by a second projection of the same vector."""

from torch import Tensor, nn

from model.sublayers import FeedForward
from model.tap import Tap


class GatedFeedForward(FeedForward):
    """(act(x W₁ + b₁) ⊙ (x W₃ + b₃)) W₂ + b₂: the gate, act(x W₁ + b₁), scales x W₃ + b₃.

    Source: Shazeer 2020, "GLU Variants Improve Transformer": GEGLU with GELU, SwiGLU with SiLU. Matrices are named as
    in LLaMA's code.
    """

    def __init__(
        self, d_model: int, d_ff: int, activation: str, dropout: float, bias: bool = True, of_gates: bool = True
    ) -> None:
        """of_gates: whether W₁ and W₃ have biases, if W₂ has one."""
        super().__init__(d_model, d_ff, activation, dropout, bias)
        self.W_1, self.W_3 = (nn.Linear(d_model, d_ff, bias and of_gates) for _ in range(2))
        self.up, self.product = Tap(), Tap()

    def forward(self, x: Tensor) -> Tensor:
        gate = self.activation(self.hidden(self.W_1(x)))  # (batch, token, d_ff)
        product = self.product(gate * self.up(self.W_3(x)))
        return self.output(self.W_2(self.dropout(product)))
