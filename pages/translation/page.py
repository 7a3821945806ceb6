"""Translation: the decoder writes word by word, reading what the encoder made of the source."""

from collections.abc import Sequence
from functools import partial

import streamlit as st

from model.decoder import Decoder, DecoderLayer
from model.search import beam_search
from model.translator import language_after
from pages.translation.alignment import alignment
from pages.translation.decoder import inside
from pages.translation.search import search
from pages.translation.writing import Writing, one_step, sentences, step_slider, which
from pages.ui.page import Parts
from pages.ui.runs import pipelines
from pages.ui.runs.masks import with_words_hidden
from pages.ui.state.link import select
from pages.ui.text import joined, plain, t

PARTS = {"writing": one_step, "search": search, "alignment": alignment, "inside": inside}
FORMER = {"changes": "inside"}


class Translation(Writing):
    former = FORMER

    @property
    def chips(self) -> bool:
        return self.choice.panel == "inside"  # elsewhere a click on the picture chooses the source word

    def fill(self) -> None:
        if self.translates:
            super().fill()
            return
        st.info(t("translation.needs_words"), icon=":material/translate:")
        words = {"input": "sentence", "output": None, "against": None}
        st.button(plain("translation.take_sentence"), key="translation.words", on_click=select, kwargs=words)

    def above(self) -> None:
        ours = self.pipeline.pair is None
        elsewhere = self.choice.paper or self.choice.checkpoint  # the encoder of the other pages
        if ours and elsewhere:
            st.info(t("translation.trained_here"), icon=":material/info:")
        if ours and self.choice.into not in (None, language_after(self.tokens)):
            st.info(t("translation.same_language"), icon=":material/info:")
        with st.container(horizontal=True, vertical_alignment="center"):
            which(self)
            sentences(self)
            if with_words_hidden(pipelines.pipeline(self.choice.pipeline), self.choice, self.typed) is not None:
                read = [t("translation.all_read"), *[t("translation.same_encoder")] * (ours and not elsewhere)]
                st.caption(joined(" ".join(read)), width="content")

    def parts(self) -> Parts:
        return {name: partial(draw, self) for name, draw in PARTS.items()}

    def choose_part(self, names: Sequence[str]) -> str:
        part = super().choose_part(names)
        step_slider(self)
        return part

    def code(self) -> Sequence[object]:
        return DecoderLayer, Decoder, beam_search
