"""The laboratory: change anything inside, and see what it does to the answer."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from model import Edit
from model.changes import bind
from model.measures.judged import KEYS, said_by
from model.measures.sweep import effects
from pages.answer.judged import asked_of, draw, named
from pages.ui.frame.changes_bar import edit_in_words
from pages.ui.frame.pickers import either
from pages.ui.page import Page, Parts
from pages.ui.sections.answers import probabilities
from pages.ui.sections.guesses import guesses
from pages.ui.sections.hidden_words import asked_place
from pages.ui.sections.sentence_vector import head_laboratory
from pages.ui.sections.shared_weights import shared_weights
from pages.ui.state.choice import MEASURES
from pages.ui.text.numbers import decimal, signed
from pages.what_if import changes
from pages.what_if.another import another_input
from pages.what_if.experiment import Experiment, at_hidden_word, text, word

#: Each tab with the kinds of changes that it has maps of.
PARTS = {
    "heads": {"heads": changes.heads, "inside": changes.inside_attention},
    "ffn": {"neurons": changes.neurons, "sublayer": changes.feed_forward},
    "residuals": {"residuals": changes.residuals},
    "input": {"tokens": changes.tokens, "places": changes.positions, "patching": another_input},
}
#: Each kind was a tab of its own.
FORMER = {kind: {"panel": tab, "block": kind} for tab, kinds in PARTS.items() for kind in kinds if kind not in PARTS}


class WhatIf(Page):
    former = FORMER

    @property
    def chips(self) -> bool:
        return self.trace.picture is None and not at_hidden_word(self)

    def fill(self) -> None:
        if "logits" not in self.trace and self.config.head not in KEYS:
            head_laboratory(self)
            return
        if said := shared_weights(self.config, "changed"):
            st.caption(" ".join(said))
        if self.config.head in KEYS:
            self.lab, truth = Experiment.on_judged(self, asked_of(self)), None
        else:
            place, hidden = asked_place(self)
            self.lab, truth = Experiment.on(self, place), hidden.get(place)
        parts = self.parts()
        draw_kind = parts[self.choose_part(list(PARTS))]
        self.choose_place()
        left, right = st.columns([3, 2], gap="medium")
        with left:
            draw_kind()
        with right:
            if self.config.head in KEYS:
                self.watched()
            else:
                self.answer(truth)
            self.idle()

    def parts(self) -> Parts:
        return {kind: partial(draw, self.lab) for kinds in PARTS.values() for kind, draw in kinds.items()}

    def choose_part(self, names: Sequence[str]) -> str:
        """Buttons for the tabs, and beside them for the kinds of changes in a tab; returns the kind."""
        with st.container(horizontal=True, vertical_alignment="center"):
            tab = super().choose_part(names)
            first, *others = PARTS[tab]
            if not others:
                return first
            words = [word(f"kind_{kind}") for kind in PARTS[tab]]
            look = {"label_visibility": "collapsed", "key": f"block.{tab}"}
            return either("block", word("kind"), list(PARTS[tab]), words, self.choice.block, **look)

    def watched(self) -> None:
        """What such a head says, in which a click chooses the number to watch; and that number, before and now."""
        cell = asked_of(self)
        draw(self, cell)
        head, runs = self.config.head, (self.trace, self.original)
        now, before = (float(said_by(head, run[KEYS[head]])[cell]) for run in runs)
        self.metric(named(self, cell), decimal(now), round(now - before, 5))
        st.caption(text("watched"))

    def metric(self, label: str, value: str, moved: float) -> None:
        """A number now, with its change. moved: rounded, since what is less comes of rounding."""
        look = {"delta": signed(moved)} if self.trace.edits else {}
        arrow = "up" if moved > 0 else "down" if moved < 0 else "off"
        st.metric(label, value, delta_color="off", delta_arrow=arrow, **look)

    def idle(self) -> None:
        """Which changes can do nothing here, and why."""
        for edit, why in self.trace.idle.items():
            where = edit_in_words(edit, self.trace.graph, self.tokens)
            st.info(text("idle", what=word(f"idle_{why}"), where=where), icon=":material/do_not_disturb_on:")

    def answer(self, truth: int | None) -> None:
        """The guesses now, with where each was before, and what is measured of them.

        A click on two bars chooses the number to watch.
        """
        of, against = self.lab.of, self.lab.against

        def watch(output: int) -> dict[str, object]:
            return {"output": output, "against": against if output == of else of, "measure": "lead"}

        guesses(self, "guesses", self.lab.place, watch, truth, most=5 if self.trace.picture is None else 10)
        words = [word(f"measure_{name}") for name in MEASURES]
        either("measure", word("measure"), MEASURES, words, self.lab.measure)
        if self.lab.measure == "lead":
            self.lead()
        else:
            p, before = (probabilities(run, self.lab.place) for run in (self.trace, self.original))
            moved = round(float(np.abs(p - before).sum() / 2), 5)  # what is less comes of rounding
            st.metric(word("moved"), decimal(moved))
            st.caption(text("click_bars"))

    def lead(self) -> None:
        """How far the one leads the other, before and now."""
        of, against = self.lab.names
        before, now = self.lab.lead(self.original), self.lab.lead(self.trace)
        self.metric(word("lead", of=of, against=against), signed(now), round(now - before, 4))
        st.caption(text("click_bars"))

    def code(self) -> Sequence[object]:
        return Edit, bind, effects
