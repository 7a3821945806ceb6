"""Translation: the decoder writes word by word, reading what the encoder made of the source."""

from collections.abc import Callable, Hashable
from functools import partial

import streamlit as st

from model.decoder import Decoder, DecoderLayer
from model.search import beam_search
from model.translator import Task, language_after
from pages.drawing.masks import with_words_hidden
from pages.drawing.page import LAYER_AND_HEAD, Page
from pages.drawing.screen import Screen
from pages.drawing.state.choice import Choice
from pages.drawing.text import literal, plain, t
from pages.screen.frame.pen import Pen
from pages.screen.link import select
from pages.screen.runs import pipelines
from pages.screen.sections.roles import measured
from pages.translation.alignment import alignment
from pages.translation.decoder import inside
from pages.translation.search import search
from pages.translation.writing import (
    Written,
    clearest,
    let_go,
    likelihood,
    one_step,
    step_slider,
    task_of,
    translated,
    warn,
    which,
)

PARTS = {"writing": one_step, "search": search, "alignment": alignment, "inside": inside}


def tab(part: Callable[[Written, Pen], None], screen: Written, pen: Pen) -> None:
    """One of these, and below it the way back to what the decoder writes by itself."""
    part(screen, pen)
    let_go(screen)


TABS = {name: partial(tab, part) for name, part in PARTS.items()}
FORMER = {"changes": "inside"}


def needs_words(screen: Screen, pen: Pen) -> None:
    """The way to a sentence."""
    st.info(t("translation.needs_words"), icon=":material/translate:")
    words = {"input": "sentence", "output": None, "against": None}
    st.button(plain("translation.take_sentence"), key="translation.words", on_click=select, kwargs=words)


def above(screen: Written, pen: Pen) -> None:
    choice = screen.choice
    ours = screen.pipeline.pair is None
    elsewhere = choice.paper or choice.checkpoint  # the encoder of the other pages
    if ours and elsewhere:
        st.info(t("translation.trained_here"), icon=":material/info:")
    if ours and choice.into not in (None, language_after(screen.run.tokens)):
        st.info(t("translation.same_language"), icon=":material/info:")
    with st.container(width="content", gap=None):
        with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            which(screen)
            warn(screen)
            st.markdown(f"**{literal(screen.written.text) or '∅'}**", width="content")
            if with_words_hidden(pipelines.pipeline(choice.pipeline), choice, screen.typed) is not None:
                st.markdown(t("translation.all_read"), width="content")
        st.caption(likelihood(screen.run), width="content")


def task(choice: Choice, given: Hashable) -> tuple[str, Task] | None:
    """What is translated, if it is a sentence."""
    return (choice.translator, task_of(choice, given)[0]) if choice.input == "sentence" else None


def opens(choice: Choice) -> tuple[int, int] | None:
    """The head whose lines show most, of what the decoder writes."""
    if choice.input != "sentence":
        return None
    run = pipelines.run(choice.translator, task_of(choice, choice.sentence)[0])
    layer, head, _ = clearest(run, measured(choice.translator))
    return layer, head


PAGE = Page(
    name="translation",
    group="more",
    tabs=lambda screen: TABS if isinstance(screen, Written) else {"": needs_words},
    words_only=True,
    attention=True,
    reads=lambda pipeline, choice, typed: None,  # it writes what the whole sentence says
    elsewhere=task,
    about=lambda screen, choice: translated(screen, choice) if screen.run.picture is None else screen,
    opens=opens,
    former=FORMER,
    shown_of=LAYER_AND_HEAD,
    but={"search": ()},
    chips=lambda screen: False,  # a click on the picture chooses the source word
    above=above,
    controls=step_slider,
    code=lambda screen: (DecoderLayer, Decoder, beam_search),
)
