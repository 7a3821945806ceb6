"""Numbers in the lecture notes, compared with computed ones.

Includes every number in the notes' tables, and every other one that can be checked, except values in made-up examples
("[0.1, 0.2, ..., 0.784]"). The page with the claims explains mistakes in the reader's language.
"""

import math
from dataclasses import dataclass, field
from typing import Literal

from model.config import PRESETS
from model.graph import graph
from model.measures.cost import (
    Count,
    Step,
    attention_cost,
    count,
    crossings,
    layer_parameters,
    letters,
    parameters,
    shape_walk,
    total,
)

#: A number, a letter, or a shape or list of these.
Value = float | str | tuple["Value", ...]


@dataclass(frozen=True)
class Claim:
    """One statement of a lecture note. `right`: correct; `partly`: true of less than it seems; `wrong`: a mistake."""

    key: str
    note: str
    quote: str  # the note's own words, with white space collapsed
    says: Value
    ours: Value
    verdict: Literal["right", "partly", "wrong"] = "right"
    formula: Count | None = None
    within: float = 0.0  # tolerance: half a unit of the last digit in the note
    values: dict[str, int] = field(default_factory=dict)  # numbers of ours, used in the reason for the verdict


def _softmax(*scores: float) -> tuple[float, ...]:
    powers = [math.exp(score) for score in scores]
    return tuple(power / sum(powers) for power in powers)


def _steps(preset: str, n: int, batch: int = 1) -> dict[str, Step]:
    return {step.key: step for step in shape_walk(PRESETS[preset], n, batch)}


def _shape(step: Step, *kept: str) -> tuple[int | str, ...]:
    """The output's shape in numbers, except letters that the note leaves open."""
    return tuple(axis if axis in kept else size for axis, size in zip(step.output.axes, step.output.sizes, strict=True))


# Lecture note 004, section 9: (shape in, shape out, parameters) for each row.

_BASE = PRESETS["004"]
_WALK = _steps("004", n=10)
_LAYER = layer_parameters(_BASE)
_CROSSES = {against: crossing.number for against, crossing in crossings(_BASE).items()}
_ATTENTION = total({part: _LAYER[part] for part in ("attention.weights", "attention.biases")})
_FFN = total({part: _LAYER[part] for part in ("ffn.weights", "ffn.biases")})
_SELF, _THINK = graph(_BASE).sublayers(0)
_HIDDEN, _BENT = f"{_THINK.prefix}hidden", f"{_THINK.prefix}activation"


def _row(
    name: str,
    quote: str,
    says: tuple[tuple[Value, ...], tuple[Value, ...], float],
    steps: tuple[str, str],
    formula: Count | None = None,
    verdict: Literal["right", "partly"] = "right",
    within: float = 0.0,
    **values: int,
) -> Claim:
    """One row of the table. `steps`: the step whose output enters the row, and the one whose output leaves it.

    formula: parameters; None: those of the second step.
    """
    formula = formula or _WALK[steps[1]].parameters
    into, out = (_shape(_WALK[step], "n") for step in steps)
    ours = (into, out, formula.number)
    return Claim(f"004.table.{name}", "004", quote, says, ours, verdict, formula, within, values)


_TABLE_004 = (
    _row("embedding", r"Token Embedding | $(n,)$ | $(n, 512)$ | $\|V\| \times 512$",
         (("n",), ("n", 512), 10_000 * 512), ("input", "embedding.tokens"), parameters(_BASE)["embedding"]),
    _row("positions", "+ Positional Encoding | $(n, 512)$ | $(n, 512)$ | 0（固定）",
         (("n", 512), ("n", 512), 0), ("embedding.tokens", "embedding.sum"), _WALK["embedding.positions"].parameters),
    _row("attention", "Multi-Head Attention | $(n, 512)$ | $(n, 512)$ | ~1M",
         (("n", 512), ("n", 512), 1_000_000), (_SELF.reads, _SELF.output), _ATTENTION, within=500_000),
    _row("attention_norm", r"Add & Norm | $(n, 512)$ | $(n, 512)$ | $2 \times 512$",
         (("n", 512), ("n", 512), 2 * 512), (_SELF.output, _SELF.after)),
    _row("ffn_1", r"FFN (第一层) | $(n, 512)$ | $(n, 2048)$ | $512 \times 2048$",
         (("n", 512), ("n", 2048), 512 * 2048), (_THINK.reads, _HIDDEN), _WALK[_HIDDEN].parameters, "partly",
         biases=_WALK[_HIDDEN].biases.number),
    _row("ffn_2", r"FFN (第二层) | $(n, 2048)$ | $(n, 512)$ | $2048 \times 512$",
         (("n", 2048), ("n", 512), 2048 * 512), (_BENT, _THINK.output), _WALK[_THINK.output].parameters, "partly",
         biases=_WALK[_THINK.output].biases.number),
    _row("ffn_norm", r"Add & Norm | $(n, 512)$ | $(n, 512)$ | $2 \times 512$",
         (("n", 512), ("n", 512), 2 * 512), (_THINK.output, _THINK.after)),
    _row("layer", "Encoder Layer 输出 | $(n, 512)$ | $(n, 512)$ | ~3M/层",
         (("n", 512), ("n", 512), 3_000_000), (_SELF.before, _THINK.after), total(_LAYER), within=500_000),
)  # fmt: skip


# All claims, note by note, in the order in which the notes make them.

_NOTE_001, _NOTE_002, _NOTE_003 = PRESETS["001"], PRESETS["002"], PRESETS["003"]
_BERT = PRESETS["bert-base"]
_WALK_002, _WALK_003 = _steps("002", n=10, batch=2), _steps("003", n=1, batch=2)

NOTE_CLAIMS: tuple[Claim, ...] = (
    Claim("000.width", "000", "embedding 维度（如 512、768）", (512, 768), (_BASE.d_model, _BERT.d_model)),

    Claim("001.W_Q", "001", "权重矩阵 $W_Q$, $W_K$, $W_V$ 形状为 $[d_{model}, d_k]$",
          ("d_model", "d_k"), ("d_k", "d_model"), "wrong"),
    Claim("001.table.d_model", "001", "512, 768", (512, 768), (_NOTE_001.d_model, _BERT.d_model)),
    Claim("001.table.d_k", "001", "Key/Query维度 | 64", (64, 64), (_NOTE_001.d_k, _BERT.d_k)),
    Claim("001.table.d_v", "001", "Value维度 | 64", (64, 64), (_NOTE_001.d_k, _BERT.d_k)),
    Claim("001.table.d_ff", "001", "FFN中间层维度 | 2048", 2048, _NOTE_001.d_ff),
    Claim("001.table.N", "001", "6, 12", (6, 12), (_NOTE_001.layers, _BERT.layers)),

    Claim("002.embedding", "002", "比如 10,000 行，每一行对应一个词", 10_000 * 512,
          parameters(_NOTE_001)["embedding"].number, formula=parameters(_NOTE_001)["embedding"]),
    Claim("002.softmax", "002", "苹果 vs 手机 -> 100分 -> 变成 **60%**", (0.6, 0.3, 0.1),
          _softmax(100 / 8, 50 / 8, 0), "wrong", within=0.005),
    Claim("002.third", "002", "苹果 vs 发布 -> 50分 -> 变成 **30%**", "发布 50", "香蕉 80", "wrong"),
    Claim("002.linear", "002", "Attention 的操作全是**线性的**（加加乘乘）", "f(2x) = 2·f(x)", "e²ˣ ≠ 2·eˣ", "partly"),
    Claim("002.variance", "002", "算出**标准差**（Variance）", "σ²", "σ", "wrong"),
    Claim("002.even", "002", "pe[:, 0::2] = torch.sin(position * div_term) # 偶数位置用 sin", "pos = 0, 2, 4, …",
          "i = 0, 2, 4, …", "wrong"),
    Claim("002.d_k", "002", r"$512\div8 = 64$", 64, _NOTE_002.d_k),
    Claim("002.concat", "002", "把 8 个 64 维的向量像排队一样拼回去 -> 变回 **512 维**", 8 * 64,
          _WALK_002["layers.0.attention.concat"].output.sizes[-1]),
    Claim("002.d_ff", "002", "通常是 4 倍，即 2048 维", (4, 2048),
          (_NOTE_002.d_ff / _NOTE_002.d_model, _NOTE_002.d_ff)),
    Claim("002.input", "002", '"输入形状:", src.shape) # [2, 10]', (2, 10), _WALK_002["input"].output.sizes),
    Claim("002.output", "002", '"输出形状:", output.shape) # [2, 10, 512]', (2, 10, 512),
          _WALK_002["norm"].output.sizes),

    Claim("003.pixels", "003", "28×28 图像展平为 1 维向量", 784, count("side²", letters(_NOTE_003)).number,
          formula=count("side²", letters(_NOTE_003))),
    Claim("003.randn", "003", "x = torch.randn(batch_size, 784) # 模拟MNIST图像数据", 1.0,
          math.erf(0.5**0.5) / 2, "wrong"),
    Claim("003.row", "003", "`[batch_size, 784]` → `[batch_size, 1, 784]`",
          ("B", 1, 784), _shape(_WALK_003["embedding.row"], "B")),
    Claim("003.projection", "003", "假设 d_model = 64", ("B", 1, 64), _shape(_WALK_003["embedding.tokens"], "B")),
    Claim("003.max_len", "003", "d_model, max_len=5000", 5000, _NOTE_003.max_tokens, "partly"),
    Claim("003.split", "003", "`[batch_size, 1, d_model]` → `[batch_size, num_heads, 1, d_k]`",
          ("B", 4, 1, 16), _shape(_WALK_003["layers.0.attention.Q"], "B")),
    Claim("003.d_k", "003", "假设 num_heads = 4, d_k = 16", (4, 16), (_NOTE_003.heads, _NOTE_003.d_k)),
    Claim("003.d_ff", "003", "d_model*4=256", 256, _NOTE_003.d_ff),
    Claim("003.logits", "003", "最终输出形状：`[batch_size, 2]`", ("B", 2), _shape(_WALK_003["logits"], "B")),
    Claim("003.softmax_1", "003", "[0.67, 0.33], # 第一张图片：67%概率是类别1，33%概率是类别2",
          (0.67, 0.33), _softmax(0.7, 0.3), "wrong", within=0.005),
    Claim("003.softmax_2", "003", "[0.25, 0.75] # 第二张图片：25%概率是类别1，75%概率是类别2",
          (0.25, 0.75), _softmax(0.2, 0.8), "wrong", within=0.005),

    Claim("004.layers", "004", "$N=6$ 个完全相同的层", 6, _BASE.layers),
    Claim("004.d_k", "004", "d_k = d_v = d_{model} / h = 512 / 8 = 64", 64, _BASE.d_k),
    Claim("004.sqrt_d_k", "004", r"$\sqrt{d_k} = \sqrt{64} = 8$", 8, math.sqrt(_BASE.d_k)),
    Claim("004.head", "004", r"\text{head}_i \in \mathbb{R}^{n \times 64}", ("n", 64),
          _shape(_WALK[f"{_SELF.prefix}heads"], "n")[1:]),
    Claim("004.concat", "004", r"\mathbb{R}^{n \times (h \cdot d_v)} = \mathbb{R}^{n \times 512}", ("n", 512),
          _shape(_WALK[f"{_SELF.prefix}concat"], "n")),
    Claim("004.projections", "004", r"8 \times (512 \times 64 \times 3)", 8 * (512 * 64 * 3),
          count("3·d_model²", letters(_BASE)).number, formula=count("3·d_model²", letters(_BASE))),
    Claim("004.W_O", "004", r"$W^O$：$512 \times 512$", 512 * 512, count("d_model²", letters(_BASE)).number,
          formula=count("d_model²", letters(_BASE))),
    Claim("004.attention", "004", r"$\approx 1,048,576$ 参数（约 1M）", 1_048_576, _LAYER["attention.weights"].number,
          formula=_LAYER["attention.weights"], values={"with_biases": _ATTENTION.number}),
    Claim("004.epsilon", "004", r"$\epsilon = 10^{-6}$", 1e-6, PRESETS["text"].norm_eps, "partly"),
    Claim("004.hidden", "004", r"\mathbb{R}^{n \times d_{ff}} = \mathbb{R}^{n \times 2048}", ("n", 2048),
          _shape(_WALK[_HIDDEN], "n")),
    Claim("004.ffn", "004", r"$\approx 2,101,248$ 参数（约 2M）", 2_101_248, _FFN.number, "wrong", _FFN),
    Claim("004.convolution", "004", "等价于两个 kernel size = 1 的 1D 卷积", "2 · Conv1d(1)", "2 · Conv1d(1)"),
    *_TABLE_004,
    Claim("004.attention_cost", "004", r"**Self-Attention**：$O(n^2 \cdot d_{model})$", "n²·d_model",
          total(attention_cost(_BASE, 1)).formula, "partly", values=_CROSSES),
    Claim("004.ffn_cost", "004", r"O(n \cdot 512 \cdot 2048)", 512 * 2048,
          count("2·n·d_model·d_ff", letters(_BASE)).number, "partly", count("2·n·d_model·d_ff", letters(_BASE))),
    Claim("004.n_below_d", "004", "当 $n < d_{model}$ 时，Self-Attention 更高效。", 512, _CROSSES["recurrent"],
          "partly", crossings(_BASE)["recurrent"], values=_CROSSES),
)  # fmt: skip
