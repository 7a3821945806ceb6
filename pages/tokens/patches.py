"""Of a picture that is cut into patches: how it is prepared, and how alike the positions of its patches are."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import ArrayLike

from model.analysis import cosine_similarity
from model.digits import BOX, FAINTEST, MIDDLE, SIZE, hold_ink
from model.hugging_face.images import CheckpointImageReader
from model.patch_waves import are_waves
from pages.ui.figures import Axis, Figure, colour_picture, drawing, heatmap, tiles
from pages.ui.figures.theme import scaled
from pages.ui.runs.measure import Measure
from pages.ui.state import sketch
from pages.ui.state.link import select
from pages.ui.text import plain, t
from pages.ui.view import View, shape


def how_it_is_prepared(view: View) -> None:
    """Tokens: from what was drawn to the rows that enter the encoder, a small picture for each step."""
    if view.seen is not None and view.seen.ndim == 3:
        how_it_is_brought_to_size(view)
        return
    image, patches = view.trace.picture, view.trace.patches
    assert image is not None and patches is not None  # a drawing
    config = view.trace.config
    size, side = config.patch_size, config.patches_per_side
    steps = sketch.steps(view.choice.other_drawing if view.shows == "other" else view.choice.drawing)
    raw, cropped, fitted = steps.raw, steps.cropped, steps.scaled
    top, left = np.flatnonzero(raw.any(1))[0], np.flatnonzero(raw.any(0))[0]
    box = (top, left, top + cropped.shape[0], left + cropped.shape[1])
    inked = {"share": f"{(raw > 0).mean():.0%}", "height": cropped.shape[0], "width": cropped.shape[1]}
    row, column = (float((image.sum(1 - axis) * np.arange(SIZE)).sum() / image.sum()) for axis in (0, 1))
    middle = {"size": SIZE, "row": f"{row:.1f}", "column": f"{column:.1f}", "middle": MIDDLE}
    pieces = image.reshape(side, size, side, size).swapaxes(1, 2)
    cut: dict[str, float] = {"side": side, "size": size, "patches": len(patches), "inked": int(hold_ink(patches).sum())}
    cut["least"] = FAINTEST
    numbers = {"patches": len(patches), "pixels": size * size}
    numbers |= {"d_model": config.d_model, "tokens": len(view.trace.tokens)}
    small = {"height": 230}
    wide = small | {"square": False, "height": scaled(230)}
    patch, dimension = Axis(plain("patches.axis_patch")), Axis(plain("axis.d_model"))
    vectors = view.measure("embedding.tokens").less_nothing()
    pictures = (
        ("raw", raw, drawing(raw, box=box, **small), inked),
        ("scaled", fitted, drawing(fitted, **small), {"before": shape(cropped), "after": shape(fitted), "box": BOX}),
        ("centred", image, drawing(image, cross=(row, column), **small), middle),
        ("cut", pieces, drawing(image, cut=size, **small), cut),
        ("rows", patches, heatmap(patches, patch, Axis(plain("tokens.axis_pixel")), scale="share", **wide), numbers),
        ("projected", vectors.values, heatmap(vectors.values, Axis(plain("axis.token")), dimension, **wide), numbers),
    )
    _side_by_side(view, "prepared_intro", pictures, vectors, 3)


def how_it_is_brought_to_size(view: View) -> None:
    """The same for a picture in colour: cut, its colours as they are read, and the rows that become tokens."""
    config, picture, patches, seen = view.trace.config, view.trace.picture, view.trace.patches, view.seen
    reader = view.pipeline.reader
    assert isinstance(reader, CheckpointImageReader)
    assert picture is not None and patches is not None and seen is not None
    size, side, front = config.patch_size, config.patches_per_side, config.tokens_in_front
    look = {"square": False, "height": scaled(260)}
    patch = Axis(plain("patches.axis_patch"))
    numbers = {"patches": len(patches), "pixels": patches.shape[1], "d_model": config.d_model}
    numbers |= {"front": " ".join(view.trace.tokens[:front]), "tokens": len(view.trace.tokens)}
    numbers |= {"size": config.image_size, "side": side, "patch": size}
    numbers |= {"mean": in_a_row(reader.mean), "deviation": in_a_row(reader.deviation)}
    names = Axis("", [plain(f"tokens.{channel}") for channel in ("red", "green", "blue")][: config.channels])
    channels = tiles(picture[None], Axis("", [""]), names, scale="signed", height=260)
    vectors = view.measure("embedding.tokens").less_nothing()
    fitted = colour_picture(seen, cut=size, height=260)
    rows = heatmap(patches, patch, Axis(plain("tokens.axis_pixel")), **look)
    projected = heatmap(vectors.values, Axis(plain("axis.token")), Axis(plain("axis.d_model")), **look)
    pictures = (
        ("fitted", seen, fitted, numbers),
        ("colours", picture, channels, numbers),
        ("rows_colour", patches, rows, numbers),
        ("projected_colour", vectors.values, projected, numbers),
    )
    _side_by_side(view, "prepared_intro_colour", pictures, vectors, 2)


def _side_by_side(
    view: View, intro: str, pictures: Sequence[tuple[str, np.ndarray, Figure, dict]], vectors: Measure, across: int
) -> None:
    """The steps as small pictures, so many in a row: the name of each, its values, itself, and its sentence's numbers.

    vectors: the tokens', which the last step shows. Where two runs are compared they differ; no change inside moves
    what goes in.
    """
    axes = Axis("", view.trace.tokens), Axis(plain("axis.d_model"))
    bare = None if view.config.front else "projected_colour"
    st.subheader(plain("patches.prepared"), anchor=False)
    st.markdown(t(f"patches.{intro}"))
    for first in range(0, len(pictures), across):
        for column, picture in zip(st.columns(across), pictures[first : first + across], strict=True):
            name, values, figure, numbers = picture
            follows: dict = {"still": view.shows == "difference"}
            if picture is pictures[-1]:
                follows = {"shows": vectors.on(*axes)}
            with column:
                view.picture(
                    f"prepared_{name}",
                    figure,
                    t("patches.read_projected_patches" if name == bare else f"patches.read_{name}", **numbers),
                    title=plain(f"patches.{name}"),
                    values=values,
                    table=pd.DataFrame(view.trace.picture if values.ndim == 4 else values.reshape(len(values), -1)),
                    **follows,
                )


def in_a_row(values: ArrayLike) -> str:
    """A number for each channel: "0.485, 0.456, 0.406"."""
    return ", ".join(f"{value:.3g}" for value in np.atleast_1d(values))


def position_maps(view: View, token: int) -> None:
    """Tokens: how alike the positions of the patches are, as a map for each patch."""
    side, front = view.trace.config.patches_per_side, view.trace.config.tokens_in_front
    names = view.trace.tokens[front:]
    table = view.pipeline.network.embedding.positions.table.numpy()[-(side**2) :]
    waved = are_waves(view.pipeline.network.embedding.positions.table, side)
    alike = cosine_similarity(table)
    others = np.where(np.eye(len(names), dtype=bool), -np.inf, alike)
    place = view.trace.places[front:]
    apart = np.abs(place[:, None] - place[None]).sum(-1)
    in_line = (place[:, None] == place[None]).any(-1) & (apart > 1)
    shown = max(token - front, 0)
    nearest = int(others[shown].argmax())

    figure = tiles(
        alike.reshape(side, side, side, side),
        Axis.counted(plain("tokens.axis_row"), side),
        Axis.counted(plain("tokens.axis_column"), side),
        scale="signed",
        limit=1.0,
        chosen=divmod(shown, side),
        hover=[
            plain("patches.hover_position", patch=names[i], nearest=names[j], cosine=f"{others[i, j]:.2f}")
            for i, j in enumerate(others.argmax(axis=1))
        ],
        height=620,
    )
    figure.layout["xaxis"] |= {"constrain": "domain"}
    figure.layout["yaxis"] |= {"constrain": "domain", "scaleanchor": "x"}
    view.picture(
        "position_maps",
        figure,
        t(
            "patches.read_positions" + "_waves" * waved,
            patch=names[shown],
            nearest=names[nearest],
            cosine=f"{others[shown, nearest]:.2f}",
            near=f"{alike[apart == 1].mean():.2f}",
            line=f"{alike[in_line].mean():.2f}",
            far=f"{alike[(apart > 1) & ~in_line].mean():.2f}",
        ),
        title=plain("patches.positions"),
        equation=r"\cos\left(E_{pos}[r,c],\; E_{pos}[r',c']\right)",
        values=alike.reshape(side, side, side, side),
        table=pd.DataFrame(alike, index=names, columns=names),
        on_pick=lambda row, column: select(token=front + row * side + column),
        still=True,
    )
