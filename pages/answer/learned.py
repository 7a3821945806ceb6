"""How the digit network learned: what it made of this drawing after a few steps of its training, up to the last."""

from dataclasses import dataclass
from threading import Condition

import numpy as np
import pandas as pd
import streamlit as st
from cachetools import LRUCache, cached
from cachetools.keys import hashkey

from model import Edit, WeightsError, learning
from pages.ui.figures import Axis, heatmap, lines
from pages.ui.frame.learned import choose, steps
from pages.ui.page import Page
from pages.ui.runs import pipelines
from pages.ui.server.cache import digest, of_networks
from pages.ui.text import class_label, plain, texts_of
from pages.ui.text.numbers import decimal

text, word = texts_of("learned")


@dataclass(frozen=True)
class Development:
    """Of one drawing, at each snapshot: the probabilities (class, snapshot) and where attention went (layer, snapshot).

    even: what patches with ink would get of an attention that is the same for all.
    """

    probabilities: np.ndarray
    on_ink: np.ndarray
    on_neighbours: np.ndarray
    even: float


@of_networks
@cached(LRUCache(64), key=lambda ink, edits: hashkey(digest(ink), edits), condition=Condition())
def development(ink: bytes, edits: tuple[Edit, ...]) -> Development:
    """Raises WeightsError where the earlier weights cannot be read."""
    runs = [learning.after(number)(ink, edits) for number in range(learning.SNAPSHOTS)]
    return Development(
        np.stack([run.answer[0].probabilities for run in runs], axis=1),
        np.stack([learning.on_ink(run) for run in runs], axis=1),
        np.stack([learning.on_neighbours(run) for run in runs], axis=1),
        learning.even_share(runs[0]),
    )


def how_it_learned(view: Page) -> None:
    """Accuracy and loss over the steps of training; what the network made of this drawing then, and where it looked."""
    try:
        snapshots = learning.snapshots()
        found = development(view.subject, view.trace.edits)
    except WeightsError as error:
        pipelines.explain_weights(error)
        return
    at = learning.SNAPSHOTS - 1 if view.choice.learning is None else view.choice.learning
    along = Axis(word("axis_step"), steps())
    curves = np.array([[one.accuracy for one in snapshots], [one.loss for one in snapshots]])
    names = [word("accuracy"), word("loss")]
    best = found.probabilities.argmax(0)
    said = {"best": class_label(view.output_names[best[-1]]), "p": decimal(found.probabilities[best[-1], -1])}
    since = int(np.flatnonzero(np.append(True, best[:-1] != best[-1]))[-1])  # the first of the last that agree
    layers = Axis.counted(plain("sidebar.layer"), len(found.on_ink))
    st.markdown(text("intro", steps=along.labels[-1], n=len(snapshots)))
    left, right = st.columns(2, gap="medium")
    with left:
        figure = lines(curves, names, along, word("axis_measured"))
        reached = next(one.step for one in snapshots if one.accuracy > 0.9)
        read = text("read_curve", step=f"{reached:,}", last=f"{snapshots[-1].accuracy:.1%}")
        table = pd.DataFrame(curves, index=names, columns=along.labels)
        view.picture("curve", figure, read, table=table, title=word("curve"), still=True)
    look = {"square": False, "clickable": True, "height": 320}
    pictures = (
        ("says", found.probabilities, Axis(plain("answer.axis_class"), view.output_names), (int(best[at]), at), right),
        ("on_ink", found.on_ink, layers, (0, at), left),
        ("neighbours", found.on_neighbours, layers, (0, at), right),
    )
    for name, values, rows, cell, column in pictures:
        with column:
            figure = heatmap(
                values, rows, along, scale="positive" if name == "neighbours" else "share", cell=cell, **look
            )
            said |= {"first": f"{values[:, 0].mean():.0%}", "last": f"{values[:, -1].mean():.0%}"}
            said |= {"even": f"{found.even:.0%}", "step": along.labels[since]}
            view.picture(
                f"learned_{name}",
                figure,
                text(f"read_{name}", **said),
                values=values,
                on_pick=lambda _, number: choose(number),
                title=word(name),
                still=True,
            )
