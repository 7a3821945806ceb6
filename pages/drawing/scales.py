"""Where the colour scale of attention weights ends: one rule for every page, another for means of heads."""

import numpy as np

from model import Trace
from model.analysis import bright_end
from pages.drawing.cache import once_a_run

LEAST_MEAN = 0.1  # where no mean of weights is larger


def mean_end(means: np.ndarray) -> float:
    """The mean of heads' weights that gets the brightest colour: the largest that is drawn."""
    return max(LEAST_MEAN, float(means.max()))


@once_a_run
def weights_end(run: Trace, key: str) -> float:
    """The weight that gets the brightest colour: over all layers of this attention; over one layer if the run is large.

    key: the weights of one layer.
    """
    side, _, rest = key.rpartition("layers.")
    name = rest.split(".", 1)[1]
    layers = [key] if run.large else [f"{side}layers.{layer}.{name}" for layer in range(run.graph.layers(side))]
    return max(bright_end(run[one]) for one in layers)
