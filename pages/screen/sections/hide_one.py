"""Buttons for words worth hiding: while none is hidden, the answer only copies the input."""

import streamlit as st

from model import Pipeline, Trace
from model.analysis import spelled
from model.measures.hiding import worth_hiding
from pages.drawing.cache import once_a_run
from pages.drawing.picture import says_words
from pages.drawing.screen import Screen
from pages.drawing.text import literal, plain
from pages.screen.frame.pen import Pen
from pages.screen.frame.pickers import bound
from pages.screen.link import select


@once_a_run
def offers(run: Trace, pipeline: Pipeline) -> list[tuple[str, list[int]]]:
    """Words worth hiding, and their places."""
    return [(spelled([run.tokens[place]]), [place]) for place in worth_hiding(pipeline, run)]


def hide(places: tuple[int, ...]) -> None:
    """Hide a word, as a click on it in the sentence does."""
    select(hidden=places, token=None, output=None)


def hide_one(screen: Screen, pen: Pen) -> None:
    """Words to hide, beside the page's controls; nothing if one is hidden or none can be. Call it last: finding them
    takes a while.
    """
    if screen.choice.big or not says_words(screen.run) or "[MASK]" in screen.run.tokens:
        return
    places = {word: tuple(at) for word, at in offers(screen.original, screen.pipeline)}
    if not places:
        return
    look = bound("hide_one", None, lambda word: hide(places[word]), anew=True)
    look |= {"format_func": literal, "label_visibility": "collapsed"}
    with pen.controls, st.container(horizontal=True, vertical_alignment="center", width="content"):
        st.markdown(f":small[:gray[{plain('overview.hide_one')}]]", width="content")
        st.pills(plain("overview.hide_one"), list(places), **look)
