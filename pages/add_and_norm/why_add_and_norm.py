"""Why sums and norms: gradients with and without residual connections, lengths with and without norms."""

import numpy as np
import pandas as pd

from model import Trace
from model.config import NORMS
from model.measures.without import Fate
from pages.drawing.figures import Axis, lines
from pages.drawing.picture import Picture
from pages.drawing.place import Place
from pages.drawing.text import texts_of
from pages.drawing.text.numbers import decimal

HIGH = 380  # pixels
text, word = texts_of("why_add_and_norm")


def gradients_by_layer(run: Trace, place: Place, found: np.ndarray) -> Picture:
    """How much of the answer's gradient reaches each layer before training. found: as `worked_out.gradients` has it."""
    names = [word("with_sums"), word("without_sums")]
    steps = Axis(word("axis_layer"), [f"X⁽{_raised(layer)}⁾" for layer in range(found.shape[1])])
    ways = zip(("summed", "bare"), found[:, :-1].min(axis=1), strict=True)  # at Z itself it is 1
    return Picture(
        lines(found, names, steps, word("axis_gradient"), height=HIGH).tell(fills=True),
        text("read_gradients", **{name: decimal(value) for name, value in ways}),
        title=word("gradients"),
        table=pd.DataFrame(found.T, columns=names, index=steps.labels),
        fixed=True,
    )


def lengths_by_layer(run: Trace, place: Place, normed: Fate, bare: Fate) -> Picture:
    """How long the vectors are after each layer, with the norms and without."""
    norm, values = NORMS[run.config.norm], np.stack([normed.length, bare.length])
    names = [word("with_norm", norm=norm), word("without_norm", norm=norm)]
    steps = Axis(word("axis_after"), [str(layer) for layer in range(values.shape[1])])
    figure = lines(values, names, steps, word("axis_length"), height=HIGH).tell(fills=True)
    figure.layout["yaxis"] |= {"type": "log", "dtick": 1}
    ends = {name: f"{value:,.0f}" for name, value in zip(("usual", "length"), values[:, -1], strict=True)}
    table = pd.DataFrame(values.T, columns=names, index=steps.labels)
    said, layers = text("read_lengths", norm=norm, **ends), range(run.config.layers)
    norms = [sub.norm for layer in layers for sub in run.graph.sublayers(layer) if sub.norm]
    return Picture(figure, said, title=word("lengths"), table=table, reads=norms, every_head=True)


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
