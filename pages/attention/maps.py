"""Scaled dot-product attention: its weights, and each step to them, of an encoder or of a decoder's attentions."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from model.analysis import placed, softmax
from pages.attention.fillers import padding
from pages.attention.four_tokens import set_by_hand
from pages.attention.why_there import by_hand_or_why
from pages.ui.components.player import player
from pages.ui.figures import Axis, attention_lines, heatmap
from pages.ui.figures.equations import MEAN_WEIGHTS
from pages.ui.figures.theme import scaled
from pages.ui.frame.pickers import bound, either
from pages.ui.sections.at_once import lines_at_once
from pages.ui.sections.cell_map import axes, cell_map, chosen_cell, draw_map, field
from pages.ui.sections.overlay import every_weight, over_heads, over_layers, over_one, patch_pair
from pages.ui.sections.sentences import of_sentences, which_sentences
from pages.ui.state.link import select
from pages.ui.text import plain, t
from pages.ui.view import View

#: The quantities in order of computation: q · k, ÷ √d_k, mask, softmax, × V.
STEPS = ("scores", "scaled", "masked", "weights", "heads")
BY_DISTANCE = ("relative", "biased")  # in front of the mask, where a number for each distance is added
#: What the scores are the sum of, where words and distances are told apart.
TOLD_APART = ("content_to_content", "content_to_position", "position_to_content")
SPECIAL = ("[CLS]", "[SEP]")
SAME = 1e-4  # closer together, two weights read as one
EVEN = 1e-6  # closer together, all weights of a row are the same
SENTENCE = 64  # pixels that stay free below the map, for its reading sentence
SECONDS = 2.0  # that a step stays on the screen while they are played


def attention_map(view: View, prefix: str, controls: DeltaGenerator) -> None:
    """The weights as a map, as lines, or over the picture, with the arithmetic of the chosen cell.

    prefix: of the keys, "layers.2.attention." and the like. controls: where to draw what decides on the picture.
    """
    key = prefix + "weights"
    with controls:
        look = _look(view)
        _left_out(view, prefix)
        if look == "lines":
            _threshold(view)
        elif look == "map":
            _colour_range(view)
    if look == "map":
        attention_step(view, prefix, "weights", spare=SENTENCE, follows=False)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        (over_one if look == "picture" else lines)(view, key)
    with right:
        by_hand_or_why(view, key, chosen_cell(view, key))


def attention_steps(view: View, prefix: str) -> None:
    """The step in focus as a map, with the arithmetic of its chosen cell; the last one can be set by hand, too."""
    steps = steps_of(view, prefix)
    step = view.choice.stage if view.choice.stage in steps else steps[0]
    by_hand = False
    with st.container(horizontal=True, vertical_alignment="center"):
        stepper(step, steps)
        if step == "heads" and view.kind != "single":
            by_hand = _as(view, ("map", "try"), key="as_.heads") == "try"
        if not by_hand:
            _left_out(view, prefix)
            _colour_range(view)
    if by_hand:
        set_by_hand(view)
        return
    attention_step(view, prefix, step)
    if step == "masked" and view.kind == "words":
        about_masks(view, prefix)


def steps_of(view: View, prefix: str) -> tuple[str, ...]:
    """The steps of an attention, in order of computation."""
    before = STEPS.index("masked")
    steps = *TOLD_APART, *STEPS[:before], *BY_DISTANCE, *STEPS[before:]
    return tuple(step for step in steps if prefix + step in view.trace.graph)


def stepper(step: str, steps: tuple[str, ...]) -> None:
    """A row of buttons for the steps, and one that plays them."""
    parts = len({*steps} & {*TOLD_APART})
    named = {"scores": "sum", "scaled": "scaled_sum"} if parts else {}
    words = [plain(f"attention.step_{named.get(name, name)}", parts=parts) for name in steps]
    either("stage", plain("attention.steps"), steps, words, step, label_visibility="collapsed")
    player("attention", steps.index(step), len(steps), lambda number: select(stage=steps[number]), SECONDS)


def _look(view: View) -> str:
    """Buttons for how weights are drawn: a map or lines; over a drawing or a map."""
    if view.kind == "single":
        return "map"
    looks = ("picture", "map") if view.kind == "drawing" else ("map", "lines")
    return _as(view, looks)


def _as(view: View, looks: Sequence[str], **look: str) -> str:
    words = [plain(f"attention.as_{name}") for name in looks]
    label = plain("attention.weights_as")
    return either("as_", label, looks, words, view.choice.as_, label_visibility="collapsed", **look)


def _left_out(view: View, prefix: str) -> None:
    """What of the tokens is not shown: [CLS] and [SEP], or all but those of one sentence."""
    if _has_special(view, prefix):
        hide_switch(view)
    if prefix.startswith("layers."):
        which_sentences(view)


def about_masks(view: View, prefix: str) -> None:
    """That [MASK] is a word, and a mask is none; and the way to a mask that hides something."""
    tokens = view.trace.tokens
    if "[MASK]" in tokens:
        weights = view.trace[prefix + "weights"][view.choice.head]
        looked_at = weights[:, [place for place, token in enumerate(tokens) if token == "[MASK]"]].sum(axis=1)
        said = t("attention.mask_word_here", share=f"{looked_at.mean():.0%}")
    else:
        said = t("attention.mask_is_no_word")
    st.caption(f"{t('attention.mask_fills')} {said}" if prefix.startswith("layers.") else said)
    if prefix.startswith("layers."):
        padding(view)
    if view.trace.graph[prefix + "masked"].window is not None:
        return  # here is one
    view.way_to("translation", plain("attention.way_masks"), panel="inside", block="attention", stage="masked")


def _has_special(view: View, prefix: str) -> bool:
    """Whether there are special tokens to hide, and others."""
    _, names = queries_and_keys(view, prefix + "weights")
    return view.trace.picture is None and any(name in SPECIAL for name in names) and len(shown(view, names)) > 0


def hide_switch(view: View) -> None:
    """A switch that leaves [CLS] and [SEP] out; a picture has but the first."""
    look = bound(f"{view.name}.hide", view.choice.hide_special, lambda hidden: select(hide_special=hidden))
    label = plain("attention.hide_special" if view.trace.picture is None else "attention.hide_cls")
    st.toggle(label, width="content", **look)


def _threshold(view: View) -> None:
    look = bound("attention.least", view.choice.least, lambda least: select(least=least))
    look |= {"format": plain("attention.least_format"), "help": plain("attention.least")}
    st.slider(plain("attention.least"), 0, 50, label_visibility="collapsed", width=170, **look)


def _colour_range(view: View) -> None:
    with st.popover(plain("attention.range"), icon=":material/palette:", width="content"):
        ranges = ("head", "layer", "all")
        words = [plain(f"attention.range_{name}") for name in ranges]
        either("range", plain("attention.range"), ranges, words, view.choice.range)


def attention_step(view: View, prefix: str, step: str, **look: int) -> None:
    """One step as a map, and beside it the arithmetic of the chosen cell. look: as for `draw_map`."""
    key = prefix + step
    rows = columns = None
    if step != "heads":
        rows, columns = shown_places(view, key)
    said = attends_most(view, key) if step == "weights" else sentence(view, prefix, step)
    shown = {"rows": rows, "columns": columns}
    apart = step == "scores" and view.trace.config.distance_terms
    below = partial(products_beside, view, prefix, **shown) if apart else None
    cell_map(view, key, said, about=by_hand_or_why, below=below, title=plain(f"attention.{step}"), **shown, **look)
    if step == "scores" and view.kind == "drawing":
        patch_pair(view, *chosen_cell(view, key)[-2:])


def products_beside(view: View, prefix: str, rows: Sequence[int] | None, columns: Sequence[int] | None) -> None:
    """The matrices that add up to the scores, side by side in one range of colours. rows, columns: those shown."""
    keys = [prefix + term for term in TOLD_APART if prefix + term in view.trace.graph]
    strongest = max(view.measure(key).largest for key in keys) or None
    look = {"strongest": strongest, "rows": rows, "columns": columns, "height": scaled(260)}
    for place, key in zip(st.columns(len(keys)), keys, strict=True):
        name = key.removeprefix(prefix)
        with place:
            draw_map(view, key, sentence(view, prefix, name), title=plain(f"attention.{name}"), **look)


def queries_and_keys(view: View, key: str) -> tuple[list[str], list[str]]:
    """The tokens that look and those that are looked at, of scores or weights."""
    queries, keys = view.trace.names(key)[-2:]
    assert queries is not None and keys is not None  # both axes are of tokens
    return queries, keys


def shown(view: View, names: list[str]) -> list[int]:
    """The places of the tokens that are shown: all, or all but [CLS] and [SEP]."""
    return [place for place, name in enumerate(names) if not (view.choice.hide_special and name in SPECIAL)]


def shown_places(view: View, key: str) -> tuple[list[int], list[int]]:
    """The queries and the keys that are shown; all where nothing else would be left."""
    queries, keys = queries_and_keys(view, key)
    rows, columns = shown(view, queries) or list(range(len(queries))), shown(view, keys) or list(range(len(keys)))
    return of_sentences(view, rows, columns) if key.startswith("layers.") else (rows, columns)


def sentence(view: View, prefix: str, step: str) -> str:
    """What the picture of a step says, in words."""
    values = view.trace[prefix + step][view.choice.head]
    queries, keys = map(placed, queries_and_keys(view, prefix + "weights"))
    match step:
        case "content_to_content" | "content_to_position" | "position_to_content":
            if view.touched(prefix + step):
                return t("change.no_law")
            row, column = np.unravel_index(values.argmax(), values.shape)
            said = {"query": queries[row], "key": keys[column], "value": f"{values[row, column]:.2f}"}
            return t(f"attention.read_{step}", **said)
        case "scores" | "scaled":
            rows, columns = shown_places(view, prefix + "weights")
            part = values[np.ix_(rows, columns)]
            row, column = np.unravel_index(np.where(np.isfinite(part), part, -np.inf).argmax(), part.shape)
            d_k, value = view.trace.config.d_k, f"{part[row, column]:.2f}"
            terms = view.trace.config.distance_terms
            if step == "scores":
                told = "told_apart" if terms and not view.touched(prefix + step) else "scores"
                said = {"query": queries[rows[row]], "key": keys[columns[column]], "value": value}
                return t(f"attention.read_{told}", **said)
            root = (d_k * (1 + len(terms))) ** 0.5
            below = f"({1 + len(terms)} · {d_k})" if terms else d_k
            told = t("attention.read_scaled", d_k=below, root=f"{root:.3f}", value=value)
            undivided = view.trace[prefix + "scores"][view.choice.head]
            without, divided = (float(softmax(scores[rows[row]])[columns[column]]) for scores in (undivided, values))
            weight = float(view.trace[prefix + "weights"][view.choice.head, rows[row], columns[column]])
            if abs(weight - divided) > SAME:  # a mask, or a change, makes another weight of this score
                return told
            slopes = [f"{weight * (1 - weight):.2f}" for weight in (without, divided)]
            kind = "same" if slopes[0] == slopes[1] else "gained" if slopes[0] < slopes[1] else "lost"
            said = {"without": f"{without:.2f}", "divided": f"{divided:.2f}", "a": slopes[0], "b": slopes[1]}
            return f"{told} {t('attention.slope', **said)} {t(f'attention.slope_{kind}', **said)}"
        case "relative":
            if view.touched(prefix + "relative"):
                return t("change.no_law")
            said = {"query": queries[0], "key": keys[0], "zero": f"{values[0, 0]:.2f}"}
            if len(queries) == 1:
                return t("attention.read_distance_alone", **said)
            return t("attention.read_distance", **said, ahead=f"{values[0, 1]:.2f}", behind=f"{values[1, 0]:.2f}")
        case "biased":
            row, column = np.unravel_index(values.argmax(), values.shape)
            reads = view.trace.graph[prefix + step].reads
            summed = [view.trace[read][view.choice.head, row, column] for read in reads]
            said = {"query": queries[row], "key": keys[column], "value": f"{values[row, column]:.2f}"}
            return t("attention.read_biased", **said, scaled=f"{summed[0]:.2f}", added=f"{summed[1]:.2f}")
        case "masked":
            hidden = int(np.isinf(values).sum())
            if hidden and view.touched(prefix + "weights"):
                return t("change.no_law")
            window = view.trace.graph[prefix + "masked"].window
            if window is not None and not view.touched(prefix + "masked"):
                return t("attention.read_window", window=window, hidden=hidden, cells=values.size)
            kind = "cross" if ".cross." in prefix else "decoder" if prefix.startswith("decoder.") else "unmasked"
            unmasked = f"attention.read_{kind}"
            return t("attention.read_masked" if hidden else unmasked, hidden=hidden, cells=values.size)
        case _:
            token = view.place(prefix + "weights")
            weights = view.trace[prefix + "weights"][view.choice.head, token]
            best = int(weights.argmax())
            said = {"query": queries[token], "key": keys[best], "value": f"{weights[best]:.0%}"}
            return t("change.no_law") if view.touched(prefix + "weights") else t("attention.read_heads", **said)


def attends_most(view: View, key: str) -> str:
    """ "“it” attends most to “animal”: 0.66", and how much of its row goes to [CLS] and [SEP], or is not shown."""
    queries, keys = queries_and_keys(view, key)
    token = view.place(key)
    row = view.trace[key][view.choice.head, token]
    _, places = shown_places(view, key)
    best = max(places, key=lambda place: row[place])
    left_out = set(range(len(keys))) - set(places)
    words_left_out = any(keys[place] not in SPECIAL for place in left_out)
    weights = row[places]
    even = len(places) > 1 and float(weights.max() - weights.min()) < EVEN
    said = t(
        f"attention.read_{'part' if words_left_out else 'even' if even else 'weights'}",
        where=view.where(),
        query=placed(queries)[token],
        key=placed(keys)[best],
        value=f"{row[best]:.2f}",
        rest=f"{sum(float(row[place]) for place in left_out):.0%}",
    )
    special = [place for place, name in enumerate(keys) if name in SPECIAL]
    if words_left_out or view.trace.picture is not None or not special:
        return said
    rest = f"{sum(float(row[place]) for place in special):.0%}"
    return f"{said} {t('attention.rows_short' if left_out else 'attention.special', rest=rest)}"


def through_layers(view: View, controls: DeltaGenerator) -> None:
    """What the selected token attends to in each layer, averaged over its heads; over a drawing each head, too."""
    if view.kind == "drawing":
        over_layers(view)
        over_heads(view)
        return
    tokens, token, layers = view.tokens, view.token, view.config.layers
    if not {*SPECIAL}.isdisjoint(tokens):
        with controls:
            hide_switch(view)
    columns = shown(view, tokens) or list(range(len(tokens)))
    measure = view.measure(lambda run: every_weight(run).mean(axis=1), ("", "query", "key"))[:, token][:, columns]
    means = every_weight(view.trace).mean(axis=1)[view.layer, token, columns]
    best = int(means.argmax())
    sides = Axis.counted(plain("overlay.axis_layer"), layers), view.token_axis("axis.key")
    sides = sides[0], Axis(sides[1].title, [sides[1].labels[place] for place in columns])
    look = {"scale": measure.scale("share"), "limit": None if measure.differs else measure.largest or None}
    named = placed(tokens)
    said = {"layer": view.layer + 1, "query": named[token], "key": named[columns[best]], "value": f"{means[best]:.2f}"}
    view.picture(
        "layers",
        heatmap(measure.values, *sides, cell=(view.layer, best), clickable=True, square=False, height=360, **look),
        t("attention.read_layers", **said),
        title=plain("overlay.mean"),
        equation=MEAN_WEIGHTS,
        values=measure.values,
        on_pick=lambda row, column: select(layer=row, key=columns[column]),
        shows=measure.on(*sides),
        law_of=["layers.{l}.attention.weights"],
    )


def lines(view: View, key: str) -> None:
    """The weights as lines from each query to each key. A click on a line, or on its end, chooses."""
    rows, columns = shown_places(view, key)
    looks, looked_at = axes(view, key)
    shown = view.measure(key)
    part = shown[np.ix_(rows, columns)]
    token, (_, chosen) = view.place(key), chosen_cell(view, key)[-2:]
    looking, looked = (field(key, axis) for axis in ("query", "key"))
    if token in rows and chosen in columns:
        place = rows.index(token), columns.index(chosen)
        view.moves(
            place, part.values.shape, lambda row, column: select(**{looking: rows[row], looked: columns[column]})
        )

    def choose(row: int, column: int) -> None:
        """An end of a line, or a line: the row, the column, or -1 where there is none."""
        places = {looking: rows[row]} if row >= 0 else {}
        select(**places, **({looked: columns[column]} if column >= 0 else {}))

    left, right = (Axis(side.title, [side.labels[i] for i in at]) for side, at in ((looks, rows), (looked_at, columns)))
    least = view.choice.least / 100
    lit = rows.index(token) if token in rows else None
    view.picture(
        "weights",
        attention_lines(np.nan_to_num(part.values), left, right, lit, least=least, differs=part.differs),
        attends_most(view, key),
        title=plain("attention.weights"),
        quantity=view.trace.quantity(key),
        values=part.values,
        table=partial(pd.DataFrame, shown.values, index=looks.labels, columns=looked_at.labels),
        on_pick=choose,
        shows=part.on(left, right),
        at_once=lines_at_once(view, key, rows, columns, least),
    )
