"""What each head of a run does on its input, in figures and by name."""

import numpy as np

from model import Trace
from model.analysis import HeadPattern, head_pattern, head_table
from pages.attention.overlay import every_weight
from pages.drawing.cache import once_a_run


@once_a_run
def head_patterns(run: Trace) -> tuple[dict[str, np.ndarray], dict[tuple[int, ...], HeadPattern]]:
    """The figures of `head_table`, each (layer, head), and the pattern of each place (layer, head)."""
    weights = every_weight(run)
    measures = head_table(weights, run.tokens, run.places)
    return measures, {
        place: head_pattern(
            weights[place], {name: float(values[place]) for name, values in measures.items()}, run.places
        )
        for place in np.ndindex(weights.shape[:2])
    }
