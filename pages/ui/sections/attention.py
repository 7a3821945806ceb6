"""Scaled dot-product attention, one step at a time: of an encoder, or of a decoder's self- and cross-attention."""

import numpy as np
import pandas as pd
import streamlit as st

from pages.ui.figures import Axis, attention_lines, bars, over_drawing
from pages.ui.link import select
from pages.ui.pickers import either
from pages.ui.sections.cell_map import axes, cell_map, chosen_cell
from pages.ui.sections.working import working
from pages.ui.text import plain, t
from pages.ui.view import View

#: The quantities in order of computation: match, ÷ √d_k, mask, softmax, × V.
STEPS = ("scores", "scaled", "masked", "weights", "heads")
SPECIAL = ("[CLS]", "[SEP]")
SECONDS = 2.0  # that a step stays on the screen while they are played


def stepper(view: View) -> str:
    """A row of buttons for the five steps, with one that plays them; returns the step on the screen."""
    step = view.choice.stage if view.choice.stage in STEPS else "weights"
    playing = st.session_state.setdefault("attention.playing", False)

    def play() -> None:
        st.session_state["attention.playing"] = not playing
        if not playing:
            select(stage=STEPS[0])

    with st.container(horizontal=True, vertical_alignment="bottom"):
        words = [plain(f"attention.step_{name}") for name in STEPS]
        either("stage", plain("attention.steps"), STEPS, words, step, label_visibility="collapsed")
        icon = ":material/stop:" if playing else ":material/play_arrow:"
        st.button(
            plain("attention.stop" if playing else "attention.play"), icon=icon, key="attention.play", on_click=play
        )
    if playing:
        _clock(step)
    return step


@st.fragment(run_every=SECONDS)
def _clock(step: str) -> None:
    """Goes on to the next step each time that it is run again by itself; after the last one it stops."""
    if st.session_state.get("attention.shown_step") != step:
        st.session_state["attention.shown_step"] = step  # this step has just come on the screen
        return
    following = STEPS[STEPS.index(step) + 1] if step != STEPS[-1] else None
    if following:
        select(stage=following)
    else:
        st.session_state["attention.playing"] = False
    st.rerun()


def attention_step(view: View, prefix: str, step: str) -> None:
    """One step as a picture, with the arithmetic of the chosen cell. prefix: "layers.2.attention." and the like."""
    key = prefix + step
    if step == "weights":
        _weights(view, key)
        return
    rows = columns = None
    if step != "heads":
        rows, columns = shown_places(view, key)
    cell_map(view, key, sentence(view, prefix, step), rows=rows, columns=columns, title=plain(f"attention.{step}"))


def shown_places(view: View, key: str) -> tuple[list[int], list[int]]:
    """The queries and the keys that are shown: all, or all but [CLS] and [SEP]."""
    return tuple(
        [i for i, token in enumerate(names) if not (view.choice.hide_special and token in SPECIAL)] or [0]
        for names in view.trace.names(key)[-2:]
    )


def sentence(view: View, prefix: str, step: str) -> str:
    """What the picture of a step says, in words."""
    values = view.shown(prefix + step)
    queries, keys = view.trace.names(prefix + "weights")[-2:]
    row, column = np.unravel_index(np.where(np.isfinite(values), values, -np.inf).argmax(), values.shape)
    said = {"value": f"{values[row, column]:.2f}".replace("-", "−")}
    match step:
        case "scores":
            return t("attention.read_scores", query=queries[row], key=keys[column], **said)
        case "scaled":
            d_k = view.trace.config.d_k
            return t("attention.read_scaled", d_k=d_k, root=f"{d_k**0.5:.3f}", **said)
        case "masked":
            hidden = int(np.isinf(values).sum())
            return t("attention.read_masked" if hidden else "attention.read_unmasked", hidden=hidden, cells=values.size)
        case _:
            weights = view.shown(prefix + "weights")[view.token]
            best = int(weights.argmax())
            said = {"query": queries[view.token], "key": keys[best], "value": f"{weights[best]:.0%}"}
            return t("attention.read_heads", **said)


def looks_most(view: View, key: str) -> str:
    """ "‘it’ looks most at ‘animal’: 0.66", and where its row goes if [CLS] and [SEP] are not shown."""
    queries, keys = view.trace.names(key)[-2:]
    row = view.shown(key)[view.token]
    _, shown = shown_places(view, key)
    best = max(shown, key=lambda place: row[place])
    said = t(
        "attention.read_weights",
        where=view.where(),
        query=queries[view.token],
        key=keys[best],
        value=f"{row[best]:.2f}",
    )
    rest = 1 - float(row[shown].sum())
    return f"{said} {t('attention.rows_short', rest=f'{rest:.0%}')}" if len(shown) < len(keys) else said


def _weights(view: View, key: str) -> None:
    """The weights as a map, as the selected token's row (of a drawing: laid over it), or as lines."""
    rows, columns = shown_places(view, key)
    ways = ("row", "map") if view.trace.picture is not None else ("map", "row", "lines")
    way = view.choice.as_ if view.choice.as_ in ways and len(view.trace.tokens) > 1 else ways[0]
    said = looks_most(view, key)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        either("as_", plain("attention.weights_as"), ways, [plain(f"attention.as_{name}") for name in ways], way)
        if view.trace.picture is None:
            hide = st.toggle(plain("attention.hide_special"), value=view.choice.hide_special, key="attention.hide")
            if hide != view.choice.hide_special:
                select(hide_special=hide)
                st.rerun()
    if way == "map":
        cell_map(view, key, said, rows=rows, columns=columns)
        return
    cell = chosen_cell(view, key)
    if view.story:
        weights_picture(view, key, way, said)
        return
    left, right = view.columns([3, 2], gap="medium")
    with left:
        weights_picture(view, key, way, said)
    with right:
        working(view, key, cell)


def weights_picture(view: View, key: str, way: str, said: str) -> None:
    """The selected token's row as bars, or laid over the drawing; or all rows as lines. A click chooses."""
    rows, columns = shown_places(view, key)
    looks, looked_at = axes(view, key)
    weights = view.shown(key)
    table = pd.DataFrame(weights, index=looks.labels, columns=looked_at.labels)
    looked_at = Axis(looked_at.title, [looked_at.labels[i] for i in columns])
    if view.trace.picture is not None and way == "row" and view.trace.patches.shape[0] > 1:
        picture, side = view.trace.picture, view.trace.config.patches_per_side
        drawn = over_drawing(
            picture,
            weights[view.token],
            view.trace.tokens,
            view.token,
            plain("attention.weight"),
            font_size=view.font_size,
        )
        view.picture(
            "weights", drawn, said, table=table, on_pick=lambda r, c: select(token=0 if c < 0 else 1 + r * side + c)
        )
    elif way == "lines":
        looks = Axis(looks.title, [looks.labels[i] for i in rows])
        part = weights[np.ix_(rows, columns)]
        lit = rows.index(view.token) if view.token in rows else None
        drawn = attention_lines(part, looks, looked_at, lit, view.mode, view.font_size)
        view.picture("weights", drawn, said, values=weights, table=table)
    else:
        drawn = bars(weights[view.token, columns], looked_at, plain("attention.weight"), font_size=view.font_size)
        view.picture(
            "weights", drawn, said, values=weights, table=table, on_pick=lambda place, _: select(key=columns[place])
        )
