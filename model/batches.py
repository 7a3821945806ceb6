"""Many inputs through a network at once: sentences filled up to the longest, and each as if it were alone.

A mask keeps every token from looking at what fills up, and what belongs to one input is cut out of the batch again.
Only a decoder's quantities are not cut: see `Translator._each`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from model.edits import Apply
from model.graph import Graph

MOST_TOKENS = 2000  # of one batch, those that fill up counted
SORTED = 8  # batches, by length, of inputs that come one by one
ALONG_TOKENS = ("token", "query", "key")


def alike(lengths: Sequence[int]) -> list[list[int]]:
    """The places in a list of lengths, shortest first, as batches of inputs that are about as long."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    taken = np.cumsum([lengths[i] for i in order])
    return [
        [i for _, i in group] for _, group in groupby(enumerate(order), key=lambda one: taken[one[0]] // MOST_TOKENS)
    ]


def together(inputs: Sequence[tuple[Tensor | None, ...]]) -> tuple[Tensor | None, ...]:
    """What a network is called with for each input -> for all of them at once: (inputs, mask, segments).

    mask: (batch, 1, 1, key), True where a key is a token of its input; None where all are of one length.
    """
    tensors, *others = zip(*inputs, strict=True)
    rows = [tensor[0] for tensor in tensors]
    mask = None
    if len({len(row) for row in rows}) > 1:
        mask = pad_sequence([torch.ones(len(row), dtype=torch.bool) for row in rows], batch_first=True)[:, None, None]
    segments = (pad_sequence([row[0] for row in others[1]], batch_first=True),) if others else ()
    return pad_sequence(rows, batch_first=True), mask, *segments


def part(value: Tensor, axes: Sequence[str], row: int, n: int) -> Tensor:
    """What one input of n tokens, the `row`-th of a batch, has of a value; what is the same for all has one row."""
    tokens = (
        slice(n) if axis in ALONG_TOKENS else distances_of(n, size) if axis == "distance" else slice(None)
        for axis, size in zip(axes, value.shape[1:], strict=True)
    )
    row = row if len(value) > 1 else 0
    return value[(slice(row, row + 1), *tokens)]


def distances_of(n: int, size: int) -> slice:
    """Those of n tokens among so many distances, of which 0 stands in the middle."""
    return slice(size // 2 - n + 1, size // 2 + n)


class Part(Mapping[str, Tensor]):
    """{key: value} of one input, out of those of its batch."""

    def __init__(self, values: Mapping[str, Tensor], graph: Graph, row: int, n: int) -> None:
        self.values_of_all, self.graph, self.row, self.n = values, graph, row, n

    def __getitem__(self, key: str) -> Tensor:
        return part(self.values_of_all[key], self.graph[key].axes, self.row, self.n)

    def __iter__(self) -> Iterator[str]:
        return iter(self.values_of_all)

    def __len__(self) -> int:
        return len(self.values_of_all)


def for_all(
    edits: Sequence[Sequence[tuple[str, Apply]]], graph: Graph, lengths: Sequence[int]
) -> list[tuple[str, Apply]]:
    """The edits of each input, as `record` takes them for one, as it takes them for the batch."""

    def in_its_part(key: str, apply: Apply, row: int) -> Apply:
        def changed(value: Tensor, kept: Mapping[str, Tensor]) -> Tensor:
            if len(value) < len(lengths):  # so far it was the same for all
                value = value.expand(len(lengths), *value.shape[1:]).clone()
            own = part(value, graph[key].axes, row, lengths[row])
            own.copy_(apply(own.clone(), Part(kept, graph, row, lengths[row])))
            return value

        return changed

    return [(key, in_its_part(key, apply, row)) for row, some in enumerate(edits) for key, apply in some]
