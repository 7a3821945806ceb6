"""A trace in a file of its own, without the network that computed it: safetensors, of which nothing is run."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self

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
    """{key: value} of a run as it stands in a file. What is computed by its network, such as an aside, is not there."""

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
        raise AttributeError("a trace from a file has no network: run its subject again for what needs one")

    def changed(self, key: str, value: Tensor, so_far: Mapping[str, Tensor]) -> Tensor:
        """What the edits make of another value: of its network alone that is known."""
        raise AttributeError("a trace from a file has no network: run its subject again for what needs one")


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
            return self._values[self.graph.vector][0].numpy().reshape(-1)
        if self.pooled is None or not self.pooled.computed:
            raise ValueError("the folder of this encoder does not say how its vectors become one")
        return self.pooled.steps(self._values[self.graph.Z][0].float().numpy())[-1][1]

    def save(self, path: str | Path) -> None:
        """Write all numbers, and what the run was. Raises ValueError for edits by a function, and for a translation."""
        if self.graph.decoder or any(callable(edit.operation) for edit in self.edits):
            raise ValueError("a translation, or a run with functions for edits, is not saved")
        values = {key: self._values[key].clone().contiguous() for key in self._values}  # some are one in memory
        of_picture = isinstance(self.subject, np.ndarray)
        if of_picture:
            values[PICTURE] = torch.tensor(self.subject)
        about = {name: getattr(self, name) for name in ("tokens", "ids", "segments", "outputs")}
        about |= {name: list(map(asdict, getattr(self, name))) for name in ("answer", "notes", "edits")}
        about |= {"config": asdict(self.config), "subject": None if of_picture else self.subject}
        save_file(values, path, {WRITTEN: json.dumps(about, default=list)})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The trace in a file that `save` wrote. Raises ValueError for another file."""
        try:
            with safe_open(path, framework="pt") as file:
                about = json.loads((file.metadata() or {})[WRITTEN])
                values = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118 (not a dict)
        except (SafetensorError, KeyError, ValueError) as error:
            raise ValueError(f"{path} is no file that trace.save has written") from error
        config = EncoderConfig(**{name: _tupled(value) for name, value in about["config"].items()})
        edits = tuple(Edit(**{name: _tupled(value) for name, value in edit.items()}) for edit in about["edits"])
        picture = values.pop(PICTURE, None)
        subject = _tupled(about["subject"]) if picture is None else picture.numpy()
        kept = Kept({row.key: values[row.key] for row in graph(config, None) if row.key in values}, edits)
        answer = (Guess(*map(_tupled, guess.values())) for guess in about["answer"])
        notes = tuple(Note(**note) for note in about["notes"])
        more = notes, edits, None, about["segments"], about["outputs"]
        return cls(kept, graph(config, None), subject, about["tokens"], about["ids"], tuple(answer), *more)  # type: ignore[call-arg]


def _tupled(value: Any) -> Any:
    """What was a tuple, which a file has as a list."""
    return tuple(map(_tupled, value)) if isinstance(value, list) else value
