"""Measurements on recorded runs: pure functions of arrays, none of which runs the network."""

import math
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import dropwhile, pairwise, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from model.config import EncoderConfig

SPACE = "␣"  # a piece that is a space alone
#: Marks of a piece that holds only part of a character: "##é 2/2", "é 1/2".
LATER_PART, FIRST_PART = re.compile(r"^##\S+ (?!1/)\d+/\d+ ?"), re.compile(r" 1/\d+$")
BYTE = re.compile(r"\\x[0-9a-f]{2}")
ENDS = frozenset(".!?。！？")  # signs that end a sentence
FAR_OUT = 5.0  # times the 99 % quantile
HAIR = 1e-9  # by which arithmetic may miss a half that a reader sees


def pca(points: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The points on their two directions of largest variance, and the share of the variance each direction explains.

    Args:
        points: `(n, features)`.

    Returns:
        Coordinates `(n, 2)` and shares `(2,)`, both float32. A direction that does not exist (one point or feature, or
        points that all coincide) has coordinate 0 and share 0. The sign of each direction is fixed, its largest loading
        positive, so that the same points always give the same picture.

    Source: K. Pearson, "On lines and planes of closest fit to systems of points in space", 1901.
    """
    points = np.asarray(points)
    if points.ndim != 2:
        raise ValueError(f"pca needs a table of points (n, features), not the shape {points.shape}")
    centred = points - points.mean(axis=0, dtype=np.float64)
    # The triangle of a QR decomposition has the same directions, and is small where there are many points.
    _, singular, vt = np.linalg.svd(np.linalg.qr(centred, mode="r"), full_matrices=False)
    kept = min(2, len(singular))
    sign = np.sign(np.take_along_axis(vt, np.abs(vt).argmax(axis=1, keepdims=True), axis=1))[:kept, 0]
    coordinates = np.zeros((len(points), 2), dtype=np.float32)
    coordinates[:, :kept] = centred @ vt[:kept].T * sign
    variance = singular**2
    shares = np.zeros(2, dtype=np.float32)
    if variance.sum() > 0:
        shares[:kept] = variance[:kept] / variance.sum()
    return coordinates, shares


def cosine_similarity(rows: ArrayLike, others: ArrayLike | None = None) -> np.ndarray:
    """cos(a, b) = a·b / (‖a‖ ‖b‖) for every row a and every other row b.

    Args:
        rows: `(…, n, features)`.
        others: `(…, m, features)`; the rows themselves when left out.

    Returns:
        `(…, n, m)` float32 in [-1, 1]. A row of zeros has no direction; its cosine is given as 0.
    """

    def unit(table: ArrayLike) -> np.ndarray:
        table = np.asarray(table, dtype=np.float64)
        norms = np.linalg.norm(table, axis=-1, keepdims=True)
        return np.divide(table, norms, out=np.zeros_like(table), where=norms > 0)

    first = unit(rows)
    second = first if others is None else unit(others)
    return np.clip(first @ second.swapaxes(-1, -2), -1, 1).astype(np.float32)


def mean_likeness(states: ArrayLike) -> np.ndarray:
    """Mean cosine of all pairs of different rows: 1 if all point the same way.

    Args:
        states: `(…, token, features)`, with at least two tokens.

    Returns:
        `(…,)` float32.
    """
    cosines = cosine_similarity(states)
    return cosines[..., ~np.eye(cosines.shape[-1], dtype=bool)].mean(axis=-1)


def entropy(weights: ArrayLike) -> np.ndarray:
    """H = −Σ_j A_j log₂ A_j of every row, in bits: 0 where one key gets everything, log₂ N where all get the same.

    2^H is the number of keys that an even spread of the same entropy would have.

    Args:
        weights: `(…, key)`, each row a distribution.

    Returns:
        `(…,)` float32.

    Source: C. E. Shannon, "A Mathematical Theory of Communication", 1948, section 6.
    """
    weights = np.asarray(weights, dtype=np.float64)
    logarithms = np.log2(weights, out=np.zeros_like(weights), where=weights > 0)  # 0 · log 0 counts as 0
    return np.maximum(-(weights * logarithms).sum(axis=-1), 0).astype(np.float32)


def token_places(config: EncoderConfig, n: int) -> np.ndarray:
    """Position of each of n tokens: `(n, 1)` in a sentence; row and column, `(n, 2)`, for patches.

    Tokens before the patches have no position: NaN.
    """
    if config.input != "patches":
        return np.arange(n, dtype=np.float64)[:, None]
    side, in_front = config.patches_per_side, config.tokens_in_front
    return np.concatenate([np.full((in_front, 2), np.nan), np.argwhere(np.ones((side, side)))])


def mean_distance(weights: ArrayLike, places: ArrayLike) -> np.ndarray:
    """Mean attention distance in tokens (or patches): Σ_j A_ij ‖place_i − place_j‖, averaged over the queries.

    Args:
        weights: `(…, query, key)`.
        places: `(token, dimensions)`, see `token_places`. Tokens without a position (NaN) are left out; the other
            weights of each row are rescaled to sum to 1.

    Returns:
        `(…,)` float32; NaN if no token has a position.

    Source: "mean attention distance", Dosovitskiy et al. 2021, "An Image is Worth 16x16 Words", appendix D.7.
    """
    places = np.asarray(places, dtype=np.float64)
    somewhere = np.flatnonzero(~np.isnan(places).any(axis=1))
    weights = np.asarray(weights, dtype=np.float64)[..., somewhere[:, None], somewhere]
    between = np.linalg.norm(places[somewhere, None] - places[None, somewhere], axis=-1)
    total = weights.sum(axis=-1)
    walked = (weights * between).sum(axis=-1)
    rows = np.divide(walked, total, out=np.full_like(total, np.nan), where=total > 0)
    counted = ~np.isnan(rows)
    count = counted.sum(axis=-1)
    summed = np.where(counted, rows, 0).sum(axis=-1)
    return np.divide(summed, count, out=np.full_like(summed, np.nan), where=count > 0).astype(np.float32)


def head_table(weights: ArrayLike, tokens: Sequence[str], places: ArrayLike) -> dict[str, np.ndarray]:
    """Attention statistics of each head, averaged over the queries that have the key in question.

    Args:
        weights: `(…, query, key)`, for example (layer, head, query, key).
        tokens: as printed; used to find [CLS] and [SEP].
        places: of the tokens (`token_places`), for the distance.

    Returns:
        "entropy" (bits), "distance", and the weight on "itself", "previous", "next", "cls", "sep": each `(…,)` float32,
        NaN if the input has no such token.

    Source: the quantities of Clark et al. 2019, "What Does BERT Look At?", section 3.
    """
    weights = np.asarray(weights, dtype=np.float32)
    if weights.ndim > 3:  # all layers at once would need ten times their memory
        tables = [head_table(layer, tokens, places) for layer in weights]
        return {name: np.stack([table[name] for table in tables]) for name in tables[0]}
    nothing = np.full(weights.shape[:-2], np.nan, dtype=np.float32)

    def on(offset: int) -> np.ndarray:
        """Mean weight on the token `offset` positions after the query."""
        if abs(offset) >= len(tokens):
            return nothing
        return np.diagonal(weights, offset, axis1=-2, axis2=-1).mean(axis=-1)

    def on_token(name: str) -> np.ndarray:
        places = [place for place, token in enumerate(tokens) if token == name]
        return weights[..., places].sum(axis=-1).mean(axis=-1) if places else nothing

    return {
        "entropy": entropy(weights).mean(axis=-1),
        "distance": mean_distance(weights, places),
        "itself": on(0),
        "previous": on(-1),
        "next": on(1),
        "cls": on_token("[CLS]"),
        "sep": on_token("[SEP]"),
    }


@dataclass(frozen=True)
class HeadPattern:
    """The attention pattern of a head on this input, and the measurement that decided it.

    name: "alone" (there is one token), "itself", "previous", "next", "cls", "sep" (the weight goes there), "token" (the
    weight of all queries goes to the token at `place`), "near" (small distance) or "broad" (high entropy).
    `figure`: the mean weight, distance or entropy that decided. `reference`: its value for uniform weights.
    """

    name: str
    figure: float
    reference: float
    place: int | None = None


def head_pattern(weights: ArrayLike, measures: Mapping[str, float], places: ArrayLike) -> HeadPattern:
    """The pattern that describes one head best.

    Args:
        weights: `(query, key)` of the head.
        measures: its row of `head_table`.
        places: of the tokens.

    The first that applies: "broad", if entropy is at least 0.9 of its maximum; a target that gets at least 0.4 of the
    weight and 1.5 times its uniform share; "near", if the distance is at most half that of uniform weights; else the
    target that gets most.
    """
    weights = np.asarray(weights, dtype=np.float32)
    n = weights.shape[-1]
    if n == 1:
        return HeadPattern("alone", 1.0, 1.0)
    most = float(np.log2(n))
    if measures["entropy"] >= 0.9 * most:
        return HeadPattern("broad", float(measures["entropy"]), most)
    targets = {name: float(measures[name]) for name in ("itself", "previous", "next", "cls", "sep")}
    targets = {name: value for name, value in targets.items() if not np.isnan(value)}
    best = max(targets, key=targets.__getitem__)
    needed = max(0.4, 1.5 / n)
    if targets[best] >= needed:
        return HeadPattern(best, targets[best], 1 / n)
    columns = weights.mean(axis=0)
    place = int(columns.argmax())
    token = HeadPattern("token", float(columns[place]), 1 / n, place)
    if token.figure >= needed:
        return token
    places = np.asarray(places, dtype=np.float64)
    even = _even_distance(places.tobytes(), n)
    if measures["distance"] <= even / 2:
        return HeadPattern("near", float(measures["distance"]), even)
    return HeadPattern(best, targets[best], 1 / n) if targets[best] >= token.figure else token


@lru_cache(maxsize=64)
def _even_distance(places: bytes, n: int) -> float:
    """Mean attention distance of uniform weights over `n` tokens; `places` are float64 bytes."""
    return float(mean_distance(np.full((n, n), 1 / n), np.frombuffer(places).reshape(n, -1)))


def rollout(weights: ArrayLike) -> np.ndarray:
    """Attention rollout: share of each position after layer l that comes from each input token.

    R⁽ˡ⁾ = Âˡ R⁽ˡ⁻¹⁾ with Âˡ = ½ (mean over heads of Aˡ) + ½ I, where ½ I stands for the residual path; R⁽⁰⁾ = I.

    Args:
        weights: `(layer, head, query, key)`.

    Returns:
        `(layer, query, key)` float32; each row sums to 1.

    Source: Abnar & Zuidema 2020, "Quantifying Attention Flow in Transformers", section 3.
    """
    weights = np.asarray(weights)
    same = np.eye(weights.shape[-1])
    reached = same
    layers = []
    for mixed in 0.5 * weights.mean(axis=1, dtype=np.float64) + 0.5 * same:
        reached = mixed @ reached
        layers.append(reached)
    return np.stack(layers).astype(np.float32)


def units(tokens: Sequence[str], spaces: bool = True) -> list[list[int]]:
    """Positions grouped into units: the parts of one character; with `spaces`, also a space and the token after it."""
    found: list[list[int]] = []
    for place, token in enumerate(tokens):
        spaced = spaces and place and tokens[place - 1] == SPACE and token not in ("[CLS]", "[SEP]", "[MASK]", "[PAD]")
        if found and (spaced or LATER_PART.match(token)):
            found[-1].append(place)
        else:
            found.append([place])
    return found


def whole_words(tokens: Sequence[str]) -> list[list[int]]:
    """Positions of each word's pieces: a piece with ## belongs to the word before it. Omits [CLS] and [SEP]."""
    words: list[list[int]] = []
    for places in units(tokens):
        if tokens[places[0]] in ("[CLS]", "[SEP]"):
            continue
        if tokens[places[0]].startswith("##") and words and words[-1][-1] == places[0] - 1:
            words[-1] += places
        else:
            words.append(places)
    return words


def placed(tokens: Sequence[str]) -> list[str]:
    """Names of the tokens for use in sentences; a repeated token gets its position, from 0: “the (1)”."""
    often = Counter(tokens)
    return [f"{token} ({place})" if often[token] > 1 else token for place, token in enumerate(tokens)]


def sentences(tokens: Sequence[str]) -> list[range]:
    """Positions of each sentence of an input, in order. Sentences end with . ! ? or their Chinese forms."""
    begins = [0, *(place + 1 for place, token in enumerate(tokens[:-2]) if token in ENDS), len(tokens)]
    return [range(first, last) for first, last in pairwise(begins)]


def spelled(pieces: Sequence[str]) -> str:
    """The word that its pieces spell: un, ##happy -> unhappy; ␣, é 1/2, ##é 2/2 -> é."""
    written = list(dropwhile(SPACE.__eq__, pieces)) or pieces[:1]
    first, *rest = (FIRST_PART.sub("", LATER_PART.sub("##", piece)) for piece in written)
    return first + "".join(piece.removeprefix("##") for piece in rest)


def word_at(tokens: Sequence[str], place: int) -> str:
    """The whole word that a token belongs to; the token itself if it is no piece of a word."""
    pieces = next((places for places in whole_words(tokens) if place in places), [place])
    return spelled([tokens[piece] for piece in pieces]) if len(pieces) > 1 else tokens[place]


def as_read(tokens: Sequence[str]) -> str:
    """A sentence as a network reads it, without [CLS] and [SEP]: "hello (hell + ##o) world"."""
    words = [[tokens[place] for place in places] for places in whole_words(tokens)]
    return " ".join(word[0] if len(word) == 1 else f"{spelled(word)} ({' + '.join(word)})" for word in words)


MANY = 32  # tokens; with more, weights are so small that their colours end before 1


def bright_end(weights: np.ndarray) -> float:
    """Upper end of the colour scale for attention weights (…, query, key).

    1 for up to MANY keys; for more, the 99.8 % quantile rounded up to a tenth.
    """
    if weights.shape[-1] <= MANY:
        return 1.0
    return min(1.0, max(0.1, math.ceil(10 * float(np.quantile(weights, 0.998))) / 10))


def softmax(logits: ArrayLike) -> np.ndarray:
    """p_i = exp(y_i − max y) / Σ_j exp(y_j − max y) along the last axis, in the precision of the logits."""
    logits = np.asarray(logits)
    exponentials = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def sigmoid(logits: ArrayLike) -> np.ndarray:
    """1 / (1 + exp(−y)) of each number, computed by tanh, which cannot overflow."""
    return 0.5 * (1 + np.tanh(0.5 * np.asarray(logits)))


def fixed(value: float, places: int = 2) -> str:
    """A number with so many decimals. Halves go away from 0, as readers round: 0.125 is 0.13, and 22.5 is 23. So does a
    half that arithmetic left a hair too small: 57 of 200 are 28.499999999999996 %. numbers.js writes the same.
    """
    return f"{float(value) + (-HAIR if value < 0 else HAIR):.{places}f}"


def decimal(probability: float) -> str:
    """A probability with as few digits as are accurate: 0.41, 0.0002, 0.9996, 0.99997, 8e-05; only 1 is 1.00."""
    if 0.995 - HAIR <= probability <= 1 - 1e-6:  # above this, float32 hardly differs from 1
        return fixed(probability, max(4, int(f"{1 - probability:.0e}"[-2:])))
    return fixed(probability) if probability >= 0.01 else f"{probability:.1g}"


def rank(values: ArrayLike, place: int) -> int:
    """1 for the largest value, 2 for the next, …: one more than the number of values above `values[place]`."""
    values = np.asarray(values)
    return 1 + int((values > values[place]).sum())


def winners(values: ArrayLike, shown: Callable[[float], str] = fixed) -> list[int]:
    """Indices of the largest value and of all values displayed the same: one index unless there is a tie.

    shown: formats a value for display. NaN never wins over a number.
    """
    values = np.asarray(values)
    best = np.fmax.reduce(values)
    name, half = shown(float(best)), best - abs(best) / 2
    few = shown(float(half)) != name  # sorting all is slow
    order = np.flatnonzero((values > half) | (values == best) | (not few))
    order = order[(-values[order]).argsort(kind="stable")].tolist()
    equal = int((values == best).sum())  # may be thousands; these need no formatting
    alike = takewhile(lambda place: shown(float(values[place])) == name, order[equal:])
    return [*order[:equal], *alike]


def tied(values: ArrayLike) -> np.ndarray:
    """Count, in each row of non-negative (…, n), of numbers displayed like its largest: two decimals, or one digit."""
    values = np.asarray(values, np.float64)
    largest = values.max(axis=-1, keepdims=True)
    places = np.where(largest >= 0.01, 2, -np.floor(np.log10(np.maximum(largest, 1e-30))))
    written = np.rint(values * 10.0**places)
    return (written == written.max(axis=-1, keepdims=True)).sum(axis=-1)


def likeliest(logits: ArrayLike, counts: Sequence[int]) -> list[int]:
    """The `counts[i]` best outputs (at most all) of each row i of `(token, output)`, best first, without repeats."""
    logits = np.asarray(logits)
    named: dict[int, None] = {}
    for row, count in zip(logits, counts, strict=True):
        best = np.argpartition(-row, min(count, len(row)) - 1)[:count]
        named |= dict.fromkeys(best[(-row[best]).argsort()].tolist())
    return list(named)


class Outliers(NamedTuple):
    """Outliers of a matrix."""

    usual: float  # 99 % of the numbers are no further from 0
    cells: np.ndarray  # (outlier, 2): row and column, furthest from 0 first

    def columns(self) -> list[int]:
        """Their columns without repeats, in the same order."""
        return list(dict.fromkeys(self.cells[:, 1].tolist()))


def outliers(values: ArrayLike) -> Outliers | None:
    """Numbers of a matrix further from 0 than FAR_OUT times the 99 % quantile of distances; None if there are none.

    Large encoders have such components: 308 in BERT-base, for every input (Kovaleva et al. 2021).
    """
    size = np.abs(np.asarray(values))
    size = np.where(np.isfinite(size), size, 0)
    if size.ndim != 2 or not size.size:
        return None
    usual = float(np.partition(size.ravel(), place := int(0.99 * (size.size - 1)))[place])
    if not usual or size.max() <= FAR_OUT * usual:
        return None
    cells = np.argwhere(size > FAR_OUT * usual)
    return Outliers(usual, cells[np.argsort(-size[tuple(cells.T)], kind="stable")])


@dataclass(frozen=True)
class Terms:
    """x · w + b with a fixed number of decimals; the numbers shown add up exactly to the `total` shown.

    `x`, `w` and `products` belong to the largest products, at indices `places`; `rest` is the sum of `others` more.
    """

    places: np.ndarray
    x: np.ndarray
    w: np.ndarray
    products: np.ndarray
    others: int
    rest: float
    bias: float
    total: float


def largest_terms(x: ArrayLike, w: ArrayLike, bias: float = 0.0, most: int = 10, decimals: int = 5) -> Terms:
    """The `most` largest products of x · w + b, and the sum of the rest.

    The total is the exact one, rounded; the rest absorbs the rounding errors (less than 10⁻⁴ for ten products with five
    decimals). Without a rest, the total is the sum of the rounded parts.

    Args:
        x, w: `(n,)`.
        bias: b.
        most: how many products to list.
    """
    x, w = np.asarray(x, dtype=np.float64), np.asarray(w, dtype=np.float64)
    if x.shape != w.shape or x.ndim != 1:
        raise ValueError(f"a dot product needs two vectors of one length, not {x.shape} and {w.shape}")
    places = np.argsort(-np.abs(x * w), kind="stable")[:most]
    shown_x, shown_w = x[places].round(decimals), w[places].round(decimals)
    products = (shown_x * shown_w).round(decimals) + 0.0  # −0.0 becomes 0.0
    others = len(x) - len(places)
    shown_bias = round(float(bias), decimals)
    parts = float(products.sum()) + shown_bias
    total = round(float(x @ w) + float(bias) if others else parts, decimals)
    rest = round(total - parts, decimals) if others else 0.0
    return Terms(places, shown_x, shown_w, products, others, rest, shown_bias, total)


def head_slice(weight: ArrayLike, heads: int, head: int) -> np.ndarray:
    """The part of W_Q, W_K or W_V that belongs to one head, as in the paper's q = x W.

    Args:
        weight: `(d_model, d_model)` as torch keeps it, the transpose of the paper's W.
        heads: h, the number of heads.
        head: which one, from 0.

    Returns:
        `(d_model, d_k)`.
    """
    weight = np.asarray(weight)
    return weight.reshape(heads, -1, weight.shape[-1])[head].T


def nearest_rows(table: ArrayLike, row: int, most: int = 10, leave_out: Sequence[int] = ()) -> tuple[np.ndarray, ...]:
    """The rows of a table with the highest cosine to row `row` (itself left out).

    Args:
        table: `(n, features)`, for example E, the embedding of the vocabulary.
        leave_out: rows that may not be named.

    Returns:
        Their indices and cosines `(most,)`, nearest first.
    """
    table = np.asarray(table, dtype=np.float32)
    norms = np.linalg.norm(table, axis=1)
    cosines = (table @ table[row]) / np.maximum(norms * norms[row], np.finfo(np.float32).tiny)
    cosines[[row, *leave_out]] = -np.inf
    best = np.argsort(-cosines, kind="stable")[: min(most, int(np.isfinite(cosines).sum()))]
    return best, cosines[best]


def piece_kinds(tokens: Sequence[str]) -> list[str]:
    """Kind of each piece: "cls", "sep", "mask", "unk" or "pad"; "first" or "later" piece of a split word; "character"
    (Chinese); "sign" (punctuation); "whole" (an unsplit word).
    """
    kinds = []
    for place, token in enumerate(tokens):
        if token in ("[CLS]", "[SEP]", "[MASK]", "[UNK]", "[PAD]"):
            kinds.append(token[1:-1].lower())
        elif token.startswith("##") and len(token) > 2:
            kinds.append("later")
        elif place + 1 < len(tokens) and tokens[place + 1].startswith("##") and len(tokens[place + 1]) > 2:
            kinds.append("first")
        elif len(token) == 1 and "\u4e00" <= token <= "\u9fff":
            kinds.append("character")
        else:
            kinds.append("whole" if any(sign.isalnum() for sign in BYTE.sub("", token)) else "sign")
    return kinds


def cut_words(tokens: Sequence[str]) -> list[list[str]]:
    """The words that were split, each as a list of its pieces, in order."""
    words: list[list[str]] = []
    for token, kind in zip(tokens, piece_kinds(tokens), strict=True):
        if kind == "first":
            words.append([token])
        elif kind == "later" and words:
            words[-1].append(token)
    return words
