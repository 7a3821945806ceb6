"""Answers that are no word and no one class: labels each by itself, numbers, a class for each token, a marked part."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from model import Trace
from model.analysis import placed, sigmoid, softmax, spelled, whole_words
from model.hugging_face.span import best_span
from model.judged import KEYS, Cell
from model.judged import written as written_by
from model.sources import nbytes
from pages.ui.figures import Axis, bars_with_numbers, heatmap
from pages.ui.runs.measure import Measure
from pages.ui.sections.sources import MOST_BYTES, in_short, parts_picture, places_of
from pages.ui.sections.working import names_along, working
from pages.ui.state.link import select
from pages.ui.text import literal, plain, texts_of
from pages.ui.text.numbers import decimal, signed, written
from pages.ui.view import View

MARKS = ("blue", "orange", "green", "violet")  # of kinds of things, in the order in which they come
UNBROKEN = "\u2011"  # a hyphen at which no line ends
OUTSIDE = "O"  # the class of what is no part of a name
MOST_LABELS = 12
MOST_PARTS = 8  # parts of a logit with a bar of their own
SAME = 1e-3  # closer together, two logits are one
text, word = texts_of("judged")


def asked_of(view: View) -> tuple[Callable[[View, Cell], None], Cell]:
    """What draws such an answer, and the cell of it that is asked about: that of the unchanged run's answer, or the one
    that the reader chose.
    """
    run = view.original
    match view.config.head:
        case "tags":
            return tags, (view.token, _chosen(view, run["tags"][view.token]))
        case "span":
            best = best_span(run["bounds"], run.tokens)
            bound = min(view.choice.output or 0, 1)
            return span, (bound, best[bound] if view.choice.token is None else view.token)
    return labels, (_chosen(view, run["labels"]),)


def named(view: View, cell: Cell) -> str:
    """A cell of such an answer in words."""
    match view.config.head:
        case "tags":
            names = names_along(view, "class") or ()
            return word("cell_tags", token=placed(view.trace.tokens)[cell[0]], label=names[cell[1]])
        case "span":
            return word(f"cell_{('begins', 'ends')[cell[0]]}", token=placed(view.trace.tokens)[cell[1]])
    return word("cell_labels", label=(names_along(view, "class") or ())[cell[0]])


def judged(view: View) -> None:
    """What such a head says of the input, with the arithmetic of the chosen cell, and who wrote it; in a presentation
    the first alone.
    """
    draw, cell = asked_of(view)
    if view.choice.big:
        draw(view, cell)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        draw(view, cell)
    with right:
        working(view, "answer" if "answer" in view.trace.graph else "labels", cell)
    who_wrote_it(view, cell)


def who_wrote_it(view: View, cell: Cell) -> None:
    """The logit of a cell as the sum of what each part of the network wrote; of a head that bends it, that it does."""
    if nbytes(view.trace) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return
    found, name = written_by(view.trace, cell), named(view, cell)
    if found is None:
        st.caption(text("bent"))
        return
    logits = view.trace["bounds" if view.config.head == "span" else KEYS[view.config.head]]
    if abs(found.value - float(logits[cell])) > SAME * max(1.0, abs(found.value)):
        st.caption(text("bent"))  # a change stands behind the last vector
        return
    sources, parts = list(found.parts), np.array([*found.parts.values()])
    place = int(np.abs(parts).argmax())
    said = {"cell": name, "logit": f"{found.value:.2f}", "part": f"{parts[place]:.2f}"}
    sentence = text("read_wrote", **said, source=in_short(sources[place], view.trace))
    token = {"tags": cell[0], "span": cell[-1]}.get(view.config.head, 0)
    look = {"title": word("wrote", cell=name), "axis": "logit", "total": "logit", "most": MOST_PARTS}
    parts_picture(view, "wrote", places_of(sources, view.trace, token), parts, sentence, **look)
    st.caption(plain("wrote.exact"))


def _chosen(view: View, logits: np.ndarray) -> int:
    output = view.choice.output
    return output if output is not None and output < len(logits) else int(logits.argmax())


# -- of the whole input ------------------------------------------------------------------------------------------


def labels(view: View, cell: tuple[int, ...]) -> None:
    """A bar for each label: how true it is held to be, or what is measured."""
    measures = view.config.head == "numbers"
    drawn = view.measure("labels" if measures else _true, view.trace.axes("labels"), beside=True)
    names = names_along(view, "class") or ()
    now = view.trace["labels"] if measures else _true(view.trace)
    shown = sorted(np.argsort(-np.abs(now), kind="stable")[:MOST_LABELS].tolist())
    picked = drawn[shown]
    written_as = signed if view.differs else _number if measures else decimal
    numbers = [written_as(float(v)) for v in picked.values]
    most = 0.0 if measures else 1.0
    look = {"there": picked.other, "differs": view.differs, "most": most}
    figure = bars_with_numbers(picked.values, [names[i] for i in shown], numbers, **look)
    said = {"best": names[cell[0]], "value": (_number if measures else decimal)(float(now[cell[0]])), "n": len(names)}
    sentence = text(("measured" if measures else "labels") + ("_one" if len(names) == 1 else ""), **said)
    quantity = view.trace.graph["labels" if measures else "answer"]
    more = {"quantity": quantity, "title": plain("answer.title"), "shows": picked}
    view.picture("judged", figure, sentence, on_pick=lambda row, _: select(output=shown[row]), **more)


def _number(value: float) -> str:
    return written(f"{value:.2f}")


def _true(run: Trace) -> np.ndarray:
    return sigmoid(run["labels"].astype(np.float64))


# -- of each token -----------------------------------------------------------------------------------------------


def tags(view: View, cell: tuple[int, ...]) -> None:
    """The words, marked with the class of their first piece; and the probabilities of each class for each token."""
    tokens, p = view.trace.tokens, _of_classes(view.trace)
    names = names_along(view, "class") or ()
    first = {places[0]: names[int(p[places[0]].argmax())] for places in whole_words(tokens)}
    kinds = list(dict.fromkeys(_kind(name) for name in first.values() if name != OUTSIDE))
    parts = []
    for places in whole_words(tokens):
        said = literal(spelled([tokens[place] for place in places]))
        if (name := first[places[0]]) == OUTSIDE:
            parts.append(said)
        else:
            mark = MARKS[kinds.index(_kind(name)) % len(MARKS)]
            called = literal(name.replace("-", UNBROKEN))
            parts.append(f":{mark}-background[**{said}**\u00a0{called}\u00a0{decimal(p[places[0]].max())}]")
    st.markdown(" ".join(parts))
    plain_ones = sum(name == OUTSIDE for name in first.values())
    said = text("tags" if OUTSIDE in names else "tags_all", words=len(first), outside=plain_ones)
    drawn = view.measure(_of_classes, view.trace.axes("tags"))
    axes = view.token_axis("axis.token"), Axis(plain("answer.axis_class"), list(names))
    _grid(view, drawn, axes, cell, said, lambda token, output: select(token=token, output=output))


def _of_classes(run: Trace) -> np.ndarray:
    return softmax(run["tags"].astype(np.float64))


def _kind(name: str) -> str:
    """ "B-PER" and "I-PER" are of one kind."""
    return name.removeprefix("B-").removeprefix("I-")


def span(view: View, cell: tuple[int, ...]) -> None:
    """The text with the part marked that answers; and for each token how likely it begins there, and ends."""
    tokens, p = view.trace.tokens, _of_bounds(view.trace)
    start, end = best_span(view.trace["bounds"], tokens)
    marked = [f":green-background[**{literal(_said(tokens[start : end + 1]))}**]"]
    before, after = literal(_said(tokens[:start])), literal(_said(tokens[end + 1 :]))
    st.markdown("#### " + " ".join(part for part in (before, *marked, after) if part))
    said = {"part": _said(tokens[start : end + 1]), "first": decimal(p[0, start]), "last": decimal(p[1, end])}
    sentence = text("span" if "[SEP]" in tokens[:-1] else "span_alone", **said)
    drawn = view.measure(_of_bounds, view.trace.axes("bounds"))
    axes = Axis(word("axis_bound"), list(names_along(view, "bound") or ())), view.token_axis("axis.token")
    _grid(view, drawn, axes, cell, sentence, lambda bound, token: select(token=token, output=bound))


def _of_bounds(run: Trace) -> np.ndarray:
    return softmax(run["bounds"].astype(np.float64))


def _said(tokens: Sequence[str]) -> str:
    return " ".join(spelled([tokens[i] for i in places]) for places in _runs(tokens))


def _runs(tokens: Sequence[str]) -> list[list[int]]:
    """The places of each word, and of each token that stands for none."""
    runs: list[list[int]] = []
    for place, token in enumerate(tokens):
        if token.startswith("##") and runs:
            runs[-1].append(place)
        else:
            runs.append([place])
    return runs


def _grid(
    view: View, drawn: Measure, axes: tuple[Axis, Axis], cell: tuple[int, ...], sentence: str,
    choose: Callable[[int, int], None],
) -> None:  # fmt: skip
    """Every token by what can be said of it."""
    look = {"scale": drawn.scale("share"), "square": False, "clickable": True, "cell": cell}
    figure = heatmap(drawn.values, *axes, **look)
    more = {"quantity": view.trace.graph["answer"], "title": plain("answer.title"), "shows": drawn.on(*axes)}
    view.picture("judged", figure, sentence, on_pick=choose, **more)
