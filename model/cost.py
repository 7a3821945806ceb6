"""What an encoder costs, in closed form: shapes, parameters, multiply–adds and memory of any EncoderConfig.

No module is built here, so the largest model costs as little to describe as the smallest. One layer, for n tokens:

    attention    4·d_model² + 4·d_model  parameters    4·n·d_model² + 2·n²·d_model  multiply–adds
    FFN          2·d_model·d_ff + d_ff + d_model       2·n·d_model·d_ff
    two norms    4·d_model                             none that are products

Every count is written as a formula in the paper's letters; the numbers are put into that text, and the result is
worked out from it, so that what a reader sees and what we compute cannot differ.

    n tokens    N layers    h heads    d_k = d_v = d_model / h    |V| vocabulary    B batch    n_max longest input
    images: `side` pixels a side, C channels, patches of P × P
"""

import re
from dataclasses import dataclass
from math import prod
from typing import Literal

from model.config import ConfigError, EncoderConfig
from model.stages import stage_of

Kind = Literal[
    "input", "lookup", "view", "copy", "product", "scale", "mask", "softmax", "add", "norm", "activation"
]  # fmt: skip

#: What counts of multiply–adds (ours and PyTorch's FlopCounterMode) leave out; a product's bias is left out as well.
NOT_COUNTED: tuple[Kind, ...] = ("lookup", "copy", "scale", "mask", "softmax", "add", "norm", "activation")

BYTES = {"float32": 4, "int64": 8}


# Counts: a formula, the same with its numbers put in, and what it comes to.


@dataclass(frozen=True)
class Count:
    """A number and where it comes from: "4·d_model²", "4·512²", 1048576."""

    formula: str
    numbers: str
    number: int

    def __str__(self) -> str:
        sides = dict.fromkeys((self.formula, self.numbers, f"{self.number:,}"))  # "0", not "0 = 0 = 0"
        return " = ".join(sides)

    @property
    def latex(self) -> str:
        """The formula in LaTeX."""
        text = re.sub(r"(d|n)_([a-z]+)", r"\1_{\2}", self.formula)
        text = re.sub(r"side|classes", r"\\text{\g<0>}", text)
        return text.replace("·", r" \cdot ").replace("²", "^2").replace("−", "-")


def letters(config: EncoderConfig, n: int = 1, batch: int = 1) -> dict[str, int]:
    """What each letter of a formula stands for."""
    return {
        "B": batch, "n": n, "N": config.layers, "h": config.heads,
        "d_model": config.d_model, "d_k": config.d_k, "d_v": config.d_k, "d_ff": config.d_ff,
        "|V|": config.vocab_size, "n_max": config.max_tokens, "classes": config.classes,
        "side": config.image_size, "P": config.patch_size, "C": config.channels,
    }  # fmt: skip


def count(formula: str, values: dict[str, int]) -> Count:
    """The formula with `values` for its letters. It may hold " + ", " − ", "·", "²" and brackets."""
    numbers = re.sub(r"\|V\||[A-Za-z_]+", lambda letter: str(values[letter[0]]), formula)
    return Count(formula, numbers, _worked_out(numbers))


def _worked_out(numbers: str) -> int:
    while "(" in numbers:
        numbers = re.sub(r"\(([^()]*)\)", lambda inner: str(_worked_out(inner[1])), numbers)
    terms = numbers.replace(" − ", " + -1·").split(" + ")
    return sum(prod(_power(factor) for factor in term.split("·")) for term in terms)


def _power(factor: str) -> int:
    return int(factor[:-1]) ** 2 if factor.endswith("²") else int(factor)


def total(parts: dict[str, Count]) -> Count:
    """All parts in one sum; those that come to nothing are left out."""
    kept = [part for part in parts.values() if part.number]
    return Count(
        " + ".join(part.formula for part in kept) or "0",
        " + ".join(part.numbers for part in kept) or "0",
        sum(part.number for part in kept),
    )


# Parameters.

_ATTENTION = {"attention.weights": "4·d_model²", "attention.biases": "4·d_model"}
_FFN = {"ffn.weights": "d_model·d_ff + d_ff·d_model", "ffn.biases": "d_ff + d_model"}
_NORMS = {"norms": "2·2·d_model"}

_EMBEDDING = {
    "words": "|V|·d_model",
    "patches": "C·P²·d_model + d_model + d_model",  # W_E, b_E, [CLS]
    "flat": "side²·d_model + d_model",
}
_HEAD = {
    "none": "0",
    "masked-word": "d_model² + d_model + 2·d_model + |V|",  # W, b, LayerNorm, c; the matrix Eᵀ is the embedding's own
    "classifier": "d_model·classes + classes",
}


def layer_parameters(config: EncoderConfig) -> dict[str, Count]:
    """Parameters of one layer: attention and FFN, each as weights and biases, and the two norms."""
    values = letters(config)
    return {part: count(formula, values) for part, formula in (_ATTENTION | _FFN | _NORMS).items()}


def parameters(config: EncoderConfig) -> dict[str, Count]:
    """Parameters of the whole network, part by part; `total` of it equals sum(p.numel()) of `network_for(config)`."""
    formulas = {
        "embedding": _EMBEDDING[config.input],
        "positions": "n_max·d_model" if config.positions == "learned" else "0",
        "attention": f"N·({' + '.join(_ATTENTION.values())})",
        "ffn": f"N·({' + '.join(_FFN.values())})",
        "norms": f"N·{_NORMS['norms']}",
        "final_norm": "2·d_model" if config.final_norm else "0",
        "head": _HEAD[config.head],
    }
    values = letters(config)
    return {part: count(formula, values) for part, formula in formulas.items()}


# Multiply–adds: the products of matrices, in which nearly all the work lies. One multiply–add is two FLOPs.

_ATTENTION_COST = {
    "projections": "4·n·d_model²",  # X W_Q, X W_K, X W_V, Concat W_O
    "scores": "h·n²·d_k",  # Q Kᵀ
    "weighted_sum": "h·n²·d_v",  # A V
}
_FFN_COST = "2·n·d_model·d_ff"
_EMBEDDING_COST = {"words": "0", "patches": "(n − 1)·C·P²·d_model", "flat": "n·side²·d_model"}
_HEAD_COST = {"none": "0", "masked-word": "n·d_model² + n·d_model·|V|", "classifier": "d_model·classes"}


def attention_cost(config: EncoderConfig, n: int) -> dict[str, Count]:
    """Multiply–adds of one layer's attention. `projections` grow with n, `scores` and `weighted_sum` with n²."""
    values = letters(config, n)
    return {part: count(formula, values) for part, formula in _ATTENTION_COST.items()}


def ffn_cost(config: EncoderConfig, n: int) -> Count:
    """Multiply–adds of one layer's feed-forward network."""
    return count(_FFN_COST, letters(config, n))


def recurrent_cost(config: EncoderConfig, n: int) -> Count:
    """Multiply–adds of a plain recurrent layer of the same width: h_t = tanh(W x_t + U h_{t−1}) at each place."""
    return count("2·n·d_model²", letters(config, n))


def multiply_adds(config: EncoderConfig, n: int) -> dict[str, Count]:
    """Multiply–adds of one run of the whole network over n tokens, part by part."""
    formulas = {
        "embedding": _EMBEDDING_COST[config.input],
        **{part: f"N·{formula}" for part, formula in _ATTENTION_COST.items()},
        "ffn": f"N·{_FFN_COST}",
        "head": _HEAD_COST[config.head],
    }
    values = letters(config, n)
    return {part: count(formula, values) for part, formula in formulas.items()}


def crossings(config: EncoderConfig) -> dict[str, Count]:
    """The n at which attention's n²-part, QKᵀ and AV (2·n²·d_model), costs as much as something else.

    projections: W_Q, W_K, W_V, W_O (4·n·d_model²).    ffn: the feed-forward network (2·n·d_model·d_ff).
    projections_and_ffn: both, that is all else in the layer. From there on the layer is mostly n².
    recurrent: a recurrent layer (2·n·d_model²). This is the comparison of the paper's table 1, "self-attention is
    faster when n < d_model", which lecture note 004 repeats without saying with what it compares.
    attention_and_ffn: here it is the *whole* attention, projections and all, that costs as much as the FFN. Not
    positive where d_ff ≤ 2·d_model: then attention is the dearer one at every length.
    """
    formulas = {
        "recurrent": "d_model",
        "projections": "2·d_model",
        "ffn": "d_ff",
        "projections_and_ffn": "2·d_model + d_ff",
        "attention_and_ffn": "d_ff − 2·d_model",
    }
    values = letters(config)
    return {against: count(formula, values) for against, formula in formulas.items()}


def attention_memory(config: EncoderConfig, n: int, bytes_each: int = BYTES["float32"]) -> Count:
    """Bytes of all the n × n weights A: every head of every layer."""
    return count(f"N·h·n²·{bytes_each}", letters(config, n))


def elementwise(config: EncoderConfig, n: int) -> dict[Kind, int]:
    """How many numbers each kind of work in NOT_COUNTED writes in one run: the part that multiply–adds do not show."""
    written = dict.fromkeys(NOT_COUNTED, 0)
    for step in shape_walk(config, n):
        if step.kind in written and step.bytes.number:  # the mask of a single input writes nothing
            written[step.kind] += step.times * step.output.size
    return written


# The shape walk.


@dataclass(frozen=True)
class Shape:
    """A tensor's axes, in letters and in numbers."""

    axes: tuple[str, ...]
    sizes: tuple[int, ...]

    def __str__(self) -> str:
        return ", ".join(self.axes)

    @property
    def size(self) -> int:
        """How many numbers the tensor holds."""
        return prod(self.sizes)

    @property
    def elements(self) -> str:
        """The same as a formula."""
        return "·".join(f"({axis})" if " " in axis else axis for axis in self.axes)


@dataclass(frozen=True)
class Step:
    """One step from input to answer. `key` is the trace key where `traced`, else a name of the same form.

    `reads` are the keys of the steps whose outputs come in, and `inputs` their shapes. Parameters, multiply–adds and
    bytes are those of one layer; a step happens `times` times. Bytes are those of the memory that the output adds:
    none for a view of an earlier tensor, and none for the mask, which without padding passes on what it gets.
    """

    key: str
    kind: Kind
    symbol: str  # LaTeX, as is the equation
    equation: str
    reads: tuple[str, ...]
    inputs: tuple[Shape, ...]
    output: Shape
    parameters: Count
    multiply_adds: Count
    bytes: Count
    times: int = 1

    @property
    def traced(self) -> bool:
        """Whether a run records this quantity."""
        return stage_of(self.key) is not None


def shape_walk(config: EncoderConfig, n: int, batch: int = 1) -> list[Step]:
    """Every step for `batch` inputs of n tokens, in order of computation; layer 0 stands for all N.

    A batch of one has no batch axis, as in a trace. Raises ConfigError for an n that the network cannot read.
    """
    if n < 1 or batch < 1:
        raise ConfigError("not_positive", n=n, batch=batch)
    if config.input == "words" and n > config.max_len:
        raise ConfigError("too_long", n=n, max_len=config.max_len)
    if config.input != "words" and n != config.max_tokens:
        raise ConfigError("image_sets_length", n=n, tokens=config.max_tokens)

    walk = _Walk(config, n, batch)
    x = _embedding(walk, config)
    x = _layer(walk, config, x)
    if config.final_norm:
        x = walk.step("norm", "norm", [x], "n, d_model", parameters="2·d_model")
    _head(walk, config, x)
    return walk.steps


class _Walk:
    """The steps so far. `step` adds one and returns its key, for later steps to read."""

    def __init__(self, config: EncoderConfig, n: int, batch: int) -> None:
        self.config, self.batch, self.values = config, batch, letters(config, n, batch)
        self.steps: list[Step] = []
        self.shapes: dict[str, Shape] = {}

    def step(
        self,
        key: str,
        kind: Kind,
        reads: list[str],
        axes: str,
        parameters: str = "0",
        multiply_adds: str = "0",
        per_input: bool = True,
    ) -> str:
        """`per_input` is False for what all inputs of a batch share."""
        output = self.shape(axes, per_input)
        symbol, equation = _written(key, self.config)
        each = BYTES["int64" if key == "input" and self.config.input == "words" else "float32"]
        adds_memory = kind not in ("view", "mask")
        self.shapes[key] = output
        self.steps.append(
            Step(
                key=key,
                kind=kind,
                symbol=symbol,
                equation=equation,
                reads=tuple(reads),
                inputs=tuple(self.shapes[read] for read in reads),
                output=output,
                parameters=count(parameters, self.values),
                multiply_adds=count(self.for_each_input(multiply_adds), self.values),
                bytes=count(f"{output.elements}·{each}" if adds_memory else "0", self.values),
                times=self.config.layers if key.startswith("layers.") else 1,
            )
        )
        return key

    def shape(self, axes: str, per_input: bool) -> Shape:
        names = tuple(axes.split(", "))
        if self.batch > 1:
            names = ("B" if per_input else "1", *names)
        return Shape(names, tuple(count(name, self.values).number for name in names))

    def for_each_input(self, formula: str) -> str:
        return formula if self.batch == 1 or formula == "0" else f"B·{formula}"


def _embedding(walk: _Walk, config: EncoderConfig) -> str:
    """From the input to X⁰: what each token is, plus where it stands."""
    match config.input:
        case "words":
            x = walk.step("input", "input", [], "n")
            if config.scale_embedding:
                x = walk.step("embedding.E", "lookup", [x], "n, d_model", _EMBEDDING["words"])
                x = walk.step("embedding.tokens", "scale", [x], "n, d_model")
            else:
                x = walk.step("embedding.tokens", "lookup", [x], "n, d_model", _EMBEDDING["words"])
        case "patches":
            x = walk.step("input", "input", [], "side, side" if config.channels == 1 else "C, side, side")
            x = walk.step("embedding.patches", "copy", [x], "n − 1, C·P²")
            x = walk.step(
                "embedding.W_E", "product", [x], "n − 1, d_model", "C·P²·d_model + d_model", _EMBEDDING_COST["patches"]
            )
            x = walk.step("embedding.tokens", "copy", [x], "n, d_model", parameters="d_model")
        case "flat":
            x = walk.step("input", "input", [], "side, side")
            x = walk.step("embedding.row", "view", [x], "n, side²")
            x = walk.step("embedding.tokens", "product", [x], "n, d_model", _EMBEDDING["flat"], _EMBEDDING_COST["flat"])
    rows = "n_max·d_model" if config.positions == "learned" else "0"
    positions = walk.step("embedding.positions", "view", [], "n, d_model", rows, per_input=False)
    return walk.step("embedding.sum", "add", [x, positions], "n, d_model")


def _layer(walk: _Walk, config: EncoderConfig, x: str) -> str:
    """One layer: attention and FFN, each with its residual sum, and the norm before or after."""
    here = "layers.0."

    def norm(name: str, x: str) -> str:
        return walk.step(here + name, "norm", [x], "n, d_model", parameters="2·d_model")

    def add(name: str, x: str, y: str) -> str:
        return walk.step(here + name, "add", [x, y], "n, d_model")

    if config.norm_first:
        x = add("add_1", x, _attention(walk, here + "attention.", norm("norm_1", x)))
        return add("add_2", x, _ffn(walk, here + "ffn.", norm("norm_2", x)))
    x = norm("norm_1", add("add_1", x, _attention(walk, here + "attention.", x)))
    return norm("norm_2", add("add_2", x, _ffn(walk, here + "ffn.", x)))


def _attention(walk: _Walk, here: str, x: str) -> str:
    matrix = {"parameters": "d_model² + d_model", "multiply_adds": "n·d_model²"}
    projected = [walk.step(f"{here}W_{name}", "product", [x], "n, d_model", **matrix) for name in "QKV"]
    Q, K, V = (
        walk.step(here + name, "view", [whole], f"h, n, {width}")
        for name, whole, width in zip("QKV", projected, ("d_k", "d_k", "d_v"), strict=True)
    )
    scores = walk.step(here + "scores", "product", [Q, K], "h, n, n", multiply_adds=_ATTENTION_COST["scores"])
    scaled = walk.step(here + "scaled", "scale", [scores], "h, n, n")
    masked = walk.step(here + "masked", "mask", [scaled], "h, n, n")
    weights = walk.step(here + "weights", "softmax", [masked], "h, n, n")
    heads = walk.step(
        here + "heads", "product", [weights, V], "h, n, d_v", multiply_adds=_ATTENTION_COST["weighted_sum"]
    )
    concat = walk.step(here + "concat", "copy", [heads], "n, d_model")
    return walk.step(here + "output", "product", [concat], "n, d_model", **matrix)


def _ffn(walk: _Walk, here: str, x: str) -> str:
    hidden = walk.step(here + "hidden", "product", [x], "n, d_ff", "d_model·d_ff + d_ff", "n·d_model·d_ff")
    activation = walk.step(here + "activation", "activation", [hidden], "n, d_ff")
    return walk.step(here + "output", "product", [activation], "n, d_model", "d_ff·d_model + d_model", "n·d_ff·d_model")


def _head(walk: _Walk, config: EncoderConfig, Z: str) -> None:
    match config.head:
        case "none":
            return
        case "masked-word":
            x = walk.step("transform.0", "product", [Z], "n, d_model", "d_model² + d_model", "n·d_model²")
            x = walk.step("transform.1", "activation", [x], "n, d_model")
            x = walk.step("transform.2", "norm", [x], "n, d_model", parameters="2·d_model")
            y, axes = walk.step("logits", "product", [x], "n, |V|", "|V|", "n·d_model·|V|"), "n, |V|"
        case "classifier":
            x = walk.step("first", "view", [Z], "d_model")
            y, axes = walk.step("logits", "product", [x], "classes", _HEAD["classifier"], "d_model·classes"), "classes"
    walk.step("answer", "softmax", [y], axes)


# Symbols and equations: those of STAGES, and here only what STAGES has no row for or writes for another variant.

_UNTRACED = {
    "embedding.E": ("E[x]", r"E[x] = [E_{x_1}; \ldots; E_{x_n}]"),
    "embedding.patches": (r"x_p", r"x_p = \text{patches of } P \times P \text{ pixels}"),
    "embedding.W_E": (r"x_p W_E", r"x_p W_E + b_E"),
    "embedding.row": ("x", r"x = \text{all pixels in one row}"),
    "layers.0.attention.Q": ("Q", r"Q = [Q_1, Q_2, \ldots, Q_h]"),
    "layers.0.attention.K": ("K", r"K = [K_1, K_2, \ldots, K_h]"),
    "layers.0.attention.V": ("V", r"V = [V_1, V_2, \ldots, V_h]"),
    "transform.0": ("Z W", r"Z W + b"),
    "transform.1": ("G", r"G = \operatorname{GELU}(Z W + b)"),
    "transform.2": (r"\hat G", r"\hat G = \operatorname{LayerNorm}(G)"),
    "first": ("Z_0", r"Z_0 = \text{the first row of } Z"),
    "answer": ("p", r"p = \operatorname{softmax}(y)"),
}
_INPUT = {
    "words": ("x", r"x = (x_1, \ldots, x_n)"),
    "patches": ("x", r"x = \text{image}"),
    "flat": ("x", r"x = \text{image}"),
}
_TOKENS = {
    "words": r"X_{\text{embed}} = E[x]",  # where the embedding is not scaled
    "patches": r"X_{\text{embed}} = [x_{cls};\, x_p W_E + b_E]",
    "flat": r"X_{\text{embed}} = x W_E + b_E",
}
_LOGITS = {
    "masked-word": r"y = \hat G E^{\top} + c",
    "classifier": r"y = Z_0 W + b",
}
_NORM_FIRST = {
    "norm_1": (r"X'", r"X' = \gamma \odot \frac{X - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta"),
    "attention.W_Q": ("X' W_Q", r"Q = X' W_Q + b_Q"),
    "attention.W_K": ("X' W_K", r"K = X' W_K + b_K"),
    "attention.W_V": ("X' W_V", r"V = X' W_V + b_V"),
    "norm_2": (r"X''", r"X'' = \gamma \odot \frac{X_{\text{res}} - \mu}{\sqrt{\sigma^2 + \epsilon}} + \beta"),
    "ffn.hidden": ("U", r"U = X'' W_1 + b_1"),
    "add_2": (r"X_{\text{res}} + F", r"X^{(l+1)} = X_{\text{res}} + F"),
}


def _written(key: str, config: EncoderConfig) -> tuple[str, str]:
    """Symbol and equation of a step, both LaTeX."""
    name = key.removeprefix("layers.0.")
    if config.norm_first and name in _NORM_FIRST:
        return _NORM_FIRST[name]
    if key == "input":
        return _INPUT[config.input]
    if key in _UNTRACED:
        return _UNTRACED[key]
    if name.startswith("attention.W_"):  # the projection is what STAGES writes under Q, K and V; there it is split too
        matrix = name.removeprefix("attention.")
        return f"X {matrix}", stage_of(key.replace("W_", "")).equation
    stage = stage_of(key)
    if key == "embedding.tokens" and not (config.input == "words" and config.scale_embedding):
        return stage.symbol, _TOKENS[config.input]
    if key == "logits":
        return stage.symbol, _LOGITS[config.head]
    return stage.symbol, stage.equation
