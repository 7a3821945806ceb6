"""The sentence on top of a page: its words to hide, room to type another, and examples."""

import streamlit as st

from model.analysis import spelled, whole_words
from model.examples import PROTEINS
from pages.ui.components.sentence_line import Word
from pages.ui.components.sentence_line import sentence_line as line
from pages.ui.frame.sidebar import EXAMPLES, afresh
from pages.ui.runs import pipelines
from pages.ui.runs.masks import hidden_places
from pages.ui.state.choice import LANGUAGES
from pages.ui.state.link import select
from pages.ui.state.link_values import MOST_CHARACTERS
from pages.ui.state.offered import reads_proteins
from pages.ui.text import language, plain, t
from pages.ui.view import View

#: In the session, where a sentence was cut: it was too long.
CUT = "sentence_line.cut"


def sentence_line(view: View) -> None:
    """The reader's sentence; a click on a word hides it, where the network guesses words, or else chooses its token."""
    choice = view.choice
    read = pipelines.read(choice)[1]
    hides = view.says_words and not pipelines.compares(choice)
    hidden, typed = hidden_places(choice, read) if hides else (set(), set())
    words = [
        Word(spelled([read.tokens[place] for place in places]), tuple(places), bool(hidden & set(places)))
        for places in whole_words(read.tokens)
    ]

    def picked(places: tuple[int, ...]) -> None:
        if not hides or typed & set(places):
            select(token=places[0], key=None)
        elif hidden & set(places):
            select(hidden=tuple(sorted(hidden - typed - set(places))), token=places[0], output=None)
        else:
            select(hidden=places, token=None if not typed else places[0], output=None)

    names = {name: plain(f"sentence_line.{name}") for name in ("label", "type", "run", "examples", "choose", "show")}
    names["hide"] = plain("sentence_line.hide") if hides else ""
    others = [name for name in LANGUAGES if name != language()]
    ready = [text for name in (language(), *others) for text in EXAMPLES[name]]
    examples = PROTEINS if reads_proteins(choice.model) else ready
    line(words, choice.sentence, examples, names, on_words=_say, on_pick=picked)
    if st.session_state.pop(CUT, False):
        st.warning(t("error.sentence_long", most=MOST_CHARACTERS), icon=":material/content_cut:")


def _say(sentence: str) -> None:
    st.session_state[CUT] = len(sentence) > MOST_CHARACTERS
    select(sentence=sentence[:MOST_CHARACTERS], token=None, key=None, **afresh())
