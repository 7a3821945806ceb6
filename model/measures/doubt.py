"""Whether a drawing looks like a digit at all, which a softmax over ten digits cannot say.

A linear probe (Alain and Bengio 2017) on the digit network's layers: a plane between digits and other signs (letters,
smileys, scribbles). `python -m model.training doubt` measures it and stores it beside the weights, with their SHA-256;
for other weights it is ignored.
"""

import json
from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np
from safetensors import SafetensorError, safe_open

from model.digits import stand_apart
from model.files import WEIGHTS, WeightsError, fingerprint, intact
from model.trace import Trace

FILE = "doubt.safetensors"
MADE_FROM = "digits.safetensors"


def summary(states: np.ndarray) -> np.ndarray:
    """[CLS] and the mean of the patches after each layer: (…, layer, token, d_model) -> (…, layer · 2 · d_model)."""
    parts = np.stack([states[..., 0, :], states[..., 1:, :].mean(axis=-2)], axis=-2)
    return parts.reshape(*parts.shape[:-3], -1)


def margin(probabilities: np.ndarray) -> np.ndarray:
    """Lead of the likeliest class: (…, class) -> (…)."""
    second, first = np.moveaxis(np.sort(probabilities, axis=-1)[..., -2:], -1, 0)
    return first - second


@dataclass(frozen=True, eq=False)
class Doubt:
    """A measured rule: states beyond the plane are strange, and a lead below `least_margin` is no clear answer."""

    normal: np.ndarray  # (layer · 2 · d_model,)
    offset: float
    least_margin: float
    measured: dict[str, float]

    def strangeness(self, states: np.ndarray) -> np.ndarray:
        """Distance beyond the plane; negative on the digits' side. states: (…, layer, token, d_model), of
        each layer.
        """
        return summary(states) @ self.normal - self.offset

    def about(self, trace: Trace) -> Literal["several", "strange", "close"] | None:
        """Why the answer of a digit run is doubtful: several signs were drawn, a strange one, or the two likeliest
        digits are close. None if there is no reason for doubt.
        """
        states = trace.states()[1:]
        if len(self.normal) != 2 * len(states) * states.shape[-1]:  # not the network that was measured
            return None
        if self.strangeness(states) > 0:
            assert trace.picture is not None  # the digit network reads only pictures
            return "several" if stand_apart(trace.picture) else "strange"
        return "close" if margin(np.array(trace.answer[0].probabilities)) < self.least_margin else None


@cache
def doubt() -> Doubt | None:
    """The measured rule; None if there is none for the present weights. Raises WeightsError if it is damaged."""
    if not (WEIGHTS / FILE).exists() or not (WEIGHTS / MADE_FROM).exists():
        return None
    try:
        with safe_open(intact(WEIGHTS / FILE), framework="np") as file:
            normal, notes = file.get_tensor("normal"), file.metadata()
        about, measured = json.loads(notes["rule"]), json.loads(notes["measured"])
        rule = Doubt(normal, float(about["offset"]), float(about["least_margin"]), measured)
        made_from = about["weights"]
    except (SafetensorError, OSError, ValueError, KeyError, TypeError) as error:
        raise WeightsError("damaged", FILE) from error
    return rule if made_from == fingerprint(WEIGHTS / MADE_FROM) else None
