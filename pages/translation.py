"""Translation: the decoder writes word by word, reading what the encoder made of the source."""

import streamlit as st

from model.decoder import Decoder, DecoderLayer
from pages.ui.link import select
from pages.ui.sections.writing import Writing, best_aligned, lines, one_step, sentences, step_slider, which
from pages.ui.text import plain, t

view = Writing()
if not view.translates:
    st.info(t("translation.needs_words"), icon=":material/translate:")
    st.button(
        plain("translation.take_sentence"), key="translation.words", on_click=select, kwargs={"input": "sentence"}
    )
else:
    with st.container(horizontal=True, vertical_alignment="center"):
        which(view)
        sentences(view)
    if view.story:
        with st.container(horizontal=True, vertical_alignment="center"):
            step_slider(view)
        lines(view, *best_aligned())
        view.tell(t("translation.story"))
    else:
        with st.container(horizontal=True, vertical_alignment="center"):
            step_slider(view)
        one_step(view)

view.close(DecoderLayer, Decoder)
