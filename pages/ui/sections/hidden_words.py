"""Words that a click hides, what the encoder would put in their place, and a head that the guess hangs on."""

from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache

import numpy as np
import pandas as pd
import streamlit as st

from model import Edit, Pipeline, Trace
from model.analysis import rank, softmax, spelled, whole_words
from model.comparison import align
from model.telling import telling_head
from pages.ui.changes_bar import toggled
from pages.ui.differences import Difference
from pages.ui.drawing.doubt import hedge
from pages.ui.figures import GREY, INK, Axis, Figure, bars, drawing, over_drawing, reads
from pages.ui.figures.base import words_at
from pages.ui.link import chosen, select
from pages.ui.masks import hidden_places, with_masks
from pages.ui.numbers import signed, written
from pages.ui.pickers import told_apart
from pages.ui.sections.working import names_along
from pages.ui.text import plain, t
from pages.ui.view import View

BLUE, ORANGE = "#0072B2", "#E69F00"
WIDGET = "words"
TALL = 230  # pixels of the pictures side by side


def clickable_words(view: View, several: bool = False) -> tuple[int, dict[int, int | None]]:
    """The sentence as large words: a click hides one, another click shows it again.

    From here on the view is about the run in which the hidden words read [MASK], as do those in their place in an input
    that it is compared with. Returns the place whose guess is shown, and the hidden places, each with the id of the
    word that stands there; None where the sentence itself says [MASK]. Of what says classes nothing is hidden: 0, {}.
    several: a click leaves those hidden that are.
    """
    if "word" not in view.trace.axes("logits"):
        return 0, {}
    read = view.typed
    words = whole_words(read.tokens)
    hidden, typed = hidden_places(view.choice, read)
    lit = [i for i, places in enumerate(words) if hidden & set(places)]

    def clicked() -> None:
        for word in set(st.session_state[WIDGET]) ^ set(lit):
            places = set(words[word])
            kept = hidden - typed if several else set()
            wanted = hidden - typed - places if hidden & places else kept | places
            if not typed & places:
                select(hidden=tuple(sorted(wanted)), token=words[word][0], output=None)

    names = told_apart(spelled([read.tokens[place] for place in places]) for places in words)
    icons = [":material/visibility_off: " if i in lit else "" for i in range(len(words))]
    st.session_state[WIDGET] = lit
    st.pills(
        plain("words.label"),
        range(len(words)),
        selection_mode="multi",
        format_func=lambda i: icons[i] + names[i],
        key=WIDGET,
        on_change=clicked,
    )
    if hidden - typed and (masked := with_masks(view.pipeline, read.ids, hidden)) != view.subject:
        view.follow(view.choice.pipeline, masked)
    if view.other and view.shows in ("against", "beside"):
        pairs = align(read.tokens, view.other.tokens)
        there = [pair.other for pair in pairs if pair.one in hidden - typed and pair.other is not None]
        view.compare_with(with_masks(view.pipeline, view.other.ids, there))
    found = {place: None if place in typed else read.ids[place] for place in sorted(hidden)}
    return _place_to_show(view, found), found


def to_keep_hidden(view: View, found: dict[int, int | None]) -> tuple[int, ...] | None:
    """What `Choice.hidden` must be for another page to hide the same. found: what `clickable_words` hid."""
    return tuple(place for place, word in found.items() if word is not None) or view.choice.hidden


def _place_to_show(view: View, hidden: dict[int, int | None]) -> int:
    """The place whose guess is shown: the selected token if it is hidden, or where nothing is; else a hidden one."""
    if hidden:
        return view.token if view.token in hidden else next(iter(hidden))
    words = [place for places in whole_words(view.trace.tokens) for place in places]
    return view.token if view.token in words else words[0]


def guesses(
    view: View,
    name: str,
    place: int,
    truth: int | None = None,
    *,
    most: int = 10,
    title: str | None = None,
    on_pick: Callable[[int], None] | None = None,
) -> None:
    """The likeliest words at one place, or all classes, as bars; while the run is changed, with where each was before.

    truth: the word that stands there, in another colour. on_pick: gets the output whose bar is clicked.
    """
    sentence = guess_in_words(view, place, truth)
    title = title or plain("words.guesses" if "word" in view.trace.axes("logits") else "words.classes")
    if view.differs and view.counterpart(place) is not None:
        more_and_less(view, name, sentence, all_probabilities, place, most=most, title=title, on_pick=on_pick)
        return
    now, before = probabilities(view.trace, place), probabilities(view.original, place)
    names = output_names(view)
    if len(names) <= most:
        shown = list(range(len(names)))
    else:
        wanted = [*(-before).argsort()[:most].tolist(), int(now.argmax()), *([] if truth is None else [truth])]
        shown = list(dict.fromkeys(wanted))
    changed = bool(view.trace.edits)
    lit = truth if truth is not None else int(now.argmax())
    numbers = [f"{share(before[i])} → {share(now[i])}" if changed else share(now[i]) for i in shown]
    there = view.marked(all_probabilities, view.trace.axes("logits"))
    there = there if there is None else np.atleast_2d(there)[place][shown]
    colours, room = [ORANGE if i == lit else BLUE for i in shown], np.maximum(now, before)[shown]
    drawn = [names[i] for i in shown]
    figure = bars_with_numbers(view, now[shown], drawn, numbers, colours=colours, room=room, there=there, most=1.0)
    sentence += view.which_is_which() if there is not None else ""
    if changed:  # a line where each bar ended before
        line = {"type": "line", "line": {"width": 3, "color": GREY}}
        marks = [line | {"x0": before[i], "x1": before[i], "y0": y - 0.42, "y1": y + 0.42} for y, i in enumerate(shown)]
        figure.layout["shapes"] = marks
        most_moved = max(shown, key=lambda i: abs(now[i] - before[i]))
        moved = {"before": share(before[most_moved]), "after": share(now[most_moved])}
        how = "changed" if moved["before"] != moved["after"] else "hardly_changed"
        sentence += " " + t(f"words.read_{how}", name=names[most_moved], **moved)
    table = pd.DataFrame({"p": now[shown]}, index=drawn)
    if changed:
        table[plain("words.before")] = before[shown]
    view.picture(
        name,
        figure,
        sentence,
        quantity=view.trace.graph["answer"],
        title=title,
        table=table,
        on_pick=None if on_pick is None else lambda row, _: on_pick(shown[row]),
        still=there is not None,
    )


def more_and_less(
    view: View,
    name: str,
    sentence: str,
    of: Callable[[Trace], np.ndarray],
    place: int,
    *,
    most: int = 10,
    on_pick: Callable[[int], None] | None = None,
    **look: object,
) -> None:
    """For the words, or classes, that two runs differ in most: by how much. of: what of a run, with the logits' axes.

    look: as for `View.picture`.
    """
    values = np.atleast_2d(view.compared(of, view.trace.axes("logits")))[place]
    shown = np.sort(np.argsort(-np.abs(values), kind="stable")[:most])
    shown = (shown if len(values) <= most else shown[np.argsort(-values[shown], kind="stable")]).tolist()
    every = output_names(view)
    drawn, names = values[shown], [every[i] for i in shown]
    figure = bars_with_numbers(view, drawn, names, [signed(float(v)) if np.isfinite(v) else "" for v in drawn])
    table = pd.DataFrame({plain("change.shown_difference"): drawn}, index=names)
    picked = None if on_pick is None else lambda row, _: on_pick(shown[row])
    difference = Difference(drawn, [Axis("", names)])
    view.picture(name, figure, sentence, table=table, difference=difference, on_pick=picked, **look)


def bars_with_numbers(
    view: View,
    values: np.ndarray,
    names: Sequence[str],
    numbers: Sequence[str],
    *,
    colours: Sequence[str] | str = BLUE,
    room: np.ndarray | None = None,
    there: np.ndarray | None = None,
    most: float = 0.0,
) -> Figure:
    """Bars, each with its number behind it; of differences in the colours of their signs.

    room: how far to the right something else is drawn. there: as for `bars`. most: what could be, for which there is
    room as well, so that bars of different runs can be compared.
    """
    ends = np.nan_to_num(np.maximum(values if room is None else room, 0))
    figure = bars(
        values,
        Axis("", names),
        "",
        colours=colours,
        texts=[""] * len(names),
        differs=view.differs,
        there=there,
        font_size=view.font_size + 3,
        height=TALL if len(names) <= 6 else int(26 * len(names) * view.font_size / 12),
    )
    every = [0.0, most, *values, *ends, *(() if there is None else there)]
    low, high = float(np.nanmin(every)), float(np.nanmax(every))
    figure.layout["xaxis"] |= {"range": [1.05 * low, high + 0.35 * (high - low)], "visible": False}
    figure.layout["showlegend"] = False
    figure.layout["margin"]["b"] = 6  # no numbers stand below
    look = {"textposition": "middle right", "textfont": {"color": INK[view.mode]}}
    ends_and_rows = np.stack([ends, np.arange(len(names))], axis=1)
    figure.data.append(words_at(ends_and_rows, [f" {number}" for number in numbers], **look))
    return figure


def all_probabilities(trace: Trace) -> np.ndarray:
    """softmax of the logits, wherever there are some."""
    return softmax(trace["logits"].astype(np.float64))


def probabilities(trace: Trace, place: int = 0) -> np.ndarray:
    """softmax of the logits: at one place, where there are some for each."""
    logits = trace["logits"].astype(np.float64)
    return softmax(logits[place] if logits.ndim == 2 else logits)


def output_names(view: View) -> Sequence[str]:
    """What each logit stands for: the words of the vocabulary, or the classes."""
    return names_along(view, view.trace.axes("logits")[-1]) or ()


def share(probability: float) -> str:
    """A probability as short as it stays true: 0.41, 0.0002, 0.9996, 8 × 10⁻⁵."""
    if 0.995 <= probability < 0.99995:
        return f"{probability:.4f}"
    return f"{probability:.2f}" if probability >= 0.01 else written(f"{probability:.1g}")


def guess_in_words(view: View, place: int, truth: int | None) -> str:
    """ "In place of ‘it’ it would put ‘he’ (0.57), then ‘she’ (0.18). ‘it’ has rank 4 of 12,000.\""""
    p, names = probabilities(view.trace, place), output_names(view)
    best, second = (-p).argsort()[:2].tolist()
    said = {"best": names[best], "first": share(p[best]), "second": names[second], "then": share(p[second])}
    if "word" not in view.trace.axes("logits"):
        read = t("words.read_class" if p[second] >= 0.01 or len(p) == 2 else "words.read_sure", **said)
        return f"{hedge(view.choice.pipeline, view.subject)} {read}".strip()
    if view.trace.tokens[place] != "[MASK]":
        same = best == view.trace.ids[place]
        return t("words.read_seen" if same else "words.read_seen_other", **said, word=view.trace.tokens[place])
    if truth is None:
        number, several = view.typed.tokens[: place + 1].count("[MASK]"), view.typed.tokens.count("[MASK]") > 1
        return t("words.read_typed_number" if several else "words.read_typed", **said, number=number)
    if truth == best:
        return t("words.read_right", **said)
    return t("words.read_wrong", **said, truth=names[truth], rank=f"{rank(p, truth):,}", size=f"{len(p):,}")


# -- the head ----------------------------------------------------------------------------------------------


def head_to_watch(view: View, place: int) -> tuple[int, int]:
    """The layer and head that the answer hangs on most, of those that read other words."""
    return _telling_head(view.pipeline, view.subject, place)


def what_it_reads(view: View, layer: int, head: int, place: int) -> None:
    """What a head reads at one place, as lines to words, or laid over the drawing."""
    trace = view.trace
    key = f"layers.{layer}.attention.weights"
    weights, differs = trace[key][head, place], view.differs and view.counterpart(place) is not None
    drawn = view.shown(key, every_head=True)[head, place] if differs else weights
    off = switch_of(layer, head) in trace.edits
    where = plain("common.where", layer=layer + 1, head=head + 1)
    table = pd.DataFrame({plain("attention.weight"): drawn}, index=trace.tokens)
    best = most_read(trace, layer, head, place)
    values = {"where": where, "query": trace.tokens[place], "key": trace.tokens[best], "value": f"{weights[best]:.2f}"}
    said = t("words.read_off" if off else "words.read_head", **values)
    if trace.picture is None:
        look = {"faded": off, "differs": differs, "font_size": view.font_size, "height": TALL}
        figure = reads(drawn, place, trace.tokens, view.mode, **look)
    elif len(weights) == 1:
        figure, said = drawing(view.seen, font_size=view.font_size), t("words.read_one_token", where=where)
    else:
        figure = over_drawing(
            view.seen,
            drawn,
            trace.tokens,
            place,
            plain("attention.weight"),
            differs=differs,
            font_size=view.font_size,
            height=TALL + 40,
        )
    difference = Difference(drawn, [Axis("", trace.tokens)]) if differs else None
    view.picture("reads", figure, said, title=plain("words.reads", where=where), table=table, difference=difference)


def most_read(trace: Trace, layer: int, head: int, place: int) -> int:
    """Which other token a head reads most at one place; of a single one, that."""
    weights = trace[f"layers.{layer}.attention.weights"][head, place]
    return int(np.where(np.arange(len(weights)) == place, -1, weights).argmax())


def switch_of(layer: int, head: int) -> Edit:
    """The change that switches a head off."""
    return Edit(f"layers.{layer}.attention.heads", "zero", head=head)


def head_switch(view: View, layer: int, head: int) -> None:
    """A switch that puts out what a head finds, for this run and on every page."""
    edit, edits = switch_of(layer, head), view.choice.edits
    widget, on = "words.switch", edit in edits
    st.session_state[widget] = on

    def switched() -> None:
        if st.session_state[widget] != (edit in chosen().edits):
            select(edits=toggled(edit))

    st.toggle(plain(widget, layer=layer + 1, head=head + 1), key=widget, on_change=switched)
    if others := len(edits) - on:
        st.caption(t("words.other_changes", n=others))


# -- found once for all visitors ---------------------------------------------------------------------------


@lru_cache(maxsize=1000)
def _telling_head(pipeline: Pipeline, subject: Hashable, place: int) -> tuple[int, int]:
    return telling_head(pipeline, pipeline(subject), place)
