"""STAGES: every quantity that a run records, one row each, in order of computation.

Pages, captions, downloads and tests are driven by this table. `{l}` stands for a layer, counted from 0.
"""

import re
from dataclasses import dataclass, replace
from typing import Literal


@dataclass(frozen=True)
class Stage:
    """One recorded quantity: its key, how the notes write it, and how to draw it."""

    key: str
    symbol: str  # LaTeX
    equation: str  # LaTeX, right-hand sides in the symbols of the other rows
    axes: tuple[str, ...]  # empty where it depends on the head
    scale: Literal["signed", "share", "positive"] = "signed"


_LAYER = [
    Stage("attention.Q", "Q", r"Q = X W_Q + b_Q", ("head", "token", "d_k")),
    Stage("attention.K", "K", r"K = X W_K + b_K", ("head", "token", "d_k")),
    Stage("attention.V", "V", r"V = X W_V + b_V", ("head", "token", "d_k")),
    Stage("attention.scores", "S", r"S = Q K^{\top}", ("head", "query", "key")),
    Stage("attention.scaled", r"\hat S", r"\hat S = \frac{S}{\sqrt{d_k}}", ("head", "query", "key")),
    Stage(
        "attention.masked",
        "M",
        r"M_{ij} = \begin{cases}\hat S_{ij} & i \text{ may look at } j\\ -\infty & \text{otherwise}\end{cases}",
        ("head", "query", "key"),
    ),
    Stage(
        "attention.weights",
        "A",
        r"A_{ij} = \operatorname{softmax}(M)_{ij} = \frac{e^{M_{ij}}}{\sum_{j'} e^{M_{ij'}}}",
        ("head", "query", "key"),
        "share",
    ),
    Stage("attention.heads", r"\text{head}_i", r"\text{head}_i = A V", ("head", "token", "d_k")),
    Stage(
        "attention.concat",
        r"\text{Concat}",
        r"\text{Concat} = [\text{head}_1; \ldots; \text{head}_h]",
        ("token", "d_model"),
    ),
    Stage("attention.output", "O", r"O = \text{Concat}\, W_O + b_O", ("token", "d_model")),
    Stage("add_1", r"X + O", r"X_{\text{res}} = X + O", ("token", "d_model")),
    Stage(
        "norm_1",
        r"X'",
        r"X' = \gamma \odot \frac{X_{\text{res}} - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
        ("token", "d_model"),
    ),
    Stage("ffn.hidden", "U", r"U = X' W_1 + b_1", ("token", "d_ff")),
    Stage("ffn.activation", "H", r"H = \operatorname{act}(U)", ("token", "d_ff")),
    Stage("ffn.output", "F", r"F = H W_2 + b_2", ("token", "d_model")),
    Stage("add_2", r"X' + F", r"X'_{\text{res}} = X' + F", ("token", "d_model")),
    Stage(
        "norm_2",
        r"X^{(l+1)}",
        r"X^{(l+1)} = \gamma \odot \frac{X'_{\text{res}} - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta",
        ("token", "d_model"),
    ),
]

STAGES: tuple[Stage, ...] = (
    Stage(
        "embedding.tokens", r"X_{\text{embed}}", r"X_{\text{embed}} = E[x] \cdot \sqrt{d_{model}}", ("token", "d_model")
    ),
    Stage("embedding.positions", r"E_{pos}", r"E_{pos}", ("token", "d_model")),
    Stage("embedding.sum", r"X^{(0)}", r"X^{(0)} = X_{\text{embed}} + E_{pos}", ("token", "d_model")),
    *(Stage("layers.{l}." + s.key, s.symbol, s.equation, s.axes, s.scale) for s in _LAYER),
    Stage("norm", "Z", r"Z = \operatorname{LayerNorm}(X^{(N)})", ("token", "d_model")),
    Stage("logits", "y", r"y", ()),
)

_ATTENTION = [stage for stage in _LAYER if stage.key.startswith("attention.")]
_FFN = [stage for stage in _LAYER if stage.key.startswith("ffn.")]


def _renamed(stage: Stage, key: str, *letters: tuple[str, str], source: str = "") -> Stage:
    """A row of the encoder as the decoder has it: the tokens are the target's, but for quantities named in `source`."""
    symbol, equation = stage.symbol, stage.equation
    for old, new in letters:
        symbol, equation = symbol.replace(old, new), equation.replace(old, new)
    axes = stage.axes if stage.symbol in source else tuple("target" if a == "token" else a for a in stage.axes)
    return Stage(key, symbol, equation, axes, stage.scale)


def _cross(stage: Stage) -> Stage:
    """A row of cross-attention: Q comes from the target, K and V from the encoder's Z."""
    reads = "Z" if stage.symbol in "KV" else "Y'"
    return _renamed(stage, stage.key.replace("attention", "cross"), ("X", reads), source="KV")


_NORM = r"\gamma \odot \frac{%s - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta"


def _add_and_norm(number: int, result: str, before: str, output: str) -> list[Stage]:
    residual = before + r"_{\text{res}}"
    return [
        Stage(f"add_{number}", f"{before} + {output}", f"{residual} = {before} + {output}", ("target", "d_model")),
        Stage(f"norm_{number}", result, f"{result} = " + _NORM % residual, ("target", "d_model")),
    ]


_DECODER_LAYER = [
    *(_renamed(stage, stage.key, ("X", "Y")) for stage in _ATTENTION),
    *_add_and_norm(1, "Y'", "Y", "O"),
    *map(_cross, _ATTENTION),
    *_add_and_norm(2, "Y''", "Y'", "O"),
    *(_renamed(stage, stage.key, ("X'", "Y''")) for stage in _FFN),
    *_add_and_norm(3, "Y^{(l+1)}", "Y''", "F"),
]

#: The translator's decoder: the same quantities for the target's tokens, and cross-attention from target to source.
DECODER_STAGES: tuple[Stage, ...] = (
    *(_renamed(stage, "decoder." + stage.key, ("X", "Y")) for stage in STAGES if stage.key.startswith("embedding.")),
    *(replace(stage, key="decoder.layers.{l}." + stage.key) for stage in _DECODER_LAYER),
)

_BY_KEY = {stage.key: stage for stage in STAGES + DECODER_STAGES}


def stage_of(key: str) -> Stage | None:
    """The row that describes a trace key ("layers.3.add_1" -> the row "layers.{l}.add_1"), or None."""
    return _BY_KEY.get(re.sub(r"(^|\.)layers\.\d+\.", r"\1layers.{l}.", key))
