"""The laboratory: change anything inside, and see what it does to the answer."""

import numpy as np
import pandas as pd
import streamlit as st

from model import Edit
from model.analysis import cosine_similarity
from model.changes import bind
from model.edits import EditError
from model.sweep import align, effects
from pages.ui import session
from pages.ui.changes_bar import toggled
from pages.ui.figures import Axis, heatmap, lines, scatter
from pages.ui.link import select
from pages.ui.sections.hidden_words import (
    clickable_words,
    guess_in_words,
    guesses,
    output_names,
    place_to_show,
    probabilities,
)
from pages.ui.text import plain, t
from pages.ui.view import View

HEADS = "layers.{}.attention.heads"
INSIDE = (
    ("unscaled", "scaled", 0.0),
    ("temperature", "scaled", 0.3),
    ("temperature", "scaled", 3.0),
    ("hard", "weights", 0.0),
    ("even", "weights", 0.0),
    ("causal", "masked", 0.0),
    ("window", "masked", 1.0),
    ("special", "masked", 0.0),
)


def text(name: str, **values: object) -> str:
    return t(f"what_if.{name}", **values)


def word(name: str, **values: object) -> str:
    return plain(f"what_if.{name}", **values)


def signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


# -- the answer, before and after --------------------------------------------------------------------------------


def answer() -> None:
    """The guesses now, with where each was before, and one number: how far the first word leads the second."""
    columns = view.columns([3, 2], gap="medium")
    with columns[0]:
        guesses(view, "guesses", guess_in_words(view, place, truth), place, truth, most=5 if words else 10)
    with columns[1]:
        ranked = np.argsort(-probabilities(view.original, place))[:2]
        st.markdown(text("number", of=names[ranked[0]], against=names[ranked[1]]))
        before, now = (lead(run) for run in (view.original, view.trace))
        st.metric(word("lead"), signed(now), signed(now - before) if view.trace.edits else None)
        for edit, why in view.trace.idle.items():
            st.caption(text("idle", what=word(f"idle_{why}"), where=edit.key))


def lead(run) -> float:
    """By how much the logit of the likeliest answer of the unchanged run leads that of the second."""
    logits = run["logits"] if run["logits"].ndim == 1 else run["logits"][place]
    return float(logits[first] - logits[second])


# -- heads -------------------------------------------------------------------------------------------------------


@st.cache_data(max_entries=64, show_spinner=False)
def head_effects(name: str, subject: object, layers: int, heads: int, of: int, against: int, place: int) -> np.ndarray:
    """What switching off each head alone does to the lead: (layer, head)."""
    off = [[Edit(HEADS.format(layer), "zero", head=head)] for layer in range(layers) for head in range(heads)]
    return effects(session.pipeline(name), subject, off, of, against, place).change.reshape(layers, heads)


def switch_heads() -> None:
    """Every head as a cell: what switching it off does; a click switches it off, another on."""
    layers, heads = view.trace.graph.layers(), view.trace.config.heads
    change = head_effects(view.choice.pipeline, subject, layers, heads, first, second, place)
    off = {
        (layer, head) for layer in range(layers) for head in range(heads) if switch(layer, head) in view.choice.edits
    }
    rows, columns = (
        Axis(word(f"axis_{name}"), [str(i + 1) for i in range(n)]) for name, n in (("layer", layers), ("head", heads))
    )
    chosen = (view.choice.layer, view.choice.head)
    strongest = np.unravel_index(np.abs(change).argmax(), change.shape)
    left, right = view.columns([3, 2], gap="medium")
    with left:
        picture = heatmap(change, rows, columns, cell=chosen, clickable=True, square=False, font_size=view.font_size)
        crosses = [
            {"x": head, "y": layer, "text": "×", "showarrow": False, "font": {"size": 26}} for layer, head in off
        ]
        picture.update_layout(annotations=crosses)
        view.picture(
            "heads",
            picture,
            text(
                "read_heads",
                where=plain("common.where", layer=int(strongest[0]) + 1, head=int(strongest[1]) + 1),
                value=signed(change[strongest]),
            ),
            values=change,
            on_pick=lambda layer, head: select(layer=layer, head=head, edits=toggled(view.choice, switch(layer, head))),
        )
    with right:
        spread(change, chosen)


def switch(layer: int, head: int) -> Edit:
    return Edit(HEADS.format(layer), "zero", head=head)


def spread(change: np.ndarray, chosen: tuple[int, int]) -> None:
    """Is that much? The chosen head's effect among those of all the others."""
    values, lit = change.ravel(), int(np.ravel_multi_index(chosen, change.shape))
    layers = np.repeat(np.arange(len(change)), change.shape[1])
    larger = int((np.abs(values) > abs(values[lit])).sum())
    hover = [f"{layer + 1}·{head + 1}: {signed(value)}" for (layer, head), value in np.ndenumerate(change)]
    view.picture(
        "spread",
        scatter(
            values,
            layers.astype(np.float32) + 1,
            (word("axis_effect"), word("axis_layer")),
            layers,
            Axis(word("axis_layer"), [str(i + 1) for i in range(len(change))]),
            hover,
            chosen=lit,
            font_size=view.font_size,
            height=320,
        ),
        text("read_spread", where=view.where(), value=signed(values[lit]), larger=larger, all=len(values) - 1),
        table=pd.DataFrame({"effect": values}, index=hover),
    )


# -- inside attention, positions, residuals ----------------------------------------------------------------------


def buttons(offered: list[tuple[str, Edit]]) -> None:
    """A row of switches, each for one change."""
    with st.container(horizontal=True):
        for label, edit in offered:
            on = edit in view.choice.edits
            icon = ":material/check:" if on else None
            kind = "primary" if on else "secondary"
            edits = toggled(view.choice, edit)
            look = {"icon": icon, "type": kind, "on_click": select, "kwargs": {"edits": edits}}
            st.button(label, key=f"what_if.{edit.key}.{edit.operation}.{edit.value:g}.{edit.token}", **look)


def scope() -> str:
    """Where a change is made: in the chosen layer, or in all of them."""
    chosen = "all" if view.choice.every_layer else "layer"
    words = [plain("change.layer", number=view.choice.layer + 1), plain("change.all_layers")]
    st.session_state["what_if.scope"] = chosen
    st.segmented_control(
        word("scope"),
        ("layer", "all"),
        format_func=dict(zip(("layer", "all"), words, strict=True)).get,
        key="what_if.scope",
        required=True,
        on_change=lambda: select(every_layer=st.session_state["what_if.scope"] == "all"),
    )
    return "layers.{l}." if chosen == "all" else f"layers.{view.choice.layer}."


def inside_attention() -> None:
    here = scope()
    st.markdown(text("inside"))
    buttons(
        [
            (word(f"do_{operation}", value=f"{value:g}"), Edit(f"{here}attention.{name}", operation, value))
            for operation, name, value in INSIDE
        ]
    )
    token, key = view.token, 0 if view.choice.key is None else view.choice.key
    pair = Edit(f"{here}attention.masked", "hide", token=token, looked_at=key)
    buttons([(word("do_hide", token=tokens[token], other=tokens[key]), pair)])
    st.caption(text("inside_look"))


def places() -> None:
    """Positions gone, shuffled or shifted; tokens removed or swapped."""
    st.markdown(text("positions"))
    positions = "embedding.positions"
    offered = [("zero", Edit(positions, "zero")), ("shift", Edit(positions, "shift", 3.0))]
    if fits(Edit(positions, "shuffle", seed=1)):
        offered.insert(1, ("shuffle", Edit(positions, "shuffle", seed=1)))
    buttons([(word(f"positions_{name}"), edit) for name, edit in offered])
    st.markdown(text("tokens"))
    token = view.token
    offered = [(word("remove", token=tokens[token]), Edit("embedding.sum", "remove", token=token))]
    other = (token + 1) % len(tokens) if view.choice.key is None else view.choice.key
    if other != token:
        swap = Edit("embedding.tokens", "swap", token=token, from_token=other)
        offered.append((word("swap", token=tokens[token], other=tokens[other]), swap))
    buttons([(label, edit) for label, edit in offered if fits(edit)])


def fits(edit: Edit) -> bool:
    """Whether this run can be changed in this way."""
    try:
        session.run(view.choice.pipeline, subject, (edit,))
    except EditError:
        return False
    return True


def residuals() -> None:
    """Residual sums and LayerNorms off, sub-layers off: what keeps the tokens from becoming all alike."""
    here = scope()
    st.markdown(text("residuals"))
    sublayers = view.trace.graph.sublayers(view.choice.layer)
    offered = []
    for sublayer in sublayers:
        for kind, key, operation in (
            ("without", sublayer.sum, "without"),
            ("bypass", sublayer.norm, "bypass"),
            ("off", sublayer.output, "zero"),
        ):
            name = key.split(".", 2)[2]
            offered.append((word(f"do_{kind}_{sublayer.name}"), Edit(here + name, operation)))
    buttons(offered)
    columns = view.columns([1, 1])
    with columns[0]:
        alike()


def alike() -> None:
    """How alike the tokens are after each layer: before and after the changes."""
    pairs = ~np.eye(len(tokens), dtype=bool)
    runs = {"before": view.original, "now": view.trace} if view.trace.edits else {"before": view.original}
    means = {name: np.array([c[pairs].mean() for c in cosine_similarity(run.states())]) for name, run in runs.items()}
    numbered = Axis(word("axis_layer"), [str(i) for i in range(len(means["before"]))])
    words = [word(f"line_{name}") for name in means]
    ends = {name: f"{values[-1]:.2f}".replace("-", "−") for name, values in means.items()}
    view.picture(
        "alike",
        lines(np.stack([*means.values()]), words, numbered, word("axis_alike"), font_size=view.font_size, height=320),
        text("read_alike_changed" if view.trace.edits else "read_alike", **ends),
        table=pd.DataFrame(dict(zip(words, means.values(), strict=True))),
    )


# -- patching ----------------------------------------------------------------------------------------------------


@st.cache_data(max_entries=32, show_spinner=False)
def patch_effects(
    name: str,
    subject: object,
    other: str,
    keys: tuple[str, ...],
    pairs: tuple[tuple[int, int], ...],
    of: int,
    against: int,
    place: int,
) -> np.ndarray:
    """What putting in another run's vectors does to the lead: (quantity, pair of tokens)."""
    patches = [[Edit(key, "patch", token=one, from_token=two, source=other)] for key in keys for one, two in pairs]
    return effects(session.pipeline(name), subject, patches, of, against, place).change.reshape(len(keys), len(pairs))


def patching() -> None:
    """The whole map: each layer's vectors, token by token, taken from the run of another sentence."""
    st.session_state["what_if.other"] = view.choice.other or ""
    st.text_input(
        word("other"),
        key="what_if.other",
        max_chars=400,
        placeholder=word("other_hint"),
        on_change=lambda: select(other=st.session_state["what_if.other"] or None),
    )
    if not view.choice.other:
        st.info(text("other_missing"), icon=":material/compare_arrows:")
        return
    there = session.pipeline(view.choice.pipeline).reader.read(view.choice.other)
    pairs = tuple((pair.one, pair.other) for pair in align(tokens, there.tokens) if None not in (pair.one, pair.other))
    keys = tuple(dict.fromkeys(view.trace.graph.stream(layer)[0] for layer in range(view.trace.graph.layers())))
    change = patch_effects(view.choice.pipeline, subject, view.choice.other, keys, pairs, first, second, place)
    names_here = [
        tokens[one] if tokens[one] == there.tokens[two] else f"{tokens[one]} ← {there.tokens[two]}"
        for one, two in pairs
    ]
    strongest = np.unravel_index(np.abs(change).argmax(), change.shape)
    rows = Axis(word("axis_before_layer"), [str(i + 1) for i in range(len(keys))])

    def patch(row: int, column: int) -> None:
        one, two = pairs[column]
        edit = Edit(keys[row], "patch", token=one, from_token=two, source=view.choice.other)
        select(edits=toggled(view.choice, edit))

    view.picture(
        "patching",
        heatmap(
            change, rows, Axis(plain("axis.token"), names_here), clickable=True, square=False, font_size=view.font_size
        ),
        text(
            "read_patching",
            layer=int(strongest[0]) + 1,
            token=names_here[strongest[1]],
            value=signed(change[strongest]),
        ),
        values=change,
        on_pick=patch,
    )


view = View("what_if")
if "logits" not in view.trace:
    st.info(t("untrained.no_answer"), icon=":material/lightbulb:")
    view.close()
    st.stop()
words = view.trace.picture is None
hidden = clickable_words(view) if words else {}
place = place_to_show(view, hidden) if words else 0
truth = hidden.get(place)
tokens, names = view.trace.tokens, output_names(view)
subject = tuple(view.trace.ids) or view.choice.subject
first, second = (int(i) for i in np.argsort(-probabilities(view.original, place))[:2])
answer()
if view.story:
    switch_heads()
    view.tell(text("story"))
else:
    panels = ["heads", "inside", "places", "residuals", *["patching"] * words]
    match view.panel(*panels):
        case "heads":
            switch_heads()
        case "inside":
            inside_attention()
        case "places":
            places()
        case "residuals":
            residuals()
        case "patching":
            patching()
view.close(Edit, bind, effects)
