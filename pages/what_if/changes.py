"""What can be changed within a run, room by room: a map of effects each, in which a click makes the change."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from model import Edit
from model.analysis import mean_likeness, placed
from model.edits import operations_at
from model.order import without_positions
from pages.ui.figures import Axis, lines, over_drawing, token_at
from pages.ui.frame.changes_bar import toggled
from pages.ui.frame.pickers import bound, either
from pages.ui.state.link import select
from pages.ui.state.link_values import MOST_AMOUNT
from pages.ui.text import plain
from pages.ui.view import View
from pages.what_if.experiment import (
    Experiment,
    Where,
    effect_map,
    hardly,
    limit,
    say_unlikely,
    standing,
    text,
    titled,
    which_token,
    word,
)

INSIDE = (
    ("unscaled", "scaled", 0.0),
    *(("temperature", at, value) for at in ("scaled", "biased") for value in (0.3, 3.0)),  # where the mask reads it
    ("hard", "weights", 0.0),
    ("even", "weights", 0.0),
    ("causal", "masked", 0.0),
    ("window", "masked", 1.0),
    ("special", "masked", 0.0),
)
POSITIONS = (
    Edit("embedding.positions", "zero"),
    Edit("embedding.positions", "shuffle", seed=1),
    Edit("embedding.positions", "shuffle", seed=2),
    Edit("embedding.positions", "shift", value=1.0),
    Edit("embedding.positions", "shift", value=3.0),
    Edit("embedding.positions", "shift", value=10.0),
    Edit("embedding.positions", "sinusoidal"),
    Edit("layers.{l}.attention.relative", "zero"),
    Edit("layers.{l}.attention.content_to_position", "zero"),
    Edit("layers.{l}.attention.position_to_content", "zero"),
)
#: How a number is held: off, multiplied, at a value, at its mean over a small corpus. The middle two need a value.
HELD = ("zero", "scale", "set", "mean")
USUAL = {"scale": 2.0, "set": 1.0}
STRONGEST = 16  # neurons of each layer that are shown


def way_of(view: View, ways: Sequence[str]) -> str:
    """A row of buttons for how something is changed."""
    words = [word(f"way_{name}") for name in ways]
    return either("stage", word("way"), ways, words, view.choice.stage, label_visibility="collapsed")


def amount(view: View, way: str) -> float:
    """By how much, or at which value, where the way asks for it."""
    if way not in USUAL:
        return 0.0
    chosen = USUAL[way] if view.choice.amount is None else view.choice.amount
    look = bound(f"what_if.{way}", chosen, lambda value: select(amount=value))
    look |= {"min_value": -MOST_AMOUNT, "max_value": MOST_AMOUNT, "step": 0.5, "width": 140}
    st.number_input(word(f"way_{way}"), **look)
    return chosen


def held(view: View, ways: Sequence[str] = HELD) -> tuple[str, float]:
    """How something is held, and at what: buttons, and a box where it takes a number."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        way = way_of(view, ways)
        return way, amount(view, way)


def layer_axis(lab: Experiment, together: bool = False) -> tuple[Axis, list[str]]:
    """The layers, each by itself, and perhaps all at once; and what stands for each in a key."""
    layers = range(lab.view.trace.graph.layers())
    names, keys = [str(layer + 1) for layer in layers], [str(layer) for layer in layers]
    if together and len(keys) > 1:
        names, keys = [*names, word("all")], [*keys, "{l}"]
    return Axis(word("axis_layer"), names), keys


def layer_named(key: str) -> str:
    return plain("change.all_layers") if key == "{l}" else plain("change.layer", number=int(key) + 1)


def of_layer(names: Sequence[str], keys: Sequence[str]) -> Where:
    """ "no attention, layer 3": a row by its name, a column by its layer."""
    return lambda row, column: word("where_layer", what=names[row], layer=layer_named(keys[column]))


def heads(lab: Experiment) -> None:
    """Every head: off, at its mean over a small corpus, or as it was for the other input."""
    view = lab.view
    ways = ["zero", "mean", *["patch"] * (view.other_input is not None)]
    way = way_of(view, ways)
    more: dict[str, object] = {}
    if way == "patch" and view.other is not None:
        more["source"] = view.choice.other_subject
        if len(view.other.tokens) != len(view.trace.tokens):
            token = placed(view.trace.tokens)[lab.place]
            paired = next((pair.other for pair in view.pairs if pair.one == lab.place), None)
            if paired is None:
                st.info(text("no_pair", token=token), icon=":material/link_off:")
                return
            more |= {"token": lab.place, "from_token": paired}
            st.caption(text("one_token", token=token))
    rows, keys = layer_axis(lab)
    count = view.trace.config.heads
    effect_map(
        lab,
        "heads",
        rows,
        Axis.counted(word("axis_head"), count),
        [[Edit(f"layers.{layer}.attention.heads", way, head=head, **more) for head in range(count)] for layer in keys],
        lambda layer, head: plain("common.where", layer=layer + 1, head=head + 1),
        lambda layer, head: {"layer": layer, "head": head},
    )


def neurons(lab: Experiment) -> None:
    """The neurons that fire most at the place of the answer, layer by layer."""
    view = lab.view
    way, value = held(view)
    rows, keys = layer_axis(lab)
    active = view.original.over_layers("ffn.activation")[:, lab.place]  # (layer, neuron)
    strongest = np.argsort(-np.abs(active), axis=1)[:, :STRONGEST]
    effect_map(
        lab,
        "neurons",
        rows,
        Axis.counted(word("axis_rank"), strongest.shape[1]),
        [
            [Edit(f"layers.{layer}.ffn.activation", way, value, neuron=int(neuron)) for neuron in line]
            for layer, line in zip(keys, strongest, strict=True)
        ],
        lambda layer, rank: word("where_neuron", layer=layer + 1, neuron=int(strongest[layer, rank]) + 1),
        lambda layer, rank: {"layer": layer, "neuron": int(strongest[layer, rank])},
    )


def output_changes(lab: Experiment, name: str, value: float) -> dict[str, tuple[str, str, float]]:
    """A sub-layer's output off, times `value`, at its mean: for each label its key in layer 0, operation and value.

    name: "attention" or "ffn".
    """
    kinds = ("off", "zero", 0.0), ("scale", "scale", value), ("mean", "mean", 0.0)
    return {
        word(f"do_{kind}_{name}", value=f"{value:g}"): (sublayer.output, operation, much)
        for kind, operation, much in kinds
        for sublayer in lab.view.trace.graph.sublayers(0)
        if sublayer.name == name
    }


def in_each_layer(lab: Experiment, name: str, changes: dict[str, tuple[str, str, float]]) -> None:
    """The map of changes that can be made in each layer, or in all at once; `changes` as `output_changes` has them."""
    layers, keys = layer_axis(lab, together=True)
    rows = [
        [Edit(key.replace("layers.0.", f"layers.{layer}."), operation, value) for layer in keys]
        for key, operation, value in changes.values()
    ]
    effect_map(lab, name, Axis("", [*changes]), layers, rows, of_layer([*changes], keys))


def feed_forward(lab: Experiment) -> None:
    """The whole FFN of a layer, or of all: off, multiplied, at its mean."""
    in_each_layer(lab, "sublayer", output_changes(lab, "ffn", amount(lab.view, "scale")))


def inside_attention(lab: Experiment) -> None:
    """Other attention weights, or none, in one layer or in all; or a single pair that may not meet."""
    view, graph = lab.view, lab.view.trace.graph
    with st.container(horizontal=True, vertical_alignment="bottom"):
        way = way_of(view, ("ways", "pair"))
        value = amount(view, "scale") if way == "ways" else 0.0
    if way == "pair":
        layers, keys = layer_axis(lab, together=True)
        which_token(view)
        tokens, token, told = view.trace.tokens, view.token, placed(view.trace.tokens)
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
        return
    kinds = [kind for kind in INSIDE if kind[0] in operations_at(graph, f"layers.0.attention.{kind[1]}")]
    named = {"unscaled": "undivided"} if view.trace.config.distance_terms else {}  # there by another number than √d_k
    changes = output_changes(lab, "attention", value)
    for operation, at, much in kinds:
        name = word(f"do_{named.get(operation, operation)}", value=f"{much:g}")
        changes[name] = f"layers.0.attention.{at}", operation, much
    in_each_layer(lab, "inside", changes)
    st.caption(text("inside_look"))


def residuals(lab: Experiment) -> None:
    """A sub-layer without its residual, without its LayerNorm. And how alike the tokens become."""
    changes = {
        word(f"do_{operation}_{sublayer.name}"): (key, operation, 0.0)
        for sublayer in lab.view.trace.graph.sublayers(0)
        for operation, key in (("without", sublayer.sum), ("bypass", sublayer.norm))
        if key is not None
    }
    in_each_layer(lab, "residuals", changes)
    if len(lab.view.trace.tokens) > 1:
        alike(lab.view)


def alike(view: View) -> None:
    """How alike the tokens are after each layer: before and after the changes."""
    runs = {"before": view.original, "now": view.trace} if view.trace.edits else {"before": view.original}
    means = {name: mean_likeness(run.states()) for name, run in runs.items()}
    numbered = Axis(word("axis_layer"), [str(i) for i in range(len(means["before"]))])
    words = [word(f"line_{name}") for name in means]
    ends = {name: f"{values[-1]:.2f}" for name, values in means.items()}
    drawn, look = np.stack([*means.values()]), {"height": 260}
    figure = lines(drawn, words, numbered, word("axis_alike"), **look)
    said = text("read_alike_changed" if view.trace.edits else "read_alike", **ends)
    view.picture("alike", figure, said, still=True)


def positions(lab: Experiment) -> None:
    """Without positions, with those of other places, or with waves in place of learned ones; without distances."""
    graph, config = lab.view.trace.graph, lab.view.trace.config
    learned, turned = config.positions == "learned", config.positions == "rotary"
    if turned:
        whole = without_positions(graph)
        rows = [[edit] for edit in whole]
        names = [word(f"positions_{edit.key.rpartition('.')[2]}") for edit in whole]
    else:
        edits = [e for e in POSITIONS if e.operation in operations_at(graph, e.key)]
        edits = [e for e in edits if learned or e.operation != "sinusoidal"]
        named = {"relative": "distances"} | {term: term for term in config.distance_terms}
        kinds = [named.get(e.key.rpartition(".")[2], e.operation) for e in edits]
        pairs = zip(kinds, edits, strict=True)
        names = [word(f"positions_{kind}", seed=e.seed, value=f"{e.value:g}") for kind, e in pairs]
        rows = [[edit] for edit in edits]
    effect_map(lab, "positions", Axis("", names), Axis("", [" "]), rows, lambda kind, _: names[kind])
    if len(lab.view.trace.tokens) > 1:
        ways = "only_distances", "and_distances"
        words = "turned" if turned else ways[config.places_added] if config.buckets else "words" if learned else "about"
        words = "told_apart" if config.distance_terms else words
        what = "patches" if lab.view.trace.picture is not None else words
        st.caption(text(f"positions_{what}"))


def tokens(lab: Experiment) -> None:
    """A token taken away, or changed places with the selected one; or its vector held before each layer."""
    view = lab.view
    names, told, single = view.trace.tokens, placed(view.trace.tokens), len(view.trace.tokens) == 1
    way, value = held(view, HELD if single else ("remove", "swap", *HELD))
    everywhere = range(len(names))
    if way in ("remove", "swap"):
        if way == "swap":
            which_token(view)
        counted = " " + text("read_still_counted") if way == "remove" and view.trace.config.pooling == "mean" else ""
        st.caption(text(f"about_{way}", token=told[view.token]) + counted)
        change = removed if way == "remove" else swapped
        edits = [change(lab, token) for token in everywhere]
        if view.trace.picture is not None:
            patches(lab, way, edits)
            return
        label = [word(f"where_{way}", token=told[view.token], other=name) for name in told]
        effect_map(lab, way, Axis("", [" "]), Axis(plain("axis.token"), names), [edits], lambda _, token: label[token])
        return
    graph = view.trace.graph
    keys = list(dict.fromkeys([*(graph.stream(layer)[0] for layer in range(graph.layers())), graph.Z]))
    layers = [str(layer + 1) for layer in range(graph.layers())]
    rows = Axis(word("axis_before_layer"), [*layers, word("end")][: len(keys)])
    effect_map(
        lab,
        "tokens",
        rows,
        Axis(plain("axis.token"), names),
        [[Edit(key, way, value, token=token) for token in everywhere] for key in keys],
        lambda row, token: (
            word("where_before", token=told[token], layer=row + 1)
            if row < graph.layers()
            else word("where_end", token=told[token])
        ),
    )


def removed(lab: Experiment, token: int) -> Edit | None:
    """Without that token; where the answer is read, a token has to stay."""
    read_there = token == lab.place or token in lab.view.trace.config.read_alone
    return None if read_there else Edit(lab.view.trace.graph.embedded, "remove", token=token)


def swapped(lab: Experiment, token: int) -> Edit | None:
    """That token and the selected one in each other's places."""
    selected = lab.view.token
    return None if token == selected else Edit("embedding.tokens", "swap", token=selected, from_token=token)


def patches(lab: Experiment, way: str, edits: Sequence[Edit | None]) -> None:
    """The picture as it is now; over it, how much each patch matters. A click takes the patch away, or moves it."""
    view, config, chosen = lab.view, lab.view.trace.config, lab.view.choice
    names, side, front = view.trace.tokens, config.patches_per_side, config.tokens_in_front
    values = np.full((1, len(names)), np.nan, np.float32)
    possible = {token: edit for token, edit in enumerate(edits) if edit is not None}
    waiting = lab.waits(list(possible.values()))
    if not waiting:
        values[0, list(possible)], rank = lab.changes(list(possible.values()))
    size = np.nan_to_num(np.abs(values[0]))
    strongest = int(size.argmax())
    on = [token for token, edit in possible.items() if edit in chosen.edits]
    label = [word(f"where_{way}", token=names[view.token], other=name) for name in names]

    def change(token: int) -> None:
        if token in possible:
            select(edits=toggled(possible[token]))

    picture = as_changed(view.seen, chosen.edits, config.patch_size, front)
    figure = over_drawing(picture, size, names, view.token, word("axis_size"), front=front, limit=limit(lab, values))
    cross = {"text": "×", "showarrow": False, "font": {"size": 24, "color": "#ffffff"}}
    figure.layout["annotations"] = [
        cross | {"x": (token - front) % side, "y": (token - front) // side} for token in on if token >= front
    ]
    effect = {"where": label[strongest], "value": lab.told(float(values[0, strongest]))}
    said = text("read_not_yet")
    if not waiting:
        said = text(f"read_{way}", **effect)
        said += standing(lab, values, [(0, token) for token in on], lambda _, token: label[token]) + hardly(lab, values)
    if config.patch_head and way == "remove":
        said += " " + text("read_still_counted")
    picked = {"on_pick": lambda row, column: change(token_at(row, column, side, front))}
    view.picture(way, figure, said, title=titled(lab, way), still=True, **picked)
    if not waiting:
        say_unlikely(lab, rank)


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
