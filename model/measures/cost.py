"""What an encoder costs, in closed form: shapes, parameters, multiply–adds and memory of any EncoderConfig.

No module is built here, so the largest model costs as little to describe as the smallest. One layer, for n tokens:

    attention    4·d_model² + 4·d_model  parameters    4·n·d_model² + 2·n²·d_model  multiply–adds
    FFN          2·d_model·d_ff + d_ff + d_model       2·n·d_model·d_ff; with a gate 3 for 2
    two norms    4·d_model                             none that are products

What is computed, and in which order, is the graph's to say; what each step costs follows from its rule, and all sums
are sums over the graph. Every count is written as a formula in the paper's letters; the numbers are put into that text,
and the result is worked out from it, so that what a reader sees and what we compute cannot differ.

    n tokens    N layers    h heads    d_k = d_v, mostly d_model / h    |V| vocabulary    B batch    n_max longest input
    n_seg sentences told apart    n_dist rows of a table of distances    n_rel distances among n tokens
    G groups of layers, each with one set of weights
    images: `side` pixels a side, C channels, patches of P × P
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from model.config import ConfigError, EncoderConfig
from model.graph import graph
from model.operations import OPERATIONS, Quantity
from model.rule import sides, summed

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


def letters(config: EncoderConfig, n: int = 1, batch: int = 1) -> dict[str, int]:
    """What each letter of a formula stands for."""
    return {
        "B": batch, "n": n, "N": config.layers, "G": config.groups, "h": config.heads,
        "d_model": config.d_model, "d_k": config.d_k, "d_ff": config.d_ff, "d_E": config.d_embedding,
        "|V|": config.vocab_size, "n_max": config.places, "classes": config.classes,
        "side": config.image_size, "P": config.patch_size, "C": config.channels,
        "n_seg": config.segments, "n_dist": config.buckets or 2 * config.span, "n_rel": 2 * n - 1,
        "n_front": config.tokens_in_front, "d_P": config.projection,
    }  # fmt: skip


def count(formula: str, values: dict[str, int]) -> Count:
    """The formula with `values` for its letters. It may hold " + ", " − ", "·", "²" and brackets."""
    numbers = re.sub(r"\|V\||[A-Za-z_]+", lambda letter: str(values[letter[0]]), formula)
    return Count(formula, numbers, _worked_out(numbers))


def _counts(formulas: dict[str, str], values: dict[str, int]) -> dict[str, Count]:
    return {name: count(formula, values) for name, formula in formulas.items()}


def _worked_out(numbers: str) -> int:
    while "(" in numbers:
        numbers = re.sub(r"\(([^()]*)\)", lambda inner: str(_worked_out(inner[1])), numbers)
    terms = numbers.replace(" − ", " + -1·").split(" + ")
    return sum(prod(_power(factor) for factor in term.split("·")) for term in terms)


def _power(factor: str) -> int:
    return int(factor[:-1]) ** 2 if factor.endswith("²") else int(factor)


def total(parts: dict[str, Count]) -> Count:
    """All parts in one sum; those that come to nothing are left out."""
    return _sum(parts.values())


def _sum(counts: Iterable[Count]) -> Count:
    """In one sum, like terms taken together: 4·d_model² + 4·d_model."""
    terms = Counter(term for term in counts if term.number)
    return Count(
        " + ".join(_times(times, term.formula) for term, times in terms.items()) or "0",
        " + ".join(_times(times, term.numbers) for term, times in terms.items()) or "0",
        sum(times * term.number for term, times in terms.items()),
    )


def _times(times: int | str, formula: str) -> str:
    if times == 1:
        return formula
    return f"{times}·({formula})" if " + " in formula else f"{times}·{formula}"


# The shape walk: the graph's quantities, each with its shape and what it costs.


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
        return _product(self.axes)


@dataclass(frozen=True, kw_only=True)
class Step(Quantity):
    """One quantity of the graph with its shape, the shapes of what it reads, and what it costs.

    Counts are those of one layer; a step happens `times` times, with `sets` sets of weights, which are fewer where
    layers share them. Weights are all parameters but biases. Bytes are those
    of the memory that the output adds: none for a view of an earlier tensor, and none for the mask, which without
    padding passes on what it gets.
    """

    kind: str  # "product", of _KINDS, or its operation
    inputs: tuple[Shape, ...]
    output: Shape
    weights: Count
    biases: Count
    multiply_adds: Count
    bytes: Count
    times: int
    sets: int = 1

    @property
    def parameters(self) -> Count:
        """Weights and biases."""
        return _sum((self.weights, self.biases))


#: The graph's axes in letters; those that are not here are letters already.
_AXES = {
    "token": "n", "query": "n", "key": "n", "head": "h", "word": "|V|", "class": "classes", "bound": "2",
    "pixel": "C·P²", "channel": "C", "height": "side", "width": "side", "projection": "d_P", "probe": "1",
    "distance": "n_rel", "heads_abreast": "h·d_k",
}  # fmt: skip
#: The order of a product's factors, so that like terms look alike.
_ORDER = (
    "B", "h", "n", "n − …", "n_max", "n_seg", "n_rel", "n_dist", "|V|", "side", "side²", "C", "C·P²", "d_E",
    "d_model", "d_k", "h·d_k", "d_ff", "d_P", "classes",
)  # fmt: skip


def _product(factors: Iterable[str]) -> str:
    """n, d_model, d_model -> n·d_model²."""
    powers = sorted(Counter(factors).items(), key=lambda power: _order(power[0]))
    return "·".join((f"({letter})" if " " in letter else letter) + "²" * (power - 1) for letter, power in powers)


def _order(factor: str) -> int:
    return -1 if factor.isdigit() else _ORDER.index("n − …" if factor.startswith("n − ") else factor)


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

    whole, values = graph(replace(config, first_norm=True)), letters(config, n, batch)
    steps: dict[str, Step] = {}
    used: set[str | None] = set()  # the modules whose biases are counted
    for quantity in whole:
        if quantity.layer in (None, 0):
            reads = tuple(whole[read].row.replace("{l}", "0") for read in quantity.reads)
            step = _step(replace(quantity, reads=reads), [steps[read].output for read in reads], values)
            bare = config.norm_first and not config.first_norm and step.key == "layers.0.norm_1"
            times = step.times - bare
            sets = 1 if quantity.layer is None or _of_all_layers(quantity) else config.groups or times
            biases = count("0", values) if quantity.module in used else step.biases
            steps[step.key] = replace(step, times=times, sets=sets, biases=biases)
            used |= {quantity.module} - {None}
    return list(steps.values())


def _of_all_layers(quantity: Quantity) -> bool:
    """Whether it is of a table of distances, of which all layers have the same."""
    return (quantity.module or "").endswith((".distances", ".distance_norm"))


def _patches(in_front: int) -> str:
    """How many patches there are among n tokens."""
    return f"n − {in_front}" if in_front else "n"


def _step(quantity: Quantity, inputs: list[Shape], values: dict[str, int]) -> Step:
    """The quantity with its shapes and counts; inputs: the shapes of what it reads."""
    own = {"pixel": "side²"} if quantity.operation == "flatten" else {"patch": _patches(values["n_front"])}
    axes = tuple((_AXES | own).get(axis, axis) for axis in quantity.axes)
    if values["B"] > 1:
        of_inputs = {"token", "query", "key"} & {*quantity.axes}
        alike = quantity.operation in ("positions", "relative", "sloped") or (
            "distance" in quantity.axes and not of_inputs
        )
        axes = ("1" if alike else "B", *axes)  # all inputs share the positions
    output = Shape(axes, tuple(count(axis, values).number for axis in axes))

    terms, result = sides(quantity.rule)
    stands_for = {
        "v": "n_seg" if quantity.key == "embedding.segments" else "|V|",
        "p": "n_max",
        "z": "n_dist",
        "f": str(values["n_front"]),
        "batch": axes[0] if values["B"] > 1 else "1",
    }
    for letters_of, shape in zip((*terms[: len(inputs)], result), (*inputs, output), strict=True):
        stands_for |= zip(reversed(letters_of), reversed(shape.axes), strict=False)  # without the batch

    def product(letters: Iterable[str]) -> Count:
        return count(_product(stands_for[letter] for letter in letters if stands_for[letter] != "1"), values)

    none, letter = count("0", values), summed(quantity.rule)
    kind = OPERATIONS[quantity.operation].kind or quantity.operation
    if quantity.operation == "positions" and values["n"] > values["n_max"]:
        kind = "copy"  # the rows move apart for tokens that take no place
    weights, biases, *_ = *map(product, terms[len(inputs) :]), none, none
    each = BYTES["int64" if quantity.axes == ("token",) else "float32"]  # ids are whole numbers
    return Step(
        **vars(quantity),
        kind=kind,
        inputs=tuple(inputs),
        output=output,
        weights=none if quantity.module is None or quantity.tied else weights,
        biases=biases,
        multiply_adds=product((*result, letter, "batch")) if letter else none,
        bytes=count("0" if kind in ("view", "mask") else f"{output.elements}·{each}", values),
        times=1 if quantity.layer is None else values["N"],
    )


# Sums over the steps.


@lru_cache(maxsize=256)
def _summed(
    config: EncoderConfig,
    terms_of: Callable[[Step], Iterable[tuple[str, Count]]],
    one_layer: bool = False,
    sets: bool = False,
) -> dict[str, str]:
    """The terms that `terms_of` names in each step, summed up part by part: of one layer, or of the whole network.

    sets: as often as there are sets of weights, not as often as it happens.
    """
    parts: dict[tuple[str, str | int], list[Count]] = defaultdict(list)
    shared = "G" if config.groups > 1 else config.groups
    for step in shape_walk(config, config.max_tokens):  # in letters, the same for every length
        if step.layer is not None or not one_layer:
            each = (sets and (1 if _of_all_layers(step) else shared)) or (
                "N" if step.times == config.layers else "(N − 1)"
            )
            for part, term in terms_of(step):
                if term.number:
                    parts[part, 1 if step.layer is None or one_layer else each].append(term)
    found: dict[str, list[str]] = defaultdict(list)
    for (part, repeats), terms in parts.items():
        found[part].append(_times(repeats, _sum(terms).formula))
    return {part: " + ".join(formulas) for part, formulas in found.items()}


def _part(step: Step) -> str:
    """The part of the network that a step belongs to."""
    match step.key.split("."):
        case ["embedding", "positions"]:
            return "positions"
        case ["embedding", *_]:
            return "embedding"
        case ["layers", _, name, *_]:
            return {"norm": "norms", "layer_scale": "layer_scale"}.get(step.operation, name)
        case ["norm"]:
            return "final_norm"
    return "head"


def _parameters_of(step: Step) -> Iterable[tuple[str, Count]]:
    return (_part(step), step.weights), (_part(step), step.biases)


def _weights_and_biases_of(step: Step) -> Iterable[tuple[str, Count]]:
    part = _part(step)
    weights, biases = (part, part) if part == "norms" else (f"{part}.weights", f"{part}.biases")
    return (weights, step.weights), (biases, step.biases)


def _products_of(step: Step) -> Iterable[tuple[str, Count]]:
    """Attention's projections X W_Q, X W_K, X W_V and Concat W_O grow with n, Q Kᵀ and A V with n²."""
    part: str = _part(step)
    if part == "attention":
        part = "projections" if step.operation == "linear" else step.operation
    return ((part, step.multiply_adds),)


def parameters(config: EncoderConfig) -> dict[str, Count]:
    """Parameters of the whole network, part by part; `total` of it equals sum(p.numel()) of `network_for(config)`.

    Those that layers share are counted once.
    """
    return _counts(_summed(config, _parameters_of, sets=True), letters(config))


def layer_parameters(config: EncoderConfig) -> dict[str, Count]:
    """Parameters of one layer: attention and FFN, each as weights and biases, and the two norms."""
    return _counts(_summed(config, _weights_and_biases_of, one_layer=True), letters(config))


def multiply_adds(config: EncoderConfig, n: int) -> dict[str, Count]:
    """Multiply–adds of one run of the whole network over n tokens, part by part.

    These are the products of matrices, in which nearly all the work lies. One multiply–add is two FLOPs.
    """
    return _counts(_summed(config, _products_of), letters(config, n))


def attention_cost(config: EncoderConfig, n: int) -> dict[str, Count]:
    """Multiply–adds of one layer's attention. `projections` grow with n, `scores` and `weighted_sum` with n²."""
    formulas = _summed(config, _products_of, one_layer=True)
    return _counts({part: formula for part, formula in formulas.items() if part != "ffn"}, letters(config, n))


def ffn_cost(config: EncoderConfig, n: int) -> Count:
    """Multiply–adds of one layer's feed-forward network."""
    return count(_summed(config, _products_of, one_layer=True)["ffn"], letters(config, n))


def recurrent_cost(config: EncoderConfig, n: int) -> Count:
    """Multiply–adds of a plain recurrent layer of the same width: h_t = tanh(W x_t + U h_{t−1}) at each place."""
    return count("2·n·d_model²", letters(config, n))


def crossings(config: EncoderConfig) -> dict[str, Count]:
    """The n at which attention's n²-part, QKᵀ and AV (2·n²·d_model), costs as much as something else.

    Of an FFN without gates, and heads that are together as wide as d_model.
    projections: W_Q, W_K, W_V, W_O (4·n·d_model²).    ffn: the feed-forward network (2·n·d_model·d_ff).
    projections_and_ffn: both, that is all else in the layer. From there on the layer is mostly n².
    recurrent: a recurrent layer (2·n·d_model²). This is the comparison of the paper's section 4 (from its table 1):
    self-attention is faster when n < d_model. Lecture note 004 repeats it without saying with what it compares.
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
    return _counts(formulas, letters(config))


@lru_cache(maxsize=1000)
def recorded_bytes(config: EncoderConfig, decoder: EncoderConfig | None, n: int) -> int:
    """What a run of n tokens records, in bytes; a translation is taken to be as long as its source."""
    numbers = 0
    for quantity in graph(config, decoder):
        own = decoder if decoder and quantity.key.startswith("decoder.") else config
        axes = _AXES | {"target": "n", "patch": _patches(own.tokens_in_front)}
        values = letters(own, n)
        numbers += quantity.traced * prod(count(axes.get(axis, axis), values).number for axis in quantity.axes)
    return numbers * BYTES["float32"]


def attention_memory(config: EncoderConfig, n: int) -> Count:
    """Bytes of all the n × n weights A: every head of every layer."""
    return count(f"N·h·n²·{BYTES['float32']}", letters(config, n))
