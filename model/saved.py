"""A trace in a file of its own, without the network that computed it: safetensors, of which nothing is run."""

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

PICTURE = "picture"  # the tensor that is the input itself
WRITTEN = "trace"  # what else the file says, in its metadata


class Kept(Mapping[str, Tensor]):
    """{key: value} of a run without its network: what that computes when it is asked, as an aside, is not there."""

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
        """What the edits make of another value: of its network alone that is known."""
        raise AttributeError("this trace holds numbers without their network: run its subject again for what needs one")


class Saved:
    """What a Trace is besides: written to a file and read from it."""

    graph: Graph
    config: EncoderConfig
    subject: object
    answer: tuple[Guess, ...]
    notes: tuple[Note, ...]
    edits: tuple[Edit, ...]
    pooled: Pooled | None = None  # how its makers make one vector of a sentence, where their folder says so
    _values: Any

    @property
    def vector(self) -> np.ndarray:
        """The one vector of a sentence or a picture, as its makers make it. Raises ValueError where none is known."""
        if self.graph.vector:
            return self._values[self.graph.vector][0].cpu().numpy().reshape(-1)
        if self.pooled is None or not self.pooled.computed:
            raise ValueError("the folder of this encoder does not say how its vectors become one")
        return self.pooled.steps(self._values[self.graph.Z][0].float().cpu().numpy())[-1][1]

    def save(self, path: str | Path) -> None:
        """Write all numbers, and what the run was. Raises ValueError for edits by a function, and for a translation;
        OSError where no such file can be written.
        """
        if self.graph.decoder or any(callable(edit.operation) for edit in self.edits):
            raise ValueError("a translation, or a run with functions for edits, is not saved")
        values = {key: self._values[key].cpu().clone().contiguous() for key in self._values}  # some are one in memory
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
        """The trace in a file that `save` wrote. Raises ValueError for another, and OSError where there is no file."""
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
    """What a Trace is made of, from a file. Raises one of several errors for what is not as `save` writes it, before
    anything is built of the sizes that it claims.
    """
    json.dumps(about, ensure_ascii=False).encode()  # half a sign, "\ud800", could be shown nowhere
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
MOST_SIZE = 2_000_000  # of anything that a configuration counts: more words than any vocabulary has


def _check_sizes(config: dict[str, Any], tensors: int, tokens: int) -> None:
    """Raises ValueError for more layers than there are tensors, and for more registers or patches than tokens."""
    most = {"layers": tensors, "registers": tokens}
    for name, value in config.items():
        if isinstance(value, int) and value > most.get(name, MOST_SIZE):
            raise ValueError(f"{name} = {value}")
    if config["input"] == "patches" and (config["image_size"] // config["patch_size"]) ** 2 > tokens:
        raise ValueError("more patches than tokens")


def _as(kind: Any, value: Any) -> Any:
    """A value of JSON as the type that a field says, lists as tuples. Raises ValueError or TypeError for another."""
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
