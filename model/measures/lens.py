"""The tuned lens: affine maps from each layer's output to the last layer's, applied before the head.

The logit lens reads each layer as if it were the last. Layers encode differently; an affine map per layer, fitted to
the network's own answers, corrects for it (Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with
the Tuned Lens"). `python -m model.training lens` fits the maps of our text encoder and stores them beside the weights,
with their SHA-256; for other weights they are ignored.
"""

import json
from dataclasses import dataclass
from functools import cache

import numpy as np
from safetensors import SafetensorError, safe_open

from model.files import WEIGHTS, WeightsError, fingerprint, intact

FILE = "lens.safetensors"
MADE_FROM = "text.safetensors"


@dataclass(frozen=True, eq=False)
class Lens:
    """x A + b for the input of layer 1 and the output of each layer but the last."""

    A: np.ndarray  # (layers, d_model, d_model)
    b: np.ndarray  # (layers, d_model)
    measured: list[dict[str, dict[str, float]]]  # on held-out sentences, in nats: of the logit lens and of this one

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """(layers, token, d_model) -> the same shape, float32."""
        found: np.ndarray = states @ self.A + self.b[:, None]
        return found


@cache
def calibrated() -> Lens | None:
    """The fitted maps; None if there are none for the present weights. Raises WeightsError if they are damaged."""
    if not (WEIGHTS / FILE).exists() or not (WEIGHTS / MADE_FROM).exists():
        return None
    try:
        with safe_open(intact(WEIGHTS / FILE), framework="np") as file:
            A, b = (file.get_tensor(name).astype(np.float32) for name in ("A", "b"))
            notes = file.metadata()
        lens, made_from = Lens(A, b, json.loads(notes["measured"])), notes["weights"]
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError("damaged", FILE) from error
    return lens if made_from == fingerprint(WEIGHTS / MADE_FROM) else None
