"""How a network tells positions: a row of SCHEMES for each way, with the pictures that show it."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import cosine_similarity
from model.config import EncoderConfig
from model.patch_waves import are_waves
from pages.ui.figures import Axis, heatmap, lines, tiles, waves
from pages.ui.figures.equations import COSINE
from pages.ui.state.link import select
from pages.ui.text import plain, texts_of
from pages.ui.view import View

SINES = (
    r"\begin{aligned} PE(pos, 2i) &= \sin\left(pos / 10000^{2i/d_{model}}\right) \\"
    r" PE(pos, 2i+1) &= \cos\left(pos / 10000^{2i/d_{model}}\right) \end{aligned}"
)
LEAST_PLACES = 64  # that are drawn, however short the input
LEAST_APART = 32  # positions to either side for which numbers of distances are drawn
FEWEST_APART = 5  # tokens whose distances are compared
FAR = 20  # positions
text, word = texts_of("tokens")


def positions(view: View) -> None:
    """The pictures of each way in which this network tells positions."""
    for scheme in SCHEMES:
        if scheme.used(view.config):
            for column, draw in zip(st.columns(len(scheme.pictures)), scheme.pictures, strict=True):
                with column:
                    draw(view)


# -- vectors that are added ----------------------------------------------------------------------------------


def table_of(view: View) -> np.ndarray:
    """The vectors of all positions: (position, d_model)."""
    return view.pipeline.network.embedding.positions.table.numpy()


def how_made(view: View) -> str:
    """Who made the vectors: a formula, or training."""
    fixed = view.trace.patches is not None and are_waves(
        view.pipeline.network.embedding.positions.table, view.config.patches_per_side
    )
    return text(f"made_{'patch_waves' if fixed else view.config.positions}")


def similarity(view: View) -> None:
    """How alike the vectors of two positions are: of words a map, of patches a small map for each of them."""
    (similarity_of_patches if view.trace.patches is not None else similarity_of_words)(view)


def similarity_of_words(view: View) -> None:
    alike = cosine_similarity(table_of(view)[: max(len(view.tokens), LEAST_PLACES)])
    near, far = (np.diagonal(alike, min(apart, len(alike) - 1)).mean() for apart in (1, FAR))
    axis = Axis(word("axis_place"))
    view.picture(
        "similarity",
        heatmap(alike, axis, axis, limit=1.0, height=480),
        text("read_similarity", near=f"{near:.2f}", far=f"{far:.2f}", apart=min(FAR, len(alike) - 1)),
        values=alike,
        equation=COSINE,
        still=True,
    )


def similarity_of_patches(view: View) -> None:
    side, front = view.config.patches_per_side, view.config.tokens_in_front
    names, place = view.tokens[front:], view.trace.places[front:]
    alike = cosine_similarity(table_of(view)[-(side**2) :])
    others = np.where(np.eye(len(names), dtype=bool), -np.inf, alike)
    apart = np.abs(place[:, None] - place[None]).sum(-1)
    shown = max(view.token - front, 0)
    nearest = int(others[shown].argmax())
    best = [(names[j], f"{others[i, j]:.2f}") for i, j in enumerate(others.argmax(axis=1))]
    figure = tiles(
        alike.reshape(side, side, side, side),
        Axis.counted(word("axis_row"), side),
        Axis.counted(word("axis_column"), side),
        scale="signed",
        limit=1.0,
        chosen=divmod(shown, side),
        hover=[f"{name}: {other} {cosine}" for name, (other, cosine) in zip(names, best, strict=True)],
        height=560,
    )
    figure.layout["xaxis"] |= {"constrain": "domain"}
    figure.layout["yaxis"] |= {"constrain": "domain", "scaleanchor": "x"}
    said = {"patch": names[shown], "nearest": names[nearest], "cosine": f"{others[shown, nearest]:.2f}"}
    said |= {"near": f"{alike[apart == 1].mean():.2f}", "far": f"{alike[apart > 1].mean():.2f}"}
    view.picture(
        "position_maps",
        figure,
        text("read_position_maps", **said),
        values=alike.reshape(side, side, side, side),
        equation=COSINE,
        table=pd.DataFrame(alike, index=names, columns=names),
        on_pick=lambda row, column: select(token=front + row * side + column),
        still=True,
    )


def components(view: View) -> None:
    """A few components of the vectors as curves over the positions; the band marks those of the input."""
    table, place = table_of(view), view.trace.rows[view.token]
    width, chosen = table.shape[1], view.choice.component
    drawn = [0, width // 16, width // 8, width // 4, width // 2]  # even: sines
    if chosen is not None and chosen < width:
        drawn.append(chosen)
    called = {word("component", number=j + 1): j for j in drawn}
    sines = view.config.positions == "sinusoidal"
    periods = {"fast": f"{2 * math.pi:.1f}", "slow": f"{2 * math.pi * 10_000 ** (drawn[4] / width):,.0f}"}
    said = [how_made(view), *([text("read_periods", last=drawn[4] + 1, **periods)] if sines else [])]
    moved = view.touched("embedding.positions")
    used = sum(row is not None for row in view.trace.rows)
    view.picture(
        "waves",
        waves(
            table,
            called,
            Axis(word("axis_place")),
            word("axis_value"),
            used=None if moved else used,
            chosen=None if len(drawn) < 6 or place is None else (place, drawn[-1]),
        ),
        " ".join(said + [text("read_band", used=used)] * (not moved)),
        table=pd.DataFrame(table[:, drawn], columns=[*called], index=range(1, len(table) + 1)),
        equation=SINES if sines else None,
        still=True,
    )


# -- positions that come in within the layers ----------------------------------------------------------------


def turns(view: View) -> None:
    """How far some pairs of components of queries and keys have turned at each position, as cosines."""
    layer = view.choice.layer
    speeds = view.pipeline.network.layers[layer].attention.speeds.numpy()
    n, half = max(len(view.tokens), LEAST_PLACES), len(speeds)
    drawn = list(dict.fromkeys([0, half // 4, half // 2, half - 1]))
    table = np.cos(np.arange(n)[:, None] * speeds)
    called = {word("pair", one=pair + 1, other=pair + half + 1): pair for pair in drawn}
    fast, slow = (f"{2 * math.pi / float(speeds[pair]):,.3g}" for pair in (0, half - 1))
    view.picture(
        "turns",
        waves(table, called, Axis(word("axis_place")), word("axis_turned"), used=len(view.tokens)),
        text("read_turns", layer=layer + 1, fast=fast, slow=slow),
        table=pd.DataFrame(table[:, drawn], columns=[*called], index=range(1, n + 1)),
        equation=r"\cos\left(pos / base^{2c/d_k}\right)",
        still=True,
    )


def biases(view: View) -> None:
    """What the distance of two tokens adds to their score, in some heads."""
    attention, heads = view.pipeline.network.layers[0].attention, view.config.heads
    n = 1 + max(len(view.tokens) - 1, LEAST_APART)
    added = attention.added(n, n)[0].numpy()
    table = np.append(added[:, -1, :-1], added[:, 0], axis=1).T  # from n − 1 before to n − 1 behind
    drawn = list(dict.fromkeys([min(view.choice.head, heads - 1), 0, heads // 2, heads - 1]))
    called, away = [plain("heads.head", head=head + 1) for head in drawn], distances(n)
    view.picture(
        "distances",
        lines(table[:, drawn].T, called, Axis(word("axis_apart"), away), word("axis_added")),
        text("read_slopes" if view.config.sloped else "read_distances", farthest=attention.farthest),
        table=pd.DataFrame(table[:, drawn], columns=called, index=away),
        equation=view.trace.graph["layers.0.attention.relative"].terms[0],
        still=True,
    )


def vectors_of_distances(view: View) -> None:
    """How alike the vectors of two distances are, of all that this input has."""
    n = max(len(view.tokens), FEWEST_APART)
    alike = cosine_similarity(view.pipeline.network.layers[0].attention.vectors(n)[0].numpy())
    away = distances(n)
    axis = Axis(word("axis_apart"), away)
    said = {"near": f"{np.diagonal(alike, 1).mean():.2f}", "far": f"{alike[0, -1]:.2f}"}
    view.picture(
        "alike_distances",
        heatmap(alike, axis, axis),
        text("read_alike_distances", first=away[0], last=away[-1], **said),
        values=alike,
        equation=COSINE,
        still=True,
    )


def distances(n: int) -> list[str]:
    """All distances between n tokens, from the furthest before: "−2", "−1", "0", "+1", "+2"."""
    return [f"{away:+d}".replace("-", "−") if away else "0" for away in range(1 - n, n)]


@dataclass(frozen=True)
class Scheme:
    """One way to tell positions: whether a network uses it, and the pictures that show it, side by side."""

    used: Callable[[EncoderConfig], bool]
    pictures: tuple[Callable[[View], None], ...]


SCHEMES = (
    Scheme(lambda config: config.places_added, (similarity, components)),
    Scheme(lambda config: config.positions == "rotary", (turns,)),
    Scheme(lambda config: config.by_distance, (biases,)),
    Scheme(lambda config: bool(config.distance_terms), (vectors_of_distances,)),
)
