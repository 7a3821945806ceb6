"""Trajectories: the way of each token's vector through the layers in a plane, and its length on that way."""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model import Trace
from model.analysis import placed
from pages.layers.states import numbered, steps
from pages.ui.figures import Axis, lines, paths
from pages.ui.runs.measure import of_both
from pages.ui.runs.worked_out import plane
from pages.ui.text import texts_of
from pages.ui.view import View

HIGH = 460  # pixels
text, word = texts_of("layers")


def trajectories(view: View) -> None:
    """The plane, and the lengths beside it; in a presentation the plane alone."""
    if view.choice.big:
        _paths(view)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        _paths(view)
    with right:
        _lengths(view)


def _paths(view: View) -> None:
    states, token = view.trace.states(), view.token
    drawn = view.both(lambda run: run.states(), ("", "token", "d_model"), token=token)
    (points, *others), shares = plane(states, *([] if drawn.other is None else [drawn.other]))
    before = others[0] if others else None
    walked = np.linalg.norm(np.diff(states[:, token], axis=0), axis=-1)
    longest = int(walked.argmax())
    titles = [word("axis_pca", number=i + 1, share=f"{share:.0%}") for i, share in enumerate(shares)]

    def as_table(points: np.ndarray) -> pd.DataFrame:
        names = [f"{place + 1} {name}" for place, name in enumerate(view.tokens)]
        rows = pd.MultiIndex.from_product([steps(view), names])
        return pd.DataFrame(points.reshape(-1, 2), index=rows, columns=["PCA 1", "PCA 2"])

    said = {"token": placed(view.tokens)[token], "share": f"{shares.sum():.0%}"}
    view.picture(
        "path",
        paths(points, view.tokens, numbered(view), (titles[0], titles[1]), chosen=token, before=before),
        text("read_path", layer=longest + 1, step=f"{walked[longest]:.1f}", **said),
        still=True,
        shows=drawn,
        table=lambda: of_both(as_table(points), None if before is None else as_table(before)),
    )


def _lengths(view: View) -> None:
    """The length of the selected token's vector after each layer, and of what each sub-layer added to it."""
    subs, token = view.trace.graph.sublayers(0), view.token
    own = lengths(view.trace)[..., token]
    drawn = view.measure(lengths, ("", "", "token"), beside=True, token=token)[..., token]
    names = [word("line_state"), *(word(f"line_{sub.name}") for sub in subs)]
    said = [text("read_norms", token=placed(view.tokens)[token], before=f"{own[0, 0]:.1f}", after=f"{own[0, -1]:.1f}")]
    for sub, added in zip(subs, own[1:], strict=True):
        most = int(np.nanargmax(added))
        said.append(text(f"adds_{sub.name}", layer=most, value=f"{added[most]:.1f}") if added[most] else "")
    if not view.touched(*view.trace.graph.norms):
        said.append(text("norms_before" if subs[0].norm_first else "norms_after"))
    figure = lines(drawn.values, names, numbered(view), word("axis_length"), there=drawn.other, height=HIGH)
    view.picture(
        "norms",
        figure,
        " ".join(filter(None, said)),
        table=partial(pd.DataFrame, drawn.values.T, index=steps(view), columns=names),
        shows=drawn.on(Axis("", names), Axis("", steps(view)), upwards=True),
    )


def lengths(run: Trace) -> np.ndarray:
    """Lengths of the vectors after each layer, and of what each of its sub-layers added: (line, 1 + layers, token)."""
    states = run.states()
    series = np.full((1 + len(run.graph.sublayers(0)), *states.shape[:2]), np.nan, dtype=np.float32)
    series[0] = np.linalg.norm(states, axis=-1)
    for layer in range(run.graph.layers()):  # one after the other: a large run computes them again
        series[1:, 1 + layer] = [np.linalg.norm(run[each.output], axis=-1) for each in run.graph.sublayers(layer)]
    return series
