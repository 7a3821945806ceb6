"""Translation: the decoder writes word by word, reading what the encoder made of the source."""

import streamlit as st

from model.decoder import Decoder, DecoderLayer
from model.search import beam_search
from model.translator import language_after
from pages.ui.link import select
from pages.ui.sections.alignment import alignment
from pages.ui.sections.decoder import inside
from pages.ui.sections.search import search
from pages.ui.sections.tampering import tampering
from pages.ui.sections.writing import Writing, best_aligned, lines, one_step, sentences, step_slider, which
from pages.ui.text import plain, t

PARTS = {"writing": one_step, "search": search, "alignment": alignment, "inside": inside, "changes": tampering}

view = Writing()
if not view.translates:
    st.info(t("translation.needs_words"), icon=":material/translate:")
    words = {"input": "sentence", "output": None, "against": None}
    st.button(plain("translation.take_sentence"), key="translation.words", on_click=select, kwargs=words)
else:
    if view.choice.paper or view.choice.checkpoint:
        st.info(t("translation.trained_here"), icon=":material/info:")
    if view.choice.into not in (None, language_after(view.trace.tokens)):
        st.info(t("translation.same_language"), icon=":material/info:")
    with st.container(horizontal=True, vertical_alignment="center"):
        which(view)
        sentences(view)
        if view.story:
            step_slider(view)
    if view.story:
        lines(view, *best_aligned())
        view.tell(t("translation.story"))
    else:
        with st.container(horizontal=True, vertical_alignment="center"):
            part = view.panel(*PARTS)
            step_slider(view)
        PARTS[part](view)

view.close(DecoderLayer, Decoder, beam_search)
