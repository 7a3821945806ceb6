"""How the digit network learned: snapshots of its weights during training; the last are the shipped ones.

`python -m model.training digits` stores them; all but the last are in model/weights/learning.safetensors.
"""

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from model.config import PRESETS
from model.digits import hold_ink
from model.files import WeightsError
from model.heads import network_for
from model.loading import fill, load, read_weights, reader_for
from model.pipeline import Pipeline
from model.trace import Trace

FILE = "learning"
SNAPSHOTS = 12  # from random weights to the shipped ones


@dataclass(frozen=True)
class Snapshot:
    """Weights after a number of training steps of 256 pictures, and their cross-entropy (nats) and accuracy on MNIST
    digits not used in any training.
    """

    step: int
    loss: float
    accuracy: float


def snapshots() -> tuple[Snapshot, ...]:
    """All snapshots, the shipped weights last. Raises WeightsError if their file is missing or damaged."""
    return _read()[0]


def after(number: int) -> Pipeline:
    """The digit network of snapshot `number`, from 0; the last is that of load("digits").

    Raises WeightsError if a file is missing or damaged.
    """
    return load("digits") if number == SNAPSHOTS - 1 else _read()[1][number]


@cache
def _read() -> tuple[tuple[Snapshot, ...], list[Pipeline]]:
    """Figures of all snapshots, and the networks of all but the last."""
    tensors, measured = read_weights(FILE)
    try:
        rows: Any = measured["snapshots"]
        found = tuple(Snapshot(int(row["step"]), row["loss"], row["validation_accuracy"]) for row in rows)
    except (KeyError, TypeError) as error:
        raise WeightsError("damaged", f"{FILE}.safetensors") from error
    config, earlier = PRESETS["digits"], []
    for number, one in enumerate(found[:-1]):
        network = network_for(config)
        fill(network, {key: values[number] for key, values in tensors.items()}, FILE)
        earlier.append(Pipeline("digits", network, reader_for(config), {"validation_accuracy": one.accuracy}))
    return found, earlier


def on_ink(trace: Trace) -> np.ndarray:
    """Share of [CLS]'s attention on patches that `hold_ink`, mean over heads: (layer,)."""
    return _attention(trace)[:, 0, 1:] @ _inked(trace)


def even_share(trace: Trace) -> float:
    """The same share for uniform attention over all tokens."""
    return float(_inked(trace).sum() / len(trace.tokens))


def _attention(trace: Trace) -> np.ndarray:
    """Weights, mean over heads: (layer, query, key)."""
    return np.stack([trace[f"layers.{l}.attention.weights"].mean(0) for l in range(trace.config.layers)])  # noqa: E741


def _inked(trace: Trace) -> np.ndarray:
    """Which patches hold ink: (patch,)."""
    assert trace.patches is not None  # the digit network reads only pictures
    return hold_ink(trace.patches)
