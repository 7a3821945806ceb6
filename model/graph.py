"""graph(config): every quantity that a network computes, in order, and what each of them is computed from.

The order of computation as data: where LayerNorm stands, how words, patches or a whole picture become vectors, what
the head reads, how a decoder reads an encoder. encoder.py computes it, and tests/model/test_laws.py compares the two.
The trace, the counts, the diagram, the arithmetic and every page use the graph. Symbols are the paper's; keys count
layers from 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt
from typing import Any, Literal

from model.config import Biased, EncoderConfig
from model.operations import OPERATIONS, Quantity
from model.rule import Index, cells
from model.variants.shared import set_of

Part = Literal["attention", "cross", "ffn"]
SIDES = ("", "decoder.")  # key prefixes of encoder and decoder


@dataclass(frozen=True)
class Sublayer:
    """Keys of one sub-layer (attention, cross-attention or FFN) with its residual sum and LayerNorm.

    `before`, `after`: the residual stream. The sub-layer computes `output` from `reads` (and `memory`, for the keys and
    values of cross-attention); `sum` = `before` + `output`. LayerNorm (`norm`) reads `norm_reads`: `sum` if it comes
    after the sub-layer, `before` if it comes first.
    """

    name: Part
    prefix: str  # of its keys: "layers.0.attention."
    before: str
    reads: str
    memory: str | None
    output: str
    sum: str
    norm: str | None  # None: no LayerNorm
    norm_reads: str
    after: str

    @property
    def norm_first(self) -> bool:
        """Whether LayerNorm comes before the sub-layer."""
        return self.norm_reads == self.before


@dataclass(frozen=True)
class Graph:
    """All quantities of one network, in order of computation, by key. Iteration skips asides."""

    config: EncoderConfig
    decoder: EncoderConfig | None
    quantities: dict[str, Quantity]
    sublayers_of: dict[tuple[str, int], tuple[Sublayer, ...]]
    Z: str  # key of the encoder's output, read by a head or decoder
    vector: str | None = None  # key of the answer, if that is one vector

    def __getitem__(self, key: str) -> Quantity:
        return self.quantities[key]

    def __contains__(self, key: str) -> bool:
        return key in self.quantities

    def __iter__(self) -> Iterator[Quantity]:
        return (quantity for quantity in self.quantities.values() if not quantity.aside)

    def __hash__(self) -> int:
        return hash((self.config, self.decoder))

    def cells(self, key: str, index: Index) -> list[Index]:
        """For each term of a quantity's rule, the cells from which those at `index` are computed."""
        config = self.decoder if self.decoder and key.startswith("decoder.") else self.config
        if self[key].operation == "patch_mean":
            return [(slice(config.tokens_in_front, None), *index)]
        sizes = {"c": config.d_k, "s": config.patches_per_side, "y": config.patch_size, "x": config.patch_size}
        return cells(self[key].rule, index, sizes)

    def get(self, key: str) -> Quantity | None:
        return self.quantities.get(key)

    def layers(self, side: str = "") -> int:
        """How many layers the encoder (or, with side "decoder.", the decoder) has."""
        return sum(1 for where, _ in self.sublayers_of if where == side)

    def sublayers(self, layer: int, side: str = "") -> tuple[Sublayer, ...]:
        """The sub-layers of one layer, in order."""
        return self.sublayers_of[side, layer]

    def sublayer(self, prefix: str) -> Sublayer:
        """The sub-layer with this prefix ("decoder.layers.0.cross."). Raises StopIteration if there is none."""
        return next(one for layer in self.sublayers_of.values() for one in layer if one.prefix == prefix)

    def ancestors(self, key: str) -> set[str]:
        """Keys in the same sub-layer from which a quantity is computed, directly or indirectly."""
        own = [read for read in self[key].reads if read.startswith(f"{key.rpartition('.')[0]}.")]
        return {*own, *(one for read in own for one in self.ancestors(read))}

    @property
    def embedded(self) -> str:
        """Key of the tokens after all sums before the layers."""
        return "embedding.sum" if "embedding.sum" in self else "embedding.tokens"

    @property
    def norms(self) -> list[str]:
        """The keys of the LayerNorms inside the encoder's layers."""
        sublayers = (sublayer for layer in range(self.config.layers) for sublayer in self.sublayers(layer))
        return [sublayer.norm for sublayer in sublayers if sublayer.norm]

    def stream(self, layer: int, side: str = "") -> tuple[str, ...]:
        """Keys of the residual stream of one layer: its input, then after each sub-layer; the last is its output."""
        sublayers = self.sublayers(layer, side)
        return (sublayers[0].before, *(sublayer.after for sublayer in sublayers))


@lru_cache(maxsize=64)  # bounded: Shapes and cost may ask for any number
def graph(config: EncoderConfig, decoder: EncoderConfig | None = None) -> Graph:
    """The graph of one encoder with its head; with `decoder`, of a translator: encoder, decoder and the next word."""
    rows = _Rows(config)
    x = _embedding(rows, config)
    Z = _layers(rows, config, x, "", ("X",))
    if config.final_norm:
        Z = rows.norm("norm", Z, "Z", rf"X^{{({config.layers})}}", "token")
    vector = None
    if decoder is None:
        if config.head == "vector":
            vector = _vector(rows, config, Z)
        else:
            _head(rows, config, Z)
    else:
        y = _target(rows, decoder)
        y = _layers(rows, decoder, y, "decoder.", ("Y", "Z"), memory=Z)
        terms = f"Y^{{({decoder.layers})}}", r"E^{\top}", "c"
        rows.add("logits", "linear", (y,), "y", terms, ("target", "word"), module="logits", tied=True)
        rows.answer(("target", "word"))
    return Graph(config, decoder, rows.quantities, rows.sublayers, Z, vector)


class _Rows:
    """The quantities so far. Each method adds one and returns its key, which later ones read."""

    def __init__(self, config: EncoderConfig) -> None:
        self.unbiased, self.rms = config.unbiased, "rms" * (config.norm == "rms")
        self.quantities: dict[str, Quantity] = {}
        self.sublayers: dict[tuple[str, int], tuple[Sublayer, ...]] = {}

    def add(
        self,
        key: str,
        operation: str,
        reads: tuple[str, ...],
        symbol: str,
        terms: str | tuple[str, ...],
        axes: tuple[str, ...],
        *row: Any,
        **more: Any,
    ) -> str:
        """Add a Quantity; `row` and `more` are its further fields, by order or by name."""
        terms = (terms,) if isinstance(terms, str) else terms
        rule = OPERATIONS[operation].rule.replace("...", "hi"[3 - len(axes) :])
        if (operation == "linear" and len(terms) == 2) or (operation == "norm" and "norm" in self.unbiased):
            rule = rule.replace(",o->", "->")  # it has no bias
        if operation == "norm":
            more["function"] = self.rms
        self.quantities[key] = Quantity(key, operation, reads, symbol, terms, axes, *row, **{"rule": rule} | more)
        return key

    def norm(
        self, key: str, read: str, symbol: str, of: str, token: str, traced: bool = True, width: str = "d_model"
    ) -> str:
        """LayerNorm of `read`, written `of`."""
        return self.add(key, "norm", (read,), symbol, of, (token, width), traced=traced, module=key)

    def product(self, key: str, read: str, terms: tuple[str, ...], axes: tuple[str, ...], left: str = "") -> str:
        """An unrecorded intermediate Linear, written as a product instead of a letter."""
        symbol = " ".join(terms[:2])
        return self.add(key, "linear", (read,), symbol, terms, axes, traced=False, module=key, left=left)

    def tie(self, here: str) -> None:
        """Mark all quantities with weights below a path as tied: an earlier quantity has the same weights."""
        for key, quantity in self.quantities.items():
            if key.startswith(here) and quantity.module:
                self.quantities[key] = replace(quantity, tied=True)

    def answer(self, axes: tuple[str, ...], of: str = "logits") -> None:
        right = r"\operatorname{softmax}(y)"
        self.add("answer", "softmax", (of,), "p", right, axes, scale="share", traced=False)


# -- from the input to X⁰ ----------------------------------------------------------------------------------------


def _embedding(rows: _Rows, config: EncoderConfig) -> str:
    X, segments = r"X_{\text{embed}}", None
    match config.input:
        case "words":
            more = config.places_added, config.segments, config.embedding_norm, config.d_embedding
            X = X if any(more) else r"X^{(0)}"
            tokens = _look_up(rows, config, "", "x", X, "token")
            if config.segments:
                segments = _segments(rows, config)
        case "patches":
            channel = ("channel",) * (k := config.channels > 1)
            image, rule = (*channel, "height", "width"), "k(ry)(sx)->(rs)(kyx)" if k else OPERATIONS["cut"].rule
            x = rows.add("input", "input", (), "x", r"\text{image}", image, "positive", traced=False)
            patches, axes = r"\text{patches of } P \times P \text{ pixels}", ("patch", "pixel")
            x = rows.add("embedding.patches", "cut", (x,), "x_p", patches, axes, "positive", traced=False, rule=rule)
            terms, axes = _with_bias(config, "patches", "x_p", "W_E", "b_E"), ("patch", "d_model")
            if config.front:
                x = rows.product("embedding.W_E", x, terms, axes)
            in_front = r"x_{cls};\, x_{dist}" if config.distillation_token else "x_{cls}"
            if config.registers:
                in_front += rf";\, x_{{reg,1}};\, \ldots;\, x_{{reg,{config.registers}}}"
            whole, axes = rf"[{in_front};\, {_summed_up(terms)}]", ("token", "d_model")
            if config.front:
                tokens = rows.add("embedding.tokens", "put_in_front", (x,), X, whole, axes, module="embedding")
            else:
                tokens = rows.add("embedding.tokens", "linear", (x,), X, terms, axes, module="embedding.W_E")
        case "flat":
            x = rows.add("input", "input", (), "x", r"\text{image}", ("height", "width"), "positive", traced=False)
            row = r"\text{all pixels in one row}"
            x = rows.add("embedding.row", "flatten", (x,), "x", row, ("token", "pixel"), "positive", traced=False)
            terms, axes = ("x", "W_E", "b_E"), ("token", "d_model")
            tokens = rows.add("embedding.tokens", "linear", (x,), X, terms, axes, module="embedding.W_E")
    return _with_positions(rows, config, "", tokens, X, r"X^{(0)}", "token", segments)


def _width(config: EncoderConfig) -> str:
    """Axis along which words, segments and positions are added."""
    return "d_E" if config.d_embedding else "d_model"


def _segments(rows: _Rows, config: EncoderConfig) -> str:
    """Segment embeddings: rows of E_seg."""
    which = rows.add("segments", "input", (), "s", r"(s_1, \ldots, s_n)", ("token",), traced=False)
    looked_up = r"[E_{seg,s_1}; \ldots; E_{seg,s_n}]"
    return rows.add(
        "embedding.segments", "look_up", (which,), "E_{seg}[s]", looked_up, ("token", _width(config)),
        module="embedding.segments",
    )  # fmt: skip


def _target(rows: _Rows, config: EncoderConfig) -> str:
    """Decoder input: the target so far; its first token names the language."""
    Y = r"Y_{\text{embed}}"
    tokens = _look_up(rows, config, "decoder.", "y", Y, "target")
    return _with_positions(rows, config, "decoder.", tokens, Y, r"Y^{(0)}", "target")


def _look_up(rows: _Rows, config: EncoderConfig, side: str, x: str, result: str, token: str) -> str:
    """Words: rows of E, times √d_model if configured."""
    ids = rows.add(f"{side}input", "input", (), x, rf"({x}_1, \ldots, {x}_n)", (token,), traced=False)
    axes, E, tied = (token, _width(config)), f"{side}embedding.E", bool(side) and not config.own_words
    key = f"{side}embedding.tokens"
    if config.dropped is not None:
        looked_up = rf"[E_{{{x}_1}}; \ldots; E_{{{x}_n}}]"
        row = rows.add(E, "look_up", (ids,), f"E[{x}]", looked_up, axes, traced=False, module=E, tied=tied)
        return rows.add(key, "token_dropout", (row,), result, rf"k \odot E[{x}]", axes)
    if not config.scale_embedding:
        return rows.add(key, "look_up", (ids,), result, f"E[{x}]", axes, module=E, tied=tied)
    looked_up = rf"[E_{{{x}_1}}; \ldots; E_{{{x}_n}}]"
    row = rows.add(E, "look_up", (ids,), f"E[{x}]", looked_up, axes, traced=False, module=E, tied=tied)
    terms = f"E[{x}]", "d_E" if config.d_embedding else "d_{model}"
    return rows.add(key, "scale", (row,), result, terms, axes, factor=sqrt(config.embedded))


def _with_positions(
    rows: _Rows, config: EncoderConfig, side: str, tokens: str, embedded: str, result: str, token: str,
    segments: str | None = None,
) -> str:  # fmt: skip
    axes, E_pos = (token, _width(config)), r"E_{pos}"
    table = f"{side}embedding.positions"
    learned = table if config.positions == "learned" else None
    added = result  # the sum, or LayerNorm of it
    if config.d_embedding:
        added = r"\bar X_{\text{sum}}" if config.embedding_norm else r"X_{\text{sum}}"
    total = r"X_{\text{sum}}" if config.embedding_norm else added
    terms = {tokens: embedded} | ({segments: "E_{seg}[s]"} if segments else {})
    if config.places_added:
        terms[rows.add(table, "positions", (), E_pos, E_pos, axes, module=learned, left="")] = E_pos
    x, rule = tokens, ",".join(["im"] * len(terms)) + "->im"
    if len(terms) == 1:
        total = embedded  # nothing is added
    else:
        x = rows.add(f"{side}embedding.sum", "add", tuple(terms), total, tuple(terms.values()), axes, rule=rule)
    if config.embedding_norm:
        x = rows.norm(f"{side}embedding.norm", x, added, total, token, width=_width(config))
    if config.d_embedding:
        wide, W_E = (added, "W_E", "b_E"), f"{side}embedding.W_E"
        x = rows.add(f"{side}embedding.projection", "linear", (x,), result, wide, (token, "d_model"), module=W_E)
    return x


# -- the layers --------------------------------------------------------------------------------------------------


def _layers(
    rows: _Rows, config: EncoderConfig, x: str, side: str, letters: tuple[str, ...], memory: str | None = None
) -> str:
    """All layers. letters: symbols of the stream and of the memory that cross-attention reads."""
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
            bare = config.norm_first and not config.first_norm and layer == 0 and number == 1
            norm = None if bare else f"{here}norm_{number}"
            before, reads, read_as = x, x, written
            if config.norm_first and norm:
                read_as = rf"\bar {written}" if number == 1 else rf"\bar {{{written}}}"
                reads = rows.norm(norm, x, read_as, written, token)
            looked_at, seen_as = (memory, letters[1]) if name == "cross" else (None, read_as)
            if name == "ffn":
                output = _ffn(rows, f"{here}ffn.", config, reads, read_as, token)
            else:
                own = rows, f"{here}{name}.", config, layer
                output = _attention(*own, reads, read_as, looked_at or reads, seen_as, token)
            found = "F" if name == "ffn" else "O"
            if config.layer_scale:
                trained = r"\lambda" + "'" * (number - 1)
                terms, found = (found, trained), rf"\tilde {found}"
                key = f"{here}scale_{number}"
                output = rows.add(key, "layer_scale", (output,), found, terms, (token, "d_model"), module=key)
            added = result if config.norm_first else rf"{written}_{{\text{{res}}}}"
            terms = written, found
            total = rows.add(f"{here}add_{number}", "add", (before, output), added, terms, (token, "d_model"))
            x = total if config.norm_first or not norm else rows.norm(norm, total, result, added, token)
            norm_reads = before if config.norm_first else total
            sublayers.append(
                Sublayer(name, f"{here}{name}.", before, reads, looked_at, output, total, norm, norm_reads, x)
            )
        rows.sublayers[side, layer] = tuple(sublayers)
        if layer and set_of(layer, config.layers, config.groups) == set_of(layer - 1, config.layers, config.groups):
            rows.tie(here)
    return x


_LOOKS = r"i \text{ may look at } j"
_MAY_LOOK = rf"\begin{{cases}}\hat S_{{ij}} & {_LOOKS}\\ -\infty & \text{{otherwise}}\end{{cases}}"
_SOFTMAX = r"\operatorname{softmax}(M)_{ij} = \frac{e^{M_{ij}}}{\sum_{j'} e^{M_{ij'}}}"


def _attention(
    rows: _Rows, here: str, config: EncoderConfig, layer: int, x: str, asks: str, memory: str, answers: str, token: str
) -> str:
    """softmax(Q Kᵀ / √d_k) V in h heads. asks, answers: symbols of the inputs of Q, and of K and V."""
    side = "token" if here.endswith("cross.") else token  # axis of the keys
    width = "heads_abreast" if config.d_head else "d_model"
    for role, read, source, of in (("Q", x, asks, token), ("K", memory, answers, side), ("V", memory, answers, side)):
        terms = _with_bias(config, _of_role(config, role), source, f"W_{role}", f"b_{role}")
        whole = rows.product(f"{here}W_{role}", read, terms, (of, width), left=role)
        rows.add(f"{here}{role}", "split", (whole,), role, _summed_up(terms), ("head", of, "d_k"))
    compared = {"Q": "Q", "K": "K"}  # quantity -> its symbol
    if config.positions == "rotary":
        compared = {f"{role}_rotated": rf"\tilde{{{role}}}" for role in compared}
        for key, symbol in compared.items():
            rows.add(f"{here}{key}", "rotate", (f"{here}{key[0]}",), symbol, key[0], ("head", token, "d_k"))
    pairs = ("head", "probe" if token == "probe" else "query", "key")
    S, M, A = rf"{here}scores", rf"{here}masked", rf"{here}weights"
    meet, parts = tuple(f"{here}{key}" for key in compared), 1 + len(config.distance_terms)
    summed_up, d_k = "S", "d_k"
    if config.distance_terms:
        _disentangled(rows, here, config, meet, tuple(compared.values()), pairs)
        summed_up, d_k = "S^{+}", rf"{parts}\, d_k"
    else:
        rows.add(S, "scores", meet, "S", tuple(compared.values()), pairs)
    window = config.window_of(layer)
    may_look = _MAY_LOOK if window is None else _MAY_LOOK.replace(_LOOKS, rf"\lvert i - j \rvert \le {window}")
    seen, seen_as = S, summed_up
    if config.divided:
        seen, seen_as = f"{here}scaled", r"\hat S"
        rows.add(seen, "scale", (S,), seen_as, (summed_up, d_k), pairs, factor=1 / sqrt(parts * config.d_k))
    if config.by_distance:
        B, tilde = f"{here}relative", r"\tilde S"
        table: dict[str, Any] = {"module": f"{here}distances", "tied": here != "layers.0.attention."}
        falls = "sloped", (), "B", r"-m_h\, \lvert j - i \rvert", pairs
        looked_up = "relative", (), "B", "b_{r(j - i)}", pairs
        rows.add(B, *(falls if config.sloped else looked_up), left="B_{ij}", **({} if config.sloped else table))
        seen = rows.add(f"{here}biased", "biased", (seen, B), tilde, (seen_as, "B"), pairs)
        may_look = may_look.replace(r"\hat S", tilde)
    rows.add(M, "mask", (seen,), "M", may_look, pairs, left="M_{ij}", window=window)
    rows.add(A, "softmax", (M,), "A", _SOFTMAX, pairs, "share", left="A_{ij}")
    head = r"\text{head}_i"
    heads = rows.add(f"{here}heads", "weighted_sum", (A, f"{here}V"), head, ("A", "V"), ("head", token, "d_k"))
    W_O, axes = f"{here}W_O", (token, "d_model")
    rows.add(
        f"{here}contributions",
        "contribution",
        (heads,),
        rf"{head}\, W_O^i",
        (head, "W_O^i"),
        ("head", *axes),
        traced=False,
        module=W_O,
        left="",
        aside=True,
    )
    concat = r"[\text{head}_1; \ldots; \text{head}_h]"
    rows.add(f"{here}concat", "concat", (heads,), r"\text{Concat}", concat, (token, width))
    terms = _with_bias(config, "attention", r"\text{Concat}", "W_O", "b_O")
    return rows.add(f"{here}output", "linear", (f"{here}concat",), "O", terms, axes, module=W_O)


def _disentangled(
    rows: _Rows,
    here: str,
    config: EncoderConfig,
    reads: tuple[str, ...],
    symbols: tuple[str, ...],
    pairs: tuple[str, ...],
) -> None:
    """Disentangled scores: Q Kᵀ, plus queries times the keys of distances, plus keys times the queries of distances.

    reads, symbols: those of Q and K.
    """
    R, symbol, wide = f"{here}distances", "R", ("distance", "d_model")
    again = {"traced": False, "tied": here != "layers.0.attention."}  # one table for all layers
    rows.add(R, "distances", (), symbol, r"r_{\delta(j - i)}", wide, module=R, left="R_{j - i}", **again)
    if config.distance_norm:
        norm, symbol = f"{here}distance_norm", r"\hat R"
        R = rows.add(norm, "norm", (R,), symbol, "R", wide, module=norm, **again)
    content = rows.add(f"{here}content_to_content", "scores", reads, "S^{cc}", symbols, pairs)
    terms = {content: "S^{cc}"}
    for name in config.distance_terms:
        (asks, met), own = ("QK" if name == "content_to_position" else "KQ"), config.distance_matrices
        W, written = f"W_{met}" + "^R" * own, f"{{{met}^R}}"
        linear = _with_bias(config, _of_role(config, met), symbol, W, W.replace("W", "b"))
        made = {"module": f"{here}W_{met}" + "_distance" * own, "tied": not own, "left": f"{met}^R"}
        made["traced"] = False
        whole = rows.add(f"{here}W_{met}_R", "linear", (R,), " ".join(linear[:2]), linear, wide, **made)
        vectors = "head", "distance", "d_k"
        key = rows.add(f"{here}{met}_distance", "split", (whole,), f"{met}^R", _summed_up(linear), vectors)
        side, letter, i = ("query", "cp", "i") if asks == "Q" else ("key", "pc", "j")
        found, axes = rf"{asks} {written}^{{\top}}", ("head", side, "distance")
        product = f"{here}{asks}", key
        far = rows.add(f"{here}{asks}_R", "scores", product, found, (asks, written), axes, traced=False, left="")
        rule, S = f"h{i}d->hij", f"S^{{{letter}}}"
        right, left = rf"({found})_{{{i},\, j - i}}", rf"{S}_{{ij}}"
        terms[rows.add(f"{here}{name}", "at_distance", (far,), S, right, pairs, rule=rule, left=left)] = S
    rule = ",".join(["hij"] * len(terms)) + "->hij"
    rows.add(f"{here}scores", "biased", tuple(terms), "S^{+}", tuple(terms.values()), pairs, rule=rule)


def _ffn(rows: _Rows, here: str, config: EncoderConfig, x: str, reads: str, token: str) -> str:
    wide, U, H, found = (token, "d_ff"), f"{here}hidden", f"{here}activation", "H"
    gates: Biased = "gates" if "gates" in config.unbiased else "ffn"
    rows.add(U, "linear", (x,), "U", _with_bias(config, gates, reads, "W_1", "b_1"), wide, module=f"{here}W_1")
    rows.add(H, "activation", (U,), "H", "U", wide, function=config.activation)
    if config.ffn == "gated":
        L, found = f"{here}up", r"\tilde H"
        rows.add(L, "linear", (x,), "L", _with_bias(config, gates, reads, "W_3", "b_3"), wide, module=f"{here}W_3")
        H = rows.add(f"{here}product", "times", (H, L), found, ("H", "L"), wide)
    terms, axes = _with_bias(config, "ffn", found, "W_2", "b_2"), (token, "d_model")
    return rows.add(f"{here}output", "linear", (H,), "F", terms, axes, module=f"{here}W_2")


def _of_role(config: EncoderConfig, role: str) -> Biased:
    """The entry of `unbiased` that controls the bias of queries, keys or values."""
    return "keys" if role == "K" and "keys" in config.unbiased else "attention"


def _with_bias(config: EncoderConfig, part: Biased, *terms: str) -> tuple[str, ...]:
    """The terms of a Linear, without the last one, its bias, if this part of the network has none."""
    return terms[:-1] if part in config.unbiased else terms


def _summed_up(terms: tuple[str, ...]) -> str:
    """x W + b."""
    return " + ".join((" ".join(terms[:2]), *terms[2:]))


# -- the answer --------------------------------------------------------------------------------------------------


def _head(rows: _Rows, config: EncoderConfig, Z: str) -> None:
    axes: tuple[str, ...]
    match config.head:
        case "none":
            return
        case "masked-word":
            wide, axes = ("token", _width(config)), ("token", "word")
            terms = _with_bias(config, "head", "Z", "W", "b")
            x = rows.product("transform.0", Z, terms, wide)
            bent = {"traced": False, "function": config.head_activation}
            x = rows.add("transform.1", "activation", (x,), "G", _summed_up(terms), wide, **bent)
            x = rows.norm("transform.2", x, r"\hat G", "G", "token", traced=False, width=wide[1])
            terms = _with_bias(config, "logits", r"\hat G", r"E^{\top}", "c")
            rows.add("logits", "linear", (x,), "y", terms, axes, module="logits", tied=True)
        case "tags":
            x, read_as = _pooled(rows, config, Z, "Z", ("token", "d_model"))
            rows.add("tags", "linear", (x,), "y", (read_as, "W", "b"), ("token", "class"), module="tags")
            return rows.answer(("token", "class"), of="tags")
        case "span":
            axes = "bound", "token"
            x, read_as = _pooled(rows, config, Z, "Z", ("token", "d_model"))
            x = rows.product("of_bounds", x, (read_as, "W", "b"), ("token", "bound"))
            rows.add("bounds", "turn", (x,), "y", rf"({read_as} W + b)^{{\top}}", axes)
            return rows.answer(axes, of="bounds")
        case "classifier" | "labels" | "numbers":
            axes = ("class",)
            first = r"Z^{[\text{CLS}]}" if config.input == "patches" else "Z_1"
            if config.patch_head == "alone":
                terms = r"\bar Z", "W", "b"
                rows.add("logits", "linear", (_patch_mean(rows, Z),), "y", terms, axes, module="logits")
                return rows.answer(axes)
            if config.pooling == "mean":
                first, said = r"\bar Z", r"\text{the mean of all rows of } Z"
                x = rows.add("pooled", "patch_mean", (Z,), first, said, ("d_model",))
            else:
                x = _first(rows, Z, first)
            x, first = _pooled(rows, config, x, first, ("d_model",))
            if config.distillation_head:
                _two_classifiers(rows, Z, x)
            elif config.patch_head:
                _with_patches(rows, Z, x)
            elif config.head in ("labels", "numbers"):
                rows.add("labels", "linear", (x,), "y", (first, "W", "b"), axes, module="labels")
                if config.head == "labels":
                    more = {"scale": "share", "traced": False, "function": "sigmoid"}
                    rows.add("answer", "activation", ("labels",), "p", "y", axes, **more)
                return
            else:
                rows.add("logits", "linear", (x,), "y", (first, "W", "b"), axes, module="logits")
    rows.answer(axes)


def _pooled(rows: _Rows, config: EncoderConfig, x: str, written: str, axes: tuple[str, ...]) -> tuple[str, str]:
    """Input of the last Linear and its symbol: act(x W_P + b_P), LayerNorm of that, or x."""
    if config.pooler == "none":
        return x, written
    terms = _with_bias(config, "head", written, "W_P", "b_P")
    x = rows.product("pooler.0", x, terms, axes)
    x = rows.add("pooler.1", "activation", (x,), "P", _summed_up(terms), axes, traced=False, function=config.pooler)
    if not config.pooler_norm:
        return x, "P"
    return rows.add("pooler.2", "norm", (x,), r"\hat P", "P", axes, traced=False, module="pooler.2"), r"\hat P"


def _two_classifiers(rows: _Rows, Z: str, first: str) -> None:
    """One reads [CLS], the other the distillation token; y is their mean."""
    token = r"Z^{[\text{DIST}]}"
    second = rows.add("second", "second", (Z,), token, r"\text{the second row of } Z", ("d_model",), traced=False)
    logits: dict[str, str] = {}
    for key, read, name in (("cls", first, "CLS"), ("distillation", second, "DIST")):
        y, *terms = (rf"{letter}^{{[\text{{{name}}}]}}" for letter in "yZWb")
        key = rows.add(f"{key}_logits", "linear", (read,), y, tuple(terms), ("class",), module=f"{key}_logits")
        logits[key] = y
    rows.add("logits", "mean", tuple(logits), "y", tuple(logits.values()), ("class",), factor=0.5)


def _first(rows: _Rows, Z: str, written: str) -> str:
    return rows.add("first", "first", (Z,), written, r"\text{the first row of } Z", ("d_model",), traced=False)


def _patch_mean(rows: _Rows, Z: str) -> str:
    said = r"\text{the mean of the patches' rows of } Z"
    return rows.add("patch_mean", "patch_mean", (Z,), r"\bar Z", said, ("d_model",))


def _vector(rows: _Rows, config: EncoderConfig, Z: str) -> str:
    """LayerNorm of the row of [CLS], projected if configured. Returns the key of the result."""
    if not config.cls_token:
        return _probed(rows, config, Z)
    first = r"Z^{[\text{CLS}]}"
    x = rows.add("cls_norm", "norm", (_first(rows, Z, first),), "v", first, ("d_model",), module="cls_norm")
    if not config.projection:
        return x
    return rows.add("vector", "linear", (x,), "u", ("v", "W_P"), ("projection",), module="vector")


def _probed(rows: _Rows, config: EncoderConfig, Z: str) -> str:
    """A learned query attends to all rows of Z; a feed-forward network follows."""
    one = ("probe", "d_model")
    probe = rows.add("pool.probe", "learned", (), "p", "p", one, module="pool.probe", left="")
    found = _attention(rows, "pool.cross.", config, 0, probe, "p", Z, "Z", "probe")
    x = rows.norm("pool.norm", found, r"\bar O", "O", "probe")
    x = _ffn(rows, "pool.ffn.", config, x, r"\bar O", "probe")
    return rows.add("pool.add", "add", (found, x), "u", ("O", "F"), one)


def _with_patches(rows: _Rows, Z: str, first: str) -> None:
    """One matrix reads [CLS], another the mean of the patches; y is their sum."""
    mean = _patch_mean(rows, Z)
    y, *terms = (rf"{letter}^{{[\text{{CLS}}]}}" for letter in "yZW")
    cls = rows.add("cls_logits", "linear", (first,), y, (*terms, "b"), ("class",), module="cls_logits")
    both = r"\bar Z", r"\bar W"
    patches = rows.add("patch_logits", "linear", (mean,), r"\bar y", both, ("class",), module="patch_logits")
    rows.add("logits", "add", (cls, patches), "y", (y, r"\bar y"), ("class",), rule="m,m->m")
