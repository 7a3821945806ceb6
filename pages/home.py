"""Home: a live result to begin with, and the whole encoder at a glance for the input on screen."""

import streamlit as st

from model.encoder import Encoder, EncoderLayer
from model.telling import near_and_far
from pages.ui.masks import with_words_hidden
from pages.ui.sections.answers import guesses
from pages.ui.sections.hidden_words import clickable_words, to_keep_hidden
from pages.ui.sections.overview import side_by_side, tensors, whole
from pages.ui.sections.sentence_vector import no_head
from pages.ui.sections.telling_head import head_switch, head_to_watch, what_it_reads
from pages.ui.text import plain, t
from pages.ui.view import View


def live(view: View) -> tuple[int, dict[int, int | None]]:
    """Words to click (or a drawing), what the encoder makes of it, and a head to switch off.

    Returns the place and the hidden places, as `clickable_words` does.
    """
    if "logits" not in view.trace:
        no_head(view)
        what_it_reads(view, view.choice.layer, view.choice.head, view.token)
        return view.token, {}
    place, hidden = clickable_words(view)
    most = 5 if "word" in view.trace.axes("logits") else 10
    left, right = st.columns([1, 1], gap="medium")
    with left:
        guesses(view, "guesses", place, hidden.get(place), most=most)
    with right:
        layer, head = head_to_watch(view, place)
        what_it_reads(view, layer, head, place)
        head_switch(view, layer, head)
        if view.kind != "single":
            cell = {"layer": layer, "head": head, "token": place, "key": None, "hidden": to_keep_hidden(view, hidden)}
            view.way_to("attention", plain("home.see"), **cell, stage=None, panel=None)
            _, far = near_and_far(view.trace, place)
            if far.any():
                st.caption(t("home.which_head_changed" if view.trace.edits else "home.which_head"))
    return place, hidden


view = View("home", chips=False, hides=with_words_hidden)
says_words = "logits" in view.trace and "word" in view.trace.axes("logits")
if view.story and not view.choice.big and "logits" in view.trace:
    kind = "_picture" if view.seen is not None else "" if says_words else "_class"
    st.caption(t(f"home.story_start{kind}"))
place, hidden = live(view)
if view.story:
    colour = view.seen is not None and view.seen.ndim == 3
    words = "home.story" if says_words else "home.story_sentence"
    view.tell(t("home.story_colour" if colour else words if view.seen is None else "home.story_picture"))
    with view.more():
        whole(view, place)
else:
    match view.panel("whole", "shapes", "start"):
        case "whole":
            wide = view.choice.decoder and view.trace.picture is None  # encoder and decoder side by side
            columns = [st.container(), st.container()] if wide else st.columns([5, 6], gap="large")
            with columns[0]:
                whole(view, place)
            with columns[1]:
                own = [view.typed.tokens[place] for place, word in hidden.items() if word is not None]
                if own and view.choice.hidden is None:  # what the reader hides himself is hidden on all pages
                    words = plain("common.comma").join(plain("common.quoted", token=token) for token in own)
                    st.caption(t("home.elsewhere", words=words))
                tensors(view)
        case "shapes":
            side_by_side(view)
        case "start":
            for column, who in zip(st.columns(2), ("student", "teacher"), strict=True):
                with column, st.container(border=True, height="stretch"):
                    st.markdown(f"**{plain(f'home.{who}')}**\n\n{t(f'home.{who}_start')}")
view.close(Encoder, EncoderLayer)
