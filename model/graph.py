"""graph(config): every quantity that a network computes, in order, and what each of them is computed from.

This is the one place that knows the order of computation: where LayerNorm stands, how words, patches or a whole picture
become vectors, what the head reads, how a decoder reads an encoder. The trace, the laws, the counts, the diagram, the
arithmetic and every page ask here. Symbols are those of the paper; layers are counted from 0 in keys.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any, Literal

from model.config import EncoderConfig

Operation = Literal[
    "input",  # given from outside
    "look_up",  # rows of a matrix: E[x]
    "scale",  # × a constant: `factor`
    "cut",  # a picture into patches
    "flatten",  # a picture into one row
    "linear",  # x W + b
    "put_in_front",  # [CLS] before the patches
    "positions",  # the first n rows of a table
    "add",  # the sum of what it reads
    "norm",  # LayerNorm
    "split",  # d_model into h heads of d_k
    "scores",  # Q Kᵀ
    "mask",  # −∞ where a query may not look
    "softmax",
    "weighted_sum",  # A V
    "concat",  # the heads side by side
    "activation",  # ReLU, GELU or tanh
    "first",  # the first row
    "second",  # the second row
    "mean",  # of the two that it reads
]
Scale = Literal["signed", "share", "positive"]
Part = Literal["attention", "cross", "ffn"]
SIDES = ("", "decoder.")  # what the keys of the encoder and of the decoder begin with


@dataclass(frozen=True)
class Quantity:
    """One quantity: its key, how the notes write it, and where it comes from.

    `key` is the path of the module that puts it out; where `traced`, a run records it. `reads` are the keys that it is
    computed from, `module` the path of the module whose weights it uses (None: it has none); they are `tied` where its
    matrix is the one that looks words up in the encoder.
    """

    key: str
    operation: Operation
    reads: tuple[str, ...]
    symbol: str  # LaTeX
    equation: str  # LaTeX, right-hand sides in the symbols of what it reads
    axes: tuple[str, ...]
    scale: Scale = "signed"
    traced: bool = True
    module: str | None = None
    factor: float = 1.0
    tied: bool = False

    @property
    def layer(self) -> int | None:
        """The layer that it belongs to, from 0; None outside the layers."""
        path = self.key.split(".")
        return int(path[path.index("layers") + 1]) if "layers" in path else None

    @property
    def row(self) -> str:
        """The key with {l} for the layer: the same for all layers."""
        return self.key if self.layer is None else self.key.replace(f"layers.{self.layer}.", "layers.{l}.", 1)

    def numbered(self, latex: str) -> str:
        """Its symbol or equation with the number of its layer: the notes' X^{(l+1)} is X^{(3)} in the third."""
        return latex if self.layer is None else latex.replace("(l+1)", f"({self.layer + 1})")


@dataclass(frozen=True)
class Sublayer:
    """Attention, cross-attention or FFN with its residual sum and its LayerNorm, by their keys.

    The residual stream is `before`, then `after`. The sub-layer reads `reads` (and `memory`, what cross-attention
    looks at) and finds `output`; `sum` = `before` + `output`. LayerNorm (`norm`) reads `norm_reads`: the sum itself
    where it comes after; the stream where it comes before the sub-layer.
    """

    name: Part
    prefix: str  # of its own keys: "layers.0.attention."
    before: str
    reads: str
    memory: str | None
    output: str
    sum: str
    norm: str
    norm_reads: str
    after: str

    @property
    def norm_first(self) -> bool:
        """Whether LayerNorm comes before the sub-layer."""
        return self.norm_reads == self.before


@dataclass(frozen=True)
class Graph:
    """All quantities of one network, in order of computation, by key."""

    config: EncoderConfig
    decoder: EncoderConfig | None
    quantities: dict[str, Quantity]
    sublayers_of: dict[tuple[str, int], tuple[Sublayer, ...]]
    Z: str  # the key of what the encoder hands on: to its head, or to a decoder

    def __getitem__(self, key: str) -> Quantity:
        return self.quantities[key]

    def __contains__(self, key: str) -> bool:
        return key in self.quantities

    def __iter__(self) -> Iterator[Quantity]:
        return iter(self.quantities.values())

    def __hash__(self) -> int:
        return hash((self.config, self.decoder))

    def get(self, key: str) -> Quantity | None:
        return self.quantities.get(key)

    def layers(self, side: str = "") -> int:
        """How many layers the encoder (or, with side "decoder.", the decoder) has."""
        return sum(1 for where, _ in self.sublayers_of if where == side)

    def sublayers(self, layer: int, side: str = "") -> tuple[Sublayer, ...]:
        """The sub-layers of one layer, in order."""
        return self.sublayers_of[side, layer]

    @property
    def norms(self) -> list[str]:
        """The keys of the LayerNorms inside the encoder's layers."""
        return [sublayer.norm for layer in range(self.config.layers) for sublayer in self.sublayers(layer)]

    def stream(self, layer: int, side: str = "") -> tuple[str, ...]:
        """The residual stream of one layer: into it, after each sub-layer; the last is what the layer hands on."""
        sublayers = self.sublayers(layer, side)
        return (sublayers[0].before, *(sublayer.after for sublayer in sublayers))


@lru_cache(maxsize=64)  # a reader of Shapes and cost may ask for any number of them
def graph(config: EncoderConfig, decoder: EncoderConfig | None = None) -> Graph:
    """The graph of one encoder with its head; with `decoder`, of a translator: encoder, decoder and the next word."""
    rows = _Rows()
    x = _embedding(rows, config)
    Z = _layers(rows, config, x, "", ("X",))
    if config.final_norm:
        Z = rows.norm("norm", Z, "Z", rf"X^{{({config.layers})}}", "token")
    if decoder is None:
        _head(rows, config, Z)
    else:
        y = _target(rows, decoder)
        y = _layers(rows, decoder, y, "decoder.", ("Y", "Z"), memory=Z)
        equation = rf"y = Y^{{({decoder.layers})}} E^{{\top}} + c"
        rows.add("logits", "linear", (y,), "y", equation, ("target", "word"), module="logits", tied=True)
        rows.add("answer", "softmax", ("logits",), "p", SOFTMAX_Y, ("target", "word"), scale="share", traced=False)
    return Graph(config, decoder, rows.quantities, rows.sublayers, Z)


SOFTMAX_Y = r"p = \operatorname{softmax}(y)"


class _Rows:
    """The quantities so far; each call adds one and returns its key, for later ones to read."""

    def __init__(self) -> None:
        self.quantities: dict[str, Quantity] = {}
        self.sublayers: dict[tuple[str, int], tuple[Sublayer, ...]] = {}

    def add(self, key: str, *row: Any, **more: Any) -> str:
        """What follows the key: the other fields of Quantity, in their order or by their names."""
        self.quantities[key] = Quantity(key, *row, **more)
        return key

    def norm(
        self, key: str, read: str, symbol: str, of: str, token: str, traced: bool = True, width: str = "d_model"
    ) -> str:
        """LayerNorm of what is written `of`."""
        equation = rf"{symbol} = \gamma \odot \frac{{{of} - \mu}}{{\sqrt{{\sigma^2 + \epsilon}}}} + \beta"
        return self.add(key, "norm", (read,), symbol, equation, (token, width), traced=traced, module=key)


# -- from the input to X⁰ ----------------------------------------------------------------------------------------


def _embedding(rows: _Rows, config: EncoderConfig) -> str:
    X, segments = r"X_{\text{embed}}", None
    match config.input:
        case "words":
            tokens = _look_up(rows, config, "", "x", X, "token")
            if config.segments:
                segments = _segments(rows, config)
        case "patches":
            image = ("channel", "height", "width") if config.channels > 1 else ("height", "width")
            x = rows.add("input", "input", (), "x", r"x = \text{image}", image, "positive", traced=False)
            patches = r"x_p = \text{patches of } P \times P \text{ pixels}"
            x = rows.add("embedding.patches", "cut", (x,), "x_p", patches, ("patch", "pixel"), "positive", traced=False)
            x = rows.add(
                "embedding.W_E", "linear", (x,), "x_p W_E", r"x_p W_E + b_E", ("patch", "d_model"),
                traced=False, module="embedding.W_E",
            )  # fmt: skip
            in_front = r"x_{cls};\, x_{dist}" if config.distillation_token else "x_{cls}"
            equation = rf"{X} = [{in_front};\, x_p W_E + b_E]"
            axes = ("token", "d_model")
            tokens = rows.add("embedding.tokens", "put_in_front", (x,), X, equation, axes, module="embedding")
        case "flat":
            x = rows.add("input", "input", (), "x", r"x = \text{image}", ("height", "width"), "positive", traced=False)
            row = r"x = \text{all pixels in one row}"
            x = rows.add("embedding.row", "flatten", (x,), "x", row, ("token", "pixel"), "positive", traced=False)
            tokens = rows.add(
                "embedding.tokens", "linear", (x,), X, rf"{X} = x W_E + b_E", ("token", "d_model"),
                module="embedding.W_E",
            )  # fmt: skip
    return _with_positions(rows, config, "", tokens, X, r"X^{(0)}", "token", segments)


def _width(config: EncoderConfig) -> str:
    """The axis along which words, segments and positions are added."""
    return "d_E" if config.d_embedding else "d_model"


def _segments(rows: _Rows, config: EncoderConfig) -> str:
    """Which of two sentences each token belongs to: rows of a matrix of their own."""
    which = rows.add("segments", "input", (), "s", r"s = (s_1, \ldots, s_n)", ("token",), traced=False)
    equation = r"E_{seg}[s] = [E_{seg,s_1}; \ldots; E_{seg,s_n}]"
    return rows.add(
        "embedding.segments", "look_up", (which,), "E_{seg}[s]", equation, ("token", _width(config)),
        module="embedding.segments",
    )  # fmt: skip


def _target(rows: _Rows, config: EncoderConfig) -> str:
    """What the decoder reads: the target's words so far, its first token naming the language."""
    Y = r"Y_{\text{embed}}"
    tokens = _look_up(rows, config, "decoder.", "y", Y, "target")
    return _with_positions(rows, config, "decoder.", tokens, Y, r"Y^{(0)}", "target")


def _look_up(rows: _Rows, config: EncoderConfig, side: str, x: str, result: str, token: str) -> str:
    """Words: rows of E, and where the configuration says so times √d_model."""
    ids = rows.add(f"{side}input", "input", (), x, rf"{x} = ({x}_1, \ldots, {x}_n)", (token,), traced=False)
    axes, E, tied = (token, _width(config)), f"{side}embedding.E", bool(side)
    key = f"{side}embedding.tokens"
    if not config.scale_embedding:
        return rows.add(key, "look_up", (ids,), result, rf"{result} = E[{x}]", axes, module=E, tied=tied)
    equation = rf"E[{x}] = [E_{{{x}_1}}; \ldots; E_{{{x}_n}}]"
    row = rows.add(E, "look_up", (ids,), f"E[{x}]", equation, axes, traced=False, module=E, tied=tied)
    equation = rf"{result} = E[{x}] \cdot \sqrt{{{'d_E' if config.d_embedding else 'd_{model}'}}}"
    return rows.add(key, "scale", (row,), result, equation, axes, factor=sqrt(config.embedded))


def _with_positions(
    rows: _Rows, config: EncoderConfig, side: str, tokens: str, embedded: str, result: str, token: str,
    segments: str | None = None,
) -> str:  # fmt: skip
    axes, E_pos = (token, _width(config)), r"E_{pos}"
    table = f"{side}embedding.positions"
    learned = table if config.positions == "learned" else None
    positions = rows.add(table, "positions", (), E_pos, E_pos, axes, module=learned)
    added = result  # what is added, or LayerNorm of it
    if config.d_embedding:
        added = r"\bar X_{\text{sum}}" if config.embedding_norm else r"X_{\text{sum}}"
    summed = r"X_{\text{sum}}" if config.embedding_norm else added
    terms = {tokens: embedded} | ({segments: "E_{seg}[s]"} if segments else {}) | {positions: E_pos}
    equation = f"{summed} = {' + '.join(terms.values())}"
    x = rows.add(f"{side}embedding.sum", "add", tuple(terms), summed, equation, axes)
    if config.embedding_norm:
        x = rows.norm(f"{side}embedding.norm", x, added, summed, token, width=_width(config))
    if config.d_embedding:
        axes, equation = (token, "d_model"), f"{result} = {added} W_E + b_E"
        x = rows.add(
            f"{side}embedding.projection", "linear", (x,), result, equation, axes, module=f"{side}embedding.W_E"
        )
    return x


# -- the layers --------------------------------------------------------------------------------------------------


def _layers(
    rows: _Rows, config: EncoderConfig, x: str, side: str, letters: tuple[str, ...], memory: str | None = None
) -> str:
    """All layers, each the same. letters: of the stream, and of the memory that cross-attention looks at."""
    letter = letters[0]
    token = "target" if side else "token"
    for layer in range(config.layers):
        here = f"{side}layers.{layer}."
        names: tuple[Part, ...] = ("attention", "ffn") if memory is None else ("attention", "cross", "ffn")
        sublayers = []
        for number, name in enumerate(names, 1):
            last = number == len(names)
            written = letter + "'" * (number - 1)  # X, X', Y''
            result = rf"{letter}^{{(l+1)}}" if last else letter + "'" * number
            norm = f"{here}norm_{number}"
            before, reads, read_as = x, x, written
            if config.norm_first:
                read_as = rf"\bar {written}" if number == 1 else rf"\bar {{{written}}}"
                reads = rows.norm(norm, x, read_as, written, token)
            looked_at, seen_as = (memory, letters[1]) if name == "cross" else (None, read_as)
            if name == "ffn":
                output = _ffn(rows, f"{here}ffn.", config, reads, read_as, token)
            else:
                output = _attention(rows, f"{here}{name}.", config, reads, read_as, looked_at or reads, seen_as, token)
            found = "F" if name == "ffn" else "O"
            added = result if config.norm_first else rf"{written}_{{\text{{res}}}}"
            equation = f"{added} = {written} + {found}"
            total = rows.add(f"{here}add_{number}", "add", (before, output), added, equation, (token, "d_model"))
            x = total if config.norm_first else rows.norm(norm, total, result, added, token)
            norm_reads = before if config.norm_first else total
            sublayers.append(
                Sublayer(name, f"{here}{name}.", before, reads, looked_at, output, total, norm, norm_reads, x)
            )
        rows.sublayers[side, layer] = tuple(sublayers)
    return x


_ACTIVATIONS = {"relu": r"\operatorname{ReLU}", "gelu": r"\operatorname{GELU}", "tanh": r"\tanh"}
_MAY_LOOK = r"\begin{cases}\hat S_{ij} & i \text{ may look at } j\\ -\infty & \text{otherwise}\end{cases}"
_SOFTMAX = r"\operatorname{softmax}(M)_{ij} = \frac{e^{M_{ij}}}{\sum_{j'} e^{M_{ij'}}}"


def _attention(
    rows: _Rows, here: str, config: EncoderConfig, x: str, asks: str, memory: str, answers: str, token: str
) -> str:
    """softmax(Q Kᵀ / √d_k) V in h heads. asks, answers: how what Q comes from is written, and K and V."""
    side = "token" if here.endswith("cross.") else token  # whose tokens are looked at
    for role, read, source, of in (("Q", x, asks, token), ("K", memory, answers, side), ("V", memory, answers, side)):
        equation = f"{role} = {source} W_{role} + b_{role}"
        whole = rows.add(
            f"{here}W_{role}", "linear", (read,), f"{source} W_{role}", equation, (of, "d_model"),
            traced=False, module=f"{here}W_{role}",
        )  # fmt: skip
        rows.add(f"{here}{role}", "split", (whole,), role, equation, ("head", of, "d_k"))
    pairs = ("head", "query", "key")
    S, M, A = rf"{here}scores", rf"{here}masked", rf"{here}weights"
    rows.add(S, "scores", (f"{here}Q", f"{here}K"), "S", r"S = Q K^{\top}", pairs)
    rows.add(
        f"{here}scaled", "scale", (S,), r"\hat S", r"\hat S = \frac{S}{\sqrt{d_k}}", pairs, factor=1 / sqrt(config.d_k)
    )
    rows.add(M, "mask", (f"{here}scaled",), "M", f"M_{{ij}} = {_MAY_LOOK}", pairs)
    rows.add(A, "softmax", (M,), "A", f"A_{{ij}} = {_SOFTMAX}", pairs, "share")
    head = r"\text{head}_i"
    rows.add(f"{here}heads", "weighted_sum", (A, f"{here}V"), head, f"{head} = A V", ("head", token, "d_k"))
    concat = r"\text{Concat} = [\text{head}_1; \ldots; \text{head}_h]"
    rows.add(f"{here}concat", "concat", (f"{here}heads",), r"\text{Concat}", concat, (token, "d_model"))
    equation = r"O = \text{Concat}\, W_O + b_O"
    return rows.add(
        f"{here}output", "linear", (f"{here}concat",), "O", equation, (token, "d_model"), module=f"{here}W_O"
    )


def _ffn(rows: _Rows, here: str, config: EncoderConfig, x: str, reads: str, token: str) -> str:
    rows.add(f"{here}hidden", "linear", (x,), "U", f"U = {reads} W_1 + b_1", (token, "d_ff"), module=f"{here}W_1")
    equation = f"H = {_ACTIVATIONS[config.activation]}(U)"
    rows.add(f"{here}activation", "activation", (f"{here}hidden",), "H", equation, (token, "d_ff"))
    H, equation = f"{here}activation", "F = H W_2 + b_2"
    return rows.add(f"{here}output", "linear", (H,), "F", equation, (token, "d_model"), module=f"{here}W_2")


# -- the answer --------------------------------------------------------------------------------------------------


def _head(rows: _Rows, config: EncoderConfig, Z: str) -> None:
    axes: tuple[str, ...]
    match config.head:
        case "none":
            return
        case "masked-word":
            wide, axes = ("token", _width(config)), ("token", "word")
            x = rows.add("transform.0", "linear", (Z,), "Z W", "Z W + b", wide, traced=False, module="transform.0")
            gelu = r"G = \operatorname{GELU}(Z W + b)"
            x = rows.add("transform.1", "activation", (x,), "G", gelu, wide, traced=False)
            x = rows.norm("transform.2", x, r"\hat G", "G", "token", traced=False, width=wide[1])
            rows.add("logits", "linear", (x,), "y", r"y = \hat G E^{\top} + c", axes, module="logits", tied=True)
        case "classifier":
            axes = ("class",)
            first = r"Z^{[\text{CLS}]}" if config.input == "patches" else "Z_1"
            equation = rf"{first} = \text{{the first row of }} Z"
            x = rows.add("first", "first", (Z,), first, equation, ("d_model",), traced=False)
            if config.pooler != "none":
                act, pooled = _ACTIVATIONS[config.pooler], f"{first} W_P"
                x = rows.add(
                    "pooler.0", "linear", (x,), pooled, f"{pooled} + b_P", ("d_model",), traced=False, module="pooler.0"
                )
                x = rows.add(
                    "pooler.1", "activation", (x,), "P", rf"P = {act}({pooled} + b_P)", ("d_model",), traced=False
                )
                first = "P"
            if config.distillation_head:
                _two_classifiers(rows, Z, x)
            else:
                rows.add("logits", "linear", (x,), "y", rf"y = {first} W + b", axes, module="logits")
    rows.add("answer", "softmax", ("logits",), "p", SOFTMAX_Y, axes, scale="share", traced=False)


def _two_classifiers(rows: _Rows, Z: str, first: str) -> None:
    """One reads [CLS], the other the distillation token; y is their mean."""
    token = r"Z^{[\text{DIST}]}"
    equation = rf"{token} = \text{{the second row of }} Z"
    second = rows.add("second", "second", (Z,), token, equation, ("d_model",), traced=False)
    logits = []
    for key, read, name in (("cls", first, "CLS"), ("distillation", second, "DIST")):
        of = rf"[\text{{{name}}}]"
        symbol, equation = rf"y^{{{of}}}", rf"y^{{{of}}} = Z^{{{of}}} W^{{{of}}} + b^{{{of}}}"
        logits.append(
            rows.add(f"{key}_logits", "linear", (read,), symbol, equation, ("class",), module=f"{key}_logits")
        )
    equation = r"y = \frac{y^{[\text{CLS}]} + y^{[\text{DIST}]}}{2}"
    rows.add("logits", "mean", tuple(logits), "y", equation, ("class",))
