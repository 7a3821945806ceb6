"""A sentence in a batch with a longer one: padded with [PAD], with and without a padding mask."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from model.analysis import softmax
from model.batches import together
from model.measures.without import Answers, kept_of
from model.pipeline import Pipeline
from model.trace import record

FILLER = "[PAD]"
FILLERS = 3


class FilledUp(NamedTuple):
    """Three runs, in this order: the sentence alone, padded with a mask, padded without a mask.

    answers: at one token. head: layer and head in which this token, without the mask, gives [PAD] the most weight.
    rows: its weights there in each run, (key,). masked: the largest weight on [PAD] of any token and head, with the
    mask. taken: weight of this token on [PAD] without the mask, (layer, head).
    """

    answers: Answers
    head: tuple[int, int]
    rows: tuple[np.ndarray, np.ndarray, np.ndarray]
    masked: float
    taken: np.ndarray


def can_fill_up(pipeline: Pipeline, ids: Sequence[int]) -> bool:
    """Whether a sentence (ids) can be padded: the vocabulary has [PAD], and there is room."""
    return FILLER in pipeline.reader.vocabulary and 0 < len(ids) <= pipeline.config.max_len - FILLERS


def fill_up(pipeline: Pipeline, ids: Sequence[int], token: int) -> FilledUp:
    """Effect of padding on a sentence that `can_fill_up`. ids: of its pieces. token: the query, at which the answer is
    read if there are several.
    """
    filler, n = pipeline.reader.vocabulary.index(FILLER), len(ids)
    _, alone = pipeline.inputs(tuple(ids))
    _, filled = pipeline.inputs((*ids, *[filler] * FILLERS))
    mask = together([filled, alone])[1]
    assert mask is not None  # otherwise both would have the same length
    given = ((alone, None), (filled, mask[1:]), (filled, None))
    runs = [_run(pipeline, inputs, own_mask, token) for inputs, own_mask in given]
    taken = runs[2][1][:, :, token, n:].sum(axis=-1)
    layer, head = (int(place) for place in np.unravel_index(taken.argmax(), taken.shape))
    rows = [weights[layer, head, token] for _, weights in runs]
    answers = kept_of(np.stack([p for p, _ in runs]), 1)
    return FilledUp(answers, (layer, head), (rows[0], rows[1], rows[2]), float(runs[1][1][..., n:].max()), taken)


def _run(
    pipeline: Pipeline, given: Sequence[Tensor | None], mask: Tensor | None, token: int
) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities at a token, and the weights of all heads: (layer, head, query, key)."""
    logits, run = record(pipeline.network, given[0], mask, *given[2:])
    row = logits[0, token] if "word" in pipeline.graph["logits"].axes else logits[0]
    weights = torch.cat([run[f"layers.{layer}.attention.weights"] for layer in range(pipeline.graph.layers())])
    return softmax(row.numpy().astype(np.float64)), weights.numpy()
