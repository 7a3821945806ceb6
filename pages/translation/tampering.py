"""Changes to the decoder: what it writes without a head, a mask or a word, and when it must look where we say."""

import numpy as np
import streamlit as st

from model import Edit, Trace
from model.analysis import placed
from model.translator import Task
from pages.translation.writing import Writing, likelihood
from pages.ui.figures import AFTER, BEFORE, Axis, grouped_bars
from pages.ui.frame.changes_bar import toggled
from pages.ui.runs import pipelines
from pages.ui.sections.answers import all_probabilities
from pages.ui.state.link import select
from pages.ui.text import literal, plain, texts_of
from pages.ui.text.numbers import percent

EVERY = "decoder.layers.{l}."  # layer
SCALED = "cross.scaled"
ALL = 1e4  # a score that takes all of a row
text, word = texts_of("translation")


def tampering(view: Writing) -> None:
    """Switches, what is written now and before, and how likely the words from before are now."""
    switches(view)
    if not view.found.edits:
        st.caption(text("change_something"))
        return
    before, now = view.before.beams[0], view.found.beams[0]
    for name, translation in (("before", before), ("now", now)):
        said = likelihood(view, translation)
        when = plain("common.named", name=word(f"{name}"))
        st.markdown(f"{when} **{literal(translation.text) or '∅'}** &ensp;:gray[{said}]")
    same_words(view)
    leak(view)


def offered(view: Writing) -> list[tuple[str, Edit]]:
    """The changes that make sense for the chosen layer, head and source word."""
    head, token, name, where = view.choice.head, view.token, placed(view.trace.tokens)[view.token], view.where()
    here = view.key(EVERY)
    return [
        (word("do_head", where=where), Edit(f"{here}cross.heads", "zero", head=head)),
        (word("do_cross"), Edit(f"{EVERY}cross.output", "zero")),
        (word("do_mask"), Edit(f"{EVERY}attention.masked", "unmasked")),
        (word("do_hide", token=name), Edit("embedding.sum", "remove", token=token)),
        (word("do_force", token=name, where=where), Edit(f"{here}{SCALED}", "set", ALL, head=head, looked_at=token)),
        (word("do_force_all", token=name), Edit(f"{EVERY}{SCALED}", "set", ALL, looked_at=token)),
    ]


def switches(view: Writing) -> None:
    with st.container(horizontal=True):
        for number, (label, edit) in enumerate(offered(view)):
            on = edit in view.choice.edits
            look = {"icon": ":material/check:" if on else None, "type": "primary" if on else "secondary"}
            edits = {"edits": toggled(edit)}
            st.button(literal(label), key=f"translation.do.{number}", on_click=select, kwargs=edits, **look)
    st.caption(text("do_help"))


def written_again(view: Writing, edits: tuple[Edit, ...]) -> Trace:
    """The run that writes the unchanged translation once more, with these changes."""
    task = Task(view.subject, view.choice.into, written=view.before.beams[0].ids)
    return pipelines.run(view.choice.translator, task, edits)


def of_each(view: Writing, edits: tuple[Edit, ...]) -> np.ndarray:
    """The probability of each piece of the unchanged translation, after the pieces before it."""
    ids = view.before.beams[0].ids
    return all_probabilities(written_again(view, edits))[np.arange(len(ids)), list(ids)]


def same_words(view: Writing) -> None:
    """How likely the network finds each piece that it wrote before, without the changes and with them."""
    before, now = of_each(view, ()), of_each(view, view.found.edits)
    tokens = view.before.beams[0].tokens
    place = int(np.abs(now - before).argmax())
    said = {"piece": tokens[place], "before": percent(before[place]), "now": percent(now[place])}
    view.picture(
        "same_words",
        grouped_bars(
            {word("before"): before, word("now"): now},
            Axis(word("next_axis"), list(tokens)),
            word("probability"),
            (BEFORE, AFTER),
            value_range=(0, 1),
        ),
        text("read_same" if said["before"] != said["now"] else "read_hardly", **said),
        still=True,
    )


def leak(view: Writing) -> None:
    """Where the mask is off: how much is taken from words that are written later."""
    if not any(edit.operation == "unmasked" for edit in view.found.edits):
        return
    weights = written_again(view, view.found.edits).over_layers("attention.weights", "decoder.")
    later = float(np.triu(weights, 1).sum(-1).mean())
    st.markdown(text("leak", share=f"{later:.0%}"))
