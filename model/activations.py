"""Activation functions act(u): one row each, with its name, its symbol, its module and its arithmetic by hand.

A new one is a row here.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor, nn

from model.written import number, operand

#: Writes one line (symbol, expression, value) and returns the value, rounded as shown.
Line = Callable[[str, str, float], float]
#: (name of u, its value, writer of intermediate lines) -> the function in LaTeX, the same with numbers, its value.
ByHand = Callable[[str, float, Line], tuple[str, str, float]]


class Activation(NamedTuple):
    """One function of one number."""

    name: str  # unique, the same in every language
    symbol: str  # LaTeX
    module: Callable[[], nn.Module]
    by_hand: ByHand
    checkpoints: tuple[str, ...] = ()  # its names in config.json; empty: no layer may use it
    cuts: bool = False  # whether inputs below 0 give 0


class QuickGELU(nn.Module):
    """x σ(1.702 x), an approximation of GELU  (Hendrycks and Gimpel 2016, section 2). CLIP uses it."""

    def forward(self, x: Tensor) -> Tensor:
        return x * torch.sigmoid(1.702 * x)


def _relu(x: str, u: float, line: Line) -> tuple[str, str, float]:
    return rf"\max(0, {x})", rf"\max(0, {number(u)})", max(0.0, u)


def _tanh(x: str, u: float, line: Line) -> tuple[str, str, float]:
    return rf"\tanh({x})", rf"\tanh({number(u)})", math.tanh(u)


def _sigmoid(x: str, u: float, line: Line, k: float = 1) -> tuple[str, str, float]:
    right, expression = (rf"\frac{{1}}{{1 + e^{{-{_times(k)}{of}}}}}" for of in (x, operand(u)))
    small = math.exp(-abs(k * u))  # avoids overflow of e^u
    return right, expression, (1 if u >= 0 else small) / (1 + small)


def _sigmoid_linear(x: str, u: float, line: Line, k: float = 1) -> tuple[str, str, float]:
    """u σ(k u)."""
    _, expression, share = _sigmoid(x, u, line, k)
    share = line(rf"\sigma({_times(k)}{x})", expression, share)
    return rf"{x} \cdot \sigma({_times(k)}{x})", rf"{number(u)} \cdot {operand(share)}", u * share


def _times(k: float) -> str:
    return "" if k == 1 else rf"{k} \cdot "


def _gelu(x: str, u: float, line: Line) -> tuple[str, str, float]:
    """u Φ(u), where Φ(u) is the share of a standard normal distribution below u."""
    share = line(rf"\Phi({x})", rf"P(\mathcal{{N}}(0, 1) \le {number(u)})", 0.5 * math.erfc(-u / math.sqrt(2)))
    return rf"{x} \cdot \Phi({x})", rf"{number(u)} \cdot {operand(share)}", u * share


def _gelu_tanh(x: str, u: float, line: Line) -> tuple[str, str, float]:
    """2Φ(u) − 1 is near tanh(√(2/π) (u + 0.044715 u³))  (Hendrycks and Gimpel 2016, section 2)."""
    root, shown = line(r"\sqrt{2 / \pi}", "", math.sqrt(2 / math.pi)), operand(u)
    cube = rf"{number(u)} + 0.044715 \cdot {shown} \cdot {shown} \cdot {shown}"
    inside = line("t", rf"{number(root)} \cdot ({cube})", root * (u + 0.044715 * u**3))
    bent = line(r"\tanh(t)", rf"\tanh({number(inside)})", math.tanh(inside))
    right = rf"0.5 \cdot {x} \cdot (1 + \tanh(t))"
    return right, rf"0.5 \cdot {shown} \cdot (1 + {operand(bent)})", 0.5 * u * (1 + bent)


ACTIVATIONS = {
    "relu": Activation("ReLU", r"\operatorname{ReLU}", nn.ReLU, _relu, ("relu",), cuts=True),
    "gelu": Activation("GELU", r"\operatorname{GELU}", nn.GELU, _gelu, ("gelu", "gelu_python")),
    "gelu-tanh": Activation(
        "GELU (tanh)",
        r"\operatorname{GELU}_{\text{tanh}}",
        partial(nn.GELU, approximate="tanh"),
        _gelu_tanh,
        ("gelu_new", "gelu_fast", "gelu_pytorch_tanh", "gelu_python_tanh", "gelu_accurate"),
    ),
    "gelu-quick": Activation(
        "GELU (1.702)",
        r"\operatorname{GELU}_{1.702}",
        QuickGELU,
        partial(_sigmoid_linear, k=1.702),
        ("quick_gelu",),
    ),
    "silu": Activation("SiLU", r"\operatorname{SiLU}", nn.SiLU, _sigmoid_linear, ("silu", "swish")),
    "tanh": Activation("tanh", r"\tanh", nn.Tanh, _tanh),
    "sigmoid": Activation("σ", r"\sigma", nn.Sigmoid, _sigmoid),
}
#: Names of the activations of feed-forward layers.
OF_LAYERS = tuple(name for name, row in ACTIVATIONS.items() if row.checkpoints)
