"""The laboratory: change anything inside, and see what it does to the answer."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np
import streamlit as st

from model import Edit
from model.changes import bind
from model.judged import KEYS, said_by
from model.sweep import effects
from pages.ui.frame.changes_bar import edit_in_words
from pages.ui.frame.pickers import either
from pages.ui.laboratory import changes
from pages.ui.laboratory.another import another_input
from pages.ui.laboratory.experiment import Experiment, text, word
from pages.ui.page import Page
from pages.ui.sections.answers import guesses, probabilities
from pages.ui.sections.hidden_words import clickable_words
from pages.ui.sections.judged import asked_of, named
from pages.ui.sections.sentence_vector import head_laboratory
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.state.choice import MEASURES
from pages.ui.state.link import select
from pages.ui.text.numbers import decimal, signed

PARTS = {
    "heads": changes.heads,
    "neurons": changes.neurons,
    "residuals": changes.residuals,
    "inside": changes.inside_attention,
    "tokens": changes.tokens,
    "places": changes.positions,
    "patching": another_input,
}


class WhatIf(Page):
    def fill(self) -> None:
        if "logits" in self.trace or self.config.head in KEYS:
            super().fill()
        else:
            head_laboratory(self)

    def above(self) -> None:
        if said := shared_weights(self.config, "changed"):
            st.caption(" ".join(said))
        if self.config.head in KEYS:
            self.lab = Experiment.on_judged(self, asked_of(self)[1])
            if not self.story:
                self.watched()
            return
        place, hidden = clickable_words(self)
        self.lab, self.truth = Experiment.on(self, place), hidden.get(place)
        if not self.story:
            left, right = st.columns([3, 2], gap="medium")
            with left:
                self.answer()
            with right:
                self.number()

    def watched(self) -> None:
        """What such a head says, in which a click chooses the number to watch; and that number, before and now."""
        draw, cell = asked_of(self)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            draw(self, cell)
        with right:
            head, runs = self.config.head, (self.trace, self.original)
            now, before = (float(said_by(head, run[KEYS[head]])[cell]) for run in runs)
            moved = round(now - before, 5)  # what is less comes of rounding
            look = {"delta": signed(moved)} if self.trace.edits else {}
            arrow = "up" if moved > 0 else "down" if moved < 0 else "off"
            st.metric(named(self, cell), decimal(now), delta_color="off", delta_arrow=arrow, **look)
            st.caption(text("watched"))
            self.idle()

    def idle(self) -> None:
        """Which changes can do nothing here, and why."""
        for edit, why in self.trace.idle.items():
            where = edit_in_words(edit, self.trace.graph, self.tokens)
            st.info(text("idle", what=word(f"idle_{why}"), where=where), icon=":material/do_not_disturb_on:")

    def answer(self) -> None:
        """The guesses now, with where each was before; but for a story, a click on two chooses the number to watch."""
        of, against = self.lab.of, self.lab.against

        def watch(output: int) -> None:
            select(output=output, against=against if output == of else of, measure="lead")

        look = {"most": 5 if self.trace.picture is None else 10, "on_pick": None if self.story else watch}
        guesses(self, "guesses", self.lab.place, self.truth, **look)

    def number(self) -> None:
        """What is measured: of the changed run how much of the probability moved, or how far one output leads another.

        And which changes can do nothing here, and why.
        """
        words = [word(f"measure_{name}") for name in MEASURES]
        either("measure", word("measure"), MEASURES, words, self.lab.measure)
        if self.lab.measure == "lead":
            self.lead()
        else:
            p, before = (probabilities(run, self.lab.place) for run in (self.trace, self.original))
            moved = round(float(np.abs(p - before).sum() / 2), 5)  # what is less comes of rounding
            st.metric(word("moved"), decimal(moved))
            st.caption(text("moved_help"))
        self.idle()

    def lead(self) -> None:
        """How far the one leads the other, before and now."""
        of, against = self.lab.names
        before, now = self.lab.lead(self.original), self.lab.lead(self.trace)
        moved = round(now - before, 4)  # what is less comes of rounding
        look = {"delta": signed(moved)} if self.trace.edits else {}
        arrow = "up" if moved > 0 else "down" if moved < 0 else "off"
        st.metric(word("lead", of=of, against=against), signed(now), delta_color="off", delta_arrow=arrow, **look)
        st.caption(text("number", of=of, against=against))
        if self.lab.unlikely(self.trace):
            st.warning(text("unlikely_now", of=of, against=against), icon=":material/trending_down:")

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {name: partial(draw, self.lab) for name, draw in PARTS.items()}

    def code(self) -> Sequence[object]:
        return Edit, bind, effects
