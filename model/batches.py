"""Batches: run many inputs at once, padded to the longest, each with the numbers it would have alone.

A mask hides the padding, and the values of each input are cut out of the batch again, except a decoder's: see
`Translator._each`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from model.edits import Apply
from model.graph import Graph

MOST_TOKENS = 2000  # of one batch, without padding
SORTED = 8  # batches read ahead from a generator and sorted by length
ALONG_TOKENS = ("token", "query", "key")


def alike(lengths: Sequence[int]) -> list[list[int]]:
    """Batches of inputs of similar length, as indices into `lengths`, shortest first."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    taken = np.cumsum([lengths[i] for i in order])
    return [
        [i for _, i in group] for _, group in groupby(enumerate(order), key=lambda one: taken[one[0]] // MOST_TOKENS)
    ]


def together(inputs: Sequence[tuple[Tensor | None, ...]]) -> tuple[Tensor | None, ...]:
    """The network's arguments for each input, combined into those for the batch: (inputs, mask[, segments]).

    mask: (batch, 1, 1, key), False for padding; None if all have one length.
    """
    tensors, *others = zip(*inputs, strict=True)
    rows = [tensor[0] for tensor in tensors]
    mask = None
    if len({len(row) for row in rows}) > 1:
        mask = pad_sequence([torch.ones(len(row), dtype=torch.bool) for row in rows], batch_first=True)[:, None, None]
    segments = (pad_sequence([row[0] for row in others[1]], batch_first=True),) if others else ()
    return pad_sequence(rows, batch_first=True), mask, *segments


def part(value: Tensor, axes: Sequence[str], row: int, n: int) -> Tensor:
    """The part of a value that belongs to input `row`, n tokens long. A value shared by the batch has one row."""
    tokens = (
        slice(n) if axis in ALONG_TOKENS else distances_of(n, size) if axis == "distance" else slice(None)
        for axis, size in zip(axes, value.shape[1:], strict=True)
    )
    row = row if len(value) > 1 else 0
    return value[(slice(row, row + 1), *tokens)]


def distances_of(n: int, size: int) -> slice:
    """The distances −(n−1) … n−1 among `size` of them, of which 0 is in the middle."""
    return slice(size // 2 - n + 1, size // 2 + n)


class Part(Mapping[str, Tensor]):
    """{key: value} of one input of a batch."""

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
    """Combine the edits of each input into edits of the batch, both as `record` takes them."""

    def in_its_part(key: str, apply: Apply, row: int) -> Apply:
        def changed(value: Tensor, kept: Mapping[str, Tensor]) -> Tensor:
            if len(value) < len(lengths):  # shared by all until now
                value = value.expand(len(lengths), *value.shape[1:]).clone()
            own = part(value, graph[key].axes, row, lengths[row])
            own.copy_(apply(own.clone(), Part(kept, graph, row, lengths[row])))
            return value

        return changed

    return [(key, in_its_part(key, apply, row)) for row, some in enumerate(edits) for key, apply in some]
