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
from pages.drawing.pictures.sources import MOST_BYTES, in_short, parts_picture
from pages.drawing.screen import Screen
from pages.drawing.text import plain, texts_of
from pages.drawing.text.numbers import furthest, two
from pages.screen.frame.pen import Pen
from pages.screen.sections.working import names_along, working

MOST_PARTS = 8  # parts of a logit with a bar of their own
SAME = 1e-3  # closer together, two logits are one
text, word = texts_of("judged")


def asked_of(screen: Screen) -> Cell:
    """The cell of such an answer that is asked about: that of the unchanged run's answer, or the one that the reader
    chose.
    """
    run = screen.original
    match screen.run.config.head:
        case "tags":
            return screen.at.token, _chosen(screen, run["tags"][screen.at.token])
        case "span":
            best = best_span(run["bounds"], run.tokens)
            bound = min(screen.choice.output or 0, 1)
            return bound, best[bound] if screen.choice.token is None else screen.at.token
    return (_chosen(screen, run["labels"]),)


def draw(screen: Screen, pen: Pen, cell: Cell) -> None:
    """Such an answer. cell: the one that is asked about."""
    makes = {"tags": tags, "span": span}
    if in_the_text := {"tags": words_with_tags, "span": text_with_span}.get(screen.run.config.head):
        st.markdown(in_the_text(screen.run))
    pen.show("judged", partial(makes.get(screen.run.config.head, labels), cell=cell))


def named(screen: Screen, cell: Cell) -> str:
    """A cell of such an answer in words."""
    match screen.run.config.head:
        case "tags":
            names = names_along(screen, "class") or ()
            return word("cell_tags", token=placed(screen.run.tokens)[cell[0]], label=names[cell[1]])
        case "span":
            return word(f"cell_{('begins', 'ends')[cell[0]]}", token=placed(screen.run.tokens)[cell[1]])
    return word("cell_labels", label=(names_along(screen, "class") or ())[cell[0]])


def judged(screen: Screen, pen: Pen) -> None:
    """What such a head says of the input, with the arithmetic of the chosen cell, and who wrote it; in a presentation
    the first alone.
    """
    cell = asked_of(screen)
    if screen.choice.big:
        draw(screen, pen, cell)
        return
    left, right = st.columns([3, 2], gap="medium")
    with left:
        draw(screen, pen, cell)
    with right:
        working(screen, pen, "answer" if "answer" in screen.run.graph else "labels", cell)
    who_wrote_it(screen, pen, cell)


def who_wrote_it(screen: Screen, pen: Pen, cell: Cell) -> None:
    """The logit of a cell as the sum of what each part of the network wrote; of a head that bends it, that it does."""
    run = screen.run
    if nbytes(run) > MOST_BYTES:
        st.info(plain("source.too_large"), icon=":material/info:")
        return
    found, name = written_by(run, cell), named(screen, cell)
    if found is None:
        st.caption(text("bent"))
        return
    logits = run["bounds" if run.config.head == "span" else KEYS[run.config.head]]
    if abs(found.value - float(logits[cell])) > SAME * max(1.0, abs(found.value)):
        st.caption(text("bent"))  # a change stands behind the last vector
        return
    sources, parts = list(found.parts), np.array([*found.parts.values()])
    part = furthest(parts)
    said = {"cell": name, "logit": two(found.value), "part": part}
    sentence = text("read_wrote", **said, source=in_short(sources[part.place], run))
    look = {"title": word("wrote", cell=name), "axis": "logit", "total": "logit", "most": MOST_PARTS}
    pen.show("wrote", parts_picture([(in_short(one, run), None) for one in sources], parts, sentence, **look))
    st.caption(plain("wrote.exact"))


def _chosen(screen: Screen, logits: np.ndarray) -> int:
    output = screen.choice.output
    return output if output is not None and output < len(logits) else int(logits.argmax())


# -- of the whole input ------------------------------------------------------------------------------------------


# -- of each token -----------------------------------------------------------------------------------------------
