"""A run as one description for a browser: layers × pictures, one or two bytes per number."""

import base64
import json
import math
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import ArrayLike

from model.analysis import HAIR, bright_end, tied
from model.overview import opened
from model.overview.answers import Answers, answers_of
from model.overview.pictures import SQUARE, key_before, keys_of, pictures_of, touched
from model.overview.run import Difference, Run
from model.overview.without import heads_off

MOST_ROWS = 256  # tokens; of longer inputs, the first are sent
MOST_COLUMNS = 256  # per picture; of more, each column is the strongest of its neighbours
LEAST_COLUMNS = 16
MOST_BYTES = 1_200_000  # for all layers; of larger runs one layer is sent at a time
MOST_EXACT = 1_500_000  # numbers in a file; larger runs are saved without arithmetic
MOST_PIXELS = 112  # side of the displayed input; larger ones are sent reduced
FAR = 8  # times the 99 % quantile; a number beyond it would leave the others too few shades in one byte
HIDDEN = {"i1": -128, "i2": -32768}  # code for −∞ and NaN
QUANTA = {"u1": 200, "i1": 126, "i2": 32766}


@dataclass(frozen=True)
class Packed:
    """A run for the painter: `about` describes the positions in `numbers`."""

    about: dict[str, Any]
    numbers: bytes

    def with_(self, **more: Any) -> "Packed":
        """A copy with further entries: `words`, `notes`, …"""
        return Packed(self.about | more, self.numbers)

    @property
    def text(self) -> str:
        """JSON, with the numbers in base64."""
        return json.dumps(self.about | {"numbers": base64.b64encode(self.numbers).decode()}, ensure_ascii=False)

    @property
    def message(self) -> bytes:
        """Bytes: the length of the JSON in four bytes, the JSON, the raw numbers."""
        about = json.dumps(self.about, ensure_ascii=False).encode()
        about += b" " * (-len(about) % 4)
        return len(about).to_bytes(4, "little") + about + self.numbers


def pack(
    trace: Run,
    *,
    layer: int = 0,
    answers: Answers | None = None,
    picture: np.ndarray | None = None,
    whole: bool = False,
    exact: bool = False,
) -> Packed:
    """Everything that the painter shows of a run.

    layer: the one to send if the run is too large for all, unless `whole`. exact: include the numbers for the
    arithmetic of cells, for a file without a server. answers: replace the network's own, if the caller names classes
    differently. picture: the input for display, (height, width[, 3]) in [0, 1], if it differs from the network's.
    """
    config, graph = trace.config, trace.graph
    answers = answers or answers_of(trace)
    rows, columns = min(len(trace.tokens), MOST_ROWS), columns_of(trace)
    sent = range(config.layers) if columns or whole else [layer]
    differs = isinstance(trace, Difference)
    exact = exact and rows * config.layers * (4 * config.d_model + 2 * config.heads * rows) <= MOST_EXACT
    writer = _Writer(rows, columns or MOST_COLUMNS, exact)
    writer.add("x0", 0, trace[key_before(graph)])
    if layer - 1 not in sent and layer:  # the input of the only layer sent
        writer.add("n2", layer - 1, trace[keys_of(graph, layer - 1)["n2"]])
    for number in sent:
        for role, key in keys_of(graph, number).items():
            writer.add(role, number, trace[key], share=role == "w", differs=differs)
    if not answers.rows:
        writer.add("z", 0, trace.Z)
    sizes = {"layers": config.layers, "heads": config.heads, "d_model": config.d_model, "d_k": config.d_k}
    about = {
        "tokens": trace.tokens[:rows],
        "unseen": len(trace.tokens) - rows,
        "special": [place for place, token in enumerate(trace.tokens[:rows]) if token[:1] + token[-1:] == "[]"],
        "sizes": sizes | {"d_ff": config.d_ff, "n": len(trace.tokens)},
        "pictures": [{**vars(one), "shape": _shape(trace, one.role)} for one in pictures_of(graph)],
        "arrays": writer.arrays,
        "best": writer.best,
        "answers": answers.described,
        "normFirst": config.norm_first,
        "positions": config.places_added,
        "patch": config.patch_size,
        "changed": touched(graph, trace.edited),
        "off": heads_off(trace),
        "differs": differs,
        "id": crc32(b"".join(writer.parts)),
    }
    if not differs:
        steps = [opened.steps_of(trace, number) for number in range(config.layers)]
        about["steps"] = [None if place and one == steps[place - 1] else one for place, one in enumerate(steps)]
    if exact:
        rows_of_all = opened.everything(trace)
        about |= rows_of_all.described(writer.size)
        writer.parts += rows_of_all.parts
    if trace.picture is not None:
        about["drawing"] = _drawing(trace, picture)
    return Packed(about, b"".join(writer.parts))


def pooled(values: np.ndarray, most: int) -> tuple[np.ndarray, int]:
    """At most `most` columns, each the strongest of some neighbours; also returns the number of neighbours."""
    columns = values.shape[-1]
    together = -(-columns // most)
    if together == 1:
        return values, 1
    blocks = -(-columns // together)
    padded = np.zeros((*values.shape[:-1], blocks * together), values.dtype)
    padded[..., :columns] = values
    padded = padded.reshape(*values.shape[:-1], blocks, together)
    strongest = np.abs(padded).argmax(-1)[..., None]
    return np.take_along_axis(padded, strongest, -1)[..., 0], together


def columns_of(trace: Run) -> int | None:
    """Number of columns per picture with which all layers are small enough to be sent at once.

    None: impossible; one layer is sent at a time.
    """
    rows, config, columns = min(len(trace.tokens), MOST_ROWS), trace.config, MOST_COLUMNS
    while columns >= LEAST_COLUMNS:
        wide = 3 * config.d_model + 3 * min(columns, config.d_model) + min(columns, config.d_ff)
        if config.layers * rows * (wide + 2 * config.heads * rows) <= MOST_BYTES:
            return columns
        columns //= 2
    return None


class _Writer:
    """The numbers of pictures in one sequence, and the position of each."""

    def __init__(self, rows: int, columns: int, exact: bool = False) -> None:
        self.rows, self.columns, self.exact = rows, columns, exact
        self.parts: list[bytes] = []
        self.size = 0
        #: Role -> {"heads", "rows", "columns", "of" (columns before pooling), "together", "layers", "top"}.
        self.arrays: dict[str, dict[str, Any]] = {}
        #: Layer -> positions in the numbers of each query's strongest key, of its weight, and of how many are displayed
        #: alike.
        self.best: dict[int, dict[str, int]] = {}

    def add(self, role: str, layer: int, values: np.ndarray, *, share: bool = False, differs: bool = False) -> None:
        values = values[None] if values.ndim == 2 else values
        values = values[:, : self.rows]
        if role in SQUARE:
            values, of, together = values[..., : self.rows], self.rows, 1
        else:
            of = values.shape[-1]
            values, together = pooled(values, of if self.exact and role in opened.KEPT else self.columns)
        if share:
            key = (np.nan_to_num(np.abs(values)) if differs else values).argmax(-1)
            self.best[layer] = {
                "key": self._write(key.astype("<u2").tobytes()),
                "weight": self._write(np.take_along_axis(values, key[..., None], -1).astype("<f4").tobytes()),
                "ties": self._write(tied(np.nan_to_num(np.abs(values))).astype("<u2").tobytes()),
            }
        if self.exact and role in opened.KEPT:
            kind, scales, numbers = "f4", [1.0] * len(values), values.astype("<f4")
        else:
            kind, scales, numbers = quantised(values, share and not differs)
        array = self.arrays.setdefault(
            role,
            {"heads": len(values), "rows": values.shape[1], "columns": values.shape[2], "of": of, "together": together,
             "layers": {}, "top": 0.0},
        )  # fmt: skip
        about = {"kind": kind, "scales": scales, "digits": 2 if kind == "f4" else decimals(scales)}
        array["layers"][layer] = about | {"at": self._write(numbers.tobytes())}
        top = bright_end(values) if kind == "u1" else _usual(values)
        array["top"] = max(array["top"], top)

    def _write(self, part: bytes) -> int:
        at = self.size
        part += b"\0" * (-len(part) % 4)
        self.parts.append(part)
        self.size += len(part)
        return at


def quantised(values: np.ndarray, share: bool) -> tuple[str, list[float], np.ndarray]:
    """(map, row, column) as integers, with a scale for each map: value = integer × scale.

    Rounded to `decimals(scale)` decimals, it is displayed like the value itself. "u1": shares from 0 to 1 in steps of
    half a hundredth, decoded at the middle of a step. "i1", "i2": signed numbers in one byte, if exact to a decimal, or
    two; the least integer is −∞ or NaN. "f4": unchanged.
    """
    seen = np.where(np.isfinite(values), values, 0.0).astype(np.float64)
    if share and seen.min() >= 0 and seen.max() <= 1:
        halves = np.minimum((seen + HAIR) * QUANTA["u1"], QUANTA["u1"] - 1)
        return "u1", [1 / QUANTA["u1"]] * len(values), halves.astype(np.uint8)
    top = np.maximum(np.abs(seen).max(axis=(1, 2)), 1e-30)
    far = (top > FAR * np.maximum(_usual_of_maps(seen), 1e-30)).any()
    kind = "i2" if far or decimals(top / QUANTA["i1"]) < 1 else "i1"
    scales = top / QUANTA[kind]
    digits = decimals(scales)
    if digits < 0:
        return "f4", [1.0] * len(values), np.where(np.isfinite(values), values, -np.inf).astype("<f4")
    units, exact = scales[:, None, None] * 10**digits, seen * 10**digits
    numbers = np.rint(exact / units)
    over = numbers * units - as_written(seen, digits)  # beyond ½, it would be displayed differently
    numbers -= np.sign(over) * (np.abs(over) > 0.5 - 1e-6)
    numbers = numbers.astype("<i2" if kind == "i2" else np.int8)
    numbers[~np.isfinite(values)] = HIDDEN[kind]
    return kind, [float(scale) for scale in scales], numbers


def as_written(values: np.ndarray, digits: int) -> np.ndarray:
    """Numbers in units of their last decimal, rounded as `fixed` does."""
    return np.sign(values) * np.floor((np.abs(values) + HAIR) * 10**digits + 0.5)


def decimals(scales: ArrayLike) -> int:
    """Number of decimals to display for numbers a scale apart: at most two; negative if even the units are inexact."""
    return min(2, math.floor(-math.log10(1.01 * np.max(scales))))


def _usual_of_maps(values: np.ndarray) -> np.ndarray:
    return np.quantile(np.abs(values), 0.99, axis=(1, 2))


def _usual(values: np.ndarray) -> float:
    """End of the colour scale: distance from 0 of all but the most extreme numbers."""
    return float(np.quantile(np.abs(np.where(np.isfinite(values), values, 0.0)), 0.995)) or 1e-6


def _shape(trace: Run, role: str) -> str:
    n, config = len(trace.tokens), trace.config
    widths = {"q": config.d_k, "k": config.d_k, "v": config.d_k, "s": n, "w": n, "h": config.d_ff}
    return f"{n} × {widths.get(role, config.d_model)}"


def _drawing(trace: Run, picture: np.ndarray | None) -> dict[str, Any]:
    """The input for display, the sides of its patches, and the number of tokens before them."""
    if picture is None:
        picture = trace.picture
        assert picture is not None
        if picture.ndim == 3:
            picture = picture.transpose(1, 2, 0)
            picture = (picture - picture.min()) / (np.ptp(picture) or 1)
    coarse = -(-max(picture.shape[:2]) // MOST_PIXELS)
    pixels = np.rint(np.clip(picture[::coarse, ::coarse], 0, 1) * 255).astype(np.uint8)
    side = trace.config.patches_per_side if trace.config.input == "patches" else 1
    return {
        "height": pixels.shape[0],
        "width": pixels.shape[1],
        "channels": 1 if pixels.ndim == 2 else 3,
        "pixels": base64.b64encode(pixels.tobytes()).decode(),
        "side": side,
        "front": trace.config.tokens_in_front,
    }
