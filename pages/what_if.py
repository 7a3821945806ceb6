"""The laboratory: change anything inside, and see what it does to the answer."""

import streamlit as st

from model import Edit
from model.changes import bind
from model.sweep import effects
from pages.ui.changes_bar import edit_in_words
from pages.ui.laboratory import changes
from pages.ui.laboratory.another import another_input
from pages.ui.laboratory.experiment import Experiment, text, word
from pages.ui.link import select
from pages.ui.masks import with_words_hidden
from pages.ui.numbers import signed
from pages.ui.sections.answers import guesses
from pages.ui.sections.hidden_words import clickable_words
from pages.ui.sections.sentence_vector import head_laboratory
from pages.ui.view import View

PANELS = {
    "heads": changes.heads,
    "neurons": changes.neurons,
    "residuals": changes.residuals,
    "inside": changes.inside_attention,
    "tokens": changes.tokens,
    "places": changes.positions,
    "patching": another_input,
}


def answer(view: View, lab: Experiment, truth: int | None) -> None:
    """The guesses now, with where each was before; but for a story, a click on two chooses the number to watch."""

    def watch(output: int) -> None:
        select(output=output, against=lab.against if output == lab.of else lab.of)

    look = {"most": 5 if view.trace.picture is None else 10, "on_pick": None if view.story else watch}
    guesses(view, "guesses", lab.place, truth, **look)


def number(view: View, lab: Experiment) -> None:
    """How far the one leads the other, before and now; and which changes can do nothing here, and why."""
    of, against = lab.names
    before, now = lab.lead(view.original), lab.lead(view.trace)
    moved = round(now - before, 4)  # what is less comes of rounding
    look = {"delta": signed(moved)} if view.trace.edits else {}
    arrow = "up" if moved > 0 else "down" if moved < 0 else "off"
    st.metric(word("lead", of=of, against=against), signed(now), delta_color="off", delta_arrow=arrow, **look)
    st.caption(text("number", of=of, against=against))
    for edit, why in view.trace.idle.items():
        where = edit_in_words(edit, view.trace.graph, view.trace.tokens)
        st.info(text("idle", what=word(f"idle_{why}"), where=where), icon=":material/do_not_disturb_on:")


view = View("what_if", hides=with_words_hidden)
if "logits" not in view.trace:
    head_laboratory(view)
    view.close()
    st.stop()
place, hidden = clickable_words(view)
lab = Experiment.on(view, place)
if view.story:
    left, right = st.columns([1, 1], gap="medium")
    with left:
        answer(view, lab, hidden.get(place))
    with right:
        changes.heads(lab)
    view.tell(text("story"))
else:
    left, right = st.columns([3, 2], gap="medium")
    with left:
        answer(view, lab, hidden.get(place))
    with right:
        number(view, lab)
    PANELS[view.panel(*PANELS)](lab)
view.close(Edit, bind, effects)
