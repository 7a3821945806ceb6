"""What can be changed within a run, room by room: a map of effects each, in which a click makes the change."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import streamlit as st

from model import Edit
from model.analysis import placed
from model.edits import operations_at
from model.measures.order import without_positions
from pages.drawing.figures import Axis, over_drawing, token_at
from pages.drawing.text import joined, plain
from pages.screen.frame.pickers import either
from pages.what_if.experiment import (
    Experiment,
    Over,
    effect_map,
    limit,
    text,
    which_token,
    word,
)

ATTENTION = "layers.0.attention."
INSIDE = (
    Edit(f"{ATTENTION}scaled", "unscaled"),
    Edit(f"{ATTENTION}weights", "hard"),
    Edit(f"{ATTENTION}weights", "even"),
    Edit(f"{ATTENTION}masked", "causal"),
    Edit(f"{ATTENTION}masked", "window", 1.0),
    Edit(f"{ATTENTION}masked", "special"),
)
POSITIONS = (
    Edit("embedding.positions", "zero"),
    Edit("embedding.positions", "shuffle", seed=1),
    Edit("embedding.positions", "shift", value=1.0),
    Edit("embedding.positions", "shift", value=10.0),
    Edit("embedding.positions", "sinusoidal"),
    Edit("layers.{l}.attention.relative", "zero"),
    Edit("layers.{l}.attention.content_to_position", "zero"),
    Edit("layers.{l}.attention.position_to_content", "zero"),
)
OFF_OR_MEAN = ("zero", "mean")  # the mean over a small corpus
STRONGEST = 16  # neurons of each layer that are shown


def way_of(lab: Experiment, ways: Sequence[str]) -> str:
    """Buttons for how something is changed, in the row of the tabs."""
    words = [word(f"way_{name}") for name in ways]
    with lab.pen.controls:
        return either("stage", word("way"), ways, words, lab.screen.choice.stage, label_visibility="collapsed")


def layer_axis(lab: Experiment, together: bool = False) -> tuple[Axis, list[str]]:
    """The layers, each by itself, and perhaps all at once; and what stands for each in a key."""
    layers = range(lab.screen.run.graph.layers())
    names, keys = [str(layer + 1) for layer in layers], [str(layer) for layer in layers]
    if together and len(keys) > 1:
        names, keys = [*names, word("all")], [*keys, "{l}"]
    return Axis(plain("axis.layer"), names), keys


def layer_named(key: str) -> str:
    return plain("change.all_layers") if key == "{l}" else plain("change.layer", number=int(key) + 1)


def heads(lab: Experiment) -> None:
    """Every head: off, or at its mean."""
    way = way_of(lab, OFF_OR_MEAN)
    rows, keys = layer_axis(lab)
    count = lab.screen.run.config.heads
    effect_map(
        lab,
        "heads",
        rows,
        Axis.counted(plain("axis.head"), count),
        [[Edit(f"layers.{layer}.attention.heads", way, head=head) for head in range(count)] for layer in keys],
        lambda layer, head: plain("common.where", layer=layer + 1, head=head + 1),
        lambda layer, head: {"layer": layer, "head": head},
    )


def neurons(lab: Experiment) -> None:
    """The neurons that fire most at the place of the answer, layer by layer."""
    way = way_of(lab, OFF_OR_MEAN)
    rows, keys = layer_axis(lab)
    active = lab.screen.original.over_layers("ffn.activation")[:, lab.place]  # (layer, neuron)
    strongest = np.argsort(-np.abs(active), axis=1)[:, :STRONGEST]
    effect_map(
        lab,
        "neurons",
        rows,
        Axis.counted(word("axis_rank"), strongest.shape[1]),
        [
            [Edit(f"layers.{layer}.ffn.activation", way, neuron=int(neuron)) for neuron in line]
            for layer, line in zip(keys, strongest, strict=True)
        ],
        lambda layer, rank: word("where_neuron", layer=layer + 1, neuron=int(strongest[layer, rank]) + 1),
        lambda layer, rank: {"layer": layer, "neuron": int(strongest[layer, rank])},
    )


def output_changes(lab: Experiment, name: str) -> dict[str, Edit]:
    """The output of a sub-layer off, or at its mean: by its label, the change in the first layer.

    name: "attention" or "ffn".
    """
    return {
        word(f"do_{kind}_{name}"): Edit(sublayer.output, operation)
        for kind, operation in (("off", "zero"), ("mean", "mean"))
        for sublayer in lab.screen.run.graph.sublayers(0)
        if sublayer.name == name
    }


def in_each_layer(lab: Experiment, name: str, changes: dict[str, Edit]) -> None:
    """The map of changes that can be made in each layer, or in all at once; `changes` as `output_changes` has them."""
    layers, keys = layer_axis(lab, together=True)
    names = [*changes]
    effect_map(
        lab,
        name,
        Axis("", names),
        layers,
        [
            [replace(edit, key=edit.key.replace("layers.0.", f"layers.{layer}.")) for layer in keys]
            for edit in changes.values()
        ],
        lambda row, column: word("where_layer", what=names[row], layer=layer_named(keys[column])),
    )


def feed_forward(lab: Experiment) -> None:
    """The whole FFN of a layer, or of all."""
    in_each_layer(lab, "sublayer", output_changes(lab, "ffn"))


def inside_attention(lab: Experiment) -> None:
    """Other attention weights, or none, in one layer or in all; or a single pair that may not meet."""
    if way_of(lab, ("ways", "pair")) == "pair":
        pairs(lab)
        return
    graph = lab.screen.run.graph
    possible = {word(f"do_{e.operation}"): e for e in INSIDE if e.operation in operations_at(graph, e.key)}
    in_each_layer(lab, "inside", output_changes(lab, "attention") | possible)


def pairs(lab: Experiment) -> None:
    """Every key hidden from the selected query."""
    layers, keys = layer_axis(lab, together=True)
    which_token(lab.screen)
    tokens, token, told = lab.screen.run.tokens, lab.screen.at.token, placed(lab.screen.run.tokens)
    pair = [word("do_hide", token=told[token], other=other) for other in told]
    effect_map(
        lab,
        "pairs",
        layers,
        Axis(plain("axis.key"), tokens),
        [
            [Edit(f"layers.{layer}.attention.masked", "hide", token=token, looked_at=i) for i in range(len(tokens))]
            for layer in keys
        ],
        lambda layer, key: f"{layer_named(keys[layer])}: {pair[key]}",
        lambda layer, key: {"key": key},
    )


def residuals(lab: Experiment) -> None:
    """A sub-layer without its residual, without its LayerNorm."""
    changes = {
        word(f"do_{operation}_{sublayer.name}"): Edit(key, operation)
        for sublayer in lab.screen.run.graph.sublayers(0)
        for operation, key in (("without", sublayer.sum), ("bypass", sublayer.norm))
        if key is not None
    }
    in_each_layer(lab, "residuals", changes)


def positions(lab: Experiment) -> None:
    """Without positions, with those of other places, or with waves in place of learned ones; without distances."""
    graph, config = lab.screen.run.graph, lab.screen.run.config
    if config.positions == "rotary":
        edits = list(without_positions(graph))
    else:
        edits = [e for e in POSITIONS if e.operation in operations_at(graph, e.key)]
        edits = [e for e in edits if config.positions == "learned" or e.operation != "sinusoidal"]
    places = [edit.key.rpartition(".")[2] for edit in edits]
    names = [
        word(f"positions_{edit.operation if place == 'positions' else place}", value=f"{edit.value or 0:g}")
        for place, edit in zip(places, edits, strict=True)
    ]
    effect_map(lab, "positions", Axis("", names), Axis("", [" "]), [[e] for e in edits], lambda kind, _: names[kind])


def tokens(lab: Experiment) -> None:
    """A token taken away, or its vector off before each layer."""
    names, told, config = lab.screen.run.tokens, placed(lab.screen.run.tokens), lab.screen.run.config
    if len(names) == 1 or way_of(lab, ("remove", "zero")) == "zero":
        each_vector(lab)
        return
    said = [text("about_remove"), *([] if lab.vector else [text("about_read")])]
    way = lab.vector and lab.vector.way
    if config.pooling == "mean" or config.patch_head or (way and way.pooling == "mean"):
        said.append(text("read_still_counted"))
    st.caption(joined(" ".join(said)))
    effect_map(
        lab,
        "remove",
        Axis("", [" "]),
        Axis(plain("axis.token"), names),
        [[removed(lab, token) for token in range(len(names))]],
        lambda _, token: word("where_remove", other=told[token]),
        over=None if lab.screen.run.picture is None else partial(over_picture, lab),
    )


def each_vector(lab: Experiment) -> None:
    """The vector of each token off before each layer."""
    graph, told = lab.screen.run.graph, placed(lab.screen.run.tokens)
    effect_map(
        lab,
        "tokens",
        Axis.counted(word("axis_before_layer"), graph.layers()),
        Axis(plain("axis.token"), lab.screen.run.tokens),
        [
            [Edit(graph.stream(layer)[0], "zero", token=token) for token in range(len(told))]
            for layer in range(graph.layers())
        ],
        lambda row, token: word("where_before", token=told[token], layer=row + 1),
    )


def removed(lab: Experiment, token: int) -> Edit | None:
    """Without that token; where the answer is read, a token has to stay."""
    read_there = (token == lab.place and not lab.vector) or token in lab.screen.run.config.read_alone
    return None if read_there else Edit(lab.screen.run.graph.embedded, "remove", token=token)


def over_picture(lab: Experiment, values: np.ndarray, on: Sequence[tuple[int, int]]) -> Over:
    """The picture as it is now; over it, how much each patch matters, and which token a click meets."""
    config = lab.screen.run.config
    side, front = config.patches_per_side, config.tokens_in_front
    picture, size = (
        as_changed(lab.screen.seen, lab.screen.choice.edits, config.patch_size, front),
        np.nan_to_num(np.abs(values[0])),
    )
    look = {"front": front, "limit": limit(lab, values)}
    figure = over_drawing(picture, size, lab.screen.run.tokens, lab.screen.at.token, word("axis_size"), **look)
    cross = {"text": "×", "showarrow": False, "font": {"size": 24, "color": "#ffffff"}}
    figure.layout["annotations"] = [
        cross | {"x": (token - front) % side, "y": (token - front) // side} for _, token in on if token >= front
    ]
    return figure, lambda row, column: (0, token_at(row, column, side, front))


def as_changed(picture: np.ndarray, edits: Sequence[Edit], size: int, front: int = 1) -> np.ndarray:
    """The picture with removed patches blank, and swapped ones in each other's places. front: tokens before them."""
    picture, side = picture.copy(), len(picture) // size

    def pixels(token: int) -> tuple[slice, slice]:
        row, column = divmod(token - front, side)
        return slice(row * size, (row + 1) * size), slice(column * size, (column + 1) * size)

    for edit in edits:
        one, other = edit.token or 0, edit.from_token or 0
        if edit.key == "embedding.sum" and edit.operation == "remove" and one >= front:
            picture[pixels(one)] = 0
        elif edit.key == "embedding.tokens" and edit.operation == "swap" and min(one, other) >= front:
            here, there = pixels(one), pixels(other)
            picture[here], picture[there] = picture[there].copy(), picture[here].copy()
    return picture
