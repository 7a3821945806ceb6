"""How the digit network learned: what it made of this drawing after a few steps of its training, up to the last."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from model import Edit, WeightsError
from model.measures import learning
from pages.drawing.cache import kept
from pages.drawing.figures import Axis, heatmap, lines
from pages.drawing.picture import Picture
from pages.drawing.screen import Screen
from pages.drawing.text import class_label, joined, plain, texts_of
from pages.drawing.text.numbers import decimal, first, in_percent, percent
from pages.screen.frame.learned import snapshot, steps
from pages.screen.frame.pen import Pen
from pages.screen.runs import pipelines

HIGH, LOW = 440, 225  # pixels
text, word = texts_of("learned")


@dataclass(frozen=True)
class Development:
    """Of one drawing, at each snapshot: the probabilities (class, snapshot) and where attention went (layer, snapshot).

    even: what patches with ink would get of an attention that is the same for all.
    """

    probabilities: np.ndarray
    on_ink: np.ndarray
    even: float


@kept(64)
def development(ink: bytes, edits: tuple[Edit, ...]) -> Development:
    """Raises WeightsError where the earlier weights cannot be read."""
    runs = [learning.after(number)(ink, edits) for number in range(learning.SNAPSHOTS)]
    return Development(
        np.stack([run.answer[0].probabilities for run in runs], axis=1),
        np.stack([learning.on_ink(run) for run in runs], axis=1),
        learning.even_share(runs[0]),
    )


def how_it_learned(screen: Screen, pen: Pen) -> None:
    """What the network made of this drawing over the steps of its training, how well it read others, where it looked.

    In a presentation the first alone.
    """
    try:
        snapshots = learning.snapshots()
        found = development(screen.subject, screen.run.edits)
    except WeightsError as error:
        pipelines.explain_weights(error)
        return
    at = learning.SNAPSHOTS - 1 if screen.choice.learning is None else screen.choice.learning
    along, p = Axis(word("axis_step"), steps()), found.probabilities
    best = p.argmax(0)
    since = int(np.flatnonzero(np.append(True, best[:-1] != best[-1]))[-1])  # the first of the last that agree
    late = 0 < since == len(best) - 1
    classes = Axis(plain("axis.class"), screen.outputs)

    def over_time(name: str, values: np.ndarray, rows: Axis, row: int, height: int, sentence: str) -> None:
        """A heatmap with a column for each snapshot, which a click chooses."""
        figure = heatmap(
            values, rows, along, scale="share", cell=(row, at), square=False, clickable=True, height=height
        )
        more = {"shape": values.shape, "title": word(name), "fixed": True, "picks": lambda _, number: snapshot(number)}
        pen.show(f"learned_{name}", Picture(figure, sentence, **more))

    left, *right = pen.columns(3, 2)
    with left:
        read = text(
            "read_says_last" if late else "read_says",
            best=class_label(screen.outputs[best[-1]]),
            p=first(p[:, -1], decimal),
            step=along.labels[since],
        )
        if screen.run.edits:
            read = joined(f"{text('changed')} {read}")
        over_time("says", p, classes, int(best[at]), HIGH, read)
    if not right:
        return
    with right[0]:
        curves = np.array([[one.accuracy for one in snapshots], [one.loss for one in snapshots]])
        names = [word("accuracy"), word("loss")]
        reached = next(one.step for one in snapshots if one.accuracy > 0.9)
        read = text("read_curve", step=f"{reached:,}", last=in_percent(100 * snapshots[-1].accuracy, 1))
        look = {"table": pd.DataFrame(curves, index=names, columns=along.labels), "title": word("curve"), "fixed": True}
        figure = lines(curves, names, along, word("axis_measured"), height=LOW)
        pen.show("curve", Picture(figure, read, **look))
        shares = {"first": percent(found.on_ink[:, 0].mean()), "last": percent(found.on_ink[:, -1].mean())}
        layers = Axis.counted(plain("sidebar.layer"), len(found.on_ink))
        read = text("read_on_ink", even=percent(found.even), **shares)
        over_time("on_ink", found.on_ink, layers, 0, LOW, read)
