"""Where the colours of attention weights end: by one rule on every page."""

from model import Trace
from model.analysis import bright_end
from pages.drawing.cache import once_a_run


@once_a_run
def weights_end(run: Trace, key: str) -> float:
    """The weight with the brightest colour on every page, as on Home: of all layers with such an attention; of a run
    too large for that, of this layer. key: of the weights in one of them.
    """
    side, _, rest = key.rpartition("layers.")
    name = rest.split(".", 1)[1]
    layers = [key] if run.large else [f"{side}layers.{layer}.{name}" for layer in range(run.graph.layers(side))]
    return max(bright_end(run[one]) for one in layers)
