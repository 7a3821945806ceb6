"""Home: a live result to begin with, and the whole encoder at a glance for the input on screen."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

import streamlit as st

from model.analysis import whole_words
from model.encoder import Encoder, EncoderLayer
from model.telling import answering, near_and_far, place_to_show
from pages.ui.frame.navigation import page_link
from pages.ui.page import Page
from pages.ui.sections.answers import guesses
from pages.ui.sections.guessing import empty_bars, guessed
from pages.ui.sections.hidden_words import clickable_words, to_keep_hidden
from pages.ui.sections.overview import side_by_side, tensors, whole
from pages.ui.sections.sentence_vector import no_head
from pages.ui.sections.telling_head import head_switch, head_to_watch, what_it_reads
from pages.ui.text import joined, plain, t

MOST_WORDS = 5  # that are shown


class Home(Page):
    chips = False
    hides_words = True
    draws_guess = True

    def above(self) -> None:
        """Words to click."""
        if self.story and not self.choice.big and "logits" in self.trace:
            kind = "" if self.says_words else "_class" + "_mean" * (self.config.pooling == "mean")
            if self.seen is not None:
                kind = "_picture" if self.config.read_alone else "_patches"
            bars = "" if self.still_asks else t("home.story_bars")
            st.caption(joined(f"{t(f'home.story_start{kind}')} {bars}"))
        #: The place that is asked about, and the hidden places with the words that stood there.
        self.answered, self.hidden = self.token, dict[int, int | None]()
        if "logits" not in self.trace:
            no_head(self)
            what_it_reads(self, self.layer, self.head, self.token)
            return
        hole = self.still_asks and self.asking is not None and self.asking.question.key == "word"
        self.answered, self.hidden = clickable_words(self, hole=hole)

    def live_result(self, *told: str) -> None:
        """What the encoder makes of it, with what is `told` of that, and a head to switch off."""
        if "logits" not in self.trace:
            if told:
                st.markdown("\n\n".join(told))
            return
        most = MOST_WORDS if self.says_words else 10
        left, right = st.columns([1, 1], gap="medium")
        with left:
            yours = guessed(self) if self.story else None
            guesses(self, "guesses", self.answered, self.hidden.get(self.answered), most=most, yours=yours)
            if said := [*self.about_guess, *told]:
                st.markdown("\n\n".join(said))
        with right:
            self.head_at_work()

    def curtains(self) -> Mapping[str, Callable[[], None]]:
        draw = partial(empty_bars, self, most=MOST_WORDS)
        return {"word": draw, "digit": draw}

    def head_at_work(self) -> None:
        """A head to look at and to switch off, and the way to where it is seen at work."""
        layer, head = head_to_watch(self, self.answered)
        place = place_to_show(self.trace, layer, head, self.answered)
        what_it_reads(self, layer, head, place)
        if len(answering(self.trace, self.answered)) > 1:
            st.caption(t("home.one_of_all"))
        head_switch(self, layer, head)
        if self.kind == "single":
            return
        cell = {"layer": layer, "head": head, "token": place, "key": None}
        hidden = to_keep_hidden(self, self.hidden)
        self.way_to("attention", plain("home.see"), **cell, hidden=hidden, stage=None, panel=None)
        _, far = near_and_far(self.trace, place)
        if far.any():
            st.caption(t("home.which_head_changed" if self.trace.edits else "home.which_head"))

    def tell(self) -> Sequence[str]:
        colour = self.seen is not None and self.seen.ndim == 3
        several = self.says_words and len(whole_words(self.typed.tokens)) > 1
        words = "home.story" if several else "home.story_sentence"
        self.live_result(t("home.story_colour" if colour else words if self.seen is None else "home.story_picture"))
        return ()

    def below_story(self) -> None:
        left, right = st.columns(2, gap="medium")
        with left, self.more():
            whole(self, self.answered)
        start = {"key": "home.start", "on_change": "rerun"}
        with right, st.expander(plain("home.panel_start"), icon=":material/signpost:", **start) as box:
            if box.open:
                self.where_to_start()

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
