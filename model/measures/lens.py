"""The calibrated lens: what each layer hands on, mapped to what the last one hands on, before the head reads it.

The plain logit lens reads every layer as if it were the last; an affine map for each, fitted to the network's own
answers, takes away that each layer writes in another way (Belrose et al. 2023, "Eliciting Latent Predictions from
Transformers with the Tuned Lens"). `python -m model.training lens` fits the maps of our text encoder and writes them
beside the weights, with their SHA-256 in them: fitted to other weights they are as good as none.
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
    """x A + b for what is read before layer 1 and after each layer but the last."""

    A: np.ndarray  # (layers, d_model, d_model)
    b: np.ndarray  # (layers, d_model)
    measured: list[dict[str, dict[str, float]]]  # of held-out sentences, in nats: of the raw lens and of this one

    def __call__(self, states: np.ndarray) -> np.ndarray:
        """(layers, token, d_model), float32, of as many."""
        found: np.ndarray = states @ self.A + self.b[:, None]
        return found


@cache
def calibrated() -> Lens | None:
    """The fitted maps, or None where there are none for the weights that lie here. Raises WeightsError for damaged
    ones.
    """
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
