"""Translation: the decoder writes word by word, reading what the encoder made of the source."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from model.decoder import Decoder, DecoderLayer
from model.search import beam_search
from model.translator import language_after
from pages.school.lessons.case import Case
from pages.ui.sections.alignment import alignment
from pages.ui.sections.decoder import inside
from pages.ui.sections.overview import drawn_of
from pages.ui.sections.search import search
from pages.ui.sections.tampering import tampering
from pages.ui.sections.writing import CLEAR, Writing, best_aligned, lines, one_step, sentences, step_slider, which
from pages.ui.state.link import select
from pages.ui.text import joined, plain, t

PARTS = {"writing": one_step, "search": search, "alignment": alignment, "inside": inside, "changes": tampering}


class Translation(Writing):
    def fill(self) -> None:
        if self.translates:
            super().fill()
            return
        st.info(t("translation.needs_words"), icon=":material/translate:")
        words = {"input": "sentence", "output": None, "against": None}
        st.button(plain("translation.take_sentence"), key="translation.words", on_click=select, kwargs=words)

    def above(self) -> None:
        ours = self.pipeline.pair is None
        if ours and (self.choice.paper or self.choice.checkpoint):
            st.info(t("translation.trained_here"), icon=":material/info:")
        if ours and self.choice.into not in (None, language_after(self.tokens)):
            st.info(t("translation.same_language"), icon=":material/info:")
        with st.container(horizontal=True, vertical_alignment="center"):
            which(self)
            sentences(self)
            if self.story:
                step_slider(self)

    @property
    def case(self) -> Case:
        """The head and the step whose lines the story shows."""
        layer, head = best_aligned(self.trace, self.choice.translator)
        return replace(super().case, layer=layer, head=head, step=self.step)

    def tell(self) -> Sequence[str]:
        lines(self, *best_aligned(self.trace, self.choice.translator))
        begins = [] if self.pipeline.pair else [t("translation.story_begins", sign=self.trace.target_tokens[0])]
        if not self.choice.big:
            st.caption(joined(" ".join([t("translation.story_named", least=f"{CLEAR:.0%}"), *begins])))
        return [t("translation.story")]

    def below_story(self) -> None:
        if self.choice.big:  # a screen holds one picture
            return
        look = {"key": "translation.beside", "on_change": "rerun", "icon": ":material/schema:"}
        with st.expander(plain("translation.beside"), **look) as box:
            if box.open:
                drawn_of(self, self.trace, self.choice.layer, self.trace.translation)

    def parts(self) -> Mapping[str, Callable[[], None]]:
        return {name: partial(draw, self) for name, draw in PARTS.items()}

    def choose_part(self, names: Sequence[str]) -> str:
        with st.container(horizontal=True, vertical_alignment="center"):
            part = super().choose_part(names)
            step_slider(self)
        return part

    def code(self) -> Sequence[object]:
        return DecoderLayer, Decoder, beam_search
