"""Home: a live result to begin with, and the whole encoder at a glance for the input on screen."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from model.encoder import Encoder, EncoderLayer
from pages.ui.frame.navigation import page_link
from pages.ui.page import Page
from pages.ui.sections.answers import guesses
from pages.ui.sections.hidden_words import clickable_words, to_keep_hidden
from pages.ui.sections.overview import side_by_side, tensors, whole
from pages.ui.sections.sentence_vector import no_head
from pages.ui.sections.telling_head import head_switch, what_it_reads
from pages.ui.text import plain, t

MOST_WORDS = 5  # that are shown


class Home(Page):
    chips = False

    def above(self) -> None:
        """Words to click."""
        #: The place that is asked about, and the hidden places with the words that stood there.
        self.answered, self.hidden = self.token, dict[int, int | None]()
        if "logits" not in self.trace:
            no_head(self)
            what_it_reads(self, self.layer, self.head, self.token)
            return
        self.answered, self.hidden = clickable_words(self)

    def live_result(self) -> None:
        """What the encoder makes of it, and a head to switch off."""
        if "logits" not in self.trace:
            return
        most = MOST_WORDS if self.says_words else 10
        left, right = st.columns([1, 1], gap="medium")
        with left:
            guesses(self, "guesses", self.answered, self.hidden.get(self.answered), most=most)
        with right:
            self.head_at_work()

    def head_at_work(self) -> None:
        """What the chosen head reads, a switch for it, and the way to where it is seen at work."""
        layer, head = self.layer, self.head
        place = self.answered
        what_it_reads(self, layer, head, place)
        head_switch(self, layer, head)
        if self.kind == "single":
            return
        cell = {"layer": layer, "head": head, "token": place, "key": None}
        hidden = to_keep_hidden(self, self.hidden)
        self.way_to("attention", plain("home.see"), **cell, hidden=hidden, stage=None, panel=None)

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {"whole": self.at_a_glance, "shapes": lambda: side_by_side(self), "start": self.where_to_start}

    def choose_part(self, names: Sequence[str]) -> str:
        self.live_result()
        return super().choose_part(names)

    def at_a_glance(self) -> None:
        """The encoder as a diagram, with the decoder if wanted, and the shape of each tensor."""
        wide = self.choice.decoder and self.trace.picture is None  # encoder and decoder side by side
        columns = [st.container(), st.container()] if wide else st.columns([5, 6], gap="large")
        with columns[0]:
            whole(self, self.answered)
        with columns[1]:
            tensors(self)

    def where_to_start(self) -> None:
        for column, who in zip(st.columns(2), ("student", "teacher"), strict=True):
            with column, st.container(border=True, height="stretch"):
                st.markdown(f"**{plain(f'home.{who}')}**\n\n{t(f'home.{who}_start')}")
                if who == "student":
                    page_link("lesson", plain("lesson.start"), ":material/school:")

    def code(self) -> Sequence[object]:
        return Encoder, EncoderLayer
