"""Why sums, and why LayerNorm: gradients with the residual connections and without, and BatchNorm beside LayerNorm."""

import numpy as np
import pandas as pd

from model import Trace
from model.analysis import placed
from pages.add_and_norm.pictures import AddNorm
from pages.drawing.figures import ADDED, AFTER, Axis, grouped_bars, lines
from pages.drawing.picture import Picture, token_axis
from pages.drawing.place import Place
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import decimal, two

text, word = texts_of("why_add_and_norm")


def gradients_by_layer(run: Trace, place: Place, found: np.ndarray) -> Picture:
    """How much of the answer's gradient reaches each layer, in the trained network and in one before training.

    found: as `worked_out.gradients` has it.
    """
    least = found[:, :, :-1].min(axis=2)  # at Z itself it is 1
    names = [word(f"{when}_{how}") for when in ("trained", "untrained") for how in ("with", "without")]
    steps = Axis(word("axis_layer"), [f"X⁽{_raised(layer)}⁾" for layer in range(found.shape[2])])
    said = {name: decimal(value) for name, value in zip(("tw", "to", "uw", "uo"), least.ravel(), strict=True)}
    said |= {name: decimal(value) for name, value in zip(("first", "first_without"), found[0, :, 0], strict=True)}
    clear = least[1, 0] > 1.5 * least[1, 1]
    so = [text("so")] if clear else []
    sentence = " ".join([text("read_untrained", **said), *so, text("read_trained", **said)])
    values = found.reshape(len(names), -1)
    table = pd.DataFrame(values.T, columns=names, index=steps.labels)
    figure = lines(values, names, steps, word("axis_gradient"))
    return Picture(figure, sentence, title=word("gradients"), table=table, fixed=True)


def about_gradients() -> str:
    """What the lines are measured in."""
    return text("about_gradients")


def batch_of_one() -> str:
    """Why BatchNorm makes nothing of one token."""
    return text("batch_of_one")


def batch_norm(run: Trace, place: Place) -> Picture:
    """BatchNorm of what LayerNorm reads, and of that with a token less, beside LayerNorm before γ and β."""
    at = AddNorm(run, place)
    entered, normed, epsilon = run[at.normed], at.standardised(), at.epsilon
    gone = next(one for one in reversed(range(len(entered))) if one != place.token)
    there = np.arange(len(entered)) != gone
    batch, without = (_batch_norm(rows, epsilon) for rows in (entered, entered[there]))
    moved = np.abs(batch[there] - without)[place.token - (gone < place.token)].mean()
    spread = {"LayerNorm": normed.std(axis=1), "BatchNorm": batch.std(axis=1)}
    low, high = (two(value) for value in (spread["BatchNorm"].min(), spread["BatchNorm"].max()))
    token, other = (placed(run.tokens)[one] for one in (place.token, gone))
    return Picture(
        grouped_bars(spread, token_axis(run, plain("axis.token")), word("axis_deviation"), (AFTER, ADDED)),
        text("read_batch_norm", low=low, high=high, token=token, other=other, moved=decimal(moved)),
        title=word("batch_norm"),
        table=pd.DataFrame(spread, index=[plain("common.quoted", token=name) for name in run.tokens]),
        fixed=True,
    )


def _batch_norm(rows: np.ndarray, epsilon: float) -> np.ndarray:
    """(x − μ) ÷ √(σ² + ε), with mean and variance of each component over the rows (Ioffe and Szegedy 2015)."""
    return (rows - rows.mean(axis=0)) / np.sqrt(rows.var(axis=0) + epsilon)


def _raised(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
