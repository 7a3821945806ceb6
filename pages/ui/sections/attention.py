"""Scaled dot-product attention, one step at a time: of an encoder, or of a decoder's self- and cross-attention."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from model.analysis import softmax
from pages.ui.components.player import player
from pages.ui.figures import Axis, attention_lines, bars
from pages.ui.figures.theme import scaled
from pages.ui.frame.pickers import bound, either
from pages.ui.sections.at_once import bars_at_once, lines_at_once
from pages.ui.sections.cell_map import axes, cell_map, chosen_cell, draw_map, field
from pages.ui.sections.fillers import padding
from pages.ui.sections.four_tokens import set_by_hand
from pages.ui.sections.overlay import over_one, patch_pair, read_in_story
from pages.ui.sections.scaling import choose_width, why_scaled
from pages.ui.sections.sentences import of_sentences, which_sentences
from pages.ui.sections.why_there import by_hand_or_why
from pages.ui.state.link import select
from pages.ui.text import plain, t
from pages.ui.view import View

#: The quantities in order of computation: match, ÷ √d_k, mask, softmax, × V.
STEPS = ("scores", "scaled", "masked", "weights", "heads")
BY_DISTANCE = ("relative", "biased")  # in front of the mask, where a number for each distance is added
#: What the scores are the sum of, where words and distances are told apart.
TOLD_APART = ("content_to_content", "content_to_position", "position_to_content")
#: Step -> what stands there beside the map: why scores are divided, and attention set by hand.
BESIDE = {"scaled": "why", "heads": "try"}
SPECIAL = ("[CLS]", "[SEP]")
SAME = 1e-4  # closer together, two weights read as one
EVEN = 1e-6  # closer together, all weights of a row are the same
STRIKING = 0.2  # in a story the lines of the other tokens begin here
SECONDS = 2.0  # that a step stays on the screen while they are played


def attention_steps(view: View, prefix: str) -> None:
    """The step in focus as a picture, with the arithmetic of its chosen cell; over it, what decides on the picture.

    prefix: of the keys, "layers.2.attention." and the like.
    """
    steps = steps_of(view, prefix)
    step = view.choice.stage if view.choice.stage in steps else "weights"
    for number, name in enumerate(steps, 1):
        view.on_key(str(number), partial(select, stage=name))
    with st.container(horizontal=True, vertical_alignment="center"):
        stepper(step, steps)
        way = _way(view, step)
        own = way in BESIDE.values()  # something beside the reader's run
        if not own and _has_special(view, prefix):
            hide_switch(view)
        if not own and prefix.startswith("layers."):
            which_sentences(view)
        if way == "lines":
            _threshold(view)
        elif way == "map":
            _colour_range(view)
        elif way == "why":
            choose_width(view)
    if way == "why":
        why_scaled(view, prefix)
    elif way == "try":
        set_by_hand(view)
    else:
        attention_step(view, prefix, step, way)
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


def _way(view: View, step: str) -> str:
    """Buttons for what a step shows: weights as a map, as the selected token's row, as lines; over a drawing at first.
    Of scaled scores and of the weighted sum their map, or what can be tried there.
    """
    if view.kind == "single" or step not in ("weights", *BESIDE):
        return "map"
    if step == "scaled" and view.trace.config.distance_terms:  # by another number than √d_k
        return "map"
    ways: tuple[str, ...] = ("row", "map") if view.kind == "drawing" else ("map", "row", "lines")
    if step in BESIDE:
        ways = "map", BESIDE[step]
    way = view.choice.as_ if view.choice.as_ in ways else ways[0]
    words = [plain("attention.as_drawing" if ways[0] == w == "row" else f"attention.as_{w}") for w in ways]
    look = {"key": f"as_.{step}" if step in BESIDE else "as_", "label_visibility": "collapsed"}
    return either("as_", plain("attention.weights_as"), ways, words, way, **look)


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


def attention_step(view: View, prefix: str, step: str, way: str = "map") -> None:
    """One step as a picture, and beside it the arithmetic of the chosen cell. way: "map"; weights as "row", "lines"."""
    key = prefix + step
    if way != "map":
        left, right = st.columns([3, 2], gap="medium")
        with left:
            weights_picture(view, key, way)
        with right:
            by_hand_or_why(view, key, chosen_cell(view, key))
        return
    rows = columns = None
    if step != "heads":
        rows, columns = shown_places(view, key)
    said = looks_most(view, key) if step == "weights" else sentence(view, prefix, step)
    look = {"rows": rows, "columns": columns}
    apart = step == "scores" and view.trace.config.distance_terms
    below = partial(products_beside, view, prefix, **look) if apart else None
    cell_map(view, key, said, about=by_hand_or_why, below=below, title=plain(f"attention.{step}"), **look)
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
    queries, keys = queries_and_keys(view, prefix + "weights")
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
            slopes = {"a": f"{without * (1 - without):.2f}", "b": f"{divided * (1 - divided):.2f}"}
            return f"{told} {t('attention.slope', without=f'{without:.2f}', divided=f'{divided:.2f}', **slopes)}"
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


def looks_most(view: View, key: str) -> str:
    """ "‘it’ looks most at ‘animal’: 0.66", and how much of its row goes to [CLS] and [SEP], or is not shown."""
    queries, keys = queries_and_keys(view, key)
    token = view.place(key)
    row = view.trace[key][view.choice.head, token]
    _, places = shown_places(view, key)
    best = max(places, key=lambda place: row[place])
    left_out = set(range(len(keys))) - set(places)
    words_left_out = any(keys[place] not in SPECIAL for place in left_out)
    weights = row[places]
    even = len(places) > 1 and float(weights.max() - weights.min()) < EVEN
    kind = "part" if words_left_out else "even" if even else "weights"
    said = t(
        read_in_story(view, key) if view.story and kind == "weights" else f"attention.read_{kind}",
        where=view.where(),
        query=queries[token],
        key=keys[best],
        value=f"{row[best]:.2f}",
        share=f"{row[best]:.0%}",
        rest=f"{sum(float(row[place]) for place in left_out):.0%}",
    )
    if words_left_out:
        return said
    special = sum(float(row[place]) for place, name in enumerate(keys) if name in SPECIAL)
    if view.story or view.trace.picture is not None or not any(name in SPECIAL for name in keys):
        return said
    return f"{said} {t('attention.rows_short' if left_out else 'attention.special', rest=f'{special:.0%}')}"


def weights_picture(view: View, key: str, way: str, guess: np.ndarray | None = None) -> None:
    """The selected token's row as bars, or laid over the drawing; or all rows as lines. A click chooses.

    guess: what the reader thinks that the selected row is, (token,); lines show it, too.
    """
    if way == "row" and view.kind == "drawing":
        over_one(view, key)
        return
    rows, columns = shown_places(view, key)
    looks, looked_at = axes(view, key)
    shown, quantity = view.measure(key, beside=way == "row", token=view.place(key)), view.trace.quantity(key)
    table = partial(pd.DataFrame, shown.values, index=looks.labels, columns=looked_at.labels)
    part = shown[np.ix_(rows, columns)]
    looked_at = Axis(looked_at.title, [looked_at.labels[place] for place in columns])
    token, said = view.place(key), looks_most(view, key)
    looking, looked = (field(key, axis) for axis in ("query", "key"))
    _, chosen = chosen_cell(view, key)[-2:]
    if token in rows and chosen in columns:
        place = rows.index(token), columns.index(chosen)
        view.moves(
            place, part.values.shape, lambda row, column: select(**{looking: rows[row], looked: columns[column]})
        )
    if way == "lines":
        looks = Axis(looks.title, [looks.labels[place] for place in rows])
        lit = rows.index(token) if token in rows else None
        least = view.choice.least / 100
        others = max(least, STRIKING) if view.story else least
        look = {"least": least, "others": others, "differs": part.differs}
        given = None if guess is None or lit is None else guess[columns]
        drawn = attention_lines(np.nan_to_num(part.values), looks, looked_at, lit, guess=given, **look)

        def choose(row: int, column: int) -> None:
            """An end of a line, or a line: the row, the column, or -1 where there is none."""
            places = {looking: rows[row]} if row >= 0 else {}
            select(**places, **({looked: columns[column]} if column >= 0 else {}))

        title = plain("attention.weights")
        picked = {"title": title, "quantity": quantity, "values": part.values, "table": table, "on_pick": choose}
        once = lines_at_once(view, key, rows, columns, least, others)
        view.picture("weights", drawn, said, shows=part.on(looks, looked_at), at_once=once, **picked)
        return
    row = shown[token, columns]
    drawn = bars(row.values, looked_at, plain("attention.weight"), **row.look)
    view.picture(
        "weights",
        drawn,
        said,
        title=plain("attention.weights"),
        quantity=quantity,
        values=row.values,
        table=table,
        on_pick=lambda place, _: select(**{looked: columns[place]}),
        shows=row.on(looked_at),
        at_once=bars_at_once(view, key, rows, columns),
    )
