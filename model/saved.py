"""Save and load a trace without its network, as safetensors, which contains no code."""

import json
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, Literal, Never, Self, get_args, get_origin, get_type_hints

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from model.config import EncoderConfig
from model.edits import Edit
from model.graph import Graph, graph
from model.guess import Guess, Note
from model.variants.pooled import Pooled

PICTURE = "picture"  # name of the tensor that holds the input
WRITTEN = "trace"  # metadata key of everything else


class Kept(Mapping[str, Tensor]):
    """{key: value} of a run without its network. Asides are missing, since the network computes them on request."""

    large = False

    def __init__(self, values: Mapping[str, Tensor], edits: tuple[Edit, ...]) -> None:
        self._values, self.changes = dict(values), {edit.key: (edit,) for edit in edits}

    def __getitem__(self, key: str) -> Tensor:
        return self._values[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    @property
    def nbytes(self) -> int:
        return sum(value.nbytes for value in self._values.values())

    @property
    def network(self) -> nn.Module:
        raise AttributeError("this trace holds numbers without their network: run its subject again for what needs one")

    def changed(self, key: str, value: Tensor, so_far: Mapping[str, Tensor]) -> Tensor:
        """Always raises: applying edits to another value needs the network."""
        raise AttributeError("this trace holds numbers without their network: run its subject again for what needs one")


class Saved:
    """The part of Trace that writes it to a file and reads it."""

    graph: Graph
    config: EncoderConfig
    subject: object
    answer: tuple[Guess, ...]
    notes: tuple[Note, ...]
    edits: tuple[Edit, ...]
    pooled: Pooled | None = None  # how sentence vectors are pooled, if the checkpoint says so
    _values: Any

    @property
    def vector(self) -> np.ndarray:
        """The vector of a sentence or picture, pooled as the checkpoint says. Raises ValueError if it does not say."""
        if self.graph.vector:
            return self._values[self.graph.vector][0].cpu().numpy().reshape(-1)
        if self.pooled is None or not self.pooled.computed:
            raise ValueError("the folder of this encoder does not say how its vectors become one")
        return self.pooled.steps(self._values[self.graph.Z][0].float().cpu().numpy())[-1][1]

    def save(self, path: str | Path) -> None:
        """Write all recorded values, the input, answer and edits.

        Raises ValueError for edits by a function and for translations, OSError if the file cannot be written.
        """
        if self.graph.decoder or any(callable(edit.operation) for edit in self.edits):
            raise ValueError("a translation, or a run with functions for edits, is not saved")
        values = {key: self._values[key].cpu().clone().contiguous() for key in self._values}  # some share memory
        of_picture = isinstance(self.subject, np.ndarray)
        if of_picture:
            values[PICTURE] = torch.tensor(self.subject)
        about = {name: getattr(self, name) for name in ("tokens", "ids", "segments", "outputs")}
        about |= {name: list(map(asdict, getattr(self, name))) for name in ("answer", "notes", "edits")}
        about |= {"config": asdict(self.config), "subject": None if of_picture else self.subject}
        if not (folder := Path(path).parent).is_dir():
            raise FileNotFoundError(f"there is no folder {folder}, so the run is not saved")
        try:
            save_file(values, path, {WRITTEN: json.dumps(about, default=list)})
        except SafetensorError as error:
            raise OSError(f"{path} cannot be written: {error}") from error

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The trace in a file of `save`. Raises ValueError for any other file, OSError if there is no file."""
        try:
            with safe_open(path, framework="pt") as file:
                about = json.loads((file.metadata() or {})[WRITTEN])
                values = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
            return cls(*_run_of(about, values))
        except (
            SafetensorError,
            LookupError,
            TypeError,
            AttributeError,
            ValueError,
            ArithmeticError,
            RecursionError,
        ) as error:
            raise ValueError(f"{path} is no file that trace.save has written, or is damaged") from error


def _run_of(about: dict[str, Any], values: dict[str, Tensor]) -> tuple[Any, ...]:
    """Arguments of Trace, from a file.

    Contents that `save` does not write raise various errors, before anything of the sizes in the file is allocated.
    """
    json.dumps(about, ensure_ascii=False).encode()  # fails for lone surrogates ("\ud800"), which cannot be shown
    _check_sizes(about["config"], len(values), len(about["tokens"]))
    config = _as(EncoderConfig, about["config"])
    tokens, ids, segments = (_as(kind, about[name]) for name, kind in _LISTS.items())
    edits = _as(tuple[Edit, ...], about["edits"])
    picture = values.pop(PICTURE, None)
    subject = _as(Hashable, about["subject"]) if picture is None else picture.numpy()
    rows = graph(config, None)
    sides = {"token": len(tokens), "query": len(tokens), "key": len(tokens), "head": config.heads}
    for key, value in values.items():
        axes = rows[key].axes
        if [sides.get(axis, size) for axis, size in zip(axes, value.shape[1:], strict=True)] != [*value.shape[1:]]:
            raise ValueError(f"{key} has another shape")
        if not value.is_floating_point() or value.shape[0] != 1:
            raise ValueError(f"{key} holds no numbers of one run")
    answer, notes = _as(tuple[Guess, ...], about["answer"]), _as(tuple[Note, ...], about["notes"])
    if any(len(guess.labels) != len(guess.probabilities) for guess in answer):
        raise ValueError("an answer lacks labels or probabilities")
    kept = Kept({row.key: values[row.key] for row in rows if row.key in values}, edits)
    outputs = _as(tuple[str, ...], about["outputs"])
    return kept, rows, subject, list(tokens), list(ids), answer, notes, edits, None, segments, outputs


_LISTS = {"tokens": tuple[str, ...], "ids": tuple[int, ...], "segments": tuple[int, ...]}
MOST_SIZE = 2_000_000  # for every size in a configuration; above any vocabulary


def _check_sizes(config: dict[str, Any], tensors: int, tokens: int) -> None:
    """Raises ValueError for more layers than tensors, or more registers or patches than tokens."""
    most = {"layers": tensors, "registers": tokens}
    for name, value in config.items():
        if isinstance(value, int) and value > most.get(name, MOST_SIZE):
            raise ValueError(f"{name} = {value}")
    if config["input"] == "patches" and (config["image_size"] // config["patch_size"]) ** 2 > tokens:
        raise ValueError("more patches than tokens")


def _as(kind: Any, value: Any) -> Any:
    """Convert a JSON value to a field's type, lists to tuples. Raises ValueError or TypeError for another type."""
    origin, inside = get_origin(kind), get_args(kind)
    if is_dataclass(kind) and isinstance(value, dict):
        kinds = get_type_hints(kind)
        return kind(**{name: _as(kinds[name], one) for name, one in value.items()})  # type: ignore[operator]
    if origin is tuple and isinstance(value, list):
        return tuple(_as(inside[0], one) for one in value)
    if origin is UnionType:
        kind = next(one for one in (*inside, Never) if one in (type(value), Never))
    if origin is dict and isinstance(value, dict):
        return value
    if kind is Hashable and isinstance(value, list):
        return tuple(_as(Hashable, one) for one in value)
    known = origin is Literal and isinstance(value, str) and value in inside
    known = known or (kind is Hashable and isinstance(value, str | int | float | None))
    if known or type(value) is kind or (kind is float and type(value) is int and abs(value) < 2**53):
        return value
    raise ValueError(f"{value!r:.60} is no {kind}")
