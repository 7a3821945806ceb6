"""Answers that are no word and no one class: labels each by itself, numbers, a class for each token, a marked part."""

from functools import partial

import numpy as np
import streamlit as st

from model.analysis import placed
from model.checkpoints.span import best_span
from model.measures.judged import KEYS, Cell
from model.measures.judged import written as written_by
from model.measures.sources import nbytes
from pages.answer.pictures import labels, span, tags, text_with_span, words_with_tags
from pages.ui.sections.sources import MOST_BYTES, in_short, parts_picture, places_of
from pages.ui.sections.working import names_along, working
from pages.ui.text import plain, texts_of
from pages.ui.text.numbers import furthest
from pages.ui.view import View

MOST_PARTS = 8  # parts of a logit with a bar of their own
SAME = 1e-3  # closer together, two logits are one
text, word = texts_of("judged")


def asked_of(view: View) -> Cell:
    """The cell of such an answer that is asked about: that of the unchanged run's answer, or the one that the reader
    chose.
    """
    run = view.original
    match view.config.head:
        case "tags":
            return view.token, _chosen(view, run["tags"][view.token])
        case "span":
            best = best_span(run["bounds"], run.tokens)
            bound = min(view.choice.output or 0, 1)
            return bound, best[bound] if view.choice.token is None else view.token
    return (_chosen(view, run["labels"]),)


def draw(view: View, cell: Cell) -> None:
    """Such an answer. cell: the one that is asked about."""
    makes = {"tags": tags, "span": span}
    if in_the_text := {"tags": words_with_tags, "span": text_with_span}.get(view.config.head):
        st.markdown(in_the_text(view.trace))
    view.show("judged", partial(makes.get(view.config.head, labels), cell=cell))


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
    cell = asked_of(view)
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
    part = furthest(parts)
    said = {"cell": name, "logit": f"{found.value:.2f}", "part": part}
    sentence = text("read_wrote", **said, source=in_short(sources[part.place], view.trace))
    token = {"tags": cell[0], "span": cell[-1]}.get(view.config.head, 0)
    look = {"title": word("wrote", cell=name), "axis": "logit", "total": "logit", "most": MOST_PARTS}
    view.show("wrote", parts_picture(places_of(sources, view.trace, token), parts, sentence, **look))
    st.caption(plain("wrote.exact"))


def _chosen(view: View, logits: np.ndarray) -> int:
    output = view.choice.output
    return output if output is not None and output < len(logits) else int(logits.argmax())


# -- of the whole input ------------------------------------------------------------------------------------------


# -- of each token -----------------------------------------------------------------------------------------------
